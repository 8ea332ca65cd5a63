/** @module-tag long */
import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { numberOf, numbersOf, waitsFor } from "../../support/asking.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

const given = { first: { assets: [{ id: "A1", numbers: ["8000009999"] }] } };

/** The platform refuses the next purchase as a whole. */
function refuseNext(w: World): void {
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
}

/** The numbers of an order. True: its asset was removed, or the number was never used. */
async function fixedTo(w: World, order: string): Promise<Record<string, boolean>> {
  const numbers = await numbersOf(w, order);
  return Object.fromEntries(numbers.map(({ number, endedAt }) => [number, endedAt !== null]));
}

it("buys a restored order again under the number that the CRM gives it", async () => {
  const w = await placedOrders(given);
  const before = standing(w);
  rule(w, "orders.cancelled", "apply");
  amend(w, "1", { cancelled: true });
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
  amend(w, "1", { cancelled: false });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1, M9: 1 }]);
  expect([standing(w), await fixedTo(w, "1")]).toEqual([before, { "8000009999": false }]);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it("does not give a number in use to another order, whatever the CRM says", async () => {
  const w = await placedOrders(given);
  const before = standing(w);
  w.orders = [...w.orders, orderOf("3", "C2", { assets: [{ id: "A3", numbers: ["8000009999"] }] })];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  expect([await waitsFor(w, "3"), standing(w)]).toEqual(["asset.number-taken", before]);
});

it("buys a refused order under the number that the CRM gives it then, and never uses the first one again", async () => {
  const w = await placedOrders();
  refuseNext(w);
  w.orders = [...w.orders, orderOf("3", "C1")];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([3, { E5: 1 }]);
  const [first = ""] = Object.keys(await fixedTo(w, "3"));
  amend(w, "3", { assets: [{ id: "A3", numbers: ["8000007777"] }] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect(standing(w)).toMatchObject({ assets: 3, products: 6 });
  expect(await fixedTo(w, "3")).toEqual({ [first]: true, "8000007777": false });
  w.orders = [...w.orders, orderOf("4", "C2")];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect(numberOf(w, "A4")).not.toBe(first);
});

it("buys a refused unit under the number that the CRM gives it then; the other unit keeps its own", async () => {
  const w = await placedOrders();
  const first = numberOf(w, "A1");
  refuseNext(w);
  amend(w, "1", { assets: [{ id: "A1", quantity: 2 }] });
  expect(outcome(await w.does("run", "everything"))).toEqual([3, { E5: 1 }]);
  const refused = Object.keys(await fixedTo(w, "1")).find((number) => number !== first) ?? "";
  amend(w, "1", { assets: [{ id: "A1", quantity: 2, numbers: [first, "8000007777"] }] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect(standing(w)).toMatchObject({ assets: 3, products: 6 });
  expect(await fixedTo(w, "1")).toEqual({ [first]: false, [refused]: true, "8000007777": false });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});
