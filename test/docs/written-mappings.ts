// oxlint-disable unicorn/no-thenable -- `then` is a key of the mapping
import type { Json, JsonObject } from "../../src/base/canonical-json.ts";
import type { Stream } from "../../src/crm/model.ts";
import { recordExamples } from "../../scripts/docs/record-examples.ts";

/** Settings of a stream that the program and the schema for editors say the same of. */
interface WrittenMapping {
  what: string;
  stream: Stream;
  settings: JsonObject;
}

const mappings: Readonly<Record<Stream, JsonObject>> = {
  customers: recordExamples.customers.mapping,
  orders: recordExamples.orders.mapping,
  staff: recordExamples.staff.mapping,
};
const field = (what: string, stream: Stream, name: string, written: Json | undefined): WrittenMapping => {
  const { [name]: _, ...others } = mappings[stream];
  return { what, stream, settings: { mapping: written === undefined ? others : { ...others, [name]: written } } };
};
const customer = (what: string, name: string, written: Json | undefined): WrittenMapping =>
  field(what, "customers", name, written);
const address = (what: string, written: Json): WrittenMapping => customer(what, "address", written);
const beside = (what: string, more: JsonObject): WrittenMapping => ({
  what,
  stream: "customers",
  settings: { mapping: mappings.customers, ...more },
});
const skip = (what: string, condition: Json): WrittenMapping => beside(what, { skip: condition });
const entry = (what: string, instances: Json): WrittenMapping => field(what, "orders", "instances", instances);
const asset = { id: "id", licenseType: { value: "softkey" } };

export const takenMappings: readonly WrittenMapping[] = [
  address("an operator with its options and a default", { concat: ["a", "b"], separator: ", ", default: "none" }),
  address("a number as a constant for text", { value: 7 }),
  address("a text that is replaced", { replace: "a", pattern: " GmbH$" }),
  address("a term that is found", { plusTerm: "a", term: { path: "term" }, zone: "UTC" }),
  address("a country that is found", { phone: "a", country: { path: "land" } }),
  address("an element of a list", {
    firstWhere: { filter: "rows", where: { path: ".", present: true } },
    where: { path: "x", in: "y" },
  }),
  customer("an object of fields", "mergedInto", { id: "merged" }),
  skip("conditions in each other", {
    all: [{ not: { path: "a", equals: { path: "b" } } }, { any: [{ path: "n", above: 0 }] }],
  }),
  beside("rows that are grouped", { group: { by: "holder.mail", into: "rows", fields: { customer: "number" } } }),
  entry("one entry instead of a list", { kind: "asset", one: asset }),
  entry("a list of an expression in an entry", [
    {
      kind: "asset",
      each: { filter: "lines", where: { path: "id", present: true } },
      fields: { ...asset, id: "^.id" },
      when: { path: ".", present: true },
    },
  ]),
  field("assets by instance", "staff", "assets", [{ each: "seats", fields: { instanceId: "." } }]),
  field("no assets", "staff", "assets", undefined),
];

export const refusedMappings: readonly WrittenMapping[] = [
  customer("a target field that there is none of", "nmae", "name"),
  customer("a mapping without a required field", "name", undefined),
  customer("a word that the field does not know", "customerType", { value: "firm" }),
  customer("a default that the field does not know", "customerType", { path: "type", default: "firm" }),
  customer("a field that is null", "address", null),
  customer("an object without its required field", "mergedInto", { namespace: "other" }),
  customer("an object field by a path", "mergedInto", "merged"),
  address("an operator that there is none of", { uper: "a" }),
  address("two operators together", { upper: "a", lower: "b" }),
  address("no operator", { default: "x" }),
  address("an option of another operator", { upper: "a", separator: "-" }),
  address("a bare number", 7),
  address("a list in place of an expression", ["a", "b"]),
  address("a path that cannot be read", "a..b"),
  address("replace without what to find", { replace: "a", with: "b" }),
  address("a match without its pattern", { extract: "a" }),
  address("words without their list", { map: "a" }),
  address("an end without a zone", { plusTerm: { date: "a" }, term: "0-0-1" }),
  address("a policy that there is none of", { date: "a", clockChange: "first" }),
  address("a list without a condition", { filter: "rows" }),
  address("when without then", { when: { path: "a", present: true }, else: "b" }),
  skip("a condition without a test", { path: "a" }),
  skip("a condition with two tests", { path: "a", equals: 1, above: 0 }),
  skip("a condition without what is tested", { equals: 1 }),
  skip("a test that there is none of", { path: "a", is: 1 }),
  skip("conditions beside a test", { all: [{ path: "a", present: true }], path: "b" }),
  skip("a test of earlier times", { path: "a", after: "2026-01-01" }),
  skip("a condition that is null", null),
  beside("groups without a name", { group: { by: "mail" } }),
  beside("groups by what is no path", { group: { by: "a..b", into: "rows" } }),
  beside("a key that is no path", { key: "a." }),
  field("money without a currency", "orders", "amount", { money: "total" }),
  field("a constant that is no instant", "orders", "placedAt", { value: "yesterday" }),
  field("a constant that is neither true nor false", "orders", "cancelled", { value: "maybe" }),
  field("a secret by an expression", "staff", "password", { upper: "secret" }),
  entry("an entry without a kind", [{ one: asset }]),
  entry("an entry of a kind that there is none of", [{ kind: "thing", one: asset }]),
  entry("an entry with one and each", [{ kind: "asset", one: asset, each: "lines" }]),
  entry("each without fields", [{ kind: "asset", each: "lines" }]),
  entry("an entry without a required field", [{ kind: "asset", one: { id: "id" } }]),
  entry("a field of another kind", [{ kind: "asset", one: { ...asset, nodes: "n" } }]),
  entry("entries by a path", "lines"),
  field("a constant that is no whole number", "orders", "instances", [
    { kind: "asset", one: { ...asset, quantity: { value: "many" } } },
  ]),
  field("assets with a kind", "staff", "assets", [{ kind: "asset", each: "seats", fields: { instanceId: "." } }]),
  field("assets by both names", "staff", "assets", [{ one: { instanceId: "a", assetNumber: "b" } }]),
];

/** What the program alone refuses: the schema does not look into operators and conditions. */
export const refusedInside: readonly WrittenMapping[] = [
  address("a number in place of an expression", { upper: 7 }),
  address("a path in an operator that cannot be read", { trim: "a[b]" }),
  address("no list of expressions", { first: "a" }),
  address("an empty list of expressions", { first: [] }),
  address("one number to multiply", { multiply: ["a"] }),
  address("a pattern that is too long", { extract: "a", pattern: "x".repeat(501) }),
  address("a separator that is no text", { split: "a", separator: 1 }),
  address("a single brace in a template", { template: "a {b" }),
  address("a country in small letters", { phone: "a", country: "de" }),
  address("a look-up without a table", { lookup: { key: "a" } }),
  address("a key of a look-up that there is none of", { lookup: { table: "regions", key: "a", columns: "x" } }),
  address("a term in words", { plusTerm: "a", term: "1 year", zone: "UTC" }),
  address("a condition that is a path", { when: "a", then: "b" }),
  skip("no conditions", { any: [] }),
  skip("conditions that are no list", { all: { path: "a", present: true } }),
  skip("present that is no truth value", { path: "a", present: "yes" }),
  skip("a limit that is text", { path: "a", above: "7" }),
];
