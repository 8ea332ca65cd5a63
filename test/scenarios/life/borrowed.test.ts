import { describe, expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { amend, placedOrders } from "./placed-orders.ts";

/** What the CRM wants lent is not held first. */
const applied = { CRM_SYNC__policies__loans__lent: "apply" };

/** Two customers with a lock for lending each, and two people who hold an asset each. */
async function synchronised(): Promise<World> {
  const { customers, orders, staff } = company(2, 2);
  const lending = customers.map(({ id }) => ({
    id: `${id}-L`,
    customer: id,
    assets: [{ id: `${id}-LOCK`, type: "normal_recover_usbkey" as const, forLending: true }],
  }));
  const w = await world({ records: { customers, orders: [...orders, ...lending], staff } });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.environment = { ...w.environment, ...applied };
  return w;
}

function numberOf(w: World, instance: string): string {
  const sql = "select wire_number as number from asset_number where instance_id = ?";
  return w.rows<{ number: string }>(sql, instance)[0]?.number ?? "";
}

/** The CRM wants a customer's lock on loan to a person, with these of the person's assets. */
function wants(w: World, person: string, lock: string, ...assets: string[]): void {
  w.staff = w.staff.map((row) => (row.id === person ? { ...row, borrows: [{ lock, assets }] } : row));
  w.write();
}

const lentIn = (w: World): number => w.sandbox.state().lentAssets;

describe("a lock that the CRM wants lent", () => {
  it("is lent once, with the assets that the person holds, and no other customer's", { tags: "long" }, async () => {
    const w = await synchronised();
    const lock = numberOf(w, "C1-LOCK");
    wants(w, "S1-1", lock, "O1-A1");
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { M10: 1 } });
    expect(lentIn(w)).toBe(1);
    const explained = (await w.run("explain", "customer", "C1")).stdout;
    expect(explained).toContain(`lock ${lock} is lent to crm/S1-1 with 1 asset. No operation returns a lent lock.`);
    expect(explained).toContain("asked by the CRM: staff crm/S1-1");
    expect((await w.run("explain", "customer", "C2")).stdout).not.toContain("is lent to");
    expect((await w.run("explain", "staff", "S1-1")).stdout).toContain(`lock ${lock} is lent to crm/S1-1`);
    expect((await w.run("explain", "staff", "S1-2")).stdout).not.toContain("is lent to");
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
    expect((await w.does("resync", "--customer", "C1")).calls, "looked at again").toEqual({});
  });

  it(
    "waits for nothing after a rebuild where it is lent as the CRM wants, and for a person where it is lent to another",
    { tags: "long" },
    async () => {
      const w = await synchronised();
      wants(w, "S1-1", numberOf(w, "C1-LOCK"), "O1-A1");
      wants(w, "S2-1", numberOf(w, "C2-LOCK"), "O2-A1");
      expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { M10: 2 } });
      const lock = numberOf(w, "C2-LOCK");
      w.environment["CRM_SYNC__ledger__path"] = "second.db";
      w.staff = w.staff.map((row) => (row.id === "S2-1" ? { ...row, borrows: [] } : row));
      wants(w, "S2-2", lock, "O2-A2");
      await w.does("rebuild");
      const then = await w.does("run", "everything");
      expect([then.exitCode, then.calls], then.stdout).toEqual([3, {}]);
      expect((await w.run("explain", "staff", "S1-1")).stdout).not.toContain("loan.lock-lent");
      expect((await w.run("explain", "staff", "S2-2")).stdout).toContain("loan.lock-lent");
    },
  );

  it(
    "waits where the platform does not show that it can be lent, and is lent once it does",
    { tags: "long" },
    async () => {
      const w = await synchronised();
      const [first, second] = [numberOf(w, "C1-LOCK"), numberOf(w, "C2-LOCK")];
      wants(w, "S1-1", first, "O1-A2");
      wants(w, "S1-2", second, "O1-A2");
      expect(await w.does("run", "everything")).toMatchObject({ exitCode: 3, calls: {} });
      expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("loan.not-held");
      expect((await w.run("explain", "staff", "S1-2")).stdout).toContain("loan.lock-not-shown");
      wants(w, "S1-2", first, "O1-A2");
      wants(w, "S1-1", first, "O1-A1");
      const ended = await w.does("run", "everything");
      expect([ended.exitCode, ended.calls, lentIn(w)], "one lock is lent to one of them").toEqual([3, { M10: 1 }, 1]);
      expect((await w.run("explain", "staff", "S1-2")).stdout).toContain("loan.lock-lent");
    },
  );

  it("is lent to a new person in the run that gives the asset", async () => {
    const w = await synchronised();
    const lock = numberOf(w, "C2-LOCK");
    w.orders.push({ id: "O9", customer: "C2", assets: ["O9-A1"] });
    w.staff.push({ id: "S9", customer: "C2", holds: ["O9-A1"], borrows: [{ lock, assets: ["O9-A1"] }] });
    w.write();
    const ended = await w.does("run", "everything");
    expect(ended).toMatchObject({ exitCode: 0, calls: { E5: 1, M1: 1, M9: 1, M10: 1 } });
    expect(lentIn(w)).toBe(1);
  });

  it("waits for a person who approves this very loan, by default", { tags: "long" }, async () => {
    const w = await synchronised();
    w.environment = { ...w.environment, CRM_SYNC__policies__loans__lent: undefined };
    wants(w, "S1-1", numberOf(w, "C1-LOCK"), "O1-A1");
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 4, calls: {} });
    const [hold] = w.rows<{ id: string }>("select id from hold where state = 'open'");
    expect((await w.run("approve", hold?.id ?? "", "--reason", "agreed", "--by", "anna.lee")).exitCode).toBe(0);
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { M10: 1 } });
    wants(w, "S2-1", numberOf(w, "C2-LOCK"), "O2-A1");
    expect(await w.does("run", "everything"), "the next one waits too").toMatchObject({ exitCode: 4, calls: {} });
    expect(lentIn(w)).toBe(1);
  });

  it("is only told of where the policy says so", { tags: "long" }, async () => {
    const w = await synchronised();
    w.environment = { ...w.environment, CRM_SYNC__policies__loans__lent: "report" };
    wants(w, "S1-1", numberOf(w, "C1-LOCK"), "O1-A1");
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("policies.loans.lent is report");
  });

  it("cannot be disabled while it is lent: status 3, and the next run tries again", { tags: "long" }, async () => {
    const w = await synchronised();
    const lock = numberOf(w, "C1-LOCK");
    wants(w, "S1-1", lock, "O1-A1");
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const refused = await w.run("lock", "C1", "--asset", lock, "--reason", "x");
    expect([refused.exitCode, refused.stdout]).toEqual([3, expect.stringContaining("is not locked: status 3")]);
  });
});

