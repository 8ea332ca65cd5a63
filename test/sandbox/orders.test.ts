import { expect, test } from "vitest";
import { asset, batch, feature, merchandise, newBuy, product } from "./bodies.ts";
import { assetIds, contentsOf, createEnterprise, started, type Parsed } from "./caller.ts";
import { HeldClock } from "../support/world/start.ts";

async function ready(options = {}) {
  const caller = await started(options);
  return { ...caller, caller, enterprise: await createEnterprise(caller) };
}

test("E5 answers each sequence with its licence order and customer", async () => {
  const { placeOrders, enterprise, sandbox } = await ready();
  const orders = [
    newBuy(enterprise, { sequence: 7 }),
    newBuy(enterprise, {
      sequence: 3,
      customerId: enterprise.industryCustomerId,
      licenseType: "cloud_account",
      assets: [asset(["A-2"])],
    }),
  ];
  const placed = await placeOrders(batch("O1", orders));
  expect(placed).toMatchObject({ status: 200, code: 0 });
  expect(placed.data).toEqual([
    { sequence: 7, licenseOrderId: expect.stringMatching(/^64\d{17}$/), customerId: enterprise.customerId },
    { sequence: 3, licenseOrderId: expect.stringMatching(/^64\d{17}$/), customerId: enterprise.industryCustomerId },
  ]);
  expect(sandbox.state().orders).toEqual({
    O1: { calls: 1, licenseOrders: 2, waiting: 0, failed: 0, assets: 2, products: 2, merchandises: 0 },
  });
});

test("M7 shows every field of a product that was ordered", async () => {
  const { placeOrders, enterprise, caller } = await ready();
  const sold = product("P1", {
    appKey: "app-1",
    trial: 1,
    trialEndDate: 20_301_231,
    limitTimeDuration: 3600,
    passwords: ["licence-pass"],
    productFeatures: [feature({ trialEndDate: "2030-12-31" })],
  });
  const placed = await placeOrders(
    batch("O1", [newBuy(enterprise, { assets: [asset(["A-1"], { products: [sold] })] })]),
  );
  const ids = await assetIds(caller, enterprise);
  const contents = await contentsOf(caller, enterprise, "A-1");
  expect(contents).toEqual({
    productInstanceList: [
      {
        id: expect.stringMatching(/^66/),
        licenseType: "normal_recover_usbkey",
        customerId: enterprise.customerId,
        assetId: ids["A-1"],
        assetInsId: null,
        merchandiseInsId: null,
        assetNum: "A-1",
        productUri: "pid-P1",
        gmsPid: "pid-P1",
        appKey: "app-1",
        productName: "Product P1",
        channelCode: "crm",
        licenseOrderId: placed.data[0].licenseOrderId,
        channelOrderId: "O1",
        limitStartTime: 1_800_000_000_000,
        limitEndTime: 1_900_000_000_000,
        limitAmount: 0,
        limitConcurrent: 5,
        limitTimeDuration: 3600,
        trial: 1,
        trialEndDate: 20_301_231,
        limitType: "feature",
        prodDefExtend: true,
        timeDurationExpression: "1-0-0",
        srcLicenseOrderId: null,
        createTime: expect.any(Number),
        updateTime: null,
        activateFlag: false,
        crmProductId: "P1",
        productExtendInstanceList: [feature({ trialEndDate: "2030-12-31" })],
      },
    ],
    children: [],
  });
  expect(ids["A-1"]).not.toBe("A-1");
});

