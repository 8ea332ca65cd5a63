/** @module-tag long */
import { expect, it } from "vitest";
import { numberOf, openHold, runsOf, waitsFor } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import { outcome } from "../../support/world/members.ts";
import { holdings, runsUntilQuiet } from "../../support/world/moved-orders.ts";
import { adds, earlier, numbersSent, renewal, rests, runs } from "../../support/world/renewals.ts";
import { amend, line, placedOrders, removesAll, rule, standing } from "../../support/world/placed-orders.ts";

const because = ["--reason", "asked the customer", "--by", "anna"];

/** Two customers; the order 3 of C1 renews what S1 holds. `units`: how many it has of it. */
async function renewed(units = 1): Promise<World> {
  const w = await placedOrders();
  for (const name of ["cancelled", "added", "ended"]) rule(w, `orders.${name}`, "apply");
  w.environment["CRM_SYNC__limits__removals__enterprise__floor"] = "100";
  adds(w, renewal("3", { assets: [{ id: "B3", quantity: units, continues: earlier }] }));
  await runs(w, 0, { E5: 1 });
  return w;
}

/** The earlier order was cancelled and removed since. */
async function renewedAlone(): Promise<World> {
  const w = await renewed();
  amend(w, "1", { cancelled: true });
  await runsUntilQuiet(w);
  expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 2 });
  return w;
}

/** The order 4 renews what the order 3 has. */
function next(): ReturnType<typeof renewal> {
  return renewal("4", { assets: [{ id: "B4", quantity: 2, continues: { order: "3", instance: "B3" } }] });
}

function gives(w: World, ...held: string[]): void {
  w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: held } : item));
  w.write();
}

it.each([false, true])(
  "leaves seats until the end of both orders is approved (one ended before: %s)",
  async (before) => {
    const w = before ? await renewedAlone() : await renewed();
    const held = await holdings(w);
    rule(w, "orders.cancelled", "ask");
    for (const id of ["1", "3"]) amend(w, id, { cancelled: true });
    for (const _ of [1, 2]) {
      expect((await w.does("run", "everything")).calls).toEqual({});
      expect(await holdings(w)).toEqual(held);
    }
    for (const _ of before ? [1] : [1, 2]) {
      expect((await w.run("approve", await openHold(w), ...because)).exitCode).toBe(0);
      for (let run = 0; run < 3; run += 1) await w.does("run", "everything");
    }
    expect(standing(w)).toEqual({ products: 2, assets: 1, assignments: 1 });
  },
);

