import { recordSchemas, secretFields, type Stream } from "../../src/crm/model.ts";
import type { JsonSchema } from "../../src/config/schema.ts";
import { listEntryReference } from "../../src/source/mapping/fields.ts";
import { targetOf, type ObjectTarget, type Target } from "../../src/source/mapping/target.ts";
import { fieldsOf } from "./target-fields.ts";

/** A definition that stands beside the others in the schema. */
export const definition = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` });

/** An object with these keys and no others. */
export const strictObject = (properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required: [...required] }),
  additionalProperties: false,
});

/** A mapping of a stream. */
export const mappingName = (stream: Stream): string => `mapping-${stream}`;

/** What the fields of one stream are made with. */
interface Making {
  stream: Stream;
  /** By the name of the field, as the reference has it. */
  described: ReadonlyMap<string, string>;
  /** By the place of the field, as a mapping has it. */
  secrets: ReadonlySet<string>;
  /** The definitions that were made. */
  made: Record<string, JsonSchema>;
}

/** The mappings of a stream, with every definition that they alone refer to. */
export function mappingsOf(stream: Stream): Record<string, JsonSchema> {
  const making: Making = {
    stream,
    described: new Map(fieldsOf(recordSchemas[stream]).map((field) => [field.name, field.description])),
    secrets: new Set(secretFields[stream]),
    made: {},
  };
  const whole = objectOf(targetOf(stream), "", "", making);
  return { ...making.made, [mappingName(stream)]: whole };
}

/** The fields of an object. The namespace of a record is not required: the source has one. */
function objectOf(object: ObjectTarget, prefix: string, place: string, making: Making): JsonSchema {
  const fields = [...object.fields].map(([field, { target }]): [string, JsonSchema] => [
    field,
    fieldOf(target, `${prefix}${field}`, place === "" ? field : `${place}.${field}`, making),
  ]);
  const required = [...object.fields].filter(([field, of]) => of.required && field !== "namespace");
  return strictObject(
    Object.fromEntries(fields),
    required.map(([field]) => field),
  );
}

function fieldOf(target: Target, name: string, place: string, making: Making): JsonSchema {
  const description = making.described.get(name) ?? "";
  if (making.secrets.has(place)) return { ...definition("path"), description: `${description} A plain path.` };
  if (target.kind === "object") return { ...objectOf(target.object, `${name}.`, place, making), description };
  if (target.kind === "list") return { ...listOf(target.variants, name, place, making), description };
  return { ...valueOf(target, making), description };
}

function valueOf(target: Target, { made }: Making): JsonSchema {
  const constant = constantOf(target);
  const schema: JsonSchema = {
    allOf: [
      definition("expression"),
      ...(constant === undefined ? [] : [{ properties: { value: constant, default: constant } }]),
    ],
  };
  if (target.kind === "word") return schema;
  made[`field-${target.kind}`] = schema;
  return definition(`field-${target.kind}`);
}

const named = (...parts: readonly string[]): string => parts.join("-").replaceAll(/[^A-Za-z]+/gu, "-");

function listOf(variants: readonly ObjectTarget[], name: string, place: string, making: Making): JsonSchema {
  const entry = named(making.stream, name, "entry");
  making.made[entry] = { anyOf: variants.flatMap((variant) => entriesOf(variant, name, place, making)) };
  return { anyOf: [definition(entry), { type: "array", items: definition(entry) }] };
}

function entriesOf(variant: ObjectTarget, name: string, place: string, making: Making): JsonSchema[] {
  const { kind } = variant;
  const fields = named(making.stream, name, kind ?? [...variant.fields.keys()].join("-"));
  making.made[fields] = objectOf(variant, `${name}${kind === undefined ? "" : `<${kind}>`}[].`, `${place}[]`, making);
  const said = (key: string, schema: JsonSchema): JsonSchema => ({
    ...schema,
    description: listEntryReference[key] ?? "",
  });
  const common: Record<string, JsonSchema> = {
    ...(kind === undefined ? {} : { kind: said("kind", { const: kind }) }),
    when: said("when", definition("condition")),
  };
  const required = kind === undefined ? [] : ["kind"];
  return [
    strictObject({ one: said("one", definition(fields)), ...common }, ["one", ...required]),
    strictObject(
      { each: said("each", definition("expression")), fields: said("fields", definition(fields)), ...common },
      ["each", "fields", ...required],
    ),
  ];
}

/** An ISO text with Z or an offset. */
const writtenInstant = "^[+-]?\\d{4}.*[Tt ]\\d\\d.*(?:[Zz]|[+-]\\d\\d(?::?\\d\\d)?)(?:\\[[^\\]]*\\])?$";

/** What a constant of a target field can be; undefined: anything. */
function constantOf(target: Target): JsonSchema | undefined {
  switch (target.kind) {
    case "text":
      return { type: ["string", "number", "null"] };
    case "word":
      return { enum: [...target.words, null] };
    case "integer":
      return { anyOf: [{ type: ["integer", "null"] }, { type: "string", pattern: "^[+-]?\\d{1,16}(?:\\.0*)?$" }] };
    case "boolean":
      return { enum: [true, false, "true", "false", null] };
    case "instant":
      return { anyOf: [{ type: "string", pattern: writtenInstant }, { type: "null" }] };
    case "texts": {
      const text: JsonSchema = { type: ["string", "number", "null"] };
      return { anyOf: [text, { type: "array", items: text }] };
    }
    case "money":
    case "object":
    case "list":
      return undefined;
  }
}
