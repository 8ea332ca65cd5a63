import { minorOf, type BookOrder, type ToldRun } from "./crm-books.ts";
import { branchOf } from "./lines.ts";
import { aged } from "./stand.ts";
import type { Computed } from "./whole.ts";

/** Something that did not go its way, as the test brought it about. */
export interface Trouble {
  kind: string;
  /** Who has to act while it is open. */
  owner: string;
  since: string;
  /** When a person ended it, and as what it stands from then on; null: nobody did. */
  ended: { at: string; kind: string; code: string | null } | null;
  customer: string;
  record: string | null;
  code: string | null;
  /** The orders that wait. */
  orders: string[];
  /** Of an operation: the run that sent it. */
  sentBy?: ToldRun;
  place?: { source: string; place: string; field: string };
  count?: number;
}

const key = (trouble: Trouble, to: string): Computed => {
  const open = trouble.ended === null || trouble.ended.at >= to;
  return { kind: open ? trouble.kind : (trouble.ended?.kind ?? ""), open, owner: open ? trouble.owner : null };
};

/** The orders that wait for it, as the export has them. */
function ordersOf(told: readonly ToldRun[], { orders }: Trouble): BookOrder[] {
  const rows = told.at(-1)?.orders ?? [];
  return orders.flatMap((id) => rows.filter((row) => row.id === id));
}

function stakeOf(told: readonly ToldRun[], trouble: Trouble): { currency: string | null; minor: bigint | null } {
  const [first, ...others] = ordersOf(told, trouble);
  if (first === undefined) return { currency: null, minor: null };
  return {
    currency: first.currency,
    minor: others.reduce((sum, { total }) => sum + minorOf(total), minorOf(first.total)),
  };
}

/** The rows of exceptions of a period that ends at `to`, known until `known`. */
export function exceptionsOf(
  told: readonly ToldRun[],
  troubles: readonly Trouble[],
  period: { to: string; known: string },
) {
  const last = told.at(-1);
  return troubles.map((trouble): Computed => {
    const stands = key(trouble, period.to);
    const by = stands["open"] === true ? period.known : (trouble.ended?.at ?? period.known);
    const { hours, ageing } = aged(trouble.since, by);
    const { currency, minor } = stakeOf(told, trouble);
    return {
      ...stands,
      ageing,
      age_hours: hours,
      since: trouble.since,
      until: trouble.ended?.at ?? null,
      customer: `crm/${trouble.customer}`,
      branch: last === undefined ? null : branchOf(last, trouble.customer),
      record: trouble.record,
      source: null,
      place: null,
      field: null,
      ...trouble.place,
      code: stands["open"] === true ? trouble.code : (trouble.ended?.code ?? null),
      count: trouble.count ?? null,
      orders: trouble.orders.length,
      at_stake: minor,
      at_stake_currency: currency,
      at_stake_in: currency === null ? [] : [currency],
      attempts: trouble.sentBy === undefined ? null : 1,
      run: trouble.sentBy?.id ?? null,
      signed_off_by: null,
      signed_off_at: null,
      sign_off_reason: null,
    };
  });
}

/** The orders concerned, one by one. */
export function concernedOf(told: readonly ToldRun[], troubles: readonly Trouble[], to: string): Computed[] {
  return troubles.flatMap((trouble) =>
    ordersOf(told, trouble).map((row) => ({
      ...key(trouble, to),
      customer: `crm/${trouble.customer}`,
      record: trouble.record,
      crm_order: `crm/${row.id}`,
      crm_date: row.date,
      amount: minorOf(row.total),
      amount_currency: row.currency,
    })),
  );
}

/** The totals of such rows, each currency by itself. */
export function exceptionTotals(rows: readonly Computed[]): Computed[] {
  const names = ["kind", "open", "owner", "ageing", "at_stake_currency"] as const;
  const groups = Map.groupBy(rows, (row) => JSON.stringify(names.map((name) => row[name])));
  return [...groups.values()].map((own) => {
    const [first = {}] = own;
    const minor = own.reduce((sum, row) => sum + BigInt(String(row["at_stake"] ?? 0)), 0n);
    return {
      kind: first["kind"],
      open: first["open"],
      owner: first["owner"],
      ageing: first["ageing"],
      currency: first["at_stake_currency"],
      count: own.length,
      orders: own.reduce((sum, row) => sum + Number(row["orders"]), 0),
      at_stake: first["at_stake_currency"] === null ? null : minor,
    };
  });
}
