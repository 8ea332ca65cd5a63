import { describe, expect, it } from "vitest";
import type { Json } from "../../src/base/canonical-json.ts";
import { compileStream, findMistakes } from "../../src/source/mapping/compile.ts";

const staff = { id: "id", customerId: "customer", userName: "login", name: "name" };
const mistakesOf = (name: Json): string[] =>
  findMistakes("staff", { ...staff, name }, { tables: new Map() }).map(({ message }) => message);

describe("a mistake in a mapping says how it is written otherwise", () => {
  it("with the keys that may stand beside an operator, also where one of them is that of another one", () => {
    const where = { path: "role", equals: "admin" };
    const possible = "beside firstWhere there can be where, give, default";
    expect(mistakesOf({ firstWhere: "contacts", where, gives: "mail" })).toEqual([`unknown; ${possible}`]);
    expect(mistakesOf({ firstWhere: "contacts", path: "role", equals: "admin" })).toEqual([
      `found firstWhere and path together; expected one of them; ${possible}`,
    ]);
  });

  it("with the form of a name that is no path", () => {
    expect(mistakesOf("Kundennr.")[0]).toMatch(/for a member of this name write '\["Kundennr\."\]'$/u);
    expect(mistakesOf('["Kundennr."]')).toEqual([]);
    expect(mistakesOf('lines["a')[0]).not.toContain("for a member of this name");
  });

  it("where one mark stands before decimals and between groups, since nobody could tell what 1.500 means", () => {
    for (const { stream, field, spec } of [
      { stream: "staff", field: "name", spec: { number: "a" } },
      { stream: "orders", field: "amount", spec: { money: "a", currency: "EUR" } },
    ] as const) {
      const messages = (marks: object): (string | undefined)[] =>
        findMistakes(stream, { [field]: { ...spec, ...marks } }, { tables: new Map() })
          .filter(({ path }) => path.join().includes("Mark"))
          .map(({ message }) => message);
      expect(messages({ groupMark: "." })).toEqual(["is also the decimal mark; expected another mark"]);
      expect(messages({ groupMark: "" })).toEqual(["is empty; expected another mark"]);
      expect(messages({ decimalMark: "" })).toEqual(["is empty; expected another mark"]);
      expect(messages({ groupMark: ".", decimalMark: "," })).toEqual([]);
    }
  });
});

it("a number with a mark of its own before the decimals is never read by a point, which would make 1.234 of 1,234", () => {
  const { map } = compileStream("staff", { ...staff, name: { number: "n", decimalMark: "," } });
  const read = (n: Json): unknown => {
    const mapped = map({ id: "1", customer: "C", login: "ann", n });
    return mapped.ok ? (mapped.value.record as { name?: unknown }).name : mapped.error.code;
  };
  expect([read("1,5"), read(1.5), read("1.234")]).toEqual(["1.5", "1.5", "not-a-number"]);
});

describe("what each field of a record gives that cannot be used", () => {
  const mapping = {
    ...staff,
    assets: [{ each: "seats", fields: { instanceId: { number: "nr" } } }],
  };
  const { map, gives } = compileStream("staff", mapping, { namespace: "erp" });

  it("are all but those with a fault, also in lists", () => {
    const raw = {
      id: "1",
      login: "ann",
      name: { first: "Ann" },
      seats: [
        { id: "A", nr: "x" },
        { id: "B", nr: 7 },
      ],
    };
    expect(map(raw).ok).toBe(false);
    expect(gives(raw)).toMatchObject({ namespace: "erp", id: "1", userName: "ann" });
    expect(Object.keys(gives(raw)).toSorted()).toEqual(["assets", "id", "namespace", "userName"]);
    expect(gives(raw)["assets"]).toEqual([{}, { instanceId: "7" }]);
  });

  it("changes nothing in how the next record is mapped", () => {
    const broken = { id: "1", customer: "C", login: "ann", name: "Ann", seats: "none" };
    gives(broken);
    expect(map(broken)).toMatchObject({ ok: false, error: { code: "not-a-list" } });
    expect(map({ ...broken, seats: [] }).ok).toBe(true);
  });
});
