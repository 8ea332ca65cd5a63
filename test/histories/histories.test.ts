/** @module-tag sized */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { simulationFolder } from "../simulation/simulate.ts";
import { isFull, isSample, sizes } from "../support/sizes.ts";
import { enabled } from "./edits.ts";
import { live } from "./world.ts";

const each = 10;

describe("random histories of a CRM, with runs, kills and lost answers between the edits", () => {
  let folder: ReturnType<typeof simulationFolder>;
  beforeAll(() => {
    folder = simulationFolder();
  });
  afterAll(() => folder.remove());

  const blocks = Array.from({ length: Math.ceil(sizes.histories / each) }, (_, index) => index * each + 1);
  it.each(blocks)(
    "end with a platform that holds what the CRM says, and hold nothing else on the way (seeds from %i)",
    async (from) => {
      const count = Math.min(each, sizes.histories);
      let edits = 0;
      for (let seed = from; seed < from + count; seed += 1) {
        const result = await live(seed, folder.path);
        expect(result.wrong, `npm run histories -- --from ${seed} --seeds 1 --story`).toEqual([]);
        edits += result.edits;
      }
      expect(edits).toBeGreaterThanOrEqual(count);
    },
  );

  it.each([
    [503, "a hold ends with the seat that it was about, also where a later attempt finds the seat gone"],
    [699, "lines under new ids that a person believes are bought"],
    [3208, "what somebody took away by hand is told of, and nothing is sent because of it"],
    [3941, "nothing is taken in of a file that its marker is not of"],
  ])("seed %i: %s", async (seed) => {
    expect((await live(seed, folder.path)).wrong).toEqual([]);
  });

  it.skipIf(isSample).each(["agreed", "any"] as const)(
    "end so too where older copies of the ledger are put back and rebuilt on the way, when: %s",
    { timeout: 600_000 },
    async (restores) => {
      let [restored, waiting] = [0, 0];
      const seeds = isFull ? sizes.histories / 5 : each;
      for (let seed = 1; seed <= seeds; seed += 1) {
        const result = await live(seed, folder.path, enabled, { restores });
        const told = `npm run histories -- --from ${seed} --seeds 1 --story --restores ${restores}`;
        expect(result.wrong, told).toEqual([]);
        restored += result.restores;
        waiting += result.waiting;
      }
      expect(restored).toBeGreaterThan(each);
      if (restores === "agreed") expect(waiting).toBe(0);
    },
  );

  it("go the same way each time", { tags: "long" }, async () => {
    for (const seed of [2, 13]) {
      const [one, other] = [await live(seed, folder.path), await live(seed, folder.path)];
      expect(one.trace).toBe(other.trace);
    }
  });
});
