import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/canonical-json.ts";
import { customerSchema, orderSchema, staffSchema, type Instance } from "../../src/crm/model.ts";
import { validate, type ValidationFault } from "../../src/engine/plan/validate.ts";
import { asset, bundle, feature, product } from "../support/world/instances.ts";
import { settingsWith, settingsWithout } from "./situation.ts";

function ofOrder(instances: Instance[], changes: JsonObject = {}): ValidationFault | undefined {
  return validate(
    { stream: "orders", record: orderSchema.parse({ id: "1", customerId: "c", instances }) },
    settingsWith(changes),
  );
}

function ofStaff(
  fields: { userName?: string; name?: string; remark?: string },
  changes: JsonObject = {},
): ValidationFault | undefined {
  const record = staffSchema.parse({ id: "1", customerId: "c", userName: "ann", name: "Ann", ...fields });
  return validate({ stream: "staff", record }, settingsWith(changes));
}

const withProduct = (fields: Parameters<typeof product>[2], changes: JsonObject = {}) =>
  ofOrder([asset("a"), product("p", "a", fields)], changes);

describe("an order", () => {
  it("whose rows make a tree and agree with each other is validated", () => {
    expect(
      ofOrder([
        asset("a"),
        product("p", "a"),
        bundle("k", "a"),
        bundle("l", "k"),
        product("q", "l"),
        feature("f", "q"),
      ]),
    ).toBeUndefined();
  });

  it("whose rows make no tree is named by its first fault, with the number of the others", { tags: "long" }, () => {
    expect(ofOrder([asset("a"), product("p", "x")])).toMatchObject({
      field: "instances[p]",
      code: "orphan-instance",
      message: "product p has the parent x, which is neither an asset nor a package of this order",
    });
    expect(ofOrder([asset("a"), product("p", "x"), bundle("k", "k")])?.message).toMatch(/\(and 1 more\)$/);
    expect(
      ofOrder([
        asset("a"),
        product("p", "a"),
        ...Array.from({ length: 10_000 }, (_, index) => bundle(`k${index}`, index === 0 ? "a" : `k${index - 1}`)),
      ]),
    ).toMatchObject({ code: "package-too-deep" });
  });

  it("with a product that has no identifier", () => {
    expect(withProduct({ gmsPid: undefined })).toMatchObject({ field: "instances[p].gmsPid", code: "no-product-uri" });
    expect(withProduct({ gmsPid: undefined, appKey: "k" })).toBeUndefined();
  });

  it("with a word that no list has", () => {
    expect(withProduct({ type: "gadget" })).toMatchObject({
      field: "instances[p].type",
      code: "unlisted-word",
      expected: "tool, webapp",
      message: 'product p has the product type "gadget", which assumptions.productTypes does not list',
    });
    expect(withProduct({ timeUnit: "YEARS" })).toMatchObject({
      field: "instances[p].timeUnit",
      code: "unlisted-word",
      expected: "YEAR, MONTH, DAY, NONE",
    });
    expect(withProduct({ timeUnit: "toString" })).toMatchObject({ code: "unlisted-word" });
    expect(withProduct({ timeUnit: "__proto__" })).toMatchObject({ code: "unlisted-word" });
    expect(withProduct({ type: "x".repeat(10_000) })?.message.length).toBeLessThan(200);
  });

  it("is taken up while the lists are not set: it waits later, and is checked again then", () => {
    const record = orderSchema.parse({
      id: "1",
      customerId: "c",
      instances: [asset("a"), product("p", "a", { type: "gadget", timeUnit: "AEON" })],
    });
    const unanswered = { ...settingsWithout("productTypes"), timeUnits: undefined };
    expect(validate({ stream: "orders", record }, unanswered)).toBeUndefined();
    expect(validate({ stream: "orders", record }, settingsWith())).toMatchObject({ code: "unlisted-word" });
  });

  it.each([
    ["1-0-0", "YEAR", 1, undefined],
    ["1-0-0", "MONTH", 12, undefined],
    ["2-6-0", "MONTH", 30, undefined],
    ["0-0-30", "DAY", 30, undefined],
    ["0-0-0", "YEAR", 7, undefined],
    ["5-1-3", "NONE", 0, undefined],
    ["1-0-0", "YEAR", 2, "terms-disagree"],
    ["1-0-0", "MONTH", 1, "terms-disagree"],
    ["1-0-1", "YEAR", 1, "terms-disagree"],
    ["0-1-0", "DAY", 30, "terms-disagree"],
    ["1 year", "YEAR", 1, "bad-term"],
    ["1-0", "YEAR", 1, "bad-term"],
    ["-1-0-0", "YEAR", 1, "bad-term"],
    ["1-0-0 ", "YEAR", 1, "bad-term"],
  ])("with the term %s, the unit %s and the quantity %i: %s", (term, timeUnit, timeUnitQuantity, code) => {
    expect(withProduct({ term, timeUnit, timeUnitQuantity })?.code).toBe(code);
  });

  it.each([
    ["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", undefined],
    ["2026-01-01T00:00:00Z", "2026-12-31T00:00:00Z", undefined],
    ["2024-02-29T00:00:00Z", "2025-02-28T00:00:00Z", undefined],
    // The last day in Berlin, which is the last one of the summer time there.
    ["2026-10-31T23:00:00Z", "2027-10-30T22:00:00Z", undefined],
    ["2026-10-31T23:00:00Z", "2027-10-29T22:00:00Z", "terms-disagree"],
    ["2026-01-01T00:00:00Z", "2026-12-30T00:00:00Z", "terms-disagree"],
    ["2026-01-01T00:00:00Z", "2028-01-01T00:00:00Z", "terms-disagree"],
    ["2027-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "terms-disagree"],
  ])("with a year from %s to %s: %s", (limitStart, limitEnd, code) => {
    expect(withProduct({ limitStart, limitEnd })?.code).toBe(code);
  });

  it("with a package whose term cannot be read", () => {
    expect(ofOrder([asset("a"), product("p", "a"), bundle("k", "a", { term: "forever" })])).toMatchObject({
      field: "instances[k].term",
      code: "bad-term",
    });
  });

  it("with a trial without an end, of a product, of its feature or of a feature's own row", () => {
    expect(withProduct({ trial: true })).toMatchObject({ field: "instances[p].trialEnd", code: "no-trial-end" });
    const inside = { code: "f", name: "F", value: "", valueType: "text", trial: true };
    expect(withProduct({ features: [inside] })).toMatchObject({
      field: "instances[p].features[f].trialEnd",
      code: "no-trial-end",
    });
    expect(ofOrder([asset("a"), product("p", "a"), feature("f", "p", { trial: true })])).toMatchObject({
      code: "no-trial-end",
      message: "feature f of product p is a trial, but the end of the trial is missing",
    });
    expect(withProduct({ trial: true, trialEnd: "2026-02-01T00:00:00Z" })).toBeUndefined();
  });
});

describe("a staff member", () => {
  const letters = (length: number) => "a".repeat(length);

  it.each([
    ["userName", 42, undefined],
    ["userName", 43, "bad-user-name"],
    ["name", 30, undefined],
    ["name", 31, "bad-name"],
    ["remark", 200, undefined],
    ["remark", 201, "bad-remark"],
  ] as const)("with a %s of %i characters: %s", (field, length, code) => {
    expect(ofStaff({ [field]: letters(length) })?.code).toBe(code);
  });

  it("has 62 characters for its account name and the enterprise code together", () => {
    expect(ofStaff({ userName: letters(62) }, { enterpriseCodeMaxLength: 0 })).toBeUndefined();
    expect(ofStaff({ userName: letters(63) }, { enterpriseCodeMaxLength: 0 })).toMatchObject({ code: "bad-user-name" });
    expect(ofStaff({ userName: letters(54) }, { enterpriseCodeMaxLength: 8 })).toBeUndefined();
    expect(ofStaff({ userName: letters(55) }, { enterpriseCodeMaxLength: 8 })).toMatchObject({ code: "bad-user-name" });
  });

  it("is measured in characters, or in bytes where that is set", () => {
    const bytes = { lengthUnit: "bytes" };
    for (const sign of ["张", "é", "👩"]) {
      expect(ofStaff({ name: sign.repeat(30), remark: sign.repeat(200) })).toBeUndefined();
      expect(ofStaff({ name: sign.repeat(31) })).toMatchObject({ code: "bad-name" });
      expect(ofStaff({ remark: sign.repeat(201) })).toMatchObject({ code: "bad-remark" });
      expect(ofStaff({ name: sign.repeat(30) }, bytes)).toMatchObject({ code: "bad-name" });
    }
    expect(ofStaff({ name: "张".repeat(10), remark: "张".repeat(66) }, bytes)).toBeUndefined();
    expect(ofStaff({ name: "张".repeat(11) }, bytes)).toMatchObject({ code: "bad-name" });
    expect(ofStaff({ remark: "张".repeat(67) }, bytes)).toMatchObject({ code: "bad-remark" });
  });

  it.each(["ann lee", "ann.lee", "ann_lee", "änn", "ann\n", "аnn", "ann@example.org", " ann", "ann\u0000"])(
    "may not have the account name %j",
    (userName) => {
      const fault = ofStaff({ userName });
      expect(fault?.code).toBe("bad-user-name");
    },
  );

  it("is named by its key, the field and its length, never by what stands in it", () => {
    const fault = ofStaff({
      userName: "canary secret",
      name: "Canary Person ".repeat(5),
      remark: "canary remark ".repeat(50),
    });
    expect(fault).toMatchObject({ field: "userName" });
    for (const one of [
      fault,
      ofStaff({ name: "Canary Person ".repeat(5) }),
      ofStaff({ remark: "canary remark ".repeat(50) }),
    ]) {
      expect(JSON.stringify(one).toLowerCase()).not.toContain("canary");
      expect(one?.message).toContain("crm/1");
    }
  });
});

it("a customer is validated as its schema took it", () => {
  const record = customerSchema.parse({
    id: "1",
    name: "A",
    customerType: "personal",
    branchCode: "b",
    branchName: "B",
  });
  expect(validate({ stream: "customers", record }, settingsWith())).toBeUndefined();
});
