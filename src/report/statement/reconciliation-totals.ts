import { driftClasses, levels } from "../reconciliation/case.ts";
import { amountColumns, column } from "./column.ts";
import { minus, plus } from "./exact.ts";
import type { Exact } from "./exact.ts";
import type { ReconciledItem } from "./reconciled-case.ts";
import type { Column, Row } from "./shape.ts";

/** The three sides of a comparison. */
export const sides = ["crm", "sent", "observed"] as const;
type Side = (typeof sides)[number];

/** What is counted of a side, beside how often it is there and its money. */
const counts = ["units", "nodes", "seats"] as const;

const verdicts = ["matched", ...driftClasses] as const;
const titles: Record<Side, string> = { crm: "CRM", sent: "sent", observed: "observed" };
const between = [
  ["crm", "sent"],
  ["sent", "observed"],
] as const;

function countColumns(name: "count" | (typeof counts)[number], title: string, about: string): Column[] {
  return [
    ...sides.map((side) =>
      column("integer", `${side}_${name}`, `${title}, ${titles[side]}`, `${about} (${titles[side]}).`, { total: true }),
    ),
    ...between.map(([one, other]) =>
      column(
        "integer",
        `${name}_${one}_less_${other}`,
        `${title}: ${titles[one]} less ${titles[other]}`,
        `The difference between the two sides.`,
        { total: true },
      ),
    ),
  ];
}

/** The columns of the summary. */
export const summaryColumns: readonly Column[] = [
  column("text", "level", "Level", "What was compared."),
  column("text", "verdict", "Verdict", "The result of the comparison."),
  column("text", "currency", "Currency", "Currency of the amounts; empty if there is no amount."),
  column("integer", "count", "Comparisons", "How many comparisons; one with two currencies counts with the CRM's.", {
    total: true,
  }),
  ...countColumns("count", "Count", "The number on this side"),
  ...countColumns("units", "Units", "Units of products"),
  ...countColumns("nodes", "Nodes", "Nodes of products"),
  ...countColumns("seats", "Seats", "Asset numbers that a person has"),
  ...sides.flatMap((side) =>
    amountColumns(`${side}_amount`, `Amount, ${titles[side]}`, `Their amounts (${titles[side]}).`, {
      currencyIn: "currency",
    }),
  ),
  ...between.flatMap(([one, other]) =>
    amountColumns(
      `amount_${one}_less_${other}`,
      `Amount: ${titles[one]} less ${titles[other]}`,
      "The difference between the two sides.",
      { currencyIn: "currency" },
    ),
  ),
];

interface Sum {
  level: string;
  verdict: string;
  currency: string | null;
  comparisons: number;
  /** By side and what is counted, such as `crm_units`. */
  values: Map<string, Exact>;
}

/** Adds items up by level, verdict and currency: a few sums, however many items there are. */
export class ReconciliationTotals {
  readonly #sums = new Map<string, Sum>();

  add(item: ReconciledItem): void {
    const { comparison, crm, sent, observed } = item;
    const figures = { crm, sent, observed };
    const isThere = { crm: comparison.inCrm, sent: comparison.sent, observed: comparison.shown === true };
    const own = this.#sumOf(item, crm.amount?.currency ?? sent.amount?.currency ?? null);
    own.comparisons += 1;
    for (const side of sides) {
      add(own, `${side}_count`, isThere[side] ? 1 : 0);
      for (const name of counts) add(own, `${side}_${name}`, figures[side][name]);
      const { amount } = figures[side];
      if (amount !== undefined) add(this.#sumOf(item, amount.currency), `${side}_amount`, amount.minor);
    }
  }

  #sumOf({ comparison: { level, verdict } }: ReconciledItem, currency: string | null): Sum {
    const name = JSON.stringify([level, verdict, currency]);
    const known = this.#sums.get(name) ?? { level, verdict, currency, comparisons: 0, values: new Map() };
    this.#sums.set(name, known);
    return known;
  }

  /** The rows of the summary: level by level, verdict by verdict, currency by currency. */
  rows(): Row[] {
    const places: readonly string[] = levels;
    const order: readonly string[] = verdicts;
    return [...this.#sums.values()]
      .toSorted(
        (one, other) =>
          places.indexOf(one.level) - places.indexOf(other.level) ||
          order.indexOf(one.verdict) - order.indexOf(other.verdict) ||
          ((one.currency ?? "") < (other.currency ?? "") ? -1 : 1),
      )
      .map(rowOf);
  }
}

function add({ values }: Sum, name: string, value: number | null): void {
  if (value !== null) values.set(name, plus(values.get(name) ?? 0, value));
}

function rowOf({ level, verdict, currency, comparisons, values }: Sum): Row {
  const cells: Record<string, string | Exact | null> = { level, verdict, currency, count: comparisons };
  for (const name of ["count", ...counts, "amount"] as const) {
    for (const side of sides) cells[`${side}_${name}`] = values.get(`${side}_${name}`) ?? null;
    const isAny = sides.some((side) => values.has(`${side}_${name}`));
    for (const [one, other] of between) {
      const difference = minus(values.get(`${one}_${name}`) ?? 0, values.get(`${other}_${name}`) ?? 0);
      cells[`${name}_${one}_less_${other}`] = isAny ? difference : null;
    }
  }
  return cells;
}
