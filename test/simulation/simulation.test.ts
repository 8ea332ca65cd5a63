import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { faultsOf, simulate, simulationFolder } from "./simulate.ts";

/** Seeds of every test run. */
const seeds = { from: 1, to: 100, each: 10 };
/** Seeds beyond these that once showed something that was wrong, by what it was. */
const remembered = {
  "an order that was blocked for want of numbers was taken for placed": [4],
  "a clock that was set forward ended a settle time while an order was still to land": [23],
  "a person could decide nothing after the clock was set back": [10, 56],
  "a program killed between two commits forgot staff that it had planned": [48],
  "a person whom M1 refused in passing was never asked for again": [117, 198],
  "a run that was stopped did not add up": [17, 35, 57],
  "a customer whose revokes were judged and who then could not be read left operations planned": [61, 93, 101, 225],
};

describe("the program in virtual time, with faults, kills, edits and a clock that jumps", () => {
  let folder: ReturnType<typeof simulationFolder>;
  beforeAll(() => {
    folder = simulationFolder();
  });
  afterAll(() => folder.remove());

  async function expectRight(seed: number): Promise<void> {
    expect(faultsOf(await simulate(seed, folder.path)), `npm run soak -- --from ${seed} --story`).toEqual([]);
  }

  for (let from = seeds.from; from <= seeds.to; from += seeds.each) {
    const to = from + seeds.each - 1;
    it(
      `does everything that is wished once and loses nothing (seeds ${from} to ${to})`,
      { timeout: 300_000 },
      async () => {
        let faults = 0;
        for (let seed = from; seed <= to; seed += 1) {
          const result = await simulate(seed, folder.path);
          expect(faultsOf(result), `npm run soak -- --from ${seed} --story`).toEqual([]);
          faults += result.faults;
        }
        expect(faults).toBeGreaterThanOrEqual(5 * seeds.each);
      },
    );
  }

  it.each(Object.entries(remembered))("no longer happens: %s", { timeout: 300_000 }, async (_what, found) => {
    for (const seed of found) await expectRight(seed);
  });

  it("goes exactly the same way when a seed is run again", { timeout: 300_000 }, async () => {
    for (const seed of [3, 33, 71]) {
      const first = await simulate(seed, folder.path);
      const second = await simulate(seed, folder.path);
      expect(second.trace, `seed ${seed}`).toBe(first.trace);
    }
  });
});
