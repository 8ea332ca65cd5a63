import { describe, expect, test } from "vitest";

import type { JsonObject } from "../../src/base/canonical-json.ts";
import { assetDigitsProblem, checkStaffTexts } from "../../src/contract/limits.ts";
import { addStaffRequestSchema, configureAssetsRequestSchema, wireLong } from "../../src/contract/member-center.ts";
import {
  type BatchOrderRequest,
  type MerchandiseRecord,
  batchOrderRequestSchema,
  deletedProductSchema,
  merchandiseRecordSchema,
  productRecordSchema,
} from "../../src/contract/order-record.ts";
import { otherLocks, matchBySequence } from "../../src/contract/order-service.ts";
import { assumptionSettingsSchema } from "../../src/contract/assumption-settings.ts";
import { wireText } from "../../src/contract/answer-json.ts";
import { sentProduct } from "../support/world/records.ts";

const product = sentProduct("p1", "a1");

const identity = {
  customerName: "C",
  channelCustomerId: "ALFKI",
  adminName: "A",
  adminAccount: "a",
  adminEmail: "a@example.org",
  adminCellNumber: "1",
  customerType: "company" as const,
  branchCode: "b",
  branchName: "B",
  enterpriseGlobalId: "e1",
  licenseType: "softkey" as const,
};

function purchase(sequence: number): BatchOrderRequest["orderList"][number] {
  return {
    ...identity,
    sequence,
    customerId: "c1",
    crmCustomerId: "ALFKI",
    passwordMobile: "1",
    address: "x",
    orderType: "new_buy",
    assets: [{ assetNos: ["8000000001"], products: [product] }],
  };
}

const removal = {
  ...identity,
  sequence: 1,
  srcLicenseOrderId: "L1",
  orderType: "delete_asset" as const,
  assets: [{ assetNos: ["8000000001"] }],
};

function batch(...orderList: BatchOrderRequest["orderList"]): BatchOrderRequest {
  return { channelCode: "ch", channelOrderId: "10248", syncMode: "sync", orderList };
}

describe("an order", () => {
  test("is JSON as it stands", () => {
    const body: JsonObject = batch(purchase(1));
    expect(batchOrderRequestSchema.parse(body)).toEqual(body);
  });

  test("of a purchase has products", () => {
    expect(
      batchOrderRequestSchema.safeParse(batch({ ...purchase(1), assets: [{ assetNos: ["8"], products: [] }] } as never))
        .success,
    ).toBe(false);
  });

  test("that takes something away names the order it takes it from, never an empty one", () => {
    expect(batchOrderRequestSchema.safeParse(batch(removal)).success).toBe(true);
    const { srcLicenseOrderId: _, ...without } = removal;
    expect(batchOrderRequestSchema.safeParse(batch(without as never)).success).toBe(false);
    expect(batchOrderRequestSchema.safeParse(batch({ ...removal, srcLicenseOrderId: "" })).success).toBe(false);
  });

  test("numbers its records once each", () => {
    expect(batchOrderRequestSchema.safeParse(batch(purchase(1), purchase(1))).success).toBe(false);
  });

  test("holds products whose uri is gmsPid or appKey", () => {
    expect(productRecordSchema.safeParse({ ...product, productUri: "other" }).success).toBe(false);
    expect(productRecordSchema.safeParse({ ...product, productUri: "key", appKey: "key" }).success).toBe(true);
  });

  test("holds a product's trial end only if 32 bits can", () => {
    expect(productRecordSchema.safeParse({ ...product, trialEndDate: 1_790_000_000_000 }).success).toBe(false);
    expect(productRecordSchema.safeParse({ ...product, trialEndDate: 20_261_231 }).success).toBe(true);
    expect(productRecordSchema.safeParse({ ...product, trialEndDate: "abc" }).success).toBe(false);
  });

  test("never asks for a deletion by mnemonic: strictMatchWhenDelete is true wherever it stands", () => {
    expect(productRecordSchema.safeParse({ ...product, strictMatchWhenDelete: false }).success).toBe(false);
    const deleted = { crmProductId: "P", productUri: "u", limitConcurrent: 1, strictMatchWhenDelete: true };
    expect(deletedProductSchema.safeParse(deleted).success).toBe(true);
    expect(deletedProductSchema.safeParse({ ...deleted, strictMatchWhenDelete: false }).success).toBe(false);
  });

  test("has sentinels of the type of their field", () => {
    const accepted = (sentinels: object) => assumptionSettingsSchema.safeParse({ sentinels }).success;
    expect(accepted({ productUsage: 0, productTrialEnd: -1, featureTrialEnd: "9999-12-31" })).toBe(true);
    expect(accepted({ productUsage: null, productTrialEnd: null, featureTrialEnd: null })).toBe(true);
    expect(accepted({ featureTrialEnd: "" })).toBe(true);
    for (const wrong of [
      { productUsage: "0" },
      { productTrialEnd: "abc" },
      { productTrialEnd: 2 ** 31 },
      { featureTrialEnd: "abc" },
    ])
      expect(accepted(wrong), JSON.stringify(wrong)).toBe(false);
  });

  test("has null, not [], below its lowest packages", () => {
    const leaf: MerchandiseRecord = {
      crmProductId: "k1",
      parentCrmProductId: "a1",
      merchandiseNum: "N1",
      merchandiseName: "Suite",
      parentMerchandiseNum: "0",
      timeDurationExpression: "1-0-0",
      children: null,
      licenseOrderProductList: [product],
    };
    expect(merchandiseRecordSchema.safeParse({ ...leaf, children: [leaf] }).success).toBe(true);
    expect(merchandiseRecordSchema.safeParse({ ...leaf, children: [] }).success).toBe(false);
  });
});

