import { expect, it, vi } from "vitest";
import type { World } from "../../support/cli.ts";
import { amend, line, numberOf, openHold, orderOf, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";

const numbered = { first: { assets: [{ id: "A1", numbers: ["8000009999"] }] } };
const all = { products: 4, assets: 2, assignments: 2 };

/** The platform refuses the next purchase. */
function refuseOne(w: World): void {
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
}

/** What was refused just now is looked for until the settle time is over: only then it is sent again. */
async function runUntil(w: World, stands: Record<string, number>): Promise<void> {
  const run = async (): Promise<void> => {
    const { stdout } = await w.does("run", "everything");
    expect(standing(w), stdout).toEqual(stands);
    expect(w.rows("select 1 from record where pending = 1"), stdout).toEqual([]);
  };
  await vi.waitFor(run, { timeout: 20_000, interval: 200 });
}

function holderOf(w: World, staff: string): unknown {
  return w.rows("select asset_number as number from assignment where staff_id = ? and to_at is null", staff);
}

it(
  "an asset whose number the CRM exchanged stays while the new one cannot be bought, and goes once it was",
  { tags: "long" },
  async () => {
    const w = await placedOrders(numbered);
    rule(w, "orders.ended", "apply");
    refuseOne(w);
    amend(w, "1", { assets: [{ id: "A1", numbers: ["8000009998"] }] });
    const refused = await w.does("run", "everything");
    expect([refused.exitCode, refused.calls], refused.stdout).toEqual([3, { E5: 1 }]);
    expect([standing(w), waitsFor(w, "1")]).toEqual([all, "rejected.13004"]);
    const again = await w.does("run", "everything");
    expect([again.exitCode, again.calls], again.stdout).toEqual([3, {}]);
    expect([standing(w), holderOf(w, "S1")]).toEqual([all, [{ number: "8000009999" }]]);

    w.sandbox.faults.clear();
    amend(w, "1", { assets: [{ id: "A1", numbers: ["8000009998"] }], placedAt: "2026-10-06T08:00:00Z" });
    await w.run("resync", "--customer", "C1");
    await runUntil(w, all);
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(holderOf(w, "S1")).toEqual([{ number: "8000009998" }]);
  },
);

it(
  "an asset whose number the CRM exchanged stays while a person has to approve the new one",
  { tags: "long" },
  async () => {
    const w = await placedOrders(numbered);
    rule(w, "orders.ended", "apply");
    rule(w, "orders.added", "hold");
    amend(w, "1", { assets: [{ id: "A1", numbers: ["8000009998"] }] });
    const held = await w.does("run", "everything");
    expect([held.exitCode, held.calls, standing(w)], held.stdout).toEqual([4, {}, all]);
    await w.run("approve", openHold(w), "--reason", "asked the customer");
    for (const _ of [1, 2]) await w.does("run", "everything");
    expect([standing(w), holderOf(w, "S1")]).toEqual([all, [{ number: "8000009998" }]]);
  },
);

it(
  "an asset that the CRM gives another id with the number that it has stays, and so does who holds it",
  { tags: "long" },
  async () => {
    const w = await placedOrders(numbered);
    rule(w, "orders.ended", "apply");
    amend(w, "1", { assets: [{ id: "A9", numbers: ["8000009999"] }], products: [line("P1", "A9"), line("Q1", "A9")] });
    w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: ["A9"] } : item));
    w.write();
    for (const _ of [1, 2, 3]) {
      const run = await w.does("run", "everything");
      expect([run.exitCode, run.calls], run.stdout).toEqual([3, {}]);
      expect([standing(w), waitsFor(w, "1")]).toEqual([all, "asset.number-taken"]);
    }
    expect(numberOf(w, "A1")).toBe("8000009999");
    expect(holderOf(w, "S1")).toEqual([{ number: "8000009999" }]);
  },
);

it(
  "an asset that the CRM gives another id stays while the other one is refused, and so does who holds it",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    rule(w, "orders.ended", "apply");
    const before = holderOf(w, "S1");
    amend(w, "1", { assets: [{ id: "A9" }], products: [line("P1", "A9"), line("Q1", "A9")] });
    w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: ["A9"] } : item));
    w.write();
    refuseOne(w);
    for (const calls of [{ E5: 1 }, {}, {}]) {
      const run = await w.does("run", "everything");
      expect([run.exitCode, run.calls], run.stdout).toEqual([3, calls]);
      expect([standing(w), holderOf(w, "S1")]).toEqual([all, before]);
    }
  },
);

