import { describe, expect, it } from "vitest";
import { productInstanceSchema, type ProductInstance } from "../../../src/contract/asset-contents.ts";
import type { Instance } from "../../../src/crm/model.ts";
import { standingOf, type StandingParts } from "../../../src/resources/order/fold.ts";
import type { Known } from "../../../src/engine/model/state.ts";
import { type PlanOptions, planInputOf } from "../../../src/engine/plan/input.ts";
import { planOrders } from "../../../src/resources/order/plan.ts";
import { planRemovals } from "../../../src/resources/order/removals.ts";
import type { AssetReading } from "../../../src/platform/snapshot.ts";
import { asset, bundle, product } from "../../support/world/instances.ts";
import { key, shownAsset, shownMember } from "../../support/world/records.ts";
import { standardRules } from "../../support/world/rules.ts";
import {
  assignment,
  customerKey,
  fixed,
  linked,
  needs,
  order,
  placed,
  settingsWith,
  situation,
  staff,
  type OrderFields,
  type Situation,
} from "../../engine/situation.ts";

const bought = [asset("i", { quantity: 2 }), product("p", "i", { nodes: 3 }), product("q", "i", { nodes: 5 })];
const limits = { limitStart: "2026-01-01T00:00:00Z", limitEnd: "2027-01-01T00:00:00Z" };
const codecs = {
  timeCodecs: { readLimit: "epoch_ms", assetLimit: "epoch_ms", productLimit: "yyyymmdd", productTrialEnd: "epoch_s" },
};

/** A row of M7 as the order `1` brought it. */
function row(crmProductId: string, fields: Partial<ProductInstance> = {}): ProductInstance {
  return productInstanceSchema.parse({
    id: `row-${crmProductId}`,
    licenseType: "softkey",
    productUri: `pid-${crmProductId}`,
    channelOrderId: "1",
    licenseOrderId: "L1",
    limitConcurrent: crmProductId === "q" ? 5 : 3,
    limitStartTime: 0,
    limitEndTime: null,
    crmProductId,
    ...fields,
  });
}

function reading(
  number: string,
  products: ProductInstance[],
  more: Partial<AssetReading> = {},
): [string, AssetReading] {
  return [number, { asset: shownAsset(number), products, packages: [], bare: products.length === 0, ...more }];
}

interface Case {
  /** What the CRM says now: of the two products under N1 and N2 only `p` by default. */
  now?: OrderFields;
  was?: Instance[];
  contents?: [string, AssetReading][] | undefined;
  settings?: Parameters<typeof settingsWith>[0];
  rules?: Partial<Pick<PlanOptions, "policies" | "removalsBlocked"> & { buys: boolean }>;
  parts?: Partial<StandingParts>;
  known?: Partial<Known>;
  observed?: Situation["observed"];
  situation?: Partial<Situation>;
}

const onlyP = { instances: [bought[0], bought[1]].flatMap((item) => item ?? []) };

function removals(given: Case = {}) {
  const first = order("1", { instances: given.was ?? bought });
  const now = order("1", given.now ?? onlyP, { version: 2 });
  const [anchor] = [...placed(first).values()];
  if (anchor === undefined) throw new Error("nothing is placed");
  const standing = standingOf(anchor, {
    forms: new Map([
      [1, first.body],
      [2, now.body],
    ]),
    numbers: fixed("1", "i", "N1", "N2"),
    licenceOrders: [{ sequence: 1, licenseType: "softkey", platformCustomerId: "C", licenseOrderId: "L1" }],
    steps: [],
    ...given.parts,
  });
  const settings = settingsWith({ ...codecs, ...given.settings });
  const options = { settings, ...standardRules, removalsBlocked: undefined, buys: false, ...given.rules };
  const contents = "contents" in given ? given.contents : [both("N1"), both("N2")];
  const own = situation({
    orders: [now],
    known: linked(undefined, { placedOrders: placed(first), numbers: fixed("1", "i", "N1", "N2"), ...given.known }),
    observed: { contents: contents === undefined ? undefined : new Map(contents), ...given.observed },
    ...given.situation,
  });
  const prepared = planInputOf({ ...own, standings: new Map([["crm/1", standing]]) }, settings);
  return planRemovals(prepared, planOrders(prepared, options).endings, options);
}

