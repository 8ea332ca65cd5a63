import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { amend, line, numberOf, placedOrders, rule, waitsFor } from "./placed-orders.ts";

/** An order of a lock whose licence orders neither M7 nor the ledger knows, and of which a line ended. */
async function unowned(): Promise<World> {
  const lock = (id: string) => ({ assets: [{ id: `A${id}`, type: "normal_recover_usbkey" as const }] });
  const w = await placedOrders({ first: lock("1"), staff: [] });
  rule(w, "orders.ended", "apply");
  w.tamper("delete from licence_order");
  for (const crmProductId of ["P1", "Q1"]) {
    const assetNum = numberOf(w, "A1");
    w.sandbox.hand({ action: "show-product", assetNum, crmProductId, fields: { licenseOrderId: "" } });
  }
  amend(w, "1", { products: [line("P1", "A1")] });
  return w;
}

/** A deletion out of all orders that was approved on the word that it takes nothing else. */
async function approved(): Promise<World> {
  const w = await unowned();
  expect((await w.does("run", "everything")).exitCode).toBe(4);
  const [operation] = w.rows<{ id: string; reason: string }>("select id, reason from operation where state = 'held'");
  expect(operation?.reason).toContain("M7 shows nothing else that it would take");
  expect((await w.run("approve", operation?.id ?? "", "--reason", "nothing else goes with it")).exitCode).toBe(0);
  return w;
}

it("what a deletion out of all orders would take along since it was approved stays: a line of the order", async () => {
  const w = await approved();
  amend(w, "1", { products: [line("P1", "A1"), line("Q2", "A1", { pid: "PID-Q1" })] });
  for (const _ of [1, 2]) await w.does("run", "everything");
  // Four that stood, and the one that was bought: nothing goes.
  expect(w.sandbox.state().products).toBe(5);
  expect(waitsFor(w, "1")).toBe("order.twin-product");
});

it(
  "what a deletion out of all orders would take along since it was approved stays: another order",
  { tags: "long" },
  async () => {
    const w = await approved();
    const products = [line("P3", "A3", { pid: "PID-Q1" })];
    w.orders.push({ id: "3", customer: "C1", assets: [{ id: "A3", type: "normal_recover_usbkey" }], products });
    w.write();
    const runs = [];
    for (const _ of [1, 2]) {
      const { exitCode, calls } = await w.does("run", "everything");
      runs.push([exitCode, calls]);
    }
    expect(w.sandbox.state().products, JSON.stringify(runs)).toBe(5);
  },
);
