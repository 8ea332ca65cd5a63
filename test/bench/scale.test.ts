import { expect, it } from "vitest";
import { exponentOf, scaleFigures } from "../../bench/scale/print.ts";
import type { Scaled } from "../../bench/scale/scaled.ts";

function size(customers: number, seconds: number, peakMegabytes: number): Scaled {
  const verify = { phase: "verify" as const, wallSeconds: seconds, cpuSeconds: seconds, peakMegabytes };
  return {
    customers,
    orders: 3 * customers,
    history: 10 * customers,
    phases: [{ ...verify, calls: {}, done: 0, ledgerBytes: 0 }],
  };
}

it("growth is the power of the number of customers, from the smallest size to the largest", () => {
  const inProportion = [size(10_000, 3, 200), size(100_000, 50, 200), size(1_000_000, 300, 200)];
  expect(exponentOf(inProportion, "verify")).toBeCloseTo(1);
  expect(scaleFigures(inProportion).map(({ verdict }) => verdict)).toEqual(["met", "met"]);
  const squared = [size(10_000, 3, 200), size(100_000, 300, 301)];
  expect(exponentOf(squared, "verify")).toBeCloseTo(2);
  expect(scaleFigures(squared).map(({ verdict }) => verdict)).toEqual(["below", "below"]);
  expect(exponentOf(squared, "status"), "not measured").toBeUndefined();
});
