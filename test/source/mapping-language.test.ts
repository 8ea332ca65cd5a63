/* oxlint-disable unicorn/no-thenable -- `then` is a word of the mapping here, never a function */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../src/base/canonical-json.ts";
import { compileStream, findMistakes } from "../../src/source/mapping/compile.ts";
import { valueTable } from "../../src/source/mapping/context.ts";
import { operators } from "../../src/source/mapping/operators.ts";
import { customerMapping } from "./support.ts";

const customer = { ...customerMapping, id: { value: "1" }, name: { value: "n" } };
const tables = new Map([
  ["names", valueTable({ 7: "seven" })],
  ["packs", { columns: ["seats"], rows: new Map([["CAD", ["10"]]]) }],
]);

/** What an expression gives for the optional text field `address`; the code of its refusal in brackets. */
function found(expression: Json, record: JsonObject): unknown {
  const result = compileStream("customers", { ...customer, address: expression }, { tables }).map(record);
  if (!result.ok) return [result.error.code];
  return "address" in result.value.record ? result.value.record.address : undefined;
}

/** What is wrong with a mapping that has this expression for a field, by key path. */
function mistakes(expression: Json, field = "address"): string[] {
  return findMistakes("customers", { ...customer, [field]: expression }, { tables }).map(
    ({ path, message }) => `${path.join(".")}: ${message}`,
  );
}

describe("a pattern", () => {
  it.each([
    ["(a)\\1", "backreferences can run away"],
    ["a(?=b)", "look-arounds and backreferences can run away"],
    ["(?<!a)b", "look-arounds and backreferences can run away"],
    ["a{201}", "repeats something {201} times; expected at most 200"],
    ["a{1,5000}", "expected at most 200"],
    ["(a{100}){100}", "invalid repeat count"],
    ["((a{50}){50}b){2}", "invalid repeat count"],
    ["(abcdefghijkl{90}){9}x{200}", "steps; expected at most"],
    ["[a", "missing closing ]"],
    ["a".repeat(501), "has 501 characters; expected at most 500"],
    ["\ud800", "expected at most 500"],
  ])("%j is refused when it is read, with its key", (pattern, reason) => {
    for (const [key, expression] of [
      ["extract", { extract: "x", pattern }],
      ["replace", { replace: "x", pattern }],
      ["matches", { when: { path: "x", matches: pattern }, then: "x" }],
    ] satisfies [string, Json][]) {
      const all = mistakes(expression);
      expect(all, key).toHaveLength(1);
      expect(all[0]).toContain(reason);
      expect(all[0]).toMatch(/^address\.(?:pattern|when\.matches): /u);
    }
  });

  it.each(["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(.*)*y$", "(x+x+)+y"])(
    "%s does not run away on any text, and one that is too long to search is refused",
    (pattern) => {
      const extract = { extract: "x", pattern };
      expect(found(extract, { x: `${"a".repeat(9_998)}!` })).toBeUndefined();
      expect(found(extract, { x: "x".repeat(9_999) })).toBeUndefined();
      expect(found(extract, { x: "a".repeat(10_001) })).toEqual(["too-long"]);
    },
  );

  it("replaces by groups of both kinds, and names one that is not there", () => {
    const record = { x: "Lee, Ann" };
    const pattern = "^(?<last>[^,]+), (.+)$";
    expect(found({ replace: "x", pattern, with: "$2 $<last> $$1" }, record)).toBe("Ann Lee $1");
    expect(mistakes({ replace: "x", pattern, with: "$3" })[0]).toContain("no group $3");
    expect(mistakes({ replace: "x", pattern, with: "$<first>" })[0]).toContain("no group $<first>");
  });

  it("makes no text larger than a record can be", () => {
    const long = "a".repeat(10_000);
    expect(found({ replace: "x", pattern: "a", with: "b".repeat(1_000) }, { x: long })).toEqual(["too-long"]);
    expect(found({ replace: "x", pattern: "^(.*)$", with: "$1".repeat(400) }, { x: long })).toEqual(["too-long"]);
  });
});

