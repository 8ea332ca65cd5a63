// oxlint-disable unicorn/no-thenable -- `then` is a key of the mapping
import { isJsonObject } from "../../../base/canonical-json.ts";
import { compileCondition } from "../condition.ts";
import { mistake, refuse } from "../context.ts";
import { asText, beside, each, isText, textRefusals } from "./operator.ts";
import type { Operator } from "./operator.ts";

export const first: Operator = {
  reference: {
    form: "{first: [EXPRESSION, …]}",
    does: "What the first expression gives that gives anything.",
    takes: "any values",
    gives: "the value, as it is",
    options: {},
    refuses: {},
    examples: [
      { expression: { first: ["mobile", "phone"] }, record: { mobile: "", phone: "030 1234" }, gives: "030 1234" },
    ],
  },
  compile(operand, _spec, at, compiler) {
    const choices = each(operand, at, compiler);
    return (scope) => {
      for (const choice of choices) {
        const found = choice(scope);
        if (found !== undefined || compiler.context.fault !== undefined) return found;
      }
      return undefined;
    };
  },
};

export const lookup: Operator = {
  reference: {
    form: "{lookup: {table: NAME, key: EXPRESSION, default: CONSTANT}}",
    does:
      "Looks a text up in a table of the source (`tables`). " +
      "Nothing to look up gives nothing. `default` inside `lookup` " +
      "is for a key that the table lacks; `default` beside it for a record that has no key.",
    takes: "text, or a number",
    gives: "text",
    options: {},
    refuses: { ...textRefusals, "not-in-table": "the table does not have the key" },
    examples: [
      { expression: { lookup: { table: "regions", key: "country" } }, record: { country: "DE" }, gives: "EMEA" },
      {
        expression: { lookup: { table: "regions", key: "country" } },
        record: { country: "XX" },
        refused: "not-in-table",
      },
      {
        expression: { lookup: { table: "regions", key: "country", default: "elsewhere" } },
        record: { country: "XX" },
        gives: "elsewhere",
      },
    ],
  },
  compile(operand, _spec, at, compiler) {
    const { context } = compiler;
    if (!isJsonObject(operand)) {
      return mistake(context, at, "expected {table: …, key: …}");
    }
    for (const key of Object.keys(operand)) {
      if (!["table", "key", "default"].includes(key))
        mistake(context, [...at, key], "unknown; expected table, key, default");
    }
    // What it reads is known without its table: a file that lacks that column is not read.
    const key = compiler.expression(operand["key"], [...at, "key"]);
    const name = operand["table"];
    const table = isText(name) ? context.tables.get(name) : undefined;
    if (table === undefined) {
      const known = [...context.tables.keys()].join(", ") || "none is declared";
      return mistake(
        context,
        [...at, "table"],
        `no such table: ${JSON.stringify(name) ?? "missing"}; known tables: ${known}`,
      );
    }
    const expected = `a key of the table ${isText(name) ? name : ""}`;
    const fallback = operand["default"];
    return (scope) => {
      const found = key(scope);
      const text = asText(found, context);
      if (text === undefined) return undefined;
      const result = table.get(text) ?? fallback;
      return result === undefined ? refuse(context, "not-in-table", found, expected) : result;
    };
  },
};

export const map: Operator = {
  reference: {
    form: "{map: EXPRESSION, values: {WORD: CONSTANT, …}, default: CONSTANT}",
    does:
      "Puts other words for those of the source. `default` is " +
      "for a word that is not listed, and for no word at all.",
    takes: "text, or a number",
    gives: "the constant",
    options: { values: "The words of the source, each with what it becomes. Required." },
    refuses: { ...textRefusals, "unknown-word": "the word is not listed, and there is no `default`" },
    examples: [
      {
        expression: { map: "type", values: { P: "personal", C: "company" } },
        record: { type: "C" },
        gives: "company",
      },
      { expression: { map: "type", values: { P: "personal" } }, record: { type: "Q" }, refused: "unknown-word" },
    ],
  },
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = compiler.expression(operand, at);
    const { values, default: fallback } = spec;
    if (!isJsonObject(values)) {
      return mistake(context, beside(at, "values"), "expected an object: found text → value");
    }
    const table = new Map(Object.entries(values));
    const expected = `one of ${[...table.keys()].join(", ")}`;
    return (scope) => {
      const found = inner(scope);
      const text = asText(found, context);
      if (text === undefined) return undefined;
      return table.get(text) ?? fallback ?? refuse(context, "unknown-word", found, expected);
    };
  },
};

export const when: Operator = {
  reference: {
    form: "{when: CONDITION, then: EXPRESSION, else: EXPRESSION}",
    does: "One expression where a condition holds, another one where it does not.",
    takes: "a condition",
    gives: "what the expression gives",
    options: {
      then: "The expression where the condition holds. Required.",
      else: "The expression where it does not; nothing by default.",
    },
    refuses: {},
    examples: [
      {
        expression: { when: { path: "country", in: ["DE", "AT"] }, then: { value: "B1" }, else: { value: "B2" } },
        record: { country: "AT" },
        gives: "B1",
      },
      { expression: { when: { path: "company", present: true }, then: "company" }, record: { company: "" } },
    ],
  },
  compile(operand, spec, at, compiler) {
    const holds = compileCondition(operand, at, compiler);
    const { then: yes, else: no } = spec;
    const onTrue = compiler.expression(yes, beside(at, "then"));
    const onFalse = no === undefined ? () => undefined : compiler.expression(no, beside(at, "else"));
    return (scope) => (holds(scope) ? onTrue(scope) : onFalse(scope));
  },
};
