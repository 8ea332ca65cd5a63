/** @module-tag long */
import { expect, it } from "vitest";
import { numberOf, operationsOf, waitsFor } from "../../support/asking.ts";
import { type World, world } from "../../support/cli.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, line, orderOf, rule, standing } from "../../support/world/placed-orders.ts";

const packages = ["K1", "K2"].map((id) => ({ id, parent: "A1" }));
const inPackages = [line("X1", "K1"), line("X2", "K2")];

/** Two customers; the first has an asset with packages alone, whose products E5 repeats in the asset (A23). */
async function repeated(): Promise<World> {
  const w = await world({
    records: {
      customers: [{ id: "C1" }, { id: "C2" }],
      orders: [orderOf("1", "C1", { packages, products: inPackages }), orderOf("2", "C2")],
      staff: [{ id: "S2", customer: "C2", holds: ["A2"] }],
    },
  });
  Object.assign(w.environment, {
    CRM_SYNC__assumptions__packageOnly: "repeat",
    CRM_SYNC__assumptions__packageOnlyParent: "asset",
  });
  for (const name of ["cancelled", "ended", "added"]) rule(w, `orders.${name}`, "apply");
  expect((await w.does("run", "everything")).exitCode).toBe(0);
  expect(standing(w)).toMatchObject({ products: 6, assets: 2 });
  return w;
}

it("removes an order with repeated packages whole when it is cancelled", async () => {
  const w = await repeated();
  amend(w, "1", { cancelled: true });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect(standing(w)).toMatchObject({ products: 2, assets: 1 });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it("removes a repeated package, both times that it is shown, when a person has approved that", async () => {
  const w = await repeated();
  amend(w, "1", { packages: packages.slice(0, 1), products: inPackages.slice(0, 1) });
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  const [held] = await operationsOf(w, "order", "1");
  expect(held).toMatchObject({ state: "held" });
  expect((await w.run("approve", held.id, "--reason", "asked the customer")).exitCode).toBe(0);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect(standing(w)).toMatchObject({ products: 4, assets: 2 });
  expect((await w.does("run", "everything")).calls).toEqual({});
});

it.each<[string, (w: World) => void]>([
  [
    "the settings do not repeat packages any more",
    (w) => (w.environment["CRM_SYNC__assumptions__packageOnly"] = "block"),
  ],
  [
    "somebody changed the nodes of a repeated product",
    (w) => {
      const fields = { limitConcurrent: 9 };
      w.sandbox.hand({ action: "show-product", assetNum: numberOf(w, "A1"), crmProductId: "X1", fields });
    },
  ],
])("removes nothing when %s", async (_, edit) => {
  const w = await repeated();
  edit(w);
  amend(w, "1", { cancelled: true });
  for (const __ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
  expect(await waitsFor(w, "1")).toBe("order.shown-differently");
  expect(standing(w)).toMatchObject({ products: 6, assets: 2 });
});

it("finds a repeated product as it was bought, and one that is there once more", async () => {
  const w = await repeated();
  expect((await w.ask("run", "verify")).exit).toBe(0);
  w.sandbox.hand({ action: "add-product", assetNum: "8000000001", like: "X1", fields: {} });
  const { exit, findings } = await w.ask("run", "verify");
  expect([exit, findings.counts]).toMatchObject([3, { "shown-twice": 1 }]);
});
