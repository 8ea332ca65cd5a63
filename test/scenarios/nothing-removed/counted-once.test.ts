import { expect, it } from "vitest";
import { openHolds } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { asKilledNow } from "../../support/killed-copy.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

/** Three people hold a seat of one order each, and limits allow none to be removed. */
async function three(): Promise<World> {
  const ids = ["1", "2", "3"];
  const w = await world({
    records: {
      customers: [{ id: "C1" }],
      orders: ids.map((id) => orderOf(id, "C1")),
      staff: ids.map((id) => ({ id: `S${id}`, customer: "C1", holds: [`A${id}`] })),
    },
  });
  w.extra = "limits: { removals: { run: { floor: 0, share: 0 }, enterprise: { floor: 50, share: 1 } } }\n";
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const policy of ["cancelled", "replaced", "assetChanged"]) rule(w, `orders.${policy}`, "apply");
  return w;
}

it("counts a seat once when its person leaves and its order is cancelled", async () => {
  const w = await three();
  for (const person of w.staff) person.holds = [];
  for (const { id } of w.orders) amend(w, id, { cancelled: true });
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  const holds = await openHolds(w);
  for (const { explanation } of holds) expect(explanation).toContain("3 of 3 (100.0 %) seats");
});

it("does not count a seat whose person has the one that takes its place", async () => {
  const w = await three();
  for (const { id } of w.orders) amend(w, id, { assets: [{ id: `A${id}`, limitEnd: "2031-01-01T00:00:00Z" }] });
  for (const _ of [1, 2]) await w.does("run", "everything");
  expect(await openHolds(w)).toEqual([]);
  expect(standing(w)).toEqual({ products: 6, assets: 3, assignments: 3 });
});

it("counts what a killed run was removing as removed", async () => {
  const w = await placedOrders();
  w.extra = "limits: { removals: { day: { floor: 1, share: 0 }, enterprise: { floor: 50, share: 1 } } }\n";
  rule(w, "assignments.revoked", "apply");
  const leaves = (id: string): void => {
    w.staff = w.staff.map((person) => (person.id === id ? { ...person, holds: [] } : person));
    w.write();
  };
  leaves("S1");
  const stop = w.stopsAt("M9");
  const run = w.does("run", "everything");
  await stop.reached;
  asKilledNow(w);
  stop.goOn();
  await run;
  leaves("S2");
  const { taken } = await w.ask("status");
  expect(taken).toMatchObject(["day", "week"].map((within) => ({ thing: "seats", within, count: 1 })));
  expect((await w.run("plan")).stdout).toMatch(/^Plan: no changes, 1 held/u);
});
