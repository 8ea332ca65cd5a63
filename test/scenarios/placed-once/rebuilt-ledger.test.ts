import { describe, expect, it } from "vitest";
import { approveAll, numberOf, openHolds, waitsFor } from "../../support/asking.ts";
import { document, promptRetries, world, writingOperations, type Parsed, type World } from "../../support/cli.ts";
import { assetRow, canary, company } from "../../support/world/crm.ts";
import { membersOf, outcome } from "../../support/world/members.ts";
import { runsUntilQuiet } from "../../support/world/moved-orders.ts";
import { amend, line, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

const because = ["--reason", "looked at", "--by", "anna"];
const noDuplicates = { enterprises: [], orders: [], products: [], staff: [] };

/** Two customers with an order of two assets each and two people each, all of which is sent. */
async function sent(): Promise<World> {
  const w = await world({ records: company(2, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** The products that the first order has from now on, and a run. */
async function has(w: World, ...ids: string[]): Promise<ReturnType<typeof outcome>> {
  amend(w, "1", { products: ids.map((id) => line(id, "A1")) });
  return outcome(await w.does("run", "everything"));
}

/** The numbers under which orders were bought and removed. */
function numbersUsed(w: World): string[] {
  const { orders, deletions } = w.sandbox.state();
  return [...Object.keys(orders), ...Object.keys(deletions)];
}

it("sends nothing after a rebuild that reads only, also when its first attempt could not read everything", async () => {
  const w = await placedOrders();
  const { known } = await w.ask("status");
  w.losesItsLedger();
  Object.assign(w.environment, promptRetries);
  const before = w.sandbox.counts().calls;
  w.sandbox.faults.add({ operation: "M7", fault: "http502" });
  expect((await w.run("rebuild")).exitCode).toBe(7);
  w.sandbox.faults.clear();
  expect((await w.run("rebuild")).exitCode).toBe(0);
  const after = w.sandbox.counts().calls;
  for (const operation of writingOperations) expect(after[operation], operation).toBe(before[operation]);
  expect((await w.ask("status")).known).toEqual(known);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it("knows the same of bound customers, units and their holders after a rebuild", { tags: "long" }, async () => {
  const crm = company(3, 2);
  const w = await world({
    records: {
      customers: crm.customers.map((row) => (row.id === "C2" ? { ...row, creation: "bind" } : row)),
      orders: [...crm.orders, { id: "O8", customer: "C1", assets: [{ id: "O8-A1", quantity: 3 }] }],
      staff: crm.staff.map((row) => (row.customer === "C1" ? { ...row, holds: [...(row.holds ?? []), "O8-A1"] } : row)),
    },
  });
  const knows = async (): Promise<unknown> => {
    const all = [];
    for (const { id } of w.customers) {
      const { links, assignments } = await w.ask("explain", "customer", id);
      const held = assignments.map(({ assetNumber, staff }: Parsed) => `${assetNumber} ${staff.id}`);
      all.push(links[0].enterpriseGlobalId, links[0].origin === "bound", held.sort());
    }
    for (const { id } of w.orders) {
      const { placed, numbers } = await w.ask("explain", "order", id);
      const fixed = numbers.map(({ number, instanceId }: Parsed) => `${number} ${instanceId}`);
      all.push(placed[0].channelOrderId, fixed.sort());
    }
    return all;
  };
  // Who comes later holds a later unit, whatever the order of their ids.
  const [late, ...others] = w.staff;
  w.staff = others;
  w.write();
  await w.run("run", "everything");
  if (late !== undefined) w.staff.unshift(late);
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const before = await knows();
  w.losesItsLedger();
  expect(outcome(await w.does("rebuild", "--dry-run"))).toEqual([0, {}]);
  expect((await w.ask("rebuild")).known).toEqual({ enterprises: 3, orders: 4, staff: 6, assignments: 8 });
  expect(await knows()).toEqual(before);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  expect((await w.run("rebuild")).exitCode, "a ledger that is in use").toBe(65);
  w.orders.push({ id: "O9", customer: "C2", assets: ["O9-A1"] });
  for (const person of w.staff.slice(0, 1)) person.holds = [];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1, E9: 1, M9: 1 }]);
  expect(w.sandbox.duplicates()).toEqual(noDuplicates);
});

describe("a rebuild that was killed", () => {
  /** Two customers with an order and a person each; a rebuild is killed at the second call of an operation. */
  async function killedAt(operation: "E3" | "M5" | "M6" | "M7", change: (w: World) => void): Promise<World> {
    const w = await world({ isOnMachineTime: true, records: { ...company(2, 1), orders: [] } });
    w.orders = [orderOf("1", "C1"), orderOf("2", "C2")];
    w.staff = w.staff.map((row) => ({ ...row, holds: [row.customer === "C1" ? "A1" : "A2"] }));
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect(await has(w, "P1", "Q1", "R1")).toEqual([0, { E5: 1 }]);
    change(w);
    w.losesItsLedger();
    const stop = w.stopsAt(operation, { nth: 2 });
    const rebuild = w.start("rebuild");
    await stop.reached;
    rebuild.child.kill("SIGKILL");
    expect((await rebuild.ended).signal).toBe("SIGKILL");
    stop.goOn();
    return w;
  }

  it.each(["M5", "M6", "M7"] as const)(
    "at %s brings everything back when it is started again",
    { tags: "long" },
    async (operation) => {
      const w = await killedAt(operation, () => {});
      expect(outcome(await w.does("rebuild"))).toEqual([0, {}]);
      expect(await has(w, "P1", "Q1", "R1", "U1")).toEqual([0, { E5: 1 }]);
      expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
      expect(w.sandbox.duplicates()).toEqual(noDuplicates);
    },
  );

  it("has nothing placed that it might have found elsewhere", { tags: "long" }, async () => {
    const w = await killedAt("E3", (of) => amend(of, "1", { customer: "C2" }));
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
    expect(await waitsFor(w, "1")).toEqual(expect.stringMatching(/^order\./u));
  });
});

it(
  "lists what a rebuild cannot bring back, and asks before it sends what the CRM has more",
  { tags: "long" },
  async () => {
    const w = await sent();
    w.sandbox.hand({ action: "drop-product", assetNum: numberOf(w, "O2-A1"), crmProductId: "O2-A1-P" });
    w.environment["CRM_SYNC__assumptions__emptyAssets"] = "empty";
    w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
    w.staff.push({ id: "S9", customer: "C1", login: `${canary.login}nine` });
    w.write();
    w.losesItsLedger();
    const rebuilt = await w.does("rebuild", "--json");
    expect(outcome(rebuilt)).toEqual([3, {}]);
    const { lost, left } = document(rebuilt);
    const records = (list: Parsed[]): string[] => list.map(({ record }): string => record).sort();
    expect(records(lost)).toContain("order:crm/O2");
    expect(records(left)).toEqual(["order:crm/O9", "staff-of:crm/C1"]);
    expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
    await approveAll(w);
    expect(outcome(await w.does("run", "everything"))).toEqual([3, { E5: 1, E9: 1, M1: 1 }]);
    w.orders.push({ id: "O10", customer: "C1", assets: ["O10-A1"] });
    w.write();
    expect((await w.does("run", "everything")).calls, "a person is asked once").toEqual({ E5: 1 });
  },
);

describe("a change of the CRM that was not sent before the ledger was lost", () => {
  it.each<[what: string, more: Parameters<typeof amend>[2]]>([
    ["other nodes", { products: [line("P1", "A1"), line("Q1", "A1", { nodes: 9 })] }],
    ["a line less", { products: [line("P1", "A1")] }],
  ])(
    "%s: the order waits until the CRM has what is shown, and can then be changed",
    { tags: "long" },
    async (what, more) => {
      const w = await placedOrders();
      amend(w, "1", more);
      w.losesItsLedger();
      expect((await w.ask("rebuild")).lost.map(({ record }: Parsed) => record)).toContain("order:crm/1");
      expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
      expect([await waitsFor(w, "1"), await waitsFor(w, "2")]).toEqual(["order.shown-otherwise", undefined]);
      w.losesItsLedger("third.db");
      amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1")] });
      expect(outcome(await w.does("rebuild"))).toEqual([0, {}]);
      for (const name of ["orders.replaced", "orders.ended"]) rule(w, name, "apply");
      amend(w, "1", more);
      await runsUntilQuiet(w);
      expect(standing(w)).toMatchObject({ products: what === "a line less" ? 3 : 4 });
    },
  );

  it.each([true, false])(
    "a cancellation: a person is asked before the order is removed (rebuilt: %s)",
    { tags: "long" },
    async (isRebuilt) => {
      const w = await placedOrders({ staff: [] });
      amend(w, "1", { cancelled: true });
      w.losesItsLedger();
      if (isRebuilt) expect((await w.does("rebuild")).exitCode).toBe(3);
      for (const _ of [1, 2]) {
        const held = await w.does("run", "everything");
        expect([held.exitCode, held.calls["E5"]]).toEqual([4, undefined]);
      }
      expect(standing(w)).toMatchObject({ products: 4 });
      await approveAll(w);
      await runsUntilQuiet(w);
      expect(standing(w)).toMatchObject({ products: 2 });
    },
  );

  it("a name of a person: the next run sends it", { tags: "long" }, async () => {
    const w = await sent();
    const name = `${canary.person} married`;
    w.staff = w.staff.map((row) => (row.id === "S1-1" ? { ...row, name } : row));
    w.write();
    w.losesItsLedger();
    expect((await w.ask("rebuild")).left).toMatchObject([{ record: "profile:crm/S1-1" }]);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
    expect((await membersOf(w, "C1")).get(`${canary.login}1x1`)?.name).toBe(name);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  });
});

it.each(["rebuild", "run everything"])(
  "renames no customer that E1 bound after %s in an empty ledger",
  { tags: "long" },
  async (words) => {
    const crm = company(2, 1);
    const customers = crm.customers.map((row) => (row.id === "C2" ? { ...row, creation: "bind" as const } : row));
    const w = await world({ records: { ...crm, customers, staff: [] } });
    expect((await w.does("run", "everything")).calls).toMatchObject({ E1: 1, E2: 1 });
    w.losesItsLedger();
    expect((await w.does(...words.split(" "))).exitCode).toBe(0);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    w.customers = w.customers.map((row) => ({ ...row, name: `Renamed ${row.id}` }));
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([3, { E4: 1 }]);
  },
);

describe("no number of an order is used twice", () => {
  it("when an amendment came and went before the ledger was lost", { tags: "long" }, async () => {
    const w = await placedOrders();
    rule(w, "orders.ended", "apply");
    expect(await has(w, "P1", "Q1", "R1")).toEqual([0, { E5: 1 }]);
    expect(await has(w, "P1", "Q1")).toEqual([0, { E5: 1 }]);
    expect(await has(w, "P1", "Q1", "S1", "T1")).toEqual([0, { E5: 1 }]);
    w.losesItsLedger("unbuilt.db");
    expect((await w.does("run", "everything")).calls["E5"], "nothing is bought without a rebuild").toBeUndefined();
    expect(await waitsFor(w, "1")).toBe("order.amended-elsewhere");
    for (const [name, more] of [
      ["second.db", ["U1"]],
      ["third.db", ["U1", "V1"]],
    ] as const) {
      const used = numbersUsed(w);
      w.losesItsLedger(name);
      expect(outcome(await w.does("rebuild"))).toEqual([0, {}]);
      expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
      expect(await has(w, "P1", "Q1", "S1", "T1", ...more)).toEqual([0, { E5: 1 }]);
      expect(numbersUsed(w)).toHaveLength(used.length + 1);
      expect((await w.run("run", "verify")).exitCode).toBe(0);
    }
    expect(w.sandbox.duplicates()).toEqual(noDuplicates);
  });

  it("when a cancelled order of which nothing is shown is restored", { tags: "long" }, async () => {
    const w = await placedOrders({ staff: [] });
    rule(w, "orders.cancelled", "apply");
    amend(w, "1", { cancelled: true });
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
    const used = numbersUsed(w);
    w.losesItsLedger();
    expect(outcome(await w.does("rebuild"))).toEqual([0, {}]);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    amend(w, "1", { cancelled: false });
    expect(outcome(await w.does("run", "everything"))).toMatchObject([0, { E5: 1 }]);
    expect(standing(w)).toMatchObject({ products: 4 });
    expect(numbersUsed(w)).toHaveLength(used.length + 1);
    expect(w.sandbox.duplicates()).toEqual(noDuplicates);
  });
});

describe("what people decided before the ledger was lost", () => {
  it("is asked again before something is placed for a customer that was unlinked", { tags: "long" }, async () => {
    const w = await sent();
    expect((await w.run("unlink", "C1", "--keep-orders", ...because)).exitCode).toBe(0);
    w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({});
    w.losesItsLedger();
    expect(outcome(await w.does("rebuild"))).toEqual([3, {}]);
    expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
    expect(await openHolds(w)).toMatchObject([{ scope: "rebuilt" }]);
    expect((await w.run("unlink", "C1", "--keep-orders", ...because)).exitCode).toBe(0);
    expect((await w.does("run", "everything")).calls).toEqual({});
    w.orders.push({ id: "O8", customer: "C2", assets: ["O8-A1"] });
    w.write();
    expect((await w.does("run", "everything")).calls, "nothing was left of this customer").toEqual({ E5: 1, E9: 1 });
  });

  it.each([false, true])(
    "is asked again for a customer that the rebuild could not read (rebuilt again: %s)",
    { tags: "long" },
    async (again) => {
      const w = await sent();
      for (const id of ["C1", "C2"]) expect((await w.run("unlink", id, "--keep-orders", ...because)).exitCode).toBe(0);
      w.losesItsLedger();
      Object.assign(w.environment, promptRetries);
      w.sandbox.faults.add({ operation: "M7", fault: "http502" });
      expect((await w.run("rebuild")).exitCode).toBe(7);
      w.sandbox.faults.clear();
      if (again) expect(outcome(await w.does("rebuild"))).toEqual([0, {}]);
      w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
      w.write();
      expect(outcome(await w.does("run", "everything"))).toEqual(again ? [0, { E5: 1, E9: 1 }] : [4, {}]);
    },
  );

  it("is approved for all customers by the run that asks", { tags: "long" }, async () => {
    const w = await sent();
    for (const id of ["C1", "C2"]) w.orders.push({ id: `O9${id}`, customer: id, assets: [`O9${id}-A1`] });
    w.write();
    w.losesItsLedger();
    expect((await w.does("rebuild")).exitCode).toBe(3);
    const { run, exit } = await w.ask("run", "everything");
    expect(exit).toBe(4);
    expect((await w.run("approve", "--run", run, ...because)).exitCode).toBe(0);
    expect((await w.does("run", "everything")).calls).toMatchObject({ E5: 2 });
  });

  it(
    "keeps a lock enabled that a person enabled against the CRM, until the CRM changes",
    { tags: "long" },
    async () => {
      const { orders, ...rest } = company(2, 1);
      const keys = (locked: boolean): World["orders"] =>
        orders.map((order) => ({
          ...order,
          assets: order.assets.map((asset) => ({ ...assetRow(asset), type: "normal_recover_usbkey" as const, locked })),
        }));
      const w = await world({ records: { ...rest, orders: keys(true) } });
      rule(w, "locks.locked", "apply");
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      expect((await w.run("unlock", "C1", "--asset", numberOf(w, "O1-A1"), ...because)).exitCode).toBe(0);
      w.losesItsLedger();
      const { assumed } = await w.ask("rebuild");
      expect(assumed.map(({ record }: Parsed) => record).sort()).toEqual(["customer:crm/C1", "customer:crm/C2"]);
      expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
      expect(w.sandbox.state().lockedAssets).toBe(1);
      for (const [locked, calls] of [
        [false, { E7: 2 }],
        [true, { E6: 2 }],
      ] as const) {
        w.orders = keys(locked);
        w.write();
        expect((await w.does("run", "everything")).calls).toMatchObject(calls);
      }
    },
  );
});
