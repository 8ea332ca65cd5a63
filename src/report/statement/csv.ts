import { stringify } from "csv-stringify/sync";
import { decimalText } from "../../crm/currency.ts";
import {
  cellOf,
  currencyOf,
  isList,
  joinedList,
  localTime,
  minorOf,
  untypedCellText,
  type LocalTime,
} from "./cells.ts";
import type { Column, Part, Row } from "./shape.ts";
import type { OpenStatement, StatementWriter } from "./writer.ts";

/** CSV (RFC 4180, UTF-8): one file per part, with one header line. */
export function csvWriter({ header }: OpenStatement): StatementWriter {
  const time = localTime(header.period.zone);
  return {
    beginPart: ({ columns }) => `${columns.map(({ name }) => name).join(",")}\r\n`,
    rows: (part, rows) => csvText(part, rows, time),
  };
}

/** Also quoted: separators of other countries, and spaces at the beginning or end. */
const quotedToo = /[;|]|^ | $/u;

function csvText(part: Part, rows: readonly Row[], time: LocalTime): string {
  return stringify(
    rows.map((row) => part.columns.map((column) => cellAsText(row, column, time))),
    { record_delimiter: "\r\n", quoted_match: quotedToo },
  );
}

function cellAsText(row: Row, column: Column, time: LocalTime): string {
  const cell = cellOf(row, column);
  if (cell === null) return "";
  if (isList(cell)) return untypedCellText(joinedList(cell));
  if (column.type === "money") return decimalText(minorOf(cell), currencyOf(row, column));
  if (column.type === "instant") return time.text(String(cell));
  return column.type === "text" ? untypedCellText(String(cell)) : String(cell);
}
