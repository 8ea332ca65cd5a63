import { expect, test } from "vitest";
import { asset, batch, newBuy } from "./bodies.ts";
import { addStaff, assetIds, createEnterprise, started, type Parsed } from "./caller.ts";

async function ready(options = {}) {
  const caller = await started(options);
  const enterprise = await createEnterprise(caller);
  const buy = (licenseType: string, number: string, changes = {}) =>
    caller.placeOrders(batch(`O-${number}`, [newBuy(enterprise, { licenseType, assets: [asset([number], changes)] })]));
  return { ...caller, caller, enterprise, buy };
}

const operator = { operatorIdentity: "operations" };

test("E6 and E7 answer per lock: done, missing, wrong type", async () => {
  const { order, buy, sandbox } = await ready();
  await buy("normal_recover_usbkey", "A-1");
  await buy("lk_product_usbkey", "A-2");
  await buy("normal_unrecover_usbkey", "A-3");
  const assetNums = ["A-1", "A-2", "A-3", "A-9"];
  const locked = await order("POST", "/asset/lock", { assetNums, ...operator });
  const expected = [
    { assetNum: "A-1", status: 1 },
    { assetNum: "A-2", status: 1 },
    { assetNum: "A-3", status: 4 },
    { assetNum: "A-9", status: 2 },
  ];
  expect(locked).toMatchObject({ status: 200, code: 0, data: expected });
  expect(sandbox.state().lockedAssets).toBe(2);
  expect((await order("POST", "/asset/lock", { assetNums, ...operator })).data).toEqual(expected);
  expect((await order("POST", "/asset/unlock", { assetNums, ...operator })).data).toEqual(expected);
  expect(sandbox.state().lockedAssets).toBe(0);
});

test("a lock that is lent out cannot be disabled (status 3)", async () => {
  const { order, member, buy, caller, enterprise } = await ready();
  await buy("normal_recover_usbkey", "A-1");
  await buy("normal_recover_usbkey", "L-1", { borrowedUsbKey: true });
  const staff = await addStaff(caller, enterprise, "ann");
  await member("POST", `/enterprise/member/${staff}/privileges`, { deleteAssets: [], addAssets: ["A-1"] });
  const ids = await assetIds(caller, enterprise);
  await member("POST", `/enterprise/member/${staff}/borrow`, { borrowedUsbKey: "L-1", assetIDs: [ids["A-1"]] });
  const locked = await order("POST", "/asset/lock", { assetNums: ["A-1", "L-1"], ...operator });
  expect(locked.data.map((row: Parsed) => row.status)).toEqual([3, 3]);
});

test.each([
  ["lock", { assetNums: ["A-1"] }, "operatorIdentity"],
  ["lock", { assetNums: [], ...operator }, "assetNums"],
  ["unlock", operator, "assetNums"],
  ["unlock", { assetNos: ["A-1"], ...operator }, "assetNums"],
])("/asset/%s with %j is 13004", async (path, body, named) => {
  const { order } = await ready();
  const refused = await order("POST", `/asset/${path}`, body);
  expect(refused).toMatchObject({ status: 299, code: "13004", message: expect.stringContaining(named) });
});

test("E8 lists the cloud assets of one enterprise with every field", async () => {
  const { order, member, buy, caller, enterprise } = await ready();
  await buy("normal_recover_usbkey", "A-1");
  await buy("cloud_account", "CA8000000001", {
    assetExtendList: [{ extendCode: "gxxp", extendValue: "1" }],
    limitStartDate: 1_800_000_000_000,
    limitEndDate: 1_900_000_000_000,
    borrowedUsbKey: false,
  });
  const other = await createEnterprise(caller, "C2");
  const staff = await addStaff(caller, enterprise, "ann");
  const free = await order("GET", `/asset/${enterprise.enterpriseGlobalId}/list`);
  expect(free.data).toHaveLength(1);
  expect(free.data[0].assignStatus).toMatchObject({ assignStatus: "unassigned", assignMemberId: "", updateTime: null });
  await member("POST", `/enterprise/member/${staff}/privileges`, { deleteAssets: [], addAssets: ["CA8000000001"] });
  const listed = await order("GET", `/asset/${enterprise.enterpriseGlobalId}/list`);
  expect(listed.data).toEqual([
    {
      id: (await assetIds(caller, enterprise))["CA8000000001"],
      licenseType: "cloud_account",
      assetNum: "CA8000000001",
      grantable: true,
      customerId: enterprise.customerId,
      keyShellNumber: "8000000001",
      keyChipType: 2,
      locked: false,
      freezing: false,
      createTime: expect.any(Number),
      updateTime: expect.any(Number),
      limitStartTime: 1_800_000_000_000,
      limitEndTime: 1_900_000_000_000,
      assignStatus: {
        id: listed.data[0].id,
        assignStatus: "assigned",
        assignMemberId: staff,
        createTime: expect.stringMatching(/^\d{13}$/),
        updateTime: null,
      },
      assetLimits: null,
      assetExtends: [{ extendCode: "gxxp", extendValue: "1" }],
      borrowedUsbKey: false,
    },
  ]);
  expect((await order("GET", `/asset/${other.enterpriseGlobalId}/list`)).data).toEqual([]);
});

test("E8 with an extendCode keeps the assets that carry it", async () => {
  const { order, buy, enterprise } = await ready();
  await buy("cloud_account", "A-1", { assetExtendList: [{ extendCode: "gxxp", extendValue: "1" }] });
  await buy("cloud_personal", "A-2");
  const list = (code: string) => order("GET", `/asset/${enterprise.enterpriseGlobalId}/list?extendCode=${code}`);
  expect((await list("gxxp")).data.map((row: Parsed) => row.assetNum)).toEqual(["A-1"]);
  expect((await list("other")).data).toEqual([]);
  expect((await list("")).data).toHaveLength(2);
  const [first] = (await list("gxxp")).data;
  expect(first).toMatchObject({ limitStartTime: null, limitEndTime: null });
});

test("E8 of an enterprise that is not there is 13004", async () => {
  const { order } = await ready();
  expect((await order("GET", "/asset/6100000000000000099/list")).code).toBe("13004");
});

test("E9 gives distinct strings of ten digits that increase and are burnt", async () => {
  const { order, sandbox } = await ready();
  const first = await order("POST", "/shellnums", { size: 3 });
  const second = await order("POST", "/shellnums", { size: 2 });
  expect(first.data).toEqual(["8000000001", "8000000002", "8000000003"]);
  expect(second.data).toEqual(["8000000004", "8000000005"]);
  expect(sandbox.state().shellNumbers).toBe(5);
});

test("E9 of the second overseas region begins with 6", async () => {
  const { order } = await ready({ settings: { shellRegion: "6" } });
  expect((await order("POST", "/shellnums", { size: 1 })).data).toEqual(["6000000001"]);
});

test.each([{}, { size: 0 }, { size: "3" }, { size: 1001 }, { size: 1.5 }])("E9 with %j is 13004", async (body) => {
  const { order, sandbox } = await ready();
  expect((await order("POST", "/shellnums", body)).code).toBe("13004");
  expect(sandbox.state().shellNumbers).toBe(0);
});
