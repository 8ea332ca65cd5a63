import { isJsonObject } from "../../../base/canonical-json.ts";
import { textOf } from "../coerce.ts";
import { compileCondition } from "../condition.ts";
import { mistake, refuse, valueColumn } from "../context.ts";
import { beside, each, isText, textRefusals, type Operator } from "./operator.ts";

// oxlint-disable unicorn/no-thenable -- `then` is a key of the mapping

export const first: Operator = {
  reference: {
    form: "{first: [EXPRESSION, …]}",
    does: "The value of the first expression that has one.",
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

export const map: Operator = {
  reference: {
    form: "{map: EXPRESSION, values: {WORD: CONSTANT, …}, default: CONSTANT}",
    does:
      "Puts other words for those of the source. `default` is " +
      "for a word that is not listed, and for no word at all. True and false are the words `true` and `false`.",
    options: { values: "The words of the source, each with its new value. Required." },
    refuses: {
      ...textRefusals,
      "wrong-type": "the value is neither text nor a number, nor true or false",
      "unknown-word": "the word is not listed, and there is no `default`",
    },
    examples: [
      {
        expression: { map: "type", values: { P: "personal", C: "company" } },
        record: { type: "C" },
        gives: "company",
      },
      {
        expression: { map: "company", values: { true: "company", false: "personal" } },
        record: { company: false },
        gives: "personal",
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
      const text = typeof found === "boolean" ? String(found) : textOf(found, context);
      if (text === undefined) return undefined;
      return table.get(text) ?? fallback ?? refuse(context, "unknown-word", found, expected);
    };
  },
};

export const when: Operator = {
  reference: {
    form: "{when: CONDITION, then: EXPRESSION, else: EXPRESSION}",
    does: "One expression where a condition holds, another one where it does not.",
    options: {
      then: "The expression where the condition holds. Required.",
      else: "The expression where it does not; nothing by default.",
    },
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
    const { context } = compiler;
    const holds = compileCondition(operand, at, compiler);
    const { then: yes, else: no } = spec;
    const onTrue = compiler.expression(yes, beside(at, "then"));
    const onFalse = no === undefined ? () => undefined : compiler.expression(no, beside(at, "else"));
    return (scope) => {
      const chosen = holds(scope) ? onTrue : onFalse;
      return context.fault === undefined ? chosen(scope) : undefined;
    };
  },
};

const keys = ["table", "key", "column", "default"];

export const lookup: Operator = {
  reference: {
    form: "{lookup: {table: NAME, key: EXPRESSION, column: NAME, default: CONSTANT}}",
    does:
      "Looks a text up in a table of the source (`tables`), in one of its columns where it has several. " +
      "Nothing to look up, and nothing in the column, gives nothing. `default` inside `lookup` " +
      "is for a key that the table lacks; `default` beside it for a record that has no key.",
    refuses: { ...textRefusals, "not-in-table": "the table does not have the key" },
    examples: [
      { expression: { lookup: { table: "regions", key: "country" } }, record: { country: "DE" }, gives: "EMEA" },
      {
        expression: { lookup: { table: "packs", key: "sku", column: "seats" } },
        record: { sku: "CAD-10" },
        gives: "10",
      },
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
      if (!keys.includes(key)) mistake(context, [...at, key], `unknown; expected ${keys.join(", ")}`);
    }
    // Compiled before its table is known, so that its column counts as needed: a file without it is not read.
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
    const expected = `a value that is a key of the table ${isText(name) ? name : ""}`;
    const { default: fallback, column } = operand;
    const index = table.columns.indexOf(isText(column) ? column : valueColumn);
    if (index < 0 || (column !== undefined && !isText(column))) {
      const columns = table.columns.filter((one) => one !== valueColumn).join(", ");
      const message =
        columns === "" ? "the table has one value a key and no columns" : `expected one of the columns ${columns}`;
      return mistake(context, [...at, "column"], `found ${JSON.stringify(column) ?? "nothing"}; ${message}`);
    }
    const { rows } = table;
    return (scope) => {
      const found = key(scope);
      const text = textOf(found, context);
      if (text === undefined) return undefined;
      const row = rows.get(text);
      return row === undefined ? (fallback ?? refuse(context, "not-in-table", found, expected)) : row[index];
    };
  },
};
