import { expect, test } from "vitest";
import { asset, batch, newBuy, product } from "./bodies.ts";
import { addStaff, assetIds, createEnterprise, started, type Parsed } from "./caller.ts";

/**
 * An enterprise with the assets and the borrowed locks L-1, L-2, and two staff; another enterprise with B-1.
 */
async function ready() {
  const caller = await started();
  const enterprise = await createEnterprise(caller);
  const other = await createEnterprise(caller, "C2");
  const locks = asset(["L-1", "L-2"], { borrowedUsbKey: true });
  await caller.placeOrders(batch("O1", [newBuy(enterprise, { assets: [asset(["A-1", "A-2"]), locks] })]));
  await caller.placeOrders(batch("O2", [newBuy(other, { assets: [asset(["B-1"])] })]));
  const ids = await assetIds(caller, enterprise);
  const ann = await addStaff(caller, enterprise, "ann");
  const ben = await addStaff(caller, enterprise, "ben");
  const base = `/enterprise/${enterprise.enterpriseGlobalId}`;
  const configure = (who: string, deleteAssets: unknown, addAssets: unknown) =>
    caller.member("POST", `/enterprise/member/${who}/privileges`, { deleteAssets, addAssets });
  const borrow = (who: string, borrowedUsbKey: unknown, assetIDs: unknown) =>
    caller.member("POST", `/enterprise/member/${who}/borrow`, { borrowedUsbKey, assetIDs });
  const holders = async () => {
    const shown = await caller.member("GET", `${base}/asset/assetNums`);
    return Object.fromEntries(shown.data.map((row: Parsed) => [row.assetNum, row.cloudAccountGlobalId]));
  };
  const idOf = (number: string) => ids[number] ?? "";
  return { ...caller, caller, enterprise, other, ann, ben, base, configure, borrow, holders, idOf };
}

const missing = "6300000000000000099";

test("M6 shows every asset number of the enterprise with its id, and who holds it", async () => {
  const { member, base, ann, configure, idOf } = await ready();
  expect(await configure(ann, [], ["A-1"])).toMatchObject({ status: 200, code: 0, data: null });
  const row = (assetNum: string, cloudAccountGlobalId: string | null) => ({
    assetNum,
    assetId: idOf(assetNum),
    cloudAccountGlobalId,
    borrowedFlag: false,
    onlineFlag: false,
  });
  expect((await member("GET", `${base}/asset/assetNums`)).data).toEqual([
    row("A-1", ann),
    row("A-2", null),
    row("L-1", null),
    row("L-2", null),
  ]);
});

test("M9 revokes first and then assigns, and M5 shows the numbers held", async () => {
  const { member, base, ann, configure, holders } = await ready();
  await configure(ann, [], ["A-1"]);
  expect((await configure(ann, ["A-1"], ["A-2"])).code).toBe(0);
  expect(await holders()).toMatchObject({ "A-1": null, "A-2": ann });
  const listed = await member("GET", `${base}/members?pageNum=1&pageSize=10&keyword=ann`);
  expect(listed.data.list[0].assetNums).toEqual(["A-2"]);
  expect((await configure(ann, [], [])).code).toBe(0);
});

test("M9 with one number wrong changes nothing", async () => {
  const { ann, configure, holders } = await ready();
  await configure(ann, [], ["A-1"]);
  expect((await configure(ann, ["A-1"], ["A-2", "A-9"])).code).toBe("60024");
  expect(await holders()).toMatchObject({ "A-1": ann, "A-2": null });
});

test("M9 names what is wrong by its codes", async () => {
  const { member, ann, ben, configure } = await ready();
  await configure(ben, [], ["A-2"]);
  await configure(ann, [], ["A-1"]);
  expect((await configure(missing, [], ["A-1"])).code).toBe("60026");
  expect((await configure(ann, [], ["A-9"])).code).toBe("60024");
  expect((await configure(ann, ["A-2"], [])).code).toBe("60024");
  expect((await configure(ann, [], ["B-1"])).code).toBe("60025");
  expect((await configure(ann, ["B-1"], [])).code).toBe("60025");
  expect((await configure(ann, [], ["A-1"])).code).toBe("60028");
  expect((await configure(ann, [], ["A-2"])).code).toBe("60028");
  expect((await configure(ann, ["A-1"], ["A-1"])).code).toBe("60028");
  expect((await configure(ann, [], ["L-1", "L-1"])).code).toBe("60028");
  expect((await configure(ann, undefined, ["A-1"])).code).toBe("60024");
  expect((await configure(ann, [], undefined)).code).toBe("60024");
  expect((await member("POST", `/enterprise/member/${ann}/privileges`)).code).toBe("60024");
});

