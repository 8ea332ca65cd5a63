import { expect, it } from "vitest";
import { enterpriseOf, unsettled, waitsFor } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import { productsBy } from "../../support/world/moved-orders.ts";
import { amend, line, orderOf, placedOrders, removesAll, rule } from "../../support/world/placed-orders.ts";
import { callerOf, createEnterprise } from "../../sandbox/caller.ts";

const because = ["--reason", "asked the service desk", "--by", "anna"];
const three = [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")];

async function moving(): Promise<World> {
  const w = await placedOrders({ staff: [] });
  for (const name of ["orders.ended", "orders.cancelled", "orders.moved"]) rule(w, name, "apply");
  removesAll(w);
  return w;
}

function refusesOneYetDoesIt(w: World): void {
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", applied: true, times: 1 });
}

async function settlesAsApplied(w: World): Promise<void> {
  const open = await unsettled(w);
  expect(open).toHaveLength(1);
  for (const { id } of open) expect((await w.does("settle", id, "--applied", ...because)).exitCode).toBe(0);
}

async function runs(w: World, times: number): Promise<number | null> {
  let last: number | null = null;
  for (let run = 0; run < times; run += 1) last = (await w.does("run", "everything")).exitCode;
  return last;
}

// The move ends at the old customer when nothing is left there (`order-left`). A later outcome begins it again.
it("an addition that counts as carried out after the order moved is removed at the old customer", async () => {
  const w = await moving();
  amend(w, "1", { products: three });
  refusesOneYetDoesIt(w);
  await runs(w, 1);
  amend(w, "1", { customer: "C2" });
  await runs(w, 2);
  await settlesAsApplied(w);
  const exitCode = await runs(w, 4);
  const found = await productsBy(w);
  expect({ exitCode, C1: found["C1"] ?? [] }).toEqual({ exitCode: 0, C1: [] });
  expect(found["C2"]?.map((text) => text.split(" ")[0])).toEqual(["P1", "P2", "Q1", "Q2", "R1"]);
});

it.each([
  ["bought at the new one", {}, ["P2", "P3", "Q2", "Q3"]],
  ["bought nowhere: it was cancelled with the move", { cancelled: true }, ["P2", "Q2"]],
])("an order that counts as placed after it moved is removed at the old customer and %s", async (_what, more, C2) => {
  const w = await moving();
  w.orders = [...w.orders, orderOf("3", "C1")];
  w.write();
  refusesOneYetDoesIt(w);
  await runs(w, 1);
  amend(w, "3", { customer: "C2", ...more });
  await runs(w, 2);
  await settlesAsApplied(w);
  const exitCode = await runs(w, 4);
  const found = await productsBy(w);
  expect({ exitCode, C1: found["C1"] }).toEqual({ exitCode: 0, C1: ["P1 1", "Q1 1"] });
  expect(found["C2"]?.map((text) => text.split(" ")[0])).toEqual(C2);
});

// The order was sent to the enterprise that the customer was linked with then, and that does not change when the outcome
// becomes known only after another link.
it("an order that counts as placed after its customer was linked anew stays an order of the first enterprise", async () => {
  const w = await moving();
  w.orders = [...w.orders, orderOf("3", "C1")];
  w.write();
  refusesOneYetDoesIt(w);
  await runs(w, 1);
  const first = await enterpriseOf(w, "C1");
  const other = await createEnterprise(callerOf(w.sandbox.url), "C1");
  expect((await w.run("unlink", "C1", "--keep-orders", ...because)).exitCode).toBe(0);
  expect((await w.run("link", "C1", other.enterpriseGlobalId, ...because)).exitCode).toBe(0);
  amend(w, "3", { products: [line("P3", "A3"), line("Q3", "A3"), line("R3", "A3")] });
  await runs(w, 1);
  await settlesAsApplied(w);
  const { calls } = await w.does("run", "everything");
  expect(first).not.toBe(other.enterpriseGlobalId);
  expect([calls["E5"] ?? 0, await waitsFor(w, "3")]).toEqual([0, "order.elsewhere"]);
});
