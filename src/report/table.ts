import Table from "cli-table3";
import stringWidth from "string-width";
import type { View } from "./text.ts";
import { plainView, printable } from "./text.ts";

export interface Column {
  title: string;
  align?: "left" | "right";
}

export type Cell = string | number | null | undefined;

const noBox = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

/** The narrowest column that text is still wrapped into. */
const narrowest = 16;

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
  const cells = rows.map((row) => columns.map((_, index) => printable(String(row[index] ?? ""))));
  const head = columns.map((column) => column.title);
  const aligns = columns.map((column) => column.align ?? "left");
  const plain = {
    head,
    colAligns: aligns,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0, compact: true },
  };
  if (!view.terminal) return draw(new Table({ ...plain, chars: noBox }), cells);
  const boxed = { head, colAligns: aligns, style: { head: [], border: [], compact: true } };
  const natural = draw(new Table(boxed), cells);
  const widest = Math.max(0, ...natural.split("\n").map(stringWidth));
  if (view.width === undefined || widest <= view.width) return natural;
  const wanted = columns.map(
    (_, index) => Math.max(...[head, ...cells].map((row) => stringWidth(row[index] ?? ""))) + 2,
  );
  const widths = narrowed(wanted, widest - view.width);
  const wrapped = cells.map((row) =>
    row.map((cell, index) => ((widths[index] ?? 0) < (wanted[index] ?? 0) ? brokenUp(cell, widths[index] ?? 0) : cell)),
  );
  return draw(new Table({ ...boxed, colWidths: widths, wordWrap: true }), wrapped);
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
function brokenUp(text: string, width: number): string {
  const [indent = ""] = /^ */u.exec(text) ?? [];
  const fits = (line: string): boolean => stringWidth(line) <= width - 2;
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
  return [...lines, line].join("\n");
}

function draw(table: Table.Table, rows: readonly string[][]): string {
  table.push(...rows);
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line, index) => index > 0 || line !== "")
    .join("\n");
}