test("M6, M7 and M8 of something that is not there are 60017 and 60024", async () => {
  const { member } = await ready();
  for (const path of ["asset/assetNums", "asset/borrowUsbKeys"]) {
    const refused = await member("GET", `/enterprise/6100000000000000099/${path}`);
    expect(refused).toMatchObject({ status: 299, code: "60017" });
  }
  expect((await member("GET", "/enterprise/asset/6500000000000000099/merchandiseProducts")).code).toBe("60024");
  expect((await member("GET", "/enterprise/asset/A-1/merchandiseProducts")).code).toBe("60024");
});

test("M10 lends assets into a lock: M8 shows lock and borrower, M6 the assets lent, M5 the lock", async () => {
  const { member, base, ann, configure, borrow, idOf } = await ready();
  await configure(ann, [], ["A-1", "A-2"]);
  expect(await borrow(ann, "L-1", [idOf("A-1")])).toMatchObject({ status: 200, code: 0, data: null });
  expect((await member("GET", `${base}/asset/borrowUsbKeys`)).data).toEqual([
    { assetId: idOf("L-1"), assetNum: "L-1", borrowedFlag: true, cloudAccountGlobalId: ann },
    { assetId: idOf("L-2"), assetNum: "L-2", borrowedFlag: false, cloudAccountGlobalId: null },
  ]);
  const shown = await member("GET", `${base}/asset/assetNums`);
  expect(shown.data.map((row: Parsed) => [row.assetNum, row.borrowedFlag])).toEqual([
    ["A-1", true],
    ["A-2", false],
    ["L-1", true],
    ["L-2", false],
  ]);
  const listed = await member("GET", `${base}/members?pageNum=1&pageSize=10&keyword=ann`);
  expect(listed.data.list[0].borrowNum).toBe("L-1");
  expect((await borrow(ann, "L-1", [idOf("A-2")])).code).toBe(0);
});

test("M10 names what is wrong by its codes, and lends nothing then", async () => {
  const { placeOrders, order, ann, ben, caller, enterprise, configure, borrow, idOf, sandbox } = await ready();
  const empty = asset(["N-1"], { products: [product("P9", { limitConcurrent: 0 })] });
  await placeOrders(batch("O3", [newBuy(enterprise, { assets: [empty] })]));
  const withoutNodes = (await assetIds(caller, enterprise))["N-1"];
  await configure(ann, [], ["A-1", "A-2", "N-1"]);
  await configure(ben, [], ["L-2"]);
  expect((await borrow(ann, "", [idOf("A-1")])).code).toBe("40000");
  expect((await borrow(ann, "L-1", [])).code).toBe("40000");
  expect((await borrow(ann, "L-1", undefined)).code).toBe("40000");
  expect((await borrow(missing, "L-1", [idOf("A-1")])).code).toBe("60026");
  expect((await borrow(ann, "A-2", [idOf("A-1")])).code).toBe("33008");
  expect((await borrow(ann, "L-9", [idOf("A-1")])).code).toBe("33008");
  expect((await borrow(ann, "L-1", [idOf("L-2")])).code).toBe("33003");
  expect((await borrow(ann, "L-1", ["A-1"])).code).toBe("33003");
  expect((await borrow(ann, "L-1", [idOf("A-1"), withoutNodes])).code).toBe("33006");
  expect(sandbox.state().lentAssets).toBe(0);
  expect((await borrow(ann, "L-1", [idOf("A-1")])).code).toBe(0);
  expect((await borrow(ann, "L-2", [idOf("A-1")])).code).toBe("33007");
  expect((await borrow(ben, "L-1", [idOf("L-2")])).code).toBe("33018");
  await order("POST", "/asset/lock", { assetNums: ["L-2"], operatorIdentity: "operations" });
  expect((await borrow(ann, "L-2", [idOf("A-2")])).code).toBe("33008");
});
