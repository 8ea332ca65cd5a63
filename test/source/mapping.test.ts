/* oxlint-disable unicorn/no-thenable -- `then` is a word of the mapping here, never a function */
import { setFlagsFromString } from "node:v8";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Json, JsonObject } from "../../src/base/canonical-json.ts";
import { Problem } from "../../src/base/errors.ts";
import type { CanonicalRecord, Stream } from "../../src/crm/model.ts";
import {
  compileStream,
  findMistakes,
  secretPaths,
  type MappingOptions,
  type Rejection,
} from "../../src/source/mapping/compile.ts";
import { valueTable } from "../../src/source/mapping/context.ts";
import { parseFormat } from "../../src/source/mapping/date-formats.ts";
import { blankSecrets } from "../../src/source/mapping/path.ts";
import { customerMapping } from "./support.ts";

const customer = { ...customerMapping, id: { value: "1" }, name: { value: "n" } };
const asset = { kind: "asset", one: { id: { value: "A" }, licenseType: { value: "softkey" } } };
const order = { id: { value: "1" }, customerId: { value: "C" }, instances: [asset] };

function map(
  stream: Stream,
  spec: JsonObject,
  raw: JsonObject,
  options: MappingOptions = {},
): CanonicalRecord["record"] {
  const result = compileStream(stream, spec, options).map(raw);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value.record;
}

function reject(stream: Stream, spec: JsonObject, raw: JsonObject, options: MappingOptions = {}): Rejection {
  const result = compileStream(stream, spec, options).map(raw);
  if (result.ok) throw new Error("was accepted");
  return result.error;
}

/** What an expression finds for the optional text field `address`. */
function text(expression: JsonObject | string, raw: JsonObject, options: MappingOptions = {}): unknown {
  const record = map("customers", { ...customer, address: expression }, raw, options);
  return "address" in record ? record.address : undefined;
}

describe("a path", () => {
  const raw = {
    a: { b: [{ c: "found" }], "odd.name": "odd" },
    n: 12,
    t: true,
    blank: "  ",
    empty: "",
    none: null,
    text: "NULL",
  };

  it.each([
    ["a.b[0].c", "found"],
    ['a["odd.name"]', "odd"],
    ["n", "12"],
    ["a.b[1].c", undefined],
    ["a.missing.c", undefined],
    ["blank", undefined],
    ["empty", undefined],
    ["none", undefined],
    ["text", undefined],
    ["constructor", undefined],
    ["__proto__", undefined],
    ["a.constructor", undefined],
    ["a.toString", undefined],
    ["__proto__.x", undefined],
    ["a.b.length", undefined],
  ])("%s finds %s", (path, found) => {
    expect(text(path, raw, { nullTexts: ["NULL"] })).toBe(found);
  });
});

