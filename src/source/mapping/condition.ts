import { isJsonObject, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { instantOf, ofText } from "./coerce.ts";
import {
  mistake,
  refuse,
  type Evaluate,
  type ExpressionCompiler,
  type KeyPath,
  type MappingContext,
} from "./context.ts";
import { numberReader } from "./numbers.ts";
import type { Scope } from "./path.ts";
import { compilePattern, searchable } from "./pattern.ts";

/** Whether a condition holds. False if unknown; the context then has the fault. */
export type Holds = (scope: Scope) => boolean;

/** Words are compared as text: 1 and "1" are equal. */
export function wordsOf(value: Json | undefined, at: KeyPath, context: MappingContext): Set<string> {
  const words = Array.isArray(value) ? value : [value];
  if (!words.every((word) => typeof word === "string" || typeof word === "number" || typeof word === "boolean")) {
    mistake(context, at, "expected a text, number or boolean, or a list of them");
  }
  return new Set(words.map(String));
}

/** One test or composition of conditions, for the reference pages. Its test runs the examples. */
export interface ConditionReference {
  key: string;
  holds: string;
  examples: readonly { condition: Json; record: JsonObject; holds?: boolean; refused?: string }[];
}

export const conditionReference: readonly ConditionReference[] = [
  {
    key: "equals",
    holds:
      'The value is this one, compared as text: 1 and `"1"` are the same. Nothing is there: it does not hold. ' +
      "An expression such as `{path: …}` gives what to compare with. A list or an object is refused.",
    examples: [
      { condition: { path: "active", equals: 1 }, record: { active: "1" }, holds: true },
      { condition: { path: "active", equals: 1 }, record: { active: null }, holds: false },
      { condition: { path: "payer", equals: { path: "id" } }, record: { payer: "7", id: 7 }, holds: true },
      { condition: { path: "tags", equals: "vip" }, record: { tags: ["vip"] }, refused: "wrong-type" },
    ],
  },
  {
    key: "in",
    holds: "The value is one of a list, compared as text. A list or an object is refused.",
    examples: [
      { condition: { path: "country", in: ["DE", "AT"] }, record: { country: "FR" }, holds: false },
      { condition: { path: "tags", in: ["vip"] }, record: { tags: ["vip"] }, refused: "wrong-type" },
    ],
  },
  {
    key: "present",
    holds: "`true`: there is a value; `false`: there is none.",
    examples: [{ condition: { path: "ended", present: false }, record: { ended: "" }, holds: true }],
  },
  {
    key: "matches",
    holds: "A part of the text matches this pattern; see `extract`. `^` is the start of the text, `$` its end.",
    examples: [{ condition: { path: "sku", matches: "^CAD-[0-9]+$" }, record: { sku: "CAD-7" }, holds: true }],
  },
  {
    key: "above",
    holds:
      "The number is larger than this one, or the instant is later. A number is one, or text with a decimal point; " +
      'an instant is what `date` gives, or an ISO time with Z or an offset, such as `"2026-01-01T00:00:00Z"`.',
    examples: [
      { condition: { path: "seats", above: 9.5 }, record: { seats: "10" }, holds: true },
      { condition: { path: "seats", above: 0 }, record: { seats: "many" }, refused: "not-a-number" },
      {
        condition: { path: "at", above: "2026-01-01T00:00:00Z" },
        record: { at: "2026-01-01T00:30:00+01:00" },
        holds: false,
      },
    ],
  },
  {
    key: "below",
    holds: "The number is smaller than this one, or the instant is earlier.",
    examples: [{ condition: { path: "total", below: 0 }, record: { total: "-0.01" }, holds: true }],
  },
];

export const compositionReference: readonly ConditionReference[] = [
  {
    key: "all",
    holds: "Each of these conditions holds.",
    examples: [
      {
        condition: {
          all: [
            { path: "status", equals: "won" },
            { path: "seats", above: 0 },
          ],
        },
        record: { status: "won", seats: 5 },
        holds: true,
      },
    ],
  },
  {
    key: "any",
    holds: "One of these conditions holds.",
    examples: [
      {
        condition: {
          any: [
            { path: "type", equals: "test" },
            { path: "name", matches: "(?i)^test" },
          ],
        },
        record: { type: "sale", name: "Test order" },
        holds: true,
      },
    ],
  },
  {
    key: "not",
    holds: "This condition does not hold.",
    examples: [{ condition: { not: { path: "country", in: ["DE", "AT"] } }, record: { country: "FR" }, holds: true }],
  },
];

const tests = conditionReference.map(({ key }) => key);
const compositions = compositionReference.map(({ key }) => key);
const never: Holds = () => false;

/** `{path: EXPRESSION, TEST: …}`, or `{all: […]}`, `{any: […]}`, `{not: …}` of such conditions. */
export function compileCondition(spec: Json | undefined, at: KeyPath, compiler: ExpressionCompiler): Holds {
  const { context } = compiler;
  const wrong = (path: KeyPath, message: string): Holds => {
    mistake(context, path, message);
    return never;
  };
  if (!isJsonObject(spec)) return wrong(at, "expected a condition such as {path: …, equals: …}");
  const keys = Object.keys(spec);
  const [composition] = keys.filter((key) => compositions.includes(key));
  if (composition !== undefined) {
    if (keys.length > 1) return wrong(at, `found ${keys.join(" and ")} together; expected ${composition} alone`);
    return compileComposition(composition, spec[composition], [...at, composition], compiler);
  }
  for (const key of keys) {
    if (key !== "path" && !tests.includes(key))
      mistake(
        context,
        [...at, key],
        `unknown; expected path, ${tests.join(", ")}, or one of ${compositions.join(", ")}`,
      );
  }
  const [test, ...others] = keys.filter((key) => tests.includes(key));
  if (test === undefined || others.length > 0) return wrong(at, `expected exactly one of ${tests.join(", ")}`);
  return compileTest(test, spec, at, compiler);
}

function compileComposition(key: string, inner: Json | undefined, at: KeyPath, compiler: ExpressionCompiler): Holds {
  const { context } = compiler;
  if (key === "not") {
    const holds = compileCondition(inner, at, compiler);
    return (scope) => !holds(scope) && context.fault === undefined;
  }
  if (!Array.isArray(inner) || inner.length === 0) {
    mistake(context, at, "expected a list of conditions");
    return never;
  }
  const parts = inner.map((part, index) => compileCondition(part, [...at, index], compiler));
  if (key === "all") return (scope) => parts.every((holds) => holds(scope));
  return (scope) => parts.some((holds) => context.fault === undefined && holds(scope));
}

function compileTest(test: string, spec: JsonObject, at: KeyPath, compiler: ExpressionCompiler): Holds {
  const { context } = compiler;
  const { path: subject, [test]: operand } = spec;
  const from = [...at, "path"];
  const of = [...at, test];
  if (test === "matches") {
    const text = ofText(subject, from, compiler);
    const pattern = compilePattern(operand, of, context);
    return (scope) => {
      const searched = searchable(text(scope), context);
      return searched !== undefined && pattern?.matcher(searched).find() === true;
    };
  }
  const inner = compiler.expression(subject, from);
  switch (test) {
    case "present":
      if (typeof operand !== "boolean") mistake(context, of, "expected true or false");
      return (scope) => (inner(scope) !== undefined) === operand && context.fault === undefined;
    case "above":
    case "below": {
      const order = comparedWith(operand, of, context);
      return (scope) => {
        const found = inner(scope);
        const difference = found === undefined || context.fault !== undefined ? undefined : order(found);
        return difference !== undefined && (test === "above" ? difference > 0 : difference < 0);
      };
    }
    default:
      return equalTo(inner, operand, of, compiler);
  }
}

function equalTo(inner: Evaluate, operand: Json | undefined, of: KeyPath, compiler: ExpressionCompiler): Holds {
  const other = isJsonObject(operand) && of.at(-1) === "equals" ? compiler.expression(operand, of) : undefined;
  const words = other === undefined ? wordsOf(operand, of, compiler.context) : undefined;
  /** What can be compared, as text. A list is refused: whether it is equal to one word, nobody could tell. */
  const textOf = (value: Json): string | undefined =>
    typeof value === "object"
      ? refuse(compiler.context, "wrong-type", value, "one value, not a list or an object")
      : String(value);
  return (scope) => {
    const [found, wanted] = [inner(scope), other?.(scope)];
    if (found === undefined || (other !== undefined && wanted === undefined)) return false;
    const text = textOf(found);
    if (text === undefined || wanted === undefined) return text !== undefined && words?.has(text) === true;
    return text === textOf(wanted);
  };
}

/** The difference of a value to a number or an instant (ms). Refuses other values. */
function comparedWith(
  operand: Json | undefined,
  of: KeyPath,
  context: MappingContext,
): (value: Json) => number | undefined {
  if (typeof operand === "number") {
    const numberOf = numberReader({}, context);
    return (value) => {
      const number = numberOf(value);
      return number === undefined ? undefined : number - operand;
    };
  }
  const limit = typeof operand === "string" ? instantOf(operand, context) : undefined;
  context.fault = undefined;
  if (limit === undefined)
    mistake(context, of, `found ${JSON.stringify(operand)}; expected a number or an instant such as 2026-01-01T00:00Z`);
  return (value) => {
    const instant = instantOf(value, context);
    return instant === undefined || limit === undefined ? undefined : Date.parse(instant) - Date.parse(limit);
  };
}
