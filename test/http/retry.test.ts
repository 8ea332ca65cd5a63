import { describe, expect, test } from "vitest";
import { backoffMs, createRetryBudget } from "../../src/http/retry.ts";

const options = { baseMs: 200, capMs: 20_000 };

function waits(fraction: number): number[] {
  const random = { fraction: () => fraction, hex: () => "" };
  return Array.from({ length: 10 }, (_, attempt) => backoffMs(attempt, options, random));
}

describe("the wait before a repetition", () => {
  test("is anything from nothing to the whole step", () => {
    expect(waits(0)).toEqual(Array.from({ length: 10 }, () => 0));
    expect(waits(0.5)).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]);
  });

  test("grows to the double each time, up to the cap and never beyond", () => {
    expect(waits(1)).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 20_000, 20_000, 20_000]);
    const random = { fraction: () => 1, hex: () => "" };
    expect(backoffMs(5_000, options, random)).toBe(20_000);
  });
});

describe("the repetitions in store", () => {
  test("are spent one by one, and there are none left then", () => {
    const budget = createRetryBudget(2);
    expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false]);
  });

  test("come back by one for ten calls that succeed, and never beyond the size", () => {
    const budget = createRetryBudget(1);
    budget.take();
    for (let call = 0; call < 9; call += 1) budget.earn();
    expect(budget.take()).toBe(false);
    budget.earn();
    expect(budget.take()).toBe(true);
    for (let call = 0; call < 100; call += 1) budget.earn();
    expect(budget.left()).toBe(1);
  });
});
