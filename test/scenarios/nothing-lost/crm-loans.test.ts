import { describe, expect, it } from "vitest";
import { numberOf, numbersOf, waitsFor } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { amend, placedOrders, rule } from "../../support/world/placed-orders.ts";

/** Two customers with a lock for lending each, and two people who hold an asset each. */
async function synchronised(): Promise<World> {
  const { customers, orders, staff } = company(2, 2);
  const lending = customers.map(({ id }) => ({
    id: `${id}-L`,
    customer: id,
    assets: [{ id: `${id}-LOCK`, type: "normal_recover_usbkey" as const, forLending: true }],
  }));
  const w = await world({ records: { customers, orders: [...orders, ...lending], staff } });
  rule(w, "loans.lent", "apply");
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** The CRM wants a customer's lock on loan to a person, with these of the person's assets. */
function wants(w: World, person: string, lock: string, ...assets: string[]): void {
  personOf(w, person).borrows = [{ lock, assets }];
  w.write();
}

function wantsNone(w: World, person: string): void {
  personOf(w, person).borrows = [];
  w.write();
}

function cancel(w: World, ...orders: string[]): void {
  rule(w, "orders.cancelled", "apply");
  w.orders = w.orders.map((row) => (orders.includes(row.id) ? { ...row, cancelled: true } : row));
  w.write();
}

async function run(w: World): Promise<unknown> {
  return outcome(await w.does("run", "everything"));
}

const lentIn = (w: World): number => w.sandbox.state().lentAssets;

it("lends a lock to a new person in the run that gives the asset", async () => {
  const w = await synchronised();
  const lock = numberOf(w, "C2-LOCK");
  w.orders.push({ id: "O9", customer: "C2", assets: ["O9-A1"] });
  w.staff.push({ id: "S9", customer: "C2", holds: ["O9-A1"], borrows: [{ lock, assets: ["O9-A1"] }] });
  w.write();
  expect([await run(w), lentIn(w)]).toEqual([[0, { E5: 1, M1: 1, M9: 1, M10: 1 }], 1]);
});

describe("a lock that the CRM wants lent", { tags: "long" }, () => {
  it("is only reported if the policy says so, and lent only if the platform shows that it can be", async () => {
    const w = await synchronised();
    const [first, second] = [numberOf(w, "C1-LOCK"), numberOf(w, "C2-LOCK")];
    rule(w, "loans.lent", "report");
    wants(w, "S1-1", first, "O1-A1");
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(await waitsFor(w, "S1-1", "staff")).toBe("policy.reported");
    rule(w, "loans.lent", "apply");
    wants(w, "S1-1", first, "O1-A2");
    wants(w, "S1-2", second, "O1-A2");
    expect(await run(w)).toEqual([3, {}]);
    expect(await waitsFor(w, "S1-1", "staff")).toBe("loan.not-held");
    expect(await waitsFor(w, "S1-2", "staff")).toBe("loan.lock-not-shown");
    wants(w, "S1-2", first, "O1-A2");
    wants(w, "S1-1", first, "O1-A1");
    expect([await run(w), lentIn(w)], "one lock is lent to one of them").toEqual([[3, { M10: 1 }], 1]);
    expect(await waitsFor(w, "S1-2", "staff")).toBe("loan.lock-lent");
  });

  it("is as it should be in a rebuilt ledger, and waits for a person if somebody else has it", async () => {
    const w = await synchronised();
    const lock = numberOf(w, "C2-LOCK");
    wants(w, "S1-1", numberOf(w, "C1-LOCK"), "O1-A1");
    wants(w, "S2-1", lock, "O2-A1");
    expect(await run(w)).toEqual([0, { M10: 2 }]);
    w.losesItsLedger();
    wantsNone(w, "S2-1");
    wants(w, "S2-2", lock, "O2-A2");
    await w.run("rebuild");
    expect(await run(w)).toEqual([3, {}]);
    expect(await waitsFor(w, "S1-1", "staff")).toBeUndefined();
    expect(await waitsFor(w, "S2-2", "staff")).toBe("loan.lock-lent");
  });

  it("is lent again only by a person after it was returned", async () => {
    const w = await synchronised();
    const lock = numberOf(w, "C1-LOCK");
    wants(w, "S1-1", lock, "O1-A1");
    expect(await run(w)).toEqual([0, { M10: 1 }]);
    wantsNone(w, "S1-1");
    expect(await run(w)).toEqual([0, {}]);
    w.sandbox.hand({ action: "return-loan", lock });
    wants(w, "S1-1", lock, "O1-A1");
    for (const _ of [1, 2]) expect(await run(w)).toEqual([3, {}]);
    expect(await waitsFor(w, "S1-1", "staff")).toBe("loan.returned");
    const words = ["--staff", "S1-1", "--lock", lock, "--asset", numberOf(w, "O1-A1"), "--reason", "asked again"];
    expect(outcome(await w.does("borrow", "C1", ...words))).toEqual([0, { M10: 1 }]);
    expect([lentIn(w), await run(w)]).toEqual([1, [0, {}]]);
  });
});

describe("an asset that is lent", { tags: "long" }, () => {
  it("is not deleted, and neither is the lock that it is lent into", async () => {
    const w = await synchronised();
    const [lock, held] = [numberOf(w, "C1-LOCK"), numberOf(w, "O1-A1")];
    wants(w, "S1-1", lock, "O1-A1");
    expect(await run(w)).toEqual([0, { M10: 1 }]);
    const { products } = w.sandbox.state();
    cancel(w, "O1", "C1-L");
    await w.run("run", "everything");
    for (const [order, number] of [
      ["O1", held],
      ["C1-L", lock],
    ] as const) {
      expect(await waitsFor(w, order)).toBe("asset.lent");
      const numbers = await numbersOf(w, order);
      expect(numbers.filter(({ endedAt }) => endedAt === null).map(({ number: live }) => live)).toContain(number);
    }
    expect([products - w.sandbox.state().products, lentIn(w)]).toEqual([1, 1]);
  });

  it("is not deleted while only E8 shows it, which does not say whether it is lent", async () => {
    const w = await synchronised();
    wants(w, "S1-1", numberOf(w, "C1-LOCK"), "O1-A1");
    expect(await run(w)).toEqual([0, { M10: 1 }]);
    // The first rows of the list are the lock and the asset that went into it.
    w.sandbox.faults.add({ operation: "M6", fault: "shortPage", drop: 2, dropFrom: "start" });
    cancel(w, "O1");
    expect((await w.run("run", "everything")).exitCode).toBe(3);
    expect([lentIn(w), await waitsFor(w, "O1")]).toEqual([1, "asset.lending-unknown"]);
  });

  it("is deleted if M8 shows that nobody has it, also while M6 leaves it out", async () => {
    const w = await placedOrders({ first: { assets: [{ id: "A1", forLending: true }] } });
    rule(w, "orders.cancelled", "apply");
    w.sandbox.faults.add({ operation: "M6", fault: "shortPage", drop: 1 });
    amend(w, "1", { cancelled: true });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    expect(w.sandbox.state()).toMatchObject({ assets: 1, products: 2 });
  });
});
