/** @module-tag long */
import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { callerOf, createEnterprise } from "../../sandbox/caller.ts";
import { approveAll, enterpriseOf, numberOf, openHold, openHolds, waitsFor } from "../../support/asking.ts";
import { promptRetries, type Parsed, type World } from "../../support/cli.ts";
import { outcome } from "../../support/world/members.ts";
import { productsBy, runsUntilQuiet } from "../../support/world/moved-orders.ts";
import { amend, line, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

const because = ["--reason", "looked at", "--by", "anna"];
const stands = { C1: ["P1 1", "Q1 1"], C2: ["P2 2", "Q2 2"] };

/** Two customers with an order each. Orders move in the CRM, and the ledger is lost. */
async function lost(moves: Record<string, string>, policy = "apply", given = {}): Promise<World> {
  const w = await placedOrders({ staff: [], ...given });
  rule(w, "orders.moved", policy);
  Object.assign(w.environment, promptRetries);
  for (const [order, customer] of Object.entries(moves)) amend(w, order, { customer });
  w.losesItsLedger();
  return w;
}

async function runs(w: World, times: number): Promise<void> {
  for (let run = 0; run < times; run += 1) await w.does("run", "everything");
}

/** A run, the approval of what it holds, and runs until nothing is left. */
async function completes(w: World): Promise<void> {
  await runs(w, 1);
  await approveAll(w);
  await runsUntilQuiet(w);
}

/** What M7 shows, with the numbers of amendments that a rebuilt ledger gives cut to `ORDER-N`. */
async function shown(w: World): Promise<Record<string, string[]>> {
  const by = Object.entries(await productsBy(w));
  return Object.fromEntries(by.map(([id, list]) => [id, list.map((text) => text.replace(/-\d{10}$/u, "-N")).sort()]));
}

/** Nothing is sent of the first order, whatever is approved, and the reason is told. */
async function expectWaits(w: World, code = "order.maybe-moved"): Promise<void> {
  for (const _ of [1, 2, 3]) {
    expect((await w.does("run", "everything")).calls).toEqual({});
    await approveAll(w);
  }
  expect(await waitsFor(w, "1")).toBe(code);
}

describe("an order that moved in the CRM while the ledger was lost", () => {
  it.each([
    ["1", "C1", "C2"],
    ["2", "C2", "C1"],
  ])("is known at %s's customer %s and moves to %s", async (order, from, to) => {
    const w = await lost({ [order]: to });
    const told = (await w.ask("rebuild")).lost.map(({ record }: Parsed) => record);
    expect(told.toSorted()).toEqual([`customer:crm/${from}`, `order:crm/${order}`]);
    expect((await w.ask("explain", "order", order)).placed).toMatchObject([{ customer: { id: from } }]);
    await runsUntilQuiet(w);
    const other = order === "1" ? "2" : "1";
    expect(await shown(w)).toEqual({
      [to]: [`P${other} ${other}`, `P${order} ${order}-N`, `Q${other} ${other}`, `Q${order} ${order}-N`].sort(),
    });
    expect(w.sandbox.duplicates().products).toEqual([]);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
  });

  it("is known where it is shown under the number of an earlier move", async () => {
    const w = await placedOrders({ staff: [] });
    w.customers.push({ id: "C3" });
    rule(w, "orders.moved", "apply");
    amend(w, "1", { customer: "C2" });
    await runsUntilQuiet(w);
    amend(w, "1", { customer: "C3" });
    w.losesItsLedger();
    expect((await w.does("rebuild")).exitCode).toBe(3);
    expect((await w.ask("explain", "order", "1")).placed).toMatchObject([{ customer: { id: "C2" } }]);
    await completes(w);
    expect(await shown(w)).toEqual({ C2: ["P2 2", "Q2 2"], C3: ["P1 1-N", "Q1 1-N"] });
  });

  it.each([
    ["changes places with another", { 1: "C2", 2: "C1" }, { C1: ["P2 2-N", "Q2 2-N"], C2: ["P1 1-N", "Q1 1-N"] }],
    ["moves to a customer without an enterprise", { 1: "C0" }, { C0: ["P1 1-N", "Q1 1-N"], C2: ["P2 2", "Q2 2"] }],
  ])("is bought once when it %s", async (_, moves, after) => {
    const w = await lost(moves);
    if ("C0" in after) w.customers.push({ id: "C0" });
    w.write();
    expect((await w.does("rebuild")).exitCode).toBe(3);
    await runs(w, 1);
    await completes(w);
    expect(await shown(w)).toEqual(after);
  });

  it("leaves people their seats until its removal is approved", async () => {
    const staff = [
      { id: "S1", customer: "C1", holds: ["A1"] },
      { id: "S2", customer: "C2", holds: ["A2"] },
    ];
    const w = await lost({ 1: "C2" }, "apply-after-approvals", { staff });
    expect((await w.does("rebuild")).exitCode).toBe(3);
    expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
    expect((await w.run("approve", await openHold(w), ...because)).exitCode).toBe(0);
    w.staff = staff.map((row) => ({ ...row, holds: row.id === "S1" ? [] : row.holds }));
    w.write();
    await runsUntilQuiet(w);
    expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 1 });
  });

  it.each(["report", "ignore"])("stays where it is when the policy is %s", async (word) => {
    const w = await lost({ 1: "C2" }, word);
    await w.does("rebuild");
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
    expect(await shown(w)).toEqual(stands);
  });

  it("waits when it changed too, and is removed when it is cancelled", async () => {
    const w = await lost({ 1: "C2" });
    const { products = [] } = orderOf("1", "C2");
    amend(w, "1", { products: [line("P1", "A1", { nodes: 9 }), line("Q1", "A1")] });
    expect((await w.does("rebuild")).exitCode).toBe(3);
    await expectWaits(w, "order.shown-elsewhere");
    expect(await openHolds(w)).toEqual([]);
    w.losesItsLedger("third.db");
    rule(w, "orders.cancelled", "apply");
    amend(w, "1", { products, cancelled: true });
    await w.does("rebuild");
    await runsUntilQuiet(w);
    expect(await shown(w)).toEqual({ C2: stands.C2 });
  });
});

