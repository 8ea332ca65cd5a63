import { appendFileSync } from "node:fs";
import { expect, it } from "vitest";
import { documents, world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { amend, openHold, orderOf, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";

it(
  "a cancelled order is held with its sum; its people keep their seats until it is approved, then all of it goes",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    amend(w, "1", { cancelled: true });
    const before = standing(w);
    for (const _ of [1, 2]) {
      const held = await w.does("run", "everything");
      expect(held.exitCode, held.stdout).toBe(4);
      expect(held.calls).toEqual({});
      expect(standing(w)).toEqual(before);
    }
    const status = await w.run("status");
    expect(status.stdout).toMatch(/2 products with 6 nodes/u);
    expect(status.stdout).toMatch(/1 person loses their last asset/u);
    await w.run("approve", openHold(w), "--reason", "asked the customer");
    const run = await w.does("run", "everything");
    expect(run.calls, run.stdout).toEqual({ E5: 1 });
    expect(standing(w)).toEqual({ products: 2, assets: 1, assignments: 1 });
    expect(w.rows("select asset_number from assignment where to_at is null")).toHaveLength(1);
    expect(w.rows("select number from asset_number where ended_at is not null")).toHaveLength(1);
    for (const _ of [2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});
  },
);

it(
  "plan ends with what is true: changes that nothing holds 2, an open hold 4 with its number, a refused one 0",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    const file = w.path("plan.ndjson");
    amend(w, "1", { cancelled: true });
    const before = await w.does("plan", "--out", file);
    expect([before.exitCode, before.calls], before.stdout).toEqual([2, {}]);
    expect(before.stdout).toContain("but for 1 operation(s) that wait for approval first");
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    const hold = openHold(w);
    const held = await w.does("plan", "--out", file);
    expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
    expect(held.stdout).toContain(`held: ${hold} for crm/C1: `);
    expect(held.stdout).toContain("but for 1 operation(s) that wait for approval first");
    expect(held.stdout).not.toContain("carries them out");
    const json = await w.run("--json", "plan");
    expect([json.exitCode, documents(json).at(-1)]).toEqual([
      4,
      expect.objectContaining({ exit: 4, held: [expect.objectContaining({ hold, customer: "crm/C1" })] }),
    ]);
    await w.run("approve", hold, "--reason", "asked the customer");
    const approved = await w.run("plan", "--out", file);
    expect([approved.exitCode, approved.stdout]).toEqual([2, expect.stringMatching(/carries out exactly this$/mu)]);
    await w.run("reject", hold, "--reason", "they called again");
    const refused = await w.run("plan");
    expect([refused.exitCode, refused.stdout]).toEqual([0, expect.not.stringContaining("held: ")]);
    expect(standing(w)["assets"]).toBe(2);
  },
);

it("what a person refused to take away stays, and so do the seats", { tags: "long" }, async () => {
  const w = await placedOrders();
  amend(w, "1", { cancelled: true });
  await w.does("run", "everything");
  const before = standing(w);
  await w.run("reject", openHold(w), "--reason", "the CRM is wrong");
  const run = await w.does("run", "everything");
  expect(run.calls).toEqual({});
  expect(standing(w)).toEqual(before);
});

it(
  "a cancelled order waits for a person until ten were approved, then goes by itself, within the limits",
  { tags: "long" },
  async () => {
    const orders = Array.from({ length: 12 }, (_, index) => orderOf(String(index + 1), "C1"));
    const w = await world({ records: { customers: [{ id: "C1" }], orders, staff: [] } });
    w.environment["CRM_SYNC__limits__taking__enterprise__floor"] = "100";
    w.environment["CRM_SYNC__limits__taking__run__floor"] = "100";
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    const cancel = (count: number): void => {
      w.orders = w.orders.map((order, index) => (index < count ? { ...order, cancelled: true } : order));
      w.write();
    };
    cancel(10);
    const held = await w.does("run", "everything");
    expect([held.exitCode, held.calls]).toEqual([4, {}]);
    expect(w.rows("select hash from hold_operation")).toHaveLength(10);
    await w.run("approve", openHold(w), "--reason", "asked the customer");
    const run = await w.does("run", "everything");
    expect(run.calls, run.stdout).toEqual({ E5: 10 });
    cancel(11);
    const alone = await w.does("run", "everything");
    expect([alone.exitCode, alone.calls], alone.stdout).toEqual([0, { E5: 1 }]);
    expect(w.sandbox.state()).toMatchObject({ products: 2, assets: 1 });
  },
);

