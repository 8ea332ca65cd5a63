import type { Json } from "../../../base/canonical-json.ts";
import { mistake, refuse } from "../context.ts";
import type { Evaluate } from "../context.ts";
import { marksOf } from "../marks.ts";
import { compileAmount } from "../money.ts";
import { numeric } from "../kinds.ts";
import { beside, isText } from "./operator.ts";
import type { Operator } from "./operator.ts";
import { numberExpression, objectExpressionOf, someText, wholeNumber } from "../written.ts";

export const money: Operator = {
  reference: {
    form: "{money: EXPRESSION, currency: CURRENCY, decimals: NUMBER, decimalMark: TEXT, groupMark: TEXT}",
    does: "An amount in the minor unit of its currency (cents for EUR), digit by digit; nothing is rounded.",
    takes: "text, or a number",
    gives: "an amount: `{currency, minor}`",
    options: {
      currency: "A currency such as EUR, or an expression that finds one. Required.",
      decimals:
        "The most decimals, 0 to 6: by default, and at most, as many as the minor unit of the currency has by " +
        "ISO 4217. 0 for amounts that the CRM gives in cents.",
      decimalMark:
        "The decimal mark; a point by default. A text such as 1.230 is read only where a mark is " +
        "named, or the currency has three decimals.",
      groupMark: "The mark between groups of three digits; nothing by default.",
    },
    refuses: {
      "not-an-amount": "no amount, more decimals than the currency has, or more digits than can be held exactly",
      "not-a-currency": "the currency is not three capital letters",
    },
    examples: [
      {
        expression: { money: "total", currency: "EUR", decimalMark: ",", groupMark: "." },
        record: { total: "1.234,50" },
        gives: { currency: "EUR", minor: 123450 },
      },
      {
        expression: { money: "total", currency: { path: "unit" } },
        record: { total: "500", unit: "JPY" },
        gives: { currency: "JPY", minor: 500 },
      },
      {
        expression: { money: "cents", currency: "EUR", decimals: 0 },
        record: { cents: 1250 },
        gives: { currency: "EUR", minor: 1250 },
      },
      { expression: { money: "total", currency: "EUR" }, record: { total: "1.005" }, refused: "not-an-amount" },
      {
        expression: { money: "total", currency: { path: "unit" } },
        record: { total: "1", unit: "euro" },
        refused: "not-a-currency",
      },
    ],
  },
  written: {
    operand: numberExpression,
    options: {
      currency: { form: "either", of: [{ form: "text", pattern: "^[A-Z]{3}$" }, objectExpressionOf(["text"])] },
      decimals: wholeNumber(0, 6),
      decimalMark: someText,
      groupMark: someText,
    },
    required: ["currency"],
  },
  gives: ["money"],
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = compiler.expression(operand, at, numeric);
    const { decimals, currency } = spec;
    if (!isDigits(decimals)) {
      return mistake(
        context,
        beside(at, "decimals"),
        `found ${JSON.stringify(decimals)}; expected a whole number from 0 to 6`,
      );
    }
    const constant = isText(currency) && /^[A-Z]{3}$/.test(currency) ? currency : undefined;
    if (constant === undefined && (currency === undefined || isText(currency))) {
      return mistake(
        context,
        beside(at, "currency"),
        "expected a currency such as EUR, or an expression such as {path: currency}",
      );
    }
    const currencyOf: Evaluate =
      constant === undefined ? compiler.expression(currency, beside(at, "currency"), ["text"]) : () => constant;
    const amount = compileAmount({ decimals, ...marksOf(spec, at, context) }, context);
    return (scope) => {
      const found = inner(scope);
      if (found === undefined) return undefined;
      const unit = currencyOf(scope);
      if (!isText(unit) || !/^[A-Z]{3}$/.test(unit))
        return refuse(context, "not-a-currency", unit, "three capital letters");
      const result = amount(found, unit);
      return result === undefined ? undefined : { ...result };
    };
  },
};

function isDigits(value: Json | undefined): value is number | undefined {
  return value === undefined || (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 6);
}
