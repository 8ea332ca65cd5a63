import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { createIds, systemRandomness } from "../../src/base/ids.ts";
import { Ledger } from "../../src/ledger/ledger.ts";
import { Cells } from "../support/cells.ts";
import type { Cell } from "../support/cells.ts";
import { startGate } from "../support/gate.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { startCrmSync } from "../support/process.ts";
import { goodRunOf } from "../support/program.ts";
import { configOf, writeWorld } from "../support/world/small.ts";
import { sealEnvironment } from "../support/world/crm.ts";
import type { SmallWorld } from "../support/world/small.ts";

/**
 * More work than calls are allowed at once: half of the customers have a new order, the others a new member of staff.
 */
const customers = 16;
const callsAtOnce = 3;
const settings = {
  CRM_SYNC__orderService__callsAtOnce: String(callsAtOnce),
  CRM_SYNC__memberCenter__callsAtOnce: String(callsAtOnce),
  CRM_SYNC__concurrency__customers: String(customers),
};

const cells = new Cells();
afterAll(() => cells.remove());

/** Customers of whom nothing is there yet but themselves, or with their work. */
function world(whole: boolean): SmallWorld {
  const numbers = Array.from({ length: customers }, (_, index) => index + 1);
  const work = (which: 0 | 1): number[] => (whole ? numbers.filter((n) => n % 2 === which) : []);
  return {
    customers: numbers.map((n) => ({ id: `C${n}` })),
    orders: work(0).map((n) => ({ id: `O${n}`, customer: `C${n}`, assets: [`A${n}`] })),
    staff: work(1).map((n) => ({ id: `S${n}`, customer: `C${n}` })),
  };
}

/** What the journal holds that is not concluded, by endpoint and state. */
function open(cell: Cell): Record<string, number> {
  const view = new LedgerView(cell.ledger);
  try {
    const sql = `select endpoint || ' ' || state as what, count(*) as count from operation
                 where state not in ('done', 'rejected', 'dropped') group by 1 order by 1`;
    const rows = view.rows(z.object({ what: z.string(), count: z.int() }), sql);
    return Object.fromEntries(rows.map((row) => [row.what, row.count]));
  } finally {
    view.close();
  }
}

it(
  "a kill with more work than permits leaves at most callsAtOnce of each service in doubt, and all is done once afterwards",
  { tags: "long" },
  async () => {
    const folder = cells.place("killed");
    writeWorld(folder, world(false));
    await cells.open(folder, settings, async (cell) => {
      goodRunOf(await cell.run());
      writeWorld(folder, world(true));
      for (const operation of ["E5", "M1"] as const) cell.sandbox.faults.add({ operation, fault: "silence" });
      const place = { config: configOf(folder), sandbox: cell.sandbox.url, ledger: cell.ledger };
      const environment = { ...sealEnvironment, ...settings };
      const program = startCrmSync({ ...place, environment }, "--json", "run", "everything");
      const waiting = (): boolean => cell.calls("E5") < callsAtOnce || cell.calls("M1") < callsAtOnce;
      while (waiting()) await sleep(5);
      // Long enough for everybody else to have come to their call.
      await sleep(300);
      program.child.kill("SIGKILL");
      expect((await program.ended).signal).toBe("SIGKILL");
      expect(open(cell)).toEqual({ "E5 sending": callsAtOnce, "M1 sending": callsAtOnce });
      expect([cell.calls("E5"), cell.calls("M1")]).toEqual([callsAtOnce, callsAtOnce]);
      cell.sandbox.faults.clear();
      await cell.run();
      goodRunOf(await cell.run());
      const half = customers / 2;
      const wished = { enterprises: customers, orders: half, products: half, addedStaff: half, assignments: 0 };
      expect(await cell.wrong(wished)).toEqual([]);
    });
  },
);

/** What a file system does that forgets a lock: another program takes the run over, and ends. */
async function takeOver(ledger: string): Promise<void> {
  rmSync(`${ledger}.lock`);
  const ids = createIds(() => systemClock.now(), systemRandomness);
  const other = await Ledger.open({ path: ledger, clock: systemClock, ids, random: systemRandomness });
  other.runs.takeLock();
  other.close();
}

it("calls that wait for their permit when the lock is lost do not leave, and the next run does each of them once", async () => {
  const folder = cells.place("lost");
  writeWorld(folder, world(false));
  await cells.open(folder, { ...settings, CRM_SYNC__orderService__callsAtOnce: "1" }, async (cell) => {
    const [answered, lost] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const gate = await startGate(cell.sandbox.url, {
      async after(call) {
        if (!call.writes || call.before > 0) return;
        answered.resolve();
        await lost.promise;
      },
    });
    const running = cell.run({ url: gate.url });
    await answered.promise;
    await takeOver(cell.ledger);
    const before = cell.sandbox.counts().calls;
    lost.resolve();
    expect((await running).exitCode).toBe(75);
    await gate.close();
    expect(cell.sandbox.counts().calls).toEqual(before);
    expect(open(cell)).toEqual({ "E2 sending": 1 });
    await cell.run();
    goodRunOf(await cell.run());
    const wished = { enterprises: customers, orders: 0, products: 0, addedStaff: 0, assignments: 0 };
    expect(await cell.wrong(wished)).toEqual([]);
  });
});
