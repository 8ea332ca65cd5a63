/** @module-tag long */
import { describe, expect, it } from "vitest";
import { approveAll, waitsFor } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import { holdings, productsBy, runsUntilQuiet } from "../../support/world/moved-orders.ts";
import { adds, earlier, numbersSent, renewal, runs } from "../../support/world/renewals.ts";
import { amend, line, placedOrders, removesAll, rule, standing } from "../../support/world/placed-orders.ts";

/** Two customers; what is added, ended, cancelled and moved is carried out at once. */
async function company(given: Parameters<typeof placedOrders>[0] = {}): Promise<World> {
  const w = await placedOrders(given);
  for (const name of ["orders.cancelled", "orders.ended", "orders.added", "orders.moved", "staff.moved"])
    rule(w, name, "apply");
  return w;
}

function gives(w: World, ...held: string[]): void {
  w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: held } : item));
  w.write();
}

describe("a renewal and the order that it renews, of which one moves to another customer", () => {
  /** The order 3 of C1 renews what S1 holds. */
  async function renewed(isEnded = false): Promise<World> {
    const w = await company();
    adds(w, renewal("3"));
    await runs(w, 0, { E5: 1 });
    amend(w, "1", { cancelled: isEnded });
    await runsUntilQuiet(w);
    return w;
  }

  function movesAll(w: World): void {
    for (const id of ["1", "3"]) amend(w, id, { customer: "C2" });
    w.staff = w.staff.map((person) => ({ ...person, customer: "C2" }));
    w.write();
  }

  it("buys the renewal there under a number of its own, and leaves the earlier asset and its seat", async () => {
    const w = await renewed();
    const held = await holdings(w);
    amend(w, "3", { customer: "C2" });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C1: ["P1 1", "Q1 1"], C2: ["P2 2", "Q2 2", "R3 3-2"] });
    expect(numbersSent(w, "3-2")).not.toEqual(numbersSent(w, "1"));
    expect(await holdings(w)).toEqual(held);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
  });

  it("leaves the renewal its number when the earlier order moves", async () => {
    const w = await renewed();
    const held = await holdings(w);
    amend(w, "1", { customer: "C2" });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C1: ["R3 3"], C2: ["P1 1-2", "P2 2", "Q1 1-2", "Q2 2"] });
    expect(await holdings(w)).toEqual(held);
  });

  it("gives nobody a seat of a renewal that is to move, and leaves nothing behind", async () => {
    const w = await renewed(true);
    rule(w, "orders.moved", "ask");
    gives(w);
    await runsUntilQuiet(w);
    w.staff = [...w.staff, { id: "S3", customer: "C1", holds: ["B3"] }];
    amend(w, "3", { customer: "C2" });
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    expect(standing(w)).toMatchObject({ assignments: 1 });
    rule(w, "orders.moved", "apply");
    await approveAll(w);
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    expect(await productsBy(w)).toEqual({ C2: ["P2 2", "Q2 2", "R3 3-2"] });
    expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 1 });
  });

  it("buys both there, the renewal under the number that the earlier order has there", async () => {
    const w = await renewed();
    movesAll(w);
    await runsUntilQuiet(w, 12);
    expect(await productsBy(w)).toEqual({ C2: ["P1 1-2", "P2 2", "Q1 1-2", "Q2 2", "R3 3-2"] });
    expect(numbersSent(w, "3-2")).toEqual(numbersSent(w, "1-2"));
    expect(numbersSent(w, "1-2")).not.toEqual(numbersSent(w, "1"));
    expect(standing(w)).toEqual({ products: 5, assets: 2, assignments: 2 });
  });

  it("buys the renewal there also when the earlier order has ended", async () => {
    const w = await renewed(true);
    movesAll(w);
    gives(w, "B3");
    await runsUntilQuiet(w, 12);
    expect(await productsBy(w)).toEqual({ C2: ["P2 2", "Q2 2", "R3 3-2"] });
    expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 2 });
  });

  it("does not renew what moved away before the renewal was bought", async () => {
    const w = await company();
    amend(w, "1", { customer: "C2" });
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    adds(w, renewal("3"));
    await runs(w, 3, {});
    expect(await waitsFor(w, "3")).toBe("order.earlier-of-another");
  });

  it("keeps what moved away while a refused renewal names it", async () => {
    const w = await company({ staff: [] });
    w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
    adds(w, renewal("3"));
    await runs(w, 3, { E5: 1 });
    amend(w, "1", { customer: "C2" });
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    expect((await productsBy(w))["C1"]).toEqual(["P1 1", "Q1 1"]);
    amend(w, "3", { assets: ["B3"] });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C1: ["R3 3"], C2: ["P1 1-2", "P2 2", "Q1 1-2", "Q2 2"] });
  });

  it.each([true, false])("moves an order that renews an asset of its own (renewed before: %s)", async (before) => {
    const w = await company();
    gives(w);
    amend(w, "1", { assets: [{ id: "B1", continues: earlier }], products: [line("R1", "B1")] });
    if (before) await runsUntilQuiet(w);
    amend(w, "1", { customer: "C2" });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C2: ["P2 2", "Q2 2", `R1 1-${before ? 4 : 2}`] });
    expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 1 });
  });
});