it(
  "a lock that was given back and that the CRM wants lent once more is told of, and lent by a person's word",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    const lock = numberOf(w, "C1-LOCK");
    wants(w, "S1-1", lock, "O1-A1");
    expect((await w.does("run", "everything")).calls).toEqual({ M10: 1 });
    w.staff = w.staff.map((row) => (row.id === "S1-1" ? { ...row, borrows: [] } : row));
    w.write();
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
    w.sandbox.hand({ action: "return-loan", lock });
    wants(w, "S1-1", lock, "O1-A1");
    for (const _ of [1, 2]) expect(await w.does("run", "everything")).toMatchObject({ exitCode: 3, calls: {} });
    expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("loan.returned");
    const asset = ["--asset", numberOf(w, "O1-A1")];
    const byHand = await w.does("borrow", "C1", "--staff", "S1-1", "--lock", lock, ...asset, "--reason", "asked again");
    expect([byHand.exitCode, byHand.calls, lentIn(w)], byHand.stdout + byHand.stderr).toEqual([0, { M10: 1 }, 1]);
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
  },
);

it("a lock that is lent stops the deletion of its assets and says to whom", { tags: "long" }, async () => {
  const w = await synchronised();
  const [lock, held] = [numberOf(w, "C1-LOCK"), numberOf(w, "O1-A1")];
  wants(w, "S1-1", lock, "O1-A1");
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.environment = { ...w.environment, CRM_SYNC__policies__orders__cancelled: "apply" };
  const { products } = w.sandbox.state();
  w.orders = w.orders.map((order) =>
    order.id === "O1" || order.id === "C1-L" ? { ...order, cancelled: true } : order,
  );
  w.write();
  await w.run("run", "everything");
  const told = (await w.run("explain", "order", "O1")).stdout;
  expect(told).toContain(`the asset number ${held} is lent into the lock ${lock}`);
  const lockTold = (await w.run("explain", "order", "C1-L")).stdout;
  expect(lockTold).toContain(`lent into the lock ${lock}, with the member`);
  const shown = w.rows<{ number: string }>(
    "select wire_number as number from asset_number where wire_number in (?, ?) and ended_at is null",
    lock,
    held,
  );
  expect(shown, "neither the lock nor what is in it is deleted").toHaveLength(2);
  expect(products - w.sandbox.state().products).toBeLessThanOrEqual(1);
  expect(lentIn(w)).toBe(1);
});

describe("what is to go while M6 is short and E8 shows it", () => {
  /** Orders that are cancelled go at once. */
  const cancelled = { CRM_SYNC__policies__orders__cancelled: "apply" };

  function cancel(w: World, order: string): void {
    w.environment = { ...w.environment, ...cancelled };
    w.orders = w.orders.map((row) => (row.id === order ? { ...row, cancelled: true } : row));
    w.write();
  }

  it("stays where it may be lent: E8 does not say", { tags: "long" }, async () => {
    const w = await synchronised();
    wants(w, "S1-1", numberOf(w, "C1-LOCK"), "O1-A1");
    expect((await w.does("run", "everything")).calls).toEqual({ M10: 1 });
    // The first rows of the list are the lock and the asset that went into it.
    w.sandbox.faults.add({ operation: "M6", fault: "shortPage", drop: 2, dropFrom: "start" });
    cancel(w, "O1");
    expect((await w.does("run", "everything")).exitCode).toBe(3);
    expect(lentIn(w)).toBe(1);
    expect((await w.run("explain", "order", "O1")).stdout).toContain("asset.lending-unknown");
  });

  it("goes where it is for lending and M8 shows it as lent to nobody", { tags: "long" }, async () => {
    const w = await placedOrders({ first: { assets: [{ id: "A1", forLending: true }] } });
    w.environment = { ...w.environment, ...cancelled };
    w.sandbox.faults.add({ operation: "M6", fault: "shortPage", drop: 1 });
    amend(w, "1", { cancelled: true });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    expect(w.sandbox.state()).toMatchObject({ assets: 1, products: 2 });
  });
});
