import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../src/base/canonical-json.ts";
import { compileStream, findMistakes, partsOf, secretPaths } from "../../src/source/mapping/compile.ts";
import { formatRawPath } from "../../src/source/mapping/path.ts";

const staff = { id: "id", customerId: "customer", userName: "login", name: "name" };
const person = { id: "1", customer: "C1", login: "ann", name: "Ann" };
const order = { id: "id", customerId: "customer" };
const product = {
  id: "id",
  parentId: { template: "{^.id}-A" },
  name: "name",
  gmsPid: "name",
  type: { value: "tool" },
  nodes: { multiply: ["quantity", "perUnit"] },
  timeUnit: { value: "YEAR" },
  timeUnitQuantity: { value: 1 },
  term: { value: "1-0-0" },
};

function assetsOf(each: Json, record: JsonObject, fields: JsonObject = { assetNumber: "number" }): unknown {
  const result = compileStream("staff", { ...staff, assets: { each, fields } }).map({ ...person, ...record });
  if (!result.ok) return result.error;
  return "assets" in result.value.record ? result.value.record.assets : undefined;
}

function mistakes(stream: "orders" | "staff", spec: JsonObject, skip?: Json): string[] {
  return findMistakes(stream, spec, { tables: new Map(), skip }).map(
    ({ path, message }) => `${path.join(".")}: ${message}`,
  );
}

describe("`each` of an expression", () => {
  const held = [
    { number: "3", kind: "seat", until: "2026-12-31T00:00:00Z" },
    { number: "1", kind: "seat", until: "2026-06-30T00:00:00Z" },
    { number: "2", kind: "key", until: "2026-12-31T00:00:00Z" },
    { number: "1", kind: "seat", until: "2026-06-30T00:00:00Z" },
  ];
  const seats = { filter: "held", where: { path: "kind", equals: "seat" } };

  it.each<[string, Json, string[]]>([
    ["filter", seats, ["1", "1", "3"]],
    [
      "an element that is the only one",
      { list: [{ firstWhere: "held", where: { path: "number", equals: 2 } }] },
      ["2"],
    ],
  ])("makes an object for each element: %s", (_name, each, numbers) => {
    expect(assetsOf(each, { held })).toEqual(numbers.map((assetNumber) => ({ assetNumber })));
  });

  it("gives lists of lists, with the way to what is around an element as everywhere", () => {
    const record = { teams: [{ team: "a", held: ["1", "2"] }, { team: "b" }, { team: "c", held: "3" }] };
    const numbers = { collect: "teams", give: "held" };
    expect(assetsOf(numbers, record, { assetNumber: "." })).toEqual(
      ["1", "2", "3"].map((assetNumber) => ({ assetNumber })),
    );
    const named = { collect: "teams", give: { list: [{ template: "{^.login}-{team}" }] } };
    expect(assetsOf(named, record, { assetNumber: "." })).toEqual(
      ["ann-a", "ann-b", "ann-c"].map((assetNumber) => ({ assetNumber })),
    );
  });

  it("compares an element with what is around it", () => {
    const own = { filter: "held", where: { path: "owner", equals: { path: "^.login" } } };
    const record = {
      held: [
        { number: "1", owner: "ann" },
        { number: "2", owner: "bob" },
      ],
    };
    expect(assetsOf(own, record)).toEqual([{ assetNumber: "1" }]);
  });

  it("refuses a record where the condition of an element cannot be told, and names the field", () => {
    const many = { filter: "held", where: { path: "count", above: 1 } };
    expect(assetsOf(many, { held: [{ count: "many", number: "1" }] })).toMatchObject({ code: "not-a-number" });
    const spec = {
      ...staff,
      assets: { each: "held", when: { path: "count", above: 1 }, fields: { assetNumber: "n" } },
    };
    expect(compileStream("staff", spec).map({ ...person, held: [{ count: "x" }] })).toMatchObject({
      ok: false,
      error: { code: "not-a-number", field: "assets[0]" },
    });
  });

  it("knows the columns that it reads, so that a file without one is not read", () => {
    const wanted = [
      { path: "kind", equals: { path: "^.wanted" } },
      { path: "sku", present: true },
    ];
    const each = { filter: "lines", where: { all: wanted } };
    const { reads } = partsOf(
      "staff",
      { ...staff, assets: { each, fields: { assetNumber: "number" } } },
      {
        not: { path: "left", present: true },
      },
    );
    const paths = reads.map(({ steps }) => formatRawPath(steps));
    for (const path of ["lines", "lines[].kind", "wanted", "lines[].sku", "lines[].number", "left"])
      expect(paths).toContain(path);
  });
});

