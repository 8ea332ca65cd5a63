import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { textOf } from "./coerce.ts";
import { compileComparison, comparisonReference, isComparison } from "./comparison.ts";
import { mistake } from "./context.ts";
import type { Evaluate, KeyPath, MappingContext, ExpressionCompiler } from "./context.ts";
import { plain, textual } from "./kinds.ts";
import type { Scope } from "./path.ts";
import { compilePattern, searchable, writtenPattern } from "./pattern.ts";
import { aCondition, listOf, objectExpressionOf, plainExpression, textExpression, words } from "./written.ts";
import type { Written } from "./written.ts";

/** Whether a condition holds. It does not where it cannot be told; the context has the fault then. */
export type Holds = (scope: Scope) => boolean;

/** Words that stand for something, compared as text, so that 1 and "1" are the same. */
export function wordsOf(value: Json | undefined, at: KeyPath, context: MappingContext): Set<string> {
  const words = Array.isArray(value) ? value : [value];
  if (!words.every((word) => typeof word === "string" || typeof word === "number" || typeof word === "boolean")) {
    mistake(context, at, "expected a text, number or boolean, or a list of them");
  }
  return new Set(words.map(String));
}

/** One test of a condition, or one way to put conditions together, for the reference; its test runs the examples. */
export interface ConditionReference {
  key: string;
  holds: string;
  /** What may be written at the key. */
  written: Written;
  /** What may be written at `path` beside a test. */
  subject?: Written;
  examples: readonly { condition: Json; record: JsonObject; holds?: boolean; refused?: string }[];
}

/** The tests of a condition. */
export const conditionReference: readonly ConditionReference[] = [
  {
    key: "equals",
    holds:
      'The value is this one, compared as text: 1 and `"1"` are the same. Nothing is there: it does not hold. ' +
      "An expression such as `{path: …}` gives what to compare with.",
    written: { form: "either", of: [words, objectExpressionOf(plain)] },
    subject: plainExpression,
    examples: [
      { condition: { path: "active", equals: 1 }, record: { active: "1" }, holds: true },
      { condition: { path: "active", equals: 1 }, record: { active: null }, holds: false },
      { condition: { path: "payer", equals: { path: "id" } }, record: { payer: "7", id: 7 }, holds: true },
    ],
  },
  {
    key: "in",
    holds: "The value is one of a list, compared as text.",
    written: words,
    subject: plainExpression,
    examples: [{ condition: { path: "country", in: ["DE", "AT"] }, record: { country: "FR" }, holds: false }],
  },
  {
    key: "present",
    holds: "`true`: there is a value; `false`: there is none.",
    written: { form: "boolean" },
    examples: [{ condition: { path: "ended", present: false }, record: { ended: "" }, holds: true }],
  },
  {
    key: "matches",
    holds: "A part of the text matches this pattern; see `extract`. `^` is the start of the text, `$` its end.",
    written: writtenPattern,
    subject: textExpression,
    examples: [{ condition: { path: "sku", matches: "^CAD-[0-9]+$" }, record: { sku: "CAD-7" }, holds: true }],
  },
  ...comparisonReference,
];

/** How conditions are put together. */
export const compositionReference: readonly ConditionReference[] = [
  {
    key: "all",
    holds: "Each of these conditions holds.",
    written: listOf(aCondition),
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
    written: listOf(aCondition),
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
    written: aCondition,
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
  if (isComparison(test)) return compileComparison(test, { subject, from }, { operand, at: of }, compiler);
  if (test === "present") {
    const inner = compiler.expression(subject, from);
    if (typeof operand !== "boolean") mistake(context, of, "expected true or false");
    return (scope) => (inner(scope) !== undefined) === operand;
  }
  if (test === "matches") {
    const inner = compiler.expression(subject, from, textual);
    const pattern = compilePattern(operand, of, context);
    return (scope) => {
      const found = inner(scope);
      const text = found === undefined ? undefined : textOf(found, context);
      const searched = text === undefined ? undefined : searchable(text, context);
      return searched !== undefined && pattern?.matcher(searched).find() === true;
    };
  }
  const inner = compiler.expression(subject, from, plain);
  if (test === "equals" && isJsonObject(operand)) return compareTexts(inner, compiler.expression(operand, of, plain));
  const words = wordsOf(operand, of, context);
  return (scope) => {
    const found = inner(scope);
    return found !== undefined && typeof found !== "object" && words.has(String(found));
  };
}

function compareTexts(one: Evaluate, other: Evaluate): Holds {
  return (scope) => {
    const [found, wanted] = [one(scope), other(scope)];
    if (found === undefined || wanted === undefined) return false;
    return typeof found !== "object" && typeof wanted !== "object" && String(found) === String(wanted);
  };
}
