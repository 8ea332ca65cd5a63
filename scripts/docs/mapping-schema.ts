import { isJsonObject, type Json } from "../../src/base/canonical-json.ts";
import { streams } from "../../src/crm/model.ts";
import type { JsonSchema } from "../../src/config/schema.ts";
import {
  compositionReference,
  conditionReference,
  type ConditionReference,
} from "../../src/source/mapping/condition.ts";
import { operators } from "../../src/source/mapping/operators.ts";
import type { Operator } from "../../src/source/mapping/operators/operator.ts";
import { pathPattern } from "../../src/source/mapping/path.ts";
import { inline } from "./markdown.ts";
import { definition, mappingsOf, strictObject } from "./target-schema.ts";

/**
 * The inside of mappings, as definitions that the schema for editors refers to: the names of fields, operators, tests
 * and options. What stands at an operator is `inside`; the program alone knows whether it fits there.
 */
export function mappingDefinitions(): Record<string, JsonSchema> {
  const definitions: Record<string, JsonSchema> = {
    path: { type: "string", pattern: pathPattern, description: "A path into the raw record, such as `a.lines[0].id`." },
    expression: { anyOf: [definition("path"), definition("operation")] },
    operation: { anyOf: Object.entries(operators).map(([name, operator]) => operation(name, operator)) },
    condition: { anyOf: [...compositionReference.map((one) => test(one)), ...conditionReference.map(pathAnd)] },
    inside: {
      anyOf: [
        { type: ["string", "number", "boolean"] },
        { type: "array", items: definition("inside") },
        definition("operation"),
        definition("condition"),
        { type: "object" },
      ],
    },
  };
  for (const stream of streams) Object.assign(definitions, mappingsOf(stream));
  return definitions;
}

function operation(name: string, { reference }: Operator): JsonSchema {
  const { does, form, options = {} } = reference;
  const examples = reference.examples.map(({ expression }) => expression);
  const [first] = examples;
  const lines = [does, form, ...(first === undefined ? [] : [`Example: ${inline(first)}`])];
  const properties: Record<string, JsonSchema> = {
    [name]: { ...definition("inside"), description: lines.join("\n\n"), examples: operandsOf(name, examples) },
  };
  for (const [key, description] of Object.entries(options)) properties[key] = { ...definition("inside"), description };
  properties["default"] = { description: "A constant for when it gives nothing." };
  return strictObject(properties, [name, ...Object.keys(options).filter((key) => options[key]?.endsWith("Required."))]);
}

/** What stands at the name of an operator in its examples, each once. */
function operandsOf(name: string, examples: readonly Json[]): Json[] {
  const found = examples.flatMap((example) => {
    const operand = isJsonObject(example) ? example[name] : undefined;
    return operand === undefined ? [] : [operand];
  });
  return [...new Map(found.map((one) => [JSON.stringify(one), one] as const)).values()];
}

function test({ key, holds, examples }: ConditionReference, beside: Record<string, JsonSchema> = {}): JsonSchema {
  const lines = [holds, ...(examples[0] === undefined ? [] : [`Example: ${inline(examples[0].condition)}`])];
  return strictObject({ ...beside, [key]: { ...definition("inside"), description: lines.join("\n\n") } }, [
    ...Object.keys(beside),
    key,
  ]);
}

const pathAnd = (reference: ConditionReference): JsonSchema =>
  test(reference, { path: { ...definition("expression"), description: "What is tested." } });
