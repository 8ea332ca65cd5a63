import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { decimalText } from "../../crm/currency.ts";
import { exactJson, isExact, plus } from "./exact.ts";
import type { Exact } from "./exact.ts";
import { currencyOf } from "./rows.ts";
import type { Column, Part, Row } from "./shape.ts";

/** The sum of a column: of money that of one currency, in its minor unit; of integers the currency is null. */
export interface Sum {
  column: Column;
  currency: string | null;
  total: Exact;
}

/** How many rows there are and what their columns add up to. Sums are ordered by column, then by currency. */
export interface Totals {
  rows: number;
  sums: Sum[];
}

/** The totals of a part, and those of the rows with each value of `groupBy`, ordered by it, rows without one last. */
export interface PartTotals extends Totals {
  groups: (Totals & { value: string | null })[];
}

/** Counts the rows of a part and adds them up as they go by. Nothing is kept of them but sums. */
export interface Adding {
  readonly rows: number;
  add(row: Row): void;
  totals(): PartTotals;
}

/** What is added up of rows: integers by column, amounts by column and currency. */
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

/** Begins the totals of a part. */
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

/** Code-unit order, so that it is the same on every machine; what is missing comes last. */
function inOrder(one: string | null, other: string | null): number {
  if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1;
  return one < other ? -1 : one > other ? 1 : 0;
}

/** A sum as people read it: money as a decimal. */
export function sumText({ currency, total }: Sum): string {
  return currency === null ? String(total) : decimalText(total, currency);
}

/** Totals as JSON: integers as in the rows, money as decimal texts by currency. */
export function totalsJson(part: Part, totals: PartTotals): JsonObject {
  const groups = totals.groups.map(({ value, ...group }) => ({ value, ...plain(part, group) }));
  return part.groupBy === undefined ? plain(part, totals) : { ...plain(part, totals), groups };
}

function plain(part: Part, { rows, sums }: Totals): { rows: number; columns: JsonObject } {
  const summed = part.columns.filter(({ total }) => total === true);
  const columns = summed.map((column): [string, Json] => {
    const found = sums.filter((sum) => sum.column === column);
    if (column.type !== "money") return [column.name, exactJson(found[0]?.total ?? 0)];
    return [column.name, Object.fromEntries(found.map((sum) => [sum.currency ?? "", sumText(sum)]))];
  });
  return { rows, columns: Object.fromEntries(columns) };
}
