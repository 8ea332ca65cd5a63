import { describe, expect, test } from "vitest";

import { licenseTypes as crmLicenseTypes } from "../../src/crm/model.ts";
import { holderIdSchema, idSchema, nullableIdSchema, unknownFields } from "../../src/contract/answer-fields.ts";
import {
  parseAnswer,
  readableMessage,
  readEnvelope,
  serviceWords,
  UnfitAnswer,
} from "../../src/contract/answer-json.ts";
import { allProducts, assetContentsSchema, productInstanceSchema } from "../../src/contract/asset-contents.ts";
import {
  addedStaffSchema,
  assetNumberRowsSchema,
  borrowedLocksSchema,
  staffAddedSchema,
  staffPageSchema,
  staffRowSchema,
} from "../../src/contract/member-center.ts";
import {
  assetDigitsSchema,
  enterpriseCreatedSchema,
  lockResultsSchema,
  platformCustomersSchema,
  virtualAssetsSchema,
} from "../../src/contract/order-service.ts";
import { licenseTypes } from "../../src/contract/vocabulary.ts";

describe("the text of an answer", () => {
  test("keeps every digit of an integer beyond 2^53, and leaves smaller ones numbers", () => {
    const text = '{"id":9007199254740993,"list":[{"id":-12345678901234567890},7,1.5],"digits":"9007199254740993"}';
    expect(parseAnswer(text)).toEqual({
      id: "9007199254740993",
      list: [{ id: "-12345678901234567890" }, 7, 1.5],
      digits: "9007199254740993",
    });
  });

  test("keeps every digit of an integer that is beyond every number, also where it stands alone", () => {
    const digits = "9".repeat(400);
    expect(parseAnswer(`{"id":${digits},"other":-${digits}}`)).toEqual({ id: digits, other: `-${digits}` });
  });

  test("is taken up to a hundred levels, and refused beyond them before anything goes through it", () => {
    const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
    expect(() => parseAnswer(nested(100))).not.toThrow();
    for (const levels of [101, 100_000]) expect(() => parseAnswer(nested(levels))).toThrow(UnfitAnswer);
    expect(() => parseAnswer(`{"id":12345678901234567890,"x":${nested(100_000)}}`)).toThrow(UnfitAnswer);
    expect(() => parseAnswer(`[${"[],".repeat(100_000)}[]]`)).not.toThrow();
  });

  test.each([
    '{"code":0,"code":"13004","data":null}',
    '{"code":0,"data":[{"status":1,"status":3}]}',
    '{"co\\u0064e":"500","code":0}',
    '{"code":0,"message":"a: \\"b\\": c","data":{"id":12345678901234567890,"id":1}}',
  ])("in which a member stands twice is refused: %s", (text) => {
    expect(() => parseAnswer(text)).toThrow(UnfitAnswer);
  });

  test("does not turn a member called __proto__ into a prototype", () => {
    const parsed = parseAnswer('{"data":{"__proto__":{"isDefault":true},"id":1234567890123456789}}');
    expect(parsed).not.toHaveProperty("data.isDefault", true);
    expect(JSON.stringify(parsed)).toContain('"id":"1234567890123456789"');
  });

  test("succeeds only with the number 0; a text is an error code, also with data", () => {
    expect(readEnvelope({ code: 0, message: "success" })).toEqual({ kind: "success", data: null });
    expect(readEnvelope({ code: "500", message: "m", cause: "c" })).toEqual({ kind: "error", code: "500", data: null });
    expect(readEnvelope({ code: "60027", message: "m", cause: "c", data: { succeeded: [] } })).toMatchObject({
      kind: "error",
      data: { succeeded: [] },
    });
    for (const odd of [{ code: "0" }, { code: 500 }, { code: null }, {}, [], "x", null])
      expect(readEnvelope(odd).kind).toBe("odd");
  });

  test("explains unfilled placeholders of a message, and keeps its cause", () => {
    const gap = "(a number that the service did not name)";
    expect(readableMessage("password length must be between {0} and {1}")).toBe(
      `password length must be between ${gap} and ${gap}`,
    );
    expect(
      serviceWords({ code: "60009", message: "at most {0} trial accounts", cause: "the cap of the contract" }),
    ).toBe(`at most ${gap} trial accounts; cause: the cap of the contract`);
    expect(serviceWords({ code: "10004", message: "a valid mobile number is required", cause: "" })).toBe(
      "a valid mobile number is required",
    );
    expect(serviceWords({ code: "500", message: "", cause: "x".repeat(500) })).toBe(`${"x".repeat(200)}…`);
    expect(serviceWords(null)).toBe("");
  });
});

