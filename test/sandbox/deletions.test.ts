import { expect, test } from "vitest";
import { asset, batch, deletedProduct, deletion, merchandise, newBuy, product } from "./bodies.ts";
import { addStaff, assetIds, contentsOf, createEnterprise, started, type Parsed } from "./caller.ts";

/** Two orders: O1 with P1 and P2 in A-1, O2 with P1 in A-1 and P1 in A-2. */
async function ready() {
  const caller = await started();
  const enterprise = await createEnterprise(caller);
  const first = await caller.placeOrders(
    batch("O1", [newBuy(enterprise, { assets: [asset(["A-1"], { products: [product("P1"), product("P2")] })] })]),
  );
  const second = await caller.placeOrders(
    batch("O2", [newBuy(enterprise, { assets: [asset(["A-1"]), asset(["A-2"])] })]),
  );
  const shown = async (number: string) =>
    (await contentsOf(caller, enterprise, number)).productInstanceList.map((row: Parsed) => [
      row.channelOrderId,
      row.crmProductId,
    ]);
  return {
    ...caller,
    caller,
    enterprise,
    shown,
    firstOrder: first.data[0].licenseOrderId,
    secondOrder: second.data[0].licenseOrderId,
  };
}

test("delete_product naming an order removes the product of that order and asset alone", async () => {
  const { placeOrders, enterprise, shown, secondOrder } = await ready();
  const removed = await placeOrders(batch("D1", [deletion(enterprise, { srcLicenseOrderId: secondOrder })]));
  expect(removed).toMatchObject({ code: 0 });
  expect(removed.data).toEqual([
    { sequence: 1, licenseOrderId: expect.stringMatching(/^64/), customerId: enterprise.customerId },
  ]);
  expect(await shown("A-1")).toEqual([
    ["O1", "P1"],
    ["O1", "P2"],
  ]);
  expect(await shown("A-2")).toEqual([["O2", "P1"]]);
});

test.each([undefined, ""])(
  "delete_product with srcLicenseOrderId %j removes the product from all orders",
  async (source) => {
    const { placeOrders, enterprise, shown } = await ready();
    expect((await placeOrders(batch("D1", [deletion(enterprise, { srcLicenseOrderId: source })]))).code).toBe(0);
    expect(await shown("A-1")).toEqual([["O1", "P2"]]);
    expect(await shown("A-2")).toEqual([]);
  },
);

test.each([
  ["limitStartDate", 1_800_000_000_001],
  ["limitEndDate", 1_900_000_000_001],
  ["limitEndDate", null],
  ["limitConcurrent", 6],
])("an exact match with another %s (%j) removes nothing and is 13004; a loose one removes", async (field, value) => {
  const { placeOrders, enterprise, shown, firstOrder } = await ready();
  const attempt = (strict: boolean) => {
    const products = [deletedProduct("P2", { strictMatchWhenDelete: strict, [field]: value })];
    const assets = [{ assetNos: ["A-1"], products }];
    return placeOrders(batch("D1", [deletion(enterprise, { srcLicenseOrderId: firstOrder, assets })]));
  };
  expect(await attempt(true)).toMatchObject({ code: "13004", message: expect.stringContaining("no such product") });
  expect(await shown("A-1")).toContainEqual(["O1", "P2"]);
  expect((await attempt(false)).code).toBe(0);
  expect(await shown("A-1")).not.toContainEqual(["O1", "P2"]);
});

test("without strictMatchWhenDelete a product goes by its mnemonic", async () => {
  const { placeOrders, enterprise, shown, firstOrder } = await ready();
  const products = [{ crmProductId: "another", productUri: "pid-P2" }];
  const assets = [{ assetNos: ["A-1"], products }];
  expect((await placeOrders(batch("D1", [deletion(enterprise, { srcLicenseOrderId: firstOrder, assets })]))).code).toBe(
    0,
  );
  expect(await shown("A-1")).not.toContainEqual(["O1", "P2"]);
});

test("the limits of an exact match may be written in another form of the same time", async () => {
  const { placeOrders, enterprise, shown, firstOrder } = await ready();
  const products = [deletedProduct("P2", { limitStartDate: "1800000000000", limitEndDate: 1_900_000_000 })];
  const assets = [{ assetNos: ["A-1"], products }];
  expect((await placeOrders(batch("D1", [deletion(enterprise, { srcLicenseOrderId: firstOrder, assets })]))).code).toBe(
    0,
  );
  expect(await shown("A-1")).not.toContainEqual(["O1", "P2"]);
});