function both(number: string, fields: Partial<ProductInstance> = {}): [string, AssetReading] {
  return reading(number, [row("p"), row("q", fields)]);
}

/** What goes, as `delete_product L1 softkey N1: q`. */
function orders({ meant }: ReturnType<typeof removals>): string[] {
  return meant.flatMap(({ kind, payload }) =>
    payload.orderList.map(({ orderType, srcLicenseOrderId, licenseType, assets }) => {
      const what = assets.map(({ assetNos, products }) =>
        [assetNos.join("+"), ...(products ?? []).map((item) => item.crmProductId)].join(" "),
      );
      return `${kind}: ${orderType} ${srcLicenseOrderId} ${licenseType}: ${what.join(", ")}`;
    }),
  );
}

function codes({ blocks }: ReturnType<typeof removals>): string[] {
  return [...new Set(blocks.map(([key, { code }]) => `${key} ${code}`))];
}

describe("what may be removed", () => {
  it("has people, seats and lent locks read", () => {
    const first = order("1", { instances: bought });
    const [anchor] = [...placed(first).values()];
    if (anchor === undefined) throw new Error("nothing is placed");
    const parts = {
      forms: new Map([[1, first.body]]),
      numbers: fixed("1", "i", "N1", "N2"),
      licenceOrders: [],
      steps: [],
    };
    const standings = new Map([["crm/1", standingOf(anchor, parts)]]);
    const now = order("1", { instances: bought, cancelled: true }, { version: 2 });
    const known = linked(undefined, { placedOrders: placed(first), numbers: parts.numbers });
    const of = (orders: (typeof now)[]) => ({ ...situation({ orders, known }), standings });
    expect(needs(of([now]))).toMatchObject({ people: true, loans: true, contents: { ends: true } });
    expect(needs(of([first]))).toMatchObject({ people: false, loans: false, contents: undefined });
  });
});

describe("a unit that is too many", () => {
  it("is not the one whose number the CRM names for a person", () => {
    const now = { instances: [asset("i"), ...bought.slice(1)] };
    const bob = staff("bob", { assets: [{ assetNumber: "N2" }] });
    const known = { assignments: [assignment(staff("ann"), "N1"), assignment(bob, "N2")] };
    const goes = (people: ReturnType<typeof staff>[]) => orders(removals({ now, known, situation: { staff: people } }));
    expect(goes([])).toEqual(["delete-assets: delete_asset L1 softkey: N2"]);
    expect(goes([bob])).toEqual(["delete-assets: delete_asset L1 softkey: N1"]);
  });
});

