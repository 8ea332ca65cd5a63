import { describe, expect, it } from "vitest";
import { asset, bundle, feature, product } from "../../support/world/instances.ts";
import {
  customer,
  fixed,
  lines,
  linked,
  order,
  outcomes,
  placed,
  plan,
  settingsWith,
  standingOrders,
} from "../../engine/situation.ts";

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

  const numbers = fixed("1", "a", "N1");
  const standing = (now: typeof simple, before = simple) =>
    plan({
      customer: own,
      orders: [now],
      known: linked(own, { placedOrders: placed(before), numbers }),
      standings: standingOrders([before], numbers),
      sealed: new Set(["crm/1"]),
    });

  it.each([
    [
      "whose line changed",
      order("1", { instances: [asset("a"), product("p", "a", { nodes: 2 })] }, { version: 2 }),
      "1 product of the order crm/1 with other terms: nodes",
    ],
    [
      "with a line less",
      order("1", { instances: [asset("a"), product("q", "a")] }, { version: 2 }),
      "the order crm/1 has 1 product less",
    ],
    [
      "with a feature more",
      order("1", { instances: [...instances, feature("f", "p")] }, { version: 2 }),
      "1 product of the order crm/1 with other terms: features",
    ],
    [
      "that was cancelled",
      order("1", { instances, cancelled: true }, { version: 2 }),
      "the order crm/1 was cancelled: 1 asset and 1 product would be taken away",
    ],
    [
      "that is gone from the CRM",
      order("1", { instances }, { state: "absent" }),
      "the order crm/1 is gone from the CRM: 1 asset and 1 product would be taken away",
    ],
  ])("that is placed and %s takes something away, which waits until M7 shows what is there", (_, now, reason) => {
    const planned = standing(now);
    expect(planned.operations.filter(({ takesAway }) => takesAway > 0)).toEqual([]);
    const [record] = planned.records.filter((item) => item.stream === "orders");
    // What is bought in the place of something goes out at once: nothing is taken away for it.
    if (planned.operations.length === 0) expect(record).toMatchObject({ code: "order.contents-not-read", again: true });
    else expect(lines(planned)).toEqual(["amend-order order:crm/1"]);
    expect(reason).not.toBe("");
  });

  it("that is placed and has a line more gets that line under the number that is there", () => {
    const now = order("1", { instances: [...instances, product("q", "a")] }, { version: 2 });
    const planned = standing(now);
    expect(lines(planned)).toEqual(["amend-order order:crm/1"]);
    const [operation] = planned.operations;
    expect(operation?.payload).toMatchObject({
      channelOrderId: { $ref: "channelOrderId", of: "crm/1" },
      orderList: [{ orderType: "new_buy", assets: [{ products: [{ crmProductId: "q" }] }] }],
    });
    expect(operation?.after).toMatchObject({ lastStep: 0, agreed: null });
    expect(operation?.after).toMatchObject({ assets: [], items: [{ instanceId: "a", unit: 0, products: ["q"] }] });
    expect(operation?.reason).toBe("the order has 1 product more in the CRM than on the platform");
  });

  it("that is placed and has a package more says why that cannot be bought alone, though its asset has products", () => {
    const more = [...instances, bundle("k", "a"), product("q", "k")];
    const planned = standing(order("1", { instances: more }, { version: 2 }));
    expect(planned.operations).toEqual([]);
    const [record] = planned.records.filter((item) => item.stream === "orders");
    expect(record).toMatchObject({ code: "order.not-sendable" });
    expect(record?.reason).toMatch(/^instance a, products: only the package k would be bought/u);
  });

  it("that is placed and has more units gets numbers for those alone", () => {
    const now = order("1", { instances: [asset("a", { quantity: 3 }), product("p", "a")] }, { version: 2 });
    const [operation] = standing(now).operations;
    expect(operation?.after).toMatchObject({
      assets: [{ id: "a", licenseType: "softkey", quantity: 2, given: [], units: [1, 2] }],
    });
    expect(operation?.payload).toMatchObject({ orderList: [{ assets: [{ assetNos: [{}, {}] }] }] });
  });

  it("that is placed and whose price alone changed is kept, and no call is made", () => {
    const priced = (version: number, minor: number, passwords = ["0012"]) =>
      order(
        "1",
        { instances: [asset("a"), product("p", "a", { amount: { minor, currency: "EUR" }, passwords })] },
        { version },
      );
    const planned = standing(priced(2, 200), priced(1, 100));
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toContain("orders crm/1 planned");
    const [from, to] = [100, 200].map((minor) => ({ minor, currency: "EUR" }));
    expect(planned.changes.map(({ type }) => type)).toEqual(["order-priced", "order-agreed", "secrets-wiped"]);
    expect(planned.changes).toContainEqual(expect.objectContaining({ items: [{ product: "p", from, to }] }));
    const others = standing(priced(2, 200, ["0013"]), priced(1, 100));
    expect(lines(others)).toEqual(["amend-order order:crm/1"]);
  });

  it("that is placed and called otherwise is told of, by the policy of words", () => {
    const now = order("1", { instances: [asset("a"), product("p", "a", { name: "Estimation" })] }, { version: 2 });
    const [record] = standing(now).records.filter((item) => item.stream === "orders");
    expect(record).toMatchObject({ code: "policy.reported", again: false });
    expect(record?.reason).toContain('name of p: "Product p" is "Estimation" now');
  });

  it("of which nobody knows what stands waits", () => {
    const now = order("1", { instances: [...instances, product("q", "a")] }, { version: 2 });
    const known = linked(own, { placedOrders: placed(simple) });
    const lost = new Map([["crm/1", { lost: "form 1 of the order crm/1 is not kept any more" }]]);
    const planned = plan({ customer: own, orders: [now], known, standings: lost });
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toContain("orders crm/1 deferred order.form-lost");
  });

  it("that was found on the platform is not placed; nothing is bought under a number that nobody knows", () => {
    const known = [...placed(simple)].map(([key, item]) => [key, { ...item, origin: "adopted" as const }] as const);
    const of = (now: typeof simple) =>
      plan({
        customer: own,
        orders: [now],
        known: linked(own, { placedOrders: new Map(known) }),
        standings: standingOrders([simple]),
      });
    expect(outcomes(of(simple))).toContain("orders crm/1 planned");
    const more = of(order("1", { instances: [...instances, product("q", "a")] }, { version: 2 }));
    expect(more.operations).toEqual([]);
    expect(outcomes(more)).toContain("orders crm/1 deferred order.number-unknown");
  });

  it("that goes on from an earlier one is not bought as if it were new", () => {
    const renewal = order("2", {
      instances: [asset("b", { continues: { orderId: "1", instanceId: "a" } }), product("q", "b")],
    });
    const transfer = order("3", {
      instances: [asset("c"), product("r", "c", { transferredFrom: { orderId: "1", instanceId: "p" } })],
    });
    const planned = plan({ customer: own, orders: [renewal, transfer], known: linked(own) });
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toEqual([
      "customers crm/ALFKI planned",
      "orders crm/2 deferred order.earlier-not-placed",
      "orders crm/3 deferred order.transfer-unknown",
    ]);
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
      reason: "nothing can be ordered for the customer yet: the CRM gives no address, adminEmail",
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
      reason: "the order crm/1 has the channel order number 1 already; two orders cannot have the same number",
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
