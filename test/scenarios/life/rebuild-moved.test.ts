import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { document, promptRetries } from "../../support/cli.ts";
import { enterpriseOf, outcome } from "../../support/world/members.ts";
import { productsBy, runsUntilQuiet } from "./moved.ts";
import { amend, line, numberOf, openHold, orderOf, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";

const because = ["--reason", "looked at", "--by", "anna"];

/** Two customers with an order and a person each. The orders change in the CRM and the ledger is lost. */
async function lost(
  moves: Record<string, string>,
  options: { policy?: string; staff?: Parameters<typeof placedOrders>[0] } = {},
): Promise<World> {
  const w = await placedOrders(options.staff ?? { staff: [] });
  rule(w, "orders.moved", options.policy ?? "apply");
  for (const [order, customer] of Object.entries(moves)) amend(w, order, { customer });
  w.losesItsLedger();
  return w;
}

/** A person approves all that is held. */
async function approveAll(w: World): Promise<void> {
  for (const { id } of w.rows<{ id: string }>("select id from hold where state = 'open'"))
    expect((await w.run("approve", id, ...because)).exitCode).toBe(0);
}

/** The ledger is lost and built again: the first order waits then, and no approval places it. */
async function expectMaybeMoved(w: World): Promise<void> {
  w.losesItsLedger();
  await w.does("rebuild");
  await w.does("run", "everything");
  await approveAll(w);
  expect((await w.does("run", "everything")).calls).toEqual({});
  expect(waitsFor(w, "1")).toBe("order.maybe-moved");
}

/** What M7 shows, with the numbers of amendments that a rebuilt ledger gives cut to `ORDER-N`. */
async function shown(w: World): Promise<Record<string, string[]>> {
  const by = Object.entries(await productsBy(w));
  return Object.fromEntries(by.map(([id, list]) => [id, list.map((text) => text.replace(/-\d{10}$/u, "-N")).sort()]));
}

const noDuplicates = { enterprises: [], orders: [], products: [], staff: [] };

describe("an order that moved in the CRM while the ledger was lost", () => {
  it.each([
    ["1", "C1", "C2"],
    ["2", "C2", "C1"],
  ])(
    "order %s stands at %s after a rebuild, and is bought at %s as one that moved",
    { tags: "long" },
    async (order, from, to) => {
      const w = await lost({ [order]: to });
      const rebuilt = await w.does("rebuild", "--json");
      expect([rebuilt.exitCode, rebuilt.calls], rebuilt.stderr).toEqual([3, {}]);
      expect(document(rebuilt).left).toEqual([
        { record: `order:crm/${order}`, why: expect.stringContaining(`moved here from crm/${from}`) },
      ]);
      expect(w.rows("select order_id, customer_id from placed_order order by 1")).toContainEqual({
        order_id: order,
        customer_id: from,
      });
      const held = await w.does("run", "everything");
      expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
      expect(w.rows("select kind from hold_operation")).toEqual([{ kind: "amend-order" }]);
      await approveAll(w);
      await runsUntilQuiet(w);
      const other = order === "1" ? "2" : "1";
      expect(await shown(w)).toEqual({
        [to]: [`P${other} ${other}`, `P${order} ${order}-N`, `Q${other} ${other}`, `Q${order} ${order}-N`].sort(),
      });
      expect(w.sandbox.duplicates()).toEqual(noDuplicates);
      expect((await w.run("run", "verify")).exitCode).toBe(0);
    },
  );

  it(
    "after it moved before, stands where it is shown under the number of its amendment",
    { tags: "long" },
    async () => {
      const w = await placedOrders({ staff: [] });
      w.customers.push({ id: "C3" });
      rule(w, "orders.moved", "apply");
      amend(w, "1", { customer: "C2" });
      await runsUntilQuiet(w);
      amend(w, "1", { customer: "C3" });
      w.losesItsLedger();
      expect((await w.does("rebuild")).exitCode).toBe(3);
      expect(w.rows("select customer_id from placed_order where order_id = '1'")).toEqual([{ customer_id: "C2" }]);
      await w.does("run", "everything");
      await approveAll(w);
      await runsUntilQuiet(w);
      expect(await shown(w)).toEqual({ C2: ["P2 2", "Q2 2"], C3: ["P1 1-N", "Q1 1-N"] });
      expect((await w.run("run", "verify")).exitCode).toBe(0);
    },
  );

  it(
    "two orders that changed places are each bought once where they went, and go where they were",
    { tags: "long" },
    async () => {
      const w = await lost({ 1: "C2", 2: "C1" });
      expect((await w.does("rebuild")).exitCode).toBe(3);
      await w.does("run", "everything");
      await approveAll(w);
      await runsUntilQuiet(w);
      expect(await shown(w)).toEqual({ C1: ["P2 2-N", "Q2 2-N"], C2: ["P1 1-N", "Q1 1-N"] });
    },
  );

  it(
    "people keep their seats where it was until it goes, which a person is asked about by default",
    { tags: "long" },
    async () => {
      const people = [
        { id: "S1", customer: "C1", holds: ["A1"] },
        { id: "S2", customer: "C2", holds: ["A2"] },
      ];
      const w = await lost({ 1: "C2" }, { policy: "earn", staff: { staff: people } });
      expect((await w.does("rebuild")).exitCode).toBe(3);
      await w.does("run", "everything");
      await approveAll(w);
      await w.does("run", "everything");
      expect(standing(w)).toEqual({ products: 6, assets: 3, assignments: 2 });
      const held = await w.does("run", "everything");
      expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
      expect((await w.run("approve", openHold(w), ...because)).exitCode).toBe(0);
      w.staff = people.map((row) => ({ ...row, holds: row.id === "S1" ? [] : row.holds }));
      w.write();
      await runsUntilQuiet(w);
      expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 1 });
    },
  );

  it.each(["report", "ignore"])(
    "it is bought nowhere and stays where the policy is %s",
    { tags: "long" },
    async (word) => {
      const w = await lost({ 1: "C2" }, { policy: word });
      await w.does("rebuild");
      for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
      expect(await shown(w)).toEqual({ C1: ["P1 1", "Q1 1"], C2: ["P2 2", "Q2 2"] });
    },
  );

  it(
    "and was changed or cancelled too: changed it waits, cancelled it goes where it stands",
    { tags: "long" },
    async () => {
      const w = await lost({ 1: "C2" });
      const moved = { customer: "C2", products: [line("P1", "A1", { nodes: 9 }), line("Q1", "A1")] };
      amend(w, "1", moved);
      expect((await w.does("rebuild")).exitCode).toBe(3);
      for (const _ of [1, 2]) {
        const run = await w.does("run", "everything");
        expect([run.exitCode, run.calls], run.stdout).toEqual([3, {}]);
        expect(waitsFor(w, "1")).toBe("order.shown-elsewhere");
      }
      expect(w.rows("select 1 from hold")).toEqual([]);
      w.losesItsLedger("third.db");
      rule(w, "orders.cancelled", "apply");
      amend(w, "1", { products: orderOf("1", "C2").products ?? [], cancelled: true });
      await w.does("rebuild");
      await runsUntilQuiet(w);
      expect(await shown(w)).toEqual({ C2: ["P2 2", "Q2 2"] });
    },
  );

  it("to a customer who has no enterprise yet is bought there once, when that is made", { tags: "long" }, async () => {
    const w = await placedOrders({ staff: [] });
    rule(w, "orders.moved", "apply");
    w.customers.push({ id: "C0" });
    amend(w, "1", { customer: "C0" });
    w.losesItsLedger();
    expect((await w.does("rebuild")).exitCode).toBe(3);
    for (const _ of [1, 2, 3]) {
      await w.does("run", "everything");
      await approveAll(w);
    }
    await runsUntilQuiet(w);
    expect(await shown(w)).toEqual({ C0: ["P1 1-N", "Q1 1-N"], C2: ["P2 2", "Q2 2"] });
  });
});

