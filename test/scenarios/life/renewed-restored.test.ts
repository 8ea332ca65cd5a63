import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { amend, line, numberOf, openHold, placedOrders, rule, standing } from "./placed-orders.ts";

/** Two customers; the order `3` of C1 renews `A1` of the order `1`, which was cancelled and taken away since. */
async function renewedAndEnded(): Promise<World> {
  const w = await placedOrders();
  for (const name of ["orders.cancelled", "orders.added"]) rule(w, name, "apply");
  renews(w);
  await runs(w, 1);
  amend(w, "1", { cancelled: true });
  await runs(w, 2);
  expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 2 });
  return w;
}

function renews(w: World): void {
  const assets = [{ id: "B3", continues: { order: "1", instance: "A1" } }];
  w.orders = [...w.orders, { id: "3", customer: "C1", assets, products: [line("R3", "B3")] }];
  w.write();
}

/** Who holds which number by the ledger. */
function holders(w: World): unknown[] {
  return w.rows("select asset_number as number, staff_id as staff from assignment where to_at is null order by 1");
}

async function runs(w: World, times: number): Promise<void> {
  for (let run = 0; run < times; run += 1) await w.does("run", "everything");
}

async function rests(w: World): Promise<void> {
  const { exitCode, calls, stdout } = await w.does("run", "everything");
  expect([exitCode, calls], stdout).toEqual([0, {}]);
}

function gives(w: World, instance: string): void {
  w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: [instance] } : item));
  w.write();
}

it(
  "an earlier order that comes back is bought under another number, and the renewal keeps its own",
  { tags: "long" },
  async () => {
    const w = await renewedAndEnded();
    const held = holders(w);
    const number = numberOf(w, "A1");
    amend(w, "1", { cancelled: false });
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 1 }]);
    expect([standing(w), holders(w)]).toEqual([{ products: 5, assets: 3, assignments: 2 }, held]);
    await rests(w);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    gives(w, "B3");
    await rests(w);

    gives(w, "A1");
    amend(w, "3", { cancelled: true });
    await runs(w, 3);
    expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
    expect(holders(w)).not.toContainEqual({ number, staff: "S1" });
    await rests(w);
  },
);

it(
  "an earlier order that comes back under a number of the CRM takes none from the renewal, nor its seat",
  { tags: "long" },
  async () => {
    const w = await renewedAndEnded();
    const held = holders(w);
    gives(w, "B3");
    await rests(w);
    amend(w, "1", { cancelled: false, assets: [{ id: "A1", numbers: ["8111111111"] }] });
    await runs(w, 2);
    w.staff = [...w.staff, { id: "S3", customer: "C1" }];
    w.write();
    await runs(w, 2);
    expect([standing(w), holders(w)]).toEqual([{ products: 5, assets: 3, assignments: 2 }, held]);
    await rests(w);
  },
);

it(
  "an ending that was held before the renewal is asked about anew, and takes only its own products",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    rule(w, "orders.cancelled", "hold");
    const held = holders(w);
    amend(w, "1", { cancelled: true });
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    expect((await w.run("approve", openHold(w), "--reason", "asked the customer")).exitCode).toBe(0);
    renews(w);
    await runs(w, 2);
    expect([standing(w), holders(w)]).toEqual([{ products: 5, assets: 2, assignments: 2 }, held]);
    expect((await w.run("approve", openHold(w), "--reason", "asked again")).exitCode).toBe(0);
    await runs(w, 2);
    expect([standing(w), holders(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
    await rests(w);
  },
);

it(
  "a renewal that was cancelled after the earlier order had ended comes back under a number of its own",
  { tags: "long" },
  async () => {
    const w = await renewedAndEnded();
    const number = numberOf(w, "A1");
    w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: [] } : item));
    amend(w, "3", { cancelled: true });
    await runs(w, 2);
    expect(standing(w)).toEqual({ products: 2, assets: 1, assignments: 1 });
    gives(w, "B3");
    amend(w, "3", { cancelled: false });
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 1, M9: 1 }]);
    expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 2 });
    expect([numberOf(w, "B3") === number, numberOf(w, "A1")]).toEqual([false, ""]);
    await rests(w);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
  },
);

it("a renewal that comes back while the earlier order stands goes on under its number again", async () => {
  const w = await placedOrders();
  for (const name of ["orders.cancelled", "orders.added"]) rule(w, name, "apply");
  const number = numberOf(w, "A1");
  const held = holders(w);
  renews(w);
  await runs(w, 1);
  amend(w, "3", { cancelled: true });
  await runs(w, 2);
  expect([standing(w), holders(w)]).toEqual([{ products: 4, assets: 2, assignments: 2 }, held]);
  amend(w, "3", { cancelled: false });
  await runs(w, 2);
  expect([standing(w), holders(w)]).toEqual([{ products: 5, assets: 2, assignments: 2 }, held]);
  expect(numberOf(w, "A1")).toBe(number);
  await rests(w);
});

it.each(["another order", "its own order"])(
  "a renewal that is cancelled makes room for one by %s, and neither waits for the other",
  { tags: "long" },
  async (by) => {
    const w = await placedOrders();
    for (const name of ["orders.cancelled", "orders.added", "orders.ended"]) rule(w, name, "apply");
    const held = holders(w);
    renews(w);
    await runs(w, 1);
    amend(w, "3", { cancelled: true });
    const assets = [{ id: "B4", continues: { order: "1", instance: "A1" } }];
    const products = [line("R4", "B4")];
    if (by === "another order") {
      w.orders = [...w.orders, { id: "4", customer: "C1", assets, products }];
      amend(w, "1", { cancelled: true });
    } else amend(w, "1", { assets, products });
    await runs(w, 4);
    expect([standing(w), holders(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
    await rests(w);
  },
);
