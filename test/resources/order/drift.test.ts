import { describe, expect, it } from "vitest";
import { productInstanceSchema, type ProductInstance } from "../../../src/contract/asset-contents.ts";
import type { StandingProduct, StandingUnit } from "../../../src/resources/order/model.ts";
import { driftName, type Drift } from "../../../src/engine/plan/drift.ts";
import { lostOf, shownAgain, type RepairsGiven } from "../../../src/resources/order/drift.ts";
import type { AssetReading } from "../../../src/platform/snapshot.ts";

const order = { namespace: "crm", id: "1" };
const customer = { namespace: "crm", id: "C1" };
const repairs = { settleMs: 1_000 };
const number = "8000000001";

function product(id: string, more: Partial<StandingProduct> = {}): StandingProduct {
  const made = { id, name: id, type: "x", gmsPid: `PID-${id}`, features: [], trial: false, term: "0-0-0" };
  return {
    // What a product has besides says nothing here.
    product: made as unknown as StandingProduct["product"],
    packageId: undefined,
    channelOrderId: "1",
    licenseOrderId: "L1",
    ...more,
  };
}

function unit(...products: StandingProduct[]): StandingUnit {
  const asset = { id: "A1", licenseType: "cloud_account" } as unknown as StandingUnit["asset"];
  return { instanceId: "A1", unit: 0, number, customer, licenseType: "cloud_account", asset, products, packages: [] };
}

function row(id: string | null, more: Partial<ProductInstance> = {}): ProductInstance {
  const named = {
    id: `row-${id}`,
    crmProductId: id,
    productUri: `PID-${id}`,
    channelOrderId: "1",
    licenseOrderId: "L1",
  };
  return productInstanceSchema.parse({ ...named, ...more });
}

function reading(products: ProductInstance[], more: Partial<AssetReading> = {}): AssetReading {
  const asset = { assetNum: number, assetId: "a1", holder: null, borrowed: false, online: false, from: "M6" as const };
  return { asset, products, packages: [], bare: false, ...more };
}

const missing = (id: string): string =>
  driftName("product", `of order crm/1 ${id} under asset number ${number}`, "missing");

const lastSeen = "2026-10-01T08:00:00.000Z";
const two = { class: "missing", ms: 2_000, lastSeen, before: 0 } as const;

/** P1 is missing for two seconds of readings and was shown once as what the order brought. */
function drift(more: Partial<Drift> = {}): Drift {
  return {
    lasting: new Map([[missing("P1"), two]]),
    bought: new Map([["1", "2026-01-31T08:00:00.000Z"]]),
    assets: new Map([[number, "a1"]]),
    products: new Map([[`${number}/P1`, new Set(["1"])]]),
    members: new Set(),
    ...more,
  };
}

const standing = (units: StandingUnit[], ended = []) => ({
  order,
  customer,
  channelOrderId: "1",
  lastStep: 0,
  amount: undefined,
  units,
  ended,
});

function lost(
  shown: AssetReading | undefined,
  given: Partial<RepairsGiven> = {},
  units = [unit(product("P1"), product("Q1"))],
) {
  const contents = new Map(shown === undefined ? [] : [[number, shown]]);
  const all = { drift: drift(), observed: { contents, assets: undefined }, ...given };
  const { gone, blocks } = lostOf(all, standing(units), { repairs });
  return [...gone.map((item) => item.product), ...blocks.map(({ code }) => code)];
}

