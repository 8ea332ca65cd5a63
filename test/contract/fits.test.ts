import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Json } from "../../src/base/canonical-json.ts";
import { checked, fits } from "../../src/contract/fits.ts";
import { noDataSchema } from "../../src/contract/answer-fields.ts";
import { assetContentsSchema } from "../../src/contract/asset-contents.ts";
import {
  addStaffRequestSchema,
  assetNumberRowsSchema,
  borrowedLocksSchema,
  configureAssetsRequestSchema,
  staffAddedSchema,
  staffPageSchema,
} from "../../src/contract/member-center.ts";
import { batchOrderRequestSchema } from "../../src/contract/order-record.ts";
import {
  batchOrderResultsSchema,
  bindEnterpriseRequestSchema,
  createEnterpriseRequestSchema,
  enterpriseCreatedSchema,
  lockRequestSchema,
  lockResultsSchema,
  platformCustomersSchema,
  virtualAssetsSchema,
} from "../../src/contract/order-service.ts";
import { flatBody, packagesBody } from "../resources/order/order-bodies.ts";

const enterprise = { crmCustomerId: "1", customerName: "A", branchName: "B", address: "x" };
const channel = { channelCode: "CH1", channelCustomerId: "ALFKI", enterpriseName: "A", passwordMobile: "1" };
const person = { userName: "ann", password: "secret", departmentId: "9007199254740993", name: "Ann" };

/** A body of each call that writes, as the service must get it. */
const bodies: [string, z.ZodType, Json][] = [
  ["E5, flat", batchOrderRequestSchema, flatBody],
  ["E5, packages", batchOrderRequestSchema, packagesBody],
  ["E1", bindEnterpriseRequestSchema, { ...channel, customerName: "A", branchName: "B" }],
  ["E2", createEnterpriseRequestSchema, enterprise],
  ["E6", lockRequestSchema, { assetNums: ["8000000001"], operatorIdentity: "op" }],
  ["M1", addStaffRequestSchema, { userList: [person] }],
  ["M9", configureAssetsRequestSchema, { addAssets: ["8000000001"], deleteAssets: [] }],
];

const times = { createTime: 1767225600000, updateTime: null };
const customer = { customerId: "c1", channelCode: "CH1", channelCustomerId: "ALFKI", enterpriseGlobalId: "g1" };
const ids = { userId: "7", enterpriseId: "8", departmentId: null, departmentName: null, remark: null };
const member = { id: "1", ...ids, globalId: "m1", userName: "annACME", name: "Ann", deleted: false, ...times };
const virtualAsset = {
  id: "1",
  licenseType: "cloud_account",
  assetNum: "8000000001",
  grantable: true,
  customerId: "c1",
  keyShellNumber: "8000000001",
  keyChipType: 2,
  locked: false,
  freezing: null,
  ...times,
  limitStartTime: null,
  limitEndTime: "20270101",
  assetLimits: null,
  borrowedUsbKey: false,
  assignStatus: { id: "1", assignStatus: "used", assignMemberId: "m1", createTime: "2026", updateTime: null },
  assetExtends: [{ extendCode: "gxxp", extendValue: null }],
};
const order = { licenseOrderId: "L1", channelOrderId: "O1", srcLicenseOrderId: null, customerId: "c1" };
const productInstance = {
  id: "1",
  licenseType: "softkey",
  assetId: "1",
  assetInsId: "1",
  merchandiseInsId: null,
  assetNum: "8",
  ...order,
  productUri: "p",
  gmsPid: "p",
  appKey: null,
  productName: "P",
  channelCode: "CH1",
  ...times,
  crmProductId: "P1",
  limitStartTime: 1,
  limitEndTime: null,
  limitAmount: 0,
  limitConcurrent: 5,
  limitTimeDuration: 0,
  trial: 0,
  trialEndDate: null,
  limitType: "basic",
  prodDefExtend: false,
  timeDurationExpression: "1-0-0",
};
const node = {
  id: "2",
  licenseType: null,
  merchandiseNum: "N1",
  merchandiseName: "M",
  parentId: "1",
  ...order,
  ...times,
  parentMerchandiseNum: null,
  channelCode: "CH1",
  timeDurationExpression: "1-0-0",
  children: [],
  productInstanceList: [productInstance],
};
const page = { pageNum: 1, pageSize: 50, total: 1, pages: 1, hasNextPage: false, navigatepageNums: [1] };
const listed = { ...member, passwordMobile: null, assetNums: ["8000000001"], borrowNum: null, onlineFlag: null };
const held = { assetNum: "8000000001", assetId: "a1", cloudAccountGlobalId: "m1", borrowedFlag: false };