describe("an order that an empty ledger found on the platform", () => {
  async function adopted(given: Parameters<typeof placedOrders>[0] = {}): Promise<{ w: World; numbers: string[] }> {
    const w = await company(given);
    w.environment["CRM_SYNC__limits__removals__enterprise__floor"] = "100";
    const numbers = numbersSent(w, "1").flat();
    w.losesItsLedger();
    expect((await w.does("run", "everything")).calls).not.toHaveProperty("E5");
    return { w, numbers };
  }

  /** Runs until one calls nothing; answers how many E5 there were. */
  async function purchases(w: World): Promise<number> {
    let sum = 0;
    for (let run = 0; run < 6; run += 1) {
      const { calls } = await w.does("run", "everything");
      if (Object.keys(calls).length === 0) return sum;
      sum += calls["E5"] ?? 0;
    }
    return expect.fail("no run was quiet");
  }

  it("is renewed under the number that M7 shows, and its asset is removed with the last of both", async () => {
    const { w, numbers } = await adopted();
    adds(w, renewal("3"));
    expect(await purchases(w)).toBe(1);
    expect(numbersSent(w, "3").flat()).toEqual(numbers);
    expect(standing(w)).toEqual({ products: 5, assets: 2, assignments: 2 });
    amend(w, "1", { cancelled: true });
    expect(await purchases(w)).toBe(1);
    expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 2 });
    amend(w, "3", { cancelled: true });
    await purchases(w);
    expect(standing(w)).toMatchObject({ products: 2, assets: 1 });
  });

  it("has each of its units renewed once", async () => {
    const { w, numbers } = await adopted({ first: { assets: [{ id: "A1", quantity: 2 }] } });
    adds(w, renewal("3"));
    expect(await purchases(w)).toBe(1);
    expect(standing(w)).toMatchObject({ assets: 3, assignments: 2 });
    adds(w, renewal("4"));
    expect(await purchases(w)).toBe(1);
    const both = [...numbersSent(w, "3").flat(), ...numbersSent(w, "4").flat()];
    expect(both.toSorted()).toEqual(numbers.toSorted());
  });

  it("is not renewed while M7 shows it under more numbers than it has units", async () => {
    const { w, numbers } = await adopted();
    const other = "8111111111";
    w.sandbox.hand({ action: "add-asset", like: numbers[0] ?? "", assetNum: other, channelOrderId: "1" });
    adds(w, renewal("3"));
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
    expect(await waitsFor(w, "3")).toBe("order.earlier-unknown");
    w.sandbox.hand({ action: "drop-asset", assetNum: other });
    expect(await purchases(w)).toBe(1);
    expect(numbersSent(w, "3").flat()).toEqual(numbers);
  });

  it("takes only its own along when it ends in the run that renews it", async () => {
    const w = await company();
    removesAll(w);
    w.environment["CRM_SYNC__limits__removals__enterprise__floor"] = "100";
    adds(w, renewal("3", { assets: [{ id: "B3", quantity: 2, continues: earlier }] }));
    await runs(w, 0, { E5: 1 });
    w.losesItsLedger();
    await purchases(w);
    adds(w, renewal("4", { assets: [{ id: "B4", quantity: 2, continues: { order: "3", instance: "B3" } }] }));
    for (const id of ["3", "1"]) amend(w, id, { cancelled: true });
    for (let run = 0; run < 5; run += 1) await w.does("run", "everything");
    expect(numbersSent(w, "4").flat().toSorted()).toEqual(numbersSent(w, "3").flat().toSorted());
    expect(standing(w)).toMatchObject({ products: 4, assets: 3, assignments: 2 });
    amend(w, "4", { products: [line("R4", "B4"), line("T4", "B4")] });
    for (let run = 0; run < 3; run += 1) await w.does("run", "everything");
    expect(standing(w)).toMatchObject({ products: 6, assets: 3 });
  });
});
