import type { Json, JsonObject } from "../../../base/canonical-json.ts";
import { minorDigits } from "../../../crm/currency.ts";
import type { Money } from "../../../crm/model.ts";
import { wordsOf } from "../condition.ts";
import { mistake, refuse, type Evaluate, type KeyPath, type MappingContext } from "../context.ts";
import { numberReader, pointReader, productOf, type Marks } from "../numbers.ts";
import { beside, each, isText, option, type Operator } from "./operator.ts";

export const value: Operator = {
  reference: {
    form: "{value: CONSTANT}",
    does: "A constant: text, number, true or false, or a list of texts.",
    examples: [{ expression: { value: "company" }, record: {}, gives: "company" }],
  },
  compile: (operand) => () => operand,
};

export const path: Operator = {
  reference: {
    form: "{path: PATH}",
    does: "The value at a path. Write it like this to add a `default`; otherwise the path alone is enough.",
    examples: [
      { expression: { path: "address.city" }, record: { address: { city: "Bonn" } }, gives: "Bonn" },
      { expression: { path: "address.city", default: "unknown" }, record: { address: null }, gives: "unknown" },
    ],
  },
  compile(operand, _spec, at, compiler) {
    if (!isText(operand)) return mistake(compiler.context, at, "expected a path as text");
    return compiler.expression(operand, at);
  },
};

/** The two marks must differ: otherwise 1.500 is ambiguous. */
function marksOf(spec: JsonObject, at: KeyPath, context: MappingContext): Marks {
  const [decimalMark, groupMark] = ["decimalMark", "groupMark"].map((key) => {
    const mark = option(spec, key, at, context);
    if (mark === "") mistake(context, beside(at, key), "is empty; expected another mark");
    return mark;
  });
  if (groupMark !== "" && groupMark === (decimalMark ?? "."))
    mistake(context, beside(at, "groupMark"), "is also the decimal mark; expected another mark");
  return { decimalMark, groupMark };
}

export const number: Operator = {
  reference: {
    form: "{number: EXPRESSION, decimalMark: TEXT, groupMark: TEXT}",
    does:
      "A decimal number, written as number or text. Nothing is rounded: " +
      "text of more than 15 digits before or after the mark is refused.",
    options: {
      decimalMark: "The decimal mark; a point by default. A text such as 2.000 is read only where a mark is named.",
      groupMark: "The mark between groups of three digits; nothing by default.",
    },
    refuses: {
      "not-a-number": "the value is no decimal number with these marks, or its groups are not of three digits",
    },
    examples: [
      { expression: { number: "seats" }, record: { seats: " 12 " }, gives: 12 },
      {
        expression: { number: "rate", decimalMark: ",", groupMark: "." },
        record: { rate: "1.234,5" },
        gives: 1234.5,
      },
      { expression: { number: "seats" }, record: { seats: "2.000" }, refused: "not-a-number" },
      { expression: { number: "seats", decimalMark: "." }, record: { seats: "2.000" }, gives: 2 },
    ],
  },
  compile(operand, spec, at, compiler) {
    const inner = compiler.expression(operand, at);
    const read = numberReader(marksOf(spec, at, compiler.context), compiler.context);
    return (scope) => read(inner(scope));
  },
};

export const boolean: Operator = {
  reference: {
    form: "{boolean: EXPRESSION, true: [WORD, …], false: [WORD, …]}",
    does: 'True or false, by the words of the source. They are compared as text, so 1 and "1" are the same.',
    options: {
      true: "The word, or the words, for true; `true` by default.",
      false: "The word, or the words, for false; `false` by default.",
    },
    refuses: { "not-a-boolean": "the value is not one of the words" },
    examples: [
      { expression: { boolean: "trial", true: ["Y", 1], false: ["N", 0] }, record: { trial: "1" }, gives: true },
      { expression: { boolean: "trial", true: "Y", false: "N" }, record: { trial: "maybe" }, refused: "not-a-boolean" },
    ],
  },
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = compiler.expression(operand, at);
    const yes = spec["true"] === undefined ? new Set(["true"]) : wordsOf(spec["true"], beside(at, "true"), context);
    const no = spec["false"] === undefined ? new Set(["false"]) : wordsOf(spec["false"], beside(at, "false"), context);
    const expected = `${[...yes].join(" or ")} for true, ${[...no].join(" or ")} for false`;
    return (scope) => {
      const found = inner(scope);
      if (found === undefined) return undefined;
      const text = typeof found === "object" ? "" : String(found);
      if (yes.has(text)) return true;
      if (no.has(text)) return false;
      return refuse(context, "not-a-boolean", found, expected);
    };
  },
};