describe("the results of an order", () => {
  test("are matched by sequence, not by position", () => {
    const matched = matchBySequence(batch(purchase(1), purchase(2)), [
      { sequence: 2, licenseOrderId: "L2", customerId: "c1" },
      { sequence: 1, licenseOrderId: "L1", customerId: "c1" },
    ]);
    expect(matched.ok && [1, 2].map((sequence) => matched.value.get(sequence)?.licenseOrderId)).toEqual(["L1", "L2"]);
  });

  test("must hold each sequence once and no other, for the customer that was meant", () => {
    const result = matchBySequence(batch(purchase(1), purchase(2)), [
      { sequence: 1, licenseOrderId: "L1", customerId: "c2" },
      { sequence: 1, licenseOrderId: "L1", customerId: "c1" },
      { sequence: 9, licenseOrderId: "L9", customerId: "c1" },
    ]);
    expect(result.ok ? [] : result.error).toEqual([
      "sequence 1 came back for another customer",
      "sequence 1 came back more than once",
      "sequence 9 came back and was not sent",
      "sequence 2 did not come back",
    ]);
    expect(matchBySequence(batch(purchase(1)), [{ sequence: 1, licenseOrderId: null, customerId: "c1" }]).ok).toBe(
      false,
    );
  });

  test("of a removal may carry no customer", () => {
    expect(matchBySequence(batch(removal), [{ sequence: 1, licenseOrderId: null, customerId: null }]).ok).toBe(true);
    const named = batch({ ...removal, customerId: "c1" });
    expect(matchBySequence(named, [{ sequence: 1, licenseOrderId: "L", customerId: null }]).ok).toBe(true);
    expect(matchBySequence(named, [{ sequence: 1, licenseOrderId: "L", customerId: "c2" }]).ok).toBe(false);
  });

  test("of locks are compared as sets", () => {
    const came = (...numbers: string[]) => numbers.map((assetNum) => ({ assetNum, status: 1 as const }));
    expect(otherLocks(["a", "b"], came("b", "a"))).toEqual([]);
    expect(otherLocks(["a", "b"], came("a", "a", "c"))).toEqual(["b", "c", "a"]);
  });
});

