import { expect, test } from "vitest";
import { batch, newBuy } from "./bodies.ts";
import { addStaff, createEnterprise, started, type Parsed } from "./caller.ts";

async function ready(options = {}) {
  const caller = await started(options);
  const enterprise = await createEnterprise(caller);
  const base = `/enterprise/${enterprise.enterpriseGlobalId}`;
  const add = (userList: unknown) => caller.member("POST", `${base}/member`, { userList });
  const list = (query = "pageNum=1&pageSize=50") => caller.member("GET", `${base}/members?${query}`);
  return { ...caller, caller, enterprise, base, add, list };
}

const ann = { userName: "ann", password: "secret-pass", name: "Ann" };

test("M1 appends the enterprise code, and its numbers are the texts of M5", async () => {
  const { add, list } = await ready();
  const added = await add([{ ...ann, departmentId: 12, remark: "note", passwordMobile: "123456789" }]);
  expect(added).toMatchObject({ status: 200, code: 0, message: "success" });
  expect(added.data.failed).toEqual([]);
  const [record] = added.data.succeeded;
  expect(record).toEqual({
    id: expect.stringMatching(/^68\d{17}$/),
    userId: expect.stringMatching(/^69/),
    globalId: expect.stringMatching(/^63/),
    enterpriseId: expect.stringMatching(/^61/),
    departmentId: 12,
    departmentName: null,
    userName: "annE00001",
    name: "Ann",
    remark: "note",
    deleted: false,
    updateTime: expect.any(Number),
    createTime: expect.any(Number),
  });
  expect(added.text).toContain(`"id":${record.id},`);
  const listed = await list();
  expect(listed.text).toContain(`"id":"${record.id}"`);
  expect(listed.data.list.at(-1)).toEqual({
    id: record.id,
    userId: record.userId,
    globalId: record.globalId,
    enterpriseId: record.enterpriseId,
    departmentId: 12,
    departmentName: null,
    userName: "annE00001",
    passwordMobile: "123456789",
    name: "Ann",
    assetNums: [],
    borrowNum: "",
    onlineFlag: false,
    remark: "note",
    deleted: false,
    updateTime: expect.any(Number),
    createTime: expect.any(Number),
    boundUserInfo: null,
  });
});

test("a userName that is taken fails alone: 60027 with both lists", async () => {
  const { add, sandbox } = await ready();
  await add([ann]);
  const partial = await add([ann, { ...ann, userName: "ben" }, { ...ann, userName: "ben" }]);
  expect(partial).toMatchObject({ status: 299, code: "60027", cause: "2 of 3 were not added" });
  expect(partial.data.succeeded.map((row: Parsed) => row.userName)).toEqual(["benE00001"]);
  expect(partial.data.failed).toEqual([
    { userName: "ann", message: "account exists already" },
    { userName: "ben", message: "account exists already" },
  ]);
  expect(sandbox.state().addedStaff).toBe(2);
});

test("the same userName is free in another enterprise", async () => {
  const { add, caller } = await ready();
  await add([ann]);
  const other = await createEnterprise(caller, "C2");
  expect(await addStaff(caller, other, "ann")).toMatch(/^63/);
});

test("a departmentId beyond 2^53 keeps its digits", async () => {
  const { member, base, list } = await ready();
  const text =
    '{"userList":[{"userName":"ann","password":"secret-pass","name":"Ann","departmentId":9007199254740993}]}';
  const added = await member("POST", `${base}/member`, undefined, { text });
  expect(added.text).toContain('"departmentId":9007199254740993');
  expect((await list("pageNum=1&pageSize=5&departmentId=9007199254740993")).data.total).toBe(1);
});

