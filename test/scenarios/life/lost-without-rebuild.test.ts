import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { promptRetries, world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { enterpriseOf } from "../../support/world/members.ts";
import { company } from "../../support/world/crm.ts";
import { productsBy } from "./moved.ts";
import { amend, placedOrders, rule, waitsFor } from "./placed-orders.ts";

/** Two customers with an order each. One order moves in the CRM, and the ledger is lost; nobody builds it again. */
async function lost(order: string, to: string): Promise<World> {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.moved", "apply");
  amend(w, order, { customer: to });
  w.losesItsLedger();
  return w;
}

const stands = { C1: ["P1 1", "Q1 1"], C2: ["P2 2", "Q2 2"] };

/** It is not placed, and says why. */
async function expectWaits(w: World, order: string): Promise<void> {
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls["E5"]], run.stdout).toEqual([3, undefined]);
  expect(waitsFor(w, order)).toBe("order.shown-elsewhere");
}

describe("a run into an empty ledger, where the one before is lost and an order moved meanwhile", () => {
  it.each([
    ["1", "C2"],
    ["2", "C1"],
  ])(
    "does not place order %s at %s, though its earlier customer has no order any more",
    { tags: "long" },
    async (order, to) => {
      const w = await lost(order, to);
      for (const _ of [1, 2]) await expectWaits(w, order);
      expect(await productsBy(w)).toEqual(stands);
    },
  );

  it.each([
    ["1", "C0"],
    ["1", "C9"],
  ])("does not place order %s at %s, who has no enterprise yet", { tags: "long" }, async (order, to) => {
    const w = await lost(order, to);
    w.customers.push({ id: to });
    w.write();
    for (const _ of [1, 2]) await expectWaits(w, order);
    expect(await productsBy(w)).toEqual(stands);
  });

  it.each([["resync --customer C2"], ["run everything --canary 50"]])("nor by %s", { tags: "long" }, async (words) => {
    const w = await lost("1", "C2");
    expect((await w.does(...words.split(" "))).calls["E5"]).toBeUndefined();
    expect(await productsBy(w)).toEqual(stands);
  });

  it.each(["E3", "E8"] as const)(
    "nor while %s does not show its earlier customer",
    { tags: "long" },
    async (operation) => {
      const w = await placedOrders({ staff: [] });
      const about = operation === "E3" ? "C1" : enterpriseOf(w, "C1");
      amend(w, "1", { customer: "C2" });
      w.losesItsLedger();
      Object.assign(w.environment, promptRetries);
      w.sandbox.faults.add({ operation, fault: "oddCode", about });
      for (const _ of [1, 2]) {
        const run = await w.does("run", "everything");
        expect([run.exitCode, run.calls["E5"]], run.stdout).toEqual([7, undefined]);
        expect(waitsFor(w, "1")).toBe("order.maybe-moved");
      }
      w.sandbox.faults.clear();
      await w.does("run", "everything");
      await expectWaits(w, "1");
      expect(await productsBy(w)).toEqual(stands);
    },
  );

  it(
    "nor where nobody else has an enterprise, and its earlier customer's could not be looked at",
    { tags: "long" },
    async () => {
      const w = await placedOrders({ staff: [] });
      const about = enterpriseOf(w, "C1");
      w.customers = [{ id: "C0" }, ...w.customers.filter(({ id }) => id !== "C2")];
      w.orders = w.orders.filter(({ id }) => id !== "2");
      amend(w, "1", { customer: "C0" });
      w.losesItsLedger();
      Object.assign(w.environment, promptRetries);
      w.sandbox.faults.add({ operation: "E8", fault: "oddCode", about });
      for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
      expect(waitsFor(w, "1")).toBe("order.maybe-moved");
      w.sandbox.faults.clear();
      await w.does("run", "everything");
      await expectWaits(w, "1");
    },
  );

  it(
    "also where it stands for the last one of more customers than are looked at in every run",
    { tags: "long" },
    async () => {
      const w = await world({ records: company(70, 1) });
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const [moves] = w.orders.filter(({ customer }) => customer === "C9");
      expect(moves).toBeDefined();
      w.orders = w.orders.map((row) => (row === moves ? { ...row, customer: "C1" } : row));
      w.write();
      w.losesItsLedger();
      await expectWaits(w, moves?.id ?? "");
    },
  );
});

it(
  "what a rebuild could not look at counts for later orders, whatever a run finds meanwhile",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ staff: [] });
    Object.assign(w.environment, promptRetries);
    w.customers.push({ id: "C0" });
    amend(w, "1", { customer: "C0" });
    rmSync(w.path("data/orders.ndjson"));
    w.losesItsLedger();
    const down = (about: string): string => w.sandbox.faults.add({ operation: "E3", fault: "oddCode", about });
    const second = down("C2");
    down("C1");
    expect((await w.does("rebuild")).exitCode).toBe(7);
    w.sandbox.faults.clear(second);
    expect((await w.does("run", "everything")).stdout).toContain("C1");
    w.write();
    for (const _ of [1, 2]) {
      expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
      for (const { id } of w.rows<{ id: string }>("select id from hold where state = 'open'"))
        expect((await w.run("approve", id, "--reason", "looked at", "--by", "anna")).exitCode).toBe(0);
    }
    expect(waitsFor(w, "1")).toBe("order.maybe-moved");
  },
);

it(
  "looking ahead costs no call: where nobody has an enterprise yet, each customer is looked up once, and once when it is made",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(70, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect(w.sandbox.counts().calls["E3"]).toBe(140);
  },
);

it("a customer who cannot be looked at ahead keeps nobody else from being worked on", async () => {
  const w = await world({ records: company(3, 1) });
  Object.assign(w.environment, promptRetries);
  w.sandbox.faults.add({ operation: "E3", fault: "oddCode", about: "C2" });
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls["E2"]], run.stdout).toEqual([7, 2]);
});
