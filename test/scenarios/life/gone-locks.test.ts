import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { assetRow, company } from "../../support/world/crm.ts";
import type { AssetRow } from "../../support/world/crm.ts";
import { numberOf, rule } from "./placed-orders.ts";

const why = ["--reason", "reported stolen", "--by", "anna.lee"];

function lockOf(asset: AssetRow, first: Partial<AssetRow>): AssetRow {
  return { ...asset, type: "normal_recover_usbkey", ...(asset.id === "O1-A1" ? first : {}) };
}

/** Two customers with two re-issuable locks each, one as given; what an order loses goes at once. */
async function withLocks(first: Partial<AssetRow> = {}): Promise<World> {
  const { orders, ...records } = company(2, 2);
  const lockable = orders.map((order) => ({
    ...order,
    assets: order.assets.map((asset) => lockOf(assetRow(asset), first)),
  }));
  const w = await world({ records: { ...records, orders: lockable, staff: [] } });
  for (const name of ["orders.ended", "locks.locked"]) rule(w, name, "apply");
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** The CRM has the first lock of the first customer's order no more. */
function loseFirst(w: World): void {
  w.orders = w.orders.map((order) =>
    order.id === "O1" ? { ...order, assets: order.assets.filter((asset) => assetRow(asset).id !== "O1-A1") } : order,
  );
  w.write();
}

it.each([2, 4])(
  "a lock whose switching was refused (status %i) is told of until it is deleted, and every other one as ever",
  { tags: "long" },
  async (status) => {
    const w = await withLocks();
    const [gone, left, other] = [numberOf(w, "O1-A1"), numberOf(w, "O1-A2"), numberOf(w, "O2-A1")];
    w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: status });
    for (const [customer, number] of [
      ["C1", gone],
      ["C2", other],
    ] as const)
      expect((await w.run("lock", customer, "--asset", number, ...why)).exitCode).toBe(3);
    expect((await w.run("status")).stdout).toContain(gone);
    loseFirst(w);
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls["E5"]], run.stdout).toEqual([3, 1]);
    for (const turn of [1, 2]) {
      const status = await w.run("status");
      expect(status.stdout, `turn ${turn}`).not.toContain(gone);
      expect(status.stdout, `turn ${turn}`).toContain(other);
      expect((await w.run("explain", "customer", "C1")).stdout).not.toContain(`lock ${gone}`);
      expect((await w.does("run", "everything")).exitCode).toBe(3);
    }
    w.sandbox.faults.clear();
    // What is asked for of what stands is asked for as ever.
    const locked = await w.does("lock", "C1", "--asset", left, ...why);
    expect([locked.exitCode, locked.calls], locked.stdout).toEqual([0, { E6: 1 }]);
    await w.run("lock", "C2", "--asset", other, ...why, "--withdraw");
    await w.run("run", "everything");
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
  },
);

const given = "8000009999";

/** The first lock goes with all that is under it, and comes back under the number that the CRM gives it. */
async function goAndComeBack(w: World, back: Partial<AssetRow>): Promise<void> {
  const before = w.orders;
  loseFirst(w);
  expect((await w.does("run", "everything")).calls["E5"]).toBe(1);
  w.orders = before.map((order) => ({
    ...order,
    assets: order.assets.map((asset) => (assetRow(asset).id === "O1-A1" ? { ...assetRow(asset), ...back } : asset)),
  }));
  w.write();
}

it(
  "a lock that a person wants switched, that failed and that comes back under its number, is switched",
  { tags: "long" },
  async () => {
    const w = await withLocks({ numbers: [given] });
    w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 3 });
    expect((await w.run("lock", "C1", "--asset", given, ...why)).exitCode).toBe(3);
    await goAndComeBack(w, {});
    w.sandbox.faults.clear();
    for (let turn = 0; turn < 2; turn += 1) await w.run("run", "everything");
    expect(w.sandbox.state().lockedAssets).toBe(1);
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
  },
);

it("a lock that the CRM wants switched, that was refused and that comes back under its number, is told of", async () => {
  const w = await withLocks({ numbers: [given] });
  w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 4 });
  w.orders = w.orders.map((order) => ({
    ...order,
    assets: order.assets.map((asset) =>
      assetRow(asset).id === "O1-A1" ? { ...assetRow(asset), locked: true } : asset,
    ),
  }));
  w.write();
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 3, calls: { E6: 1 } });
  await goAndComeBack(w, {});
  for (let turn = 0; turn < 2; turn += 1) expect((await w.run("run", "everything")).exitCode).toBe(3);
  expect((await w.run("status")).stdout).toContain(given);
});

it.each([
  ["locked still", true, "E6", 1],
  ["no more", false, "E7", 0],
])(
  "a lock that the CRM had disabled and that comes back under its number, %s, is switched again",
  { tags: "long" },
  async (_, ...then) => {
    const [locked, operation, disabled] = then;
    const w = await withLocks({ numbers: [given] });
    w.orders = w.orders.map((order) => ({
      ...order,
      assets: order.assets.map((asset) => ({ ...assetRow(asset), locked: assetRow(asset).id !== "O2-A2" })),
    }));
    w.write();
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E6: 2 } });
    expect(w.sandbox.state().lockedAssets).toBe(3);
    await goAndComeBack(w, { locked });
    const calls: Record<string, number>[] = [];
    for (let turn = 0; turn < 3; turn += 1) calls.push((await w.does("run", "everything")).calls);
    expect(calls.map((of) => of[operation] ?? 0).reduce((one, other) => one + other)).toBe(1);
    expect(w.sandbox.state().lockedAssets).toBe(2 + disabled);
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
  },
);

it(
  "a lock that a person had disabled and that is bought again under its number is told of as nothing but bought",
  { tags: "long" },
  async () => {
    const w = await withLocks({ numbers: [given] });
    expect((await w.does("lock", "C1", "--asset", given, ...why)).calls).toEqual({ E6: 1 });
    await goAndComeBack(w, {});
    for (let turn = 0; turn < 2; turn += 1) await w.run("run", "everything");
    expect(w.sandbox.state().lockedAssets).toBe(0);
    expect((await w.run("explain", "customer", "C1")).stdout).not.toContain(`lock ${given} is locked`);
    expect((await w.does("lock", "C1", "--asset", given, ...why)).calls).toEqual({ E6: 1 });
    expect(w.sandbox.state().lockedAssets).toBe(1);
  },
);

it(
  "a lock that the CRM wants disabled is so again where the run that bought it is taken back and done again",
  { tags: "long" },
  async () => {
    const w = await withLocks({ numbers: [given], locked: true });
    expect(w.sandbox.state().lockedAssets).toBe(1);
    const file = w.path("undo.ndjson");
    await w.run("undo", "last", "--out", file);
    const undone = await w.does("apply", file);
    expect([undone.calls["E5"], w.sandbox.state().lockedAssets], undone.stdout).toEqual([2, 0]);
    for (let turn = 0; turn < 3; turn += 1) await w.run("run", "everything");
    expect(w.sandbox.state().lockedAssets).toBe(1);
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
  },
);

it(
  "a run that deletes the only lock whose switching was refused has nothing more to tell",
  { tags: "long" },
  async () => {
    const w = await withLocks();
    w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 4 });
    expect((await w.run("lock", "C1", "--asset", numberOf(w, "O1-A1"), ...why)).exitCode).toBe(3);
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 3, calls: {} });
    loseFirst(w);
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E5: 1 } });
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
  },
);
