import { describe, expect, test } from "vitest";

import type { BatchOrderRequest } from "../../src/contract/order-record.ts";
import { matchBySequence } from "../../src/contract/order-service.ts";
import { refusal, success } from "../http/scripted-service.ts";
import { nonce, startPlatform } from "./scripted-platform.ts";

const call = { nonce };
const order: BatchOrderRequest = {
  channelCode: "ch",
  channelOrderId: "10248",
  syncMode: "sync",
  orderList: [
    {
      sequence: 1,
      srcLicenseOrderId: "L0",
      orderType: "delete_asset",
      customerName: "C",
      channelCustomerId: "ALFKI",
      adminName: "A",
      adminAccount: "a",
      adminEmail: "a@example.org",
      adminCellNumber: "1",
      customerType: "company",
      branchCode: "b",
      branchName: "B",
      enterpriseGlobalId: "e1",
      licenseType: "softkey",
      assets: [{ assetNos: ["8000000001"] }],
    },
  ],
};

describe("every call to the order service", () => {
  test("carries Authorization, Content-Type and g_nonce, reads too, and no member-center token", async () => {
    const { platform, seen } = await startPlatform((one) => success(one.method === "GET" ? [] : null));
    const { orderService } = platform;
    const enterprise = { crmCustomerId: "ALFKI", customerName: "C", branchName: "B" };
    const locks = [{ assetNum: "1", licenseType: "normal_recover_usbkey" as const, largeCustomer: false }];
    await orderService.bindEnterprise(
      {
        channelCode: "ch",
        channelCustomerId: "A",
        customerName: "C",
        branchName: "B",
        enterpriseName: "E",
        passwordMobile: "1",
      },
      call,
    );
    await orderService.createEnterprise(enterprise, call);
    await orderService.findCustomers("ch", "A&B=1", "N", {});
    await orderService.updateEnterprise({ ...enterprise, address: "" }, call);
    await orderService.placeOrders(order, call);
    await orderService.lockAssets(locks, "licence desk", call);
    await orderService.unlockAssets(locks, "licence desk", call);
    await orderService.listVirtualAssets("e/1", {});
    await orderService.takeAssetNumbers(3, call);
    expect(seen.map((one) => `${one.method} ${one.path}`)).toEqual([
      "POST /base/order/api/order/v1/enterprise/user/bind",
      "POST /base/order/api/order/v1/enterprise/user/create",
      "GET /base/order/api/order/v1/enterprise/user/query",
      "POST /base/order/api/order/v1/enterprise/user/update",
      "POST /base/order/api/order/v1/licenseOrder/batchOrder",
      "POST /base/order/api/order/v1/asset/lock",
      "POST /base/order/api/order/v1/asset/unlock",
      "GET /base/order/api/order/v1/asset/e%2F1/list",
      "POST /base/order/api/order/v1/shellnums",
    ]);
    for (const one of seen) {
      expect(one.headers.authorization).toBe("Bearer order-token");
      expect(one.headers["content-type"]).toBe("application/json");
      expect(one.headers["clienttoken"]).toBeUndefined();
      expect(one.headers["usertoken"]).toBeUndefined();
      expect(one.query["g_nonce"]).toMatch(/^[0-9a-f]{32}$/);
      if (one.method === "GET") expect(one.body).toBe("");
    }
    expect(seen[2]?.query).toEqual({
      g_nonce: expect.any(String),
      channelCode: "ch",
      channelCustomerId: "A&B=1",
      defaultCustomer: "N",
    });
    expect(JSON.parse(seen[3]?.body ?? "")).toEqual({ ...enterprise, address: "" });
    expect(seen[4]?.query).toEqual({ g_nonce: nonce, appKey: "key&1" });
    expect(JSON.parse(seen[4]?.body ?? "")).toEqual(order);
    expect(JSON.parse(seen[5]?.body ?? "")).toEqual({ assetNums: ["1"], operatorIdentity: "licence desk" });
    expect(seen[7]?.query).toEqual({ g_nonce: expect.any(String) });
    expect(JSON.parse(seen[8]?.body ?? "")).toEqual({ size: 3 });
  });
});

