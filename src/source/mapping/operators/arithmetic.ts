import type { Json } from "../../../base/canonical-json.ts";
import { mistake, numeric } from "../context.ts";
import type { Evaluate, ExpressionCompiler, KeyPath } from "../context.ts";
import { add as plus, decimalOf, multiply as times, numberOf, round as shorten, roundings } from "../numbers.ts";
import type { Decimal } from "../numbers.ts";
import { listOf, numberOrExpression, oneOfWords, wholeNumber, wholeOption, wordOption } from "./operator.ts";
import type { ExpressionExample, Operator } from "./operator.ts";

const refusals = {
  "not-a-number": "the value is no decimal number with a point, or a text such as 2.000, which may be thousands",
  "not-exact": "a number beyond 40 digits, or a result of more than 15, which a number does not hold exactly",
};
const roundingOption =
  "How: `half-up` (a half goes away from 0), `half-even`, `up` (away from 0), `down` (to 0), `ceiling` or `floor`.";
const decimalsOption = "How many decimals are left, 0 to 15";

/** An expression that gives a number, or a number as it stands. */
function operandOf(spec: Json | undefined, at: KeyPath, compiler: ExpressionCompiler): Evaluate {
  return typeof spec === "number" ? () => spec : compiler.expression(spec, at, numeric);
}

function operandsOf(operand: Json, at: KeyPath, compiler: ExpressionCompiler): Evaluate[] {
  if (!Array.isArray(operand) || operand.length < 2) {
    mistake(compiler.context, at, "expected a list of two or more numbers or expressions");
    return [];
  }
  return operand.map((part, index) => operandOf(part, [...at, index], compiler));
}

function calculation(
  name: string,
  does: string,
  examples: ExpressionExample[],
  calculate: (one: Decimal, other: Decimal) => Decimal,
): Operator {
  return {
    reference: {
      form: `{${name}: [A, B, …]}`,
      does: `${does} Exact on decimals. Gives nothing as soon as one of them gives nothing.`,
      takes: "numbers: expressions, or numbers as they stand",
      gives: "a number",
      options: {},
      refuses: refusals,
      examples,
    },
    written: { operand: listOf(numberOrExpression, 2) },
    gives: ["number"],
    compile(operand, _spec, at, compiler) {
      const { context } = compiler;
      const parts = operandsOf(operand, at, compiler);
      return (scope) => {
        let result: Decimal | undefined;
        for (const part of parts) {
          const decimal = decimalOf(part(scope), context);
          if (decimal === undefined) return undefined;
          result = result === undefined ? decimal : calculate(result, decimal);
        }
        return result === undefined ? undefined : numberOf(result, context);
      };
    },
  };
}

export const add = calculation(
  "add",
  "The sum of numbers.",
  [
    { expression: { add: ["base", "extra", 1] }, record: { base: 0.1, extra: "0.2" }, gives: 1.3 },
    { expression: { add: ["base", "extra"] }, record: { base: 1 } },
  ],
  plus,
);

export const multiply = calculation(
  "multiply",
  "The product of numbers, such as seats: quantity × seats per unit.",
  [
    {
      expression: { multiply: ["quantity", { lookup: { table: "packs", key: "sku", column: "seats" } }] },
      record: { quantity: "3", sku: "CAD-10" },
      gives: 30,
    },
    { expression: { multiply: ["price", 3] }, record: { price: "many" }, refused: "not-a-number" },
    { expression: { multiply: ["a", "a"] }, record: { a: "123456789.123" }, refused: "not-exact" },
  ],
  times,
);

export const round: Operator = {
  reference: {
    form: "{round: EXPRESSION, decimals: NUMBER, rounding: ROUNDING}",
    does: "A number with fewer decimals.",
    takes: "a number, or text with a decimal point",
    gives: "a number",
    options: { decimals: `${decimalsOption}; 0 by default.`, rounding: `${roundingOption} Required.` },
    refuses: refusals,
    examples: [
      { expression: { round: "seats", rounding: "ceiling" }, record: { seats: "2.1" }, gives: 3 },
      { expression: { round: "rate", decimals: 2, rounding: "half-up" }, record: { rate: 1.005 }, gives: 1.01 },
      { expression: { round: "rate", decimals: 2, rounding: "half-even" }, record: { rate: 1.005 }, gives: 1 },
      { expression: { round: "rate", rounding: "down" }, record: { rate: -2.9 }, gives: -2 },
    ],
  },
  written: {
    operand: numberOrExpression,
    options: { decimals: wholeNumber(0, 15), rounding: oneOfWords(roundings) },
    required: ["rounding"],
  },
  gives: ["number"],
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = operandOf(operand, at, compiler);
    const decimals = wholeOption(spec, "decimals", at, context, { least: 0, most: 15 }) ?? 0;
    const rounding = wordOption(spec, "rounding", at, context, roundings, undefined);
    return (scope) => {
      const decimal = decimalOf(inner(scope), context);
      return decimal === undefined || rounding === undefined
        ? undefined
        : numberOf(shorten(decimal, decimals, rounding), context);
    };
  },
};
