import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/canonical-json.ts";
import { batchOrderRequestSchema } from "../../../src/contract/order-record.ts";
import type { Instance } from "../../../src/crm/model.ts";
import type { FixedNumber } from "../../../src/engine/model/references.ts";
import type { Operation } from "../../../src/engine/model/operation.ts";
import { asset, bundle, extension, feature, product } from "../../support/world/instances.ts";
import { flatBody, packagesBody, twoTypesBody } from "./order-bodies.ts";
import {
  customer,
  customerKey,
  fixed,
  linked,
  order,
  plan,
  settingsWith,
  settingsWithout,
  situation,
  wireOf,
} from "../../engine/situation.ts";

function placement(id: string, instances: Instance[], changes: JsonObject = {}, own = customer()): Operation {
  const planned = plan(
    { customer: own, orders: [order(id, { instances })], known: linked(own) },
    { settings: settingsWith(changes) },
  );
  const [operation, ...others] = planned.operations;
  if (operation === undefined || others.length > 0) throw new Error(JSON.stringify(planned.records));
  return operation;
}

function bodyOf(id: string, instances: Instance[], numbers: FixedNumber[], changes: JsonObject = {}): unknown {
  const { known } = situation({ known: linked(customer(), { numbers }) });
  return wireOf(placement(id, instances, changes), known, settingsWith(changes));
}

function whyNot(instances: Instance[], changes: JsonObject = {}): { code?: string; reason?: string; again?: boolean } {
  const planned = plan({ orders: [order("1", { instances })], known: linked() }, { settings: settingsWith(changes) });
  expect(planned.operations).toEqual([]);
  const { code, reason, again } = planned.records.find((record) => record.stream === "orders") ?? {};
  return { ...(code && { code }), ...(reason && { reason }), ...(again !== undefined && { again }) };
}

const flat = [
  asset("A-1", {
    licenseType: "normal_recover_usbkey",
    quantity: 2,
    assetNumbers: ["CRM-77"],
    limitStart: "2026-01-01T00:00:00Z",
    limitEnd: "2027-01-01T00:00:00Z",
    borrowedUsbKey: false,
    transferredAssetNumber: true,
    extensions: [{ code: "region", value: "" }],
  }),
  extension("gxxp", "A-1", "1"),
  product("P-1", "A-1", {
    name: "Estimating",
    gmsPid: "gms-1",
    appKey: "app-1",
    limitStart: "2026-01-01T00:00:00Z",
    limitEnd: "2027-01-01T00:00:00Z",
    nodes: 25,
    usage: 3600,
    passwords: ["0012", "licence-canary"],
    srcLicenseOrderId: "L-900",
    amount: { currency: "EUR", minor: 129_900 },
    features: [
      { code: "F-2", name: "Export", value: "", valueType: "text", trial: true, trialEnd: "2026-02-01T00:00:00Z" },
    ],
  }),
  feature("F-1", "P-1", { name: "Layers", value: "12", valueType: "int" }),
  product("P-2", "A-1", {
    name: "Viewer",
    gmsPid: undefined,
    appKey: "app-2",
    type: "webapp",
    nodes: 0,
    trial: true,
    trialEnd: "2026-02-01T00:00:00Z",
    timeUnit: "NONE",
    timeUnitQuantity: 0,
    term: "0-0-0",
  }),
];

const packages = [
  asset("A-2", { licenseType: "cloud_account" }),
  product("P-0", "A-2"),
  bundle("K-9", "A-2"),
  product("P-9", "K-9"),
  bundle("K-1", "A-2"),
  bundle("K-2", "K-1", { parentNumber: "N-K-1" }),
  bundle("K-3", "K-2"),
  product("P-3", "K-3"),
  product("P-1", "K-1"),
];

const twoTypes = [
  asset("A-A", { licenseType: "softkey" }),
  product("P-A", "A-A"),
  asset("A-C", { licenseType: "cloud_account" }),
  product("P-C", "A-C"),
  asset("A-B", { licenseType: "cloud_account" }),
  product("P-B", "A-B"),
];

