/** @module-tag long */
import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { heldBy, numberOf, numbersOf, waitsFor } from "../../support/asking.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, line, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

/** An order of two assets, of which the first loses its only product. */
async function emptied(): Promise<World> {
  const w = await placedOrders({ first: { assets: ["A1", "A5"], products: [line("P1", "A1"), line("Q5", "A5")] } });
  for (const name of ["orders.ended", "orders.cancelled"]) rule(w, name, "apply");
  amend(w, "1", { products: [line("Q5", "A5")] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect(standing(w)).toEqual({ products: 3, assets: 3, assignments: 2 });
  return w;
}

it("leaves an empty asset to its holder while the order has it", async () => {
  const w = await emptied();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(await heldBy(w, "S1")).toHaveLength(1);
  amend(w, "1", { cancelled: true });
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1, M9: 1 });
  expect([await heldBy(w, "S1"), standing(w)]).toMatchObject([[], { products: 2, assignments: 1 }]);
  expect((await w.does("run", "everything")).calls).toEqual({});
});

it("frees the seat of an empty asset that the order loses, if the policy says so", async () => {
  const w = await emptied();
  const [held] = await heldBy(w, "S1");
  rule(w, "orders.ended", "report");
  amend(w, "1", { assets: ["A5"] });
  expect((await w.does("run", "everything")).calls).toEqual({});
  expect([await waitsFor(w, "1"), await heldBy(w, "S1")]).toEqual(["policy.reported", [held]]);
  rule(w, "orders.ended", "apply");
  expect((await w.does("run", "everything")).calls).toEqual({ M9: 1 });
  expect(await heldBy(w, "S1")).toEqual([]);
  amend(w, "1", { assets: ["A1", "A5"], products: [line("P1", "A1"), line("Q5", "A5")] });
  expect((await w.does("run", "everything")).calls).toMatchObject({ E5: 1, M9: 1 });
  const live = (await numbersOf(w, "1")).filter(({ instanceId, endedAt }) => instanceId === "A1" && endedAt === null);
  expect(
    live.map(({ number }) => number),
    "under a new number",
  ).toEqual(await heldBy(w, "S1"));
  expect(live.map(({ number }) => number)).not.toContain(held);
});

it("frees the seat in the next run if nothing could be read after the products were removed", async () => {
  const w = await placedOrders();
  rule(w, "orders.cancelled", "apply");
  const fields = { crmProductId: "R1", productUri: "PID-R1", gmsPid: "PID-R1" };
  w.sandbox.hand({ action: "add-product", like: "Q1", assetNum: numberOf(w, "A1"), fields });
  amend(w, "1", { cancelled: true });
  const stop = w.stopsAt("E5");
  const running = w.does("run", "everything");
  await stop.reached;
  w.sandbox.faults.add({ operation: "M6", fault: "oddCode" });
  stop.goOn();
  expect((await running).calls).toEqual({ E5: 1 });
  expect(await heldBy(w, "S1")).toHaveLength(1);
  w.sandbox.faults.clear();
  expect((await w.does("run", "everything")).calls).toEqual({ M9: 1 });
  expect(await heldBy(w, "S1")).toEqual([]);
});