test("an exact match compares product, limits and nodes, not the instance: a twin goes too", async () => {
  const { placeOrders, enterprise, shown } = await ready();
  const twin = { productUri: "pid-T", gmsPid: "pid-T" };
  const products = [product("T1", twin), product("T2", twin), product("T3", { ...twin, limitConcurrent: 6 })];
  const bought = await placeOrders(
    batch("O3", [
      newBuy(enterprise, { assets: [asset(["A-3"], { products })] }),
      newBuy(enterprise, { sequence: 2, assets: [asset(["A-3"], { products: [product("T4", twin)] })] }),
    ]),
  );
  const [first, second] = bought.data;
  const remove = (crmProductIds: string[], srcLicenseOrderId: string) => {
    const named = crmProductIds.map((id) => deletedProduct(id, { productUri: "pid-T" }));
    return placeOrders(
      batch("D1", [deletion(enterprise, { srcLicenseOrderId, assets: [{ assetNos: ["A-3"], products: named }] })]),
    );
  };
  expect(await remove(["T1", "T2"], first.licenseOrderId)).toMatchObject({ code: "13004" });
  expect((await shown("A-3")).map(([, id]: string[]) => id)).toEqual(["T1", "T2", "T3", "T4"]);
  expect((await remove(["T1"], first.licenseOrderId)).code).toBe(0);
  expect((await shown("A-3")).map(([, id]: string[]) => id)).toEqual(["T3", "T4"]);
  expect((await remove(["T1"], second.licenseOrderId)).code).toBe(0);
  expect((await shown("A-3")).map(([, id]: string[]) => id)).toEqual(["T3"]);
});

test(
  "delete_asset without an order removes the asset with everything in it and frees its holder",
  { tags: "long" },
  async () => {
    const { placeOrders, member, enterprise, caller, sandbox } = await ready();
    const staff = await addStaff(caller, enterprise, "ann");
    await member("POST", `/enterprise/member/${staff}/privileges`, { deleteAssets: [], addAssets: ["A-1"] });
    const assets = [{ assetNos: ["A-1"] }];
    expect((await placeOrders(batch("D1", [deletion(enterprise, { orderType: "delete_asset", assets })]))).code).toBe(
      0,
    );
    expect(Object.keys(await assetIds(caller, enterprise))).toEqual(["A-2"]);
    expect(sandbox.state()).toMatchObject({ assets: 1, products: 1, assignments: 0 });
  },
);

test("delete_asset naming an order keeps the asset while another order has products in it", async () => {
  const { placeOrders, enterprise, caller, shown, firstOrder, secondOrder } = await ready();
  const remove = (source: string) =>
    placeOrders(
      batch("D1", [
        deletion(enterprise, { orderType: "delete_asset", assets: [{ assetNos: ["A-1"] }], srcLicenseOrderId: source }),
      ]),
    );
  expect((await remove(firstOrder)).code).toBe(0);
  expect(await shown("A-1")).toEqual([["O2", "P1"]]);
  expect((await remove(firstOrder)).message).toContain("the order has nothing in this asset");
  expect((await remove(secondOrder)).code).toBe(0);
  expect(Object.keys(await assetIds(caller, enterprise))).toEqual(["A-2"]);
});

test("a removed asset number can be ordered again and has another id", async () => {
  const { placeOrders, enterprise, caller } = await ready();
  const before = (await assetIds(caller, enterprise))["A-2"];
  await placeOrders(
    batch("D1", [deletion(enterprise, { orderType: "delete_asset", assets: [{ assetNos: ["A-2"] }] })]),
  );
  await placeOrders(batch("O3", [newBuy(enterprise, { assets: [asset(["A-2"])] })]));
  const after = (await assetIds(caller, enterprise))["A-2"];
  expect(after).toBeDefined();
  expect(after).not.toBe(before);
});

test("a package goes with its last product, and the package above it too", async () => {
  const { placeOrders, enterprise, caller, sandbox } = await ready();
  const child = merchandise("K2", { parentCrmProductId: "K1", parentMerchandiseNum: "num-K1" });
  const merchandises = [merchandise("K1", { children: [child], licenseOrderProductList: [] })];
  await placeOrders(batch("O3", [newBuy(enterprise, { assets: [asset(["A-3"], { merchandises })] })]));
  expect(sandbox.state().merchandises).toBe(2);
  const assets = [{ assetNos: ["A-3"], products: [deletedProduct("K2-P")] }];
  expect((await placeOrders(batch("D1", [deletion(enterprise, { assets })]))).code).toBe(0);
  expect((await contentsOf(caller, enterprise, "A-3")).children).toEqual([]);
});

test.each(["delete_asset", "delete_product"])("a %s of a cloud type must name its order", async (orderType) => {
  const { placeOrders, enterprise, caller } = await ready();
  const cloud = { licenseType: "cloud_account", assets: [asset(["A-3"])] };
  const placed = await placeOrders(batch("O3", [newBuy(enterprise, cloud)]));
  const assets = [
    { assetNos: ["A-3"], ...(orderType === "delete_product" ? { products: [deletedProduct("P1")] } : {}) },
  ];
  const remove = (source: string) =>
    placeOrders(
      batch("D1", [
        deletion(enterprise, { licenseType: "cloud_account", orderType, assets, srcLicenseOrderId: source }),
      ]),
    );
  expect((await remove("")).message).toContain("srcLicenseOrderId: required");
  expect((await remove(placed.data[0].licenseOrderId)).code).toBe(0);
  const left = orderType === "delete_asset" ? undefined : expect.any(String);
  expect((await assetIds(caller, enterprise))["A-3"]).toEqual(left);
});

