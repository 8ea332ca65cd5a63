import { expect, test } from "vitest";
import type { HandEditInput } from "../../src/sandbox/hand-edits.ts";
import { asset, batch, deletion, newBuy, product } from "./bodies.ts";
import {
  addStaff,
  assetIds,
  contentsOf,
  createEnterprise,
  started,
  type Caller,
  type Enterprise,
  type Parsed,
} from "./caller.ts";

/** Two enterprises with the assets A-1 (P1, P2) and A-2 (P1), and B-1; ann holds A-1, bob nothing. */
async function ready() {
  const caller = await started();
  const enterprise = await createEnterprise(caller);
  const other = await createEnterprise(caller, "C2");
  await caller.placeOrders(
    batch("O1", [
      newBuy(enterprise, { assets: [asset(["A-1"], { products: [product("P1"), product("P2")] }), asset(["A-2"])] }),
    ]),
  );
  await caller.placeOrders(batch("O2", [newBuy(other, { assets: [asset(["B-1"])] })]));
  const ann = await addStaff(caller, enterprise, "ann");
  const bob = await addStaff(caller, enterprise, "bob");
  await caller.member("POST", `/enterprise/member/${ann}/privileges`, { deleteAssets: [], addAssets: ["A-1"] });
  const before = caller.sandbox.counts();
  return { ...caller, caller, enterprise, other, ann, bob, before };
}

async function holders(caller: Caller, { enterpriseGlobalId }: Enterprise): Promise<Record<string, string | null>> {
  const shown = await caller.member("GET", `/enterprise/${enterpriseGlobalId}/asset/assetNums`);
  return Object.fromEntries(shown.data.map((row: Parsed) => [row.assetNum, row.cloudAccountGlobalId]));
}

async function members(caller: Caller, { enterpriseGlobalId }: Enterprise): Promise<Parsed[]> {
  return (await caller.member("GET", `/enterprise/${enterpriseGlobalId}/members?pageNum=1&pageSize=50`)).data.list;
}

test("a product that somebody took away is gone from its asset alone, and no call was made", async () => {
  const { sandbox, caller, enterprise, before } = await ready();
  sandbox.hand({ action: "drop-product", assetNum: "A-1", crmProductId: "P1" });
  expect((await contentsOf(caller, enterprise, "A-1")).productInstanceList).toMatchObject([{ crmProductId: "P2" }]);
  expect((await contentsOf(caller, enterprise, "A-2")).productInstanceList).toMatchObject([{ crmProductId: "P1" }]);
  expect(sandbox.counts()).toMatchObject({ writingCalls: before.writingCalls, effects: before.effects });
});

test("a product that somebody changed is shown and matched as it is now", async () => {
  const { sandbox, caller, enterprise, placeOrders } = await ready();
  const fields = { limitConcurrent: 9, limitEndDate: 1_950_000_000_000 };
  sandbox.hand({ action: "change-product", assetNum: "A-1", crmProductId: "P1", fields });
  const [shown, untouched] = (await contentsOf(caller, enterprise, "A-1")).productInstanceList;
  expect(shown).toMatchObject({ crmProductId: "P1", limitConcurrent: 9, limitEndTime: 1_950_000_000_000 });
  expect(untouched).toMatchObject({ crmProductId: "P2", limitConcurrent: 5 });
  const source = { srcLicenseOrderId: shown.licenseOrderId };
  expect(await placeOrders(batch("D1", [deletion(enterprise, source)]))).toMatchObject({ code: "13004" });
});

test("M7 shows a product as somebody says it does, until that ends", async () => {
  const { sandbox, caller, enterprise } = await ready();
  const about = { action: "show-product", assetNum: "A-1", crmProductId: "P2" } as const;
  sandbox.hand({ ...about, fields: { licenseOrderId: "", limitEndTime: null } });
  const shown = async () => (await contentsOf(caller, enterprise, "A-1")).productInstanceList[1];
  expect(await shown()).toMatchObject({ crmProductId: "P2", licenseOrderId: "", limitEndTime: null });
  sandbox.hand({ ...about, fields: {} });
  expect(await shown()).toMatchObject({
    limitEndTime: 1_900_000_000_000,
    licenseOrderId: expect.stringMatching(/^64/),
  });
});