describe("the body of E5, against JSON written by hand from the contract", () => {
  it("holds one flat asset with everything that an asset and a product can have", () => {
    const body = bodyOf("10248", flat, fixed("10248", "A-1", "CRM-77", "8000000001"));
    expect(body).toEqual(flatBody);
    expect(batchOrderRequestSchema.parse(body)).toEqual(flatBody);
  });

  it("holds packages three levels deep, with null for the children of the lowest", () => {
    const body = bodyOf("10249", packages, fixed("10249", "A-2", "8000000002"));
    expect(body).toEqual(packagesBody);
    expect(batchOrderRequestSchema.parse(body)).toEqual(packagesBody);
  });

  it("holds an order record for each licence type, each with its sequence and the customer that takes it", () => {
    const numbers = [
      ...fixed("10250", "A-A", "8000000004"),
      ...fixed("10250", "A-B", "8000000003"),
      ...fixed("10250", "A-C", "8000000005"),
    ];
    const changes = { customerSelection: { byLicenseType: { cloud_account: "non-default" } } };
    const body = bodyOf("10250", twoTypes, numbers, changes);
    expect(body).toEqual(twoTypesBody);
    expect(batchOrderRequestSchema.parse(body)).toEqual(twoTypesBody);
  });

  it("is the same whatever order the rows of the order came in", () => {
    expect(placement("1", flat.toReversed()).hash).toBe(placement("1", flat).hash);
    expect(placement("1", packages.toReversed()).hash).toBe(placement("1", packages).hash);
    expect(placement("1", twoTypes.toReversed()).hash).toBe(placement("1", twoTypes).hash);
  });

  it("says every number, also those that are not known yet, by its own unit", () => {
    const { payload } = placement("1", [asset("a", { quantity: 3 }), product("p", "a")]);
    expect(JSON.stringify(payload)).toContain(
      JSON.stringify([0, 1, 2].map((unit) => ({ $ref: "assetNumber", of: JSON.stringify(["crm", "1", "a", unit]) }))),
    );
  });
});

