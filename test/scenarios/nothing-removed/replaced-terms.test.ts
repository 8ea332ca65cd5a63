/** @module-tag long */
import { expect, it } from "vitest";
import { numberOf, waitsFor } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import type { GivenOrder } from "../../support/world/crm.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, line, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

const more = { products: [line("P1", "A1", { nodes: 9 }), line("Q1", "A1")] };

it("keeps the old terms while M7 does not show the new ones", async () => {
  const w = await placedOrders();
  rule(w, "orders.replaced", "apply");
  amend(w, "1", more);
  // The purchase is shown under no channel order number yet.
  w.sandbox.faults.add({ operation: "M7", fault: "oddField", field: "channelOrderId", value: "later" });
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
  expect(standing(w)).toMatchObject({ products: 5 });
  w.sandbox.faults.clear();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect(standing(w)).toMatchObject({ products: 4 });
});

it("holds the old terms and revokes a seat of the same customer in one run", async () => {
  const w = await placedOrders();
  amend(w, "1", more);
  w.staff = w.staff.map((person) => (person.id === "S1" ? { ...person, holds: [] } : person));
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([4, { E5: 1, M9: 1 }]);
  expect(await waitsFor(w, "C1", "customer")).toBeUndefined();
});

it("tells old terms that wait for a person from a product that is shown too often", async () => {
  const w = await placedOrders();
  amend(w, "1", more);
  await w.does("run", "everything");
  const verified = await w.ask("run", "verify");
  expect(verified).toMatchObject({ exit: 4, differences: { "in-transit": 1, extra: 0, missing: 0, different: 0 } });
  const none = { "not-shown": 0, differs: 0, "shown-twice": 0, "shown-still": 0 };
  expect(verified.findings.counts).toEqual(none);
  const assetNum = numberOf(w, "A1");
  w.sandbox.hand({ action: "drop-product", assetNum, crmProductId: "Q1" });
  const fields = { crmProductId: "P1" };
  w.sandbox.hand({ action: "add-product", assetNum, like: "P1", fields, channelOrderId: "1-1" });
  const { findings } = await w.ask("run", "verify");
  expect(findings.counts).toEqual({ ...none, "not-shown": 1, "shown-twice": 1 });
});

/** Another unit of an asset whose package gets another form, which cannot be bought by itself. */
async function withPackage(amended: Partial<GivenOrder>): Promise<World> {
  const packages = [{ id: "K1", parent: "A1" }];
  const w = await placedOrders({ first: { packages, products: [line("P1", "A1"), line("X1", "K1")] } });
  for (const name of ["replaced", "ended", "cancelled"]) rule(w, `orders.${name}`, "apply");
  amend(w, "1", { assets: [{ id: "A1", quantity: 2 }], ...amended });
  for (const calls of [{ E5: 1 }, {}, {}]) {
    expect(outcome(await w.does("run", "everything"))).toEqual([3, calls]);
    expect(await waitsFor(w, "1")).toBe("order.not-sendable");
    expect(standing(w)).toMatchObject({ products: 6, assets: 3 });
  }
  return w;
}

it.each<[string, Partial<GivenOrder>]>([
  ["with other nodes", { products: [line("P1", "A1"), line("X1", "K1", { nodes: 9 })] }],
  ["by another one", { packages: [{ id: "K9", parent: "A1" }], products: [line("P1", "A1"), line("X9", "K9")] }],
])("buys a new unit and removes nothing while a package cannot be replaced %s", async (_, amended) => {
  const w = await withPackage(amended);
  amend(w, "1", { cancelled: true });
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
  expect(standing(w)).toMatchObject({ products: 2, assets: 1 });
});
