import { truncateSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Cells, type Cell } from "../support/cells.ts";
import { goodRunOf, runResultOf } from "../support/program.ts";
import { canary } from "../support/world/crm.ts";
import { again, base, together, writeWorld, type SmallWorld } from "../support/world/small.ts";

/** Two customers with two people each; every job reads a part of it. */
const jobs = `{ everything: { kind: sync, streams: [customers, orders, staff] }, contracts: { kind: sync, streams: [customers, orders] },
  people: { kind: sync, streams: [staff] } }`;
const environment = { CRM_SYNC__jobs: jobs };
const wished = { enterprises: 2, orders: 2, products: 4, addedStaff: 4, assignments: 2 };

const twice = together(base, again(base, "x"));
/** S1 gives its asset up and S2x gets the second one of its customer. */
const changed: SmallWorld = {
  ...twice,
  staff: twice.staff.map((row) =>
    row.id === "S1" ? { ...row, holds: [] } : row.id === "S2x" ? { ...row, holds: ["A2x"] } : row,
  ),
};

const cells = new Cells();
afterAll(() => cells.remove());

async function inWorld(name: string, work: (cell: Cell) => Promise<void>): Promise<void> {
  const folder = cells.place(name);
  writeWorld(folder, twice);
  await cells.open(folder, environment, async (cell) => {
    goodRunOf(await cell.run());
    expect(await cell.wrong(wished)).toEqual([]);
    await work(cell);
  });
}

it(
  "two jobs over the same customers, one of them with half a read: neither takes anything away, and all is done once it is whole",
  { tags: "long" },
  async () => {
    await inWorld("half", async (cell) => {
      const before = cell.calls("M9");
      writeWorld(cell.folder, changed);
      const file = join(cell.folder, "staff.ndjson");
      truncateSync(file, statSync(file).size - 20);
      const half = runResultOf(await cell.run({ job: "people" }));
      expect(half).toMatchObject({ exit: 7, balance: { adds: true } });
      for (const job of ["contracts", "people", "contracts"]) {
        const result = runResultOf(await cell.run({ job }));
        expect(result.balance.adds).toBe(true);
      }
      expect(cell.sandbox.state().assignments, "S1 keeps its asset").toBeGreaterThanOrEqual(2);
      expect(cell.calls("M9") - before, "nothing but grants").toBeLessThanOrEqual(1);
      writeWorld(cell.folder, changed);
      goodRunOf(await cell.run({ job: "people" }));
      goodRunOf(await cell.run({ job: "contracts" }));
      expect(await cell.wrong(wished)).toEqual([]);
    });
  },
);

it("two people of whom one is at fault: the other is served, the one is told of in every run, and is served once it is corrected", async () => {
  await inWorld("fault", async (cell) => {
    const more = (mobile: string): SmallWorld => ({
      ...changed,
      staff: [...changed.staff, { id: "S3", customer: "C1", mobile }, { id: "S4", customer: "C1" }],
    });
    writeWorld(cell.folder, more("no number"));
    const calls: number[] = [];
    for (const job of ["people", "contracts", "people"]) {
      const before = cell.sandbox.counts().writingCalls;
      const result = runResultOf(await cell.run({ job }));
      expect(result).toMatchObject({ exit: job === "people" ? 3 : 0, balance: { adds: true } });
      calls.push(cell.sandbox.counts().writingCalls - before);
    }
    expect(calls.slice(1), "nothing is sent again").toEqual([0, 0]);
    expect(await cell.wrong({ ...wished, addedStaff: 5 })).toEqual([]);
    writeWorld(cell.folder, more(canary.mobile));
    goodRunOf(await cell.run({ job: "people" }));
    expect(await cell.wrong({ ...wished, addedStaff: 6 })).toEqual([]);
  });
});
