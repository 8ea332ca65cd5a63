import { describe, expect, it } from "vitest";
import type { RecordKey } from "../../src/crm/model.ts";
import type { Operation } from "../../src/engine/model/operation.ts";
import { ApplyWorld } from "../support/world/apply-world.ts";
import { customerRecord, orderRecord, staffRecord } from "../support/world/records.ts";

const other: RecordKey = { namespace: "crm", id: "C2" };

function intend(world: ApplyWorld, operation: Operation): Promise<string> {
  return world.ledger.journal.intend({ operation, runId: "run", wireHash: "hash", nonce: "0".repeat(32), context: {} });
}

describe("what an intent claims for itself alone", () => {
  it("an order that the CRM gives to another customer later is not placed a second time", async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("orders", orderRecord("O1", "C1"));
    const order = await world.planned("place-order");
    expect(await world.deliver(order)).toMatchObject({ kind: "done" });
    const moved = { ...order, customer: other };
    await expect(intend(world, moved)).rejects.toMatchObject({ code: "order.placed-already" });
    const renumbered = { ...moved, payload: { ...order.payload, channelOrderId: "O1-again" } };
    await expect(intend(world, renumbered)).rejects.toMatchObject({ code: "order.placed-already" });
    expect(await world.deliver(order)).toMatchObject({ kind: "blocked" });
    expect(world.calls("E5")).toBe(1);
  });

  it("an order that moved is seen as placed by the customer it moved to, and stays where it was placed", async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("orders", orderRecord("O1", "C1"));
    await world.carryOut("place-order");
    await world.take("orders", { ...orderRecord("O1", "C1"), customerId: other.id });
    const known = await world.ledger.state.known(other);
    expect(known.placedOrders.get("crm/O1")).toMatchObject({ customer: { id: "C1" } });
  });

  it("an order in doubt is not placed for anybody else either", async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("orders", orderRecord("O1", "C1"));
    const order = await world.planned("place-order");
    world.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 1 });
    expect(await world.deliver(order)).toMatchObject({ kind: "unknown" });
    await expect(intend(world, { ...order, customer: other })).rejects.toMatchObject({ code: "order.in-doubt" });
    expect(world.calls("E5")).toBe(1);
  });

  it("two customers under one channel customer number get one enterprise, not two", async () => {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    const made = await world.planned("create-enterprise");
    const twin = { ...made, customer: { namespace: "shop", id: "C1" } };
    const [first, second] = await Promise.all([world.deliver(made), world.deliver(twin)]);
    const reason = expect.stringMatching(/belongs to the customer .*; give one of the two/u);
    const blocked = { kind: "blocked", code: "enterprise.same-channel-number", reason };
    expect([first.kind, second.kind].sort()).toEqual(["blocked", "done"]);
    expect(await world.deliver(twin)).toMatchObject(blocked);
    expect(world.calls("E2")).toBe(1);
  });

  it("the words with which M1 refuses somebody do not repeat what was sent", async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("staff", staffRecord("S1", "C1"), staffRecord("S2", "C1"));
    world.sandbox.faults.add({ operation: "M1", fault: "partialM1", times: 1 });
    const delivery = await world.carryOut("add-staff");
    expect(delivery.kind).toBe("done");
    if (delivery.kind !== "done") return;
    expect(delivery.refused).toHaveLength(1);
    expect(JSON.stringify(delivery.refused)).not.toContain(staffRecord("S2", "C1").userName);
  });
});
