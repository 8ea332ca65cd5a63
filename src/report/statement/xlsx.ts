import { decimalText } from "../../crm/currency.ts";
import { joinedList } from "./cell-text.ts";
import { localTime } from "./local-time.ts";
import type { LocalTime } from "./local-time.ts";
import type { Exact } from "./exact.ts";
import { cellOf, currencyOf, isList } from "./rows.ts";
import type { Column, ColumnType, Part, Row } from "./shape.ts";
import { sheetNames } from "./sheet-names.ts";
import { sheetStyles, styles } from "./sheet-styles.ts";
import type { SheetStyles } from "./sheet-styles.ts";
import {
  booleanCell,
  columnLetters,
  contentTypes,
  coreProperties,
  numberCell,
  packageRelationsXml,
  sheetBegin,
  sheetEnd,
  textCell,
  workbookRelations,
  workbookXml,
} from "./sheet-xml.ts";
import type { SheetEntry } from "./sheet-xml.ts";
import type { PartSheet } from "./totals-sheet.ts";
import { columnsSheet, summarySheet } from "./totals-sheet.ts";
import type { FileChunk, OpenStatement, StatementTotals, StatementWriter } from "./writer.ts";
import { Zip } from "./zip.ts";

/** Where a part goes on in a further sheet. */
export interface SheetLimits {
  /** Rows of a sheet, with its heading: no spreadsheet program has more than 1,048,576. */
  rows: number;
  /** Bytes of a sheet's XML: a file in a zip has less than 4 GiB. */
  bytes: number;
}

const programLimits: SheetLimits = { rows: 1_048_576, bytes: 3 * 2 ** 30 };

/**
 * A statement as a workbook: a summary with what it was made from and its totals, a sheet for each part, and one that
 * says what stands in the columns. Rows are written as they come and none is kept.
 */
export function xlsxWriter(statement: OpenStatement, limits: SheetLimits = programLimits): StatementWriter {
  const workbook = new Workbook(statement, limits);
  const whole = function* (bytes: Iterable<Uint8Array>): Iterable<FileChunk> {
    for (const chunk of bytes) if (chunk.length > 0) yield { file: "", chunk };
  };
  return {
    begin: () => whole(workbook.begin()),
    beginPart: (part) => whole(workbook.beginSheet(part)),
    rows: (part, rows) => whole(workbook.rows(part, rows)),
    endPart: (part) => whole(workbook.endSheet(part)),
    end: (totals) => whole(workbook.end(totals)),
  };
}

class Workbook {
  readonly #statement: OpenStatement;
  readonly #limits: SheetLimits;
  readonly #zip = new Zip();
  readonly #styles = sheetStyles();
  readonly #time: LocalTime;
  readonly #names = sheetNames();
  readonly #sheets: PartSheet[] = [];
  readonly #summaryName: string;
  #lastRow = 1;

  constructor(statement: OpenStatement, limits: SheetLimits) {
    this.#statement = statement;
    this.#limits = limits;
    this.#time = localTime(statement.header.period.zone);
    this.#summaryName = this.#names("Totals");
  }

  *begin(): Iterable<Uint8Array> {
    const { header } = this.#statement;
    yield* this.#zip.file("[Content_Types].xml", contentTypes());
    yield* this.#zip.file("_rels/.rels", packageRelationsXml());
    yield* this.#zip.file("docProps/core.xml", coreProperties(header.title, header.asOf));
  }