describe("answers of the order service", () => {
  test("E3: an empty list means that there is none, null and no data are told apart from it; 13004 is an error", async () => {
    for (const [data, answer] of [
      [[], []],
      [null, null],
      [undefined, null],
    ]) {
      const { platform } = await startPlatform(() => success(data));
      expect(await platform.orderService.findCustomers("ch", "A", "N", {})).toEqual(answer);
    }
    const { platform } = await startPlatform(() => refusal("13004"));
    await expect(platform.orderService.findCustomers("ch", "A", "N", {})).rejects.toMatchObject({
      serviceCode: "13004",
    });
  });

  test("E3: ids beyond 2^53 keep their digits", async () => {
    const text =
      '{"code":0,"message":"success","data":[{"customerId":9007199254740993,"channelCode":"ch","channelCustomerId":"A",' +
      '"enterpriseGlobalId":9223372036854775807,"enterpriseName":"E","isDefault":true}]}';
    const { platform } = await startPlatform(() => ({ text }));
    const [customer] = (await platform.orderService.findCustomers("ch", "A", "Y", {})) ?? [];
    expect(customer).toMatchObject({ customerId: "9007199254740993", enterpriseGlobalId: "9223372036854775807" });
  });

  test("E2: the members to protect come along; there is no customerId", async () => {
    const data = {
      enterpriseGlobalId: "e1",
      defaultType: true,
      members: [{ memberGlobalId: "m1", memberIdentity: "administrator" }],
    };
    const { platform } = await startPlatform(() => success(data));
    const outcome = await platform.orderService.createEnterprise(
      { crmCustomerId: "A", customerName: "C", branchName: "B" },
      call,
    );
    expect(outcome).toMatchObject({ kind: "done", data });
  });

  test("E4: success has no data", async () => {
    const { platform } = await startPlatform(() => ({ json: { code: 0, message: "success" } }));
    const outcome = await platform.orderService.updateEnterprise(
      { crmCustomerId: "A", customerName: "C", branchName: "B" },
      call,
    );
    expect(outcome).toMatchObject({ kind: "done", data: null });
  });

  test("E5: results come in any order and are matched by sequence", async () => {
    const { platform } = await startPlatform(() => success([{ sequence: 1, licenseOrderId: "L1" }]));
    const outcome = await platform.orderService.placeOrders(order, { ...call, body: JSON.stringify(order) });
    expect(outcome.kind).toBe("done");
    if (outcome.kind === "done") expect(matchBySequence(order, outcome.data).ok).toBe(true);
  });

  test("E6: each lock has its own status inside one success", async () => {
    const { platform } = await startPlatform(() =>
      success([
        { assetNum: "1", status: 1 },
        { assetNum: "2", status: 4 },
      ]),
    );
    const locks = ["1", "2"].map((assetNum) => ({
      assetNum,
      licenseType: "normal_recover_lan_usbkey" as const,
      largeCustomer: false,
    }));
    const outcome = await platform.orderService.lockAssets(locks, "desk", call);
    expect(outcome).toMatchObject({
      kind: "done",
      data: [
        { assetNum: "1", status: 1 },
        { assetNum: "2", status: 4 },
      ],
    });
  });

  test("E6 and E7: re-issuable and large-customer locks only; with any other one among them nothing is sent", async () => {
    const { platform, seen } = await startPlatform(() => success([{ assetNum: "1", status: 1 }]));
    const lock = (assetNum: string, licenseType: "softkey" | "normal_recover_usbkey", largeCustomer = false) => ({
      assetNum,
      licenseType,
      largeCustomer,
    });
    for (const send of ["lockAssets", "unlockAssets"] as const) {
      const mixed = [lock("1", "normal_recover_usbkey"), lock("2", "softkey")];
      const refused = await platform.orderService[send](mixed, "desk", call);
      expect(refused).toMatchObject({
        kind: "not-sent",
        reason: expect.stringContaining("2 is a lock of the type softkey"),
      });
      expect(await platform.orderService[send]([lock("1", "softkey", true)], "desk", call)).toMatchObject({
        kind: "done",
      });
    }
    expect(seen).toHaveLength(2);
  });

  test("E9: fewer, doubled, short or foreign numbers are unknown, not used", async () => {
    const good = ["8000000001", "6000000002"];
    const { platform } = await startPlatform(() => success(good));
    expect(await platform.orderService.takeAssetNumbers(2, call)).toMatchObject({ kind: "done", data: good });
    for (const bad of [
      good.slice(1),
      ["8000000001", "8000000001"],
      ["800000001", "8000000002"],
      ["7000000001", "8000000002"],
      [8000000001, 8000000002],
    ]) {
      const { platform: odd } = await startPlatform(() => success(bad));
      expect(await odd.orderService.takeAssetNumbers(2, call)).toMatchObject({ kind: "unknown" });
    }
  });
});
