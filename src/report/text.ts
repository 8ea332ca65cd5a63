import stringWidth from "string-width";
import type { RecordKey, Stream } from "../crm/model.ts";
import { styleText } from "node:util";

/**
 * How a text for people is laid out. `width` is that of the terminal; without a terminal nothing is boxed or wrapped.
 */
export interface View {
  terminal: boolean;
  width?: number | undefined;
  /** The zone in which times are shown. */
  zone: string;
  /** Whether it may be coloured: see `painted`. */
  colours?: boolean;
  /** Completes the commands that a text suggests, before it is laid out. */
  suggested?: (text: string) => string;
}

export const plainView: View = { terminal: false, zone: "UTC" };

/** Controls, escape sequences, bidirectional and invisible marks, and halves of surrogate pairs. */
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

/**
 * A text from outside as a terminal may show it: on one line, with what could move the cursor or turn the line around
 * written out.
 */
export function printable(text: string): string {
  return text.replaceAll(unprintable, (character) => {
    if (character === "\n") return "⏎";
    if (character === "\t") return " ";
    return `\\u{${character.charCodeAt(0).toString(16)}}`;
  });
}

const nouns: Record<Stream, string> = { customers: "customer", orders: "order", staff: "staff" };

/** `order`: one record of a stream, in sentences and commands. */
export function nounOf(stream: Stream): string {
  return nouns[stream];
}

/** `order crm/10248`: how a record is named in a sentence and behind `crm-sync explain`. */
export function recordName(stream: Stream, key: RecordKey): string {
  return printable(`${nouns[stream]} ${key.namespace}/${key.id}`);
}

/** The command that tells the story of a record. */
export function explainCommand(stream: Stream, key: RecordKey): string {
  return `crm-sync explain ${nouns[stream]} ${typedKey(key)}`;
}

/** The command that synchronises a customer by hand; without one the word to put it for. */
export function resyncCommand(customer?: RecordKey): string {
  return `crm-sync resync --customer ${customer === undefined ? "CUSTOMER" : typedKey(customer)}`;
}

/** A key as it is typed in a terminal. */
export function typedKey({ namespace, id }: RecordKey): string {
  const key = `${namespace}/${id}`;
  return /^[\w./-]+$/.test(key) ? key : `'${printable(key).replaceAll("'", "'\\''")}'`;
}

/** How products are counted where they are limited, removed or read back. */
export const productsCounted = "a product counts once for each asset number that has it";

/** `1,074`. */
export function numberText(count: number): string {
  return count < 1_000 ? String(count) : count.toLocaleString("en");
}

/** `1 order`, `1,074 orders`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}

/** What differs between CRM and platform because somebody decided so. */
export function rejectedText(count: number): string {
  return count === 1
    ? "1 operation stays undone because a person rejected it"
    : `${count} operations stay undone because a person rejected them`;
}

/** A part of a sentence that is left out where there is nothing to say: `, run R1`. */
export function also(before: string, value: string | number | null, after = ""): string {
  return value === null ? "" : `${before}${value}${after}`;
}

/** How long ago `then` was, seen from `now` (both ISO instants), as ages are typed: `3d`, `5h`, `12m`, `40s`. */
export function ageOf(then: string, now: string): string {
  const seconds = Math.max(0, Math.floor((Date.parse(now) - Date.parse(then)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** An instant for people: to the second, in the zone of the view, with the offset it has then. */
export function instantText(instant: string, { zone }: Pick<View, "zone">): string {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/.test(instant)) return printable(instant);
  const at = Temporal.Instant.from(instant).toZonedDateTimeISO(zone);
  const time = at.toPlainDateTime().toString({ smallestUnit: "second" }).replace("T", " ");
  return `${time} ${zone === "UTC" ? "UTC" : at.offset}`;
}

/**
 * Instants that stand as words of their own. What stands in quotation marks or backticks, in a path or another word, or
 * after the name of an option is what somebody wrote or is to write, and stays as it is.
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

/** A text for people with each instant in it as `instantText` has it; what was `given` stays as it is. */
export function withLocalInstants(text: string, view: Pick<View, "zone">, given = ""): string {
  return withInstants(text, given, (found) => instantText(found, view));
}

/** The same for what a person is to write: nothing is left out of an instant, and it can be given to an option. */
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

/** Whether there is such a day and such a time: a text from outside may only look like one. */
function isInstant(text: string): boolean {
  try {
    Temporal.Instant.from(text);
    return true;
  } catch {
    return false;
  }
}

/** Lines of a text, and sections of them. */
export type Lines = (string | readonly string[])[];

/** Lines under a heading, indented; nothing at all where there are no lines. */
export function section(heading: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", heading, ...lines.map((line) => (line === "" ? "" : `  ${line}`))];
}

/** The last space before which a text takes no more than `width` columns, or -1. */
function lastBreak(text: string, width: number): number {
  let at = text.lastIndexOf(" ", width);
  while (at > 0 && stringWidth(text.slice(0, at)) > width) at = text.lastIndexOf(" ", at - 1);
  return at;
}

/**
 * Lines broken at spaces so that they fit a terminal; what is broken off stands two columns deeper. Nothing is broken
 * elsewhere. Not wrap-ansi: it knows no hanging indent.
 */
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

/** Lines as one text, without a line end at its end. */
export function textOf(lines: Readonly<Lines>): string {
  return lines
    .flat()
    .map((line) => line.trimEnd())
    .join("\n");
}

/** What a colour says: that something is worse or better than before, that it waits, or what identifies a record. */
const colours = { worse: "red", waits: "yellow", better: "green", id: "cyan", title: "bold" } as const;
type Tone = keyof typeof colours;

/** A text in the colour of its meaning, on a terminal that shows colours; made safe before, since this adds codes. */
export function painted(
  tone: Tone | undefined,
  text: string,
  { colours: shows = false }: Pick<View, "colours">,
): string {
  return shows && tone !== undefined ? styleText(colours[tone], text, { validateStream: false }) : text;
}

/** A column of a table; its title alone where nothing else is to be said. */
interface Column {
  title: string;
  align?: "left" | "right";
  /** The colour of its cells. */
  tone?: Tone;
}

type Cell = string | number | null | undefined;

/** The narrowest column that text is still wrapped into. */
const narrowest = 14;

/** What a box takes beside the text of each column. */
const beside = 3;

/**
 * Rows as a table for people. On a terminal it is boxed and wrapped to fit the width, the last column first, then
 * whichever is widest; elsewhere columns are only padded, so that the text can be searched and cut. Wide (CJK)
 * characters count as two. What could disturb a terminal is written out.
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

/** Columns of a terminal that a text takes; what is not ASCII is looked at closely. */
function widthOf(text: string): number {
  return /^[ -~]*$/u.test(text) ? text.length : stringWidth(text);
}

function padded(text: string, width: number, align: Column["align"] = "left"): string {
  const space = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "left" ? text + space : space + text;
}

/** The lines that a row takes in columns of these widths. */
function linesOf(row: readonly string[], widths: readonly number[]): string[][] {
  const parts = row.map((cell, index) => brokenUp(cell, widths[index] ?? 0));
  const height = parts.reduce((most, { length }) => Math.max(most, length), 1);
  return Array.from({ length: height }, (_, line) => parts.map((part) => part[line] ?? ""));
}

/** Widths of columns that are narrower by `excess` in all: the last one first, then whichever is widest. */
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

/** Text in lines that fit a column of this width, indented as it is: a longer word is broken, and nothing is lost. */
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
