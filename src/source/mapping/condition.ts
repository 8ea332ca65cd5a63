import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { instantOf, ofText, writtenInstant } from "./coerce.ts";
import { mistake, numeric, ofInstant, plain } from "./context.ts";
import type { Evaluate, ExpressionCompiler, KeyPath, MappingContext } from "./context.ts";
import { compare, decimalOf } from "./numbers.ts";
import {
  aCondition,
  instantExpression,
  listOf,
  numberExpression,
  objectExpressionOf,
  plainExpression,
  textExpression,
  words,
} from "./operators/operator.ts";
import type { Written } from "./operators/operator.ts";
import type { Scope } from "./path.ts";
import { compilePattern, searchable, writtenPattern } from "./pattern.ts";

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

const numberTests = {
  above: (order: number) => order > 0,
  below: (order: number) => order < 0,
};
const instantTests = {
  after: numberTests.above,
  before: numberTests.below,
};
const comparisons: Readonly<Record<string, (order: number) => boolean>> = { ...numberTests, ...instantTests };

const againstNumber: Written = { form: "either", of: [{ form: "number" }, objectExpressionOf(numeric)] };
const againstInstant: Written = { form: "either", of: [writtenInstant, objectExpressionOf(ofInstant)] };
const numbers = "Both are numbers, or texts with a decimal point; another number can come from an expression";
const instants =
  "Both are instants: an ISO time with Z or an offset, or what `date` gives. " +
  'Another one can come from an expression; a constant is such as `"2026-01-01T00:00:00Z"`';

/** Comparisons of numbers and of instants. What is none of them is refused. */
const comparisonReference: readonly ConditionReference[] = [
  {
    key: "above",
    holds: `The number is larger than this one. ${numbers}.`,
    examples: [
      { condition: { path: "seats", above: 9.5 }, record: { seats: "10" }, holds: true },
      { condition: { path: "seats", above: { path: "used" } }, record: { seats: 5, used: 5 }, holds: false },
      { condition: { path: "seats", above: 0 }, record: { seats: "many" }, refused: "not-a-number" },
      { condition: { path: "seats", above: 0 }, record: {}, holds: false },
    ],
  },
  {
    key: "below",
    holds: "The number is smaller than this one.",
    examples: [{ condition: { path: "total", below: 0 }, record: { total: "-0.01" }, holds: true }],
  },
  {
    key: "after",
    holds: `The instant is later than this one. ${instants}.`,
    examples: [
      {
        condition: { path: "at", after: "2026-01-01T00:00:00Z" },
        record: { at: "2026-01-01T00:30:00+01:00" },
        holds: false,
      },
      { condition: { path: "at", after: "2026-01-01T00:00:00Z" }, record: { at: "today" }, refused: "not-an-instant" },
    ],
  },
  {
    key: "before",
    holds: "The instant is earlier than this one.",
    examples: [
      {
        condition: { path: "start", before: { path: "end" } },
        record: { start: "2026-01-01T00:00:00Z", end: "2026-02-01T00:00:00Z" },
        holds: true,
      },
    ],
  },
].map((one) =>
  Object.hasOwn(numberTests, one.key)
    ? { ...one, subject: numberExpression, written: againstNumber }
    : { ...one, subject: instantExpression, written: againstInstant },
);

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
  if (Object.hasOwn(comparisons, test)) return compileComparison(test, spec, at, compiler);
  const { path: subject, [test]: operand } = spec;
  const from = [...at, "path"];
  const of = [...at, test];
  if (test === "present") {
    const inner = compiler.expression(subject, from);
    if (typeof operand !== "boolean") mistake(context, of, "expected true or false");
    return (scope) => (inner(scope) !== undefined) === operand;
  }
  if (test === "matches") {
    const inner = ofText(subject, from, compiler);
    const pattern = compilePattern(operand, of, context);
    return (scope) => {
      const searched = searchable(inner(scope), context);
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

/** A comparison with a constant, or with what another expression gives. Nothing compares to nothing. */
function compileComparison(test: string, spec: JsonObject, at: KeyPath, compiler: ExpressionCompiler): Holds {
  const { context } = compiler;
  const operand = spec[test];
  const of = [...at, test];
  const ofNumbers = Object.hasOwn(numberTests, test);
  const takes = ofNumbers ? numeric : ofInstant;
  const decide = comparisons[test] ?? (() => false);
  const inner = compiler.expression(spec["path"], [...at, "path"], takes);
  let other: Evaluate;
  if (isJsonObject(operand)) other = compiler.expression(operand, of, takes);
  else {
    const constant = ofNumbers ? operand : instantOf(operand, context);
    if ((ofNumbers && typeof constant !== "number") || constant === undefined) {
      mistake(
        context,
        of,
        `found ${JSON.stringify(operand)}; expected ${ofNumbers ? "a number" : "an instant"}, or an expression`,
      );
    }
    context.fault = undefined;
    other = () => constant;
  }
  const order = ofNumbers
    ? (one: Json, two: Json): number | undefined => {
        const [left, right] = [decimalOf(one, context), decimalOf(two, context)];
        return left === undefined || right === undefined ? undefined : compare(left, right);
      }
    : (one: Json, two: Json): number | undefined => {
        const [left, right] = [instantOf(one, context), instantOf(two, context)];
        return left === undefined || right === undefined ? undefined : Date.parse(left) - Date.parse(right);
      };
  return (scope) => {
    const found = inner(scope);
    const wanted = found === undefined ? undefined : other(scope);
    if (found === undefined || wanted === undefined || context.fault !== undefined) return false;
    const compared = order(found, wanted);
    return compared !== undefined && decide(compared);
  };
}
