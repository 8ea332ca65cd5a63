/** @module-tag long */
import { expect, it } from "vitest";
import { enterpriseOf, waitsFor } from "../../support/asking.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, line, orderOf, placedOrders } from "../../support/world/placed-orders.ts";

it.each(["appliedNoReply", "resetBefore"] as const)(
  "does not amend an order in doubt until it is known what became of it (%s)",
  async (fault) => {
    const w = await placedOrders();
    const about = await enterpriseOf(w, "C1");
    // No reading shows what became of the order. The other customer can be read.
    for (const operation of ["M6", "E8"] as const) w.sandbox.faults.add({ operation, fault: "oddCode", about });
    w.sandbox.faults.add({ operation: "E5", fault, nth: 1 });
    w.orders.push(orderOf("3", "C1"));
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([5, { E5: 1 }]);

    const grown = (id: string) => [line(`P${id}`, `A${id}`), line(`Q${id}`, `A${id}`), line(`R${id}`, `A${id}`)];
    for (const id of ["2", "3"]) amend(w, id, { products: grown(id) });
    expect(outcome(await w.does("run", "everything"))).toEqual([5, { E5: 1 }]);
    expect([await waitsFor(w, "2"), await waitsFor(w, "3")]).toEqual([undefined, "operation.open"]);
    expect(w.sandbox.batches("3-1")).toEqual([]);

    w.sandbox.faults.clear();
    for (const _ of [1, 2]) await w.does("run", "everything");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    expect(w.sandbox.state()).toMatchObject({ products: 8, assets: 3 });
    expect(w.sandbox.state().orders["3"]).toMatchObject({ calls: 1, products: fault === "resetBefore" ? 3 : 2 });
    expect(w.sandbox.batches("3-1")).toHaveLength(fault === "resetBefore" ? 0 : 1);
    expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
  },
);
