import type { Kinds } from "../../src/source/mapping/context.ts";
import { misfit } from "../../src/source/mapping/context.ts";
import { operators } from "../../src/source/mapping/operators.ts";
import type { Written } from "../../src/source/mapping/operators/operator.ts";
import type { JsonSchema } from "../../src/config/schema.ts";

/** A definition that stands beside the others in the schema. */
export const definition = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` });

/** An object with these keys and no others. */
export const strictObject = (properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required: [...required] }),
  additionalProperties: false,
});

const plainValue: JsonSchema = { type: ["string", "number", "boolean"] };
const jsonTypes = { text: "string", number: "number", boolean: "boolean", list: "array", object: "object" } as const;
const kindsOfTypes = ["text", "number", "boolean", "list", "object"] as const;

/** The schema of what may be written in one place of a mapping. */
export function schemaOf(written: Written): JsonSchema {
  switch (written.form) {
    case "constant":
      return {};
    case "path":
    case "condition":
      return definition(written.form);
    case "number":
    case "boolean":
      return { type: written.form };
    case "words":
      return { anyOf: [plainValue, { type: "array", items: plainValue }] };
    case "expression":
      return expression(written.takes, written.isObject === true);
    case "text":
      return {
        type: "string",
        ...limits("Length", written),
        ...(written.pattern === undefined ? {} : { pattern: written.pattern }),
      };
    case "whole":
      return {
        type: "integer",
        minimum: written.least,
        ...(written.most === undefined ? {} : { maximum: written.most }),
      };
    case "choice":
      return { type: "string", enum: [...written.words] };
    case "list":
      return { type: "array", items: schemaOf(written.of), ...limits("Items", written) };
    case "entries":
      return { type: "object", additionalProperties: schemaOf(written.of), ...limits("Properties", written) };
    case "either":
      return { anyOf: written.of.map(schemaOf) };
    case "object":
      return strictObject(
        Object.fromEntries(Object.entries(written.keys).map(([key, one]) => [key, schemaOf(one)])),
        written.required,
      );
  }
}

function limits(
  what: "Length" | "Items" | "Properties",
  { least, most }: { least?: number; most?: number },
): JsonSchema {
  return {
    ...(least === undefined || least === 0 ? {} : { [`min${what}`]: least }),
    ...(most === undefined ? {} : { [`max${what}`]: most }),
  };
}

function expression(takes: Kinds, isObject: boolean): JsonSchema {
  const of = definition(isObject ? "operation" : "expression");
  if (takes === undefined) return of;
  const types = [...typesOf(takes), "null" as const];
  return { allOf: [of, definition(fittingName(takes)), { properties: { value: { type: types } } }] };
}

/** The types of constants that are of one of these kinds. */
const typesOf = (takes: NonNullable<Kinds>) =>
  kindsOfTypes.filter((kind) => misfit([kind], takes) === undefined).map((kind) => jsonTypes[kind]);

/** The definition of the expressions that can give what is taken. */
export function fittingName(takes: NonNullable<Kinds>): string {
  return `gives-${[...takes].sort().join("-or-")}`;
}

/** Refuses the operators that can give nothing of what is taken, unless their `default` is of that. */
export function fitting(takes: NonNullable<Kinds>): JsonSchema {
  const unfit = Object.entries(operators).filter(
    ([, { gives }]) => typeof gives !== "function" && misfit(gives, takes) !== undefined,
  );
  if (unfit.length === 0) return {};
  const types = typesOf(takes);
  const helped: JsonSchema = { required: ["default"], properties: { default: { type: types } } };
  return {
    not: {
      anyOf: unfit.map(([name]) => ({ required: [name] })),
      ...(types.length === 0 ? {} : { not: helped }),
    },
    errorMessage: (misfit(misses(takes), takes) ?? "").replace(/^.*expected/u, "This gives something else; expected"),
  };
}

/** A kind that is not taken, for the words of the message. */
function misses(takes: NonNullable<Kinds>): Kinds {
  const kind = kindsOfTypes.find((one) => misfit([one], takes) !== undefined);
  return kind === undefined ? [] : [kind];
}
