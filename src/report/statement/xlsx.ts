import { decimalText, minorDigits } from "../../crm/currency.ts";
import { joinedList } from "./cell-text.ts";
import { factLines, knownFacts } from "./header-facts.ts";
import { localTime } from "./local-time.ts";
import type { LocalTime } from "./local-time.ts";
import { cellOf, currencyOf, isList } from "./rows.ts";
import type { Column, ColumnType, Part, Row } from "./shape.ts";
import { columnLetters, moneyStyle, rowXml, sheetBegin, sheetEnd, styles, workbookFiles } from "./sheet.ts";
import type { SheetCell } from "./sheet.ts";
import { sumText } from "./totals.ts";
import type { Totals } from "./totals.ts";
import type { FileChunk, OpenStatement, StatementTotals, StatementWriter } from "./writer.ts";
import { Zip } from "./zip.ts";

/** The most rows that a sheet of a spreadsheet program has. */
const maxSheetRows = 1_048_576;

/**
 * A statement as a workbook: a summary with what it was made from and its totals, a sheet for each part, and one that
 * describes the columns. Rows are written as they come; none is kept. A part with more rows than `sheetRows` continues
 * in another sheet.
 */
export function xlsxWriter(statement: OpenStatement, sheetRows: number = maxSheetRows): StatementWriter {
  const workbook = new Workbook(statement, sheetRows);
  const whole = function* (bytes: Iterable<Uint8Array>): Iterable<FileChunk> {
    for (const chunk of bytes) yield { file: "", chunk };
  };
  return {
    begin: () => [],
    beginPart: (part) => whole(workbook.beginSheet(part)),
    rows: (part, rows) => whole(workbook.rows(part, rows)),
    endPart: (part) => whole(workbook.endSheet(part)),
    end: (totals) => whole(workbook.end(totals)),
  };
}

class Workbook {
  readonly #statement: OpenStatement;
  readonly #sheetRows: number;
  readonly #zip = new Zip();
  readonly #time: LocalTime;
  readonly #sheets: { part: Part; name: string; file: string }[] = [];
  #lastRow = 1;

  constructor(statement: OpenStatement, sheetRows: number) {
    this.#statement = statement;
    this.#sheetRows = sheetRows;
    this.#time = localTime(statement.header.period.zone);
  }