test("M7 shows packages three levels deep, with null on the lowest level and numbers beyond 2^53 whole", async () => {
  const { placeOrders, enterprise, caller } = await ready();
  const lowest = merchandise("K3", { parentCrmProductId: "K2", parentMerchandiseNum: "num-K2" });
  const middle = merchandise("K2", {
    parentCrmProductId: "K1",
    parentMerchandiseNum: "num-K1",
    children: [lowest],
    licenseOrderProductList: [],
  });
  const root = merchandise("K1", { children: [middle], parentMerchandiseNum: "root" });
  const placed = await placeOrders(
    batch("O1", [newBuy(enterprise, { assets: [asset(["A-1"], { merchandises: [root] })] })]),
  );
  const { children } = await contentsOf(caller, enterprise, "A-1");
  expect(children).toHaveLength(1);
  const [shownRoot] = children;
  expect(shownRoot).toMatchObject({
    id: expect.stringMatching(/^67\d{17}$/),
    merchandiseNum: "num-K1",
    merchandiseName: "Package K1",
    parentId: null,
    parentMerchandiseNum: "root",
    customerId: enterprise.customerId,
    licenseOrderId: placed.data[0].licenseOrderId,
    channelOrderId: "O1",
    channelCode: "crm",
    timeDurationExpression: "1-0-0",
    updateTime: null,
    srcLicenseOrderId: null,
  });
  expect(shownRoot.productInstanceList).toMatchObject([{ crmProductId: "K1-P", merchandiseInsId: shownRoot.id }]);
  const [shownMiddle] = shownRoot.children;
  expect(shownMiddle).toMatchObject({ parentId: shownRoot.id, productInstanceList: null });
  expect(shownMiddle.children).toMatchObject([{ parentId: shownMiddle.id, merchandiseNum: "num-K3", children: null }]);
});

test("product ids are texts under an asset and numbers beyond 2^53 in a package", async () => {
  const { placeOrders, enterprise, caller, member } = await ready();
  await placeOrders(
    batch("O1", [newBuy(enterprise, { assets: [asset(["A-1"], { merchandises: [merchandise("K1")] })] })]),
  );
  const ids = await assetIds(caller, enterprise);
  const { text } = await member("GET", `/enterprise/asset/${ids["A-1"]}/merchandiseProducts`);
  expect(text).toContain('"id":"6600000000000000001"');
  expect(text).toContain('"id":6600000000000000002');
  expect(text).toContain('"merchandiseInsId":6700000000000000001');
});

