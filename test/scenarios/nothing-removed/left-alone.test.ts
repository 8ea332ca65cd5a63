/** @module-tag long */
import { describe, expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { heldBy, memberOf, numberOf, operationsOf, placedOf, waitsFor } from "../../support/asking.ts";
import type { GivenOrder } from "../../support/world/crm.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, line, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

const both = [line("P1", "A1"), line("Q1", "A1")];
const lending = { assets: ["A1", { id: "L1", forLending: true }], products: [...both, line("R1", "L1")] };

/** What the CRM removes from an order is removed at once. */
async function orders(first: Partial<GivenOrder> = {}): Promise<World> {
  const w = await placedOrders({ first });
  rule(w, "orders.ended", "apply");
  return w;
}

function change(w: World, crmProductId: string, fields: Record<string, unknown>): void {
  w.sandbox.hand({ action: "change-product", assetNum: numberOf(w, "A1"), crmProductId, fields });
}

describe("does not remove a product, and says why,", () => {
  it.each<[string, string, Partial<GivenOrder>, (w: World) => void | Promise<void>]>([
    ["M7 shows it with other nodes", "order.shown-differently", {}, (w) => change(w, "Q1", { limitConcurrent: 7 })],
    [
      "a deletion would take a twin that stays",
      "order.twin-product",
      { products: [line("P1", "A1"), line("Q1", "A1", { pid: "PID-P1" })] },
      () => {},
    ],
    [
      "its asset is lent",
      "asset.lent",
      lending,
      async (w) =>
        void w.sandbox.hand({
          action: "lend",
          lock: numberOf(w, "L1"),
          memberGlobalId: await memberOf(w, "S1"),
          assetNums: [numberOf(w, "A1")],
        }),
    ],
    [
      "neither M6 nor E8 shows its asset number",
      "order.not-shown",
      {},
      (w) => void w.sandbox.hand({ action: "drop-asset", assetNum: numberOf(w, "A1") }),
    ],
  ])("if %s", async (_, code, first, before) => {
    const w = await orders(first);
    await before(w);
    const { products } = w.sandbox.state();
    amend(w, "1", { products: (first.products ?? both).filter(({ id }) => id !== "Q1") });
    expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    expect([await waitsFor(w, "1"), w.sandbox.state().products]).toEqual([code, products]);
  });
});

it("sends nothing for a product that somebody removed manually", async () => {
  const w = await orders();
  w.sandbox.hand({ action: "drop-product", assetNum: numberOf(w, "A1"), crmProductId: "Q1" });
  amend(w, "1", { products: [line("P1", "A1")] });
  for (const _ of [1, 2]) expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect((await placedOf(w, "1")).steps).toMatchObject([{ kind: "removed", origin: "found" }]);
});

it("does not forget a product that M7 leaves out just after it was bought", async () => {
  const w = await orders();
  amend(w, "1", { products: [...both, line("R1", "A1")] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  w.environment["CRM_SYNC__settle__timeMs"] = String(3_600_000);
  const assetNum = numberOf(w, "A1");
  const shownAs = (fields: Record<string, string>): void =>
    void w.sandbox.hand({ action: "show-product", assetNum, crmProductId: "R1", fields });
  shownAs({ crmProductId: "X9", productUri: "PID-X9", channelOrderId: "another" });
  amend(w, "1", { products: both });
  for (const _ of [1, 2]) {
    expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    expect(await waitsFor(w, "1")).toBe("order.absence-unsure");
  }
  shownAs({});
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect((await placedOf(w, "1")).steps).toMatchObject([{ kind: "bought" }, { kind: "removed", origin: "sent" }]);
  expect(w.sandbox.state()).toMatchObject({ products: 4 });
});

it("does everything else for a customer if M7 does not know an asset that M6 shows", async () => {
  const w = await orders();
  w.sandbox.faults.add({ operation: "M7", fault: "status299", code: "60024" });
  w.orders = [...w.orders, orderOf("9", "C1")];
  amend(w, "1", { products: [line("P1", "A1")] });
  expect(outcome(await w.does("run", "everything"))).toEqual([3, { E5: 1 }]);
  expect([await waitsFor(w, "1"), await waitsFor(w, "9")]).toEqual(["order.not-shown", undefined]);
  w.sandbox.faults.clear();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
});

it.each(["apply", "ask"])("removes a package only after a person approved that very operation (%s)", async (word) => {
  const first = { packages: [{ id: "K1", parent: "A1" }], products: [...both, line("X1", "K1")] };
  const w = await placedOrders({ first });
  rule(w, "orders.ended", word);
  // With `hold` both deletions need an approval, and both are sent in one run.
  const products = word === "apply" ? both : [line("P1", "A1")];
  amend(w, "1", { packages: [], products });
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  const held = (await operationsOf(w, "order", "1")).filter(({ state }) => state === "held");
  for (const { id } of held) expect((await w.run("approve", id, "--reason", "asked the customer")).exitCode).toBe(0);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: held.length }]);
  expect(held).toHaveLength(word === "apply" ? 1 : 2);
  expect(w.sandbox.state()).toMatchObject({ products: 2 + products.length, merchandises: 0 });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it.each([
  ["removes the unit that nobody holds", false],
  ["moves the holder to the unit that the CRM keeps, before it removes the other", true],
])("%s", async (_, isGiven) => {
  const w = await orders({ assets: [{ id: "A1", quantity: 2 }] });
  const held = await heldBy(w, "S1");
  const other = [numberOf(w, "A1", 0), numberOf(w, "A1", 1)].filter((number) => !held.includes(number));
  amend(w, "1", { assets: [{ id: "A1", quantity: 1, ...(isGiven ? { numbers: other } : {}) }] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, isGiven ? { E5: 1, M9: 1 } : { E5: 1 }]);
  expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
  expect(await heldBy(w, "S1")).toEqual(isGiven ? other : held);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});
