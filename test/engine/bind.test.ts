import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Json, type JsonObject, hashOf } from "../../src/base/canonical-json.ts";
import { bindingsFrom, bind, type Bindings } from "../../src/engine/deliver.ts";
import { payloadFactsOf } from "../../src/engine/customer.ts";
import { initialPassword } from "../../src/resources/staff/plan.ts";
import { fixed, linked, settingsWith, situation, staff, staffLink } from "./situation.ts";

const marker = (field: string): JsonObject => ({ $private: "staff/crm/ann", field, version: 3, commitment: "c0" });
const known: Bindings = {
  reference: (reference) => (reference.$ref === "enterpriseGlobalId" ? "ENT" : `${reference.$ref} of ${reference.of}`),
  privateValue: (value) => `${value.field} of ${value.$private}@${value.version}`,
  initialPassword: (person) => `password of ${person}`,
  newPassword: (person) => `new password of ${person}`,
};
const nothing: Bindings = {
  reference: () => undefined,
  privateValue: () => undefined,
  initialPassword: () => undefined,
  newPassword: () => undefined,
};

const everyKind: JsonObject = {
  a: { $ref: "enterpriseGlobalId" },
  b: [
    { $ref: "customerId", of: "softkey" },
    { $ref: "assetNumber", of: "unit" },
  ],
  c: { d: { $ref: "memberGlobalId", of: "crm/ann" }, e: { $ref: "licenseOrderId", of: "crm/1" } },
  f: [{ g: marker("name") }],
  h: initialPassword("crm/ann"),
};

describe("binding a payload", () => {
  it("puts a value in place of references of all five kinds, of private values and of initial passwords", () => {
    expect(bind(everyKind, known)).toEqual({
      ok: true,
      wire: {
        a: "ENT",
        b: ["customerId of softkey", "assetNumber of unit"],
        c: { d: "memberGlobalId of crm/ann", e: "licenseOrderId of crm/1" },
        f: [{ g: "name of staff/crm/ann@3" }],
        h: "password of crm/ann",
      },
    });
  });

  it("names everything that is missing, and gives no payload at all", () => {
    expect(bind(everyKind, nothing)).toEqual({
      ok: false,
      missing: [
        { $ref: "enterpriseGlobalId" },
        { $ref: "customerId", of: "softkey" },
        { $ref: "assetNumber", of: "unit" },
        { $ref: "memberGlobalId", of: "crm/ann" },
        { $ref: "licenseOrderId", of: "crm/1" },
        { $private: "staff/crm/ann", field: "name", version: 3 },
        { $private: "initial-password/crm/ann", field: "password", version: 1 },
      ],
    });
    const one = bind(everyKind, { ...known, privateValue: () => undefined });
    expect(one).toEqual({ ok: false, missing: [{ $private: "staff/crm/ann", field: "name", version: 3 }] });
  });

  it("keeps lists, such as licence passwords, and values that look like nothing: null, false, 0 and the empty text", () => {
    const values: Json[] = [["0012", "x"], null, false, 0, ""];
    for (const value of values) {
      expect(bind({ p: marker("passwords") }, { ...known, privateValue: () => value })).toEqual({
        ok: true,
        wire: { p: value },
      });
    }
  });

  it("does not look for references inside a value it put in", () => {
    const sly = { $ref: "enterpriseGlobalId" };
    expect(bind({ p: marker("name") }, { ...known, privateValue: () => sly })).toEqual({ ok: true, wire: { p: sly } });
  });

  it("leaves the payload as it was", () => {
    const payload: JsonObject = { a: { $ref: "enterpriseGlobalId" }, f: [{ g: marker("name") }] };
    const before = hashOf(payload);
    bind(payload, known);
    bind(payload, nothing);
    expect(hashOf(payload)).toBe(before);
  });

  it("changes nothing, drops nothing and invents nothing where there is nothing to bind", { tags: "long" }, () => {
    const plain = fc.dictionary(
      fc.string().filter((key) => !key.startsWith("$") && key !== "__proto__"),
      fc
        .jsonValue({ maxDepth: 4, noUnicodeString: false })
        .filter((value) => !JSON.stringify(value).includes('"$') && !JSON.stringify(value).includes("__proto__")),
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(plain, (payload) => {
        const json = JSON.parse(JSON.stringify(payload)) as JsonObject;
        expect(bind(json, nothing)).toEqual({ ok: true, wire: json });
      }),
    );
  });

  it("puts a value beside members of any name, and shares what holds nothing to put in", () => {
    const payload: JsonObject = JSON.parse(
      '{"__proto__":{"$ref":"enterpriseGlobalId"},"1":[{"$ref":"enterpriseGlobalId"},2],"same":{"a":[1]}}',
    );
    const bound = bind(payload, known);
    expect(bound.ok && JSON.stringify(bound.wire)).toBe('{"1":["ENT",2],"__proto__":"ENT","same":{"a":[1]}}');
    expect(bound.ok && bound.wire["same"]).toBe(payload["same"]);
  });

  it("keeps the order of members, so that the same payload has the same bytes", () => {
    const bound = bind({ z: 1, a: { y: marker("n"), b: 2 }, left: undefined }, known);
    expect(bound.ok && JSON.stringify(bound.wire)).toBe('{"z":1,"a":{"y":"n of staff/crm/ann@3","b":2}}');
  });
});

describe("what is known of a customer", () => {
  const ann = staff("ann");
  const values = { privateValue: () => undefined, initialPassword: () => undefined, newPassword: () => undefined };
  const of = (given: Parameters<typeof situation>[0]["known"]) =>
    bindingsFrom(payloadFactsOf(situation(given === undefined ? {} : { known: given }).known), settingsWith(), values);

  it("answers references with the link, the platform's customers, the fixed numbers and the staff links", () => {
    const bindings = of(linked(undefined, { numbers: fixed("1", "i", "N1", "N2"), staffLinks: staffLink(ann, "M-9") }));
    expect(bindings.reference({ $ref: "enterpriseGlobalId" })).toBe("ENT-1");
    expect(bindings.reference({ $ref: "customerId", of: "softkey" })).toBe("C-default");
    expect(bindings.reference({ $ref: "assetNumber", of: JSON.stringify(["crm", "1", "i", 1]) })).toBe("N2");
    expect(bindings.reference({ $ref: "memberGlobalId", of: "crm/ann" })).toBe("M-9");
  });

  it("answers nothing that it does not know", () => {
    const bindings = of(linked(undefined, { numbers: fixed("1", "i", "N1") }));
    expect(bindings.reference({ $ref: "customerId", of: "no such type" })).toBeUndefined();
    expect(bindings.reference({ $ref: "assetNumber", of: JSON.stringify(["crm", "1", "i", 1]) })).toBeUndefined();
    expect(bindings.reference({ $ref: "assetNumber", of: JSON.stringify(["shop", "1", "i", 0]) })).toBeUndefined();
    expect(bindings.reference({ $ref: "memberGlobalId", of: "crm/ann" })).toBeUndefined();
    expect(bindings.reference({ $ref: "licenseOrderId", of: "crm/1" })).toBeUndefined();
    const empty = of(undefined);
    expect(empty.reference({ $ref: "enterpriseGlobalId" })).toBeUndefined();
    expect(empty.reference({ $ref: "customerId", of: "softkey" })).toBeUndefined();
  });
});
