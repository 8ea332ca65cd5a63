import { expect, it } from "vitest";
import { world } from "../support/cli.ts";
import { counted, type LedgerCounts } from "./counting.ts";

/** What a run asks of the ledger that places three orders more for a customer with so many. */
async function costs(orders: number): Promise<Partial<LedgerCounts>> {
  const all = Array.from({ length: orders + 3 }, (_, index) => ({
    id: `O${index}`,
    customer: "C1",
    assets: [`A${index}`],
  }));
  const w = await world({ records: { customers: [{ id: "C1" }], orders: all.slice(0, orders), staff: [] } });
  expect((await w.does("run", "everything")).calls["E5"]).toBe(orders);
  w.orders = all;
  w.write();
  const counts = await counted(async () => expect((await w.does("run", "everything")).calls).toEqual({ E5: 3 }));
  return { statements: counts.statements, commits: counts.commits, rows: counts.rows };
}

it("an order costs the same for a customer that has many", { tags: "long" }, async () => {
  expect(await costs(45)).toEqual(await costs(5));
});
