import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Json } from "../../src/base/canonical-json.ts";
import { isJsonObject } from "../../src/base/canonical-json.ts";
import { checked, fits } from "../../src/contract/fits.ts";
import { addStaffRequestSchema, configureAssetsRequestSchema } from "../../src/contract/member-center.ts";
import { batchOrderRequestSchema } from "../../src/contract/order-record.ts";
import {
  bindEnterpriseRequestSchema,
  createEnterpriseRequestSchema,
  lockRequestSchema,
} from "../../src/contract/order-service.ts";
import { flatBody, packagesBody } from "../plan/order-bodies.ts";

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

/** What may stand where something else is expected. */
const oddTexts = ["", " ", "x", "1", "-0", "new_buy", "delete_asset", "softkey"];
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

describe("a body that is found to fit", () => {
  it.each(bodies)("without its schema being asked: %s", (_name, schema, body) => {
    expect(schema.safeParse(body)).toEqual({ success: true, data: body });
    expect(fits(schema, body)).toBe(true);
  });

  it.each(bodies)("is one that its schema takes as it is, whatever is wrong with others: %s", (_name, schema, body) => {
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
    expect(refused.byBoth).toBeGreaterThan(500);
  });

  it("holds nothing under a name of JavaScript's own", () => {
    const body: unknown = JSON.parse(`{"assetNums":["8"],"operatorIdentity":"op","__proto__":{"a":1}}`);
    expect(fits(lockRequestSchema, body)).toBe(false);
    expect(fits(lockRequestSchema, { assetNums: ["8"], operatorIdentity: "op", constructor: "x" })).toBe(false);
    expect(isJsonObject(body)).toBe(true);
  });
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
    ["a check that answers later", z.object({ a: text }).refine(() => Promise.resolve(false)), { a: "x" }],
  ];

  it.each(cases)("%s", (_name, schema, value) => {
    expect(fits(schema, value)).toBe(false);
  });
});
