import type { Json } from "../../../base/canonical-json.ts";
import { failed } from "../../../base/errors.ts";
import { wordsOf } from "../condition.ts";
import { mistake, refuse } from "../context.ts";
import { marksOf, pointReader } from "../marks.ts";
import { kindsOfConstant, numeric, plain } from "../kinds.ts";
import { beside, each, isText } from "./operator.ts";
import type { Operator } from "./operator.ts";
import {
  anyExpression,
  aPath,
  constant,
  listOf,
  numberExpression,
  plainExpression,
  someText,
  words,
} from "../written.ts";

export const value: Operator = {
  reference: {
    form: "{value: CONSTANT}",
    does: "A constant: text, number, true or false, or a list of texts.",
    takes: "nothing",
    gives: "the constant",
    options: {},
    refuses: {},
    examples: [{ expression: { value: "company" }, record: {}, gives: "company" }],
  },
  written: { operand: constant },
  gives: ({ value: constant }) => kindsOfConstant(constant),
  compile: (operand) => () => operand,
};

export const path: Operator = {
  reference: {
    form: "{path: PATH}",
    does: "The value at a path. Write it like this to add a `default`; otherwise the path alone is enough.",
    takes: "any value",
    gives: "the value, unchanged",
    options: {},
    refuses: {},
    examples: [
      { expression: { path: "address.city" }, record: { address: { city: "Bonn" } }, gives: "Bonn" },
      { expression: { path: "address.city", default: "unknown" }, record: { address: null }, gives: "unknown" },
    ],
  },
  written: { operand: aPath },
  gives: undefined,
  compile(operand, _spec, at, compiler) {
    if (!isText(operand)) return mistake(compiler.context, at, "expected a path as text");
    return compiler.expression(operand, at);
  },
};

export const number: Operator = {
  reference: {
    form: "{number: EXPRESSION, decimalMark: TEXT, groupMark: TEXT}",
    does:
      "A decimal number, written as number or text. Nothing is rounded: " +
      "text of more than 15 digits before or after the mark is refused.",
    takes: "a number, or text",
    gives: "a number",
    options: {
      decimalMark: "The decimal mark; a point by default. A text such as 2.000 is read only where a mark is named.",
      groupMark: "The mark between groups of three digits; nothing by default.",
    },
    refuses: {
      "not-a-number": "the value is no decimal number with these marks, or its groups are not of three digits",
    },
    examples: [
      { expression: { number: "seats" }, record: { seats: " 12 " }, gives: 12 },
      { expression: { number: "rate", decimalMark: "," }, record: { rate: "0,5" }, gives: 0.5 },
      {
        expression: { number: "rate", decimalMark: ",", groupMark: "." },
        record: { rate: "1.234,5" },
        gives: 1234.5,
      },
      { expression: { number: "seats", groupMark: "," }, record: { seats: "1,5" }, refused: "not-a-number" },
      { expression: { number: "seats" }, record: { seats: "1e3" }, refused: "not-a-number" },
      { expression: { number: "seats" }, record: { seats: "2.000" }, refused: "not-a-number" },
      { expression: { number: "seats", decimalMark: "." }, record: { seats: "2.000" }, gives: 2 },
    ],
  },
  written: { operand: numberExpression, options: { decimalMark: someText, groupMark: someText } },
  gives: ["number"],
  compile(operand, spec, at, compiler) {
    const inner = compiler.expression(operand, at, numeric);
    const asPoint = pointReader(marksOf(spec, at, compiler.context));
    return (scope) => {
      const found = inner(scope);
      if (found === undefined || typeof found === "number") return found;
      const written = isText(found) ? asPoint(found) : failed("written as text");
      if (!written.ok) return refuse(compiler.context, "not-a-number", found, `a number ${written.error}`);
      const text = written.value;
      const exact = /^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN;
      return Number.isFinite(exact) ? exact : refuse(compiler.context, "not-a-number", found, "a number");
    };
  },
};

export const boolean: Operator = {
  reference: {
    form: "{boolean: EXPRESSION, true: [WORD, …], false: [WORD, …]}",
    does: 'True or false, by the words of the source. They are compared as text, so 1 and "1" are the same.',
    takes: "text, a number, or true and false",
    gives: "true or false",
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
  written: { operand: plainExpression, options: { true: words, false: words } },
  gives: ["boolean"],
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = compiler.expression(operand, at, plain);
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
    takes: "any values",
    gives: "a list",
    options: {},
    refuses: {},
    examples: [{ expression: { list: ["first", "second"] }, record: { first: "8001", second: "" }, gives: ["8001"] }],
  },
  written: { operand: listOf(anyExpression) },
  gives: ["list"],
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