describe("a product that nobody wants any more", () => {
  it("goes from each asset number, of the licence order that granted it, as M7 shows it", () => {
    const stage = removals();
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N1 q, N2 q"]);
    expect(stage.blocks).toEqual([]);
    expect(stage.endingNumbers).toEqual(new Set());
    const [meant] = stage.meant;
    expect(meant?.payload.orderList[0]?.assets[0]?.products).toEqual([
      { crmProductId: "q", productUri: "pid-q", limitConcurrent: 5, strictMatchWhenDelete: true },
    ]);
    expect(meant).toMatchObject({ policy: "orders.ended", weight: { products: 2, nodes: 10, seats: 0 } });
    expect(meant?.after.products).toEqual([
      { assetId: "id-N1", crmProductId: "q", licenseOrderId: "L1" },
      { assetId: "id-N2", crmProductId: "q", licenseOrderId: "L1" },
    ]);
  });

  it("goes with the limits that M7 shows, in the form that E5 takes", () => {
    const was = [
      asset("i", { quantity: 2 }),
      product("p", "i", { nodes: 3 }),
      product("q", "i", { nodes: 5, ...limits }),
    ];
    const times = { limitStartTime: Date.UTC(2026, 0, 1), limitEndTime: Date.UTC(2027, 0, 1) };
    const stage = removals({ was, contents: [both("N1", times), both("N2", times)] });
    expect(stage.meant[0]?.payload.orderList[0]?.assets[0]?.products?.[0]).toMatchObject({
      limitStartDate: 20_260_101,
      limitEndDate: 20_270_101,
    });
    const missing = removals({
      was,
      contents: [both("N1", times), both("N2", times)],
      settings: { timeCodecs: { productLimit: "yyyymmdd" } },
    });
    expect([orders(missing), codes(missing)]).toEqual([[], ["crm/1 assumption.missing"]]);
  });

  it.each<[string, Partial<ProductInstance>]>([
    ["productUri", { productUri: "pid-other" }],
    ["limitConcurrent", { limitConcurrent: 6 }],
    ["limitEndTime", { limitEndTime: Date.UTC(2027, 0, 1) }],
    ["limitStartTime", { limitStartTime: 99 }],
    ["licenseOrderId", { licenseOrderId: "L9" }],
    ["licenseOrderId (none)", { licenseOrderId: null }],
    ["licenseType", { licenseType: "cloud_account" }],
    ["channelOrderId", { channelOrderId: "another" }],
    ["crmProductId", { crmProductId: "q-renamed" }],
  ])("stays where M7 shows it with another %s; what other numbers hold of it goes", (field, fields) => {
    const stage = removals({ contents: [both("N1", fields), both("N2")] });
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N2 q"]);
    expect(codes(stage)).toEqual(["crm/1 order.shown-differently"]);
    expect(stage.blocks[0]?.[1].reason).toContain(field);
  });

  it("stays where M7 shows it twice", () => {
    const twice = reading("N1", [row("p"), row("q"), row("q", { id: "again" })]);
    expect(orders(removals({ contents: [twice, both("N2")] }))).toEqual([
      "delete-products: delete_product L1 softkey: N2 q",
    ]);
  });

  it("that M7 leaves out in one reading is neither followed nor sent, and a person is told", () => {
    const stage = removals({ contents: [reading("N1", [row("p")]), both("N2")] });
    expect([stage.changes, codes(stage)]).toEqual([[], ["crm/1 order.absence-unsure"]]);
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N2 q"]);
  });

  it("that M7 no longer shows is followed in the ledger, and nothing is sent for it", () => {
    const gone = new Map([["crm/1", new Set([JSON.stringify(["i", 0, "q", "1"])])]]);
    const stage = removals({ contents: [reading("N1", [row("p")]), both("N2")], observed: { gone } });
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N2 q"]);
    expect(stage.changes).toEqual([
      expect.objectContaining({
        type: "order-removed",
        origin: "found",
        operationId: null,
        items: [{ instanceId: "i", unit: 0, number: "N1", product: "q", channelOrderId: "1", licenseOrderId: "L1" }],
      }),
    ]);
  });

  it.each<[string, [string, AssetReading][] | undefined, string]>([
    ["its number is shown by nothing", [both("N2")], "order.not-shown"],
    ["M7 shows its asset bare", [reading("N1", []), both("N2")], "order.not-shown"],
    [
      "its asset is lent",
      [reading("N1", [row("p"), row("q")], { asset: shownAsset("N1", { borrowed: true }) }), both("N2")],
      "asset.lent",
    ],
  ])("stays where %s", (_where, contents, code) => {
    const stage = removals({ contents });
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N2 q"]);
    expect(codes(stage)).toEqual([`crm/1 ${code}`]);
    expect(stage.changes).toEqual([]);
  });

  it("stays where nothing was read", () => {
    const stage = removals({ contents: undefined });
    expect([orders(stage), codes(stage)]).toEqual([[], ["crm/1 order.contents-not-read"]]);
  });

  it("stays where a source may want it kept, and where a record waits in quarantine", () => {
    const block = { code: "revokes.blocked", reason: "half a read", again: true };
    expect(codes(removals({ rules: { removalsBlocked: block } }))).toEqual(["crm/1 revokes.blocked"]);
    const waiting = removals({ situation: { quarantinedInScope: 1 } });
    expect([orders(waiting), codes(waiting)]).toEqual([[], ["crm/1 revokes.blocked"]]);
  });

  it("says into which lock and with whom its asset is lent", () => {
    const lent = reading("N1", [row("p"), row("q")], { asset: shownAsset("N1", { borrowed: true, holder: "M-ann" }) });
    const loans = [
      { lock: "9000000001", assetId: "x", lent: true, borrower: "M-bob" },
      { lock: "9000000002", assetId: "y", lent: true, borrower: "M-ann" },
    ];
    const stage = removals({ contents: [lent, both("N2")], observed: { loans } });
    expect(stage.blocks[0]?.[1].reason).toContain("into the lock 9000000002, with the member M-ann");
    expect(stage.blocks[0]?.[1].reason).not.toContain("9000000001");
  });
});

