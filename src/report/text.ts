import stringWidth from "string-width";
import type { RecordKey, Stream } from "../crm/model.ts";
import { styleText } from "node:util";

/** How a text for people is laid out. Without a terminal nothing is boxed or wrapped. */
export interface View {
  terminal: boolean;
  width?: number | undefined;
  zone: string;
  colours?: boolean;
  /** Completes suggested commands before the layout. */
  suggested?: (text: string) => string;
}

export const plainView: View = { terminal: false, zone: "UTC" };

/** Controls, escape sequences, bidirectional and invisible marks, and lone surrogates. */
const unprintable = new RegExp(
  [
    // oxlint-disable-next-line no-control-regex -- what is looked for are control characters
    /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff]/,
    /[\ud800-\udbff](?![\udc00-\udfff])/,
    /(?<![\ud800-\udbff])[\udc00-\udfff]/,
  ]
    .map((part) => part.source)
    .join("|"),
  "g",
);

/** A foreign text as one safe line. Characters that could move the cursor or change the direction are written out. */
export function printable(text: string): string {
  return text.replaceAll(unprintable, (character) => {
    if (character === "\n") return "⏎";
    if (character === "\t") return " ";
    return `\\u{${character.charCodeAt(0).toString(16)}}`;
  });
}

const nouns: Record<Stream, string> = { customers: "customer", orders: "order", staff: "staff" };

export function nounOf(stream: Stream): string {
  return nouns[stream];
}

/** `order crm/10248`: the name of a record in sentences and after `crm-sync explain`. */
export function recordName(stream: Stream, key: RecordKey): string {
  return printable(`${nouns[stream]} ${key.namespace}/${key.id}`);
}

export function explainCommand(stream: Stream, key: RecordKey): string {
  return `crm-sync explain ${nouns[stream]} ${typedKey(key)}`;
}

export function resyncCommand(customer?: RecordKey): string {
  return `crm-sync resync --customer ${customer === undefined ? "CUSTOMER" : typedKey(customer)}`;
}

export function typedKey({ namespace, id }: RecordKey): string {
  const key = `${namespace}/${id}`;
  return /^[\w./-]+$/.test(key) ? key : `'${printable(key).replaceAll("'", "'\\''")}'`;
}

export const productsCounted = "a product counts once for each asset number that has it";

export function numberText(count: number): string {
  return count < 1_000 ? String(count) : count.toLocaleString("en");
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}

export function rejectedText(count: number): string {
  return count === 1
    ? "1 operation stays undone because a person rejected it"
    : `${count} operations stay undone because a person rejected them`;
}

/** An optional part of a sentence, such as `, run R1`; empty for null. */
export function also(before: string, value: string | number | null, after = ""): string {
  return value === null ? "" : `${before}${value}${after}`;
}

