import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { runsUntilQuiet } from "./moved.ts";
import { amend, line, numberOf, openHold, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";
import { adds, earlier, holders, numbersSent, renewal, rests, runs } from "./renewals.ts";

/** Two customers; the order 3 of C1 renews what S1 holds, with one unit more. */
async function renewed(): Promise<World> {
  const w = await placedOrders();
  for (const name of ["orders.cancelled", "orders.added", "orders.ended"]) rule(w, name, "apply");
  adds(w, renewal("3", { assets: [{ id: "B3", quantity: 2, continues: earlier }] }));
  await runs(w, 0, { E5: 1 });
  return w;
}

/** The order 4 renews what the order 3 has. */
function next(): ReturnType<typeof renewal> {
  const assets = [{ id: "B4", quantity: 2, continues: { order: "3", instance: "B3" } }];
  return renewal("4", { assets });
}

it.each([false, true])(
  "a lost ledger is built again with a renewal that has a unit more (earlier order ended: %s), which is renewed again",
  { tags: "long" },
  async (cancelled) => {
    const w = await renewed();
    // Once the earlier order has ended nothing shows what the renewal went on from.
    if (cancelled) w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: ["B3"] } : item));
    amend(w, "1", { cancelled });
    await runsUntilQuiet(w);
    const held = holders(w);
    const before = standing(w);
    w.losesItsLedger();
    const rebuilt = await w.does("rebuild");
    expect([rebuilt.exitCode, rebuilt.calls], rebuilt.stdout + rebuilt.stderr).toEqual([0, {}]);
    expect([standing(w), holders(w).length]).toEqual([before, held.length]);
    await rests(w);
    adds(w, next());
    await runsUntilQuiet(w);
    expect(numbersSent(w, "4")).toEqual(numbersSent(w, "3"));
    amend(w, "3", { cancelled: true });
    await runsUntilQuiet(w);
    expect(standing(w)).toEqual({ products: cancelled ? 4 : 6, assets: 3, assignments: 2 });
    await rests(w);
  },
);

it("a run that renewed is taken back: its own products and its own unit go, the earlier asset and its seat stay", async () => {
  const w = await renewed();
  const number = numberOf(w, "A1");
  const held = holders(w);
  const [last] = w.rows<{ id: string }>("select id from run where job = 'everything' order by started_at desc limit 1");
  const file = w.path("undo.ndjson");
  await w.run("undo", last?.id ?? "", "--out", file);
  const applied = await w.does("apply", file);
  expect(applied.calls, applied.stdout + applied.stderr).toEqual({ E5: 1 });
  expect([standing(w), holders(w), numberOf(w, "A1")]).toEqual([
    { products: 4, assets: 2, assignments: 2 },
    held,
    number,
  ]);
});

it("an earlier order ends also where only the words of its renewal differ by then", { tags: "long" }, async () => {
  const w = await renewed();
  amend(w, "3", { products: [line("R3", "B3", { name: "Another name" })] });
  await runsUntilQuiet(w);
  expect(waitsFor(w, "3")).toBe("policy.reported");
  amend(w, "1", { cancelled: true });
  await runsUntilQuiet(w);
  expect(standing(w)).toEqual({ products: 4, assets: 3, assignments: 2 });
});

it(
  "what somebody took of a renewal that was renewed itself is bought again, under a number of its own",
  { tags: "long" },
  async () => {
    const w = await renewed();
    w.environment["CRM_SYNC__settle__timeMs"] = "30";
    rule(w, "drift.missing", "apply");
    const of = w.rows<{ number: string }>("select wire_number as number from asset_number where instance_id = 'B3'");
    // It comes before the order 3 where orders are sorted.
    adds(w, renewal("20", { assets: [{ id: "B20", continues: { order: "3", instance: "B3" } }] }));
    await runsUntilQuiet(w);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    const before = standing(w);
    const shared: unknown = numbersSent(w, "20");
    const [own] = of.map(({ number }) => number).filter((number) => !JSON.stringify(shared).includes(number));
    w.sandbox.hand({ action: "drop-asset", assetNum: own ?? "" });
    for (const _ of [1, 2]) {
      expect((await w.run("run", "verify")).exitCode).toBe(3);
      await sleep(40);
    }
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    expect((await w.run("approve", openHold(w), "--reason", "looked on the platform")).exitCode).toBe(0);
    expect((await runsUntilQuiet(w))[0]).toMatchObject({ E5: 1 });
    expect([waitsFor(w, "3"), standing(w)]).toEqual([null, before]);
    await rests(w);
  },
);

it(
  "of three orders that renew each other the one between comes back under a number of its own, and the last keeps its numbers",
  { tags: "long" },
  async () => {
    const w = await renewed();
    adds(w, next());
    await runsUntilQuiet(w);
    for (const id of ["1", "3"]) amend(w, id, { cancelled: true });
    w.environment["CRM_SYNC__limits__taking__enterprise__floor"] = "100";
    await runsUntilQuiet(w);
    const held = holders(w);
    expect(standing(w)).toEqual({ products: 4, assets: 3, assignments: 2 });
    amend(w, "3", { cancelled: false, assets: [{ id: "B3", continues: earlier }] });
    await runsUntilQuiet(w);
    expect([waitsFor(w, "3"), waitsFor(w, "4")]).toEqual([null, null]);
    expect([standing(w), holders(w)]).toEqual([{ products: 5, assets: 4, assignments: 2 }, held]);
    amend(w, "4", { cancelled: true });
    w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: ["B3"] } : item));
    w.write();
    await runsUntilQuiet(w);
    expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 2 });
    await rests(w);
  },
);

it(
  "an adopted order that ends in the run in which it is renewed takes only its own, and so does each after it",
  { tags: "long" },
  async () => {
    const w = await renewed();
    const sent = numbersSent(w, "3");
    w.losesItsLedger("adopted.db");
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).not.toHaveProperty("E5");
    adds(w, next());
    amend(w, "3", { cancelled: true });
    amend(w, "1", { cancelled: true });
    w.environment["CRM_SYNC__limits__taking__enterprise__floor"] = "100";
    for (let run = 0; run < 5; run += 1) await w.does("run", "everything");
    expect((numbersSent(w, "4") as string[][][]).flat(2).toSorted()).toEqual((sent as string[][][]).flat(2).toSorted());
    expect(standing(w)).toMatchObject({ products: 4, assets: 3, assignments: 2 });
    const products = [line("R4", "B4"), line("T4", "B4")];
    amend(w, "4", { products });
    for (let run = 0; run < 3; run += 1) await w.does("run", "everything");
    expect(standing(w)).toMatchObject({ products: 6, assets: 3 });
  },
);
