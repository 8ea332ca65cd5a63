import { expect, it } from "vitest";
import { callerOf, createEnterprise } from "../../sandbox/caller.ts";
import type { World } from "../../support/cli.ts";
import { document, promptRetries } from "../../support/cli.ts";
import { enterpriseOf, outcome } from "../../support/world/members.ts";
import { productsBy, runsUntilQuiet } from "./moved.ts";
import { amend, orderOf, placedOrders, rule, waitsFor } from "./placed-orders.ts";

const because = ["--reason", "looked at", "--by", "anna"];
const both = { C1: ["P1 1", "Q1 1"], C2: ["P1 1-1", "P2 2", "Q1 1-1", "Q2 2"] };
const moved = { C2: both.C2 };

/** The first order was bought at the second customer and stands at the first one still, as `edit` left it there. */
async function builtAgain(edit: (w: World, number: string) => void): Promise<{ w: World; number: string }> {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.moved", "earn");
  amend(w, "1", { customer: "C2" });
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
  rule(w, "orders.moved", "apply");
  const [row] = w.rows<{ number: string }>(
    "select wire_number as number from asset_number where instance_id = 'A1' and customer_id = 'C1'",
  );
  const number = row?.number ?? "";
  edit(w, number);
  w.losesItsLedger();
  await w.does("rebuild");
  return { w, number };
}

async function expectFormLost(w: World): Promise<void> {
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  const told = document(await w.run("explain", "customer", "C1", "--json"));
  expect(told).toMatchObject({ record: { deferred: { code: "order.form-lost" } } });
}

/** What the first customer has still gets other nodes than the CRM says. */
function changeNodes(w: World, assetNum: string): void {
  const fields = { limitConcurrent: 9 };
  w.sandbox.hand({ action: "change-product", assetNum, crmProductId: "Q1", fields });
}

it("what a moved order left is not taken for gone where M7 does not name its products", { tags: "long" }, async () => {
  const { w, number } = await builtAgain((of, assetNum) => {
    for (const crmProductId of ["P1", "Q1"])
      of.sandbox.hand({ action: "show-product", assetNum, crmProductId, fields: { crmProductId: null } });
  });
  for (const _ of [1, 2]) await expectFormLost(w);
  w.sandbox.hand({ action: "drop-asset", assetNum: number });
  await runsUntilQuiet(w);
  expect(await productsBy(w)).toEqual(moved);
});

it(
  "what a moved order left is not taken for gone where its number would be another one by now",
  { tags: "long" },
  async () => {
    const { w } = await builtAgain(changeNodes);
    w.environment["CRM_SYNC__assumptions__channelOrderIdTemplate"] = "X{id}";
    for (const _ of [1, 2]) await expectFormLost(w);
    expect(await productsBy(w)).toEqual(both);
  },
);

it(
  "what nobody knew of an order is forgotten with it: where it moves back and away again it goes",
  { tags: "long" },
  async () => {
    const { w, number } = await builtAgain(changeNodes);
    await expectFormLost(w);
    w.sandbox.hand({ action: "drop-asset", assetNum: number });
    await runsUntilQuiet(w);
    amend(w, "1", { customer: "C1" });
    await runsUntilQuiet(w);
    expect(Object.keys(await productsBy(w))).toEqual(["C1", "C2"]);
    amend(w, "1", { customer: "C2" });
    await runsUntilQuiet(w);
    expect(Object.keys(await productsBy(w))).toEqual(["C2"]);
  },
);

it(
  "an order that moves back to where nobody knows what it left is not bought there a second time",
  { tags: "long" },
  async () => {
    const { w, number } = await builtAgain(changeNodes);
    amend(w, "1", { customer: "C1" });
    for (const _ of [1, 2]) {
      expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
      expect(waitsFor(w, "1")).toBe("order.form-lost");
    }
    expect(await productsBy(w)).toEqual(both);
    w.sandbox.hand({ action: "drop-asset", assetNum: number });
    await runsUntilQuiet(w);
    const { C1 = [], C2 } = await productsBy(w);
    expect([C1.map((text) => text.split(" ")[0]), C2]).toEqual([
      ["P1", "Q1"],
      ["P2 2", "Q2 2"],
    ]);
  },
);

it(
  "an order counts as placed by what the customer's own enterprise shows, not by one that it had before",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ staff: [] });
    w.orders = w.orders.filter(({ id }) => id !== "1");
    w.write();
    w.losesItsLedger();
    await w.does("rebuild");
    const other = await createEnterprise(callerOf(w.sandbox.url), "C1");
    expect((await w.run("unlink", "C1", "--keep-standing", ...because)).exitCode).toBe(0);
    w.orders.push(orderOf("1", "C1"));
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    expect(w.rows("select order_id as id from placed_order")).toEqual([{ id: "2" }]);
    expect((await w.run("link", "C1", other.enterpriseGlobalId, ...because)).exitCode).toBe(0);
    await w.does("run", "everything");
    expect(await productsBy(w)).toEqual({ C1: ["P1 1", "Q1 1"], C2: ["P2 2", "Q2 2"] });
  },
);

it("no order is placed again where a row of customers without an id may be that of whom it stands for", async () => {
  const w = await placedOrders({ staff: [] });
  w.customers = w.customers.map((row) => (row.id === "C1" ? { ...row, id: "" } : row));
  amend(w, "1", { customer: "C2" });
  await expectNotPlaced(w, () => {});
});

it("no order is placed again whose row had no id when somebody could not be looked at", { tags: "long" }, async () => {
  const w = await placedOrders({ staff: [] });
  Object.assign(w.environment, promptRetries);
  w.sandbox.faults.add({ operation: "M6", fault: "http502", about: enterpriseOf(w, "C1") });
  amend(w, "1", { customer: "C2", id: "" });
  await expectNotPlaced(w, () => amend(w, "", { id: "1" }));
});

/** The ledger is built anew, the CRM mends what it says, and the first order waits, whatever is approved. */
async function expectNotPlaced(w: World, mend: () => void): Promise<void> {
  w.losesItsLedger();
  await w.does("rebuild");
  mend();
  for (const _ of [1, 2, 3]) {
    expect((await w.does("run", "everything")).calls).toEqual({});
    for (const { id } of w.rows<{ id: string }>("select id from hold where state = 'open'"))
      expect((await w.run("approve", id, ...because)).exitCode).toBe(0);
  }
  expect(waitsFor(w, "1")).toBe("order.maybe-moved");
}
