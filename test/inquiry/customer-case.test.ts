import { expect, it } from "vitest";
import { formatKey } from "../../src/crm/keys.ts";
import { customerCase } from "../../src/inquiry/customer-case.ts";
import { ReadOnlyLedger } from "../../src/inquiry/read-only-ledger.ts";
import { openReadOnly } from "../../src/ledger/database/database.ts";
import { openHold } from "../support/asking.ts";
import type { World } from "../support/cli.ts";
import { runsUntilQuiet } from "../support/world/moved-orders.ts";
import { amend, placedOrders } from "../support/world/placed-orders.ts";

/** What a reconciliation compares of the orders of a customer: each one once, and whether nobody wants it there. */
function compared(w: World, customer: string): string[] {
  const ledger = new ReadOnlyLedger(w.path("ledger.db"), openReadOnly(w.path("ledger.db")));
  const { orders } = customerCase(ledger, { namespace: "crm", id: customer });
  ledger.close();
  return orders.map((order) => {
    const placed = order.placed === null ? "not placed" : `placed as ${order.placed.channelOrderId}`;
    return `${formatKey(order.key)} ${order.cancelled ? "away" : "here"}, ${placed}`;
  });
}

it("an order that moves is compared once at each customer where something of it may stand, and at no other", async () => {
  const w = await placedOrders({ staff: [] });
  amend(w, "1", { customer: "C2" });
  expect((await w.does("run", "everything")).exitCode).toBe(4);
  expect(compared(w, "C1")).toEqual(["crm/1 away, placed as 1"]);
  expect(compared(w, "C2")).toEqual(["crm/1 here, not placed", "crm/2 here, placed as 2"]);
  await w.run("approve", await openHold(w), "--reason", "asked both customers");
  await runsUntilQuiet(w);
  expect(compared(w, "C1")).toEqual([]);
  expect(compared(w, "C2")).toEqual(["crm/1 here, placed as 1", "crm/2 here, placed as 2"]);
});
