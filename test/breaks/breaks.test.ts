import { describe, expect, it } from "vitest";
import { faultsOf, simulate, simulationFolder } from "../simulation/simulate.ts";
import type { Break, Breaks, Check } from "./break.ts";
import { keeping } from "./keeping.ts";
import { removing } from "./removing.ts";
import { sending } from "./sending.ts";
import { settling } from "./settling.ts";

const areas: Record<string, Breaks> = { sending, settling, removing, keeping };

/** What failed; undefined: nothing did. */
async function failureOf(work: () => Promise<void>): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The check passes as the program is, and fails by an assertion of its own once it is broken. */
async function expectSeen({ seams }: Break, check: Check, says: string): Promise<void> {
  await check({});
  const failure = await failureOf(() => check(seams));
  expect(failure, "the check does not see the break").toBeInstanceOf(Error);
  expect(failure, "something else failed than an assertion").toMatchObject({ name: "AssertionError" });
  expect(failure, "another assertion failed").toMatchObject({ message: expect.stringContaining(says) });
}

/** One life of a company under faults, kills and edits, with the judge of the simulation. */
function life(seed: number): Check {
  return async (seams) => {
    const folder = simulationFolder();
    try {
      const faults = faultsOf(await simulate(seed, folder.path, { seams }));
      expect(faults, `npm run soak -- --from ${seed} --story\n${faults.join("\n")}`).toEqual([]);
    } finally {
      folder.remove();
    }
  };
}

for (const [area, breaks] of Object.entries(areas))
  describe(`a break of ${area} is seen`, () => {
    for (const [fault, row] of Object.entries(breaks)) {
      const tags = row.quick === true ? [] : ["long"];
      it(fault, { tags }, () => expectSeen(row, row.check, row.says));
      const { simulated } = row;
      if (simulated === undefined) continue;
      it(`${fault}, in the simulation`, { tags: "long" }, () => expectSeen(row, life(simulated.seed), simulated.says));
    }
  });
