import { minorDigits } from "../../crm/currency.ts";
import { cellText } from "./cell-text.ts";
import { factLines, knownFacts } from "./header-facts.ts";
import type { LocalTime } from "./local-time.ts";
import type { Part, StatementShape } from "./shape.ts";
import { styles } from "./sheet-styles.ts";
import type { SheetStyles } from "./sheet-styles.ts";
import { columnLetters, formulaCell, numberCell, quotedName, sheetBegin, sheetEnd, textCell } from "./sheet-xml.ts";
import { sumText } from "./totals.ts";
import type { PartTotals, Sum, Totals } from "./totals.ts";
import type { OpenStatement, StatementTotals } from "./writer.ts";

/** A sheet with rows of a part; its heading stands in row 1. */
export interface PartSheet {
  part: Part;
  name: string;
  file: string;
  lastRow: number;
}

/** The columns of the table of totals: A part, B group, C what is added up, D currency, E total. */
const totalsHeadings = ["Part", "Group", "Total of", "Currency", "Total"];

/** The first sheet: what the statement was made from, and its totals as formulas over the sheets of its parts. */
export function summarySheet(
  { shape, header }: OpenStatement,
  totals: StatementTotals,
  sheets: readonly PartSheet[],
  style: SheetStyles,
  time: LocalTime,
): string {
  let number = 0;
  const row = (cells: (at: (letter: string) => string) => string): string => {
    number += 1;
    return `<row r="${number}">${cells((letter) => letter + String(number))}</row>`;
  };
  const lines = [
    row((at) => textCell(at("A"), styles.title, header.title)),
    row(() => ""),
    ...knownFacts(header).flatMap((fact) =>
      // A line stands in a cell of its own: copied out of the sheet, the cells are the lines again.
      factLines(fact, time).map((line, index) =>
        row(
          (at) =>
            (index === 0 ? textCell(at("A"), styles.label, fact.title) : "") + textCell(at("B"), styles.text, line),
        ),
      ),
    ),
    row(() => ""),
    row((at) =>
      totalsHeadings
        .map((text, index) => {
          const style = text === "Total" ? styles.numberHeading : styles.heading;
          return textCell(at(columnLetters(index)), style, text);
        })
        .join(""),
    ),
  ];
  for (const part of shape.parts) {
    const found = totals.get(part.name);
    if (found === undefined) continue;
    const ranges = sheets.filter((sheet) => sheet.part.name === part.name && sheet.lastRow > 1);
    for (const line of totalLines(part, found, ranges)) lines.push(row((at) => totalCells(at, line, style)));
  }
  return sheetBegin([32, 44, 24, 10, 22], 0) + lines.join("") + sheetEnd();
}

/** One line of the table of totals. */
interface TotalLine {
  part: Part;
  /** The value of `groupBy`; undefined for the whole part. */
  group: string | undefined;
  of: string;
  sum: Sum | undefined;
  rows: number;
  /** The formula, for the row of the table that it stands in; undefined where none would find the same rows. */
  formula: ((at: (letter: string) => string) => string) | undefined;
}

function totalCells(at: (letter: string) => string, line: TotalLine, style: SheetStyles): string {
  const { part, group, of, sum, rows, formula } = line;
  const currency = sum?.currency ?? null;
  const digits = sum === undefined ? String(rows) : sumText(sum);
  const format = currency === null ? styles.integer : style.money(currency);
  return (
    textCell(at("A"), styles.text, part.title) +
    (group === undefined ? "" : textCell(at("B"), styles.text, group)) +
    textCell(at("C"), styles.text, of) +
    (currency === null ? "" : textCell(at("D"), styles.text, currency)) +
    (formula === undefined ? numberCell(at("E"), format, digits) : formulaCell(at("E"), format, formula(at), digits))
  );
}