describe("what the settings decide about a body", () => {
  const number = fixed("1", "a", "8000000001");
  const simple = [asset("a"), product("p", "a")];

  it("the sequence base, the templates and the channel code", () => {
    const body = bodyOf("1", simple, number, {
      sequenceBase: 0,
      crmCustomerIdTemplate: "{namespace}-{id}",
      channelOrderIdTemplate: "X-{id}",
      channelCode: "OTHER",
    });
    expect(body).toMatchObject({
      channelCode: "OTHER",
      channelOrderId: "X-1",
      orderList: [{ sequence: 0, crmCustomerId: "crm-ALFKI", channelCustomerId: "ALFKI" }],
    });
  });

  it("the CRM's own channel order number goes before the template", () => {
    const own = customer();
    const [operation] = plan({
      customer: own,
      orders: [order("1", { channelOrderId: "MINE", instances: simple })],
      known: linked(own),
    }).operations;
    expect(operation?.payload).toMatchObject({ channelOrderId: "MINE" });
  });

  it("the zone in which a day is named, and the codec of each kind of time", () => {
    const limited = [
      asset("a"),
      product("p", "a", { limitStart: "2025-12-31T23:30:00Z", limitEnd: "2026-12-31T23:30:00Z" }),
    ];
    expect(bodyOf("1", limited, number, { dateZone: "Europe/Berlin" })).toMatchObject({
      orderList: [{ assets: [{ products: [{ limitStartDate: 20260101, limitEndDate: 20270101 }] }] }],
    });
    const seconds = {
      timeCodecs: {
        assetLimit: "epoch_s",
        productLimit: "epoch_s",
        productTrialEnd: "epoch_s",
        featureTrialEnd: "iso",
      },
    };
    expect(bodyOf("1", limited, number, seconds)).toMatchObject({
      orderList: [{ assets: [{ products: [{ limitStartDate: 1767223800, limitEndDate: 1798759800 }] }] }],
    });
  });

  it("the sentinels of fields that do not apply, null among them", () => {
    const changes = { sentinels: { productUsage: 99, productTrialEnd: null, featureTrialEnd: "9999-12-31" } };
    const body = bodyOf("1", [...simple, feature("f", "p")], number, changes);
    expect(body).toMatchObject({
      orderList: [
        {
          assets: [
            {
              products: [
                { limitTimeDuration: 99, trialEndDate: null, productFeatures: [{ trialEndDate: "9999-12-31" }] },
              ],
            },
          ],
        },
      ],
    });
  });

  it("leaves out what the CRM does not say: no srcLicenseOrderId without a transfer, no limits, no passwords", () => {
    const text = JSON.stringify(bodyOf("1", simple, number));
    for (const field of [
      "srcLicenseOrderId",
      "limitStartDate",
      "limitEndDate",
      "passwords",
      "merchandises",
      "assetExtendList",
      "borrowedUsbKey",
      "transferedAssetNum",
      "appKey",
    ]) {
      expect(text).not.toContain(field);
    }
    expect(text).toContain('"strictMatchWhenDelete":true');
  });

  it("products of packages stand in the packages alone, or again among the asset's, under the parent that is configured", () => {
    const mixed = [
      asset("a"),
      product("p", "a"),
      bundle("k", "a"),
      bundle("l", "k"),
      product("q", "l"),
      product("o", "k"),
    ];
    const listed = (changes: JsonObject): unknown[] => {
      const body = batchOrderRequestSchema.parse(bodyOf("1", mixed, number, changes));
      const [record] = body.orderList;
      if (record?.orderType !== "new_buy") throw new Error("no purchase");
      return (record.assets[0]?.products ?? []).map((item) => [item.crmProductId, item.parentCrmProductId]);
    };
    expect(listed({})).toEqual([["p", "a"]]);
    expect(listed({ packageProducts: "repeat", packageOnlyParent: "package" })).toEqual([
      ["p", "a"],
      ["o", "k"],
      ["q", "l"],
    ]);
    expect(listed({ packageProducts: "repeat", packageOnlyParent: "asset" })).toEqual([
      ["p", "a"],
      ["o", "a"],
      ["q", "a"],
    ]);
    expect(listed({ packageOnly: "repeat", packageOnlyParent: "asset" })).toEqual([["p", "a"]]);
  });

  it("an asset with packages only is blocked, or repeats its products", () => {
    const only = [asset("a"), bundle("k", "a"), product("q", "k")];
    expect(whyNot(only)).toMatchObject({ code: "order.not-sendable", again: true });
    expect(whyNot(only).reason).toContain("A23");
    expect(bodyOf("1", only, number, { packageOnly: "repeat", packageOnlyParent: "package" })).toMatchObject({
      orderList: [
        {
          assets: [
            {
              products: [{ crmProductId: "q", parentCrmProductId: "k" }],
              merchandises: [{ licenseOrderProductList: [{ crmProductId: "q" }] }],
            },
          ],
        },
      ],
    });
    expect(whyNot([asset("a")])).toMatchObject({ code: "order.not-sendable" });
  });
});

