import { expect, it } from "vitest";
import { CallFigures } from "../../src/app/call-figures.ts";
import type { SeenCall } from "../../src/http/seen-call.ts";
import { Draws } from "../support/draws.ts";

/** A clock that is set by hand. */
class SetClock {
  ms = 7_000_003;

  monotonic(): number {
    return this.ms;
  }
}

const call = (ms: number, more: Partial<SeenCall> = {}): SeenCall => ({
  service: "order-service",
  endpoint: "E5",
  outcome: "done",
  code: "0",
  ms,
  ...more,
});

it("say of each service by itself how many calls a second there were, how many failed, and how long they took", () => {
  const clock = new SetClock();
  const figures = new CallFigures(clock);
  const draws = new Draws(1);
  const took: number[] = [];
  for (let number = 0; number < 2_000; number += 1) {
    clock.ms += 100;
    const ms = 1 + draws.below(900);
    took.push(ms);
    figures.note(call(ms, { outcome: number % 10 === 0 ? "odd" : "refused" }));
    figures.note(call(0, { outcome: "not-sent", code: "circuit-open" }));
  }
  figures.note(call(3, { service: "member-center", endpoint: "M5", outcome: "no-answer" }));
  took.sort((one, other) => one - other);
  const orders = figures.of("order-service");
  expect(orders).toMatchObject({ calls: 2_000, errorShare: 0.1, overMs: 200_000, callsPerSecond: 10 });
  for (const [of, index] of [
    ["p50Ms", 1_000],
    ["p95Ms", 1_900],
  ] as const)
    expect(Math.abs((orders[of] ?? 0) / (took[index] ?? 1) - 1), of).toBeLessThan(0.07);
  expect(figures.of("member-center")).toMatchObject({ calls: 1, errorShare: 1 });
});

it("forget what is older than five minutes, whatever was called meanwhile", () => {
  const clock = new SetClock();
  const figures = new CallFigures(clock);
  for (let second = 0; second < 3_600; second += 1) {
    clock.ms += 1_000;
    figures.note(call(10, { outcome: second < 3_000 ? "odd" : "done" }));
  }
  const { calls, errorShare, overMs, callsPerSecond } = figures.of("order-service");
  expect(calls).toBeGreaterThan(290);
  expect(calls).toBeLessThanOrEqual(300);
  expect(errorShare).toBe(0);
  expect(overMs).toBeLessThanOrEqual(300_000);
  expect(callsPerSecond).toBeCloseTo(1, 1);
  clock.ms += 301_000;
  expect(figures.of("order-service")).toMatchObject({
    calls: 0,
    callsPerSecond: 0,
    errorShare: undefined,
    p50Ms: undefined,
    p95Ms: undefined,
  });
});
