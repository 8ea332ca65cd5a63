import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { Cells } from "../support/cells.ts";
import type { Cell } from "../support/cells.ts";
import { crmSync, goodRunOf, settleNotApplied } from "../support/program.ts";
import type { Ended } from "../support/program.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { orderOf, configOf, writeWorld, base } from "../support/world/small.ts";
import { assetRow, sealEnvironment } from "../support/world/crm.ts";

const cells = new Cells();
const others = {
  ...base,
  customers: [...base.customers, { id: "C2", branch: "South" }],
  orders: [...base.orders, orderOf("O2", { B1: "normal_recover_usbkey" }, "C2")],
};

beforeAll(async () => {
  const folder = cells.place("base");
  writeWorld(folder, others);
  await cells.open(folder, {}, async (cell) => void goodRunOf(await cell.run()));
});
afterAll(() => cells.remove());

const requestRow = z.object({ customer_id: z.string(), asset_number: z.string(), status: z.number().nullable() });

function wishes(cell: Cell): z.infer<typeof requestRow>[] {
  const ledger = new LedgerView(cell.ledger);
  try {
    return ledger.rows(
      requestRow,
      `select customer_id, about as asset_number, json_extract(answer, '$.status') as status from manual_request
       where of = 'lock' and to_at is null order by customer_id, about`,
    );
  } finally {
    ledger.close();
  }
}

const numberOf = (cell: Cell, asset: string): string => numbersOf(cell, asset).at(0) ?? "";

function numbersOf(cell: Cell, asset: string): string[] {
  const ledger = new LedgerView(cell.ledger);
  try {
    const row = z.object({ number: z.string() });
    const sql = "select wire_number as number from asset_number where instance_id = ? order by unit";
    return ledger.rows(row, sql, asset).map(({ number }) => number);
  } finally {
    ledger.close();
  }
}

/** As a run leaves a changed customer that ended before it came to it: pending, and nothing says why. */
function forgetReason(cell: Cell, customer: string): void {
  const ledger = new Database(cell.ledger);
  ledger
    .prepare("update record set deferred_code = null, deferred_reason = null where stream = 'customers' and id = ?")
    .run(customer);
  ledger.close();
}

const lock = (cell: Cell, customer: string, ...asset: string[]) => switched("locked", cell, customer, asset);
const unlock = (cell: Cell, customer: string, ...asset: string[]) => switched("unlocked", cell, customer, asset);

async function switched(wanted: "locked" | "unlocked", cell: Cell, customer: string, asset: string[]): Promise<Ended> {
  const environment = { ...sealEnvironment, CRM_SYNC__settle__maxWaitMs: "0" };
  const place = { config: configOf(cell.folder), sandbox: cell.sandbox.url, ledger: cell.ledger, environment };
  const word = wanted === "locked" ? "lock" : "unlock";
  return await crmSync(place, "--json", word, customer, "--asset", ...asset, "--reason", "stolen", "--by", "me");
}

