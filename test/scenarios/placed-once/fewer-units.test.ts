/** @module-tag long */
import { expect, it } from "vitest";
import { approveAll, heldBy, numberOf } from "../../support/asking.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { amend, line, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

it("buys other terms once for the unit that stays if its holder leaves before the other unit is removed", async () => {
  const w = await placedOrders({
    first: { assets: [{ id: "A1", quantity: 2 }], products: [line("P1", "A1")] },
    staff: [
      { id: "S1", customer: "C1", holds: ["A1"] },
      { id: "S2", customer: "C1", holds: ["A1"] },
    ],
  });
  rule(w, "orders.ended", "ask");
  rule(w, "orders.replaced", "ask");
  const [stays, goes] = [numberOf(w, "A1", 0), numberOf(w, "A1", 1)];
  expect([await heldBy(w, "S1"), await heldBy(w, "S2")]).toEqual([[stays], [goes]]);
  personOf(w, "S1").holds = [];
  amend(w, "1", { assets: [{ id: "A1", quantity: 1 }], products: [line("P1", "A1", { nodes: 9 })] });
  const { orders } = w.sandbox.state();
  for (let run = 0; run < 6; run += 1) {
    await w.does("run", "everything");
    expect(await heldBy(w, "S2"), "who stays is never without").not.toEqual([]);
    await approveAll(w);
  }
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(Object.keys(w.sandbox.state().orders).length).toBe(Object.keys(orders).length + 1);
  expect(standing(w)).toMatchObject({ products: 3, assets: 2, assignments: 1 });
  expect(await heldBy(w, "S2")).toEqual([stays]);
});