const long = (length: number) => "a".repeat(length);
const wrongEntries: [string, Record<string, unknown>, string][] = [
  ["an empty account", { userName: "" }, "40008"],
  ["no account", { userName: undefined }, "40008"],
  ["an account with a dot", { userName: "a.b" }, "10003"],
  ["an account that is too long with the code", { userName: long(57) }, "30002"],
  ["no password", { password: undefined }, "40001"],
  ["a short password", { password: "short" }, "50003"],
  ["a long password", { password: long(33) }, "50003"],
  ["no name", { name: "" }, "40022"],
  ["a name of 31", { name: long(31) }, "30002"],
  ["a remark of 201", { remark: long(201) }, "30003"],
  ["a mobile that is none", { passwordMobile: "call me" }, "10004"],
  ["a department that is no number", { departmentId: "sales" }, "40000"],
  ["a department whose digits are text", { departmentId: "12" }, "40000"],
  ["a department that is no Long", { departmentId: 1.5 }, "40000"],
  ["a field that the contract does not name", { mobile: "123456789" }, "40000"],
];

test.each(wrongEntries)("M1 with %s is refused whole", async (_, changes, code) => {
  const { add, sandbox } = await ready();
  const refused = await add([
    { ...ann, userName: "ben" },
    { ...ann, ...changes },
  ]);
  expect(refused).toMatchObject({ status: 299, code, cause: expect.any(String) });
  expect(refused.data).toBeUndefined();
  expect(sandbox.state().addedStaff).toBe(0);
});

test("M1 takes lengths at the limit", async () => {
  const { add } = await ready();
  const entry = { userName: long(56), password: long(32), name: "𠮷".repeat(30), remark: long(200) };
  expect((await add([entry])).code).toBe(0);
});

test("M1 takes 100 entries and refuses none, 101 and what is no list", async () => {
  const { add, member, base } = await ready();
  const entries = (count: number) => Array.from({ length: count }, (_, index) => ({ ...ann, userName: `u${index}` }));
  expect(await add([])).toMatchObject({ code: "40021" });
  expect(await add(entries(101))).toMatchObject({ code: "60013" });
  expect(await add("ann")).toMatchObject({ code: "40000" });
  expect(await member("POST", `${base}/member`, {})).toMatchObject({ code: "40000" });
  expect(await member("POST", `${base}/member`, undefined, { text: "{" })).toMatchObject({ code: "40000" });
  expect((await add(entries(100))).data.succeeded).toHaveLength(100);
});

test("the bounds of the password stand in the message, or its placeholders where the sandbox is set so", async () => {
  const filled = await ready();
  expect((await filled.add([{ ...ann, password: "x" }])).message).toBe("password length must be between 8 and 32");
  const unfilled = await ready({ settings: { fillPlaceholders: false } });
  expect((await unfilled.add([{ ...ann, password: "x" }])).message).toBe("password length must be between {0} and {1}");
});

test("M1 is limited by the trial cap, the department that is asked for and the enterprise that is there", async () => {
  const capped = await ready({ settings: { trialMemberCap: 3 } });
  expect((await capped.add([ann])).code).toBe(0);
  const over = await capped.add([{ ...ann, userName: "ben" }]);
  expect(over).toMatchObject({
    code: "60009",
    message: "the enterprise account allows at most 3 trial member accounts",
  });
  const strict = await ready({ settings: { requireDepartment: true } });
  expect((await strict.add([ann])).code).toBe("40009");
  const missing = await strict.member("POST", "/enterprise/6100000000000000099/member", { userList: [ann] });
  expect(missing.code).toBe("40006");
});

test("M2 replaces name, department, note and mobile, and takes the userName in both forms", async () => {
  const { member, base, caller, enterprise, list } = await ready();
  const id = await addStaff(caller, enterprise, "ann");
  const edit = (body: unknown) => member("PUT", `${base}/member/${id}`, body);
  const edited = await edit({
    userName: "ann",
    name: "Anna",
    remark: "new",
    departmentId: 7,
    passwordMobile: "987654321",
  });
  expect(JSON.parse(edited.text)).toEqual({ code: 0, message: "success", data: null });
  const row = async () => (await list()).data.list.find((each: Parsed) => each.globalId === id);
  const shown = { name: "Anna", remark: "new", departmentId: 7, passwordMobile: "987654321", userName: "annE00001" };
  expect(await row()).toMatchObject(shown);
  for (const wrong of [{ departmentId: "7" }, { departmentId: 1.5 }, { password: "secret-pass" }])
    expect((await edit({ userName: "ann", name: "Anna", ...wrong })).code, JSON.stringify(wrong)).toBe("40000");
  expect((await edit({ userName: "annE00001", name: "Anna" })).code).toBe(0);
  expect(await row()).toMatchObject({ name: "Anna", remark: null, departmentId: null, passwordMobile: "" });
});