describe("what E8 alone shows", () => {
  const inE8 = (fields: Partial<AssetReading["asset"]>): [string, AssetReading] =>
    reading("N1", [row("p"), row("q")], { asset: shownAsset("N1", { from: "E8", ...fields }) });
  const loan = { lock: "9000000001", assetId: "x", lent: true, borrower: "M-ann" };

  it.each<[string, Partial<AssetReading["asset"]>, Situation["observed"]]>([
    ["its holder has a lock on loan", { holder: "M-ann" }, { loans: [loan] }],
    ["a lock is lent, and it is not shown who holds it", { holder: null }, { loans: [loan] }],
    ["a lock is lent, and it is not shown to whom", { holder: "M-bob" }, { loans: [{ ...loan, borrower: null }] }],
    ["M8 was not read", { holder: "M-ann" }, {}],
  ])("stays where %s: nobody knows whether it is lent", (_where, fields, observed) => {
    const stage = removals({ contents: [inE8(fields), both("N2")], observed });
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N2 q"]);
    expect(codes(stage)).toEqual(["crm/1 asset.lending-unknown"]);
  });

  it("is lent where M8 shows the lock itself so, and goes where it shows that it is not", () => {
    const lock = { ...loan, lock: "N1" };
    const asset = inE8({ borrowed: true });
    expect(codes(removals({ contents: [asset, both("N2")], observed: { loans: [lock] } }))).toEqual([
      "crm/1 asset.lent",
    ]);
    const free = { ...lock, lent: false, borrower: null };
    const stage = removals({ contents: [asset, both("N2")], observed: { loans: [free, loan] } });
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N1 q, N2 q"]);
  });

  it("goes where its holder has nothing on loan", () => {
    const stage = removals({ contents: [inE8({ holder: "M-bob" }), both("N2")], observed: { loans: [loan] } });
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N1 q, N2 q"]);
  });
});