describe("an expression", () => {
  const raw = { first: "Ada", last: " Lovelace ", id: 7, type: "F", list: "a, b,,NULL", none: null, n: "12.50" };

  it.each([
    [{ value: "constant" }, "constant"],
    [{ path: "first" }, "Ada"],
    [{ path: "none", default: "instead" }, "instead"],
    [{ template: "A-{id}-{first}" }, "A-7-Ada"],
    [{ template: "{{{id}}}" }, "{7}"],
    [{ template: "A-{none}" }, undefined],
    [{ template: "A-{none}", default: "A" }, "A"],
    [{ first: ["none", { path: "first" }, { value: "x" }] }, "Ada"],
    [{ concat: ["first", "none", { trim: "last" }], separator: " " }, "Ada Lovelace"],
    [{ concat: ["none"] }, undefined],
    [{ upper: "first" }, "ADA"],
    [{ lower: { trim: "last" } }, "lovelace"],
    [{ map: "type", values: { F: "company", P: "personal" } }, "company"],
    [{ map: "first", values: { F: "company" }, default: "other" }, "other"],
    [{ when: { path: "type", equals: "F" }, then: "first", else: "last" }, "Ada"],
    [{ when: { path: "id", in: [6, 8] }, then: "first", else: { value: "no" } }, "no"],
    [{ when: { path: "none", present: false }, then: { value: "absent" } }, "absent"],
    [{ when: { path: "none", present: true }, then: { value: "there" } }, undefined],
    [{ lookup: { table: "names", key: "id" } }, "seven"],
    [{ lookup: { table: "names", key: "first", default: "unknown" } }, "unknown"],
    [{ lookup: { table: "names", key: "none" } }, undefined],
  ] satisfies [JsonObject, string | undefined][])("%j finds %s", (expression, found) => {
    expect(text(expression, raw, { tables: new Map([["names", valueTable({ 7: "seven" })]]) })).toBe(found);
  });

  it("makes lists of texts from a text, a list or several places", () => {
    const numbers = (expression: JsonObject | string, from: JsonObject): unknown => {
      const one = { ...asset.one, assetNumbers: expression, quantity: { value: 10 } };
      const record = map("orders", { ...order, instances: { kind: "asset", one } }, from, { nullTexts: ["NULL"] });
      return "instances" in record && record.instances[0]?.kind === "asset"
        ? record.instances[0].assetNumbers
        : undefined;
    };
    expect(numbers({ split: "list" }, raw)).toEqual(["a", "b"]);
    expect(numbers("list", { list: ["x", 12, null, "NULL"] })).toEqual(["x", "12"]);
    expect(numbers("list", { list: "x" })).toEqual(["x"]);
    expect(numbers({ list: ["a", "b"] }, { a: "1", b: null })).toEqual(["1"]);
    expect(numbers("list", {})).toEqual([]);
  });

  it("reads booleans and whole numbers, also from texts", () => {
    const cancelled = (expression: JsonObject | string, from: JsonObject): unknown => {
      const record = map("orders", { ...order, cancelled: expression }, from);
      return "cancelled" in record ? record.cancelled : undefined;
    };
    expect(cancelled("c", { c: "true" })).toBe(true);
    expect(cancelled({ boolean: "c", true: ["J", 1], false: "N" }, { c: "1" })).toBe(true);
    expect(cancelled({ boolean: "c", true: "J", false: ["N", "-"] }, { c: "-" })).toBe(false);
    expect(cancelled("c", {})).toBe(false);
    const quantity = (value: JsonObject["x"]): unknown => {
      const record = map(
        "orders",
        { ...order, instances: [{ kind: "asset", one: { ...asset.one, quantity: "q" } }] },
        { q: value },
      );
      return "instances" in record && record.instances[0]?.kind === "asset" ? record.instances[0].quantity : undefined;
    };
    expect([quantity("12"), quantity(12), quantity("12.0"), quantity(undefined)]).toEqual([12, 12, 12, 1]);
  });
});

