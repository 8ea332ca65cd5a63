import { describe, expect, it } from "vitest";
import { document, promptRetries, world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { assetRow, canary, company } from "../../support/world/crm.ts";
import { membersOf, outcome } from "../../support/world/members.ts";
import { amend, line, numberOf, openHold, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";

/** Two customers with an order of two assets each and two people each, all of which is sent. */
async function sent(): Promise<World> {
  const w = await world({ records: company(2, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

describe("what the CRM changed and nobody sent before the ledger was lost is not taken for sent", () => {
  const other = "order.shown-otherwise";

  it.each<[what: string, more: Parameters<typeof amend>[2], says: RegExp]>([
    [
      "other nodes",
      {
        products: [
          { id: "O1-A1-P", parent: "O1-A1", nodes: 9 },
          { id: "O1-A2-P", parent: "O1-A2" },
        ],
      },
      /O1-A1-P is shown with another number of nodes/u,
    ],
    [
      "a line that ended",
      { assets: ["O1-A1"], products: [{ id: "O1-A1-P", parent: "O1-A1" }] },
      /O1-A2-P is shown, and the order does not have it/u,
    ],
  ])("%s: the order waits, its neighbour is taken over", async (_, more, says) => {
    const w = await sent();
    amend(w, "O1", more);
    w.losesItsLedger();
    const rebuilt = await w.does("rebuild", "--json");
    expect([rebuilt.exitCode, rebuilt.calls], rebuilt.stderr).toEqual([3, {}]);
    const lost: { record: string; why: string }[] = document(rebuilt).lost;
    expect(lost.find(({ record }) => record === "order:crm/O1")?.why).toMatch(says);
    expect(w.rows("select order_id from placed_order")).toEqual([{ order_id: "O2" }]);
    const then = await w.does("run", "everything");
    expect([then.exitCode, then.calls], then.stdout).toEqual([3, {}]);
    expect(w.rows("select deferred_code as code from record where id = 'O1'")).toEqual([{ code: other }]);
  });

  it(
    "other nodes: once the CRM has the form again that is shown, a rebuild takes the order over, and it can be changed",
    { tags: "long" },
    async () => {
      const w = await placedOrders();
      const products = [line("P1", "A1"), line("Q1", "A1", { nodes: 9 })];
      amend(w, "1", { products });
      w.losesItsLedger();
      expect((await w.does("rebuild")).exitCode).toBe(3);
      expect(waitsFor(w, "1")).toBe(other);
      amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1")] });
      expect(outcome(await w.does("rebuild"))).toEqual([0, {}]);
      rule(w, "orders.replaced", "apply");
      amend(w, "1", { products });
      const changed = await w.does("run", "everything");
      expect([changed.exitCode, changed.calls], changed.stdout).toEqual([0, { E5: 2 }]);
      expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    },
  );

  it(
    "an order that was cancelled: it is ended by its policy, which a person is asked about",
    { tags: "long" },
    async () => {
      const w = await placedOrders({ staff: [] });
      amend(w, "1", { cancelled: true });
      w.losesItsLedger();
      expect((await w.does("rebuild")).exitCode).toBe(3);
      const held = await w.does("run", "everything");
      expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
      expect(standing(w)).toMatchObject({ products: 4 });
      expect((await w.run("approve", openHold(w), "--reason", "it was", "--by", "anna")).exitCode).toBe(0);
      expect((await w.does("run", "everything")).calls).toMatchObject({ E5: 1 });
      expect(standing(w)).toMatchObject({ products: 2 });
      expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    },
  );

  it("an order that was cancelled, without a rebuild: it does not count as agreed either", async () => {
    const w = await placedOrders({ staff: [] });
    amend(w, "1", { cancelled: true });
    w.losesItsLedger();
    const first = await w.does("run", "everything");
    expect([first.exitCode, first.calls["E5"]], first.stdout).toEqual([4, undefined]);
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    expect(standing(w)).toMatchObject({ products: 4 });
  });

  it("a person's name: it is sent by the next run, and the neighbour's is not", { tags: "long" }, async () => {
    const w = await sent();
    const name = `${canary.person} married`;
    w.staff = w.staff.map((row) => (row.id === "S1-1" ? { ...row, name } : row));
    w.write();
    w.losesItsLedger();
    const rebuilt = await w.does("rebuild", "--json");
    expect(document(rebuilt).left).toEqual([
      { record: "profile:crm/S1-1", why: expect.stringContaining("changed in the CRM: name") },
    ]);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
    expect((await membersOf(w, "C1")).get(`${canary.login}1x1`)?.name).toBe(name);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  });
});

it.each([
  ["a rebuild", ["rebuild"]],
  ["a run", ["run", "everything"]],
])(
  "a customer that E1 bound gets no E4 after %s in an empty ledger either; its neighbour does",
  { tags: "long" },
  async (_, words) => {
    const crm = company(2, 1);
    const customers = crm.customers.map((row) => (row.id === "C2" ? { ...row, creation: "bind" as const } : row));
    const w = await world({ records: { ...crm, customers, staff: [] } });
    expect((await w.does("run", "everything")).calls).toMatchObject({ E1: 1, E2: 1 });
    w.losesItsLedger();
    expect((await w.does(...words)).exitCode).toBe(0);
    expect(w.rows("select customer_id as id, origin from link order by 1")).toEqual([
      { id: "C1", origin: "adopted" },
      { id: "C2", origin: "bound" },
    ]);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    w.customers = w.customers.map((row) => ({ ...row, name: `Renamed ${row.id}` }));
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([3, { E4: 1 }]);
  },
);

describe("after a rebuild no channel order number is used that an earlier ledger used", () => {
  const has = async (w: World, ...ids: string[]): Promise<ReturnType<typeof outcome>> => {
    amend(w, "1", { products: ids.map((id) => line(id, "A1")) });
    return outcome(await w.does("run", "everything"));
  };

  it("for an amendment of which nothing is shown any more, nor for its deletion", { tags: "long" }, async () => {
    const w = await placedOrders();
    rule(w, "orders.ended", "apply");
    expect(await has(w, "P1", "Q1", "R1")).toEqual([0, { E5: 1 }]);
    expect(await has(w, "P1", "Q1")).toEqual([0, { E5: 1 }]);
    const numbers = "select channel_order_id as number from amendment_number";
    const before = w.rows<{ number: string }>(numbers).map(({ number }) => number);
    expect(before.length).toBeGreaterThan(0);
    w.losesItsLedger();
    expect(outcome(await w.does("rebuild"))).toEqual([0, {}]);
    expect(await has(w, "P1", "Q1", "U1")).toEqual([0, { E5: 1 }]);
    const after = w.rows<{ number: string }>(numbers).map(({ number }) => number);
    expect(after.filter((number) => before.includes(number))).toEqual([]);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    expect(w.sandbox.duplicates()).toMatchObject({ orders: [] });
    // What is bought after a rebuild is brought back by the next one too.
    w.losesItsLedger("third.db");
    expect(outcome(await w.does("rebuild"))).toEqual([0, {}]);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    expect(await has(w, "P1", "Q1", "U1", "V1")).toEqual([0, { E5: 1 }]);
    expect(w.sandbox.duplicates()).toMatchObject({ orders: [] });
  });

  it("for a cancelled order of which nothing is shown, when it is restored", { tags: "long" }, async () => {
    const w = await placedOrders({ staff: [] });
    rule(w, "orders.cancelled", "apply");
    amend(w, "1", { cancelled: true });
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
    w.losesItsLedger();
    const rebuilt = await w.does("rebuild");
    expect(outcome(rebuilt), rebuilt.stdout).toEqual([0, {}]);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    amend(w, "1", { cancelled: false });
    const restored = await w.does("run", "everything");
    expect([restored.exitCode, restored.calls], restored.stdout).toMatchObject([0, { E5: 1 }]);
    expect(standing(w)).toMatchObject({ products: 4 });
    expect(w.rows("select kind from operation where endpoint = 'E5'")).toEqual([{ kind: "amend-order" }]);
    expect(w.sandbox.duplicates()).toMatchObject({ orders: [] });
    expect((await w.run("run", "verify")).exitCode).toBe(0);
  });
});

describe("what people decided before the ledger was lost is not undone by what comes after a rebuild", () => {
  const because = ["--reason", "wrong one", "--by", "anna"];

  it(
    "a customer that a person unlinked: it is named that nobody knows, and what is left to be made is held",
    { tags: "long" },
    async () => {
      const w = await sent();
      expect((await w.run("unlink", "C1", "--keep-standing", ...because)).exitCode).toBe(0);
      w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
      w.write();
      expect((await w.does("run", "everything")).calls).toEqual({});
      w.losesItsLedger();
      const rebuilt = await w.does("rebuild");
      expect(outcome(rebuilt)).toEqual([3, {}]);
      expect(rebuilt.stdout).toContain("which customers a person unlinked");
      const then = await w.does("run", "everything");
      expect([then.exitCode, then.calls], then.stdout).toEqual([4, {}]);
      expect(w.rows("select scope, kind from hold_operation")).toEqual([{ scope: "rebuilt", kind: "place-order" }]);
      expect((await w.run("unlink", "C1", "--keep-standing", ...because)).exitCode).toBe(0);
      expect((await w.does("run", "everything")).calls).toEqual({});
      // What comes later of a customer of which nothing was left is not asked about.
      w.orders.push({ id: "O8", customer: "C2", assets: ["O8-A1"] });
      w.write();
      expect((await w.does("run", "everything")).calls).toEqual({ E5: 1, E9: 1 });
    },
  );

  /** Both customers are unlinked by a person, the ledger is lost, and a rebuild comes while M7 gives nothing. */
  async function unreadOnce(): Promise<World> {
    const w = await sent();
    for (const id of ["C1", "C2"]) expect((await w.run("unlink", id, "--keep-standing", ...because)).exitCode).toBe(0);
    w.losesItsLedger();
    Object.assign(w.environment, promptRetries);
    w.sandbox.faults.add({ operation: "M7", fault: "http502" });
    expect((await w.run("rebuild")).exitCode).toBe(7);
    w.sandbox.faults.clear();
    return w;
  }

  it("what is to be made of a customer that a rebuild could not read is held too", { tags: "long" }, async () => {
    const w = await unreadOnce();
    w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
    w.write();
    const held = await w.does("run", "everything");
    expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
    expect(w.rows("select scope, kind from hold_operation")).toEqual([{ scope: "rebuilt", kind: "place-order" }]);
  });

  it(
    "a rebuild that finds nothing to be made leaves nothing to ask about, although one before it could not read",
    { tags: "long" },
    async () => {
      const w = await unreadOnce();
      expect(outcome(await w.does("rebuild"))).toEqual([0, {}]);
      w.orders.push({ id: "O8", customer: "C2", assets: ["O8-A1"] });
      w.write();
      expect((await w.does("run", "everything")).calls).toEqual({ E5: 1, E9: 1 });
    },
  );

  it(
    "held orders of several customers are approved together, by the run that held them",
    { tags: "long" },
    async () => {
      const w = await sent();
      for (const id of ["C1", "C2"]) w.orders.push({ id: `O9${id}`, customer: id, assets: [`O9${id}-A1`] });
      w.write();
      w.losesItsLedger();
      expect((await w.does("rebuild")).exitCode).toBe(3);
      const held = await w.does("run", "everything");
      expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
      const [run] = w.rows<{ id: string }>("select id from run where kind = 'sync' order by started_at desc limit 1");
      expect((await w.run("approve", "--run", run?.id ?? "", ...because)).exitCode).toBe(0);
      expect((await w.does("run", "everything")).calls).toMatchObject({ E5: 2 });
      expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    },
  );

  it(
    "a lock that a person enabled against the CRM's flag: it stays enabled, and the flag rules once it changes",
    { tags: "long" },
    async () => {
      const { orders, ...rest } = company(2, 1);
      const keys = (locked: boolean): World["orders"] =>
        orders.map((order) => ({
          ...order,
          assets: order.assets.map((asset) => ({ ...assetRow(asset), type: "normal_recover_usbkey" as const, locked })),
        }));
      const w = await world({ records: { ...rest, orders: keys(true) } });
      w.environment = { ...w.environment, CRM_SYNC__policies__locks__locked: "apply" };
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      expect(w.sandbox.state().lockedAssets).toBe(2);
      const [{ number }] = w.rows<{ number: string }>(
        "select wire_number as number from asset_number where instance_id = 'O1-A1'",
      ) as [{ number: string }];
      expect((await w.run("unlock", "C1", "--asset", number, ...because)).exitCode).toBe(0);
      w.losesItsLedger();
      const rebuilt = await w.does("rebuild", "--json");
      expect([rebuilt.exitCode, rebuilt.calls], rebuilt.stdout).toEqual([0, {}]);
      const assumed: { record: string; why: string }[] = document(rebuilt).assumed;
      expect(assumed.map(({ record }) => record).sort()).toEqual(["customer:crm/C1", "customer:crm/C2"]);
      expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
      expect(w.sandbox.state().lockedAssets).toBe(1);
      w.orders = keys(false);
      w.write();
      expect((await w.does("run", "everything")).calls).toMatchObject({ E7: 2 });
      w.orders = keys(true);
      w.write();
      expect((await w.does("run", "everything")).calls).toMatchObject({ E6: 2 });
    },
  );
});

it(
  "without a rebuild, an order that was shown in part is not placed where its asset shows nothing any more",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ staff: [] });
    const assetNum = numberOf(w, "A1");
    w.sandbox.hand({ action: "drop-product", assetNum, crmProductId: "Q1" });
    w.losesItsLedger();
    await w.does("run", "everything");
    expect(waitsFor(w, "1")).toBe("order.shown-in-part");
    w.sandbox.hand({ action: "drop-product", assetNum, crmProductId: "P1" });
    for (const _ of [1, 2, 3]) {
      expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
      expect(waitsFor(w, "1")).toBe("order.assets-ambiguous");
    }
  },
);