test("a deletion takes the full shape of an order as well as the listed one", async () => {
  const { placeOrders, enterprise, firstOrder } = await ready();
  const full = newBuy(enterprise, {
    orderType: "delete_product",
    srcLicenseOrderId: firstOrder,
    assets: [asset(["A-1"], { merchandises: [] })],
  });
  expect((await placeOrders(batch("D1", [full]))).code).toBe(0);
});

test("a deletion that fails in its second part leaves the first undone", async () => {
  const { placeOrders, enterprise, sandbox } = await ready();
  const before = sandbox.state();
  const products = [deletedProduct("P2"), deletedProduct("P9")];
  const failed = await placeOrders(batch("D1", [deletion(enterprise, { assets: [{ assetNos: ["A-1"], products }] })]));
  expect(failed).toMatchObject({ code: "13004", message: expect.stringContaining("products[1]") });
  expect(sandbox.state()).toEqual(before);
});

test.each([
  ["an asset number that is not there", { assets: [{ assetNos: ["A-9"], products: [deletedProduct("P1")] }] }, "A-9"],
  ["no products", { assets: [{ assetNos: ["A-1"], products: [] }] }, "products"],
  [
    "products without a productUri",
    { assets: [{ assetNos: ["A-1"], products: [{ crmProductId: "P1" }] }] },
    "productUri",
  ],
  ["another customer's number", { channelCustomerId: "C9" }, "channelCustomerId"],
  ["an order that is not there", { srcLicenseOrderId: "6400000000000000099" }, "srcLicenseOrderId"],
])("a deletion with %s is 13004", async (_, changes, named) => {
  const { placeOrders, enterprise } = await ready();
  const refused = await placeOrders(batch("D1", [deletion(enterprise, changes)]));
  expect(refused).toMatchObject({ code: "13004" });
  expect(refused.message).toContain(named);
});

test("an asset of another enterprise cannot be deleted", async () => {
  const { placeOrders, caller, sandbox } = await ready();
  const other = await createEnterprise(caller, "C2");
  const assets = [{ assetNos: ["A-1"] }];
  const refused = await placeOrders(batch("D1", [deletion(other, { orderType: "delete_asset", assets })]));
  expect(refused).toMatchObject({ code: "13004", message: expect.stringContaining("A-1") });
  expect(sandbox.state().assets).toBe(2);
});

/** O1 with the products P1 and P2, which have the same productUri, limits and nodes, in A-1. */
async function withTwins(settings: object) {
  const caller = await started({ settings });
  const enterprise = await createEnterprise(caller);
  const twin = { productUri: "pid-twin", gmsPid: "pid-twin" };
  const products = [product("P1", twin), product("P2", twin)];
  const placed = await caller.placeOrders(
    batch("O1", [newBuy(enterprise, { assets: [asset(["A-1"], { products })] })]),
  );
  const remove = async (...ids: string[]): Promise<Parsed> => {
    const named = ids.map((id) => deletedProduct(id, { productUri: "pid-twin" }));
    const source = {
      srcLicenseOrderId: placed.data[0].licenseOrderId,
      assets: [{ assetNos: ["A-1"], products: named }],
    };
    return await caller.placeOrders(batch(`D-${ids.join("-")}`, [deletion(enterprise, source)]));
  };
  const left = async () =>
    (await contentsOf(caller, enterprise, "A-1")).productInstanceList.map((row: Parsed) => row.crmProductId);
  return { remove, left, sandbox: caller.sandbox };
}

test("an exact match takes a twin too, and twins that are named twice are refused", async () => {
  const { remove, left } = await withTwins({});
  expect(await remove("P1", "P2")).toMatchObject({ code: "13004", message: expect.stringContaining("products[1]") });
  expect(await left()).toEqual(["P1", "P2"]);
  expect((await remove("P1")).code).toBe(0);
  expect(await left()).toEqual([]);
});

test("where an exact match is of the instance, a twin stays", async () => {
  const { remove, left } = await withTwins({ strictMatch: "instance" });
  expect((await remove("P1")).code).toBe(0);
  expect(await left()).toEqual(["P2"]);
});

test("what was deleted is told apart from what was bought", async () => {
  const { remove, sandbox } = await withTwins({});
  await remove("P1");
  expect(sandbox.state()).toMatchObject({
    orders: { O1: { calls: 1, assets: 1, products: 0 } },
    deletions: { "D-P1": { calls: 1, licenseOrders: 1, waiting: 0, failed: 0, assets: 0, products: 2 } },
  });
  expect(Object.keys(sandbox.state().orders)).toEqual(["O1"]);
  expect(sandbox.duplicates().orders).toEqual([]);
});
