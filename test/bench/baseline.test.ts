import { expect, it } from "vitest";
import { lostRatios, type Baseline } from "../../bench/baseline.ts";
import { type CheckRound, middleRatio } from "../../bench/check.ts";

const kept: Baseline = {
  records: 3_000,
  cores: 2,
  processor: "one of 2020",
  rounds: 4,
  ratios: { first: 0.5, firstCpu: 0.5, verify: 0.8, verifyCpu: 0.8, unchanged: 0.4, unchangedCpu: 0.4 },
};

/** A round whose ratios are the kept ones, with what it took longer for some of it. */
function round(longer: Partial<Record<"floor" | "first" | "verify" | "rows", number>> = {}, others = 0): CheckRound {
  const worked = (seconds: number) => ({ seconds, cpuSeconds: seconds });
  return {
    others,
    floor: worked(1 * (longer.floor ?? 1)),
    first: worked(2 * (longer.first ?? 1)),
    verify: worked(1.25 * (longer.verify ?? 1)),
    bareRows: worked(0.4),
    rows: worked(1 * (longer.rows ?? 1)),
  };
}

it("a ratio is lost where the middle one of its rounds is more than 15 % below the kept one", () => {
  expect(lostRatios([round(), round()], kept)).toEqual([]);
  expect(lostRatios([round({ first: 1.16 }), round({ first: 1.14 })], kept), "12 % below").toEqual([]);
  const first = lostRatios([round({ first: 1.2 }), round({ first: 1.5 }), round()], kept);
  expect(first, "17 % below").toEqual(["first", "firstCpu"]);
  expect(lostRatios([round({ rows: 2 })], kept)).toEqual(["unchanged", "unchangedCpu"]);
});

it("one round that was disturbed or lucky decides nothing, also where that was the floor's", () => {
  expect(lostRatios([round({ first: 3, verify: 2 }), round(), round()], kept)).toEqual([]);
  expect(lostRatios([round({ floor: 0.7 }), round(), round()], kept)).toEqual([]);
  const slower = [round({ floor: 3, first: 1.3 }), round({ first: 1.3 }), round({ first: 1.3 })];
  expect(lostRatios(slower, kept)).toEqual(["first", "firstCpu"]);
});

it("what others leave of the machine decides nothing about speed, and about CPU time it does", () => {
  const busy = [round({ first: 2 }, 0.4), round({ first: 2 }, 0.2)];
  expect(middleRatio(busy, "first")).toBeUndefined();
  expect(lostRatios(busy, kept)).toEqual(["firstCpu"]);
});
