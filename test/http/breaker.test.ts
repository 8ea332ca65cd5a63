import { expect, test } from "vitest";
import { createBreaker } from "../../src/http/breaker.ts";
import type { Breaker } from "../../src/http/breaker.ts";
import { createLeapClock } from "./world.ts";

function failing(breaker: Breaker, times: number): void {
  for (let count = 0; count < times; count += 1) breaker.failure(breaker.ask(), "ECONNRESET");
}

test("a service that fails so often in a row is left alone, and not one time before", () => {
  const breaker = createBreaker({ failures: 3, openMs: 1_000, clock: createLeapClock() });
  failing(breaker, 2);
  breaker.success(breaker.ask());
  failing(breaker, 2);
  expect(breaker.ask()).toEqual({ kind: "pass" });
  failing(breaker, 1);
  expect(breaker.ask()).toMatchObject({ kind: "refused" });
  expect(breaker.state()).toEqual({ state: "open", reason: "ECONNRESET", probeInMs: 1_000 });
});

test("a service that was left alone is tried by one call, left alone for longer when that fails, and used again when it succeeds", () => {
  const clock = createLeapClock();
  const breaker = createBreaker({ failures: 1, openMs: 1_000, clock });
  failing(breaker, 1);
  clock.pass(1_000);
  const probe = breaker.ask();
  expect(probe).toEqual({ kind: "probe" });
  expect(breaker.ask()).toMatchObject({ kind: "refused" });
  breaker.failure(probe, "ECONNREFUSED");
  expect(breaker.state()).toEqual({ state: "open", reason: "ECONNREFUSED", probeInMs: 2_000 });
  clock.pass(2_000);
  breaker.success(breaker.ask());
  expect(breaker.state()).toEqual({ state: "closed" });
  expect(breaker.ask()).toEqual({ kind: "pass" });
});

test("a call that was under way before a service was left alone does not end that", () => {
  const breaker = createBreaker({ failures: 1, openMs: 1_000, clock: createLeapClock() });
  const early = breaker.ask();
  failing(breaker, 1);
  breaker.success(early);
  expect(breaker.state().state).toBe("open");
});
