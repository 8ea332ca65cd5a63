import { describe, expect, it } from "vitest";
import { asset, feature, product } from "../support/world/instances.ts";
import { customer, lines, linked, order, outcomes, placed, plan, settingsWith } from "./situation.ts";

const instances = [asset("a"), product("p", "a")];
const own = customer();
const simple = order("1", { instances });

describe("an order of the CRM", () => {
  it("that is new is placed by one E5", () => {
    const planned = plan({
      customer: own,
      orders: [simple, order("2", { instances: [asset("b"), product("q", "b")] })],
      known: linked(own),
    });
    expect(lines(planned)).toEqual(["place-order order:crm/1", "place-order order:crm/2"]);
    const [first] = planned.operations;
    expect(first).toMatchObject({
      endpoint: "E5",
      stage: "orders",
      takesAway: 0,
      reason: "the order is new in the CRM",
      records: [{ stream: "orders", namespace: "crm", id: "1" }],
    });
    expect(first?.after).toEqual({
      version: 1,
      bodyHash: simple.bodyHash,
      assets: [{ id: "a", licenseType: "softkey", quantity: 1, given: [] }],
    });
  });

  it("that is placed and unchanged is left alone, however its rows came this time", () => {
    const again = order("1", { instances: instances.toReversed() }, { version: 2 });
    const planned = plan({ customer: own, orders: [again], known: linked(own, { placedOrders: placed(simple) }) });
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toContain("orders crm/1 planned");
  });

  it.each([
    [
      "whose line changed",
      order("1", { instances: [asset("a"), product("p", "a", { nodes: 2 })] }, { version: 2 }),
      "the order's lines changed",
    ],
    [
      "with a line more",
      order("1", { instances: [...instances, product("q", "a")] }, { version: 2 }),
      "the order's lines changed",
    ],
    ["with a line less", order("1", { instances: [asset("a")] }, { version: 2 }), "the order's lines changed"],
    [
      "with a feature more",
      order("1", { instances: [...instances, feature("f", "p")] }, { version: 2 }),
      "the order's lines changed",
    ],
    ["that was cancelled", order("1", { instances, cancelled: true }, { version: 2 }), "the order was cancelled"],
    ["that is gone from the CRM", order("1", { instances }, { state: "absent" }), "the order is gone from the CRM"],
  ])("that is placed and %s is a change that is shown and not sent", (_, now, reason) => {
    const planned = plan({ customer: own, orders: [now], known: linked(own, { placedOrders: placed(simple) }) });
    expect(planned.operations).toEqual([]);
    const [record] = planned.records.filter((item) => item.stream === "orders");
    expect(record).toMatchObject({ outcome: "deferred", code: "amendment.not-enabled", again: false });
    expect(record?.reason).toContain(`amendment not enabled: ${reason}`);
  });

  it("that is placed and whose price alone changed is left alone: no price goes to the platform", () => {
    const priced = (value: number, nodes = 1) =>
      order(
        "1",
        { instances: [asset("a"), product("p", "a", { nodes, amount: { minor: value, currency: "EUR" } })] },
        { version: value },
      );
    const known = [...placed(priced(1))].map(([key, item]) => [key, { ...item, body: priced(1).body }] as const);
    const of = (now: typeof simple) =>
      outcomes(plan({ customer: own, orders: [now], known: linked(own, { placedOrders: new Map(known) }) }));
    expect(of(priced(2))).toContain("orders crm/1 planned");
    expect(of(priced(2, 2))).toContain("orders crm/1 deferred amendment.not-enabled");
  });

  it("that was found on the platform is not placed, and a change after that is shown", () => {
    const known = [...placed(simple)].map(([key, item]) => [key, { ...item, origin: "adopted" as const }] as const);
    const of = (now: typeof simple) =>
      outcomes(plan({ customer: own, orders: [now], known: linked(own, { placedOrders: new Map(known) }) }));
    expect(of(simple)).toContain("orders crm/1 planned");
    expect(of(order("1", { instances: [asset("a"), product("p", "a", { nodes: 2 })] }, { version: 2 }))).toContain(
      "orders crm/1 deferred amendment.not-enabled",
    );
  });

  it("that was never placed and is cancelled or gone leaves nothing to do", () => {
    for (const now of [order("1", { instances, cancelled: true }), order("1", { instances }, { state: "absent" })]) {
      const planned = plan({ customer: own, orders: [now], known: linked(own) });
      expect(planned.operations).toEqual([]);
      expect(outcomes(planned)).toContain("orders crm/1 planned");
    }
  });

  it("that waits in quarantine is not placed with its last good form, whatever else the customer needs", () => {
    const blocked = order("1", { instances }, { state: "quarantined" });
    const planned = plan({
      customer: own,
      orders: [blocked, order("2", { instances: [asset("b"), product("q", "b")] })],
      known: linked(own),
      quarantinedInScope: 1,
    });
    expect(lines(planned)).toEqual(["place-order order:crm/2"]);
    expect(outcomes(planned)).toEqual(["customers crm/ALFKI planned", "orders crm/2 planned"]);
  });

  it("of a customer without an address waits and is looked at again; with the address it is placed", () => {
    const without = customer({ address: undefined, adminEmail: undefined });
    const planned = plan({ customer: without, orders: [simple], known: linked(without) });
    expect(planned.operations).toEqual([]);
    expect(planned.records.find((item) => item.stream === "orders")).toMatchObject({
      code: "customer.not-orderable",
      again: true,
      reason: "the customer cannot be ordered for yet: the CRM gives no address, adminEmail",
    });
    expect(lines(plan({ customer: own, orders: [simple], known: linked(own) }))).toEqual(["place-order order:crm/1"]);
  });

  it.each(["adminName", "adminAccount", "adminEmail", "adminMobile", "purchaserMobile", "address"])(
    "needs the customer's %s",
    (field) => {
      const without = customer({ [field]: undefined });
      const planned = plan({ customer: without, orders: [simple], known: linked(without) });
      expect(planned.operations).toEqual([]);
      expect(planned.records.find((item) => item.stream === "orders")?.reason).toContain(`gives no ${field}`);
    },
  );
});

describe("a channel order number", () => {
  it("belongs to one order: the second one waits", () => {
    const other = order("1", {
      namespace: "shop",
      customerNamespace: "crm",
      instances: [asset("b"), product("q", "b")],
    });
    const planned = plan({ customer: own, orders: [simple, other], known: linked(own) });
    expect(lines(planned)).toEqual(["place-order order:crm/1"]);
    expect(planned.records.find((item) => item.key.namespace === "shop")).toMatchObject({
      code: "order.same-channel-number",
      again: true,
      reason: "the channel order number 1 belongs to the order crm/1; two orders may not share one",
    });
    const apart = plan(
      { customer: own, orders: [simple, other], known: linked(own) },
      { settings: settingsWith({ channelOrderIdTemplate: "{namespace}-{id}" }) },
    );
    expect(lines(apart)).toEqual(["place-order order:crm/1", "place-order order:shop/1"]);
  });

  it("of a placed order is not used for another", () => {
    const other = order("2", { channelOrderId: "1", instances: [asset("b"), product("q", "b")] });
    const planned = plan({ customer: own, orders: [other], known: linked(own, { placedOrders: placed(simple) }) });
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toContain("orders crm/2 deferred order.same-channel-number");
  });
});
