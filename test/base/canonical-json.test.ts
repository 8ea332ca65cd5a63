import fc from "fast-check";
import { expect, it } from "vitest";
import { type Json, canonicalJson } from "../../src/base/canonical-json.ts";

/** The same said as plainly as it can be. */
function plainly(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(plainly).join(",")}]`;
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === undefined ? [] : [{ name, text: `${JSON.stringify(name)}:${plainly(member)}` }],
  );
  return `{${members
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .map(({ text }) => text)
    .join(",")}}`;
}

/** Few names, so that the same ones come together in many orders; some stand where they are not written. */
const names = fc.constantFrom("a", "b", "c", "10", "9", "", "$ref", "é", "\ud83d\ude00", "\uff5e", "constructor");
const leaf = fc.oneof(
  fc.constantFrom<Json | undefined>(undefined, null, true, 0, -0, 1e21, 'a "quoted" \\ text', "\ud800", "\u2028\n"),
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const { value } = fc.letrec<{ value: Json | undefined }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("value")) as fc.Arbitrary<Json>,
    fc
      .uniqueArray(fc.tuple(names, tie("value")), { selector: ([name]) => name })
      .map(Object.fromEntries<Json | undefined>),
  ),
}));

it("members stand in code-unit order however they came, and those that are undefined nowhere", { tags: "long" }, () => {
  fc.assert(
    fc.property(value, (given) => {
      const json = given ?? null;
      const asJson = JSON.parse(JSON.stringify(json)) as Json;
      expect(canonicalJson(json)).toBe(plainly(asJson));
      expect(canonicalJson(asJson)).toBe(plainly(asJson));
    }),
    { numRuns: 2_000 },
  );
});

it("a name of JavaScript's own is one like any other, and more names than are remembered are written too", () => {
  expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"z":1,"a":2}}'))).toBe('{"__proto__":{"a":2,"z":1},"b":1}');
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`n${149 - index}`, index]));
  expect(canonicalJson(many)).toBe(plainly(many));
});

it("a number that JSON cannot hold is refused, wherever it stands", () => {
  for (const number of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
    for (const holder of [number, [number], { a: [{ b: number }] }])
      expect(() => canonicalJson(holder)).toThrow(`${number} cannot be written as JSON`);
});
