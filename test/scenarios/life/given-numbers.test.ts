import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { amend, numberOf, orderOf, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";

/** The platform refuses the next purchase as a whole. */
function refuseNext(w: World): void {
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
  w.environment["CRM_SYNC__settle__timeMs"] = "50";
}

/** Which numbers were ever fixed to an instance; true where its asset ended, or it was never used. */
function fixedTo(w: World, instance: string): Record<string, boolean> {
  const rows = w.rows<{ number: string; ended: number }>(
    "select wire_number as number, ended_at is not null as ended from asset_number where instance_id = ? order by 1",
    instance,
  );
  return Object.fromEntries(rows.map(({ number, ended }) => [number, ended === 1]));
}

it(
  "a restored order is bought again under the number that the CRM gives it, which no other asset has",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ first: { assets: [{ id: "A1", numbers: ["8000009999"] }] } });
    const before = standing(w);
    rule(w, "orders.cancelled", "apply");
    amend(w, "1", { cancelled: true });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    amend(w, "1", { cancelled: false });
    const restored = await w.does("run", "everything");
    expect([restored.exitCode, restored.calls], restored.stdout).toMatchObject([0, { E5: 1, M9: 1 }]);
    expect(standing(w)).toEqual(before);
    expect(fixedTo(w, "A1")).toEqual({ "8000009999": false });
    expect((await w.does("run", "everything")).calls).toEqual({});
  },
);

it("a number that stands is not given to another order, whatever the CRM says", async () => {
  const w = await placedOrders({ first: { assets: [{ id: "A1", numbers: ["8000009999"] }] } });
  const before = standing(w);
  w.orders = [...w.orders, orderOf("3", "C2", { assets: [{ id: "A3", numbers: ["8000009999"] }] })];
  w.write();
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls], run.stdout).toEqual([3, {}]);
  expect(waitsFor(w, "3")).toBe("asset.number-taken");
  expect(standing(w)).toEqual(before);
});

it(
  "an order is bought under the number that the CRM gave it after a refusal, and the one before is used no more",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    refuseNext(w);
    w.orders = [...w.orders, orderOf("3", "C1")];
    w.write();
    expect((await w.does("run", "everything")).calls).toMatchObject({ E5: 1 });
    const before = numberOf(w, "A3");
    expect(before).not.toBe("");
    amend(w, "3", { assets: [{ id: "A3", numbers: ["8000007777"] }] });
    for (let run = 0; run < 4 && w.sandbox.state().assets < 3; run += 1) await w.run("run", "everything");
    expect(standing(w)).toMatchObject({ assets: 3, products: 6 });
    expect(fixedTo(w, "A3")).toEqual({ [before]: true, "8000007777": false });
    expect(JSON.stringify(w.sandbox.state().orders["3"])).not.toContain(before);
    w.orders = [...w.orders, orderOf("4", "C2")];
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    expect(numberOf(w, "A4"), "a number that was sent once is nobody else's").not.toBe(before);
  },
);

it(
  "a unit more is bought under the number that the CRM gave it after a refusal; the units that stand keep theirs",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    const first = numberOf(w, "A1");
    refuseNext(w);
    amend(w, "1", { assets: [{ id: "A1", quantity: 2 }] });
    expect((await w.does("run", "everything")).calls).toMatchObject({ E5: 1 });
    const before = numberOf(w, "A1", 1);
    amend(w, "1", { assets: [{ id: "A1", quantity: 2, numbers: [first, "8000007777"] }] });
    for (let run = 0; run < 4 && w.sandbox.state().assets < 3; run += 1) await w.run("run", "everything");
    expect(standing(w)).toMatchObject({ assets: 3, products: 6 });
    expect(fixedTo(w, "A1")).toEqual({ [first]: false, [before]: true, "8000007777": false });
    const again = await w.does("run", "everything");
    expect([again.exitCode, again.calls], again.stdout).toEqual([0, {}]);
  },
);

it(
  "a unit that a person made by hand under the number that the CRM gives is not bought a second time",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    rule(w, "orders.added", "report");
    const first = numberOf(w, "A1");
    amend(w, "1", { assets: [{ id: "A1", quantity: 2, numbers: [first, "8000007777"] }] });
    expect((await w.does("run", "everything")).calls).toEqual({});
    w.sandbox.hand({ action: "add-asset", like: first, assetNum: "8000007777" });
    rule(w, "orders.added", "apply");
    for (const _ of [1, 2]) {
      const run = await w.does("resync", "--order", "1");
      expect([run.exitCode, run.calls], run.stdout).toEqual([3, {}]);
      expect(waitsFor(w, "1")).toBe("order.there-already");
    }
    const resolved = await w.does("resolve", "order:1", "--done-by-hand", "--reason", "done on Monday");
    expect([resolved.exitCode, resolved.calls], resolved.stdout + resolved.stderr).toEqual([0, {}]);
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(standing(w)).toMatchObject({ products: 6, assets: 3 });
  },
);