function totalLines(part: Part, totals: PartTotals, ranges: readonly PartSheet[]): TotalLine[] {
  const distinct = distinctInSheets(totals.groups.map(({ value }) => value));
  const lines = linesOf(part, totals, ranges, undefined, true);
  return [
    ...lines,
    ...totals.groups.flatMap((group) => {
      return linesOf(part, group, ranges, group.value ?? "", group.value !== null && distinct.has(group.value));
    }),
  ];
}

/**
 * Values that a formula can look for: spreadsheets take `*`, `?`, `~` and comparisons at the beginning for more than
 * they are, do not tell capital letters from small ones, and see a number where a text looks like one.
 */
function distinctInSheets(values: readonly (string | null)[]): Set<string> {
  const seen = new Map<string, number>();
  for (const value of values) {
    const folded = (value ?? "").toUpperCase().toLowerCase();
    seen.set(folded, (seen.get(folded) ?? 0) + 1);
  }
  return new Set(
    values.filter(
      (value): value is string =>
        value !== null &&
        /^\p{L}[\p{L}\p{N} _./-]{0,200}$/u.test(value) &&
        value === value.trim() &&
        seen.get(value.toUpperCase().toLowerCase()) === 1 &&
        !/^(?:true|false)$/iu.test(value),
    ),
  );
}

function linesOf(
  part: Part,
  totals: Totals,
  ranges: readonly PartSheet[],
  group: string | undefined,
  countable: boolean,
): TotalLine[] {
  const { groupBy } = part;
  const usable = ranges.length > 0 && countable;
  const grouping = group === undefined || groupBy === undefined ? undefined : groupBy;
  const summed = (make: (sheet: PartSheet, at: (letter: string) => string) => string): TotalLine["formula"] =>
    usable ? (at) => ranges.map((sheet) => make(sheet, at)).join("+") : undefined;
  const rowCount = summed((sheet, at) =>
    grouping === undefined
      ? `ROWS(${rangeOf(sheet, part, part.columns[0]?.name)})`
      : `COUNTIF(${rangeOf(sheet, part, grouping)},$${at("B")})`,
  );
  const rows: TotalLine = { part, group, of: "Rows", sum: undefined, rows: totals.rows, formula: rowCount };
  return [
    rows,
    ...totals.sums.map((sum): TotalLine => {
      const { column, currency } = sum;
      const added = summed((sheet, at) => {
        const range = rangeOf(sheet, part, column.name);
        const conditions = [
          ...(currency === null ? [] : [`${rangeOf(sheet, part, column.currencyIn)},$${at("D")}`]),
          ...(grouping === undefined ? [] : [`${rangeOf(sheet, part, grouping)},$${at("B")}`]),
        ];
        return conditions.length === 0 ? `SUM(${range})` : `SUMIFS(${range},${conditions.join(",")})`;
      });
      const formula: TotalLine["formula"] =
        added === undefined || currency === null ? added : (at) => `ROUND(${added(at)},${minorDigits(currency)})`;
      return { part, group, of: column.title, sum, rows: totals.rows, formula };
    }),
  ];
}

/** The cells of a column in a sheet, such as `'Orders'!$C$2:$C$831`. */
function rangeOf(sheet: PartSheet, part: Part, column: string | undefined): string {
  const letters = columnLetters(part.columns.findIndex(({ name }) => name === column));
  return `${quotedName(sheet.name)}!$${letters}$2:$${letters}$${sheet.lastRow}`;
}

/** The last sheet: what stands in each column, and how it is called in the other formats. */
export function columnsSheet(shape: StatementShape): string {
  const heading = ["Part", "Column", "Name", "Type", "What stands in it"];
  const lines = shape.parts.flatMap((part) =>
    part.columns.map(({ title, name, type, about }) => [part.title, title, name, type, about]),
  );
  const rows = [heading, ...lines].map((cells, index) => {
    const style = index === 0 ? styles.heading : styles.text;
    const texts = cells.map((text, at) => textCell(`${columnLetters(at)}${index + 1}`, style, cellText(text)));
    return `<row r="${index + 1}">${texts.join("")}</row>`;
  });
  return sheetBegin([20, 24, 24, 10, 90], 1) + rows.join("") + sheetEnd();
}