test.each(["cleared", "kept"] as const)(
  "what M2 leaves out is %s where the settings say so",
  async (fieldsLeftOutInM2) => {
    const caller = await started({ settings: { fieldsLeftOutInM2 } });
    const enterprise = await createEnterprise(caller);
    const base = `/enterprise/${enterprise.enterpriseGlobalId}`;
    const given = { name: "Ann", departmentId: 7, remark: "desk 4", passwordMobile: "123456789" };
    const added = await caller.member("POST", `${base}/member`, {
      userList: [{ userName: "ann", password: "secret-pass", ...given }],
    });
    const path = `${base}/member/${added.data.succeeded[0].globalId}`;
    expect((await caller.member("PUT", path, { userName: "ann", name: "Ann Married" })).code).toBe(0);
    const { list } = (await caller.member("GET", `${base}/members?pageNum=1&pageSize=50`)).data;
    const cleared = { departmentId: null, remark: null, passwordMobile: "" };
    expect(list.at(-1)).toMatchObject({ ...(fieldsLeftOutInM2 === "kept" ? given : cleared), name: "Ann Married" });
  },
);

test.each([
  [{ name: "Ann" }, "40000"],
  [{ userName: "ann" }, "40000"],
  [{ userName: "ann", name: long(31) }, "30002"],
  [{ userName: "ann", name: "Ann", remark: long(201) }, "30003"],
  [{ userName: "someone", name: "Ann" }, "60002"],
])("M2 with %j is %s", async (body, code) => {
  const { member, base, caller, enterprise } = await ready();
  const id = await addStaff(caller, enterprise, "ann");
  expect((await member("PUT", `${base}/member/${id}`, body)).code).toBe(code);
});

test("M3 sets a password within the bounds", async () => {
  const { member, base, caller, enterprise } = await ready();
  const id = await addStaff(caller, enterprise, "ann");
  const set = (body: unknown) => member("PUT", `${base}/member/${id}/resetPassword`, body);
  expect(await set({ password: "another-pass" })).toMatchObject({ code: 0, data: null });
  expect((await set({})).code).toBe("40001");
  expect((await set({ password: "x" })).code).toBe("50003");
  expect((await set(undefined)).code).toBe("40000");
});

test("M4 deletes once, without a Content-Type; the name is free again and the assets too", async () => {
  const { member, base, caller, enterprise, list, sandbox } = await ready();
  const id = await addStaff(caller, enterprise, "ann");
  await caller.placeOrders(batch("O1", [newBuy(enterprise)]));
  await member("POST", `/enterprise/member/${id}/privileges`, { deleteAssets: [], addAssets: ["A-1"] });
  expect(sandbox.state().assignments).toBe(1);
  expect(await member("DELETE", `${base}/member/${id}`)).toMatchObject({ status: 200, code: 0, data: null });
  expect(sandbox.state().assignments).toBe(0);
  expect(await member("DELETE", `${base}/member/${id}`)).toMatchObject({ status: 299, code: "60002" });
  expect((await list()).data.list.map((row: Parsed) => row.userName)).not.toContain("annE00001");
  expect(await addStaff(caller, enterprise, "ann")).not.toBe(id);
});

