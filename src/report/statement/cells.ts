import { Problem, exitCodes } from "../../base/errors.ts";
import type { Cell, Column, Part, Row } from "./shape.ts";

export function rowCheck(part: Part): (row: Row, number: number) => void {
  const columns = new Map(part.columns.map((column) => [column.name, column]));
  const amounts = part.columns.filter((column) => column.type === "money");
  return (row, number) => {
    for (const name in row) {
      const column = columns.get(name);
      const cell = row[name] ?? null;
      if (column === undefined) throw badRow(part, number, `holds ${name}, which is no column of this part`);
      if (cell !== null && !fits(column, cell)) throw badRow(part, number, `has no ${column.type} in ${name}`);
    }
    for (const { name, currencyIn } of amounts) {
      if ((row[name] ?? null) !== null && !/^[A-Z]{3}$/.test(String(row[currencyIn ?? ""])))
        throw badRow(part, number, `has an amount in ${name} and no currency for it`);
    }
  };
}

function fits({ type }: Column, cell: NonNullable<Cell>): boolean {
  switch (type) {
    case "text":
      return typeof cell === "string";
    case "list":
      return Array.isArray(cell);
    case "integer":
    case "money":
      return typeof cell === "bigint" || Number.isSafeInteger(cell);
    case "boolean":
      return typeof cell === "boolean";
    case "date":
      return typeof cell === "string" && /^\d{4}-\d{2}-\d{2}$/.test(cell) && !Number.isNaN(Date.parse(cell));
    case "instant":
      return typeof cell === "string" && /^\d{4}-.*Z$/.test(cell) && !Number.isNaN(Date.parse(cell));
  }
}

function badRow(part: Part, number: number, what: string): Problem {
  return new Problem({
    code: "statement.row",
    message: `row ${number} of the part ${part.name} ${what}; no statement was made`,
    cure: "this is a defect of crm-sync: report it, with the command that you ran",
  });
}

export function cellOf(row: Row, { name }: Column): Cell {
  return row[name] ?? null;
}

/** `rowCheck` ensures that the currency exists. */
export function currencyOf(row: Row, column: Column): string {
  return String(row[column.currencyIn ?? ""]);
}

export function minorOf(cell: NonNullable<Cell>): Exact {
  return typeof cell === "bigint" ? cell : Number(cell);
}

export function isList(cell: Cell): cell is readonly string[] {
  return Array.isArray(cell);
}

/** Characters that act in a terminal or editor, or that nobody can see. */
const unseenRanges = [
  "\\u0000-\\u001f\\u007f-\\u009f", // control characters, with tab and line ends
  "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069", // what turns the direction of a text
  "\\u2028\\u2029", // separators of lines and paragraphs
  "\\u200b\\u2060-\\u2065\\u206a-\\u206f\\ufeff\\ufff9-\\ufffb", // what has no width
  "\\ufdd0-\\ufdef\\ufffe\\uffff\\p{Surrogate}", // no characters; halves of surrogate pairs
];
const unseen = new RegExp(`[${unseenRanges.join("")}]`, "gu");

/** Escapes these characters as in JSON: `\u202e`. */
export function withEscapes(text: string): string {
  return text.replaceAll(unseen, escaped);
}

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\r", "\\r"],
]);

/** The text of a cell in every format except JSON. Escapes characters that act or are invisible: `\n`, `\u202e`. */
export function cellText(text: string): string {
  return text.replaceAll(unseen, (found) => shortEscapes.get(found) ?? escaped(found));
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Both widths of the characters that begin a formula in a spreadsheet. */
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** For files without cell types: an apostrophe keeps a spreadsheet from reading the text as a formula. */
export function untypedCellText(text: string): string {
  const shown = cellText(text);
  return formulaStart.test(text) ? `'${shown}` : shown;
}

const listMark = "; ";

/** Escapes `;` inside members, so that a reader can split the list again. */
export function joinedList(members: readonly string[]): string {
  return members.map((member) => member.replaceAll(";", escaped)).join(listMark);
}

/** A bigint if a number cannot hold all digits. */
export type Exact = number | bigint;

export function plus(one: Exact, other: Exact): Exact {
  if (typeof one === "number" && typeof other === "number" && Number.isSafeInteger(one + other)) return one + other;
  return exact(BigInt(one) + BigInt(other));
}

export function minus(one: Exact, other: Exact): Exact {
  if (typeof one === "number" && typeof other === "number" && Number.isSafeInteger(one - other)) return one - other;
  return exact(BigInt(one) - BigInt(other));
}

/** Text if some readers would lose digits of the number. */
export function exactJson(value: Exact): number | string {
  const known = typeof value === "bigint" ? exact(value) : value;
  return typeof known === "bigint" ? String(known) : known;
}

export function isExact(value: unknown): value is Exact {
  return typeof value === "number" || typeof value === "bigint";
}

function exact(value: bigint): Exact {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const quarterHour = 15 * 60_000;
const mostKept = 20_000;

export interface LocalTime {
  /** `2026-10-01T02:00:00+02:00`, with milliseconds only if there are any. */
  text(instant: string): string;
  /** `2026-10-01 02:00:00` for people, without the offset. */
  shown(instant: string): string;
}

/** Caches the offset of each quarter of an hour: clocks change only at its beginning. */
export function localTime(zone: string): LocalTime {
  const kept = new Map<number, number>();
  const offset = (instant: number): number => {
    const quarter = Math.floor(instant / quarterHour);
    const known = kept.get(quarter);
    if (known !== undefined) return known;
    const there = Temporal.Instant.fromEpochMilliseconds(quarter * quarterHour).toZonedDateTimeISO(zone);
    const found = Math.round(there.offsetNanoseconds / 60e9) * 60_000;
    if (kept.size >= mostKept) kept.clear();
    kept.set(quarter, found);
    return found;
  };
  const clock = (instant: string): { text: string; ahead: number } => {
    const at = Date.parse(instant);
    const ahead = offset(at);
    return { text: new Date(at + ahead).toISOString().slice(0, -1).replace(".000", ""), ahead };
  };
  return {
    text: (instant) => {
      const { text, ahead } = clock(instant);
      return text + offsetText(ahead);
    },
    shown: (instant) => clock(instant).text.replace("T", " "),
  };
}

function offsetText(ahead: number): string {
  const minutes = Math.abs(ahead) / 60_000;
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${ahead < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Throws if the rows of a statement do not add up to its summary. */
export function requireBalanced(kind: string, summary: readonly Row[], addedUp: readonly Row[]): void {
  if (textOf(summary) === textOf(addedUp)) return;
  throw new Problem({
    code: "statement.unbalanced",
    message: `the rows of the statement of ${kind} do not add up to its summary. Do not use this statement`,
    cure: "make the statement again. If the message comes again, tell the person who looks after crm-sync",
    exitCode: exitCodes.doesNotBalance,
  });
}

function textOf(rows: readonly Row[]): string {
  return JSON.stringify(rows, (_name, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
}
