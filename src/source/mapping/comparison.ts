import type { Json } from "../../base/canonical-json.ts";
import { isJsonObject } from "../../base/canonical-json.ts";
import { mistake } from "./context.ts";
import type { Evaluate, ExpressionCompiler, KeyPath } from "./context.ts";
import { instantOf, writtenInstant } from "./date.ts";
import { compare, decimalOf } from "./decimal.ts";
import { numeric, ofInstant } from "./kinds.ts";
import type { Scope } from "./path.ts";
import { instantExpression, numberExpression, objectExpressionOf } from "./written.ts";
import type { Written } from "./written.ts";

const numberTests = {
  above: (order: number) => order > 0,
  atLeast: (order: number) => order >= 0,
  below: (order: number) => order < 0,
  atMost: (order: number) => order <= 0,
};
const instantTests = {
  after: numberTests.above,
  notBefore: numberTests.atLeast,
  before: numberTests.below,
  notAfter: numberTests.atMost,
};
const all: Readonly<Record<string, (order: number) => boolean>> = { ...numberTests, ...instantTests };

export const isComparison = (test: string): boolean => Object.hasOwn(all, test);

const againstNumber: Written = { form: "either", of: [{ form: "number" }, objectExpressionOf(numeric)] };
const againstInstant: Written = { form: "either", of: [writtenInstant, objectExpressionOf(ofInstant)] };
const numbers = "Both are numbers, or texts with a decimal point; another number can come from an expression";
const instants =
  "Both are instants: an ISO time with Z or an offset, or what `date` gives. " +
  'Another one can come from an expression; a constant is such as `"2026-01-01T00:00:00Z"`';

const described = [
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
    key: "atLeast",
    holds: "The number is this one or larger.",
    examples: [{ condition: { path: "seats", atLeast: 5 }, record: { seats: 5 }, holds: true }],
  },
  {
    key: "below",
    holds: "The number is smaller than this one.",
    examples: [{ condition: { path: "total", below: 0 }, record: { total: "-0.01" }, holds: true }],
  },
  {
    key: "atMost",
    holds: "The number is this one or smaller.",
    examples: [{ condition: { path: "total", atMost: 0 }, record: { total: "0.01" }, holds: false }],
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
    key: "notBefore",
    holds: "The instant is this one or later.",
    examples: [
      {
        condition: { path: { date: "day", zone: "UTC" }, notBefore: "2026-01-01T00:00:00Z" },
        record: { day: "2026-01-01" },
        holds: true,
      },
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
  {
    key: "notAfter",
    holds: "The instant is this one or earlier.",
    examples: [
      {
        condition: { path: "at", notAfter: "2026-01-01T00:00:00Z" },
        record: { at: "2026-01-01T00:00:00Z" },
        holds: true,
      },
    ],
  },
];

/** Comparisons of numbers and of instants, for the reference. What is none of them is refused. */
export const comparisonReference = described.map((one) =>
  Object.hasOwn(numberTests, one.key)
    ? { ...one, subject: numberExpression, written: againstNumber }
    : { ...one, subject: instantExpression, written: againstInstant },
);

/** A comparison with a constant, or with what another expression gives. Nothing compares to nothing. */
export function compileComparison(
  test: string,
  { subject, from }: { subject: Json | undefined; from: KeyPath },
  { operand, at }: { operand: Json | undefined; at: KeyPath },
  compiler: ExpressionCompiler,
): (scope: Scope) => boolean {
  const { context } = compiler;
  const ofNumbers = Object.hasOwn(numberTests, test);
  const takes = ofNumbers ? numeric : ofInstant;
  const decide = all[test] ?? (() => false);
  const inner = compiler.expression(subject, from, takes);
  let other: Evaluate;
  if (isJsonObject(operand)) other = compiler.expression(operand, at, takes);
  else {
    const constant = ofNumbers ? operand : operand === undefined ? undefined : instantOf(operand, context);
    if ((ofNumbers && typeof constant !== "number") || constant === undefined) {
      mistake(
        context,
        at,
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
