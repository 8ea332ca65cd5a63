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
 * Rows as a table for people. On a terminal it is boxed and its last column is wrapped so that the table fits the
 * width; elsewhere columns are only padded, so that the text can be searched and cut. Wide (CJK) characters count as
 * two. What could disturb a terminal is written out.
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
  const last = columns.length - 1;
  const widths = columns.map((_, index) => {
    const wanted = Math.max(...[head, ...cells].map((row) => stringWidth(row[index] ?? ""))) + 2;
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