describe("secrets in lists that are chosen from", () => {
  const withSecrets = (each: Json, more: JsonObject = {}): JsonObject => ({
    ...order,
    instances: [
      { kind: "asset", one: { id: { template: "{id}-A" }, licenseType: { value: "softkey" } } },
      { kind: "product", each, fields: { ...product, passwords: "passwords" } },
    ],
    ...more,
  });
  const bought = { filter: "lines", where: { path: "type", equals: "licence" } };

  it("are blanked at the place that they are read from", () => {
    for (const each of ["lines", bought]) {
      expect(mistakes("orders", withSecrets(each))).toEqual([]);
      expect(secretPaths("orders", withSecrets(each))).toEqual(["lines[].passwords"]);
    }
  });

  it.each<[string, Json]>([
    ["a list that was put together", { list: ["lines"] }],
    ["what an expression made of each element", { collect: "lines", give: "inner" }],
  ])("may not be read from %s, whose place nobody can blank", (_name, each) => {
    expect(mistakes("orders", withSecrets(each)).join("\n")).toContain("is a secret; expected a path to a member");
  });

  it.each<[string, JsonObject, Json | undefined]>([
    ["a text of the list", { channelOrderId: { concat: "lines" } }, undefined],
    [
      "an expression of its elements",
      { id: { concat: { collect: "lines", give: { concat: "passwords" } } } },
      undefined,
    ],
    ["the condition under which a record is skipped", {}, { path: "lines[0].passwords[0]", equals: "x" }],
    [
      "a condition inside a list",
      {},
      { path: { count: { filter: "lines", where: { path: "passwords", present: true } } }, above: 0 },
    ],
  ])("may not be read by %s", (_name, more, skip) => {
    expect(mistakes("orders", withSecrets(bought, more), skip).join("\n")).toContain("holds a secret");
  });

  it("do not keep a list from being counted or gone through", () => {
    const skip = { path: { count: bought }, below: 1 };
    const name = { firstWhere: "lines", where: { path: "type", equals: "licence" }, give: "name" };
    expect(mistakes("orders", withSecrets(bought, { id: name }), skip)).toEqual([]);
  });

  it("seats are the quantity times the seats per unit", () => {
    const line = { id: "1-P", type: "licence", name: "CAD", quantity: "3", perUnit: 25 };
    const mapped = compileStream("orders", withSecrets(bought)).map({ id: "1", customer: "C1", lines: line });
    expect(mapped).toMatchObject({ ok: true, value: { record: { instances: [{}, { nodes: 75 }] } } });
  });
});

describe("a condition under which records are skipped", () => {
  it("says its mistakes with their place in the stream", () => {
    expect(mistakes("staff", staff, { path: "x", equals: 1, in: [2] })).toEqual([
      expect.stringContaining("skip: expected exactly one of equals"),
    ]);
    expect(() =>
      compileStream("staff", staff, { skip: { all: "x" }, place: "sources.hr.streams.staff.mapping" }),
    ).toThrow(expect.objectContaining({ place: "sources.hr.streams.staff.skip.all" }));
    for (const skip of ["draft", true, [], { skip: 1 }, { path: "^.x", present: true }])
      expect(mistakes("staff", staff, skip).length).toBeGreaterThan(0);
  });

  it("knows the record, also where the rest of it could not be used", () => {
    const { skip } = compileStream("staff", staff, { skip: { path: "state", equals: "left" }, namespace: "hr" });
    expect(skip?.({ id: 7, state: "left" })).toEqual({
      ok: true,
      value: { key: { namespace: "hr", id: "7" }, isNameless: false },
    });
    expect(skip?.({ state: "left" })).toEqual({ ok: true, value: { key: undefined, isNameless: false } });
    expect(skip?.({ id: { a: 1 }, state: "left" })).toEqual({ ok: true, value: { key: undefined, isNameless: true } });
    expect(skip?.({ id: "7", state: "here" })).toEqual({ ok: true, value: undefined });
  });

  it.each([{ equals: "left" }, { in: ["left"] }, { equals: { path: "wanted" } }])(
    "refuses a list that is compared with %j, at its place, also where the condition is turned around",
    (test) => {
      const condition = { path: "state", ...test };
      const record = { id: 7, state: ["left"], wanted: "left" };
      for (const skip of [condition, { not: condition }])
        expect(compileStream("staff", staff, { skip }).skip?.(record)).toMatchObject({
          ok: false,
          error: { id: "7", field: "skip", code: "wrong-type", message: "skip: found a list of 1" },
        });
    },
  );
});