  *beginSheet(part: Part): Iterable<Uint8Array> {
    const number = this.#sheets.filter((sheet) => sheet.part === part).length + 1;
    const name = number === 1 ? part.title : `${part.title} (${number})`;
    const file = `worksheets/sheet${this.#sheets.length + 2}.xml`;
    this.#sheets.push({ part, name, file });
    this.#lastRow = 1;
    yield* this.#zip.begin(`xl/${file}`);
    const widths = part.columns.map(({ type, title }) => Math.max(columnWidths[type], title.length + 4));
    yield* this.#zip.write(
      sheetBegin(widths, 1) +
        rowXml(
          1,
          texts(
            part.columns.map(({ title }) => title),
            "heading",
          ),
        ),
    );
  }

  *rows(part: Part, rows: readonly Row[]): Iterable<Uint8Array> {
    for (const row of rows) {
      if (this.#lastRow >= this.#sheetRows) {
        yield* this.endSheet(part);
        yield* this.beginSheet(part);
      }
      this.#lastRow += 1;
      const cells = part.columns.map((column) => sheetCell(row, column, this.#time));
      yield* this.#zip.write(rowXml(this.#lastRow, cells));
    }
  }

  *endSheet(part: Part): Iterable<Uint8Array> {
    yield* this.#zip.write(sheetEnd(`A1:${columnLetters(part.columns.length - 1)}${this.#lastRow}`));
    yield* this.#zip.end();
  }

  *end(totals: StatementTotals): Iterable<Uint8Array> {
    const summary = { name: "Totals", file: "worksheets/sheet1.xml" };
    const columns = { name: "Columns", file: `worksheets/sheet${this.#sheets.length + 2}.xml` };
    yield* this.#zip.file(`xl/${summary.file}`, summarySheet(this.#statement, totals, this.#time));
    yield* this.#zip.file(`xl/${columns.file}`, columnsSheet(this.#statement));
    for (const [path, xml] of workbookFiles([summary, ...this.#sheets, columns])) yield* this.#zip.file(path, xml);
    yield* this.#zip.finish();
  }
}

const columnWidths: Record<ColumnType, number> = {
  text: 24,
  list: 36,
  integer: 11,
  boolean: 9,
  money: 18,
  date: 12,
  instant: 24,
};

function texts(values: readonly (string | null)[], style: "heading" | "text" = "text"): (SheetCell | undefined)[] {
  return values.map((text) => (text === null ? undefined : { style: styles[style], text }));
}

function sheetCell(row: Row, column: Column, time: LocalTime): SheetCell | undefined {
  const cell = cellOf(row, column);
  if (cell === null) return undefined;
  if (isList(cell)) return { style: styles.text, text: joinedList(cell) };
  if (typeof cell === "boolean") return { style: styles.plain, boolean: cell };
  if (typeof cell === "string")
    return column.type === "text" ? { style: styles.text, text: cell } : timeCell(column, cell, time);
  if (column.type !== "money") return { style: styles.integer, number: cell };
  const currency = currencyOf(row, column);
  return { style: moneyStyle(minorDigits(currency)), number: decimalText(cell, currency) };
}

const dayMs = 86_400_000;
/** Days from the beginning of a spreadsheet's calendar to 1 January 1970. */
const daysBefore1970 = 25_569;
/** 1 March 1900: before it, spreadsheet programs disagree about the calendar. */
const firstCertainDay = 61;

/** A date, or an instant on the clocks of the statement's zone, as the number that spreadsheets count days by. */
function timeCell({ type }: Column, cell: string, time: LocalTime): SheetCell {
  const at = Date.parse(cell);
  const serial = (at + (type === "instant" ? time.offset(at) : 0)) / dayMs + daysBefore1970;
  if (serial < firstCertainDay) return { style: styles.text, text: type === "instant" ? time.shown(cell) : cell };
  return { style: type === "instant" ? styles.instant : styles.date, number: serial };
}

/** The first sheet: what the statement was made from, and its totals. */
function summarySheet({ shape, header }: OpenStatement, totals: StatementTotals, time: LocalTime): string {
  const rows = [
    texts([header.title], "heading"),
    [],
    // A line has a cell of its own: copied out of the sheet, the cells are the lines again.
    ...knownFacts(header).flatMap((fact) =>
      factLines(fact, time).map((line, index) => texts([index === 0 ? fact.title : null, line])),
    ),
    [],
    texts(["Part", "Group", "Total of", "Currency", "Total"], "heading"),
    ...shape.parts.flatMap((part) => {
      const found = totals.get(part.name);
      if (found === undefined) return [];
      const groups = found.groups.flatMap((group) => totalRows(part, group.value ?? "", group));
      return [...totalRows(part, null, found), ...groups];
    }),
  ];
  return sheetXml([32, 44, 24, 10, 22], 0, rows);
}

function totalRows(part: Part, group: string | null, { rows, sums }: Totals): (SheetCell | undefined)[][] {
  return [
    [...texts([part.title, group, "Rows", null]), { style: styles.integer, number: rows }],
    ...sums.map((sum) => [
      ...texts([part.title, group, sum.column.title, sum.currency]),
      {
        style: sum.currency === null ? styles.integer : moneyStyle(minorDigits(sum.currency)),
        number: sumText(sum),
      },
    ]),
  ];
}

/** The last sheet: what each column holds, and its name in the other formats. */
function columnsSheet({ shape }: OpenStatement): string {
  const rows = shape.parts.flatMap((part) =>
    part.columns.map(({ title, name, type, about }) => texts([part.title, title, name, type, about])),
  );
  const heading = texts(["Part", "Column", "Name", "Type", "What it holds"], "heading");
  return sheetXml([20, 24, 24, 10, 90], 1, [heading, ...rows]);
}

function sheetXml(widths: readonly number[], frozenRows: 0 | 1, rows: (SheetCell | undefined)[][]): string {
  return sheetBegin(widths, frozenRows) + rows.map((cells, at) => rowXml(at + 1, cells)).join("") + sheetEnd();
}
