import { expect, it } from "vitest";
import { placedOf, waitsFor } from "../../support/asking.ts";
import { statementRows } from "../../support/statement-rows.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, line, orderOf, placedOrders } from "../../support/world/placed-orders.ts";

const both = [line("P1", "A1"), line("Q1", "A1")];

it("buys an added product once under the existing asset number, and changes nothing else", async () => {
  const w = await placedOrders();
  const before = w.sandbox.state();
  amend(w, "1", { products: [...both, line("R1", "A1", { nodes: 9 })] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  const { orders, products, licenseOrders, ...others } = w.sandbox.state();
  expect({ ...before, ...others }).toEqual(before);
  expect([products, licenseOrders]).toEqual([before.products + 1, before.licenseOrders + 1]);
  expect(Object.keys(orders).toSorted()).toEqual(["1", "1-1", "2"]);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it(
  "gives each amendment a number that no other order has, and reconciles what it bought",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    w.orders.push(orderOf("1-1", "C2"));
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
    for (const more of [["R1"], ["R1", "T1"]]) {
      amend(w, "1", { products: [...both, ...more.map((id) => line(id, "A1"))] });
      expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
    }
    const { products, steps } = await placedOf(w, "1");
    expect([products, steps]).toMatchObject([4, [{ channelOrderId: "1-2" }, { channelOrderId: "1-3" }]]);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    const items = await statementRows(w, "reconciliation", "items");
    const rows = items.filter(({ level }) => level === "product" || level === "order");
    expect(rows.filter(({ verdict }) => verdict !== "matched")).toEqual([]);
    expect(rows.filter(({ channel_order_id: bought }) => ["1-2", "1-3"].includes(String(bought)))).toHaveLength(2);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  },
);

it("buys an added product while a removal from the same order waits for a person", { tags: "long" }, async () => {
  const w = await placedOrders();
  amend(w, "1", { products: [line("P1", "A1"), line("R1", "A1")] });
  expect(outcome(await w.does("run", "everything"))).toEqual([4, { E5: 1 }]);
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
});

it("sends a refused amendment once until the order changes, and keeps its new price", { tags: "long" }, async () => {
  const w = await placedOrders({ first: { products: [line("P1", "A1", { price: "10.00" }), line("Q1", "A1")] } });
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
  const priced = [line("P1", "A1", { price: "12.00" }), line("Q1", "A1")];
  amend(w, "1", { products: [...priced, line("R1", "A1")] });
  for (const calls of [{ E5: 1 }, {}, {}]) expect(outcome(await w.does("run", "everything"))).toEqual([3, calls]);
  expect(await waitsFor(w, "1")).toBe("rejected.13004");
  expect((await placedOf(w, "1")).steps).toMatchObject([{ kind: "priced" }]);
  amend(w, "1", { products: [...priced, line("R1", "A1", { nodes: 5 })] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect((await placedOf(w, "1")).steps).toMatchObject([{ kind: "priced" }, { kind: "bought" }]);
});

it("sends the licence order of a transferred product, and waits while it is unknown", { tags: "long" }, async () => {
  const w = await placedOrders();
  const [{ licenseOrderId }] = (await placedOf(w, "1")).licenceOrders;
  const moved = (instance: string) => line("T3", "A3", { pid: "PID-P1", from: { order: "1", instance } });
  w.orders = [...w.orders, orderOf("3", "C1", { products: [moved("nothing")] })];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  expect(await waitsFor(w, "3")).toBe("order.transfer-unknown");
  amend(w, "3", { products: [moved("P1")] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  const [sent] = w.sandbox.batches("3");
  expect(sent?.body).toContain(`"srcLicenseOrderId":"${licenseOrderId}"`);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});