describe("asset digits", () => {
  test("are as many as asked for, distinct, of ten digits and of a known region", () => {
    expect(assetDigitsProblem(["8000000001", "6000000001"], 2)).toBeUndefined();
    expect(assetDigitsProblem(["8000000001"], 2)).toContain("1 came back");
    expect(assetDigitsProblem(["8000000001", "8000000001"], 2)).toContain("twice");
    expect(assetDigitsProblem(["800000001"], 1)).toContain("10 digits");
    expect(assetDigitsProblem(["7000000001"], 1)).toContain("starts with 7");
  });
});

describe("staff", () => {
  const staff = { userName: "ann1", password: "secret", name: "Ann" };

  test("go at most a hundred at a time", () => {
    expect(addStaffRequestSchema.safeParse({ userList: Array.from({ length: 100 }, () => staff) }).success).toBe(true);
    expect(addStaffRequestSchema.safeParse({ userList: Array.from({ length: 101 }, () => staff) }).success).toBe(false);
    expect(addStaffRequestSchema.safeParse({ userList: [] }).success).toBe(false);
  });

  test("have names that fit with the enterprise code, to the last character", () => {
    const options = { enterpriseCodeLength: 20, lengthUnit: "characters" as const };
    const problems = (userName: string, name: string, remark?: string) =>
      checkStaffTexts({ userName, name, remark }, options).map((problem) => problem.field);
    expect(problems("a".repeat(42), "n".repeat(30), "r".repeat(200))).toEqual([]);
    expect(problems("a".repeat(43), "n".repeat(31), "r".repeat(201))).toEqual(["userName", "name", "remark"]);
    expect(problems("ann-1", "")).toEqual(["userName", "name"]);
    expect(problems("änn", "Ä")).toEqual(["userName"]);
  });

  test("have lengths in characters or, where configured, in bytes", () => {
    const name = "张".repeat(11);
    expect(checkStaffTexts({ userName: "a", name }, { enterpriseCodeLength: 0, lengthUnit: "characters" })).toEqual([]);
    expect(checkStaffTexts({ userName: "a", name }, { enterpriseCodeLength: 0, lengthUnit: "bytes" })).toHaveLength(1);
  });

  test("have departments that are numbers with every digit on the wire, also beyond 2^53", () => {
    expect(wireLong("42")).toBe(42);
    expect(wireLong("9007199254740993")).toBe("9007199254740993");
    const body = { userList: [{ userName: "9007199254740993", departmentId: wireLong("9007199254740993") }] };
    expect(wireText(body)).toBe('{"userList":[{"userName":"9007199254740993","departmentId":9007199254740993}]}');
    expect(wireText({ departmentId: 42, remark: undefined })).toBe('{"departmentId":42}');
    expect(wireText({ name: "42", departmentId: "42" })).toBe('{"name":"42","departmentId":42}');
    expect(wireText({ list: [[{ limitTimeDuration: "-7" }]] })).toBe('{"list":[[{"limitTimeDuration":-7}]]}');
    const parsed = (departmentId: string) =>
      addStaffRequestSchema.safeParse({ userList: [{ ...staff, departmentId }] });
    expect(parsed("9223372036854775807").success).toBe(true);
    expect(parsed("9223372036854775808").success, "no Long").toBe(false);
    expect(parsed("a department").success, "no digits").toBe(false);
  });

  test("never have a number given and taken in one call", () => {
    expect(configureAssetsRequestSchema.safeParse({ deleteAssets: [], addAssets: [] }).success).toBe(true);
    expect(configureAssetsRequestSchema.safeParse({ deleteAssets: ["8"], addAssets: ["8"] }).success).toBe(false);
    expect(configureAssetsRequestSchema.safeParse({ addAssets: ["8"] }).success).toBe(false);
  });
});
