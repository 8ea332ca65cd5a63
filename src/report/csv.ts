import { stringify } from "csv-stringify/sync";

/** Lists stand as lists in JSON, and with `; ` between their members in CSV. */
export type ReportCell = string | number | boolean | null | readonly string[];

/** What a spreadsheet takes for the beginning of a formula, in both widths. */
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * A text as a spreadsheet may open it: one that would be taken for a formula begins with an apostrophe. Numbers are
 * written as they are. Every text is quoted, so that a separator of another country inside it does not begin a new
 * cell.
 */
function neutralised(text: string): string {
  return formulaStart.test(text) ? `'${text}` : text;
}

function csvCell(cell: ReportCell): string | number {
  if (cell === null) return "";
  if (typeof cell === "number") return cell;
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  return neutralised(typeof cell === "string" ? cell : cell.join("; "));
}

/** Rows as CSV (RFC 4180, UTF-8, line feeds), each with its line end. */
export function csvLines(rows: readonly (readonly ReportCell[])[]): string {
  return stringify(
    rows.map((row) => row.map(csvCell)),
    { quoted_string: true, record_delimiter: "\n" },
  );
}
