import { describe, expect, it } from "vitest";
import { settle } from "./edits.ts";
import { CrmNow, type Line, type OrderNow } from "./model.ts";
import { setCancelled } from "./renewals.ts";

/** O1 with L1, renewed by L2 of O2, renewed by L3 of O3; somebody holds an asset of L1. */
function threeInARow(): { crm: CrmNow; orders: [OrderNow, OrderNow, OrderNow] } {
  const crm = new CrmNow();
  const order = (of: number, continues?: Line["continues"]): OrderNow => ({
    id: `O${of}`,
    customer: "C1",
    cancelled: false,
    lines: [{ id: `L${of}`, quantity: 1, products: [{ id: `P${of}`, nodes: 1, cents: 1 }], continues }],
  });
  const orders: [OrderNow, OrderNow, OrderNow] = [
    order(1),
    order(2, { order: "O1", line: "L1" }),
    order(3, { order: "O2", line: "L2" }),
  ];
  crm.customers.push({ id: "C1", name: "Zqcanary Works C1", gone: false });
  crm.people.push({ id: "S1", customer: "C1", name: "Zqcanary Person S1", holds: ["L1"], gone: false, left: [] });
  crm.orders.push(...orders);
  crm.lineage.renews("L2", "L1");
  crm.lineage.renews("L3", "L2");
  return { crm, orders };
}

describe("a renewal that is cancelled and comes back", () => {
  it.each([
    ["before it was bought: it is new, and no claim of what it renewed means it", false, []],
    ["after it was bought: its number keeps its past, and the claim stands", true, ["L1"]],
  ])("%s", (_when, isBought, holds) => {
    const { crm, orders } = threeInARow();
    const [first, second] = orders;
    if (isBought) crm.lineage.held(["L1", "L2", "L3"]);
    for (const cancelled of [true, false]) {
      setCancelled(crm, second, cancelled);
      settle(crm);
    }
    expect(second.lines[0]?.continues).toBeUndefined();
    setCancelled(crm, first, true);
    settle(crm);
    expect(crm.people[0]?.holds).toEqual(holds);
  });
});