describe("a date", () => {
  const placedAt = (expression: JsonObject | string, d: JsonObject["d"]): unknown => {
    const record = map("orders", { ...order, placedAt: expression }, { d });
    return "placedAt" in record ? record.placedAt : undefined;
  };
  const refused = (expression: JsonObject | string, d: JsonObject["d"]): Rejection =>
    reject("orders", { ...order, placedAt: expression }, { d });
  const berlin = { date: "d", format: "yyyy-MM-dd HH:mm:ss", zone: "Europe/Berlin" };

  it.each([
    ["d", "2026-01-01T00:00:00+02:00", "2025-12-31T22:00:00.000Z"],
    ["d", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"],
    [{ date: "d" }, "2026-01-01T00:00:00.123456Z", "2026-01-01T00:00:00.123Z"],
    [{ date: "d", zone: "Europe/Berlin" }, "2026-07-01", "2026-06-30T22:00:00.000Z"],
    [{ date: "d", zone: "Europe/Berlin" }, "2026-07-01T12:00", "2026-07-01T10:00:00.000Z"],
    [berlin, "2026-01-15 12:00:00", "2026-01-15T11:00:00.000Z"],
    [
      { date: "d", format: "yyyy-MM-dd HH:mm:ss.SSS", zone: "UTC" },
      "1996-07-04 00:00:00.000",
      "1996-07-04T00:00:00.000Z",
    ],
    [{ date: "d", format: "d.M.yyyy", zone: "Asia/Shanghai" }, "4.7.2026", "2026-07-03T16:00:00.000Z"],
    [{ date: "d", format: "yyyyMMdd'T'HHmmssXXX" }, "20260704T120000+05:30", "2026-07-04T06:30:00.000Z"],
    [{ date: "d", format: "epoch_ms" }, 1_700_000_000_000, "2023-11-14T22:13:20.000Z"],
    [{ date: "d", format: "epoch_s" }, "1700000000", "2023-11-14T22:13:20.000Z"],
    // Clocks there skip midnight, or show it twice.
    [{ date: "d", zone: "Africa/Cairo" }, "2026-04-24", "2026-04-23T22:00:00.000Z"],
    [{ date: "d", zone: "Africa/Cairo" }, "2026-04-24T00:00:00", "2026-04-23T22:00:00.000Z"],
    [{ date: "d", format: "dd.MM.yyyy", zone: "Asia/Beirut" }, "29.03.2026", "2026-03-28T22:00:00.000Z"],
    [{ date: "d", format: "excel", zone: "America/Asuncion" }, 45200, "2023-10-01T04:00:00.000Z"],
    [{ date: "d", zone: "America/Havana" }, "2026-11-01", "2026-11-01T04:00:00.000Z"],
    [
      { plusTerm: { date: "d", zone: "Africa/Cairo" }, term: "1-0-0", zone: "Africa/Cairo" },
      "2026-04-24",
      "2027-04-23T22:00:00.000Z",
    ],
  ] satisfies [JsonObject | string, string | number, string][])("%j reads %s as %s", (expression, found, instant) => {
    expect(placedAt(expression, found)).toBe(instant);
  });

  it.each([
    [berlin, "2026-10-25 02:30:00", "clock-change"],
    [berlin, "2026-03-29 02:30:00", "clock-change"],
    [{ date: "d", zone: "Africa/Cairo" }, "2026-04-24T00:30", "clock-change"],
    [{ date: "d", zone: "America/Havana" }, "2026-11-01T00:00", "clock-change"],
    [berlin, "2026-02-30 12:00:00", "not-a-date"],
    [berlin, "2026-02-20T12:00:00", "not-a-date"],
    [berlin, "2026-02-20 24:00:00", "not-a-date"],
    [{ date: "d" }, "2026-01-01T00:00:00", "no-zone"],
    [{ date: "d" }, "2026-02-30", "not-a-date"],
    ["d", "2026-01-01", "not-an-instant"],
    ["d", "2026-02-30T00:00:00Z", "not-an-instant"],
    [{ date: "d", format: "epoch_s" }, 1_700_000_000_000, "no-such-date"],
    [{ date: "d", format: "epoch_ms" }, "soon", "not-a-date"],
    [{ date: "d", format: "yyyy-MM-dd", zone: "UTC" }, true, "not-a-date"],
  ] satisfies [JsonObject | string, string | number | boolean, string][])(
    "%j refuses %s: %s",
    (expression, found, code) => {
      expect(refused(expression, found)).toMatchObject({ id: "1", field: "placedAt", code });
    },
  );
});

describe("an amount", () => {
  const amount = (expression: JsonObject, raw: JsonObject): unknown => {
    const record = map("orders", { ...order, amount: expression }, raw);
    return "amount" in record ? record.amount : undefined;
  };

  it.each([
    ["14.10", 1410],
    ["0.07", 7],
    ["1.1", 110],
    ["-3", -300],
    ["14.1000", 1410],
    ["90071992547409.91", 9_007_199_254_740_991],
    [0.1, 10],
    [19.99, 1999],
    [4.35, 435],
    [1e3, 100_000],
  ])("%s is %i cents exactly", (found, minor) => {
    expect(amount({ money: "a", currency: "EUR" }, { a: found })).toEqual({ currency: "EUR", minor });
  });

  it.each<[Json, string, Json, number]>([
    [{}, "JPY", "500", 500],
    [{}, "JPY", "500.00", 500],
    [{}, "KWD", "1.005", 1005],
    [{}, "IDR", "12.50", 1250],
    // What is written with more decimals than the currency has is read in its minor unit all the same.
    [{ decimals: 2 }, "JPY", "500.00", 500],
    // Fewer decimals than the currency has are no other amount.
    [{ decimals: 2 }, "KWD", "12.50", 12_500],
    [{ decimals: 1 }, "EUR", "12.5", 1250],
    [{ decimals: 6 }, "EUR", "1.230000", 123],
    [{ decimals: 0 }, "EUR", "1250", 1250],
  ])("with %j is in the minor unit that %s has by ISO 4217: %j", (spec, c, a, minor) => {
    const mapping = { money: "a", currency: { path: "c" }, ...(spec as object) };
    expect(amount(mapping, { a, c })).toEqual({ currency: c, minor });
  });

  it.each([
    [{}, "JPY", "500.5"],
    [{}, "EUR", "1.005"],
    [{ decimals: 2 }, "JPY", "500.50"],
    [{ decimals: 6 }, "EUR", "1.2345"],
    [{ decimals: 0 }, "EUR", "12.50"],
  ])("with %j is refused where %s has no such minor unit: %s", (spec, c, a) => {
    const mapping = { ...order, amount: { money: "a", currency: { path: "c" }, ...spec } };
    expect(reject("orders", mapping, { a, c }).code).toBe("not-an-amount");
  });

  it("takes its currency, decimals and marks from the source", () => {
    expect(amount({ money: "a", currency: { path: "c" }, decimals: 0 }, { a: "1200", c: "JPY" })).toEqual({
      currency: "JPY",
      minor: 1200,
    });
    const german = { money: "a", currency: "EUR", decimalMark: ",", groupMark: "." };
    expect(amount(german, { a: "1.234.567,8" })).toEqual({ currency: "EUR", minor: 123_456_780 });
    for (const a of ["1.23,4", "12.34", "1,234.5", "1,2,3"]) {
      expect(reject("orders", { ...order, amount: german }, { a }).code, a).toBe("not-an-amount");
    }
  });

  it.each(["14.105", "1e3", "12 EUR", "1,234.00", "", "90071992547409.92", "--1"])(
    "is never rounded or guessed from %j",
    (a) => {
      const spec = { ...order, amount: { money: { first: ["a", { value: "?" }] }, currency: "EUR" } };
      expect(reject("orders", spec, { a })).toMatchObject({ field: "amount", code: "not-an-amount" });
    },
  );

  it("without a usable currency is refused", () => {
    const spec = { ...order, amount: { money: "a", currency: { path: "c" } } };
    expect(reject("orders", spec, { a: "1", c: "Euro" })).toMatchObject({ field: "amount", code: "not-a-currency" });
    expect(reject("orders", spec, { a: "1" })).toMatchObject({ field: "amount", code: "not-a-currency" });
  });
});

describe("lists of objects", () => {
  const product = {
    id: { template: "P-{n}" },
    parentId: { template: "A-{^.id}" },
    name: "name",
    type: { value: "tool" },
    nodes: { value: 1 },
    timeUnit: { value: "year" },
    timeUnitQuantity: { value: 1 },
    term: { value: "1-0-0" },
  };

  it("are made of single objects and of the elements of lists, nested ones too, with a way to what is around them", () => {
    const spec = {
      id: "id",
      customerId: "customer",
      instances: [
        {
          kind: "asset",
          one: {
            id: { template: "A-{id}" },
            licenseType: { value: "softkey" },
            extensions: { each: "ext", fields: { code: "k", value: "v" } },
          },
        },
        {
          kind: "product",
          each: "lines",
          when: { path: "qty", in: [1, 2] },
          fields: {
            ...product,
            features: [
              {
                each: "features",
                fields: {
                  code: "code",
                  name: { template: "{^.name}/{^.^.id}" },
                  value: { path: "v", default: "" },
                  valueType: { value: "text" },
                },
              },
            ],
          },
        },
        {
          kind: "feature",
          when: { path: "extra", present: true },
          one: {
            parentId: { value: "P-1" },
            code: "extra",
            name: "extra",
            value: { value: "1" },
            valueType: { value: "int" },
          },
        },
      ],
    };
    const raw = {
      id: "7",
      customer: "C",
      ext: { k: "gxxp", v: "1" },
      lines: [
        { n: 1, name: "one", qty: 1, features: [{ code: "f", v: null }] },
        { n: 2, name: "two", qty: "2" },
        { n: 3, name: "three", qty: 3 },
      ],
    };
    const record = map("orders", spec, raw);
    expect("instances" in record && record.instances).toMatchObject([
      { kind: "asset", id: "A-7", extensions: [{ code: "gxxp", value: "1" }] },
      {
        kind: "product",
        id: "P-1",
        parentId: "A-7",
        features: [{ code: "f", name: "one/7", value: "", trial: false }],
      },
      { kind: "product", id: "P-2", parentId: "A-7", features: [] },
    ]);
    const withExtra = map("orders", spec, { ...raw, extra: "x" });
    expect("instances" in withExtra && withExtra.instances.at(-1)).toMatchObject({ kind: "feature", code: "x" });
  });

  it("take the variant that has the fields that are written", () => {
    const spec = {
      id: "id",
      customerId: { value: "C" },
      userName: "id",
      name: "id",
      assets: [
        { each: "numbers", fields: { assetNumber: "." } },
        { each: "owns", fields: { instanceId: "ref" } },
      ],
    };
    const record = map("staff", spec, { id: "s", numbers: ["61", "62"], owns: [{ ref: "A-1" }] });
    expect("assets" in record && record.assets).toEqual([
      { assetNumber: "61" },
      { assetNumber: "62" },
      { instanceId: "A-1" },
    ]);
  });

  it("name the element and the field that cannot be used", () => {
    const spec = {
      ...order,
      id: "id",
      instances: [asset, { kind: "product", each: "lines", fields: { ...product, nodes: "qty" } }],
    };
    const raw = {
      id: "7",
      lines: [
        { n: 1, name: "a", qty: 1 },
        { n: 2, name: "b", qty: "many" },
      ],
    };
    expect(reject("orders", spec, raw)).toEqual({
      namespace: "crm",
      id: "7",
      customerId: "C",
      field: "instances[2].nodes",
      code: "not-a-whole-number",
      message: 'instances[2].nodes: found text of 4 characters in the form "aaaa"',
      expected: "a whole number",
    });
    expect(reject("orders", spec, { id: "7", lines: [{ n: 1, name: null, qty: 1 }] })).toMatchObject({
      field: "instances[1].name",
      code: "missing",
    });
    expect(reject("orders", spec, { id: "7", lines: "x" })).toMatchObject({ code: "not-a-list" });
    expect(reject("orders", spec, { id: "7", lines: [{ n: 1, name: "a", qty: -1 }] })).toMatchObject({
      field: "instances[1].nodes",
      code: "does-not-fit",
    });
  });

  it.each<[string, JsonObject]>([
    ["alone", { path: { number: "n" }, present: false }],
    ["in any", { any: [{ path: { number: "n" }, present: false }] }],
  ])("are not made where nobody knows whether their condition holds, %s", (_name, when) => {
    const entry = { ...asset, when };
    for (const instances of [[entry], [{ ...entry, one: undefined, each: "lines", fields: asset.one }]]) {
      const spec = { ...order, instances };
      const raw = { lines: [{ n: "many" }], n: "many" };
      expect(reject("orders", spec, raw)).toMatchObject({ field: "instances[0]", code: "not-a-number" });
      expect(compileStream("orders", spec).gives(raw)).not.toHaveProperty("instances.0");
    }
  });
});

describe("a record that cannot be used", () => {
  const spec = { ...customerMapping, customerType: "type", adminMobile: "mobile", namespace: { value: "erp" } };

  it("is named by its key and field, and by the shape and never the value of what was found", () => {
    expect(reject("customers", spec, { id: "7", name: "Ada", type: "Ada Lovelace-1" })).toEqual({
      namespace: "erp",
      id: "7",
      field: "customerType",
      code: "unknown-word",
      message: 'customerType: found text of 14 characters in the form "Aaa Aaaaaaaa-9"',
      expected: "one of personal, company",
    });
    const canary = "+49 170 CANARY";
    for (const mobile of [{ canary }, [canary], true]) {
      const rejection = reject("customers", spec, { id: "7", name: "Ada", type: "company", mobile });
      expect(rejection.field).toBe("adminMobile");
      expect(JSON.stringify(rejection)).not.toContain("CANARY");
    }
  });

  it("names the customer that it belongs to, where that can be read", () => {
    const whose = { id: "id", customerId: "customer", customerNamespace: "of", userName: "login", name: "name" };
    expect(reject("staff", whose, { id: "7", customer: "C1" })).toMatchObject({ id: "7", customerId: "C1" });
    expect(reject("staff", whose, { customer: "C1", of: "erp" })).toMatchObject({
      customerId: "C1",
      customerNamespace: "erp",
    });
    expect(reject("staff", whose, { id: "7", customer: ["C1"] })).not.toHaveProperty("customerId");
  });

  it("has no id where that is what is missing", () => {
    expect(reject("customers", spec, { name: "Ada", type: "company" })).toMatchObject({
      namespace: "erp",
      field: "id",
      code: "missing",
    });
    expect(reject("customers", spec, { id: "x".repeat(201), name: "a", type: "company" })).not.toHaveProperty("id");
  });

  it("does not change how the next one is read", () => {
    const run = compileStream("customers", spec).map;
    expect(run({ id: "1" }).ok).toBe(false);
    expect(run({ id: "2", name: "b", type: "company" })).toMatchObject({
      ok: true,
      value: { stream: "customers", record: { id: "2", namespace: "erp" } },
    });
  });
});

describe("a mistake in a mapping", () => {
  it.each([
    [{ ...customer, nmae: "x" }, "nmae", "unknown target field"],
    [{ ...customer, name: undefined }, "name", "the field is required"],
    [{ ...customer, address: { uper: "x" } }, "address", "found the keys uper; expected one of value"],
    [{ ...customer, address: { upper: "x", lower: "x" } }, "address", "found upper and lower together"],
    [{ ...customer, address: { upper: "x", separator: "," } }, "address.separator", "unknown"],
    [{ ...customer, address: 7 }, "address", "{value: 7}"],
    [{ ...customer, address: "a..b" }, "address", 'the path "a..b" cannot be read'],
    [{ ...customer, address: "^.a" }, "address", "goes above the record"],
    [{ ...customer, address: { template: "A-{id" } }, "address.template", "single {"],
    [{ ...customer, address: { lookup: { table: "x", key: "id" } } }, "address.lookup.table", "no such table"],
    [
      { ...customer, address: { when: { path: "a", equals: 1, present: true }, then: "b" } },
      "address.when",
      "exactly one of",
    ],
    [{ ...customer, customerType: { value: "firm" } }, "customerType", 'the constant "firm" does not fit'],
  ] satisfies [JsonObject, string, string][])("%j is named at %s: %s", (spec, path, message) => {
    const mistakes = findMistakes("customers", spec, { tables: new Map() });
    expect(mistakes.map((found) => found.path.join("."))).toContain(path);
    expect(mistakes.map((found) => found.message).join("\n")).toContain(message);
    let thrown: unknown;
    try {
      compileStream("customers", spec, { place: "sources.erp.streams.customers.mapping" });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(Problem);
    expect(thrown).toMatchObject({
      code: "config.mapping",
      exitCode: 78,
      place: `sources.erp.streams.customers.mapping.${path}`,
    });
  });

  it.each([
    [{ placedAt: { date: "d", format: "yyyy-MM-dd" } }, "placedAt", "the key zone is missing"],
    [{ placedAt: { date: "d", format: "yyyy-MM-DD", zone: "UTC" } }, "placedAt", 'has "DD"'],
    [{ placedAt: { date: "d", zone: "Europe/Bärlin" } }, "placedAt", "unknown"],
    [{ placedAt: { date: "d", zone: "UTC", clockChange: "later" } }, "placedAt.clockChange", "unknown; beside date"],
    [{ amount: { money: "a" } }, "amount.currency", "expected a currency"],
    [{ amount: { money: "a", currency: "EUR", decimals: 2.5 } }, "amount.decimals", "whole number"],
    [{ instances: "lines" }, "instances", "expected a list of"],
    [{ instances: [{ each: "lines", fields: {} }] }, "instances.0.kind", "expected one of asset, package"],
    [{ instances: [{ kind: "asset", each: "lines" }] }, "instances.0", "either one, or each and fields"],
    [{ instances: [{ kind: "asset", one: { id: "id" } }] }, "instances.0.one.licenseType", "the field is required"],
    [
      { instances: [{ kind: "asset", each: "lines", fields: { ...asset.one, id: "^.^.id" } }] },
      "instances.0.fields.id",
      "goes above",
    ],
  ] satisfies [JsonObject, string, string][])("%j of an order is named at %s", (change, path, message) => {
    const mistakes = findMistakes("orders", { ...order, ...change }, { tables: new Map() });
    expect(mistakes.map((found) => [found.path.join("."), found.message])).toEqual([
      [path, expect.stringContaining(message)],
    ]);
  });
});

describe("secrets", () => {
  const staff = { id: "id", customerId: "c", userName: "id", name: "id", password: "login.password" };
  const orders = {
    id: "id",
    customerId: "c",
    instances: [
      asset,
      {
        kind: "product",
        each: "lines",
        fields: {
          id: "n",
          parentId: { value: "A" },
          name: "n",
          type: { value: "t" },
          nodes: { value: 1 },
          timeUnit: { value: "year" },
          timeUnitQuantity: { value: 1 },
          term: { value: "1-0-0" },
          passwords: "keys",
        },
      },
    ],
  };

  it("name the places they come from, which can be blanked in a copy", () => {
    expect(secretPaths("staff", staff)).toEqual(["login.password"]);
    expect(secretPaths("orders", orders)).toEqual(["lines[].keys"]);
    expect(secretPaths("customers", customer)).toEqual([]);
    const raw = { id: "1", lines: [{ n: 1, keys: ["s1", "s2"] }, { n: 2 }, { n: 3, keys: "s3" }, null] };
    expect(blankSecrets(raw, ["lines[].keys", "missing.path", "id.x"])).toEqual({
      id: "1",
      lines: [{ n: 1, keys: "[secret]" }, { n: 2 }, { n: 3, keys: "[secret]" }, null],
    });
    expect(raw.lines[0]).toEqual({ n: 1, keys: ["s1", "s2"] });
    expect(blankSecrets({ lines: { keys: "s" } }, ["lines[].keys"])).toEqual({ lines: { keys: "[secret]" } });
  });

  it("are mapped from plain paths alone", () => {
    expect(map("staff", staff, { id: "a", c: "C", login: { password: "0012" } })).toMatchObject({ password: "0012" });
    const [mistake] = findMistakes("staff", { ...staff, password: { template: "{id}!" } }, { tables: new Map() });
    expect(mistake).toMatchObject({ path: ["password"], message: "is a secret; expected a plain path" });
  });

  it.each([
    [{ ...staff, remark: "login.password" }, ["remark"]],
    [{ ...staff, remark: { template: "x {login}" } }, ["remark", "template"]],
    [
      { ...staff, remark: { when: { path: "login.password", present: true }, then: { value: "has one" } } },
      ["remark", "when", "path"],
    ],
  ] satisfies [JsonObject, string[]][])("are read for nothing else: %j", (spec, path) => {
    expect(findMistakes("staff", spec, { tables: new Map() })).toMatchObject([
      { path, message: expect.stringContaining("holds a secret") },
    ]);
  });

  it("are no key of a stream", () => {
    expect(findMistakes("staff", staff, { tables: new Map(), keys: ["login.password"] })).toHaveLength(1);
    expect(findMistakes("staff", staff, { tables: new Map(), keys: ["id"] })).toHaveLength(0);
  });
});

describe("an object in a record", () => {
  const merged = (spec: JsonObject, raw: JsonObject): unknown => {
    const record = map("customers", { ...customer, mergedInto: spec }, raw);
    return "mergedInto" in record ? record.mergedInto : undefined;
  };

  it("is made of its fields, and there is none where a required one has no value", () => {
    expect(merged({ id: "into" }, { into: "C2" })).toEqual({ id: "C2" });
    expect(merged({ id: "into" }, {})).toBeUndefined();
    expect(merged({ id: "into", namespace: { value: "portal" } }, { into: "" })).toBeUndefined();
    expect(merged({ id: "into", namespace: { value: "portal" } }, { into: 7 })).toEqual({
      id: "7",
      namespace: "portal",
    });
  });

  it("is refused with its place where a value does not fit", () => {
    const refused = reject("customers", { ...customer, mergedInto: { id: "into" } }, { into: true });
    expect(refused).toMatchObject({ field: "mergedInto.id", code: "wrong-type" });
  });

  it("is a mistake of the mapping where a required field is missing or one is unknown", () => {
    const spec = { ...customer, mergedInto: { name: "into" } };
    const messages = findMistakes("customers", spec, { tables: new Map() }).map(({ path, message }) => [
      path.join("."),
      message,
    ]);
    expect(messages).toEqual([
      ["mergedInto.id", "missing; the field is required"],
      ["mergedInto.name", "unknown target field; expected one of id, namespace"],
    ]);
  });
});

describe("the zone of a local date", () => {
  const product = {
    id: "id",
    parentId: { value: "A" },
    name: "id",
    gmsPid: "id",
    type: { value: "tool" },
    nodes: { value: 1 },
    timeUnit: { value: "YEAR" },
    timeUnitQuantity: { value: 1 },
    term: { value: "1-0-0" },
    limitEnd: { date: "end", zone: "Asia/Shanghai" },
  };
  const dated = (placedAt: JsonObject | string, ends: readonly string[] = []): unknown => {
    const instances = [asset, { kind: "product", each: "products", fields: product }];
    const products = ends.map((end, index) => ({ id: `P${index}`, end }));
    const result = compileStream("orders", { ...order, placedAt, instances }).map({
      products,
      on: "2026-10-01",
      at: "2026-10-01T00:00:00+08:00",
      ms: 1_790_784_000_000,
    });
    if (!result.ok) throw new Error(JSON.stringify(result.error));
    return result.value.zones;
  };
  const zone = "Asia/Shanghai";

  it("stands beside the record, and nowhere in it", () => {
    expect(dated({ date: "on", zone })).toEqual({ placedAt: zone });
    const [local, instant] = [{ date: "on", zone }, "at"].map((placedAt) =>
      map("orders", { ...order, placedAt }, { on: "2026-10-01", at: "2026-10-01T00:00:00+08:00" }),
    );
    expect(local).toEqual(instant);
  });

  it.each([
    ["a moment", "at"],
    ["a moment where there may be local dates", { date: "at", zone }],
    ["a number", { date: "ms", format: "epoch_ms", zone }],
    ["nothing", { date: "none", zone }],
    ["a constant in the place of nothing", { date: "none", zone, default: "2026-10-01T00:00:00.000Z" }],
  ])("is none of %s", (_, placedAt) => {
    expect(dated(placedAt)).toBeUndefined();
  });

  it("is that of a field of many items where they agree, and of no record before", () => {
    expect(dated("at", ["2027-10-01", "2027-11-01"])).toEqual({ "product.limitEnd": zone });
    expect(dated("at", ["2027-10-01", "2027-10-01T00:00:00Z", "2027-10-01"])).toBeUndefined();
    expect(dated({ date: "on", zone }, ["2027-10-01T00:00:00Z", "2027-10-01"])).toEqual({ placedAt: zone });
    const run = compileStream("orders", { ...order, placedAt: { date: "on", zone } }).map;
    expect(run({ on: "2026-10-01" })).toMatchObject({ value: { zones: { placedAt: zone } } });
    expect(run({ on: "2026-10-01T00:00:00Z" })).not.toHaveProperty("value.zones");
  });
});

it("reads the names of months also where V8 optimizes no expression any more", () => {
  setFlagsFromString("--no-regexp-optimization");
  onTestFinished(() => setFlagsFromString("--regexp-optimization"));
  const format = parseFormat("d MMM yyyy");
  expect(
    format.ok && ["4 Feb 2026", "4 feb 2026", "4 FEB 2026"].map((text) => format.value.read(text)?.time.month),
  ).toEqual([2, 2, 2]);
});