test("every asset number of an asset record gets its own products", async () => {
  const { placeOrders, enterprise, sandbox } = await ready();
  await placeOrders(batch("O1", [newBuy(enterprise, { assets: [asset(["A-1", "A-2", "A-3"])] })]));
  expect(sandbox.state()).toMatchObject({ assets: 3, products: 3, licenseOrders: 1 });
  expect(sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
});

test("E5 is not idempotent by channelOrderId: the same call twice is two licence orders and twice the products", async () => {
  const { placeOrders, enterprise, sandbox } = await ready();
  const body = batch("O1", [newBuy(enterprise)]);
  const first = await placeOrders(body);
  const second = await placeOrders(body);
  expect(second.data[0].licenseOrderId).not.toBe(first.data[0].licenseOrderId);
  expect(sandbox.state().orders["O1"]).toMatchObject({ calls: 2, licenseOrders: 2, products: 2 });
  expect(sandbox.duplicates()).toMatchObject({
    orders: [{ channelOrderId: "O1", calls: 2 }],
    products: [{ channelOrderId: "O1", assetNum: "A-1", crmProductId: "P1", count: 2 }],
  });
});

test("a later order adds products to an asset number of the same enterprise", async () => {
  const { placeOrders, enterprise, caller, sandbox } = await ready();
  await placeOrders(batch("O1", [newBuy(enterprise)]));
  await placeOrders(batch("O2", [newBuy(enterprise, { assets: [asset(["A-1"], { products: [product("P2")] })] })]));
  const contents = await contentsOf(caller, enterprise, "A-1");
  expect(contents.productInstanceList.map((row: Parsed) => [row.channelOrderId, row.crmProductId])).toEqual([
    ["O1", "P1"],
    ["O2", "P2"],
  ]);
  expect(sandbox.state().assets).toBe(1);
});

test("an asset number of another enterprise, or of another type, is 13004 and nothing of the call stays", async () => {
  const { placeOrders, enterprise, caller, sandbox } = await ready();
  const other = await createEnterprise(caller, "C2");
  await placeOrders(batch("O1", [newBuy(enterprise)]));
  const before = sandbox.state();
  const orders = [newBuy(other, { assets: [asset(["A-9"])] }), newBuy(other, { sequence: 2 })];
  const foreign = await placeOrders(batch("O2", orders));
  expect(foreign).toMatchObject({ code: "13004", message: expect.stringContaining("belongs to another enterprise") });
  const retyped = await placeOrders(batch("O3", [newBuy(enterprise, { licenseType: "softkey" })]));
  expect(retyped).toMatchObject({ code: "13004", message: expect.stringContaining("another licenseType") });
  expect(sandbox.state()).toEqual(before);
});

test("a time is taken in any form and shown in milliseconds; a limit that was not sent shows as 0", async () => {
  const { placeOrders, enterprise, caller } = await ready();
  const forms = [
    ["P1", 20_301_231, 1_924_905_600],
    ["P2", "20301231", "2030-12-31T00:00:00.000Z"],
    ["P3", undefined, null],
    ["P4", 1_924_905_600_000, "1924905600000"],
  ] as const;
  const products = forms.map(([id, limitStartDate, limitEndDate]) => product(id, { limitStartDate, limitEndDate }));
  await placeOrders(batch("O1", [newBuy(enterprise, { assets: [asset(["A-1"], { products })] })]));
  const contents = await contentsOf(caller, enterprise, "A-1");
  const day = 1_924_905_600_000;
  expect(contents.productInstanceList.map((row: Parsed) => [row.limitStartTime, row.limitEndTime])).toEqual([
    [day, day],
    [day, day],
    [0, 0],
    [day, day],
  ]);
});

test("an asynchronous order answers at once and shows later", async () => {
  const clock = new HeldClock();
  const { placeOrders, enterprise, sandbox } = await ready({ clock, settings: { asyncDelayMs: 30 } });
  const placed = await placeOrders(batch("O1", [newBuy(enterprise)], { syncMode: "async" }));
  expect(placed.data).toHaveLength(1);
  expect(sandbox.state()).toMatchObject({ deferred: 1, orders: { O1: { licenseOrders: 1, waiting: 1, products: 0 } } });
  clock.release();
  await expect
    .poll(() => sandbox.state())
    .toMatchObject({ deferred: 0, orders: { O1: { waiting: 0, failed: 0, products: 1 } } });
});

test("an asynchronous order may be answered without its licence orders", async () => {
  const { placeOrders, enterprise, sandbox } = await ready({ settings: { asyncDelayMs: 1, asyncAnswer: "none" } });
  const placed = await placeOrders(batch("O1", [newBuy(enterprise)], { syncMode: "async" }));
  expect(placed).toMatchObject({ code: 0, data: undefined });
  expect((await placeOrders(batch("O2", [newBuy(enterprise)]))).data).toHaveLength(1);
  await expect.poll(() => sandbox.state()).toMatchObject({ deferred: 0, orders: { O1: { waiting: 0, products: 1 } } });
});

test("an asynchronous order that no longer fits when its time comes has failed", async () => {
  const clock = new HeldClock();
  const { placeOrders, enterprise, caller, sandbox } = await ready({ clock, settings: { asyncDelayMs: 50 } });
  const other = await createEnterprise(caller, "C2");
  await placeOrders(batch("O1", [newBuy(enterprise)], { syncMode: "async" }));
  await placeOrders(batch("O2", [newBuy(other)]));
  clock.release();
  await expect.poll(() => sandbox.state()).toMatchObject({ deferred: 0, orders: { O1: { failed: 1, products: 0 } } });
});

test("every accepted body is kept as it came", async () => {
  const { placeOrders, enterprise, control, sandbox } = await ready();
  const text = JSON.stringify(batch("O1", [newBuy(enterprise)]), null, 1);
  await placeOrders(undefined, { text });
  await placeOrders(batch("O1", [newBuy(enterprise, { assets: [] })]));
  expect(sandbox.batches("O1")).toEqual([{ at: expect.any(Number), body: text }]);
  expect((await control("GET", "e5?channelOrderId=O1")).data.bodies.map((row: Parsed) => row.body)).toEqual([text]);
});

test("a transfer names an order that is there", async () => {
  const { placeOrders, enterprise, caller } = await ready();
  const first = await placeOrders(batch("O1", [newBuy(enterprise)]));
  const { licenseOrderId } = first.data[0];
  const moved = (source: string) =>
    newBuy(enterprise, { assets: [asset(["A-2"], { products: [product("P2", { srcLicenseOrderId: source })] })] });
  expect((await placeOrders(batch("O2", [moved("6400000000000000099")]))).code).toBe("13004");
  expect((await placeOrders(batch("O2", [moved(licenseOrderId)]))).code).toBe(0);
  const contents = await contentsOf(caller, enterprise, "A-2");
  expect(contents.productInstanceList[0].srcLicenseOrderId).toBe(licenseOrderId);
});

const requiredOfOrder = [
  "sequence",
  "customerId",
  "crmCustomerId",
  "customerName",
  "channelCustomerId",
  "adminName",
  "adminAccount",
  "adminEmail",
  "adminCellNumber",
  "passwordMobile",
  "address",
  "customerType",
  "branchCode",
  "branchName",
  "enterpriseGlobalId",
  "licenseType",
  "orderType",
  "assets",
];

test.each(requiredOfOrder)("E5 without %s in an order record is 13004 and names it", async (field) => {
  const { placeOrders, enterprise } = await ready();
  const refused = await placeOrders(batch("O1", [newBuy(enterprise, { [field]: undefined })]));
  expect(refused).toMatchObject({ status: 299, code: "13004" });
  expect(refused.message).toContain(field);
});

const requiredOfProduct = [
  "crmProductId",
  "parentCrmProductId",
  "productUri",
  "productName",
  "productType",
  "limitConcurrent",
  "limitTimeDuration",
  "strictMatchWhenDelete",
  "trial",
  "trialEndDate",
  "timeUnit",
  "timeUnitQuantity",
  "timeDurationExpression",
  "productFeatures",
];

test.each(requiredOfProduct)("E5 without %s in a product is 13004, under an asset and in a package", async (field) => {
  const { placeOrders, enterprise } = await ready();
  const broken = product("P1", { [field]: undefined });
  const direct = await placeOrders(
    batch("O1", [newBuy(enterprise, { assets: [asset(["A-1"], { products: [broken] })] })]),
  );
  expect(direct).toMatchObject({ code: "13004", message: expect.stringContaining(`products[0].${field}`) });
  const packaged = merchandise("K1", { licenseOrderProductList: [broken] });
  const deep = await placeOrders(
    batch("O1", [newBuy(enterprise, { assets: [asset(["A-1"], { merchandises: [packaged] })] })]),
  );
  expect(deep).toMatchObject({
    code: "13004",
    message: expect.stringContaining(`licenseOrderProductList[0].${field}`),
  });
});

test.each(Object.keys(feature()))("E5 without %s in a feature is 13004", async (field) => {
  const { placeOrders, enterprise } = await ready();
  const products = [product("P1", { productFeatures: [feature({ [field]: undefined })] })];
  const refused = await placeOrders(batch("O1", [newBuy(enterprise, { assets: [asset(["A-1"], { products })] })]));
  expect(refused).toMatchObject({ code: "13004", message: expect.stringContaining(field) });
});

test.each(Object.keys(merchandise("K1")).filter((field) => field !== "children"))(
  "E5 without %s in a package is 13004",
  async (field) => {
    const { placeOrders, enterprise } = await ready();
    const merchandises = [merchandise("K1", { [field]: undefined })];
    const refused = await placeOrders(
      batch("O1", [newBuy(enterprise, { assets: [asset(["A-1"], { merchandises })] })]),
    );
    expect(refused).toMatchObject({ code: "13004", message: expect.stringContaining(field) });
  },
);

test.each(["channelCode", "channelOrderId", "syncMode", "orderList"])("E5 without %s is 13004", async (field) => {
  const { placeOrders, enterprise } = await ready();
  const refused = await placeOrders(batch("O1", [newBuy(enterprise)], { [field]: undefined }));
  expect(refused).toMatchObject({ code: "13004", message: expect.stringContaining(field) });
});

const wrongOrders: [string, Record<string, unknown>, string][] = [
  ["a field the contract does not name", { assetNums: ["A-1"] }, "assetNums"],
  ["an unknown licenseType", { licenseType: "cloud" }, "licenseType"],
  ["an unknown orderType", { orderType: "renew" }, "orderType"],
  ["an unknown customerType", { customerType: "firm" }, "customerType"],
  ["an enterprise that is not there", { enterpriseGlobalId: "6100000000000000099" }, "enterpriseGlobalId"],
  ["a customer that is not there", { customerId: "6200000000000000099" }, "customerId"],
  ["an identifier of something else", { customerId: "6100000000000000001" }, "customerId"],
  ["the number of another customer", { channelCustomerId: "C2" }, "channelCustomerId"],
  ["a source order that is not there", { srcLicenseOrderId: "6400000000000000099" }, "srcLicenseOrderId"],
  ["no asset", { assets: [] }, "assets"],
  ["an asset without numbers", { assets: [asset([])] }, "assetNos"],
  ["an asset number twice in one record", { assets: [asset(["A-1", "A-1"])] }, "assetNos"],
  ["no products", { assets: [asset(["A-1"], { products: [] })] }, "products"],
  ["packages only", { assets: [asset(["A-1"], { products: [], merchandises: [merchandise("K1")] })] }, "products"],
  [
    "a transferred flag in another spelling",
    { assets: [asset(["A-1"], { transferredAssetNum: true })] },
    "transferredAssetNum",
  ],
  [
    "an Integer beyond 32 bit",
    { assets: [asset(["A-1"], { products: [product("P1", { trialEndDate: 1_800_000_000_000 })] })] },
    "trialEndDate",
  ],
  [
    "a trial flag that is no number",
    { assets: [asset(["A-1"], { products: [product("P1", { trial: true })] })] },
    "trial",
  ],
  [
    "a term that is not y-m-d",
    { assets: [asset(["A-1"], { products: [product("P1", { timeDurationExpression: "1y" })] })] },
    "timeDurationExpression",
  ],
  [
    "a productUri that is neither gmsPid nor appKey",
    { assets: [asset(["A-1"], { products: [product("P1", { productUri: "x" })] })] },
    "productUri",
  ],
  [
    "an empty source order in a product",
    { assets: [asset(["A-1"], { products: [product("P1", { srcLicenseOrderId: "" })] })] },
    "srcLicenseOrderId",
  ],
  [
    "an empty list of children",
    { assets: [asset(["A-1"], { merchandises: [merchandise("K1", { children: [] })] })] },
    "children",
  ],
  [
    "a child of another package",
    {
      assets: [
        asset(["A-1"], {
          merchandises: [
            merchandise("K1", {
              children: [merchandise("K2", { parentCrmProductId: "K9", parentMerchandiseNum: "num-K1" })],
            }),
          ],
        }),
      ],
    },
    "parentCrmProductId",
  ],
  [
    "a child with another parent number",
    {
      assets: [
        asset(["A-1"], {
          merchandises: [
            merchandise("K1", {
              children: [merchandise("K2", { parentCrmProductId: "K1", parentMerchandiseNum: "x" })],
            }),
          ],
        }),
      ],
    },
    "parentMerchandiseNum",
  ],
  [
    "a product of another package",
    { assets: [asset(["A-1"], { merchandises: [merchandise("K1", { licenseOrderProductList: [product("P2")] })] })] },
    "parentCrmProductId",
  ],
  [
    "a package twice",
    { assets: [asset(["A-1"], { merchandises: [merchandise("K1"), merchandise("K1")] })] },
    "crmProductId",
  ],
];

test.each(wrongOrders)("E5 with %s is 13004", async (_, changes, named) => {
  const { placeOrders, enterprise, sandbox } = await ready();
  const refused = await placeOrders(batch("O1", [newBuy(enterprise, changes)]));
  expect(refused).toMatchObject({ status: 299, code: "13004" });
  expect(refused.message).toContain(named);
  expect(sandbox.state()).toMatchObject({ licenseOrders: 0, assets: 0, products: 0 });
});

test("E5 refuses a customer of another enterprise, a sequence named twice and an unknown application", async () => {
  const { placeOrders, enterprise, caller } = await ready();
  const other = await createEnterprise(caller, "C2");
  const foreign = newBuy(enterprise, { customerId: other.customerId });
  expect((await placeOrders(batch("O1", [foreign]))).message).toContain("not a customer of the enterprise");
  const twice = [newBuy(enterprise), newBuy(enterprise, { assets: [asset(["A-2"])] })];
  expect((await placeOrders(batch("O1", twice))).message).toContain("sequence: named twice");
  expect((await placeOrders(batch("O1", []))).message).toContain("orderList");
  const order = batch("O1", [newBuy(enterprise)]);
  expect((await placeOrders(order, { appKey: "stranger" })).message).toContain("appKey");
  expect((await placeOrders(order, { appKey: null })).message).toContain("appKey");
  expect((await placeOrders({ ...order, syncMode: "later" })).message).toContain("syncMode");
});

test("an address may be left out where the sandbox is set so", async () => {
  const { placeOrders, enterprise } = await ready({ settings: { requireAddress: false } });
  expect((await placeOrders(batch("O1", [newBuy(enterprise, { address: undefined })]))).code).toBe(0);
});