describe("hostile values", () => {
  const huge = "a,".repeat(32_000_000);

  it.each(
    Object.entries({
      replace: { replace: "x", pattern: "a", with: "bb" },
      extract: { extract: "x", pattern: "a+" },
      login: { login: "x" },
    } satisfies Record<string, Json>),
  )("a text of 64 MB is refused by %s", (_name, expression) => {
    expect(found(expression, { x: huge })).toEqual(["too-long"]);
  });

  it("a text of 64 MB is no number, no date, no phone number and no word of a list", () => {
    expect(found({ multiply: ["x", 1] }, { x: "9".repeat(64_000_000) })).toEqual(["not-a-number"]);
    expect(found({ date: "x", format: "dd.MM.yyyy", zone: "UTC" }, { x: huge })).toEqual(["not-a-date"]);
    expect(found({ phone: "x", country: "DE" }, { x: huge })).toEqual(["not-a-phone-number"]);
  });

  it.each(
    Object.entries(operators)
      .filter(([, { reference }]) => "broken-text" in (reference.refuses ?? {}))
      .map(([name]) => name),
  )("half a surrogate pair never comes through %s", (name) => {
    const [example] = operators[name]?.reference.examples ?? [];
    if (example === undefined) throw new Error(`no example of ${name}`);
    const broken = (value: Json): Json =>
      typeof value === "string" || typeof value === "number"
        ? "a\ud800b@x"
        : Array.isArray(value)
          ? value.map(broken)
          : typeof value === "object" && value !== null
            ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, broken(inner ?? null)]))
            : value;
    const address = name === "split" ? { concat: example.expression } : example.expression;
    const examples = new Map([...tables, ["regions", valueTable({ DE: "EMEA" })]]);
    const mapped = compileStream("customers", { ...customer, address }, { tables: examples }).map;
    const result = mapped(
      Object.fromEntries(Object.entries(example.record).map(([key, value]) => [key, broken(value ?? null)])),
    );
    expect(JSON.stringify(result)).not.toMatch(/\\ud800/u);
    expect(result).toMatchObject({ ok: false });
  });

  it("names such as __proto__ and constructor are keys like any other, and change nothing else", () => {
    const record: JsonObject = JSON.parse(
      '{"k":"__proto__","list":[{"__proto__":{"x":1},"k":"constructor"},{"k":"__proto__"}]}',
    );
    expect(found({ map: "k", values: { a: "b" } }, record)).toEqual(["unknown-word"]);
    expect(found({ lookup: { table: "names", key: "k" } }, record)).toEqual(["not-in-table"]);
    expect(found({ concat: { collect: "list", give: "k" }, separator: ", " }, record)).toBe("constructor, __proto__");
    expect(found({ firstWhere: "list", where: { path: "x", present: true }, give: "x" }, record)).toBeUndefined();
    expect(found({ date: "k", format: "iso" }, record)).toEqual(["not-a-date"]);
    expect(mistakes({ date: "k", format: "__proto__" })[0]).toContain("expected");
    expect(mistakes({ lookup: { table: "packs", key: "k", column: "__proto__" } })[0]).toContain("columns seats");
    expect(mistakes({ constructor: "k" })[0]).toContain("expected one of");
    expect(mistakes({ phone: "k", country: "__proto__" })[0]).toContain("expected a country");
    expect(Object.hasOwn(Object.prototype, "x")).toBe(false);
  });

  it(
    "10,000 elements are worked on; lists that grow by each other are refused before they are made",
    { tags: "long" },
    () => {
      const list = Array.from({ length: 10_000 }, (_, index) => ({ id: index % 5_000, seats: "0.1", tags: ["a"] }));
      const few = { count: { filter: "list", where: { path: "id", below: 10 } } };
      expect(found({ first: [few, "x"] }, { list })).toBe("20");
      const all = {
        collect: "list",
        give: { count: { filter: "^.list", where: { path: "id", equals: { path: "^.id" } } } },
      };
      expect(found({ concat: all }, { list })).toEqual(["too-many"]);
      const grown = { concat: { collect: "list", give: "^.list" } };
      expect(found(grown, { list: list.slice(0, 400) })).toEqual(["too-many"]);
    },
  );

  it("expressions in each other go only so deep", () => {
    let expression: Json = "x";
    for (let depth = 0; depth < 5_000; depth += 1) expression = { trim: expression };
    expect(mistakes(expression)[0]).toContain("expected at most 60 expressions in each other");
  });

  it.each(["Mars/Olympus", "Europe/Berlin ", "+25:00", "__proto__", ""])(
    "the zone %j is refused when it is read",
    (zone) => {
      expect(mistakes({ plusTerm: "x", term: "1-0-0", zone })[0]).toMatch(/^address\.zone: the zone/u);
      expect(mistakes({ date: "x", zone })[0]).toMatch(/the zone/u);
    },
  );
});

