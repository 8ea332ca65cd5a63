import { decimalText, minorDigits } from "../../crm/currency.ts";
import { joinedList, localTime, cellOf, currencyOf, isList, cellText, type LocalTime } from "./cells.ts";
import {
  factLines,
  knownFacts,
  sumText,
  type Totals,
  type FileChunk,
  type OpenStatement,
  type StatementTotals,
  type StatementWriter,
} from "./writer.ts";
import type { Column, ColumnType, Part, Row } from "./shape.ts";
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

const maxCharacters = 32_767;

/** The styles of cells, by their place in `stylesXml`. */
const styles = { plain: 0, heading: 1, text: 2, integer: 3, date: 4, instant: 5 } as const;

/** The style of amounts with that many decimals. */
function moneyStyle(decimals: number): number {
  return 6 + decimals;
}

type SheetCell =
  | { style: number; text: string }
  | { style: number; number: string | number | bigint }
  | { style: number; boolean: boolean };

function rowXml(row: number, cells: readonly (SheetCell | undefined)[]): string {
  let xml = `<row r="${row}">`;
  cells.forEach((cell, column) => {
    if (cell !== undefined) xml += `<c r="${columnLetters(column)}${row}" s="${cell.style}" ${contentXml(cell)}</c>`;
  });
  return `${xml}</row>`;
}

function contentXml(cell: SheetCell): string {
  if ("number" in cell) return `><v>${cell.number}</v>`;
  if ("boolean" in cell) return `t="b"><v>${cell.boolean ? 1 : 0}</v>`;
  // A text is never a formula. Spreadsheets read `_x0041_` as an escape, so it is escaped itself.
  const text = xmlText(shortened(cellText(cell.text)).replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_"));
  return `t="inlineStr"><is><t xml:space="preserve">${text}</t></is>`;
}

function shortened(text: string): string {
  if (text.length <= maxCharacters) return text;
  const end = text.codePointAt(32_699) === text.charCodeAt(32_699) ? 32_700 : 32_699;
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
}

const knownLetters: string[] = [];

/** The letters of a column, from 0: A, B, …, Z, AA. */
function columnLetters(column: number): string {
  return (knownLetters[column] ??=
    (column < 26 ? "" : columnLetters(Math.floor(column / 26) - 1)) + String.fromCharCode(65 + (column % 26)));
}

function xmlText(text: string): string {
  return text.replaceAll(/[&<>"]/g, (found) => entities[found] ?? found);
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const begin = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const documentRelations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packageRelations = "http://schemas.openxmlformats.org/package/2006/relationships";

/** What comes before the rows of a sheet. Sheets are printed on A4 across, as wide as the page. */
function sheetBegin(widths: readonly number[], frozenRows: 0 | 1): string {
  const pane = frozenRows === 0 ? "" : '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  const cols = widths.map((width, at) => `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`);
  return (
    `${begin}<worksheet xmlns="${main}"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>` +
    `<sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews><cols>${cols.join("")}</cols><sheetData>`
  );
}

/** What comes after the rows of a sheet; `filter` is the range that has the filter buttons. */
function sheetEnd(filter?: string): string {
  const buttons = filter === undefined ? "" : `<autoFilter ref="${filter}"/>`;
  return `</sheetData>${buttons}<pageSetup paperSize="9" orientation="landscape" fitToHeight="0"/></worksheet>`;
}

/** The files of the workbook beside its sheets. A file is a sheet unless the types say otherwise. */
function workbookFiles(sheets: readonly { name: string; file: string }[]): [path: string, xml: string][] {
  const types = "application/vnd.openxmlformats-";
  const list = sheets.map(({ name }, at) => `<sheet name="${xmlText(name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`);
  const relations = sheets.map(({ file }, at) => relation(at + 1, "worksheet", file));
  return [
    [
      "[Content_Types].xml",
      `${begin}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
        `<Default Extension="rels" ContentType="${types}package.relationships+xml"/>` +
        `<Default Extension="xml" ContentType="${types}officedocument.spreadsheetml.worksheet+xml"/>` +
        `<Override PartName="/xl/workbook.xml" ContentType="${types}officedocument.spreadsheetml.sheet.main+xml"/>` +
        `<Override PartName="/xl/styles.xml" ContentType="${types}officedocument.spreadsheetml.styles+xml"/></Types>`,
    ],
    ["_rels/.rels", relationsXml([relation(1, "officeDocument", "xl/workbook.xml")])],
    ["xl/styles.xml", stylesXml()],
    [
      "xl/workbook.xml",
      `${begin}<workbook xmlns="${main}" xmlns:r="${documentRelations}"><sheets>${list.join("")}</sheets></workbook>`,
    ],
    ["xl/_rels/workbook.xml.rels", relationsXml([...relations, relation(sheets.length + 1, "styles", "styles.xml")])],
  ];
}

function relation(id: number, type: string, target: string): string {
  return `<Relationship Id="rId${id}" Type="${documentRelations}/${type}" Target="${target}"/>`;
}

function relationsXml(relations: readonly string[]): string {
  return `${begin}<Relationships xmlns="${packageRelations}">${relations.join("")}</Relationships>`;
}

/** Number formats; those from 164 on are the workbook's own. */
const ownFormats = ["yyyy\\-mm\\-dd", "yyyy\\-mm\\-dd\\ hh:mm:ss.000", "#,##0.0", "#,##0.000", "#,##0.0000"];
const moneyFormats = [3, 166, 4, 167, 168];

function stylesXml(): string {
  const formats = ownFormats.map((code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code}"/>`);
  // General, heading, text, integer, date, instant, then amounts by their decimals.
  const cells = [0, 49, 49, 3, 164, 165, ...moneyFormats].map(
    (format, at) =>
      `<xf numFmtId="${format}" fontId="${at === styles.heading ? 1 : 0}" fillId="0" borderId="0" xfId="0" ` +
      'applyNumberFormat="1" applyFont="1"/>',
  );
  const font = '<sz val="11"/><name val="Calibri"/>';
  return (
    `${begin}<styleSheet xmlns="${main}"><numFmts count="${formats.length}">${formats.join("")}</numFmts>` +
    `<fonts count="2"><font>${font}</font><font><b/>${font}</font></fonts>` +
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>' +
    '</fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
    `<cellXfs count="${cells.length}">${cells.join("")}</cellXfs></styleSheet>`
  );
}
