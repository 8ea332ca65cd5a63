/** @module-tag sized */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFull, sizes } from "../support/sizes.ts";
import { faultsOf, simulate, simulationFolder } from "./simulate.ts";

const each = 10;
/**
 * Seeds that fail when the program is broken in one place, by what then happens; found by breaking it there. A change
 * of what the simulation draws makes them seeds like any other.
 */
const remembered = {
  "a clock that is set forward in a program that has just begun ends a settle time": [203_182],
  "a clock that is set back while an answer is recorded makes a settle time of days": [205_698],
  "an order in doubt is sent again after it was cancelled": [305],
  "one list that was short once after the settle time has an order placed twice": [2_004_966],
  "a lock that was refused and is done at last is told of for ever": [309],
  "what a killed program had read of somebody who then left is taken for what nobody meant": [2_004_416],
  "somebody whom nobody has looked at yet is taken for done": [12_001_269],
  "what was read is taken for whole, although the program died in a reading that it compares it with": [12_001_930],
};

describe("the program in virtual time, with faults, kills, edits and a clock that jumps", () => {
  let folder: ReturnType<typeof simulationFolder>;
  beforeAll(() => {
    folder = simulationFolder();
  });
  afterAll(() => folder.remove());

  /** Runs a seed, in which nothing may be wrong; answers how many faults it met. */
  async function right(seed: number): Promise<number> {
    const result = await simulate(seed, folder.path);
    expect(faultsOf(result), `npm run soak -- --from ${seed} --story`).toEqual([]);
    return result.faults;
  }

  const blocks = Array.from({ length: Math.ceil(sizes.seeds / each) }, (_, index) => index * each + 1);
  it.each(blocks)("does everything that is wished once and loses nothing (seeds from %i)", async (from) => {
    const count = Math.min(each, sizes.seeds);
    let faults = 0;
    for (let seed = from; seed < from + count; seed += 1) faults += await right(seed);
    expect(faults).toBeGreaterThanOrEqual(5 * count);
  });

  it.runIf(isFull).each(Object.entries(remembered))("no longer happens: %s", async (_what, seeds) => {
    for (const seed of seeds) await right(seed);
  });

  it("goes exactly the same way when a seed is run again", { tags: "long" }, async () => {
    const [one, other] = [await simulate(3, folder.path), await simulate(3, folder.path)];
    expect(one.trace).toBe(other.trace);
  });
});