export const list: Operator = {
  reference: {
    form: "{list: [EXPRESSION, …]}",
    does: "A list of the values of the expressions, without empty values.",
    examples: [{ expression: { list: ["first", "second"] }, record: { first: "8001", second: "" }, gives: ["8001"] }],
  },
  compile(operand, _spec, at, compiler) {
    const parts = each(operand, at, compiler);
    return (scope) => {
      const found: Json[] = [];
      for (const part of parts) {
        const element = part(scope);
        if (element !== undefined) found.push(element);
      }
      return found;
    };
  },
};

export const multiply: Operator = {
  reference: {
    form: "{multiply: [A, B, …]}",
    does:
      "The product of numbers, such as seats: quantity × seats per unit. Exact on decimals. Gives nothing as soon as " +
      "one of them gives nothing.",
    refuses: {
      "not-a-number": "the value is no decimal number with a point, or a text such as 2.000, which may be thousands",
      "not-exact": "the product has more than 15 digits, which a number does not hold exactly",
    },
    examples: [
      {
        expression: { multiply: ["quantity", { lookup: { table: "packs", key: "sku", column: "seats" } }] },
        record: { quantity: "3", sku: "CAD-10" },
        gives: 30,
      },
      { expression: { multiply: ["price", 3] }, record: { price: "many" }, refused: "not-a-number" },
      { expression: { multiply: ["a", "a"] }, record: { a: "123456789.123" }, refused: "not-exact" },
    ],
  },
  compile(operand, _spec, at, compiler) {
    const { context } = compiler;
    if (!Array.isArray(operand) || operand.length < 2)
      return mistake(context, at, "expected a list of two or more numbers or expressions");
    const read = numberReader({}, context);
    const parts = operand.map((part, index): Evaluate =>
      typeof part === "number" ? () => part : compiler.expression(part, [...at, index]),
    );
    return (scope) => {
      const numbers: number[] = [];
      for (const part of parts) {
        const number = read(part(scope));
        if (number === undefined) return undefined;
        numbers.push(number);
      }
      return productOf(numbers, context);
    };
  },
};

interface MoneyFormat extends Marks {
  /** Undefined: as many as the minor unit, 2 for EUR, 0 for JPY. 0: amounts are in the minor unit, such as cents. */
  decimals: number | undefined;
}

/** More whole units do not fit into every statement format. */
const mostWhole = 10 ** 14;

/** Converts decimal text to minor units digit by digit, without floating point. Never rounds. */
export function compileAmount(
  format: MoneyFormat,
  context: MappingContext,
): (value: Json, currency: string) => Money | undefined {
  const asPoint = pointReader(format);
  const threeDigits = 3;
  const withThreeDecimals = pointReader({ ...format, decimalMark: format.decimalMark ?? "." });
  return (value, currency) => {
    const digits = minorDigits(currency);
    const decimals = Math.min(format.decimals ?? digits, digits);
    const places = format.decimals === 0 ? 0 : digits;
    const expected = `an amount with at most ${decimals} decimals`;
    let text = typeof value === "number" ? String(value) : value;
    if (typeof text !== "string") return refuse(context, "not-an-amount", value, expected);
    if (typeof value === "string") {
      const written = decimals === threeDigits ? withThreeDecimals(value) : asPoint(value);
      if (!written.ok) return refuse(context, "not-an-amount", value, `${expected}, ${written.error}`);
      text = written.value;
    }
    const match = /^([+-]?)(\d{1,15})(?:\.(\d*))?$/.exec(text.trim());
    if (match === null) return refuse(context, "not-an-amount", value, expected);
    const fraction = match[3] ?? "";
    if (/[^0]/.test(fraction.slice(decimals))) return refuse(context, "not-an-amount", value, expected);
    const minor = Number(`${match[2]}${fraction.slice(0, decimals).padEnd(places, "0")}`);
    if (!Number.isSafeInteger(minor) || minor >= mostWhole * 10 ** digits) {
      const most = Math.min(mostWhole, Math.floor(Number.MAX_SAFE_INTEGER / 10 ** digits));
      return refuse(context, "not-an-amount", value, `an amount below ${most.toLocaleString("en")}`);
    }
    return { currency, minor: match[1] === "-" && minor !== 0 ? -minor : minor };
  };
}

export const money: Operator = {
  reference: {
    form: "{money: EXPRESSION, currency: CURRENCY, decimals: NUMBER, decimalMark: TEXT, groupMark: TEXT}",
    does: "An amount in the minor unit of its currency (cents for EUR), digit by digit; nothing is rounded.",
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
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = compiler.expression(operand, at);
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
      constant === undefined ? compiler.expression(currency, beside(at, "currency")) : () => constant;
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