describe("a twin", () => {
  const alike = { productUri: "pid-p", limitConcurrent: 3 };
  const was = [
    asset("i", { quantity: 2 }),
    product("p", "i", { nodes: 3 }),
    product("q", "i", { nodes: 3, gmsPid: "pid-p" }),
  ];

  it("that stays keeps the product that a deletion cannot tell from it", () => {
    const stage = removals({ was, contents: [both("N1", alike), both("N2", alike)] });
    expect([orders(stage), codes(stage)]).toEqual([[], ["crm/1 order.twin-product"]]);
  });

  it("of which nobody knows the licence order keeps it too", () => {
    const strange = row("z", { ...alike, channelOrderId: "another", licenseOrderId: null });
    const stage = removals({ was, contents: [reading("N1", [row("q", alike), strange]), both("N2", alike)] });
    expect(orders(stage)).toEqual([]);
  });

  it("of another licence order, or with other terms, is none", () => {
    const others = [row("p", { licenseOrderId: "L2", channelOrderId: "2" }), row("q", alike)];
    const more = [row("p", { limitEndTime: 4_102_444_800_000 }), row("q", alike)];
    const stage = removals({ was, contents: [reading("N1", others), reading("N2", more)] });
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N1 q, N2 q"]);
  });

  it("that goes as well is named once, and only what is named counts as gone with the answer", () => {
    const now = { instances: [asset("i", { quantity: 2 }), product("r", "i")] };
    const three = [...was, product("r", "i")];
    const rows = (number: string) => reading(number, [row("p"), row("q", alike), row("r", { limitConcurrent: 1 })]);
    const stage = removals({ was: three, now, contents: [rows("N1"), rows("N2")] });
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N1 p, N2 p"]);
    expect(stage.meant[0]?.after.products).toEqual([
      { assetId: "id-N1", crmProductId: "p", licenseOrderId: "L1" },
      { assetId: "id-N2", crmProductId: "p", licenseOrderId: "L1" },
    ]);
    expect(stage.meant[0]?.after.items.map((item) => item.product)).toEqual(["p", "p"]);
    expect(stage.meant[0]).toMatchObject({ weight: { products: 4 }, after: { counted: 4 } });
  });

  it("keeps a unit of which nothing is wanted known until M7 shows nothing of it", () => {
    const strange = row("z", { channelOrderId: "another", licenseOrderId: "L7" });
    const rows = (number: string) => reading(number, [row("p"), row("q", alike), strange]);
    const stage = removals({ was, now: { instances: was, cancelled: true }, contents: [rows("N1"), rows("N2")] });
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N1 p, N2 p"]);
    expect(stage.meant[0]?.after.items.map((item) => item.product)).toEqual(["p", "p"]);
  });

  it("in a package takes the other one into the call that a person approves by itself", () => {
    const packaged = [...was, product("r", "i"), bundle("k", "i"), product("s", "k", { nodes: 3, gmsPid: "pid-p" })];
    const rows = (number: string) =>
      reading(number, [row("p"), row("q", alike), row("r", { limitConcurrent: 1 }), row("s", alike)]);
    const now = { instances: [asset("i", { quantity: 2 }), product("r", "i")] };
    const stage = removals({ was: packaged, now, contents: [rows("N1"), rows("N2")] });
    expect(orders(stage)).toEqual(["delete-package-products: delete_product L1 softkey: N1 p, N2 p"]);
    expect(stage.meant[0]).toMatchObject({ weight: { products: 6 } });
  });

  it("that goes by another policy goes by the one of which a person is asked more", () => {
    const now = { instances: [asset("i", { quantity: 2 }), product("p", "i", { nodes: 9 })] };
    const items = ["N1", "N2"].map((number, unit) => ({
      instanceId: "i",
      unit,
      number,
      products: ["p"],
      packages: [],
    }));
    const step = {
      number: 1,
      order: key("1"),
      customer: customerKey,
      origin: "sent",
      kind: "bought",
      version: 2,
    } as const;
    const licenceOrders = [{ sequence: 1, licenseType: "softkey", platformCustomerId: "C", licenseOrderId: "L2" }];
    const parts = { steps: [{ ...step, channelOrderId: "1-1", items, licenceOrders }] };
    const next = { channelOrderId: "1-1", licenseOrderId: "L2", limitConcurrent: 9 };
    const rows = (number: string) => reading(number, [row("p"), row("q", alike), row("p", next)]);
    const contents = [rows("N1"), rows("N2")];
    for (const [ended, replaced, policy] of [
      ["ask", "apply", "orders.ended"],
      ["apply", "apply-after-approvals", "orders.replaced"],
    ] as const) {
      const own = { ...standardRules.policies.orders, ended, replaced };
      const policies = { ...standardRules.policies, orders: own };
      const stage = removals({ was, now, parts, contents, rules: { policies } });
      expect(orders(stage)).toHaveLength(1);
      expect(stage.meant[0]).toMatchObject({ policy, after: { items: [{ number: "N1" }, { number: "N2" }] } });
      expect(stage.meant[0]?.reason).toMatch(/has .* less.*the old form of|the old form of.*has .* less/u);
    }
  });
});