test("a product and an asset that somebody added have licence orders of their own", async () => {
  const { sandbox, caller, enterprise } = await ready();
  const added = sandbox.hand({ action: "add-product", assetNum: "A-2", like: "P1", fields: { crmProductId: "P7" } });
  const [first, second] = (await contentsOf(caller, enterprise, "A-2")).productInstanceList;
  expect(second).toMatchObject({ crmProductId: "P7", channelOrderId: "by-hand", id: added["id"] });
  expect(second.licenseOrderId).toBe(added["licenseOrderId"]);
  expect(second.licenseOrderId).not.toBe(first.licenseOrderId);
  const made = sandbox.hand({ action: "add-asset", like: "A-1", assetNum: "A-3", channelOrderId: "O1-hand" });
  expect((await assetIds(caller, enterprise))["A-3"]).toBe(made["assetId"]);
  expect((await contentsOf(caller, enterprise, "A-3")).productInstanceList).toMatchObject([
    { crmProductId: "P1", channelOrderId: "O1-hand" },
    { crmProductId: "P2", channelOrderId: "O1-hand" },
  ]);
  expect((await holders(caller, enterprise))["A-3"]).toBeNull();
});

test("an asset that somebody took away is gone with what is in it, and its holder has it no more", async () => {
  const { sandbox, caller, enterprise, other } = await ready();
  sandbox.hand({ action: "drop-asset", assetNum: "A-1" });
  expect(await holders(caller, enterprise)).toEqual({ "A-2": null });
  expect(await holders(caller, other)).toEqual({ "B-1": null });
  expect(sandbox.state()).toMatchObject({ assets: 2, products: 2, assignments: 0 });
});

test("a seat that somebody moved is with the other person, or with nobody", async () => {
  const { sandbox, caller, enterprise, ann, bob } = await ready();
  expect((await holders(caller, enterprise))["A-1"]).toBe(ann);
  sandbox.hand({ action: "move-holder", assetNum: "A-1", memberGlobalId: bob });
  expect((await holders(caller, enterprise))["A-1"]).toBe(bob);
  sandbox.hand({ action: "move-holder", assetNum: "A-1", memberGlobalId: null });
  expect((await holders(caller, enterprise))["A-1"]).toBeNull();
});

test("people can be renamed, made and deleted by hand", async () => {
  const { sandbox, caller, enterprise, ann, bob } = await ready();
  sandbox.hand({ action: "rename-person", memberGlobalId: ann, name: "Ann Married", remark: "desk 4" });
  const { enterpriseGlobalId } = enterprise;
  const made = sandbox.hand({ action: "add-person", enterpriseGlobalId, userName: "carl", name: "Carl" });
  sandbox.hand({ action: "delete-person", memberGlobalId: bob });
  const shown = await members(caller, enterprise);
  const names = shown.map((row) => [row.userName, row.name, row.remark]);
  expect(names).toContainEqual(["annE00001", "Ann Married", "desk 4"]);
  expect(names).toContainEqual(["carlE00001", "Carl", null]);
  expect(shown.find((row) => row.name === "Carl").globalId).toBe(made["memberGlobalId"]);
  expect(shown.map((row) => row.globalId)).not.toContain(bob);
  expect(sandbox.state().addedStaff).toBe(1);
});

test("a person in online use is shown so by M5, and their assets by M6", async () => {
  const { sandbox, caller, enterprise, ann, member } = await ready();
  const online = async () => {
    const assets = await member("GET", `/enterprise/${enterprise.enterpriseGlobalId}/asset/assetNums`);
    return {
      people: (await members(caller, enterprise)).filter((row) => row.onlineFlag).map((row) => row.globalId),
      assets: assets.data.filter((row: Parsed) => row.onlineFlag).map((row: Parsed) => row.assetNum),
    };
  };
  expect(await online()).toEqual({ people: [], assets: [] });
  sandbox.hand({ action: "set-online", memberGlobalId: ann, online: true });
  expect(await online()).toEqual({ people: [ann], assets: ["A-1"] });
  sandbox.hand({ action: "set-online", memberGlobalId: ann, online: false });
  expect(await online()).toEqual({ people: [], assets: [] });
});

