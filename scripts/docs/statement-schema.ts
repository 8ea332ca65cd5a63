import type { Json, JsonObject } from "../../src/base/canonical-json.ts";
import type { Column, ColumnType, Part, StatementShape } from "../../src/report/statement/shape.ts";

const text: JsonObject = { type: "string" };
const count: JsonObject = { type: "integer", minimum: 0 };
const decimal: JsonObject = { type: "string", pattern: "^-?[0-9]+(\\.[0-9]+)?$" };
const whole: JsonObject = { $ref: "#/$defs/whole" };
const instantInUtc: JsonObject = { type: "string", format: "date-time" };

/** What is referred to, by its name. */
const definitions: JsonObject = {
  whole: {
    description:
      "A whole number; beyond 2^53 - 1, where not every reader takes a number exactly, a string of its digits.",
    anyOf: [
      { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      { type: "string", pattern: "^-?[1-9][0-9]{15,}$" },
    ],
  },
};

/** A checkpoint is there if a key signed the head. */
const printedHead: JsonObject = {
  at: { description: "When the entry was written.", ...instantInUtc },
  checkpoint: {
    description: "The head as a signed note; docs/reference/audit/format.md says how to check it.",
    ...text,
  },
};

const tolerances: JsonObject = members({
  money: { type: "object", additionalProperties: decimal },
  seconds: count,
  transitDays: count,
  ageing: { type: "array", items: count },
});

const cells: Record<ColumnType, JsonObject> = {
  text,
  list: { type: "array", items: text },
  integer: whole,
  boolean: { type: "boolean" },
  money: decimal,
  date: { type: "string", format: "date" },
  instant: { type: "string", format: "date-time" },
};

/** The JSON Schema (2020-12) that every JSON document of a kind of statement is valid by. */
export function statementJsonSchema(shape: StatementShape): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:crm-sync:statement:${shape.kind}:${shape.version}`,
    title: shape.title,
    description: shape.about,
    ...members({
      header: headerSchema(shape),
      parts: members(Object.fromEntries(shape.parts.map((part) => [part.name, partSchema(part)]))),
    }),
    $defs: definitions,
  };
}

/** An object with these members, all of them, and no other. */
function members(properties: JsonObject): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

/** An object with these members, all of them, maybe `more`, and no other. */
function withMore(properties: JsonObject, more: JsonObject): JsonObject {
  return { ...members(properties), properties: { ...properties, ...more } };
}

/** What may be missing: null stands in its place. */
function orNull(schema: JsonObject): JsonObject {
  return { anyOf: [schema, { type: "null" }] };
}

function headerSchema(shape: StatementShape): JsonObject {
  return members({
    statement: { const: shape.kind },
    version: { const: shape.version },
    title: text,
    period: withMore({ label: text, zone: text, from: instantInUtc, to: instantInUtc }, { joined: { const: true } }),
    by: { enum: ["happened", "crm-date"] },
    filters: members({
      source: orNull(text),
      customer: orNull(text),
      branch: orNull(text),
      product: orNull(text),
    }),
    asOf: orNull(instantInUtc),
    provisional: { type: "boolean" },
    ledger: orNull(text),
    auditHead: orNull(withMore({ sequence: count, hash: text, size: count, root: text }, printedHead)),
    ...(shape.tolerates === true && { tolerances }),
    program: text,
  });
}

function partSchema(part: Part): JsonObject {
  const column = {
    type: "object",
    properties: { name: text, type: text, title: text, currencyIn: text },
    required: ["name", "type", "title"],
    additionalProperties: false,
  };
  const all = {
    description: part.about,
    ...members({
      columns: { type: "array", items: column },
      rows: { type: "array", items: rowSchema(part) },
      totals: totalsSchema(part),
    }),
  };
  return { title: part.title, ...all };
}

function rowSchema(part: Part): JsonObject {
  return members(Object.fromEntries(part.columns.map((column) => [column.name, cellSchema(column)])));
}

function cellSchema({ type, title, about, currencyIn }: Column): JsonObject {
  const description = currencyIn === undefined ? about : `${about} Its currency is in ${currencyIn}.`;
  return { title, description, ...orNull(cells[type]) };
}

function totalsSchema(part: Part): JsonObject {
  const money = { type: "object", propertyNames: { pattern: "^[A-Z]{3}$" }, additionalProperties: decimal };
  const summed = part.columns.filter(({ total }) => total === true);
  const columns = members(
    Object.fromEntries(summed.map(({ name, type }): [string, Json] => [name, type === "money" ? money : whole])),
  );
  const all = { rows: count, columns };
  if (part.groupBy === undefined) return members(all);
  return members({ ...all, groups: { type: "array", items: members({ value: orNull(text), ...all }) } });
}