describe("an old form", () => {
  const now = {
    instances: [asset("i", { quantity: 2 }), product("p", "i", { nodes: 3 }), product("q", "i", { nodes: 9 })],
  };
  const step = {
    number: 1,
    order: key("1"),
    customer: customerKey,
    origin: "sent",
    kind: "bought",
    version: 2,
  } as const;
  const items = ["N1", "N2"].map((number, unit) => ({ instanceId: "i", unit, number, products: ["q"], packages: [] }));
  const licenceOrders = [{ sequence: 1, licenseType: "softkey", platformCustomerId: "C", licenseOrderId: "L2" }];
  const parts = { steps: [{ ...step, channelOrderId: "1-1", items, licenceOrders }] };
  const next = { channelOrderId: "1-1", licenseOrderId: "L2", limitConcurrent: 9 };
  const whole = (number: string, fields: Partial<ProductInstance> = {}) =>
    reading(number, [row("p"), row("q"), row("q", { ...next, ...fields })]);

  it("stays until M7 shows the new one under the number that it was bought with", () => {
    const stage = removals({ now, parts, contents: [both("N1"), whole("N2")] });
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N2 q"]);
    expect(codes(stage)).toEqual(["crm/1 order.overlap"]);
  });

  it("stays where M7 shows the new one otherwise than it was bought", () => {
    const stage = removals({ now, parts, contents: [whole("N1", { limitConcurrent: 4 }), whole("N2")] });
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N2 q"]);
    expect(codes(stage)).toEqual(["crm/1 order.shown-differently"]);
  });

  it("of an asset stays until the one that takes its own place is shown, with what was added to that since", () => {
    const exchanged = {
      instances: [asset("i", { quantity: 2, limitEnd: "2029-01-01T00:00:00Z" }), ...bought.slice(1)],
    };
    const inBoth = (products: string[]) =>
      ["N3", "N4"].map((number, index) => ({ instanceId: "i", unit: index + 2, number, products, packages: [] }));
    const twice = {
      numbers: fixed("1", "i", "N1", "N2", "N3", "N4"),
      steps: [
        { ...step, channelOrderId: "1-1", items: inBoth(["p"]), licenceOrders },
        { ...step, number: 2, channelOrderId: "1-2", items: inBoth(["q"]), licenceOrders },
      ],
    };
    const [p, q] = [
      row("p", { channelOrderId: "1-1", licenseOrderId: "L2" }),
      row("q", { channelOrderId: "1-2", licenseOrderId: "L2" }),
    ];
    const old = [both("N1"), both("N2")];
    const of = (contents: [string, AssetReading][]) => removals({ now: exchanged, parts: twice, contents });
    const first = of([...old, reading("N3", [p, q])]);
    expect(orders(first)).toEqual(["delete-assets: delete_asset L1 softkey: N1"]);
    expect(codes(first)).toEqual(["crm/1 order.overlap"]);
    expect(orders(of([...old, reading("N3", [p, q]), reading("N4", [p])]))).toEqual(orders(first));
    expect(orders(of([...old, reading("N3", [p, q]), reading("N4", [p, q])]))).toEqual([
      "delete-assets: delete_asset L1 softkey: N1, N2",
    ]);
  });

  it("counts as taken away only where the new one has fewer nodes", () => {
    const [meant] = removals({ now, parts, contents: [whole("N1"), whole("N2")] }).meant;
    expect(meant).toMatchObject({ policy: "orders.replaced", weight: { products: 0 }, after: { counted: 0 } });
    const fewer = {
      ...now,
      instances: now.instances.map((item) => ("nodes" in item && item.id === "q" ? { ...item, nodes: 2 } : item)),
    };
    const less = [whole("N1", { limitConcurrent: 2 }), whole("N2", { limitConcurrent: 2 })];
    const [smaller] = removals({ now: fewer, parts, contents: less }).meant;
    expect(smaller).toMatchObject({ weight: { products: 2, nodes: 10 }, after: { counted: 2 } });
  });
});