/** The data of each answer with everything in it, and something that no contract shows. */
const answers: [string, z.ZodType, Json][] = [
  [
    "answer of E2",
    enterpriseCreatedSchema,
    { enterpriseGlobalId: "g1", members: [{ memberGlobalId: "m1", memberIdentity: "a" }] },
  ],
  ["answer of E3", platformCustomersSchema, [{ ...customer, enterpriseName: null, isDefault: true, level: 3 }]],
  ["answer of E3, nothing", platformCustomersSchema, null],
  ["answer of E5", batchOrderResultsSchema, [{ sequence: 1, licenseOrderId: "L1", customerId: null }]],
  ["answer of E6", lockResultsSchema, [{ assetNum: "8000000001", status: 2 }]],
  ["answer of E8", virtualAssetsSchema, [virtualAsset, { ...virtualAsset, assignStatus: null, assetExtends: [] }]],
  ["answer of M1", staffAddedSchema, { succeeded: [member], failed: [{ userName: "bob", message: null }] }],
  ["answer of M5", staffPageSchema, { ...page, list: [listed] }],
  [
    "answer of M6",
    assetNumberRowsSchema,
    [
      { ...held, onlineFlag: true },
      { ...held, cloudAccountGlobalId: null, onlineFlag: false },
    ],
  ],
  [
    "answer of M7",
    assetContentsSchema,
    { productInstanceList: [productInstance], children: [{ ...node, children: [node] }] },
  ],
  ["answer of M8", borrowedLocksSchema, [held]],
  ["no data", noDataSchema, null],
];

/** What may stand where something else is expected. */
const oddTexts = ["..", "a b", "x".repeat(129), "", " ", "x", "1", "-0", "new_buy", "delete_asset", "softkey"];
const oddNumbers = [0, -1, 1.5, 2, 2 ** 31, 2 ** 53, -(2 ** 31) - 1, Number.NaN, Number.POSITIVE_INFINITY];
const oddValues = [undefined, null, true, false, [], [null], [""], {}, { a: 1 }];
const odd = fc.constantFrom<(Json | undefined)[]>(...oddTexts, ...oddNumbers, ...oddValues);

/** A copy with something else at one place of it; `path` chooses the place. */
function spoilt(
  value: Json | undefined,
  path: readonly number[],
  put: Json | undefined,
  how: string,
): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== "object" || value === null) return put;
  if (Array.isArray(value)) {
    if (value.length === 0 || how === "longer") return [...value, put ?? null];
    return value.map((item, index) => (index === step % value.length ? (spoilt(item, rest, put, how) ?? null) : item));
  }
  const names = Object.keys(value);
  const name = names[step % names.length];
  if (name === undefined || (rest.length === 0 && how === "another")) return { ...value, [`other${step}`]: put };
  if (rest.length > 0 || how !== "without") return { ...value, [name]: spoilt(value[name], rest, put, how) };
  return Object.fromEntries(Object.entries(value).filter(([other]) => other !== name));
}

