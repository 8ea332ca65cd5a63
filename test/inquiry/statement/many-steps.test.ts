import { expect, it } from "vitest";
import type { Order } from "../../../src/crm/model.ts";
import { ReadOnlyLedger } from "../../../src/inquiry/read-only-ledger.ts";
import type { StatementKind } from "../../../src/inquiry/statement/statement.ts";
import { openReadOnly } from "../../../src/ledger/database/database.ts";
import { asset, product } from "../../support/world/instances.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord } from "../../support/world/records.ts";
import { eur, month, placeOrder } from "./statement-world.ts";
import { rowsOf } from "./stated.ts";

const order = (id: string): Order => ({
  ...orderRecord(id, "C1", {
    instances: [
      asset(`A-${id}`, { licenseType: "cloud_account" }),
      product(`P-${id}`, `A-${id}`, { name: "Draw", gmsPid: "G-1", amount: eur(100) }),
    ],
  }),
  amount: eur(100),
  placedAt: "2026-10-02T08:00:00Z",
});

/** Two orders that cost something else in turns, so many times together. */
async function repriced(steps: number): Promise<string> {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-02T10:00:00Z");
  await world.read("customers", [{ customers: customerRecord("C1") }]);
  await world.link(key("C1"), "E1");
  for (const id of ["O1", "O2"])
    await placeOrder(world, order(id), [{ assetId: `A-${id}`, quantity: 1, licenseType: "cloud_account" }]);
  for (let first = 0; first < steps; first += 500) {
    world.now += 60_000;
    const changes = Array.from({ length: Math.min(500, steps - first) }, (_, at) => {
      const id = at % 2 === 0 ? "O1" : "O2";
      const items = [{ product: `P-${id}`, from: eur(100 + at), to: eur(102 + at) }];
      return { type: "order-priced", order: key(id), customer: key("C1"), version: 1, items } as const;
    });
    await world.ledger.state.record(key("C1"), changes);
  }
  return world.path;
}

/** How many rows of the ledger are read for a statement, and how many rows it has. */
async function readFor(path: string, kind: StatementKind): Promise<{ read: number; rows: number }> {
  const ledger = new ReadOnlyLedger(path, openReadOnly(path));
  let read = 0;
  ledger.reading((database) => {
    const prepare = database.prepare.bind(database);
    database.prepare = ((text: string) => {
      const statement = prepare(text);
      const all = statement.all.bind(statement);
      statement.all = (...parameters: unknown[]) => {
        const rows = all(...parameters);
        read += rows.length;
        return rows;
      };
      return statement;
    }) as typeof database.prepare;
  });
  const parts = await rowsOf(ledger, kind, { period: month("2026-10"), by: "happened", filters: {} });
  ledger.close();
  return { read, rows: Object.values(parts).flat().length };
}

it("an order of 5,000 steps is followed once, and not from its beginning for each of them", async () => {
  const few = await readFor(await repriced(500), "orders");
  const many = await readFor(await repriced(5000), "orders");
  expect(few.rows).toBeGreaterThan(500);
  expect(many.rows).toBeGreaterThan(5000);
  expect(few.read).toBeGreaterThan(500);
  expect(few.read).toBeLessThan(few.rows * 5);
  // Ten times the steps: ten times the rows that are read, not a hundred times.
  expect(many.read).toBeLessThan(few.read * 12);
});