describe("a whole asset", () => {
  const cancelled = { instances: bought, cancelled: true };
  const ann = staff("ann");

  it("goes where M7 shows nothing in it but what goes, with who holds it", () => {
    const held = reading("N1", [row("p"), row("q")], { asset: shownAsset("N1", { holder: "M-ann" }) });
    const stage = removals({
      now: cancelled,
      contents: [held, both("N2")],
      known: { assignments: [assignment(ann, "N1")] },
      observed: { members: [shownMember("M-ann", { assetNums: ["N1"], online: true })] },
    });
    expect(orders(stage)).toEqual(["delete-assets: delete_asset L1 softkey: N1, N2"]);
    expect(stage.meant[0]).toMatchObject({
      policy: "orders.cancelled",
      after: { held: ["N1"] },
      weight: { products: 4, nodes: 16, seats: 1, lastAsset: 1, online: 1 },
    });
    expect(stage.endingNumbers).toEqual(new Set(["N1", "N2"]));
  });

  it("that stays shows who is online and loses a product of it", () => {
    const one = { instances: bought.filter((item) => !("id" in item && item.id === "q")) };
    const held = reading("N1", [row("p"), row("q")], { asset: shownAsset("N1", { holder: "M-ann" }) });
    const stage = removals({
      now: one,
      contents: [held, both("N2")],
      known: { assignments: [assignment(ann, "N1")] },
      observed: { members: [shownMember("M-ann", { assetNums: ["N1"], online: true })] },
    });
    expect(stage.meant[0]).toMatchObject({ weight: { products: 2, seats: 0, lastAsset: 0, online: 1 } });
  });

  it("stays where something else is in it, and what is the order's own goes", () => {
    const strange = row("z", { channelOrderId: "another", licenseOrderId: "L7" });
    const stage = removals({ now: cancelled, contents: [reading("N1", [row("p"), row("q"), strange]), both("N2")] });
    expect(orders(stage)).toEqual([
      "delete-assets: delete_asset L1 softkey: N2",
      "delete-assets: delete_product L1 softkey: N1 p q",
    ]);
    expect(stage.meant[0]?.after.items.map(({ number, product: id }) => [number, id])).toEqual([
      ["N1", null],
      ["N2", null],
    ]);
  });

  it("stays whole where one of its products is shown otherwise", () => {
    const stage = removals({ now: cancelled, contents: [both("N1", { limitConcurrent: 9 }), both("N2")] });
    expect(orders(stage)).toEqual(["delete-assets: delete_asset L1 softkey: N2"]);
    expect(codes(stage)).toEqual(["crm/1 order.shown-differently"]);
  });

  it("is one of fewer units: the one that nobody holds", () => {
    const fewer = { instances: [asset("i", { quantity: 1 }), ...bought.slice(1)] };
    const stage = removals({ now: fewer, known: { assignments: [assignment(ann, "N2")] } });
    expect(orders(stage)).toEqual(["delete-assets: delete_asset L1 softkey: N1"]);
    expect(stage.endingNumbers).toEqual(new Set(["N1"]));
  });

  it("is to go also while it cannot go yet", () => {
    const block = { code: "revokes.blocked", reason: "half a read", again: true };
    expect(removals({ now: cancelled, rules: { removalsBlocked: block } }).endingNumbers).toEqual(
      new Set(["N1", "N2"]),
    );
    expect(removals({ now: cancelled, contents: [] }).endingNumbers).toEqual(new Set(["N1", "N2"]));
  });

  it("of which the number is not known is found by its products where all units go, and by nothing else", () => {
    const found = removals({ now: cancelled, parts: { numbers: [] }, observed: { allContents: true } });
    expect(orders(found)).toEqual(["delete-assets: delete_asset L1 softkey: N1, N2"]);
    const fewer = { instances: [asset("i", { quantity: 1 }), ...bought.slice(1)] };
    const one = removals({ now: fewer, parts: { numbers: [] }, observed: { allContents: true } });
    expect([orders(one), codes(one)]).toEqual([[], ["crm/1 order.not-shown"]]);
    expect(one.blocks[0]?.[1].reason).toContain("the asset number of unit 2 of the instance i is not known");
  });

  it("of which the number is not known is not guessed where one unit goes whole and another only in part", () => {
    const smaller = { instances: [asset("i", { quantity: 1 }), product("p", "i", { nodes: 3 })] };
    const found = removals({
      now: smaller,
      parts: { numbers: [] },
      known: { numbers: [] },
      contents: [both("N9"), both("N1")],
      observed: { allContents: true },
    });
    // Which of N1 and N9 stays matters: somebody may hold it. By the text of the numbers N9 went whole.
    expect(orders(found).filter((text) => text.includes("delete_asset"))).toEqual([]);
    expect(codes(found)).toEqual(["crm/1 order.not-shown"]);
  });
});

describe("what stands in a package", () => {
  const was = [...bought, bundle("k", "i"), product("s", "k", { nodes: 3 })];
  const packaged = (number: string): [string, AssetReading] =>
    reading(number, [row("p"), row("q"), row("s")], { packages: [] });

  it("goes by a call that a person approves by itself (A42)", () => {
    const stage = removals({ was, now: { instances: bought }, contents: [packaged("N1"), packaged("N2")] });
    expect(orders(stage)).toEqual(["delete-package-products: delete_product L1 softkey: N1 s, N2 s"]);
  });

  it("goes with its asset like everything else", () => {
    const stage = removals({
      was,
      now: { instances: was, cancelled: true },
      contents: [packaged("N1"), packaged("N2")],
    });
    expect(orders(stage)).toEqual(["delete-assets: delete_asset L1 softkey: N1, N2"]);
  });
});