describe("an order that moved, and may exist at a customer that a rebuild could not read,", () => {
  async function unread(more: (w: World) => void = () => {}): Promise<World> {
    const w = await placedOrders({ staff: [] });
    rule(w, "orders.moved", "apply");
    Object.assign(w.environment, promptRetries);
    w.sandbox.faults.add({ operation: "M6", fault: "http502", about: await enterpriseOf(w, "C1") });
    amend(w, "1", { customer: "C2" });
    more(w);
    w.losesItsLedger();
    expect((await w.does("rebuild")).exitCode).toBe(7);
    return w;
  }
  const taken = { C2: ["P1 1-N", "P2 2", "Q1 1-N", "Q2 2"] };

  it("waits, and what comes into the CRM later is bought", async () => {
    const w = await unread();
    await expectWaits(w);
    w.orders.push(orderOf("3", "C2"));
    w.write();
    await runs(w, 1);
    await approveAll(w);
    await runs(w, 1);
    w.sandbox.faults.clear();
    expect((await shown(w))["C2"]).toEqual(["P2 2", "P3 3", "Q2 2", "Q3 3"]);
  });

  it("waits also when its source was down during the rebuild", async () => {
    const w = await unread((of) => rmSync(of.path("data/orders.ndjson")));
    w.write();
    await expectWaits(w);
  });

  it("waits also when its row had no id during the rebuild", async () => {
    const w = await unread((of) => amend(of, "1", { id: "" }));
    amend(w, "", { id: "1" });
    await expectWaits(w);
  });

  it("is known once a run could read that customer, and another rebuild adopts it", async () => {
    const w = await unread();
    w.sandbox.faults.clear();
    await expectWaits(w, "order.shown-elsewhere");
    w.losesItsLedger("third.db");
    expect((await w.does("rebuild")).exitCode).toBe(3);
    await completes(w);
    expect(await shown(w)).toEqual(taken);
  });

  it("is adopted by the same rebuild when it can read everything the next time", async () => {
    const w = await unread();
    w.sandbox.faults.clear();
    expect(outcome(await w.does("rebuild"))).toEqual([3, {}]);
    await completes(w);
    expect(await shown(w)).toEqual(taken);
  });

  it.each<[string, (w: World) => void]>([
    [
      "has two enterprises",
      (w) => void w.sandbox.hand({ action: "make-enterprise", channelCustomerId: "C1", customerName: "another" }),
    ],
    [
      "is in quarantine",
      (w) => (w.customers = w.customers.map((row) => (row.id === "C1" ? { ...row, name: "" } : row))),
    ],
    [
      "has a row without an id",
      (w) => (w.customers = w.customers.map((row) => (row.id === "C1" ? { ...row, id: "" } : row))),
    ],
  ])("waits also when that customer %s", async (_, edit) => {
    const w = await lost({ 1: "C2" });
    edit(w);
    w.write();
    await w.does("rebuild");
    await expectWaits(w);
  });

  it("waits when an asset there shows nothing, until the settings say that such assets are empty", async () => {
    const w = await lost({ 1: "C2" });
    for (const crmProductId of ["P1", "Q1"])
      w.sandbox.hand({ action: "drop-product", assetNum: numberOf(w, "A1"), crmProductId });
    await w.does("rebuild");
    await expectWaits(w);
    w.environment["CRM_SYNC__assumptions__emptyAssets"] = "empty";
    await w.does("resync", "--customer", "C1");
    await completes(w);
    expect(await shown(w)).toEqual({ C2: ["P1 1", "P2 2", "Q1 1", "Q2 2"] });
  });
});

