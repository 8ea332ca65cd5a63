import { rmSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { Cells, type Cell } from "../support/cells.ts";
import type { Parsed } from "../support/cli.ts";
import { goodRunOf } from "../support/program.ts";
import { writeWorld, type SmallWorld } from "../support/world/small.ts";

/** More work than calls are allowed at once: half of the customers have a new order, the others somebody new. */
const customers = 8;
const callsAtOnce = 2;
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

/** Operations that are not concluded, by endpoint and state. */
async function open(cell: Cell): Promise<string[]> {
  const found: Parsed[] = await cell.ask("settle", "list");
  return found.map(({ endpoint, state }) => `${endpoint} ${state}`).toSorted();
}

describe("calls for which there are more customers than permits", () => {
  it("are never in doubt beyond the permits of each service", async () => {
    const folder = cells.place("many");
    writeWorld(folder, world(false));
    await cells.open(folder, settings, async (cell) => {
      goodRunOf(await cell.run());
      writeWorld(folder, world(true));
      const held = (["E5", "M1", "E5", "M1"] as const).map((id) => cell.stopsAt(id));
      const running = cell.run();
      for (const { reached } of held) await reached;
      expect(await open(cell)).toEqual(["E5 sending", "E5 sending", "M1 sending", "M1 sending"]);
      expect([cell.calls("E5"), cell.calls("M1")]).toEqual([callsAtOnce, callsAtOnce]);
      for (const stop of held) stop.goOn();
      goodRunOf(await running);
      const half = customers / 2;
      const wished = { enterprises: customers, orders: half, products: half, addedStaff: half, assignments: 0 };
      expect(await cell.wrong(wished)).toEqual([]);
    });
  });

  it("do not leave once the lock of the run is lost, and the next run does each of them once", async () => {
    const folder = cells.place("lost");
    writeWorld(folder, world(false));
    await cells.open(folder, { ...settings, CRM_SYNC__orderService__callsAtOnce: "1" }, async (cell) => {
      const held = cell.stopsAt("E2", "after");
      const running = cell.run();
      await held.reached;
      // A file system forgets a lock, and another program takes the run over.
      rmSync(`${cell.ledger}.lock`);
      expect((await cell.run({ job: "verify" })).exitCode).not.toBe(75);
      const before = cell.calls("E2");
      held.goOn();
      expect((await running).exitCode).toBe(75);
      expect(cell.calls("E2")).toBe(before);
      await cell.comesToRest();
      const wished = { enterprises: customers, orders: 0, products: 0, addedStaff: 0, assignments: 0 };
      expect(await cell.wrong(wished)).toEqual([]);
    });
  });
});
