/** @module-tag long */
import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { approveAll, enterpriseOf, numberOf, waitsFor } from "../../support/asking.ts";
import { promptRetries, world, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { outcome } from "../../support/world/members.ts";
import { productsBy } from "../../support/world/moved-orders.ts";
import { amend, placedOrders, rule } from "../../support/world/placed-orders.ts";

const stands = { C1: ["P1 1", "Q1 1"], C2: ["P2 2", "Q2 2"] };

/** Two customers with an order each. One order moves in the CRM, and the ledger is lost. */
async function lost(order: string, to: string): Promise<World> {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.moved", "apply");
  if (w.customers.every(({ id }) => id !== to)) w.customers.push({ id: to });
  amend(w, order, { customer: to });
  w.losesItsLedger();
  Object.assign(w.environment, promptRetries);
  return w;
}

/** It is not placed, and the reason is told. */
async function expectWaits(w: World, order: string, code = "order.shown-elsewhere", exitCode = 3): Promise<void> {
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls["E5"]], run.stdout).toEqual([exitCode, undefined]);
  expect(await waitsFor(w, order)).toBe(code);
}

describe("a run into an empty ledger does not place an order that moved when the ledger was lost", () => {
  it.each([
    ["1", "C2"],
    ["2", "C1"],
    ["1", "C0"],
    ["1", "C9"],
  ])("order %s at %s", async (order, to) => {
    const w = await lost(order, to);
    for (const _ of [1, 2]) await expectWaits(w, order);
    expect(await productsBy(w)).toEqual(stands);
  });

  it.each(["resync --customer C2", "run everything --canary 50"])("by %s", async (words) => {
    const w = await lost("1", "C2");
    expect((await w.does(...words.split(" "))).calls["E5"]).toBeUndefined();
    expect(await productsBy(w)).toEqual(stands);
  });

  it.each(["E3", "E8"] as const)("while %s does not show its earlier customer", async (operation) => {
    const w = await placedOrders({ staff: [] });
    const about = operation === "E3" ? "C1" : await enterpriseOf(w, "C1");
    amend(w, "1", { customer: "C2" });
    w.losesItsLedger();
    Object.assign(w.environment, promptRetries);
    w.sandbox.faults.add({ operation, fault: "oddCode", about });
    for (const _ of [1, 2]) await expectWaits(w, "1", "order.maybe-moved", 7);
    w.sandbox.faults.clear();
    await w.does("run", "everything");
    await expectWaits(w, "1");
    expect(await productsBy(w)).toEqual(stands);
  });

  it("when nobody else has an enterprise and the earlier customer could not be read", async () => {
    const w = await placedOrders({ staff: [] });
    const about = await enterpriseOf(w, "C1");
    w.customers = [{ id: "C0" }, { id: "C1" }];
    w.orders = w.orders.filter(({ id }) => id !== "2");
    amend(w, "1", { customer: "C0" });
    w.losesItsLedger();
    Object.assign(w.environment, promptRetries);
    w.sandbox.faults.add({ operation: "E8", fault: "oddCode", about });
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
    expect(await waitsFor(w, "1")).toBe("order.maybe-moved");
    w.sandbox.faults.clear();
    await w.does("run", "everything");
    await expectWaits(w, "1");
  });

  it("when it exists at the last of more customers than a run looks at", async () => {
    const w = await world({ records: company(70, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect(w.sandbox.counts().calls["E3"], "looking ahead costs no call").toBe(140);
    const [moves] = w.orders.filter(({ customer }) => customer === "C9");
    w.orders = w.orders.map((row) => (row === moves ? { ...row, customer: "C1" } : row));
    w.write();
    w.losesItsLedger();
    await expectWaits(w, moves?.id ?? "");
  });
});

it("remembers whom a rebuild could not read, whatever a run finds meanwhile", async () => {
  const w = await lost("1", "C0");
  rmSync(w.path("data/orders.ndjson"));
  const down = (about: string): string => w.sandbox.faults.add({ operation: "E3", fault: "oddCode", about });
  const second = down("C2");
  down("C1");
  expect((await w.does("rebuild")).exitCode).toBe(7);
  w.sandbox.faults.clear(second);
  await w.does("run", "everything");
  w.write();
  for (const _ of [1, 2]) {
    expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
    await approveAll(w);
  }
  expect(await waitsFor(w, "1")).toBe("order.maybe-moved");
});

it("works on everybody else while one customer cannot be looked at", async () => {
  const w = await world({ records: company(3, 1) });
  Object.assign(w.environment, promptRetries);
  w.sandbox.faults.add({ operation: "E3", fault: "oddCode", about: "C2" });
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls["E2"]]).toEqual([7, 2]);
});

it("does not place an order that was shown in part when its asset shows nothing any more", async () => {
  const w = await placedOrders({ staff: [] });
  const assetNum = numberOf(w, "A1");
  w.sandbox.hand({ action: "drop-product", assetNum, crmProductId: "Q1" });
  w.losesItsLedger();
  await w.does("run", "everything");
  expect(await waitsFor(w, "1")).toBe("order.shown-in-part");
  w.sandbox.hand({ action: "drop-product", assetNum, crmProductId: "P1" });
  for (const _ of [1, 2, 3]) {
    expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    expect(await waitsFor(w, "1")).toBe("order.assets-ambiguous");
  }
});

it.each([false, true])(
  "does not place an order of a type that is never shown after a rebuild (source down: %s)",
  async (isDown) => {
    const w = await lost("1", "C0");
    w.environment["CRM_SYNC__assumptions__visibleLicenseTypes"] = '["softkey"]';
    for (const operation of ["M6", "E8"] as const) w.sandbox.faults.add({ operation, fault: "oddData", value: [] });
    if (isDown) rmSync(w.path("data/orders.ndjson"));
    expect((await w.does("rebuild")).exitCode).toBe(isDown ? 7 : 3);
    w.write();
    for (const _ of [1, 2, 3]) {
      expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
      await approveAll(w);
    }
    expect(await waitsFor(w, "1")).toBe("order.not-observable");
  },
);
