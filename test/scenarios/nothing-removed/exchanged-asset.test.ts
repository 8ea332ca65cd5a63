/** @module-tag long */
import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { heldBy, openHold, quarantined, waitsFor } from "../../support/asking.ts";
import type { AssetRow } from "../../support/world/crm.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { amend, line, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

const [first, second] = ["8000009999", "8000009998"];
const all = { products: 4, assets: 2, assignments: 2 };
const transferred = line("T3", "A3", { pid: "PID-Q1", from: { order: "1", instance: "Q1" } });

/** Orders with these policies, the asset of the first one under the number `first`. */
async function numbered(policies: Record<string, string>): Promise<World> {
  const w = await placedOrders({ first: { assets: [{ id: "A1", numbers: [first] }] } });
  for (const [name, word] of Object.entries(policies)) rule(w, `orders.${name}`, word);
  return w;
}

/** The CRM gives the asset of the first order another number. */
function exchange(w: World, more: Partial<AssetRow> = {}): void {
  amend(w, "1", { assets: [{ id: "A1", numbers: [second], ...more }] });
}

/** An order to which a product of the first order is transferred. */
function transfer(w: World): void {
  w.orders = [...w.orders, orderOf("3", "C1", { products: [transferred] })];
  amend(w, "1", { products: [line("P1", "A1")] });
}

/** The CRM gives the asset another id. */
function rename(w: World, more: Partial<AssetRow> = {}): void {
  personOf(w, "S1").holds = ["A9"];
  amend(w, "1", { assets: [{ id: "A9", ...more }], products: [line("P1", "A9"), line("Q1", "A9")] });
}

/** The platform refuses the next purchase. */
function refuseOne(w: World): void {
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
}

async function approve(w: World): Promise<void> {
  expect((await w.run("approve", await openHold(w), "--reason", "asked the customer")).exitCode).toBe(0);
}

it("keeps an asset whose number the CRM exchanged until the new one is bought", async () => {
  const w = await numbered({ ended: "apply" });
  refuseOne(w);
  exchange(w);
  for (const calls of [{ E5: 1 }, {}]) {
    expect(outcome(await w.does("run", "everything"))).toEqual([3, calls]);
    expect([standing(w), await waitsFor(w, "1"), await heldBy(w, "S1")]).toEqual([all, "rejected.13004", [first]]);
  }
  amend(w, "1", { placedAt: "2026-10-06T08:00:00Z" });
  for (const _ of [1, 2]) await w.run("run", "everything");
  expect([standing(w), await heldBy(w, "S1")]).toEqual([all, [second]]);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it("keeps an asset whose number the CRM exchanged until a person approves the new one", async () => {
  const w = await numbered({ ended: "apply", added: "ask" });
  exchange(w);
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  expect(standing(w)).toEqual(all);
  await approve(w);
  for (const _ of [1, 2]) await w.does("run", "everything");
  expect([standing(w), await heldBy(w, "S1")]).toEqual([all, [second]]);
});

it("keeps an asset with other terms and another number until a person approves its removal", async () => {
  const w = await numbered({ ended: "apply" });
  exchange(w, { limitEnd: "2029-01-01T00:00:00Z" });
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  expect(standing(w)).toMatchObject({ products: 6, assets: 3 });
  await approve(w);
  for (const _ of [1, 2]) await w.does("run", "everything");
  expect([standing(w), await heldBy(w, "S1")]).toEqual([all, [second]]);
});

it("keeps an asset and its holder if the CRM changes its id and keeps its number", async () => {
  const w = await numbered({ ended: "apply" });
  rename(w, { numbers: [first] });
  for (const _ of [1, 2]) {
    expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    expect([standing(w), await heldBy(w, "S1")]).toEqual([all, [first]]);
    expect(await quarantined(w)).toMatchObject([{ code: "lines-renumbered", key: { id: "1" } }]);
  }
});

it("keeps an asset and its holder if the CRM changes its id and the purchase is refused", async () => {
  const w = await numbered({ ended: "apply" });
  rename(w);
  refuseOne(w);
  for (const calls of [{ E5: 1 }, {}, {}]) {
    expect(outcome(await w.does("run", "everything"))).toEqual([3, calls]);
    expect([standing(w), await heldBy(w, "S1")]).toEqual([all, [first]]);
  }
});

it("keeps a product until the order that it is transferred to is bought", async () => {
  const w = await numbered({ ended: "apply" });
  refuseOne(w);
  transfer(w);
  for (const calls of [{ E5: 1 }, {}]) {
    expect(outcome(await w.does("run", "everything"))).toEqual([3, calls]);
    const waits = [await waitsFor(w, "1"), await waitsFor(w, "3")];
    expect([standing(w), waits]).toEqual([all, ["operation.waits", "rejected.13004"]]);
  }
  amend(w, "3", { placedAt: "2026-10-06T08:00:00Z" });
  await w.run("run", "everything");
  expect(standing(w)).toEqual({ ...all, assets: 3 });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
});

it("keeps a product until a person approves the order that it is transferred to", async () => {
  const w = await numbered({ ended: "apply", added: "ask" });
  transfer(w);
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  expect(standing(w)).toEqual(all);
});

it("removes a transferred product also if the name of the new one changed meanwhile", async () => {
  const w = await numbered({ ended: "apply" });
  w.orders = [...w.orders, orderOf("3", "C1", { products: [transferred] })];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  amend(w, "3", { products: [{ ...transferred, name: "Another name" }] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(await waitsFor(w, "3")).toBe("policy.reported");
  amend(w, "1", { products: [line("P1", "A1")] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect([standing(w), await waitsFor(w, "1")]).toEqual([{ ...all, assets: 3 }, undefined]);
});

it("gives nobody a seat of a refused unit that the CRM no longer wants", async () => {
  const w = await placedOrders();
  refuseOne(w);
  w.staff = [...w.staff, { id: "S3", customer: "C1", holds: ["A1"] }];
  amend(w, "1", { assets: [{ id: "A1", quantity: 2 }] });
  expect((await w.run("run", "everything")).exitCode).toBe(3);
  amend(w, "1", { assets: [{ id: "A1", quantity: 1 }] });
  await w.run("run", "everything");
  expect(await waitsFor(w, "S3", "staff")).toBe("asset.claimed-twice");
});

it("removes a replaced asset also if the new one got another product before the approval", async () => {
  const w = await placedOrders();
  const assets = [{ id: "A1", limitEnd: "2029-01-01T00:00:00Z" }];
  amend(w, "1", { assets });
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  await approve(w);
  await w.run("run", "everything");
  expect(standing(w)).toMatchObject({ products: 6, assets: 3 });
  amend(w, "1", { assets, products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
  await w.run("run", "everything");
  await approve(w);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect(standing(w)).toEqual({ ...all, products: 5 });
});