test("a lock that was lent comes back by hand", async () => {
  const { sandbox, caller, enterprise, ann, placeOrders, member } = await ready();
  await placeOrders(batch("O3", [newBuy(enterprise, { assets: [asset(["L-1"], { borrowedUsbKey: true })] })]));
  sandbox.hand({ action: "lend", lock: "L-1", memberGlobalId: ann, assetNums: ["A-1"] });
  const locks = async () =>
    (await member("GET", `/enterprise/${enterprise.enterpriseGlobalId}/asset/borrowUsbKeys`)).data;
  expect(await locks()).toMatchObject([{ assetNum: "L-1", borrowedFlag: true, cloudAccountGlobalId: ann }]);
  expect(sandbox.state().lentAssets).toBe(1);
  sandbox.hand({ action: "return-loan", lock: "L-1" });
  expect(await locks()).toMatchObject([{ assetNum: "L-1", borrowedFlag: false, cloudAccountGlobalId: null }]);
  expect(sandbox.state().lentAssets).toBe(0);
  expect((await holders(caller, enterprise))["A-1"]).toBe(ann);
});

test("a lock that somebody switched is switched", async () => {
  const { sandbox } = await ready();
  sandbox.hand({ action: "set-locked", assetNum: "A-1", locked: true });
  expect(sandbox.state().lockedAssets).toBe(1);
});

test("an enterprise that somebody made is found by E3, and one under a second number by both", async () => {
  const { sandbox, order, enterprise } = await ready();
  const found = async (number: string, channelCode = "crm") => {
    const query = `channelCode=${channelCode}&channelCustomerId=${number}&defaultCustomer=N`;
    return (await order("GET", `/enterprise/user/query?${query}`)).data.map((row: Parsed) => row.enterpriseGlobalId);
  };
  const made = sandbox.hand({ action: "make-enterprise", channelCustomerId: "C9", customerName: "Ninth" });
  expect(await found("C9")).toEqual([made["enterpriseGlobalId"], made["enterpriseGlobalId"]]);
  const { enterpriseGlobalId } = enterprise;
  sandbox.hand({ action: "copy-customer", enterpriseGlobalId, channelCustomerId: "C1-new" });
  sandbox.hand({ action: "copy-customer", enterpriseGlobalId, channelCustomerId: "C1", channelCode: "shop" });
  expect(await found("C1-new")).toEqual([enterpriseGlobalId, enterpriseGlobalId]);
  expect(await found("C1", "shop")).toEqual([enterpriseGlobalId, enterpriseGlobalId]);
  expect(await found("C1")).toEqual([enterpriseGlobalId, enterpriseGlobalId]);
  expect(sandbox.counts().effects["E2"]).toBe(2);
});

test.each<[string, HandEditInput]>([
  ["asset A-9", { action: "drop-asset", assetNum: "A-9" }],
  ["product P9 in A-1", { action: "drop-product", assetNum: "A-1", crmProductId: "P9" }],
  ["member 12", { action: "delete-person", memberGlobalId: "12" }],
  ["enterprise 12", { action: "copy-customer", enterpriseGlobalId: "12", channelCustomerId: "C1" }],
])("what is not there is named: %s", async (named, edit) => {
  const { sandbox, control } = await ready();
  const before = sandbox.state();
  const refused = await control("POST", "hand", edit);
  expect(refused.status).toBe(404);
  expect(refused.text).toContain(named);
  expect(sandbox.state()).toEqual(before);
});

test("an edit that is none is refused by name", async () => {
  const { control } = await ready();
  const refused = await control("POST", "hand", { action: "drop-asset", assetNumber: "A-1" });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain("assetNum");
  expect((await control("POST", "hand", { action: "drop-asset", assetNum: "A-1" })).data).toEqual({});
});
