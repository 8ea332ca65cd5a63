import { expect, test } from "vitest";
import { createEnterprise, started, type Parsed } from "./caller.ts";

const customer = { crmCustomerId: "C1", customerName: "Customer", branchName: "Branch", address: "Street 1" };
const binding = {
  channelCode: "shop",
  channelCustomerId: "S1",
  customerName: "Customer",
  branchName: "Branch",
  enterpriseName: "Enterprise",
  passwordMobile: "123456789",
};

test("E1 binds one default customer to a new enterprise main account", async () => {
  const { order } = await started();
  const bound = await order("POST", "/enterprise/user/bind", binding);
  expect(bound.status).toBe(200);
  expect(bound.code).toBe(0);
  expect(bound.message).toBe("success");
  expect(bound.data).toEqual({
    customerId: expect.stringMatching(/^62\d{17}$/),
    channelCode: "shop",
    channelCustomerId: "S1",
    enterpriseGlobalId: expect.stringMatching(/^61\d{17}$/),
    enterpriseName: "Enterprise",
    isDefault: true,
  });
  const shown = await order("GET", "/enterprise/user/query?channelCode=shop&channelCustomerId=S1&defaultCustomer=N");
  expect(shown.data).toEqual([bound.data]);
});

test("E2 makes an enterprise with a default and an industry customer, an administrator and a staff member", async () => {
  const { order, member, sandbox } = await started();
  const made = await order("POST", "/enterprise/user/create", customer);
  expect(made.data).toEqual({
    enterpriseGlobalId: expect.any(String),
    defaultType: true,
    members: [
      { memberGlobalId: expect.stringMatching(/^63/), memberIdentity: "administratorE00001" },
      { memberGlobalId: expect.stringMatching(/^63/), memberIdentity: "memberE00001" },
    ],
  });
  expect(sandbox.state()).toMatchObject({ enterprises: 1, customers: 2, staff: 2, addedStaff: 0 });
  const listed = await member("GET", `/enterprise/${made.data.enterpriseGlobalId}/members?pageNum=1&pageSize=10`);
  expect(listed.data.list.map((row: Parsed) => row.globalId)).toEqual(
    made.data.members.map((row: Parsed) => row.memberGlobalId),
  );
});

test("E3 with defaultCustomer=Y hides the industry customer", async () => {
  const { order, ...caller } = await started();
  const enterprise = await createEnterprise({ order, ...caller });
  const query = (letter: string) =>
    order("GET", `/enterprise/user/query?channelCode=crm&channelCustomerId=C1&defaultCustomer=${letter}`);
  expect((await query("N")).data.map((row: Parsed) => row.isDefault)).toEqual([true, false]);
  expect((await query("Y")).data).toEqual([
    {
      customerId: enterprise.customerId,
      channelCode: "crm",
      channelCustomerId: "C1",
      enterpriseGlobalId: enterprise.enterpriseGlobalId,
      enterpriseName: "Customer C1",
      isDefault: true,
    },
  ]);
});

test("E3 shows none for another channel code or number", async () => {
  const { order, ...caller } = await started();
  await createEnterprise({ order, ...caller });
  for (const query of ["channelCode=other&channelCustomerId=C1", "channelCode=crm&channelCustomerId=C2"]) {
    const shown = await order("GET", `/enterprise/user/query?${query}&defaultCustomer=N`);
    expect(shown).toMatchObject({ status: 200, code: 0, data: [] });
  }
});

test("E2 is not idempotent: the same call twice makes two enterprises, and the duplicates show it", async () => {
  const { order, sandbox } = await started();
  await order("POST", "/enterprise/user/create", customer);
  expect(sandbox.duplicates().enterprises).toEqual([]);
  await order("POST", "/enterprise/user/create", customer);
  const shown = await order("GET", "/enterprise/user/query?channelCode=crm&channelCustomerId=C1&defaultCustomer=Y");
  expect(shown.data).toHaveLength(2);
  expect(sandbox.duplicates().enterprises).toEqual([{ channelCode: "crm", channelCustomerId: "C1", count: 2 }]);
});

test("E4 answers without data, and E3 shows nothing of what it wrote", async () => {
  const { order } = await started();
  const made = await order("POST", "/enterprise/user/create", customer);
  const updated = await order("POST", "/enterprise/user/update", { ...customer, customerName: "New name" });
  expect(JSON.parse(updated.text)).toEqual({ code: 0, message: "success" });
  const shown = await order("GET", "/enterprise/user/query?channelCode=crm&channelCustomerId=C1&defaultCustomer=Y");
  expect(shown.data[0]).toMatchObject({
    enterpriseGlobalId: made.data.enterpriseGlobalId,
    enterpriseName: "Customer",
  });
});

test("E4 of a customer that is not there is refused", async () => {
  const { order } = await started();
  const updated = await order("POST", "/enterprise/user/update", customer);
  expect(updated).toMatchObject({ status: 299, code: "13004", cause: "crmCustomerId: no such customer" });
});

test("an address may be left out of E2 and E4", async () => {
  const { order } = await started();
  const { address: _, ...without } = customer;
  expect((await order("POST", "/enterprise/user/create", without)).code).toBe(0);
  expect((await order("POST", "/enterprise/user/update", without)).code).toBe(0);
});

test.each(Object.keys(binding))("E1 without %s is 13004 and names it", async (field) => {
  const { order, sandbox } = await started();
  const missing = await order("POST", "/enterprise/user/bind", { ...binding, [field]: undefined });
  expect(missing).toMatchObject({ status: 299, code: "13004" });
  expect(missing.message).toContain(field);
  const empty = await order("POST", "/enterprise/user/bind", { ...binding, [field]: "" });
  expect(empty.code).toBe("13004");
  expect(sandbox.state().enterprises).toBe(0);
});

test.each(["crmCustomerId", "customerName", "branchName"])("E2 and E4 without %s are 13004", async (field) => {
  const { order } = await started();
  for (const path of ["create", "update"]) {
    const refused = await order("POST", `/enterprise/user/${path}`, { ...customer, [field]: undefined });
    expect(refused).toMatchObject({ code: "13004" });
    expect(refused.message).toContain(field);
  }
});

test.each(["channelCode", "channelCustomerId", "defaultCustomer"])("E3 without %s is 13004", async (field) => {
  const { order } = await started();
  const query = new URLSearchParams({ channelCode: "crm", channelCustomerId: "C1", defaultCustomer: "N" });
  query.delete(field);
  const refused = await order("GET", `/enterprise/user/query?${query.toString()}`);
  expect(refused).toMatchObject({ code: "13004" });
  expect(refused.message).toContain(field);
});

test("E3 takes only Y and N for defaultCustomer", async () => {
  const { order } = await started();
  const refused = await order("GET", "/enterprise/user/query?channelCode=crm&channelCustomerId=C1&defaultCustomer=yes");
  expect(refused.code).toBe("13004");
});
