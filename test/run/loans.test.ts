import { cpSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { Cells } from "../support/cells.ts";
import type { Cell } from "../support/cells.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { goodRunOf, runResultOf } from "../support/program.ts";
import { base, changes, platformOf, writeWorld } from "../support/world/small.ts";
import { changeFile } from "../support/world/start.ts";

const cells = new Cells();
/** Nothing is settled within the run that meets the fault: it waits for nothing, or the circuit is open. */
const unsettled = { CRM_SYNC__settle__maxWaitMs: "0" };
const circuitOpens = { ...unsettled, CRM_SYNC__memberCenter__breakerFailures: "1" };
const lending = changes["M10 lends a lock"];

beforeAll(async () => {
  const folder = cells.place("base");
  writeWorld(folder, base);
  await cells.open(folder, {}, async (cell) => void goodRunOf(await cell.run()));
});
afterAll(() => cells.remove());

const row = z.object({ state: z.string(), verdict: z.string().nullable(), message: z.string().nullable() });

/** Every M10 of the journal, the oldest first. */
function sent(cell: Cell): z.infer<typeof row>[] {
  const ledger = new LedgerView(cell.ledger);
  try {
    return ledger.rows(
      row,
      "select state, verdict, outcome_message as message from operation where kind = 'borrow-assets' order by id",
    );
  } finally {
    ledger.close();
  }
}

async function asked(work: (cell: Cell) => Promise<void>, byHand?: (folder: string) => void): Promise<void> {
  await cells.within(cells.place("base"), {}, work, (folder) => {
    writeWorld(folder, lending?.world);
    byHand?.(folder);
  });
}

/** The lock is given to another member on the platform itself, which has to be closed. */
function giveToAnother(folder: string): void {
  changeFile(
    platformOf(folder),
    "update assets set borrower_id = (select max(id) from staff) where borrowed_usb_key = 1",
  );
}

describe("a lock that was lent without an answer", () => {
  it("counts as lent once M8 and M6 of every asset show it, and is not sent again", async () => {
    await asked(async (cell) => {
      cell.sandbox.faults.add({ operation: "M10", fault: "appliedNoReply", times: 1 });
      goodRunOf(await cell.run({ environment: unsettled }));
      expect(sent(cell)).toMatchObject([{ state: "done", verdict: "applied" }]);
      expect([cell.calls("M10"), cell.sandbox.state().lentAssets]).toEqual([1, 1]);
    });
  });

  it("is sent again where both show that nothing of it was done", { tags: "long" }, async () => {
    await asked(async (cell) => {
      cell.sandbox.faults.add({ operation: "M10", fault: "resetBefore", times: 1 });
      expect(runResultOf(await cell.run({ environment: unsettled })).exit).toBe(5);
      await cell.run();
      goodRunOf(await cell.run());
      expect(sent(cell).map(({ state }) => state)).toEqual(["dropped", "done"]);
      expect(cell.effects()["M10"]).toBe(1);
    });
  });

  it("waits for a person where M6 does not show an asset, which proves nothing", { tags: "long" }, async () => {
    await asked(async (cell) => {
      cell.sandbox.faults.add({ operation: "M10", fault: "resetBefore", times: 1 });
      expect(runResultOf(await cell.run({ environment: unsettled })).exit).toBe(5);
      cell.sandbox.faults.add({ operation: "M6", fault: "shortPage", dropFrom: "start" });
      expect(runResultOf(await cell.run()).exit).toBe(5);
      expect(sent(cell)).toMatchObject([{ state: "parked", message: expect.stringContaining("1 not shown") }]);
      expect(cell.calls("M10")).toBe(1);
    });
  });

  it("waits for a person where M8 shows it and M6 does not", { tags: "long" }, async () => {
    await asked(async (cell) => {
      cell.sandbox.faults.add({ operation: "M6", fault: "oddField", field: "borrowedFlag", value: false });
      cell.sandbox.faults.add({ operation: "M10", fault: "appliedNoReply", times: 1 });
      expect(runResultOf(await cell.run()).exit).toBe(5);
      expect(sent(cell)).toMatchObject([{ state: "parked", message: expect.stringContaining("lent to this member") }]);
    });
  });

  it("waits for a person where the lock is with another member and the asset is lent", { tags: "long" }, async () => {
    const folder = cells.place("given on");
    cpSync(cells.place("base"), folder, { recursive: true });
    writeWorld(folder, lending?.world);
    await cells.open(folder, circuitOpens, async (cell) => {
      cell.sandbox.faults.add({ operation: "M10", fault: "appliedNoReply", times: 1 });
      expect(runResultOf(await cell.run()).exit).toBe(5);
    });
    giveToAnother(folder);
    await cells.open(folder, {}, async (cell) => {
      expect(runResultOf(await cell.run()).exit).toBe(5);
      const [only, more] = sent(cell);
      expect([only?.state, more, cell.calls("M10")]).toEqual(["parked", undefined, 0]);
      expect(only?.message).toContain("1 of 1 assets are lent");
    });
  });

  it("is refused and not sent again where another member has the lock by then", { tags: "long" }, async () => {
    await asked(async (cell) => {
      const first = runResultOf(await cell.run());
      expect([first.exit, sent(cell)]).toMatchObject([3, [{ state: "rejected" }]]);
      expect(sent(cell)[0]?.message).toContain("with another staff member");
      expect(runResultOf(await cell.run()).exit).toBe(3);
      expect(cell.calls("M10")).toBe(1);
    }, giveToAnother);
  });
});
