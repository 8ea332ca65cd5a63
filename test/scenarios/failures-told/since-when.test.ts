import { expect, it } from "vitest";
import type { Parsed, World } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import type { StatedRow } from "../../support/statement-rows.ts";
import { amend, placedOrders, rule } from "../../support/world/placed-orders.ts";

const now = (w: World): string => new Date(w.clock.now()).toISOString();

async function orderRow(w: World, order: string, customer: string): Promise<StatedRow | undefined> {
  const rows = await statementRows(w, "reconciliation", "items");
  return rows.find((row) => row["level"] === "order" && row["crm_order"] === order && row["customer"] === customer);
}

it("an order that moved is by the purchase that stands, and missing since the customer wants it again", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.moved", "apply");
  w.later(2);
  const moved = now(w);
  amend(w, "1", { customer: "C2" });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  const stands: Parsed = await orderRow(w, "crm/1", "crm/C2");
  expect(stands).toMatchObject({ channel_order_id: "1-2", verdict: "matched" });
  expect(Date.parse(stands.sent_at)).toBeGreaterThan(Date.parse(moved));
  w.later(2);
  const back = now(w);
  amend(w, "1", { customer: "C1" });
  expect((await w.run("resync", "--customer", "C2")).exitCode).toBe(0);
  const missing: Parsed = await orderRow(w, "crm/1", "crm/C1");
  expect(missing).toMatchObject({ verdict: "missing" });
  expect(Date.parse(missing.open_since)).toBeGreaterThan(Date.parse(back));
});
