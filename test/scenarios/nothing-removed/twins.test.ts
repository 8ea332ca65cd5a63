import { expect, it } from "vitest";
import { approveAll, numberOf, operationsOf, waitsFor } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, line, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

const same = { pid: "PID-SAME" };
const twins = { products: [line("P1", "A1", same), line("Q1", "A1", same), line("R1", "A1")] };

/** Approves the held operation of the first order. */
async function approves(w: World): Promise<void> {
  const held = (await operationsOf(w, "order", "1")).find(({ state }) => state === "held");
  expect((await w.run("approve", held.id, "--reason", "both are to go")).exitCode).toBe(0);
}

it("does not remove a product with its twin in a package before a person approved that very call", async () => {
  const products = [line("P1", "A1"), line("Q1", "A1", same), line("R1", "K1", same)];
  const w = await placedOrders({ first: { packages: [{ id: "K1", parent: "A1" }], products } });
  rule(w, "orders.ended", "apply");
  amend(w, "1", { packages: [], products: [line("P1", "A1")] });
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  expect(standing(w)).toMatchObject({ products: 5 });
  await approves(w);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect(standing(w)).toMatchObject({ products: 3 });
});

it("asks about twins together when the policy of one of them asks", { tags: "long" }, async () => {
  const w = await placedOrders({ first: twins });
  rule(w, "orders.replaced", "apply");
  amend(w, "1", { products: [line("P1", "A1", { ...same, nodes: 9 }), line("R1", "A1")] });
  expect(outcome(await w.does("run", "everything"))).toEqual([4, { E5: 1 }]);
  expect(standing(w)).toMatchObject({ products: 6 });
  await approveAll(w);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect(standing(w)).toMatchObject({ products: 4 });
});

it.each([
  ["terms", 1],
  ["instance", 2],
] as const)(
  "removes both twins that end when the platform compares the %s",
  { tags: "long" },
  async (strictMatch, e5) => {
    const w = await placedOrders({ sandbox: { settings: { strictMatch } }, first: twins });
    rule(w, "orders.ended", "apply");
    amend(w, "1", { products: [line("R1", "A1")] });
    const { calls } = await w.writes(async () => {
      for (const _ of [1, 2, 3]) await w.does("run", "everything");
    });
    expect([calls, standing(w)]).toMatchObject([{ E5: e5 }, { products: 3 }]);
    expect(await waitsFor(w, "1")).toBeUndefined();
  },
);

it.each<[string, (w: World) => void]>([
  ["of the order", (w) => amend(w, "1", { products: [line("P1", "A1"), line("Q2", "A1", { pid: "PID-Q1" })] })],
  [
    "of another order",
    (w) => {
      const assets = [{ id: "A3", type: "normal_recover_usbkey" as const }];
      w.orders.push({ id: "3", customer: "C1", assets, products: [line("P3", "A3", { pid: "PID-Q1" })] });
      w.write();
    },
  ],
])("does not remove out of all orders what would take a new line %s along", { tags: "long" }, async (_, adds) => {
  const w = await placedOrders({ first: { assets: [{ id: "A1", type: "normal_recover_usbkey" }] }, staff: [] });
  rule(w, "orders.ended", "apply");
  const assetNum = numberOf(w, "A1");
  for (const crmProductId of ["P1", "Q1"])
    w.sandbox.hand({ action: "show-product", assetNum, crmProductId, fields: { licenseOrderId: "" } });
  w.losesItsLedger();
  expect((await w.run("rebuild")).exitCode).toBe(0);
  amend(w, "1", { products: [line("P1", "A1")] });
  expect((await w.does("run", "everything")).exitCode).toBe(4);
  await approves(w);
  adds(w);
  for (const __ of [1, 2]) await w.does("run", "everything");
  expect([w.sandbox.state().products, await waitsFor(w, "1")]).toEqual([5, "order.twin-product"]);
});