describe("an order is not placed while it may stand for a customer that a rebuild could not look at", () => {
  /** The first order moved, and the enterprise that it stands in cannot be read. */
  async function unread(more: (w: World) => void = () => {}): Promise<World> {
    const w = await placedOrders({ staff: [] });
    rule(w, "orders.moved", "apply");
    Object.assign(w.environment, promptRetries);
    w.sandbox.faults.add({ operation: "M6", fault: "http502", about: enterpriseOf(w, "C1") });
    amend(w, "1", { customer: "C2" });
    more(w);
    w.losesItsLedger();
    expect((await w.does("rebuild")).exitCode).toBe(7);
    return w;
  }

  it("whatever is approved; what comes into the CRM later is bought", { tags: "long" }, async () => {
    const w = await unread();
    for (const _ of [1, 2]) {
      const run = await w.does("run", "everything");
      expect(run.calls, run.stdout).toEqual({});
      await approveAll(w);
    }
    expect(waitsFor(w, "1")).toBe("order.maybe-moved");
    w.orders.push(orderOf("3", "C2"));
    w.write();
    await w.does("run", "everything");
    await approveAll(w);
    await w.does("run", "everything");
    w.sandbox.faults.clear();
    expect((await shown(w))["C2"]).toEqual(["P2 2", "P3 3", "Q2 2", "Q3 3"]);
    expect(waitsFor(w, "1")).toBe("order.maybe-moved");
  });

  it("also where the source of orders was down then, and gives it later", { tags: "long" }, async () => {
    const w = await unread((of) => rmSync(of.path("data/orders.ndjson")));
    w.write();
    for (const _ of [1, 2]) {
      const run = await w.does("run", "everything");
      expect(run.calls, run.stdout).toEqual({});
      await approveAll(w);
    }
    expect(waitsFor(w, "1")).toBe("order.maybe-moved");
  });

  it(
    "once a run could read that customer, it is known where the order stands, and a rebuild takes it over",
    { tags: "long" },
    async () => {
      const w = await unread();
      w.sandbox.faults.clear();
      for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
      expect(waitsFor(w, "1")).toBe("order.shown-elsewhere");
      await approveAll(w);
      expect((await w.does("run", "everything")).calls).toEqual({});
      w.losesItsLedger("third.db");
      expect((await w.does("rebuild")).exitCode).toBe(3);
      await w.does("run", "everything");
      await approveAll(w);
      await runsUntilQuiet(w);
      expect(await shown(w)).toEqual({ C2: ["P1 1-N", "P2 2", "Q1 1-N", "Q2 2"] });
    },
  );

  it("and a rebuild that is made again takes it over where it can read all", { tags: "long" }, async () => {
    const w = await unread();
    w.sandbox.faults.clear();
    const again = await w.does("rebuild");
    expect([again.exitCode, again.calls], again.stdout).toEqual([3, {}]);
    await w.does("run", "everything");
    await approveAll(w);
    await runsUntilQuiet(w);
    expect(await shown(w)).toEqual({ C2: ["P1 1-N", "P2 2", "Q1 1-N", "Q2 2"] });
  });

  it("also where that customer has to be told which enterprise is its own", { tags: "long" }, async () => {
    const w = await placedOrders({ staff: [] });
    w.sandbox.hand({ action: "make-enterprise", channelCustomerId: "C1", customerName: "another" });
    amend(w, "1", { customer: "C2" });
    await expectMaybeMoved(w);
  });

  it(
    "also where an asset of that customer shows nothing, until it is said that such assets are empty",
    { tags: "long" },
    async () => {
      const w = await placedOrders({ staff: [] });
      for (const product of ["P1", "Q1"])
        w.sandbox.hand({ action: "drop-product", assetNum: numberOf(w, "A1"), crmProductId: product });
      amend(w, "1", { customer: "C2" });
      await expectMaybeMoved(w);
      w.environment["CRM_SYNC__assumptions__emptyAssets"] = "empty";
      await w.does("resync", "--customer", "C1");
      await w.does("run", "everything");
      await approveAll(w);
      await w.does("run", "everything");
      expect(await shown(w)).toEqual({ C2: ["P1 1", "P2 2", "Q1 1", "Q2 2"] });
    },
  );

  it("also where that customer's record is in quarantine", async () => {
    const w = await placedOrders({ staff: [] });
    w.customers = w.customers.map((row) => (row.id === "C1" ? { ...row, name: "" } : row));
    amend(w, "1", { customer: "C2" });
    await expectMaybeMoved(w);
  });
});

