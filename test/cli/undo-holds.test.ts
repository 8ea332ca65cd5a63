import { expect, it } from "vitest";
import type { World } from "../support/cli.ts";
import { amend, line, openHold, orderOf, placedOrders, standing } from "../scenarios/life/placed-orders.ts";

/** A run that bought an order for each of two customers, and which run that was. */
async function bought(): Promise<{ w: World; run: string }> {
  const w = await placedOrders();
  w.orders.push(orderOf("3", "C1"), orderOf("4", "C2"));
  w.write();
  expect((await w.does("run", "everything")).exitCode).toBe(0);
  const [run] = w.rows<{ id: string }>("select id from run where job = 'everything' order by started_at desc limit 1");
  return { w, run: run?.id ?? "" };
}

/** Plans anew what takes the run back, and applies what it has for C1. */
async function takeBack(w: World, run: string): ReturnType<World["does"]> {
  await w.run("undo", run, "--out", w.path("undo.ndjson"));
  return await w.does("apply", w.path("undo.ndjson"), "--only-customer", "C1");
}

const holds = (w: World): unknown => w.rows("select id, state from hold order by created_at");
const withoutQ1 = { products: [line("P1", "A1")] };

it(
  "what a person approved goes in the next run, although taking a run back is held of that customer meanwhile",
  { tags: "long" },
  async () => {
    const { w, run } = await bought();
    amend(w, "1", withoutQ1);
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    const ordinary = openHold(w);
    expect((await w.run("approve", ordinary, "--reason", "the customer gave it back")).exitCode).toBe(0);

    const undone = await takeBack(w, run);
    expect([undone.exitCode, undone.calls], undone.stdout).toEqual([4, {}]);
    const undoing = openHold(w);
    expect(holds(w)).toEqual([
      { id: ordinary, state: "approved" },
      { id: undoing, state: "open" },
    ]);
    const next = await w.does("run", "everything");
    expect([next.exitCode, next.calls], next.stdout).toEqual([4, { E5: 1 }]);
    expect(standing(w)).toMatchObject({ products: 7 });
    expect(holds(w)).toEqual([
      { id: ordinary, state: "used" },
      { id: undoing, state: "open" },
    ]);

    await w.run("approve", undoing, "--reason", "it was a mistake");
    const applied = await takeBack(w, run);
    expect([applied.calls, standing(w)], applied.stdout).toEqual([
      { E5: 1 },
      { products: 5, assets: 3, assignments: 2 },
    ]);
    expect(holds(w)).toEqual([
      { id: ordinary, state: "used" },
      { id: undoing, state: "used" },
    ]);
  },
);

it(
  "what a person approved of taking a run back outlives what runs hold of that customer, and is carried out once",
  { tags: "long" },
  async () => {
    const { w, run } = await bought();
    expect((await takeBack(w, run)).exitCode).toBe(4);
    const undoing = openHold(w);
    expect((await w.run("approve", undoing, "--reason", "it was a mistake")).exitCode).toBe(0);
    amend(w, "1", withoutQ1);
    const held = await w.does("run", "everything");
    expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
    const ordinary = openHold(w);
    expect((await w.run("explain", "customer", "C1")).stdout).toContain(ordinary);
    const status = await w.run("status");
    for (const id of [ordinary, undoing]) expect(status.stdout).toContain(id);

    const applied = await takeBack(w, run);
    expect([applied.calls, standing(w)], applied.stdout).toEqual([
      { E5: 1 },
      { products: 6, assets: 3, assignments: 2 },
    ]);
    expect(holds(w)).toEqual([
      { id: undoing, state: "used" },
      { id: ordinary, state: "open" },
    ]);
    // What runs hold can be approved one by one, as before.
    const [own] = w.rows<{ id: string }>("select id from operation where hold_id = ? and state = 'held'", ordinary);
    expect((await w.run("approve", own?.id ?? "", "--reason", "the customer gave it back")).exitCode).toBe(0);
    expect((await takeBack(w, run)).calls).toEqual({});
  },
);

it(
  "what was approved of taking a run back stays approved where it could not be sent, whatever runs are made since",
  { tags: "long" },
  async () => {
    const { w, run } = await bought();
    expect((await takeBack(w, run)).exitCode).toBe(4);
    const undoing = openHold(w);
    await w.run("approve", undoing, "--reason", "it was a mistake");
    w.sandbox.faults.add({ operation: "E5", fault: "refused" });
    const failed = await w.does("apply", w.path("undo.ndjson"), "--only-customer", "C1");
    expect([failed.exitCode, failed.calls], failed.stdout).toEqual([3, { E5: 4 }]);
    w.sandbox.faults.clear();
    w.staff = w.staff.map((item) => ({ ...item, name: "Another name" }));
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    const applied = await takeBack(w, run);
    expect([applied.calls, holds(w)], applied.stdout).toEqual([{ E5: 1 }, [{ id: undoing, state: "used" }]]);
  },
);