describe("a ledger that is lost while an order exists at two customers", () => {
  const both = { C1: ["P1 1", "Q1 1"], C2: ["P1 1-1", "P2 2", "Q1 1-1", "Q2 2"] };
  const moved = { C2: both.C2 };

  /** `edit` gets the number of the asset that the first customer still has. */
  async function twice(
    policy: string,
    edit: (w: World, assetNum: string) => void = () => {},
  ): Promise<{ w: World; number: string }> {
    const w = await placedOrders({ staff: [] });
    const number = numberOf(w, "A1");
    amend(w, "1", { customer: "C2" });
    const assetNum = "8111111111";
    w.sandbox.hand({ action: "add-asset", like: numberOf(w, "A2"), assetNum, channelOrderId: "1-1" });
    for (const product of ["P", "Q"]) {
      const [productUri, gmsPid] = [`PID-${product}1`, `PID-${product}1`];
      const fields = { crmProductId: `${product}1`, productUri, gmsPid, productName: `Product ${product}1` };
      w.sandbox.hand({ action: "change-product", assetNum, crmProductId: `${product}2`, fields });
    }
    rule(w, "orders.moved", policy);
    edit(w, number);
    w.losesItsLedger();
    return { w, number };
  }

  const otherNodes = (w: World, assetNum: string): void =>
    void w.sandbox.hand({ action: "change-product", assetNum, crmProductId: "Q1", fields: { limitConcurrent: 9 } });
  const unnamed = (w: World, assetNum: string): void => {
    for (const crmProductId of ["P1", "Q1"])
      w.sandbox.hand({ action: "show-product", assetNum, crmProductId, fields: { crmProductId: null } });
  };

  async function expectFormLost(w: World, kind: "customer" | "order" = "customer"): Promise<void> {
    for (const _ of [1, 2]) expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    expect(await waitsFor(w, kind === "customer" ? "C1" : "1", kind)).toBe("order.form-lost");
  }

  it("knows both after a rebuild, and the rest is removed by its policy", async () => {
    const { w } = await twice("apply");
    const rebuilt = await w.ask("rebuild");
    expect(rebuilt).toMatchObject({ known: { orders: 2 }, lost: [{ record: "customer:crm/C1" }], left: [] });
    const { differences } = await w.ask("run", "verify");
    expect(differences).toMatchObject({ missing: 0, extra: 0, different: 0 });
    expect((await runsUntilQuiet(w))[0]).toEqual({ E5: 1 });
    expect(await productsBy(w)).toEqual(moved);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
  });

  it("asks before the rest is removed", async () => {
    const { w } = await twice("apply-after-approvals");
    await w.does("rebuild");
    expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
    expect(await openHolds(w)).toMatchObject([{ customer: { id: "C1" } }]);
    expect(await productsBy(w)).toEqual(both);
    await approveAll(w);
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual(moved);
  });

  it("does not ask for what somebody removed there already", async () => {
    const { w } = await twice("apply", (of, assetNum) =>
      of.sandbox.hand({ action: "drop-product", assetNum, crmProductId: "Q1" }),
    );
    await w.does("rebuild");
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual(moved);
  });

  it.each([
    ["has other nodes", otherNodes, {}],
    ["has products without a name", unnamed, {}],
    ["would have another number now", otherNodes, { CRM_SYNC__assumptions__channelOrderIdTemplate: "X{id}" }],
  ])("leaves the rest that %s, and tells so until somebody removes it", async (_, edit, settings) => {
    const { w, number } = await twice("apply", edit);
    expect(outcome(await w.does("rebuild"))).toEqual([3, {}]);
    Object.assign(w.environment, settings);
    await expectFormLost(w);
    w.sandbox.hand({ action: "drop-asset", assetNum: number });
    await runs(w, 3);
    expect(await productsBy(w)).toEqual(moved);
  });

  it("does not buy the order at the first customer again before the rest is removed", async () => {
    const { w, number } = await twice("apply", otherNodes);
    await w.does("rebuild");
    amend(w, "1", { customer: "C1" });
    await expectFormLost(w, "order");
    expect(await productsBy(w)).toEqual(both);
    w.sandbox.hand({ action: "drop-asset", assetNum: number });
    await runsUntilQuiet(w);
    const { C1 = [], C2 } = await productsBy(w);
    expect([C1.map((text) => text.split(" ")[0]), C2]).toEqual([["P1", "Q1"], stands.C2]);
    amend(w, "1", { customer: "C2" });
    await runsUntilQuiet(w);
    expect(Object.keys(await productsBy(w))).toEqual(["C2"]);
  });
});

