import stringWidth from "string-width";
import { painted } from "./style.ts";
import type { Tone } from "./style.ts";
import type { View } from "./text.ts";
import { plainView, printable } from "./text.ts";

export interface Column {
  title: string;
  align?: "left" | "right";
  /** The colour of its cells. */
  tone?: Tone;
}

export type Cell = string | number | null | undefined;

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
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  view: View = plainView,
): string {
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
