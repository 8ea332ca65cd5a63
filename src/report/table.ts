import Table from "cli-table3";
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
 * Rows as a table for people. On a terminal it is boxed and its last column is wrapped so that the table fits the width; elsewhere columns are
 * only padded, so that the text can be searched and cut. Wide (CJK) characters count as two. What could disturb a terminal is written out.
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
  const widest = Math.max(0, ...natural.split("\n").map(displayWidth));
  if (view.width === undefined || widest <= view.width) return natural;
  const last = columns.length - 1;
  const widths = columns.map((_, index) => {
    const wanted = Math.max(...[head, ...cells].map((row) => displayWidth(row[index] ?? ""))) + 2;
    return index === last ? Math.max(narrowest, wanted - (widest - (view.width ?? widest))) : wanted;
  });
  return draw(new Table({ ...boxed, colWidths: widths, wordWrap: true }), cells);
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

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** How many columns of a terminal a text takes. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/\p{M}/u.test(character)) continue;
    width += wide.test(character) ? 2 : 1;
  }
  return width;
}
