import type { Column, Part, Row, StatementHeader, StatementShape } from "./shape.ts";
import { currencyOf, isExact, plus, type Exact } from "./cells.ts";
import { decimalText } from "../../crm/currency.ts";

/**
 * A chunk of one file of a statement. `file`: empty for the requested file, the name of a part, or a suffix that begins
 * with a hyphen (see `fileNameOf`). Files come one after the other: a chunk of another file ends the current one.
 */
export interface FileChunk {
  file: string;
  chunk: string;
}

/** The path of one of the files: `orders.csv` and `lines` give `orders.lines.csv`. */
export function fileNameOf(path: string, file: string): string {
  if (file === "") return path;
  const [, before = path, ending = ""] = /^(.*[^/\\])(\.[^./\\]+)$/su.exec(path) ?? [];
  return `${before}.${file}${ending}`;
}

export interface OpenStatement {
  shape: StatementShape;
  header: StatementHeader;
}

export type StatementTotals = ReadonlyMap<string, PartTotals>;

/** Calls: `begin`; for each part `beginPart`, `rows` in batches, `endPart`; then `end`. All rows are checked before. */
export interface StatementWriter {
  begin?(): string;
  beginPart(part: Part): string;
  rows(part: Part, rows: readonly Row[]): string;
  endPart?(part: Part, totals: PartTotals): string;
  end?(totals: StatementTotals): string;
}

/** `currency`: null for integers; money is in the minor unit. */
export interface Sum {
  column: Column;
  currency: string | null;
  total: Exact;
}

export interface Totals {
  rows: number;
  sums: Sum[];
}

/** By values of `groupBy`, in order; rows without a value come last. */
export interface PartTotals extends Totals {
  groups: (Totals & { value: string | null })[];
}

interface Adding {
  readonly rows: number;
  add(row: Row): void;
  totals(): PartTotals;
}

class RunningTotals {
  rows = 0;
  readonly #sums: readonly (readonly [Column, Map<string | null, Exact>])[];

  constructor(part: Part) {
    this.#sums = part.columns
      .filter((column) => column.total === true)
      .map((column) => [column, new Map<string | null, Exact>(column.type === "money" ? [] : [[null, 0]])]);
  }

  add(row: Row): void {
    this.rows += 1;
    for (const [column, sums] of this.#sums) {
      const cell = row[column.name];
      if (!isExact(cell)) continue;
      const currency = column.type === "money" ? currencyOf(row, column) : null;
      sums.set(currency, plus(sums.get(currency) ?? 0, cell));
    }
  }

  totals(): Totals {
    const sums = this.#sums.flatMap(([column, byCurrency]) =>
      [...byCurrency]
        .toSorted(([one], [other]) => inOrder(one, other))
        .map(([currency, total]) => ({ column, currency, total })),
    );
    return { rows: this.rows, sums };
  }
}

export function addingUp(part: Part): Adding {
  const whole = new RunningTotals(part);
  const groups = new Map<string | null, RunningTotals>();
  return {
    get rows() {
      return whole.rows;
    },
    add(row) {
      whole.add(row);
      if (part.groupBy === undefined) return;
      const cell = row[part.groupBy] ?? null;
      const value = cell === null ? null : String(cell);
      let group = groups.get(value);
      if (group === undefined) groups.set(value, (group = new RunningTotals(part)));
      group.add(row);
    },
    totals: () => ({
      ...whole.totals(),
      groups: [...groups]
        .toSorted(([one], [other]) => inOrder(one, other))
        .map(([value, group]) => ({ value, ...group.totals() })),
    }),
  };
}

/** Code-unit order is the same on every machine. Missing values come last. */
function inOrder(one: string | null, other: string | null): number {
  if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1;
  return one < other ? -1 : one > other ? 1 : 0;
}

export function sumText({ currency, total }: Sum): string {
  return currency === null ? String(total) : decimalText(total, currency);
}