test("deleted staff stay in the list where the sandbox is set so", async () => {
  const { member, base, caller, enterprise, list } = await ready({ settings: { showDeletedStaff: true } });
  const id = await addStaff(caller, enterprise, "ann");
  await member("DELETE", `${base}/member/${id}`);
  expect((await list()).data.list.at(-1)).toMatchObject({ globalId: id, deleted: true });
});

test("staff of another enterprise, or none, are 60002 for M2, M3 and M4", async () => {
  const { member, caller, base } = await ready();
  const other = await createEnterprise(caller, "C2");
  for (const path of [`${base}/member/${other.member}`, `${base}/member/nobody`]) {
    expect((await member("PUT", path, { userName: "member", name: "x" })).code).toBe("60002");
    expect((await member("PUT", `${path}/resetPassword`, { password: "secret-pass" })).code).toBe("60002");
    expect((await member("DELETE", path)).code).toBe("60002");
  }
});

test("M5 pages through all staff, each once", async () => {
  const { add, list } = await ready();
  await add(Array.from({ length: 23 }, (_, index) => ({ ...ann, userName: `u${index}` })));
  const pages = await Promise.all([1, 2, 3, 4].map((page) => list(`pageNum=${page}&pageSize=10`)));
  const [first, second, third, fourth] = pages.map((page) => page.data);
  expect(first).toMatchObject({
    pageNum: 1,
    pageSize: 10,
    size: 10,
    orderBy: null,
    startRow: 1,
    endRow: 10,
    total: 25,
    pages: 3,
    firstPage: 1,
    prePage: 0,
    nextPage: 2,
    lastPage: 3,
    isFirstPage: true,
    isLastPage: false,
    hasPreviousPage: false,
    hasNextPage: true,
    navigatePages: 8,
    navigatepageNums: [1, 2, 3],
  });
  expect(second).toMatchObject({ startRow: 11, endRow: 20, prePage: 1, nextPage: 3, isFirstPage: false });
  expect(third).toMatchObject({ size: 5, startRow: 21, endRow: 25, nextPage: 0, isLastPage: true, hasNextPage: false });
  expect(fourth).toMatchObject({ size: 0, total: 25, list: [] });
  const many = (await list("pageNum=5&pageSize=1")).data;
  expect(many).toMatchObject({ pages: 25, firstPage: 1, lastPage: 25, navigatepageNums: [1, 2, 3, 4, 5, 6, 7, 8] });
  const ids = [first, second, third].flatMap((page) => page.list.map((row: Parsed) => row.globalId));
  expect(new Set(ids).size).toBe(25);
});

test("M5 finds by keyword in name and account, and by department", async () => {
  const { add, list } = await ready();
  await add([ann, { ...ann, userName: "ben", name: "Ben", departmentId: 5 }]);
  const names = async (query: string) =>
    (await list(`pageNum=1&pageSize=10&${query}`)).data.list.map((row: Parsed) => row.name);
  expect(await names("keyword=Ann")).toEqual(["Ann"]);
  expect(await names("keyword=benE00001")).toEqual(["Ben"]);
  expect(await names("departmentId=5")).toEqual(["Ben"]);
  expect(await names("keyword=nobody")).toEqual([]);
  expect(await names("keyword=&departmentId=")).toHaveLength(4);
});

test("M5 cuts a page that is too large and says so", async () => {
  const { list } = await ready({ settings: { maxPageSize: 1 } });
  expect((await list("pageNum=1&pageSize=50")).data).toMatchObject({ pageSize: 1, size: 1, total: 2, pages: 2 });
});

test.each(["", "pageNum=1", "pageSize=10", "pageNum=0&pageSize=10", "pageNum=1&pageSize=x"])(
  "M5 with ?%s is 40000",
  async (query) => {
    const { list } = await ready();
    expect((await list(query)).code).toBe("40000");
  },
);

test("M5 of an enterprise that is not there is 80001", async () => {
  const { member } = await ready();
  expect((await member("GET", "/enterprise/6100000000000000099/members?pageNum=1&pageSize=10")).code).toBe("80001");
});
