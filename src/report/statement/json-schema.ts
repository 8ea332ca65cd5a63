import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { Column, ColumnType, Part, StatementShape } from "./shape.ts";

const text: JsonObject = { type: "string" };
const count: JsonObject = { type: "integer", minimum: 0 };
const decimal: JsonObject = { type: "string", pattern: "^-?[0-9]+(\\.[0-9]+)?$" };
const instantInUtc: JsonObject = { type: "string", format: "date-time" };

/** Books that an earlier program closed have no time of the head; a checkpoint stands where a key signed it. */
const printedHead: JsonObject = {
  at: { description: "When the entry was written.", ...instantInUtc },
  checkpoint: { description: "The head as a signed note; docs/audit/format.md says how to check it.", ...text },
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
  integer: { type: "integer" },
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
  };
}

/** An object with these members, all of them, and no other. */
function members(properties: JsonObject): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

/** An object with these members and maybe more of it, and no other. */
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
  const whole = {
    description: part.about,
    ...members({
      columns: { type: "array", items: column },
      rows: { type: "array", items: rowSchema(part) },
      totals: totalsSchema(part),
    }),
  };
  return { title: part.title, ...whole };
}

function rowSchema(part: Part): JsonObject {
  return members(Object.fromEntries(part.columns.map((column) => [column.name, cellSchema(column)])));
}

function cellSchema({ type, required, title, about, currencyIn }: Column): JsonObject {
  const description = currencyIn === undefined ? about : `${about} Its currency stands in ${currencyIn}.`;
  return { title, description, ...(required === true ? cells[type] : orNull(cells[type])) };
}

function totalsSchema(part: Part): JsonObject {
  const money = { type: "object", propertyNames: { pattern: "^[A-Z]{3}$" }, additionalProperties: decimal };
  const summed = part.columns.filter(({ total }) => total === true);
  const columns = members(
    Object.fromEntries(
      summed.map(({ name, type }): [string, Json] => [name, type === "money" ? money : { type: "integer" }]),
    ),
  );
  const whole = { rows: count, columns };
  if (part.groupBy === undefined) return members(whole);
  return members({ ...whole, groups: { type: "array", items: members({ value: orNull(text), ...whole }) } });
}