/** The age of `then` at `now` (both ISO instants): `3d`, `5h`, `12m`, `40s`. */
export function ageOf(then: string, now: string): string {
  const seconds = Math.max(0, Math.floor((Date.parse(now) - Date.parse(then)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** An instant to the second, in the zone of the view, with its offset. */
export function instantText(instant: string, { zone }: Pick<View, "zone">): string {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/.test(instant)) return printable(instant);
  const at = Temporal.Instant.from(instant).toZonedDateTimeISO(zone);
  const time = at.toPlainDateTime().toString({ smallestUnit: "second" }).replace("T", " ");
  return `${time} ${zone === "UTC" ? "UTC" : at.offset}`;
}

/**
 * Matches instants that are separate words. Text in quotation marks or backticks, in a path or another word, or after
 * the name of an option stays unchanged: somebody wrote it, or will type it.
 */
const instants = new RegExp(
  [
    /"[^"]*"|`[^`]*`/,
    /(?<![^\s(]|(?:^|\s)--[\w-]+\s)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z(?![^\s),;:.]|[:.]\S)/,
  ]
    .map((part) => part.source)
    .join("|"),
  "g",
);

/** A text with each instant as `instantText` shows it; `given` stays unchanged. */
export function withLocalInstants(text: string, view: Pick<View, "zone">, given = ""): string {
  return withInstants(text, given, (found) => instantText(found, view));
}

/** As `withLocalInstants`, but with exact instants that a person can pass to an option. */
export function withInstantsToWrite(text: string, { zone }: Pick<View, "zone">, given = ""): string {
  if (zone === "UTC") return text;
  return withInstants(text, given, (found) =>
    Temporal.Instant.from(found).toZonedDateTimeISO(zone).toString({ timeZoneName: "never" }),
  );
}

function withInstants(text: string, given: string, shown: (instant: string) => string): string {
  const searched = given === "" ? instants : new RegExp(`${RegExp.escape(given)}|${instants.source}`, "g");
  return text.replaceAll(searched, (found) => (found !== given && isInstant(found) ? shown(found) : found));
}

/** A text from outside may only look like an instant. */
function isInstant(text: string): boolean {
  try {
    Temporal.Instant.from(text);
    return true;
  } catch {
    return false;
  }
}

export type Lines = (string | readonly string[])[];

export function section(heading: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", heading, ...lines.map((line) => (line === "" ? "" : `  ${line}`))];
}

function lastBreak(text: string, width: number): number {
  let at = text.lastIndexOf(" ", width);
  while (at > 0 && stringWidth(text.slice(0, at)) > width) at = text.lastIndexOf(" ", at - 1);
  return at;
}

/** Wraps lines at spaces to fit a terminal, with an indent of two columns. wrap-ansi cannot indent wrapped lines. */
export function wrapped(lines: readonly string[], view: View): string[] {
  const { width, suggested = (text) => text } = view;
  if (!view.terminal || width === undefined || width < 40) return [...lines];
  return lines.map(suggested).flatMap((line) => {
    const indent = (/^ */.exec(line)?.[0].length ?? 0) + 2;
    const broken: string[] = [];
    let rest = line;
    while (stringWidth(rest) > width) {
      const at = lastBreak(rest, width);
      if (at <= indent) break;
      broken.push(rest.slice(0, at));
      rest = `${" ".repeat(indent)}${rest.slice(at + 1)}`;
    }
    return [...broken, rest];
  });
}

export function textOf(lines: Readonly<Lines>): string {
  return lines
    .flat()
    .map((line) => line.trimEnd())
    .join("\n");
}

/** Each colour has one meaning: worse, waiting, better, or an id. */
const colours = { worse: "red", waits: "yellow", better: "green", id: "cyan", title: "bold" } as const;
type Tone = keyof typeof colours;

/** Colours a text if the terminal shows colours. Call `printable` first: this adds control codes. */
export function painted(
  tone: Tone | undefined,
  text: string,
  { colours: shows = false }: Pick<View, "colours">,
): string {
  return shows && tone !== undefined ? styleText(colours[tone], text, { validateStream: false }) : text;
}

interface Column {
  title: string;
  align?: "left" | "right";
  tone?: Tone;
}

type Cell = string | number | null | undefined;

const narrowest = 14;

const beside = 3;

/**
 * Rows as a table, with unsafe characters written out. On a terminal the table has a border and wraps to the width:
 * first the last column, then the widest. Elsewhere columns are only padded, so that tools can search and cut. CJK
 * characters count as two columns.
 */
export function renderTable(
  headed: readonly (string | Column)[],
  rows: readonly (readonly Cell[])[],
  view: View = plainView,
): string {
  const columns = headed.map((column): Column => (typeof column === "string" ? { title: column } : column));
  const { suggested = (text) => text } = view;
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map((_, index) => suggested(printable(String(row[index] ?? ""))))),
  ];
  const natural = columns.map((_, index) =>
    cells.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? "")), 0),
  );
  const drawn = (row: readonly string[], widths: readonly number[], between: string, isHead: boolean): string =>
    row
      .map((cell, index) => {
        const { align, tone } = columns[index] ?? {};
        const text = padded(cell, widths[index] ?? 0, align);
        return isHead || tone === undefined ? text : painted(tone, text, view);
      })
      .join(between);
  if (!view.terminal) return cells.map((row, at) => drawn(row, natural, "  ", at === 0).trimEnd()).join("\n");
  const excess = natural.reduce((sum, width) => sum + width + beside, 1) - (view.width ?? Number.POSITIVE_INFINITY);
  const widths = excess > 0 ? narrowed(natural, excess) : natural;
  const border = (left: string, between: string, right: string): string =>
    `${left}${widths.map((width) => "─".repeat(width + 2)).join(between)}${right}`;
  const [head = [], ...body] = cells.map((row, at) =>
    linesOf(row, widths).map((line) => `│ ${drawn(line, widths, " │ ", at === 0)} │`),
  );
  const inside = body.length === 0 ? [] : [border("├", "┼", "┤"), ...body.flat()];
  return [border("┌", "┬", "┐"), ...head, ...inside, border("└", "┴", "┘")].join("\n");
}

function widthOf(text: string): number {
  return /^[ -~]*$/u.test(text) ? text.length : stringWidth(text);
}

function padded(text: string, width: number, align: Column["align"] = "left"): string {
  const space = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "left" ? text + space : space + text;
}

function linesOf(row: readonly string[], widths: readonly number[]): string[][] {
  const parts = row.map((cell, index) => brokenUp(cell, widths[index] ?? 0));
  const height = parts.reduce((most, { length }) => Math.max(most, length), 1);
  return Array.from({ length: height }, (_, line) => parts.map((part) => part[line] ?? ""));
}

/** Makes columns narrower by `excess` in total: first the last column, then the widest. */
function narrowed(wanted: readonly number[], excess: number): number[] {
  const widths = [...wanted];
  let left = excess;
  const take = (index: number, most: number): number => {
    const taken = Math.max(0, Math.min(left, most, (widths[index] ?? 0) - narrowest));
    widths[index] = (widths[index] ?? 0) - taken;
    left -= taken;
    return taken;
  };
  take(widths.length - 1, excess);
  while (take(widths.indexOf(Math.max(...widths)), 1) > 0) continue;
  return widths;
}

/** Keeps the indent, breaks words that are too long, and loses no text. */
function brokenUp(text: string, width: number): string[] {
  const fits = (line: string): boolean => widthOf(line) <= width;
  if (fits(text)) return [text];
  const [indent = ""] = /^ */u.exec(text) ?? [];
  const lines: string[] = [];
  let line = indent;
  for (const word of text.slice(indent.length).split(" ")) {
    const longer = line === indent ? line + word : `${line} ${word}`;
    if (fits(longer)) line = longer;
    else {
      if (line !== indent) lines.push(line);
      line = indent;
      for (const character of word) {
        if (!fits(line + character) && line !== indent) {
          lines.push(line);
          line = indent;
        }
        line += character;
      }
    }
  }
  return [...lines, line];
}