describe("what is found to fit", () => {
  it.each([...bodies, ...answers])("without its schema being asked: %s", (_name, schema, body) => {
    expect(schema.safeParse(body)).toEqual({ success: true, data: body });
    expect(fits(schema, body)).toBe(true);
  });

  it.each([...bodies, ...answers])(
    "is one that its schema takes as it is, whatever is wrong with others: %s",
    { tags: "long" },
    (_name, schema, body) => {
      const path = fc.array(fc.nat(30), { minLength: 1, maxLength: 9 });
      const how = fc.constantFrom("other", "without", "another", "longer");
      const refused = { byBoth: 0 };
      fc.assert(
        fc.property(path, odd, how, (steps, put, kind) => {
          const changed = spoilt(body, steps, put, kind);
          const parsed = schema.safeParse(changed);
          const quick = checked(schema, changed);
          if (!parsed.success) refused.byBoth += 1;
          expect(quick.success).toBe(parsed.success);
          expect(quick.success && quick.data).toStrictEqual(parsed.success && parsed.data);
          expect(quick.success || quick.error.issues).toEqual(parsed.success || parsed.error.issues);
        }),
        { numRuns: 2_000 },
      );
      expect(refused.byBoth).toBeGreaterThan(50);
    },
  );

  it("holds nothing under a name of JavaScript's own", () => {
    const body: unknown = JSON.parse(`{"assetNums":["8"],"operatorIdentity":"op","__proto__":{"a":1}}`);
    expect(fits(lockRequestSchema, body)).toBe(false);
    expect(fits(lockRequestSchema, { assetNums: ["8"], operatorIdentity: "op", constructor: "x" })).toBe(false);
    const answer: unknown = JSON.parse(`[{"assetNum":"8","status":1,"other":{"a":1},"__proto__":{"a":1}}]`);
    expect(fits(lockResultsSchema, answer)).toBe(false);
    expect(JSON.stringify(checked(lockResultsSchema, answer))).not.toContain("__proto__");
  });
});

it("a wide answer is not remembered once it has been looked at", { tags: "long" }, async () => {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  const heap = async (): Promise<number> => {
    await turn();
    if (typeof collect === "function") Reflect.apply(collect, undefined, []);
    return process.memoryUsage().heapUsed / 1e6;
  };
  const fitsWide = (): boolean => {
    const others = Array.from({ length: 400_000 }, (_, index) => `"field${index}":1`);
    return fits(lockResultsSchema, JSON.parse(`[{"assetNum":"8","status":1,${others.join(",")}}]`));
  };
  const before = await heap();
  expect(fitsWide()).toBe(true);
  expect((await heap()) - before).toBeLessThan(8);
});

describe("what only the schema itself can judge", () => {
  const text = z.string();
  const cases: [string, z.ZodType, unknown][] = [
    ["a format", z.email(), "no address"],
    ["a text that is trimmed", text.trim(), " a "],
    ["a text made of a number", z.coerce.string(), 1],
    ["a text of a pattern that remembers where it was", text.regex(/a/g), "a"],
    ["a text of one length", text.length(1), "ab"],
    ["a value that is made into another", text.transform(Number), "1"],
    ["a value that is filled in", z.object({ a: text.default("x") }), {}],
    ["a list without repetition", z.array(text).superRefine((_, context) => context.addIssue("no")), ["a"]],
    ["exactly one of two", z.xor([text, z.string().min(1)]), "a"],
    ["a member that is there or not, and never undefined", z.object({ a: text.exactOptional() }), { a: undefined }],
    ["a member that is dropped", z.object({ a: text }), { a: "x", b: "y" }],
    [
      "what the first of two forms strips",
      z.union([z.object({ a: text }), z.looseObject({ a: text })]),
      { a: "x", b: 1 },
    ],
    ["what the first of two forms trims", z.union([text.trim(), text]), " a "],
    ["what the first of two forms fills in", z.union([z.object({ a: text.default("x") }), z.strictObject({})]), {}],
    ["a member that is filled in although it may be missing", z.object({ a: text.default("x").optional() }), {}],
    ["the same where it is there", z.object({ a: text.default("x").optional() }), { a: undefined }],
    ["a check that answers later", z.object({ a: text }).refine(() => Promise.resolve(false)), { a: "x" }],
  ];

  it.each(cases)("%s", { tags: "long" }, (_name, schema, value) => {
    expect(fits(schema, value)).toBe(false);
  });
});
