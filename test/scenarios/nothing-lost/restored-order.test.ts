import { expect, it } from "vitest";
import { approveAll, numberOf, waitsFor } from "../../support/asking.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, line, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

it("buys a restored order under a number of its own, with new asset numbers, and gives its seat again", async () => {
  const w = await placedOrders();
  const before = standing(w);
  const first = numberOf(w, "A1");
  rule(w, "orders.cancelled", "apply");
  amend(w, "1", { cancelled: true });
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
  amend(w, "1", { cancelled: false });
  expect(outcome(await w.does("run", "everything"))).toMatchObject([0, { E5: 1, M9: 1 }]);
  expect(standing(w)).toEqual(before);
  const { orders, deletions } = w.sandbox.state();
  expect([...Object.keys(orders), ...Object.keys(deletions)].toSorted()).toEqual(["1", "1-1", "1-2", "2"]);
  expect(numberOf(w, "A1")).not.toBe(first);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it("buys an order again that was removed because it was missing, and comes back", { tags: "long" }, async () => {
  const w = await placedOrders();
  const [before, all] = [standing(w), w.orders];
  rule(w, "orders.deleted", "apply");
  w.staff = w.staff.filter((person) => person.customer !== "C1");
  w.orders = all.filter((order) => order.id !== "1");
  w.write();
  for (const _ of [1, 2, 3]) await w.run("run", "everything");
  w.later(25);
  for (const _ of [1, 2, 3]) await w.run("run", "everything");
  expect(standing(w)).toMatchObject({ products: 2 });
  w.orders = all;
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect(standing(w)).toMatchObject({ products: before["products"] });
});

it("works on a customer whose cancelled order is missing after it was removed", { tags: "long" }, async () => {
  const w = await placedOrders();
  amend(w, "1", { cancelled: true });
  await w.run("run", "everything");
  await approveAll(w);
  await w.run("run", "everything");
  w.orders = w.orders.filter((order) => order.id !== "1");
  w.staff = w.staff.filter((person) => person.customer !== "C1");
  w.write();
  for (const _ of [1, 2, 3]) await w.run("run", "everything");
  w.orders = [...w.orders, { id: "9", customer: "C1", assets: ["9-A1"] }];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect((await w.does("run", "everything")).calls).toEqual({});
});

it(
  "removes of an amended order that is cancelled what each purchase brought, and nothing of another order",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    amend(w, "1", { products: ["P1", "Q1", "R1"].map((id) => line(id, "A1")) });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    rule(w, "orders.cancelled", "apply");
    amend(w, "1", { cancelled: true });
    // The CRM still wants a person to have the asset.
    expect((await w.does("run", "everything")).exitCode).toBe(3);
    expect(await waitsFor(w, "S1", "staff")).toBe("asset.ended");
    expect(standing(w)).toEqual({ products: 2, assets: 1, assignments: 1 });
    expect((await w.does("run", "everything")).calls).toEqual({});
  },
);