describe("a ledger that is lost while a moved order stands twice", () => {
  /** The first order was bought at the second customer, and stands at the first one still. */
  async function twice(policy: string, edit: (w: World) => unknown = () => {}): Promise<World> {
    const w = await placedOrders({ staff: [] });
    rule(w, "orders.moved", "earn");
    amend(w, "1", { customer: "C2" });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    rule(w, "orders.moved", policy);
    edit(w);
    w.losesItsLedger();
    return w;
  }

  /** The number of the asset that stands at the first customer still. */
  function atFirst(w: World): string {
    const [row] = w.rows<{ number: string }>(
      "select wire_number as number from asset_number where instance_id = 'A1' and customer_id = 'C1'",
    );
    return row?.number ?? "";
  }

  const both = { C1: ["P1 1", "Q1 1"], C2: ["P1 1-1", "P2 2", "Q1 1-1", "Q2 2"] };

  it("is built again with both, and what is left where it was goes by its policy", { tags: "long" }, async () => {
    const w = await twice("apply");
    const rebuilt = await w.does("rebuild", "--json");
    expect([rebuilt.exitCode, rebuilt.calls], rebuilt.stderr).toEqual([3, {}]);
    expect(document(rebuilt)).toMatchObject({
      known: { orders: 2 },
      lost: [{ record: "customer:crm/C1", why: expect.stringContaining("the order crm/1 moved to crm/C2 in the CRM") }],
      left: [],
    });
    const verified = await w.run("run", "verify");
    expect(verified.stdout).not.toMatch(/[1-9]\d* (?:missing|extra|different)/u);
    const calls = await runsUntilQuiet(w);
    expect(calls[0], JSON.stringify(calls)).toEqual({ E5: 1 });
    expect(await productsBy(w)).toEqual({ C2: both.C2 });
    expect((await w.run("run", "verify")).exitCode).toBe(0);
  });

  it("what is left where it was is held by default, and named", { tags: "long" }, async () => {
    const w = await twice("earn");
    expect((await w.does("rebuild")).exitCode).toBe(3);
    const held = await w.does("run", "everything");
    expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
    expect(held.stdout).toMatch(/crm\/C1: .*moved to crm\/C2/u);
    expect(await productsBy(w)).toEqual(both);
    expect((await w.run("approve", openHold(w), ...because)).exitCode).toBe(0);
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C2: both.C2 });
  });

  it("what was taken away of it there already is not asked for again", { tags: "long" }, async () => {
    const w = await twice("apply", (of) =>
      of.sandbox.hand({ action: "drop-product", assetNum: atFirst(of), crmProductId: "Q1" }),
    );
    expect((await w.does("rebuild")).exitCode).toBe(3);
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C2: both.C2 });
  });

  it("what is shown there in another form stays, and is told of in every run", { tags: "long" }, async () => {
    let number = "";
    const w = await twice("apply", (of) => {
      number = atFirst(of);
      of.sandbox.hand({
        action: "change-product",
        assetNum: number,
        crmProductId: "Q1",
        fields: { limitConcurrent: 9 },
      });
    });
    const rebuilt = await w.does("rebuild");
    expect(outcome(rebuilt)).toEqual([3, {}]);
    expect(rebuilt.stdout).toMatch(/Q1 is shown with another number of nodes/u);
    for (const _ of [1, 2]) expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    const told = document(await w.run("explain", "customer", "C1", "--json"));
    expect(told).toMatchObject({ record: { deferred: { code: "order.form-lost" } } });
    expect(await productsBy(w)).toEqual(both);
    w.sandbox.hand({ action: "drop-asset", assetNum: number });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C2: both.C2 });
  });
});

