import { expect, it } from "vitest";
import { lostRatios } from "../../bench/baseline.ts";
import type { Baseline } from "../../bench/baseline.ts";
import { emptyCheck } from "../../bench/check.ts";
import type { Check } from "../../bench/check.ts";

const kept: Baseline = {
  records: 1_500,
  rounds: 5,
  ratios: { first: 0.5, firstCpu: 0.5, verify: 0.8, verifyCpu: 0.8, unchanged: 0.4, unchangedCpu: 0.4 },
};

/** A check whose every ratio is the kept one, but for those that are given. */
function check(rounds: Partial<Check>): Check {
  const same = Object.entries(kept.ratios).map(([name, ratio]) => [name, [ratio, ratio, ratio]]);
  return { ...emptyCheck(), ...Object.fromEntries(same), ...rounds };
}

it("a ratio is lost where its middle is more than 15 % below the kept one, and no round was as fast as before", () => {
  expect(lostRatios(check({}), kept)).toEqual([]);
  expect(lostRatios(check({ first: [0.43, 0.44, 0.45] }), kept), "12 % below").toEqual([]);
  expect(lostRatios(check({ first: [0.3, 0.42, 0.45] }), kept), "16 % below").toEqual(["first"]);
  expect(lostRatios(check({ first: [0.1, 0.2, 0.51] }), kept), "the machine was busy in most rounds").toEqual([]);
  const two = { verifyCpu: [0.5, 0.6, 0.7], unchanged: [0.1, 0.2, 0.3] };
  expect(lostRatios(check(two), kept)).toEqual(["verifyCpu", "unchanged"]);
});