describe("identifiers", () => {
  test("are text, whether an operation sends numbers (M1) or texts (M5)", () => {
    const added = addedStaffSchema.parse({ id: 7, userId: 8, globalId: "g1", enterpriseId: 9, userName: "annACME" });
    const listed = staffRowSchema.parse({
      id: "7",
      userId: "8",
      globalId: "g1",
      enterpriseId: "9",
      userName: "annACME",
    });
    expect([added.id, added.userId, added.enterpriseId]).toEqual([listed.id, listed.userId, listed.enterpriseId]);
    expect(productInstanceSchema.parse({ id: 12, merchandiseInsId: 13 })).toMatchObject({
      id: "12",
      merchandiseInsId: "13",
    });
  });

  test("that were rounded by nobody: a fraction is no id", () => {
    expect(productInstanceSchema.safeParse({ id: 1.5 }).success).toBe(false);
  });
});

describe("what may be null", () => {
  test("is null or missing in staff of M1 and M5 and in numbers of M6", () => {
    const nothing = { departmentId: null, departmentName: null, remark: null };
    const bare = {
      id: 1,
      userId: 1,
      globalId: "g",
      enterpriseId: 1,
      userName: "u",
      name: "n",
      deleted: false,
      updateTime: 1,
      createTime: 1,
    };
    expect(addedStaffSchema.parse({ ...bare, ...nothing })).toMatchObject(nothing);
    expect(addedStaffSchema.parse(bare)).toMatchObject(nothing);
    expect(staffRowSchema.parse({ globalId: "g", userName: "u" })).toMatchObject({
      assetNums: [],
      borrowNum: null,
      deleted: false,
    });
    expect(
      assetNumberRowsSchema.parse([{ assetNum: "8000000001", assetId: "a", cloudAccountGlobalId: null }]),
    ).toMatchObject([{ cloudAccountGlobalId: null, borrowedFlag: false, onlineFlag: false }]);
  });

  test("is null on the lowest level of packages and in the fields of M7 and E8", () => {
    const contents = assetContentsSchema.parse({
      productInstanceList: null,
      children: [
        {
          id: 1,
          updateTime: null,
          parentId: null,
          children: [{ id: 2, children: null, productInstanceList: [{ id: 5, trialEndDate: null }] }],
        },
      ],
    });
    expect(contents.children[0]?.children[0]?.children).toEqual([]);
    expect(allProducts(contents).map((product) => product.id)).toEqual(["5"]);
    const [asset] = virtualAssetsSchema.parse([
      {
        id: "a",
        licenseType: "cloud_account",
        limitStartTime: null,
        limitEndTime: null,
        assignStatus: { id: "a", createTime: "2026-01-01", updateTime: null },
        assetLimits: null,
        assetExtends: [{ extendCode: "gxxp", extendValue: "1" }],
        borrowedUsbKey: true,
      },
    ]);
    expect(asset).toMatchObject({
      limitStartTime: null,
      limitEndTime: null,
      borrowedUsbKey: true,
      assignStatus: { createTime: "2026-01-01" },
    });
  });

  test("is not the whole answer: missing data of a list is no empty list; that of E3 is told apart from one", () => {
    expect(platformCustomersSchema.parse([])).toEqual([]);
    expect(platformCustomersSchema.parse(null)).toBeNull();
    expect(platformCustomersSchema.parse(undefined)).toBeNull();
    for (const schema of [assetNumberRowsSchema, borrowedLocksSchema, virtualAssetsSchema, lockResultsSchema]) {
      expect(schema.safeParse(null).success).toBe(false);
    }
    expect(assetContentsSchema.safeParse({}).success).toBe(false);
    expect(assetContentsSchema.safeParse(null).success).toBe(false);
    expect(staffPageSchema.safeParse({ pageNum: 1, pageSize: 50, pages: 1, list: [] }).success).toBe(false);
  });
});