it(
  "a product stays where it is while the order that it is transferred to cannot be bought",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    rule(w, "orders.ended", "apply");
    refuseOne(w);
    const transferred = line("T3", "A3", { pid: "PID-Q1", from: { order: "1", instance: "Q1" } });
    w.orders = [...w.orders, orderOf("3", "C1", { products: [transferred] })];
    amend(w, "1", { products: [line("P1", "A1")] });
    for (const calls of [{ E5: 1 }, {}]) {
      const run = await w.does("run", "everything");
      expect([run.exitCode, run.calls], run.stdout).toEqual([3, calls]);
      expect([standing(w), waitsFor(w, "1"), waitsFor(w, "3")]).toEqual([all, "operation.waits", "rejected.13004"]);
    }
    expect((await w.run("plan")).stdout).not.toContain("delete_product");
    w.sandbox.faults.clear();
    amend(w, "3", { placedAt: "2026-10-06T08:00:00Z" });
    await runUntil(w, { products: 4, assets: 3, assignments: 2 });
    expect((await w.does("run", "everything")).exitCode).toBe(0);
  },
);

it(
  "a product goes also where only the words of what it was transferred to differ by then",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    rule(w, "orders.ended", "apply");
    const transferred = line("T3", "A3", { pid: "PID-Q1", from: { order: "1", instance: "Q1" } });
    w.orders = [...w.orders, orderOf("3", "C1", { products: [transferred] })];
    w.write();
    await runUntil(w, { products: 5, assets: 3, assignments: 2 });
    amend(w, "3", { products: [{ ...transferred, name: "Another name" }] });
    await w.does("run", "everything");
    expect(waitsFor(w, "3")).toBe("policy.reported");
    amend(w, "1", { products: [line("P1", "A1")] });
    await runUntil(w, { products: 4, assets: 3, assignments: 2 });
    expect([waitsFor(w, "1"), waitsFor(w, "3")]).toEqual([null, "policy.reported"]);
  },
);

it("a product stays where it is while a person has to approve the order that it is transferred to", async () => {
  const w = await placedOrders();
  rule(w, "orders.ended", "apply");
  rule(w, "orders.added", "hold");
  const transferred = line("T3", "A3", { pid: "PID-Q1", from: { order: "1", instance: "Q1" } });
  w.orders = [...w.orders, orderOf("3", "C1", { products: [transferred] })];
  amend(w, "1", { products: [line("P1", "A1")] });
  const held = await w.does("run", "everything");
  expect([held.exitCode, held.calls, standing(w)], held.stdout).toEqual([4, {}, all]);
});

it(
  "a seat of a unit whose purchase was refused is nobody's, also once the unit is not wanted any more",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    refuseOne(w);
    amend(w, "1", { assets: [{ id: "A1", quantity: 2 }] });
    w.staff = [...w.staff, { id: "S3", customer: "C1", holds: ["A1"] }];
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(3);
    w.sandbox.faults.clear();
    amend(w, "1", { assets: [{ id: "A1", quantity: 1 }] });
    const run = await w.does("run", "everything");
    expect(run.stdout).toContain("1 staff member is deferred (asset.claimed-twice)");
  },
);

it(
  "an asset that is wanted otherwise under another number stays until a person approved that it goes",
  { tags: "long" },
  async () => {
    const w = await placedOrders(numbered);
    rule(w, "orders.ended", "apply");
    amend(w, "1", { assets: [{ id: "A1", numbers: ["8000009998"], limitEnd: "2029-01-01T00:00:00Z" }] });
    const run = await w.does("run", "everything");
    expect(run.exitCode, run.stdout).toBe(4);
    expect(standing(w)).toMatchObject({ products: 6, assets: 3 });
    await w.run("approve", openHold(w), "--reason", "asked the customer");
    for (const _ of [1, 2]) await w.does("run", "everything");
    expect(standing(w)).toEqual(all);
    expect(holderOf(w, "S1")).toEqual([{ number: "8000009998" }]);
  },
);

it(
  "an asset that was exchanged goes also where the new one got one more product before that was approved",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    const later = [{ id: "A1", limitEnd: "2029-01-01T00:00:00Z" }];
    amend(w, "1", { assets: later });
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    await w.run("approve", openHold(w), "--reason", "asked the customer");
    await w.does("run", "everything");
    expect(standing(w)).toMatchObject({ products: 6, assets: 3 });
    amend(w, "1", { assets: later, products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
    await w.does("run", "everything");
    await w.run("approve", openHold(w), "--reason", "asked the customer");
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 1 }]);
    expect(standing(w)).toEqual({ products: 5, assets: 2, assignments: 2 });
  },
);
