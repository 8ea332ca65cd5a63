import { describe, expect, test } from "vitest";

import { refusal, success } from "../http/scripted-service.ts";
import type { Asked } from "../support/http-server.ts";
import { nonce, startPlatform } from "./scripted-platform.ts";

const call = { nonce };
const staff = { userName: "ann", password: "p", name: "Ann" };

/** Pages of M5 over rows, as the contract shows them. */
function pages(
  globalIds: readonly string[],
  change: (page: Record<string, unknown>, number: number) => Record<string, unknown> = (page) => page,
) {
  return (seen: Asked) => {
    const number = Number(seen.query["pageNum"]);
    const size = Number(seen.query["pageSize"]);
    const list = globalIds
      .slice((number - 1) * size, number * size)
      .map((globalId) => ({ globalId, userName: `${globalId}ACME`, id: globalId, deleted: false }));
    const page = {
      pageNum: number,
      pageSize: size,
      size: list.length,
      total: globalIds.length,
      pages: Math.ceil(globalIds.length / size),
      list,
    };
    return success(change(page, number));
  };
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => `g${index}`);

describe("every call to the member-center", () => {
  test(
    "carries Authorization, clientToken, userToken and g_nonce, and Content-Type only with a body",
    { tags: "long" },
    async () => {
      const { platform, seen } = await startPlatform((one) => {
        if (one.path.endsWith("/members")) return success({ pageNum: 1, pageSize: 50, total: 0, pages: 0, list: [] });
        if (one.path.endsWith("/merchandiseProducts")) return success({ productInstanceList: [], children: null });
        return success(one.method === "GET" ? [] : one.path.endsWith("/member") ? { succeeded: [], failed: [] } : null);
      });
      const { memberCenter } = platform;
      const special = { enterpriseGlobalId: "special" };
      await memberCenter.addStaff("e1", { userList: [staff] }, call);
      await memberCenter.editStaff("e1", "m1", { userName: "ann", name: "Ann" }, call);
      await memberCenter.resetPassword("e1", "m1", { password: "p" }, call);
      await memberCenter.deleteStaff("e1", "m1", call);
      await memberCenter.listStaff("e1", {});
      await memberCenter.listAssetNumbers("e1", {});
      await memberCenter.listAssetContents("asset-id", special);
      await memberCenter.listBorrowedLocks("e1", {});
      await memberCenter.configureAssets(
        "m1",
        { deleteAssets: [], addAssets: ["8000000001"] },
        { ...call, ...special },
      );
      await memberCenter.borrow(
        "m1",
        { borrowedUsbKey: "9000000001", assetIDs: ["asset-id"] },
        { ...call, ...special },
      );
      expect(seen.map((one) => `${one.method} ${one.path.replace("/base/me/api/v1", "")}`)).toEqual([
        "POST /enterprise/e1/member",
        "PUT /enterprise/e1/member/m1",
        "PUT /enterprise/e1/member/m1/resetPassword",
        "DELETE /enterprise/e1/member/m1",
        "GET /enterprise/e1/members",
        "GET /enterprise/e1/asset/assetNums",
        "GET /enterprise/asset/asset-id/merchandiseProducts",
        "GET /enterprise/e1/asset/borrowUsbKeys",
        "POST /enterprise/member/m1/privileges",
        "POST /enterprise/member/m1/borrow",
      ]);
      for (const one of seen) {
        expect(one.path.startsWith("/base/me/api/v1/")).toBe(true);
        expect(one.headers.authorization).toBe("Bearer client-token");
        expect(one.headers["clienttoken"]).toBe("client-token");
        expect(one.headers["content-type"]).toBe(["POST", "PUT"].includes(one.method) ? "application/json" : undefined);
        expect(one.query["g_nonce"]).toMatch(/^[0-9a-f]{32}$/);
      }
      expect(seen[3]).toMatchObject({ method: "DELETE", body: "" });
      expect(seen.map((one) => one.headers["usertoken"])).toEqual([
        ...Array.from({ length: 6 }, () => "user-token"),
        "special-user-token",
        "user-token",
        "special-user-token",
        "special-user-token",
      ]);
      expect(JSON.parse(seen[8]?.body ?? "")).toEqual({ deleteAssets: [], addAssets: ["8000000001"] });
      expect(JSON.parse(seen[9]?.body ?? "")).toEqual({ borrowedUsbKey: "9000000001", assetIDs: ["asset-id"] });
      expect(seen[4]?.query).toEqual({ g_nonce: expect.any(String), pageNum: "1", pageSize: "50" });
    },
  );

  test("succeeds with data: null where the contract has none", async () => {
    const { platform } = await startPlatform(() => success(null));
    expect(await platform.memberCenter.deleteStaff("e", "m", call)).toMatchObject({ kind: "done", data: null });
  });
});

