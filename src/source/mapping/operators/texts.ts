import { mistake, refuse } from "../context.ts";
import type { Evaluate } from "../context.ts";
import type { ExpressionExample } from "../example.ts";
import { textual } from "../kinds.ts";
import { asText, each, isText, ofText, option, textRefusals } from "./operator.ts";
import type { Operator } from "./operator.ts";
import { listOf, someText, textExpression } from "../written.ts";

/** An operator on the text that another expression finds. */
function onText(name: string, does: string, examples: ExpressionExample[], change: (text: string) => string): Operator {
  return {
    reference: {
      form: `{${name}: EXPRESSION}`,
      does: `${does} Where no text is left, it gives nothing.`,
      takes: "text, or a number as the source writes it",
      gives: "text",
      options: {},
      refuses: textRefusals,
      examples,
    },
    written: { operand: textExpression },
    gives: ["text"],
    compile(operand, _spec, at, compiler) {
      const inner = ofText(operand, at, compiler);
      return (scope) => {
        const text = asText(inner(scope), compiler.context);
        if (text === undefined) return undefined;
        const changed = change(text);
        return changed === "" ? undefined : changed;
      };
    },
  };
}

export const upper = onText(
  "upper",
  "The text in capital letters.",
  [
    { expression: { upper: "country" }, record: { country: "de" }, gives: "DE" },
    { expression: { upper: "country" }, record: { country: ["de"] }, refused: "wrong-type" },
  ],
  (text) => text.toUpperCase(),
);

export const lower = onText(
  "lower",
  "The text in small letters.",
  [{ expression: { lower: "mail" }, record: { mail: "Ann@Example.COM" }, gives: "ann@example.com" }],
  (text) => text.toLowerCase(),
);

export const trim = onText(
  "trim",
  "The text without white space at its ends.",
  [{ expression: { trim: "name" }, record: { name: "  Ann Lee " }, gives: "Ann Lee" }],
  (text) => text.trim(),
);

export const text = onText(
  "text",
  "The value as text: a number becomes the text of the number.",
  [
    { expression: { text: "number" }, record: { number: 10248 }, gives: "10248" },
    { expression: { text: "name" }, record: { name: "a\u0000b" }, refused: "broken-text" },
  ],
  (found) => found,
);

/** Text in which braces stand in pairs, or double for the characters. */
const templatePattern = "^(?:[^{}]|\\{\\{|\\}\\}|\\{[^{}]+\\})*$";

export const template: Operator = {
  reference: {
    form: '{template: "TEXT {PATH} TEXT"}',
    does:
      "Puts text together. `{path}` becomes the value at the path; `{{` and `}}` are the characters themselves. " +
      "Gives nothing as soon as one of the paths finds nothing.",
    takes: "text, or numbers",
    gives: "text",
    options: {},
    refuses: textRefusals,
    examples: [
      { expression: { template: "A-{orderID}/{line}" }, record: { orderID: 10248, line: "1" }, gives: "A-10248/1" },
      { expression: { template: "A-{orderID}/{line}" }, record: { orderID: 10248 } },
      { expression: { template: "{{{code}}}" }, record: { code: "x" }, gives: "{x}" },
    ],
  },
  written: { operand: { form: "text", pattern: templatePattern } },
  gives: ["text"],
  compile(operand, _spec, at, compiler) {
    if (!isText(operand)) return mistake(compiler.context, at, 'expected text such as "A-{orderID}"');
    const parts: (string | Evaluate)[] = [];
    for (const match of operand.matchAll(/\{\{|\}\}|\{([^{}]*)\}|[^{}]+|[{}]/g)) {
      const [piece, name] = match;
      if (name !== undefined) parts.push(compiler.expression(name, at));
      else if (piece === "{" || piece === "}") {
        return mistake(
          compiler.context,
          at,
          `found a single ${piece} in the template; expected {path}, or ${piece}${piece} for the character`,
        );
      } else parts.push(piece === "{{" ? "{" : piece === "}}" ? "}" : piece);
    }
    return (scope) => {
      let built = "";
      for (const part of parts) {
        const found = typeof part === "string" ? part : asText(part(scope), compiler.context);
        if (found === undefined) return undefined;
        built += found;
      }
      return built;
    };
  },
};

export const concat: Operator = {
  reference: {
    form: "{concat: [EXPRESSION, …], separator: TEXT}",
    does: "Joins the texts that are there and leaves out those that are not. Gives nothing where none is there.",
    takes: "text, or numbers",
    gives: "text",
    options: { separator: "The separator; nothing by default." },
    refuses: textRefusals,
    examples: [
      {
        expression: { concat: ["street", "zip", "city"], separator: ", " },
        record: { street: "Main Street 1", zip: null, city: "Bonn" },
        gives: "Main Street 1, Bonn",
      },
    ],
  },
  written: { operand: listOf(textExpression), options: { separator: someText } },
  gives: ["text"],
  compile(operand, spec, at, compiler) {
    const parts = each(operand, at, compiler, textual);
    const separator = option(spec, "separator", at, compiler.context) ?? "";
    return (scope) => {
      const texts: string[] = [];
      for (const part of parts) {
        const found = asText(part(scope), compiler.context);
        if (found !== undefined) texts.push(found);
      }
      return texts.length === 0 ? undefined : texts.join(separator);
    };
  },
};

export const split: Operator = {
  reference: {
    form: "{split: EXPRESSION, separator: TEXT}",
    does:
      "Cuts a text into a list, trims the pieces and leaves out empty pieces and those that mean nothing " +
      "(`nothing`).",
    takes: "text, or a number",
    gives: "a list of texts",
    options: { separator: "Where the text is cut; a comma by default." },
    refuses: { ...textRefusals, "too-many": "the text has more than 50,000 pieces" },
    examples: [
      { expression: { split: "numbers" }, record: { numbers: "8001, 8002,," }, gives: ["8001", "8002"] },
      { expression: { split: "numbers", separator: ";" }, record: { numbers: "8001;8002" }, gives: ["8001", "8002"] },
    ],
  },
  written: { operand: textExpression, options: { separator: someText } },
  gives: ["list"],
  compile(operand, spec, at, compiler) {
    const inner = ofText(operand, at, compiler);
    const separator = option(spec, "separator", at, compiler.context) ?? ",";
    return (scope) => {
      const found = asText(inner(scope), compiler.context);
      if (found === undefined) return undefined;
      const pieces = found.split(separator, 50_001).map((piece) => piece.trim());
      if (pieces.length > 50_000) return refuse(compiler.context, "too-many", found, "at most 50000 pieces");
      return pieces.filter((piece) => piece !== "" && !compiler.context.nullTexts.has(piece));
    };
  },
};