describe("customers that merged while the ledger was lost", () => {
  async function merged(customers: (w: World) => World["customers"]): Promise<World> {
    const w = await placedOrders();
    Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
    w.orders = [...w.orders, orderOf("3", "C1")];
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    for (const policy of ["orders.moved", "staff.moved"]) rule(w, policy, "apply");
    w.orders = w.orders.map((order) => ({ ...order, customer: "C2" }));
    w.staff = w.staff.map((person) => ({ ...person, customer: "C2" }));
    w.customers = customers(w);
    w.write();
    w.losesItsLedger();
    return w;
  }

  it(
    "one that the CRM still gives: all of its orders are known as moved, bought once, and go where they were",
    { tags: "long" },
    async () => {
      const w = await merged(() => [{ id: "C1", mergedInto: "C2" }, { id: "C2" }]);
      expect((await w.does("rebuild")).exitCode).toBe(3);
      expect(w.rows("select order_id as id, customer_id from moved_order order by 1")).toEqual([
        { id: "1", customer_id: "C1" },
        { id: "3", customer_id: "C1" },
      ]);
      await w.does("run", "everything");
      await approveAll(w);
      await runsUntilQuiet(w);
      expect(await shown(w)).toEqual({ C2: ["P1 1-N", "P2 2", "P3 3-N", "Q1 1-N", "Q2 2", "Q3 3-N"] });
      expect(w.sandbox.duplicates()).toEqual(noDuplicates);
    },
  );

  it(
    "one that the CRM gives no more: a person is asked about each, and is told what that may mean",
    { tags: "long" },
    async () => {
      const w = await merged((of) => of.customers.filter(({ id }) => id !== "C1"));
      const rebuilt = await w.does("rebuild");
      expect(rebuilt.exitCode).toBe(3);
      expect(rebuilt.stdout).toMatch(/orders of customers that the CRM gives no more/u);
      const held = await w.does("run", "everything");
      expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
      expect(held.stdout).toMatch(/bought for a customer that the CRM gives no more/u);
      expect(w.rows("select 1 from operation where state = 'done' and endpoint = 'E5'")).toEqual([]);
    },
  );
});
