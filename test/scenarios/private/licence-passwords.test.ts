/** @module-tag long */
import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { auditEntries } from "../../support/asking.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, line, placedOrders, rule } from "../../support/world/placed-orders.ts";

const secret = { passwords: ["zqcanary-licence-1"] };
const both = [line("P1", "A1"), line("Q1", "A1")];

/** How often the audit log says that the licence passwords of the order were wiped. */
async function wiped(w: World): Promise<number> {
  const entries = await auditEntries(w);
  const changes = entries.flatMap(({ body }) => JSON.parse(body).changes ?? []);
  return changes.filter(({ type, ref }) => type === "secrets-wiped" && ref === "orders/crm/1").length;
}

it("keeps the licence passwords of a refused product only while the CRM wants it", async () => {
  const w = await placedOrders();
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
  amend(w, "1", { products: [...both, line("R1", "A1", secret)] });
  expect(outcome(await w.does("run", "everything"))).toEqual([3, { E5: 1 }]);
  expect(await wiped(w)).toBe(0);
  amend(w, "1", { products: both });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(await wiped(w)).toBe(1);
});

it("wipes licence passwords after a changed name, and while a removal waits for a person", async () => {
  const w = await placedOrders({ first: { products: [line("P1", "A1", secret), line("Q1", "A1")] } });
  amend(w, "1", { products: [line("P1", "A1", { ...secret, name: "Another" }), line("Q1", "A1")] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(await wiped(w)).toBe(1);
  rule(w, "orders.ended", "ask");
  amend(w, "1", { products: [line("P1", "A1", secret)] });
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  expect(await wiped(w)).toBe(2);
});

it("wipes licence passwords after the purchase", async () => {
  const w = await placedOrders();
  amend(w, "1", { products: [...both, line("R1", "A1", secret)] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect(await wiped(w)).toBe(1);
});
