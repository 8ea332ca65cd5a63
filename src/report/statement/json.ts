import { canonicalJson, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { decimalText } from "../../crm/currency.ts";
import {
  cellOf,
  currencyOf,
  exactJson,
  isExact,
  isList,
  localTime,
  minorOf,
  withEscapes,
  type LocalTime,
} from "./cells.ts";
import { headerJson, totalsJson, type OpenStatement, type StatementWriter } from "./writer.ts";
import type { Column, Part, Row } from "./shape.ts";

/**
 * A statement as one JSON document: the header on the first line, then each part with columns, one row a line, and
 * totals. Each line is canonical JSON. Texts are exact; characters that act in a terminal or editor are escaped.
 */
export function jsonWriter({ header }: OpenStatement): StatementWriter {
  const time = localTime(header.period.zone);
  let parts = 0;
  let rowsOfPart = 0;
  return {
    begin: () => file(`{"header":${line(headerJson(header))},\n"parts":{`),
    beginPart: (part) => {
      const before = parts === 0 ? "" : ",";
      parts += 1;
      rowsOfPart = 0;
      return file(`${before}\n${JSON.stringify(part.name)}:{"columns":${line(columnsJson(part))},\n"rows":[`);
    },
    rows: (part, rows) => {
      const lines = rows.map((row) => `\n${line(rowJson(part, row, time))}`).join(",");
      const text = rowsOfPart === 0 ? lines : `,${lines}`;
      rowsOfPart += rows.length;
      return file(text);
    },
    endPart: (part, totals) => file(`\n],\n"totals":${line(totalsJson(part, totals))}}`),
    end: () => file("\n}}\n"),
  };
}

function file(chunk: string): { file: string; chunk: string }[] {
  return [{ file: "", chunk }];
}

/** JSON escapes only control characters itself. */
function line(value: Json): string {
  return withEscapes(canonicalJson(value));
}

function columnsJson(part: Part): Json {
  return part.columns.map(({ name, type, title, currencyIn }) => ({ name, type, title, currencyIn }));
}

function rowJson(part: Part, row: Row, time: LocalTime): JsonObject {
  return Object.fromEntries(part.columns.map((column) => [column.name, cellJson(row, column, time)]));
}

function cellJson(row: Row, column: Column, time: LocalTime): Json {
  const cell = cellOf(row, column);
  if (cell === null) return null;
  if (isList(cell)) return [...cell];
  if (column.type === "money") return decimalText(minorOf(cell), currencyOf(row, column));
  if (isExact(cell)) return exactJson(cell);
  return column.type === "instant" ? time.text(String(cell)) : cell;
}