describe("customers that merged while the ledger was lost", () => {
  async function merged(customers: World["customers"]): Promise<World> {
    const w = await placedOrders();
    Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
    w.orders = [...w.orders, orderOf("3", "C1")];
    w.write();
    await runs(w, 1);
    for (const policy of ["orders.moved", "staff.moved"]) rule(w, policy, "apply");
    w.orders = w.orders.map((order) => ({ ...order, customer: "C2" }));
    w.staff = w.staff.map((person) => ({ ...person, customer: "C2" }));
    w.customers = customers;
    w.write();
    w.losesItsLedger();
    expect((await w.does("rebuild")).exitCode).toBe(3);
    return w;
  }

  it("are known as such when the CRM still has both", async () => {
    const w = await merged([{ id: "C1", mergedInto: "C2" }, { id: "C2" }]);
    const from = async (order: string): Promise<string[]> => {
      const { placed } = await w.ask("explain", "order", order);
      return placed[0].movedFrom.map((one: Parsed) => one.customer.id);
    };
    await completes(w);
    expect([await from("1"), await from("3")]).toEqual([["C1"], ["C1"]]);
    expect(await shown(w)).toEqual({ C2: ["P1 1-N", "P2 2", "P3 3-N", "Q1 1-N", "Q2 2", "Q3 3-N"] });
    expect(w.sandbox.duplicates().products).toEqual([]);
  });

  it("have nothing placed before a person looked when the CRM has one of them only", async () => {
    const w = await merged([{ id: "C2" }]);
    const { effects } = w.sandbox.counts();
    expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
    expect(w.sandbox.counts().effects).toEqual(effects);
  });
});

it("counts an order as placed by what its customer's own enterprise shows, not by an earlier one", async () => {
  const w = await placedOrders({ staff: [] });
  w.orders = w.orders.filter(({ id }) => id !== "1");
  w.write();
  w.losesItsLedger();
  await w.does("rebuild");
  const other = await createEnterprise(callerOf(w.sandbox.url), "C1");
  expect((await w.run("unlink", "C1", "--keep-orders", ...because)).exitCode).toBe(0);
  w.orders.push(orderOf("1", "C1"));
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  expect((await w.ask("explain", "order", "1")).placed).toEqual([]);
  expect((await w.run("link", "C1", other.enterpriseGlobalId, ...because)).exitCode).toBe(0);
  expect((await w.does("run", "everything")).calls["E5"]).toBe(1);
});