it("asks anew about an end that was approved before the renewal, and then removes only the earlier products", async () => {
  const w = await placedOrders();
  rule(w, "orders.cancelled", "ask");
  const held = await holdings(w);
  amend(w, "1", { cancelled: true });
  await w.does("run", "everything");
  expect((await w.run("approve", await openHold(w), ...because)).exitCode).toBe(0);
  adds(w, renewal("3"));
  for (const _ of [1, 2]) await w.does("run", "everything");
  expect([standing(w), await holdings(w)]).toEqual([{ products: 5, assets: 2, assignments: 2 }, held]);
  expect((await w.run("approve", await openHold(w), ...because)).exitCode).toBe(0);
  await runsUntilQuiet(w);
  expect([standing(w), await holdings(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
});

it("buys an earlier order that comes back under another number", async () => {
  const w = await renewedAlone();
  const [number, held] = [numberOf(w, "A1"), await holdings(w)];
  amend(w, "1", { cancelled: false });
  await runs(w, 0, { E5: 1 });
  expect([standing(w), await holdings(w)]).toEqual([{ products: 5, assets: 3, assignments: 2 }, held]);
  await rests(w, 1);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  gives(w, "B3");
  await rests(w, 1);
  gives(w, "A1");
  amend(w, "3", { cancelled: true });
  await runsUntilQuiet(w);
  expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
  expect((await holdings(w)).map((one) => one.number)).not.toContain(number);
});

it("takes no number and no seat from the renewal when the CRM gives the earlier order a number", async () => {
  const w = await renewedAlone();
  const held = await holdings(w);
  gives(w, "B3");
  amend(w, "1", { cancelled: false, assets: [{ id: "A1", numbers: ["8111111111"] }] });
  await runsUntilQuiet(w);
  w.staff = [...w.staff, { id: "S3", customer: "C1" }];
  w.write();
  await runsUntilQuiet(w);
  expect([standing(w), await holdings(w)]).toEqual([{ products: 5, assets: 3, assignments: 2 }, held]);
});

it.each([true, false])("buys a renewal that comes back once (earlier order ended: %s)", async (isEnded) => {
  const w = isEnded ? await renewedAlone() : await renewed();
  const number = numberOf(w, "B3");
  const shown = standing(w);
  if (isEnded) gives(w);
  amend(w, "3", { cancelled: true });
  await runsUntilQuiet(w);
  expect(standing(w)).toEqual(
    isEnded ? { products: 2, assets: 1, assignments: 1 } : { products: 4, assets: 2, assignments: 2 },
  );
  if (isEnded) gives(w, "B3");
  amend(w, "3", { cancelled: false });
  await runs(w, 0, isEnded ? { E5: 1, M9: 1 } : { E5: 1 });
  expect([standing(w), numberOf(w, "B3") === number]).toEqual([shown, !isEnded]);
  await rests(w, 1);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
});

it.each(["another order", "its own order"])("renews again by %s what a cancelled renewal had", async (by) => {
  const w = await renewed();
  const held = await holdings(w);
  amend(w, "3", { cancelled: true });
  const again = renewal("4");
  if (by === "another order") {
    adds(w, again);
    amend(w, "1", { cancelled: true });
  } else amend(w, "1", { assets: again.assets, products: again.products ?? [] });
  for (const _ of [1, 2, 3, 4]) await w.does("run", "everything");
  expect([standing(w), await holdings(w)]).toEqual([{ products: 3, assets: 2, assignments: 2 }, held]);
  await rests(w, 1);
});

it("ends an earlier order also when only the words of its renewal changed", async () => {
  const w = await renewed();
  amend(w, "3", { products: [line("R3", "B3", { name: "Another name" })] });
  await runsUntilQuiet(w);
  expect(await waitsFor(w, "3")).toBe("policy.reported");
  amend(w, "1", { cancelled: true });
  await runsUntilQuiet(w);
  expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 2 });
});

it("undoes a renewal: removes its own products and its own unit, and leaves the earlier asset and its seat", async () => {
  const w = await renewed(2);
  const held = await holdings(w);
  const [last] = await runsOf(w);
  await w.run("undo", last.id, "--out", w.path("undo.ndjson"));
  expect((await w.does("apply", w.path("undo.ndjson"))).calls).toEqual({ E5: 1 });
  expect([standing(w), await holdings(w)]).toEqual([{ products: 4, assets: 2, assignments: 2 }, held]);
});

it("gives the middle one of three renewals a number of its own when it comes back", async () => {
  const w = await renewed(2);
  removesAll(w);
  adds(w, next());
  await runsUntilQuiet(w);
  for (const id of ["1", "3"]) amend(w, id, { cancelled: true });
  await runsUntilQuiet(w);
  const held = await holdings(w);
  expect(standing(w)).toEqual({ products: 4, assets: 3, assignments: 2 });
  amend(w, "3", { cancelled: false, assets: [{ id: "B3", continues: earlier }] });
  await runsUntilQuiet(w);
  expect([standing(w), await holdings(w)]).toEqual([{ products: 5, assets: 4, assignments: 2 }, held]);
  gives(w, "B3");
  amend(w, "4", { cancelled: true });
  await runsUntilQuiet(w);
  expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 2 });
  await rests(w, 1);
});

it.each([false, true])(
  "rebuilds a lost ledger with a renewal, which can be renewed again (earlier order ended: %s)",
  async (cancelled) => {
    const w = await renewed(2);
    // Nothing shows what the renewal continued once the earlier order has ended.
    if (cancelled) gives(w, "B3");
    amend(w, "1", { cancelled });
    await runsUntilQuiet(w);
    const [shown, held] = [standing(w), await holdings(w)];
    w.losesItsLedger();
    expect(outcome(await w.does("rebuild"))).toEqual([0, {}]);
    expect((await w.ask("status")).known.assignments).toBe(held.length);
    await rests(w, 1);
    expect([standing(w), await holdings(w)]).toEqual([shown, held]);
    adds(w, next());
    await runsUntilQuiet(w);
    expect(numbersSent(w, "4")).toEqual(numbersSent(w, "3"));
    amend(w, "3", { cancelled: true });
    await runsUntilQuiet(w);
    expect(standing(w)).toEqual({ products: cancelled ? 4 : 6, assets: 3, assignments: 2 });
  },
);

it("has everybody who names an asset number find the order that has it now", async () => {
  const w = await renewedAlone();
  const number = numberOf(w, "A1");
  expect((await w.ask("explain", "order", number)).key.id).toBe("3");
  gives(w);
  amend(w, "3", { cancelled: true });
  await runsUntilQuiet(w);
  expect((await w.run("explain", "order", number)).exitCode, "two orders had it").toBe(64);
});