describe("deleting staff that is not there", () => {
  test("is done already (60002)", async () => {
    const { platform } = await startPlatform(() => refusal("60002"));
    expect(await platform.memberCenter.deleteStaff("e", "m", call)).toMatchObject({ kind: "already", code: "60002" });
  });
});

describe("the staff list (M5)", () => {
  test("is read page by page until it is whole", async () => {
    const { platform, seen } = await startPlatform(pages(ids(120)));
    const list = await platform.memberCenter.listStaff("e1", {});
    expect(list.map((row) => row.globalId)).toEqual(ids(120));
    expect(seen.map((one) => one.query["pageNum"])).toEqual(["1", "2", "3"]);
  });

  test("of exactly full pages needs no further page, and an empty one is empty", async () => {
    const full = await startPlatform(pages(ids(100)));
    expect(await full.platform.memberCenter.listStaff("e1", {})).toHaveLength(100);
    expect(full.seen).toHaveLength(2);
    const empty = await startPlatform(pages([]));
    expect(await empty.platform.memberCenter.listStaff("e1", {})).toEqual([]);
  });

  test("starts at the configured page with the configured size", async () => {
    const { platform, seen } = await startPlatform(
      () => success({ pageNum: 0, pageSize: 10, total: 0, pages: 0, list: [] }),
      {
        staffPage: { base: 0, size: 10 },
      },
    );
    await platform.memberCenter.listStaff("e1", {});
    expect(seen[0]?.query).toMatchObject({ pageNum: "0", pageSize: "10" });
  });

  const broken: Record<string, Parameters<typeof pages>[1]> = {
    "a short last page": (page, number) =>
      number >= 3 ? { ...page, list: (page["list"] as unknown[]).slice(1) } : page,
    "a total that changes while it is read": (page, number) => (number === 2 ? { ...page, total: 121 } : page),
    "the same page twice": (page, number) => (number === 2 ? { ...page, pageNum: 1 } : page),
    "the same staff member twice": (page, number) =>
      number === 2
        ? { ...page, list: [{ globalId: "g0", userName: "x" }, ...(page["list"] as unknown[]).slice(1)] }
        : page,
    "more rows than the total": (page) => ({ ...page, total: 60 }),
    "no rows in the middle": (page, number) => (number === 2 ? { ...page, list: [] } : page),
  };
  for (const [name, change] of Object.entries(broken)) {
    test(`with ${name} is incomplete, never short`, async () => {
      const { platform } = await startPlatform(pages(ids(120), change));
      await expect(platform.memberCenter.listStaff("e1", {})).rejects.toMatchObject({
        endpoint: "M5",
        kind: "incomplete",
      });
    });
  }

  test("whose second page fails is a failure", async () => {
    const { platform } = await startPlatform((seen) =>
      seen.query["pageNum"] === "2" ? refusal("80001") : pages(ids(120))(seen),
    );
    await expect(platform.memberCenter.listStaff("e1", {})).rejects.toMatchObject({
      kind: "code",
      serviceCode: "80001",
    });
  });
});

describe("reads that cannot see", () => {
  test("fail for 60017, for null instead of a list, and for contents with neither list", async () => {
    const hidden = await startPlatform(() => refusal("60017"));
    await expect(hidden.platform.memberCenter.listAssetNumbers("e", {})).rejects.toMatchObject({
      serviceCode: "60017",
    });
    const nothing = await startPlatform(() => success(null));
    await expect(nothing.platform.memberCenter.listBorrowedLocks("e", {})).rejects.toMatchObject({
      kind: "odd-answer",
    });
    const hollow = await startPlatform(() => success({}));
    await expect(
      hollow.platform.memberCenter.listAssetContents("a", { enterpriseGlobalId: "e" }),
    ).rejects.toMatchObject({ kind: "odd-answer" });
  });
});

test("adding some staff only says who was added", async () => {
  const data = {
    succeeded: [{ id: 1, userId: 2, globalId: "g1", userName: "annACME" }],
    failed: [{ userName: "bob", message: "exists" }],
  };
  const { platform } = await startPlatform(() => refusal("60027", "some staff were not added", data));
  const outcome = await platform.memberCenter.addStaff("e", { userList: [staff, { ...staff, userName: "bob" }] }, call);
  expect(outcome).toMatchObject({
    kind: "partial",
    data: { succeeded: [{ id: "1", globalId: "g1" }], failed: [{ userName: "bob" }] },
  });
});

test("the state names circuit and pace of both services", async () => {
  const { platform } = await startPlatform();
  expect(platform.state()).toMatchObject({
    orderService: { circuit: { state: "closed" }, pace: { callsPerSecond: null, pausedMs: 0 } },
    memberCenter: { circuit: { state: "closed" }, callsInFlight: 0 },
  });
});