describe("an id of the services", () => {
  test("is usable where it is printable, of sane length and cannot change a path", () => {
    for (const id of ["6100000000000000001", "a-B_1.2:3@x", "客户1", 7])
      expect(idSchema.safeParse(id).success).toBe(true);
    for (const id of [
      "",
      " ",
      "a b",
      "a\nb",
      "a\u0000",
      "a/b",
      "a\\b",
      "?",
      "#1",
      "%2e",
      "a..b",
      ".",
      "\u202e1",
      "\ud800",
      "1".repeat(129),
    ])
      expect(idSchema.safeParse(id).success, JSON.stringify(id)).toBe(false);
    expect([null, undefined].map((id) => nullableIdSchema.parse(id))).toEqual([null, null]);
    expect(nullableIdSchema.safeParse("").success).toBe(false);
  });

  test("that is empty where it says who holds something means nobody (M6, M8, E8)", () => {
    expect([null, undefined, ""].map((id) => holderIdSchema.parse(id))).toEqual([null, null, null]);
    expect(holderIdSchema.safeParse(" ").success).toBe(false);
    const [row] = assetNumberRowsSchema.parse([{ assetNum: "8000000001", assetId: "a", cloudAccountGlobalId: "" }]);
    expect(row?.cloudAccountGlobalId).toBeNull();
  });
});

describe("answers of the services", () => {
  test("of E2 hold no customerId and name the members to protect", () => {
    const created = enterpriseCreatedSchema.parse({
      enterpriseGlobalId: "e1",
      defaultType: true,
      members: [{ memberGlobalId: "m1", memberIdentity: "administrator" }],
    });
    expect(created.members.map((member) => member.memberGlobalId)).toEqual(["m1"]);
  });

  test("of E9 are texts: a number would have lost a leading zero", () => {
    expect(assetDigitsSchema.safeParse(["8000000001"]).success).toBe(true);
    expect(assetDigitsSchema.safeParse([8000000001]).success).toBe(false);
  });

  test("of E6 and E7 hold one of four statuses for each lock", () => {
    expect(lockResultsSchema.safeParse([{ assetNum: "1", status: 4 }]).success).toBe(true);
    expect(lockResultsSchema.safeParse([{ assetNum: "1", status: 5 }]).success).toBe(false);
  });

  test("keep fields that the contract does not show, which can be named", () => {
    const data = { succeeded: [{ globalId: "g", userName: "u", level: 3 }], failed: [], note: "n", "\u001b[31m": 1 };
    const parsed = staffAddedSchema.parse(data);
    expect(parsed).toMatchObject({ note: "n", succeeded: [{ level: 3 }] });
    expect(unknownFields(staffAddedSchema, data)).toEqual(["succeeded[].level", "note", "(odd name)"]);
    expect(
      unknownFields(assetContentsSchema, {
        productInstanceList: [],
        children: [{ id: 1, children: [{ id: 2, colour: 1 }] }],
      }),
    ).toEqual(["children[].children[].colour"]);
  });
});

test("the contract and the canonical model name the same licence types", () => {
  expect([...licenseTypes]).toEqual([...crmLicenseTypes]);
});