describe("arithmetic", () => {
  const text = (scaled: bigint, scale: number): string => {
    const digits = String(scaled < 0n ? -scaled : scaled).padStart(scale + 1, "0");
    const sign = scaled < 0n ? "-" : "";
    return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  };
  const scaled = fc.bigInt({ min: -99_999_999n, max: 99_999_999n });

  it("on decimals is what whole numbers of their smallest unit say", () => {
    fc.assert(
      // Three decimals could be thousands.
      fc.property(scaled, scaled, fc.constantFrom(0, 1, 2, 4, 5, 6), (one, other, scale) => {
        const record = { a: text(one, scale), b: text(other, scale) };
        const shortest = (value: bigint, digits: number): string =>
          digits === 0
            ? text(value, 0)
            : text(value, digits)
                .replace(/\.?0+$/u, "")
                .replace(/^-0$/u, "0");
        const product = found({ multiply: ["a", "b"] }, record);
        const exact = shortest(one * other, 2 * scale);
        const digits = exact.replaceAll(/[-.]/gu, "").replace(/^0+/u, "").length;
        if (digits <= 15) expect(product).toBe(plainNumber(exact));
        else expect([plainNumber(exact), "not-exact"]).toContain(Array.isArray(product) ? product[0] : product);
      }),
    );
  });

  /** As a number is written, which is the same but for very small ones. */
  function plainNumber(exact: string): string {
    return String(Number(exact));
  }

  it.each([
    [{ multiply: ["a", 3] }, { a: 1.1 }, "3.3"],
    [{ multiply: ["a", 20] }, { a: "900719925474099" }, ["not-exact"]],
    [{ multiply: ["a", "b"] }, { a: "90071992547.40991", b: "0.01" }, ["not-exact"]],
    [{ multiply: ["a", 2] }, { a: "12.5000000000000000" }, "25"],
    [{ multiply: ["a", 2] }, { a: "0.6666666666666667" }, ["not-a-number"]],
    [{ multiply: ["a", 1] }, { a: "1e400" }, ["not-a-number"]],
    [{ multiply: ["a", 1] }, { a: 1e300 }, ["not-exact"]],
    [{ multiply: ["a", 1] }, { a: 1e-300 }, ["not-exact"]],
    [{ multiply: ["a", 1] }, { a: "Infinity" }, ["not-a-number"]],
    [{ multiply: ["a", 1] }, { a: "0x10" }, ["not-a-number"]],
    [{ multiply: ["a", 1] }, { a: "٣" }, ["not-a-number"]],
    [{ multiply: ["a", 1] }, { a: "9".repeat(41) }, ["not-a-number"]],
  ] satisfies [Json, JsonObject, unknown][])("%j of %j is %j", (expression, record, expected) => {
    expect(found(expression, record)).toEqual(expected);
  });

  it("wants two numbers at least", () => {
    expect(mistakes({ multiply: ["a"] })[0]).toContain("two or more");
  });
});

describe("what fits nowhere", () => {
  it.each([
    [
      { when: { path: "x", below: "2026-01-01" }, then: "x" },
      'when.below: found "2026-01-01"; expected a number or an',
    ],
    [{ when: { path: "x", above: "3" }, then: "x" }, 'when.above: found "3"; expected a number or an instant'],
    [{ when: { all: [] }, then: "x" }, "address.when.all: expected a list of conditions"],
    [{ when: { not: { path: "x" } }, then: "x" }, "address.when.not: expected exactly one of"],
    [{ when: { all: [{ path: "x", present: true }], any: [] }, then: "x" }, "found all and any together"],
    [{ path: { upper: "x" } }, "address.path: expected a path as text"],
    [{ date: "x", zone: "UTC", clockChange: "later" }, "address.clockChange: unknown; beside date there can be"],
    [{ flatten: "x" }, "address: found the keys flatten; expected one of"],
  ] satisfies [Json, string][])("%j: %s", (expression, expected) => {
    expect(mistakes(expression).join("\n")).toContain(expected);
  });

  it("a term is read only where there is a beginning, and both sides of an equation are read", () => {
    expect(found({ plusTerm: "from", term: { path: "x" }, zone: "UTC" }, { x: ["1-0-0"] })).toBeUndefined();
    const same = { path: "none", equals: { upper: "x" } };
    expect(found({ when: same, then: "x" }, { x: ["a"] })).toEqual(["wrong-type"]);
  });

  it.each([
    [{ upper: { split: "x" } }, "wrong-type"],
    [{ boolean: "x" }, "wrong-type"],
    [{ multiply: [{ split: "x" }, 1] }, "not-a-number"],
    [{ plusTerm: { count: "x" }, term: "1-0-0", zone: "UTC" }, "not-an-instant"],
    [{ when: { path: { split: "x" }, above: 3 }, then: "x" }, "not-a-number"],
  ] satisfies [Json, string][])("%j refuses the record: %s", (expression, code) => {
    expect(found(expression, { x: "true" })).toEqual([code]);
  });
});
