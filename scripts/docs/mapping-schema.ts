import { isJsonObject } from "../../src/base/canonical-json.ts";
import type { Json } from "../../src/base/canonical-json.ts";
import { streams } from "../../src/crm/model.ts";
import type { JsonSchema } from "../../src/config/schema.ts";
import { compositionReference, conditionReference } from "../../src/source/mapping/condition.ts";
import type { ConditionReference } from "../../src/source/mapping/condition.ts";
import { takenBy } from "../../src/source/mapping/target.ts";
import type { Kinds } from "../../src/source/mapping/context.ts";
import { operators } from "../../src/source/mapping/operators.ts";
import type { Operator } from "../../src/source/mapping/operators/operator.ts";
import { pathPattern } from "../../src/source/mapping/path.ts";
import type { Target } from "../../src/source/mapping/target.ts";
import { anyExpression, instantExpression, listExpression } from "../../src/source/mapping/operators/operator.ts";
import { numberExpression, plainExpression, textExpression } from "../../src/source/mapping/operators/operator.ts";
import { inline } from "./markdown.ts";
import { mappingsOf } from "./target-schema.ts";
import { definition, fitting, fittingName, schemaOf, strictObject } from "./written-schema.ts";

type Definitions = Record<string, JsonSchema>;

/** The inside of mappings, as definitions that the schema for editors refers to. */
export function mappingDefinitions(): Definitions {
  const definitions: Definitions = {
    path: { type: "string", pattern: pathPattern, description: "A path into the raw record, such as `a.lines[0].id`." },
    expression: { anyOf: [definition("path"), definition("operation")] },
    operation: { anyOf: Object.entries(operators).map(([name, operator]) => operation(name, operator)) },
    condition: { anyOf: [...compositionReference.map(composition), ...conditionReference.map(test)] },
  };
  for (const stream of streams) Object.assign(definitions, mappingsOf(stream));
  for (const takes of taken) definitions[fittingName(takes)] = fitting(takes);
  return definitions;
}

const written = [textExpression, numberExpression, plainExpression, instantExpression, listExpression];
const kinds: readonly Target["kind"][] = ["text", "word", "integer", "boolean", "instant", "texts", "money"];
const taken: readonly NonNullable<Kinds>[] = [
  ...written.flatMap((one) => (one.form === "expression" ? [one.takes] : [])),
  ["text" as const],
  ...kinds.map((kind) => takenBy(kind === "word" ? { kind, words: [] } : plainTarget(kind))),
].filter((takes) => takes !== undefined);

function plainTarget(kind: Exclude<Target["kind"], "word">): Target {
  if (kind === "list") return { kind, variants: [] };
  return kind === "object" ? { kind, object: { kind: undefined, fields: new Map() } } : { kind };
}

function operation(name: string, { reference, written: of }: Operator): JsonSchema {
  const examples = reference.examples.map(({ expression }) => expression);
  const [first] = examples;
  const lines = [
    `${reference.does} Takes ${reference.takes}; gives ${reference.gives}.`,
    reference.form,
    ...(first === undefined ? [] : [`Example: ${inline(first)}`]),
  ];
  const properties: Record<string, JsonSchema> = {
    [name]: { ...schemaOf(of.operand), description: lines.join("\n\n"), examples: operandsOf(name, examples) },
  };
  for (const [key, option] of Object.entries(of.options ?? {})) {
    const description = reference.options[key];
    properties[key] = { ...schemaOf(option), ...(description === undefined ? {} : { description }) };
  }
  properties["default"] = { description: "A constant for when it gives nothing." };
  return {
    ...strictObject(properties, [name, ...(of.required ?? [])]),
  };
}

/** What stands at the name of an operator in its examples, each once. */
function operandsOf(name: string, examples: readonly Json[]): Json[] {
  const found = examples.flatMap((example) => {
    const operand = isJsonObject(example) ? example[name] : undefined;
    return operand === undefined ? [] : [operand];
  });
  return [...new Map(found.map((one) => [JSON.stringify(one), one] as const)).values()];
}

const conditionText = ({ holds, examples }: ConditionReference): string =>
  [holds, ...(examples[0] === undefined ? [] : [`Example: ${inline(examples[0].condition)}`])].join("\n\n");

function composition(reference: ConditionReference): JsonSchema {
  const inside = { ...schemaOf(reference.written), description: conditionText(reference) };
  return strictObject({ [reference.key]: inside }, [reference.key]);
}

function test(reference: ConditionReference): JsonSchema {
  const subject = { ...schemaOf(reference.subject ?? anyExpression), description: "What is tested." };
  const operand = { ...schemaOf(reference.written), description: conditionText(reference) };
  return strictObject({ path: subject, [reference.key]: operand }, ["path", reference.key]);
}