describe("an order that needs an answer nobody gave yet", () => {
  const limited = { limitStart: "2026-01-01T00:00:00Z", limitEnd: "2027-01-01T00:00:00Z" };
  const trial = { trial: true, trialEnd: "2026-02-01T00:00:00Z" };

  it.each([
    ["channelCode", "A9", [asset("a"), product("p", "a")]],
    ["timeUnits", "A22", [asset("a"), product("p", "a")]],
    ["productTypes", "A22", [asset("a"), product("p", "a")]],
    ["timeCodecs.assetLimit", "A20", [asset("a", limited), product("p", "a")]],
    ["timeCodecs.productLimit", "A20", [asset("a"), product("p", "a", limited)]],
    ["timeCodecs.productTrialEnd", "A20", [asset("a"), product("p", "a", trial)]],
    ["timeCodecs.featureTrialEnd", "A20", [asset("a"), product("p", "a"), feature("f", "p", trial)]],
    ["sentinels.productUsage", "A21", [asset("a"), product("p", "a")]],
    ["sentinels.productTrialEnd", "A21", [asset("a"), product("p", "a", { usage: 1 })]],
    ["sentinels.featureTrialEnd", "A21", [asset("a"), product("p", "a"), feature("f", "p")]],
    ["rootParentMerchandiseNum", "A24", [asset("a"), product("p", "a"), bundle("k", "a")]],
  ])("waits, and names assumptions.%s, row %s and the choices", (key, row, instances) => {
    const planned = plan({ orders: [order("1", { instances })], known: linked() }, { settings: settingsWithout(key) });
    expect(planned.operations).toEqual([]);
    const [record] = planned.records.filter((item) => item.stream === "orders");
    expect(record).toMatchObject({ outcome: "deferred", code: "assumption.missing", again: true });
    expect(record?.reason).toMatch(
      new RegExp(`assumptions\\.${key.replace(".", "\\.")} \\(${row}\\) has no value; choose .{3,}`),
    );
  });

  it("is not held up by answers that it does not use", () => {
    const needed = {
      ...settingsWithout("rootParentMerchandiseNum"),
      timeCodecs: {},
      sentinels: { productUsage: 0, productTrialEnd: 0, shownNoLimit: [null, 0] },
    };
    const planned = plan(
      { orders: [order("1", { instances: [asset("a"), product("p", "a")] })], known: linked() },
      { settings: needed },
    );
    expect(planned.operations).toHaveLength(1);
  });
});

describe("an order that cannot go on the wire as it is", () => {
  it("names the instance and the field of a time that does not fit its codec", () => {
    const late = product("p", "a", { trial: true, trialEnd: "2039-01-01T00:00:00Z" });
    expect(whyNot([asset("a"), late])).toEqual({
      code: "order.not-sendable",
      reason: "instance p, trialEnd: a 32-bit Integer cannot hold epoch seconds after January 2038",
      again: true,
    });
    const early = asset("a", { limitStart: "1996-07-04T00:00:00Z" });
    expect(whyNot([early, product("p", "a")]).reason).toBe("instance a, limitStart: lies outside 2000–2100");
  });

  it("is checked again against the lists of words that hold now, not those of the day it was read", () => {
    const simple = [asset("a"), product("p", "a")];
    expect(whyNot(simple, { productTypes: ["webapp"] })).toMatchObject({ code: "order.unlisted-word", again: true });
    expect(whyNot(simple, { timeUnits: { MONTH: "month" } })).toMatchObject({ code: "order.unlisted-word" });
    expect(whyNot(simple, { timeUnits: { YEAR: "month" } })).toMatchObject({ code: "order.terms-disagree" });
  });

  it("never sends a trial without its end, in a product or in a feature", () => {
    expect(whyNot([asset("a"), product("p", "a", { trial: true })])).toMatchObject({ code: "order.no-trial-end" });
    expect(whyNot([asset("a"), product("p", "a"), feature("f", "p", { trial: true })])).toMatchObject({
      code: "order.no-trial-end",
    });
  });

  it("names what keeps its rows from making a tree", () => {
    expect(whyNot([asset("a"), product("p", "x")])).toMatchObject({ code: "order.orphan-instance", again: false });
  });
});

describe("the customer of an order record", () => {
  it("is exactly one, or the order is blocked with the number of hits", () => {
    const own = customer();
    const base = linked(own);
    const twice = [
      ...(base.platformCustomers ?? []),
      { customerId: "C-2", isDefault: true, channelCode: "CH1", channelCustomerId: customerKey.id },
    ];
    const [record] = plan({
      customer: own,
      orders: [order("1", { instances: [asset("a"), product("p", "a")] })],
      known: { ...base, platformCustomers: twice },
    }).records.filter((item) => item.stream === "orders");
    expect(record).toMatchObject({ code: "enterprise.no-single-customer", again: true });
    expect(record?.reason).toContain("2 default customers");
  });
});
