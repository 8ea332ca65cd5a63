import { isJsonObject } from "../../../base/canonical-json.ts";
import { mistake, refuse } from "../context.ts";

import { anyOf, kindsOfConstant } from "../kinds.ts";
import { valueColumn } from "../lookup-table.ts";
import type { LookupTable } from "../lookup-table.ts";
import { asText, isText, ofText, textRefusals } from "./operator.ts";
import type { Operator } from "./operator.ts";
import { constant, someText, textExpression } from "../written.ts";

const keys = ["table", "key", "column", "default"];

export const lookup: Operator = {
  reference: {
    form: "{lookup: {table: NAME, key: EXPRESSION, column: NAME, default: CONSTANT}}",
    does:
      "Looks a text up in a table of the source (`tables`), in one of its columns where it has several. " +
      "Nothing to look up, and nothing in the column, gives nothing. `default` inside `lookup` " +
      "is for a key that the table lacks; `default` beside it for a record that has no key.",
    takes: "text, or a number",
    gives: "text",
    options: {},
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
  written: {
    operand: {
      form: "object",
      keys: { table: someText, key: textExpression, column: someText, default: constant },
      required: ["table", "key"],
    },
  },
  gives: ({ lookup: operand }) =>
    anyOf([["text"], kindsOfConstant(isJsonObject(operand) ? operand["default"] : undefined)]),
  compile(operand, _spec, at, compiler) {
    const { context } = compiler;
    if (!isJsonObject(operand)) {
      return mistake(context, at, "expected {table: …, key: …}");
    }
    for (const key of Object.keys(operand)) {
      if (!keys.includes(key)) mistake(context, [...at, key], `unknown; expected ${keys.join(", ")}`);
    }
    // What it reads is known without its table: a file that lacks that column is not read.
    const key = ofText(operand["key"], [...at, "key"], compiler);
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
    const read = columnOf(table, isText(column) ? column : undefined);
    if (read === undefined || (column !== undefined && !isText(column))) {
      const message =
        table.columns === undefined
          ? "the table has one value a key and no columns"
          : `expected one of the columns ${table.columns.filter((one) => one !== valueColumn).join(", ")}`;
      return mistake(context, [...at, "column"], `found ${JSON.stringify(column) ?? "nothing"}; ${message}`);
    }
    const { rows } = table;
    return (scope) => {
      const found = key(scope);
      const text = asText(found, context);
      if (text === undefined) return undefined;
      const row = rows.get(text);
      if (typeof row === "string") return row;
      if (row !== undefined) return read(row);
      return fallback ?? refuse(context, "not-in-table", found, expected);
    };
  },
};

type Row = string | readonly (string | undefined)[];

/** How the value is read from a row; undefined where the table has no such column. */
function columnOf(table: LookupTable, column: string | undefined): ((row: Row) => string | undefined) | undefined {
  if (table.columns === undefined)
    return column === undefined ? (row) => (typeof row === "string" ? row : undefined) : undefined;
  const index = table.columns.indexOf(column ?? valueColumn);
  return index < 0 ? undefined : (row) => (typeof row === "string" ? undefined : row[index]);
}