  *beginSheet(part: Part): Iterable<Uint8Array> {
    const number = this.#sheets.length + 1;
    const sheet = { part, name: this.#names(part.title), file: `worksheets/part${number}.xml`, lastRow: 1 };
    this.#sheets.push(sheet);
    this.#lastRow = 1;
    yield* this.#zip.begin(`xl/${sheet.file}`);
    const headings = part.columns.map(({ title, type }, at) => {
      const style = type === "integer" || type === "money" ? styles.numberHeading : styles.heading;
      return textCell(`${columnLetters(at)}1`, style, title);
    });
    const widths = part.columns.map(({ type, title }) => Math.max(columnWidths[type], title.length + 4));
    yield* this.#zip.write(`${sheetBegin(widths, 1)}<row r="1">${headings.join("")}</row>`);
  }

  *rows(part: Part, rows: readonly Row[]): Iterable<Uint8Array> {
    const cells = cellWriters(part, this.#styles, this.#time);
    for (const row of rows) {
      if (this.#lastRow >= this.#limits.rows || this.#zip.size >= this.#limits.bytes) {
        yield* this.endSheet(part);
        yield* this.beginSheet(part);
      }
      this.#lastRow += 1;
      let text = `<row r="${this.#lastRow}">`;
      for (const cell of cells) text += cell(row, this.#lastRow);
      yield* this.#zip.write(`${text}</row>`);
    }
  }

  *endSheet(part: Part): Iterable<Uint8Array> {
    const sheet = this.#sheets.at(-1);
    if (sheet !== undefined) sheet.lastRow = this.#lastRow;
    yield* this.#zip.write(sheetEnd(filterOf(part, this.#lastRow)));
    yield* this.#zip.end();
  }

  *end(totals: StatementTotals): Iterable<Uint8Array> {
    const summary = { name: this.#summaryName, file: "worksheets/summary.xml" };
    const columns = { name: this.#names("Columns"), file: "worksheets/columns.xml" };
    const parts: SheetEntry[] = this.#sheets.map(({ name, file, part, lastRow }) => {
      return { name, file, filter: filterOf(part, lastRow) };
    });
    const { shape } = this.#statement;
    const sums = summarySheet(this.#statement, totals, this.#sheets, this.#styles, this.#time);
    yield* this.#zip.file(`xl/${summary.file}`, sums);
    yield* this.#zip.file(`xl/${columns.file}`, columnsSheet(shape));
    const sheets = [summary, ...parts, columns];
    yield* this.#zip.file("xl/styles.xml", this.#styles.xml());
    yield* this.#zip.file("xl/workbook.xml", workbookXml(sheets));
    yield* this.#zip.file("xl/_rels/workbook.xml.rels", workbookRelations(sheets));
    yield* this.#zip.finish();
  }
}

function filterOf(part: Part, lastRow: number): string {
  return `A1:${columnLetters(part.columns.length - 1)}${lastRow}`;
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

type CellWriter = (row: Row, number: number) => string;

/** How the cells of a part are written, column by column. */
function cellWriters(part: Part, sheet: SheetStyles, time: LocalTime): CellWriter[] {
  return part.columns.map((column, index) => {
    const letters = columnLetters(index);
    return (row, number) => {
      const cell = cellOf(row, column);
      if (cell === null) return "";
      const at = letters + String(number);
      if (isList(cell)) return textCell(at, styles.text, joinedList(cell));
      if (typeof cell === "boolean") return booleanCell(at, styles.plain, cell);
      if (typeof cell === "number" || typeof cell === "bigint") return amountOrNumber(at, cell, row, column, sheet);
      return column.type === "text" ? textCell(at, styles.text, cell) : timeCell(at, column, cell, time);
    };
  });
}

function amountOrNumber(at: string, cell: Exact, row: Row, column: Column, sheet: SheetStyles): string {
  if (column.type !== "money") return numberCell(at, styles.integer, String(cell));
  const currency = currencyOf(row, column);
  return numberCell(at, sheet.money(currency), decimalText(cell, currency));
}

const day = 86_400_000;
/** Days from the beginning of a spreadsheet's calendar to 1 January 1970. */
const daysBefore1970 = 25_569;
/** 1 March 1900: before it, spreadsheet programs disagree about the calendar. */
const firstCertainDay = 61;

/** A date, or an instant on the clocks of the statement's zone, as the number that spreadsheets count days by. */
function timeCell(at: string, { type }: Column, cell: string, time: LocalTime): string {
  const instant = Date.parse(cell);
  const ahead = type === "instant" ? time.offset(instant) : 0;
  const serial = (instant + ahead) / day + daysBefore1970;
  if (serial < firstCertainDay) return textCell(at, styles.text, type === "instant" ? time.shown(cell) : cell);
  const ofInstant = instant % 1000 === 0 ? styles.instant : styles.fineInstant;
  return numberCell(at, type === "instant" ? ofInstant : styles.date, serial);
}