describe("a product of which neither M7 nor the ledger knows the licence order", () => {
  const parts = { licenceOrders: [] };
  const unowned = (number: string) => reading(number, [row("p"), row("q", { licenseOrderId: null })]);

  it("can only go out of all orders of the customer, and it is said what else that takes", () => {
    const other = reading("X1", [row("z", { productUri: "pid-q", limitConcurrent: 5, channelOrderId: "77" })]);
    const stage = removals({ parts, contents: [unowned("N1"), both("N2"), other], observed: { allContents: true } });
    expect(orders(stage)).toEqual([
      "delete-everywhere: delete_product  softkey: N1 q",
      "delete-products: delete_product L1 softkey: N2 q",
    ]);
    expect(stage.meant[0]?.reason).toContain(
      "this would also delete q under N2 (channel order 1), z under X1 (channel order 77)",
    );
  });

  it("stays where that would take along what is wanted, and while something is being bought", () => {
    const wanted = reading("X1", [row("z", { productUri: "pid-q", limitConcurrent: 5, channelOrderId: "1" })]);
    const stage = removals({ parts, contents: [unowned("N1"), both("N2"), wanted], observed: { allContents: true } });
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N2 q"]);
    expect(codes(stage)).toEqual(["crm/1 order.twin-product"]);
    const given = { parts, contents: [unowned("N1"), both("N2")], observed: { allContents: true } };
    const bought = removals({ ...given, rules: { buys: true } });
    expect(codes(bought)).toEqual(["crm/1 order.contents-not-read"]);
  });

  it("is another operation once something else would go along", () => {
    const before = (contents: [string, AssetReading][]) =>
      removals({ parts, contents, observed: { allContents: true } }).meant[0];
    const alone = before([unowned("N1"), both("N2")]);
    const other = reading("X1", [row("z", { productUri: "pid-q", limitConcurrent: 5, channelOrderId: "77" })]);
    const more = before([unowned("N1"), both("N2"), other]);
    expect(more?.payload).toEqual(alone?.payload);
    expect([alone?.before, more?.before]).toEqual([
      { also: ["q under N2 (channel order 1)"] },
      { also: ["q under N2 (channel order 1)", "z under X1 (channel order 77)"] },
    ]);
    expect([alone?.weight?.products, more?.weight?.products]).toEqual([2, 3]);
  });

  it("waits until all assets were read", () => {
    expect(codes(removals({ parts, contents: [unowned("N1"), both("N2")] }))).toEqual([
      "crm/1 order.contents-not-read",
    ]);
  });

  it("never goes so where the licence type has to name its order (A19)", () => {
    const stage = removals({
      parts,
      contents: [unowned("N1"), both("N2")],
      observed: { allContents: true },
      settings: { cloudTypes: ["softkey"] },
    });
    expect(orders(stage)).toEqual(["delete-products: delete_product L1 softkey: N2 q"]);
    expect(codes(stage)).toEqual(["crm/1 order.not-shown"]);
  });
});

it("a delete order holds what the contract lists, and all fields of an order where that is set (A18)", () => {
  const fields = (settings: Case["settings"]) =>
    Object.keys(removals({ settings }).meant[0]?.payload.orderList[0] ?? {}).toSorted();
  const listed = [
    "adminAccount",
    "adminCellNumber",
    "adminEmail",
    "adminName",
    "assets",
    "branchCode",
    "branchName",
    "channelCustomerId",
    "customerName",
    "customerType",
    "enterpriseGlobalId",
    "licenseType",
    "orderType",
    "sequence",
    "srcLicenseOrderId",
  ];
  expect(fields({})).toEqual(listed);
  expect(fields({ deleteShape: "full" })).toEqual(
    [...listed, "address", "crmCustomerId", "customerId", "passwordMobile"].toSorted(),
  );
});