it("a cancelled order that is only to be told of stays, with its seats", async () => {
  const w = await placedOrders();
  rule(w, "orders.cancelled", "report");
  amend(w, "1", { cancelled: true });
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls]).toEqual([0, {}]);
  expect(waitsFor(w, "1")).toBe("policy.reported");
  expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
});

it("a cancelled order loses nothing while a source that could want it kept was read half", async () => {
  const w = await placedOrders();
  rule(w, "orders.cancelled", "apply");
  amend(w, "1", { cancelled: true });
  appendFileSync(w.path("data/staff.ndjson"), '{"id": "S9", "custo');
  const run = await w.does("run", "everything");
  expect(run.calls, run.stdout).toEqual({});
  expect(waitsFor(w, "1")).toBe("revokes.blocked");
  expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
});

/** A person of the first customer who holds a seat of each of two orders. */
async function holderOfTwo(): Promise<World> {
  const w = await placedOrders();
  w.orders = [...w.orders, orderOf("3", "C1")];
  holds(w, ["A1", "A3"]);
  expect((await w.does("run", "everything")).exitCode).toBe(0);
  expect(standing(w)).toEqual({ products: 6, assets: 3, assignments: 3 });
  return w;
}

function holds(w: World, assets: string[]): void {
  w.staff = w.staff.map((person) => (person.id === "S1" ? { ...person, holds: assets } : person));
  w.write();
}

it(
  "who still claims an asset of a cancelled order is told of it, and loses what else the CRM takes from them",
  { tags: "long" },
  async () => {
    const w = await holderOfTwo();
    rule(w, "orders.cancelled", "apply");
    amend(w, "1", { cancelled: true });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
    holds(w, ["A1"]);
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([3, { M9: 1 }]);
    expect(run.stdout).toContain("1 staff member is deferred (asset.ended)");
    expect(standing(w)).toMatchObject({ assignments: 1 });
    expect((await w.does("run", "everything")).calls).toEqual({});
  },
);

it(
  "who claims an asset of an order that is restored and cannot be bought again yet keeps what they hold until it is",
  { tags: "long" },
  async () => {
    const w = await holderOfTwo();
    rule(w, "orders.cancelled", "apply");
    amend(w, "1", { cancelled: true });
    await w.run("run", "everything");
    w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
    amend(w, "1", { cancelled: false });
    await w.run("run", "everything");
    holds(w, ["A1"]);
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([3, {}]);
    expect(run.stdout).toContain("1 staff member is deferred (asset.not-ordered)");
    expect(standing(w)).toMatchObject({ assets: 2, assignments: 2 });
  },
);

it(
  "who claims an asset whose number the CRM gave to another order since is told that it ended, not that it is not ordered",
  { tags: "long" },
  async () => {
    const number = "8000009999";
    const w = await placedOrders({ first: { assets: [{ id: "A1", numbers: [number] }] } });
    rule(w, "orders.cancelled", "apply");
    amend(w, "1", { cancelled: true });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    w.orders = [...w.orders, orderOf("3", "C1", { assets: [{ id: "A3", numbers: [number] }] })];
    w.write();
    for (const _ of [1, 2]) {
      const run = await w.does("run", "everything");
      expect([run.exitCode, run.stdout], run.stdout).toEqual([3, expect.stringContaining("(asset.ended)")]);
      expect(run.stdout).not.toContain("asset.not-ordered");
    }
    expect((await w.run("explain", "staff", "S1")).stdout).toContain(
      "was taken away with what its order no longer has",
    );
    holds(w, ["A3"]);
    const given = await w.does("run", "everything");
    expect([given.exitCode, given.calls], given.stdout).toEqual([0, { M9: 1 }]);
  },
);