describe("locks of two customers", () => {
  it("a number of the other customer refuses all of them, and nothing is asked for or sent", async () => {
    await cells.within(cells.place("base"), {}, async (cell) => {
      const refused = await lock(cell, "C1", numberOf(cell, "A2"), numberOf(cell, "B1"));
      expect([refused.exitCode, wishes(cell), cell.calls("E6")]).toEqual([64, [], 0]);
      expect((await lock(cell, "C1", numberOf(cell, "A1"))).exitCode, "of a type that cannot be disabled").toBe(64);
      expect(cell.calls("E6")).toBe(0);
    });
  });

  it(
    "a customer whose order may have been placed unseen waits for a person with its locks too, and no other does",
    { tags: "long" },
    async () => {
      const environment = { CRM_SYNC__orders__unseen: "ask" };
      const third = { ...others, orders: [...others.orders, orderOf("O3", { A9: "cloud_account" })] };
      const change = (folder: string): void => writeWorld(folder, third);
      await cells.within(
        cells.place("base"),
        environment,
        async (cell) => {
          cell.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 1 });
          expect((await cell.run()).exitCode).toBe(5);
          const waits = await lock(cell, "C1", numberOf(cell, "A2"));
          expect([waits.exitCode, JSON.parse(waits.stdout).open]).toMatchObject([
            5,
            [{ endpoint: "E5", state: "parked" }],
          ]);
          expect((await lock(cell, "C2", numberOf(cell, "B1"))).exitCode).toBe(0);
          expect(wishes(cell).map((row) => [row.customer_id, row.status])).toEqual([
            ["C1", null],
            ["C2", 1],
          ]);
          expect(cell.calls("E6")).toBe(1);
        },
        change,
      );
    },
  );

  it("a lock that is refused keeps no change of its customer from being sent", { tags: "long" }, async () => {
    const changed = {
      ...others,
      customers: [
        { id: "C1", branch: "East" },
        { id: "C2", branch: "South" },
      ],
    };
    const change = (folder: string): void => writeWorld(folder, changed);
    await cells.within(
      cells.place("base"),
      {},
      async (cell) => {
        await cell.sandbox.refuseConnections();
        expect((await lock(cell, "C2", numberOf(cell, "B1"))).exitCode, "asked for, and not sent").toBe(7);
        expect((await cell.run()).exitCode).toBe(7);
        forgetReason(cell, "C1");
        await cell.sandbox.acceptConnections();
        cell.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 4, times: 1 });
        expect((await lock(cell, "C1", numberOf(cell, "A2"))).exitCode).toBe(3);
        expect(cell.calls("E4")).toBe(0);
        await cell.run();
        expect(cell.effects()["E4"]).toBe(1);
      },
      change,
    );
  });

  it(
    "an answer about other locks than were sent says nothing: the same locks are sent again",
    { tags: "long" },
    async () => {
      await cells.within(cells.place("base"), {}, async (cell) => {
        const number = numberOf(cell, "A2");
        cell.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "assetNum", value: "9", times: 1 });
        expect((await lock(cell, "C1", number)).exitCode).toBe(5);
        expect(wishes(cell)).toEqual([{ customer_id: "C1", asset_number: number, status: null }]);
        const second = await lock(cell, "C2", numberOf(cell, "B1"));
        expect(second.exitCode, "the other customer waits for nothing").toBe(0);
        goodRunOf(await cell.run());
        expect(wishes(cell).map((row) => row.status)).toEqual([1, 1]);
        expect([cell.calls("E6"), cell.sandbox.state().lockedAssets]).toEqual([3, 2]);
        const before = cell.sandbox.counts().writingCalls;
        goodRunOf(await cell.run());
        expect(cell.sandbox.counts().writingCalls).toBe(before);
      });
    },
  );

  it.each([
    { fault: "oddField", field: "status", value: 4 },
    { fault: "status299", code: "13004" },
  ] as const)(
    "a lock that was refused ($fault), asked for again and done without an answer, is told of no more by the run that finds it done",
    { tags: "long" },
    async (refusal) => {
      await cells.within(cells.place("base"), {}, async (cell) => {
        const number = numberOf(cell, "A2");
        cell.sandbox.faults.add({ operation: "E6", ...refusal, times: 1 });
        expect((await lock(cell, "C1", number)).exitCode).toBe(3);
        expect((await cell.run()).exitCode, "it waits for a person").toBe(3);
        const lost = cell.sandbox.faults.add({ operation: "E6", fault: "appliedNoReply" });
        expect((await lock(cell, "C1", number)).exitCode).toBe(5);
        cell.sandbox.faults.clear(lost);
        goodRunOf(await cell.run());
        expect((await lock(cell, "C2", numberOf(cell, "B1"))).exitCode, "the other customer waits for nothing").toBe(0);
      });
    },
  );

  it(
    "answers that are always about other locks end after three sendings: a person decides, and no other customer waits",
    { tags: "long" },
    async () => {
      await cells.within(cells.place("base"), { CRM_SYNC__settle__maxWaitMs: "0" }, async (cell) => {
        const number = numberOf(cell, "A2");
        const odd = cell.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "assetNum", value: "9" });
        expect((await lock(cell, "C1", number)).exitCode).toBe(5);
        for (let run = 0; run < 4; run += 1) expect((await cell.run()).exitCode).toBe(5);
        expect(cell.calls("E6")).toBe(3);
        expect((await unlock(cell, "C2", numberOf(cell, "B1"))).exitCode, "the other customer waits for nothing").toBe(
          0,
        );
        const { open } = JSON.parse((await lock(cell, "C1", number)).stdout);
        expect(open).toMatchObject([{ endpoint: "E6", state: "parked" }]);
        cell.sandbox.faults.clear(odd);
        const place = { config: configOf(cell.folder), sandbox: cell.sandbox.url, ledger: cell.ledger };
        const decided = await settleNotApplied({ ...place, environment: sealEnvironment }, open[0].id);
        expect(decided.exitCode, decided.stderr).toBe(0);
        // What was sent last may land until its settle time is over: a run before that sends nothing.
        await expect.poll(async () => (await cell.run()).exitCode).toBe(0);
        expect(wishes(cell).map((row) => row.customer_id)).toEqual(["C1", "C2"]);
        expect([cell.calls("E6"), cell.sandbox.state().lockedAssets]).toEqual([4, 1]);
      });
    },
  );

  it(
    "more locks than one call takes are asked for in one command and sent in several calls",
    { tags: "long" },
    async () => {
      const order = orderOf("O4", { M1: "normal_recover_usbkey" }, "C2");
      const many = { ...order, assets: order.assets.map((asset) => ({ ...assetRow(asset), quantity: 130 })) };
      const change = (folder: string): void => writeWorld(folder, { ...others, orders: [...others.orders, many] });
      await cells.within(
        cells.place("base"),
        {},
        async (cell) => {
          goodRunOf(await cell.run());
          expect((await lock(cell, "C2", ...numbersOf(cell, "M1"))).exitCode).toBe(0);
          expect([cell.calls("E6"), cell.sandbox.state().lockedAssets]).toEqual([2, 130]);
          await cell.sandbox.refuseConnections();
          expect((await unlock(cell, "C2", ...numbersOf(cell, "M1").slice(0, 70))).exitCode).toBe(7);
          expect((await unlock(cell, "C2", ...numbersOf(cell, "M1").slice(70))).exitCode).toBe(7);
          await cell.sandbox.acceptConnections();
          goodRunOf(await cell.run());
          expect([cell.calls("E7"), cell.sandbox.state().lockedAssets]).toEqual([2, 0]);
        },
        change,
      );
    },
  );

  it(
    "an answer that is cut off says nothing, however often: the same locks are sent again until one comes",
    { tags: "long" },
    async () => {
      await cells.within(cells.place("base"), { CRM_SYNC__settle__maxWaitMs: "0" }, async (cell) => {
        const number = numberOf(cell, "A2");
        const cut = cell.sandbox.faults.add({ operation: "E6", fault: "resetMidReply" });
        expect((await lock(cell, "C1", number)).exitCode).toBe(5);
        for (let run = 0; run < 4; run += 1) expect((await cell.run()).exitCode).toBe(5);
        expect((await unlock(cell, "C2", numberOf(cell, "B1"))).exitCode, "the other customer waits for nothing").toBe(
          0,
        );
        cell.sandbox.faults.clear(cut);
        goodRunOf(await cell.run());
        expect([cell.calls("E6"), cell.sandbox.state().lockedAssets]).toEqual([6, 1]);
      });
    },
  );

  it("a customer with an open operation of an unknown form is told so, and no other one", async () => {
    await cells.within(cells.place("base"), {}, async (cell) => {
      const ledger = new Database(cell.ledger);
      ledger
        .prepare(
          "update operation set state = 'unknown', before = '[1]' where kind = 'grant-assets' and customer_id = 'C1'",
        )
        .run();
      ledger.close();
      const waits = await lock(cell, "C1", numberOf(cell, "A2"));
      expect({ exit: waits.exitCode, said: waits.stdout }).toEqual({
        exit: 65,
        said: expect.stringContaining("does not know"),
      });
      expect((await lock(cell, "C2", numberOf(cell, "B1"))).exitCode).toBe(0);
      expect(cell.calls("E6")).toBe(1);
    });
  });
});