describe("what the platform lost of an order", () => {
  const without = reading([row("Q1")]);

  it("is what was shown once under its purchase, is missing for long enough, and is missing now", () => {
    expect(lost(without)).toEqual(["P1"]);
  });

  it.each<[string, AssetReading | undefined, Partial<RepairsGiven>]>([
    ["it is there when it is looked for", reading([row("P1"), row("Q1")]), {}],
    ["it is there under another purchase", reading([row("P1", { channelOrderId: "1-1" }), row("Q1")]), {}],
    ["M7 shows something of the order without an id", reading([row(null), row("Q1")]), {}],
    ["its asset is lent, so that M7 may show less", { ...without, asset: { ...without.asset, borrowed: true } }, {}],
    ["M7 shows nothing at all", reading([], { bare: true }), {}],
    ["its asset was not read", undefined, {}],
    ["verify found nothing", without, { drift: undefined }],
    [
      "its readings were too close together",
      without,
      { drift: drift({ lasting: new Map([[missing("P1"), { ...two, ms: 999 }]]) }) },
    ],
    ["one reading shows it", without, { drift: drift({ lasting: new Map([[missing("P1"), { ...two, ms: 0 }]]) }) }],
    ["it was never shown", without, { drift: drift({ products: new Map() }) }],
    [
      "it was shown as what an earlier purchase brought",
      without,
      { drift: drift({ products: new Map([[`${number}/P1`, new Set(["0"])]]) }) },
    ],
  ])("is nothing where %s", (_why, shown, given) => {
    expect(lost(shown, given)).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    ["its limit is not over", { limitEnd: "2026-12-31T00:00:00.000Z" }, ["P1"]],
    ["its limit is over", { limitEnd: "2026-09-30T00:00:00.000Z" }, []],
    ["its term runs on", { term: "1-0-0" }, ["P1"]],
    ["its term is over since it was bought", { term: "0-8-0" }, []],
    ["it is a trial", { trial: true }, []],
    ["it was transferred", { srcLicenseOrderId: "L0" }, ["order.not-repaired"]],
  ])("is as it should be where %s", (_why, more, expected) => {
    const made = product("P1");
    expect(lost(without, {}, [unit({ ...made, product: { ...made.product, ...more } }, product("Q1"))])).toEqual(
      expected,
    );
  });

  it("is nothing where nobody knows when its term began", () => {
    const made = product("P1");
    const units = [unit({ ...made, product: { ...made.product, term: "1-0-0" } }, product("Q1"))];
    expect(lost(without, { drift: drift({ bought: new Map() }) }, units)).toEqual([]);
  });

  it("is left to people where something like it is shown, or it is of a package", () => {
    expect(lost(reading([row("X1", { productUri: "PID-P1" }), row("Q1")]))).toEqual(["order.not-repaired"]);
    const packaged = [unit(product("P1", { packageId: "K1" }), product("Q1"))];
    expect(lost(without, {}, packaged)).toEqual(["order.not-repaired"]);
  });

  it("is a whole asset where M7 by its id says that it is gone, and all of it was missing", () => {
    const gone = new Set([number]);
    const both = drift({
      lasting: new Map([
        [missing("P1"), two],
        [missing("Q1"), two],
      ]),
      products: new Map(["P1", "Q1"].map((id) => [`${number}/${id}`, new Set(["1"])])),
    });
    expect(lost(undefined, { drift: both, observed: { contents: new Map(), goneAssets: gone, assets: [] } })).toEqual([
      null,
    ]);
    expect(lost(undefined, { observed: { contents: new Map(), goneAssets: gone, assets: [] } })).toEqual([]);
  });
});

describe("what had ended and is shown again", () => {
  const extra = driftName("product", `shown still: P1 under asset number ${number}`, "extra");
  const again = (shown: ProductInstance[], item = product("P1"), units: StandingUnit[] = []) => {
    const contents = new Map([[number, reading(shown)]]);
    const given = { drift: drift({ lasting: new Map([[extra, two]]) }), observed: { contents, assets: undefined } };
    const { products: _products, packages: _packages, ...where } = unit();
    const of = { ...standing(units), ended: [{ unit: where, standing: item, version: 1 }] };
    return shownAgain(given, of, { repairs }).flatMap((change) => change.items.flatMap((one) => one.products));
  };

  it("stands again where it is our own purchase by its licence order", () => {
    expect(again([row("P1")])).toEqual(["P1"]);
  });

  it.each<[string, ProductInstance[], StandingProduct | undefined, StandingUnit[] | undefined]>([
    ["of another licence order", [row("P1", { licenseOrderId: "L9" })], undefined, undefined],
    ["of another channel order number", [row("P1", { channelOrderId: "by-hand" })], undefined, undefined],
    ["of a licence order that nobody knows", [row("P1")], product("P1", { licenseOrderId: undefined }), undefined],
    ["of a package", [row("P1")], product("P1", { packageId: "K1" }), undefined],
    ["where another unit has its place", [row("P1")], undefined, [{ ...unit(product("P1")), number: "8000000002" }]],
  ])("is left alone %s", (_why, shown, item, units) => {
    expect(again(shown, item, units)).toEqual([]);
  });
});
