import { sql, type RawBuilder } from "kysely";
import { usage, type Problem } from "../../base/errors.ts";
import { parseKey, formatKey } from "../../crm/keys.ts";
import type { Filters, Period, PeriodBy } from "../../report/statement/shape.ts";
import { type ReadOnlyLedger, asked } from "../read-only-ledger.ts";
import type { DateZones, RecordKey } from "../../crm/model.ts";
import { stored } from "../../ledger/database/damage.ts";
import type { KeptOrder } from "../../engine/model/desired.ts";
import { periodDays } from "../../report/statement/period.ts";

const mostNamed = 5;

interface Known {
  what: string;
  isKnown: RawBuilder<{ found: number }>;
  values: RawBuilder<{ value: string }>;
}

/** Throws a usage Problem for a source, customer, branch or product that the ledger does not know. */
export function requireFilters(ledger: ReadOnlyLedger, filters: Filters): void {
  const { source, customer, branch, product } = filters;
  if (source !== undefined) requireKnown(ledger, source, sources(source));
  if (customer !== undefined) requireKnown(ledger, customer, customers(customer));
  if (branch !== undefined) requireKnown(ledger, branch, branches(branch));
  if (product !== undefined) requireKnown(ledger, product, products(product));
}

function requireKnown(ledger: ReadOnlyLedger, asked: string, { what, isKnown, values }: Known): void {
  for (const _ of ledger.rows(isKnown)) return;
  throw unknown(what, asked, near(asked, ledger.rows(values)));
}

function unknown(what: string, asked: string, names: readonly string[]): Problem {
  const text = JSON.stringify(asked);
  return usage(
    `the ledger knows no ${what} ${text}`,
    names.length === 0 ? `name a ${what} that the CRM gave` : `did you mean ${names.join(", ")}?`,
  );
}

function near(asked: string, rows: Iterable<{ value: string }>): string[] {
  const best = new Map<string, number>();
  for (const { value } of rows) {
    if (best.has(value)) continue;
    best.set(value, distance(asked.toLowerCase(), value.toLowerCase()));
    if (best.size <= mostNamed) continue;
    const [worst] = [...best].toSorted(farthestFirst);
    if (worst !== undefined) best.delete(worst[0]);
  }
  return [...best]
    .toSorted(farthestFirst)
    .reverse()
    .map(([value]) => value);
}

function farthestFirst([left, far]: [string, number], [right, farther]: [string, number]): number {
  return farther - far || (left < right ? 1 : -1);
}

function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1];
    for (let at = 0; at < to.length; at += 1)
      next.push(
        Math.min((row[at] ?? 0) + (to[at] === from[index] ? 0 : 1), (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}

const sources = (asked: string): Known => ({
  what: "source",
  isKnown: sql`select 1 as found from source_stream where source = ${asked}
    union all select 1 from (select 1 from source_read where source = ${asked} limit 1) limit 1`,
  values: sql`select source as value from source_stream union select source from source_read`,
});

function customers(asked: string): Known {
  const { namespace, id } = parseKey(asked);
  return {
    what: "customer",
    isKnown: sql`select 1 as found from record where customer_namespace = ${namespace} and customer_id = ${id}
      union all select 1 from link where namespace = ${namespace} and customer_id = ${id} limit 1`,
    values: sql`select namespace || '/' || id as value from record where stream = 'customers'`,
  };
}

const newest = (stream: "customers" | "orders"): RawBuilder<unknown> =>
  sql`record r join record_version v on v.stream = r.stream and v.namespace = r.namespace and v.id = r.id
    and v.version = r.version where r.stream = ${sql.lit(stream)}`;

const branches = (asked: string): Known => ({
  what: "branch",
  isKnown: sql`select 1 as found from record_version where stream = 'customers'
    and json_extract(body, '$.branchCode') = ${asked} limit 1`,
  values: sql`select distinct json_extract(v.body, '$.branchCode') as value from ${newest("customers")}`,
});

const products = (asked: string): Known => ({
  what: "product",
  isKnown: sql`select 1 as found from record_version v, json_each(v.body, '$.instances') i where v.stream = 'orders'
    and ${asked} in (json_extract(i.value, '$.gmsPid'), json_extract(i.value, '$.appKey')) limit 1`,
  values: sql`select distinct coalesce(json_extract(i.value, '$.gmsPid'), json_extract(i.value, '$.appKey')) as value
    from (select v.body from ${newest("orders")}) o, json_each(o.body, '$.instances') i
    where coalesce(json_extract(i.value, '$.gmsPid'), json_extract(i.value, '$.appKey')) is not null`,
});

export function branchOf(customer: Record<"namespace" | "id", RawBuilder<unknown>>): RawBuilder<string | null> {
  return sql<string | null>`(select branch_form.body ->> '$.branchCode' from record branch_owner
    join record_version branch_form on branch_form.stream = branch_owner.stream
      and branch_form.namespace = branch_owner.namespace and branch_form.id = branch_owner.id
      and branch_form.version = branch_owner.version
    where branch_owner.stream = 'customers' and branch_owner.namespace = ${customer.namespace}
      and branch_owner.id = ${customer.id})`;
}

/** SQL condition for the customer and the branch of the filter. */
export function ofCustomer(
  { customer, branch }: Filters,
  of: Record<"namespace" | "id", RawBuilder<unknown>>,
): RawBuilder<boolean> {
  const key = customer === undefined ? undefined : parseKey(customer);
  const named = key === undefined ? sql`1` : sql`${of.namespace} = ${key.namespace} and ${of.id} = ${key.id}`;
  return branch === undefined ? sql<boolean>`(${named})` : sql<boolean>`(${named} and ${branchOf(of)} = ${branch})`;
}

export type DatedOrder = KeptOrder & { zones: DateZones | undefined };

export function zonesIn(kept: string | null | undefined): DateZones | undefined {
  return kept === null || kept === undefined ? undefined : stored<DateZones>(kept);
}

/** Whether in a period: by `happened`, or by the CRM date of form `v` if any. A local date counts by its day. */
export function isWithin(period: Period, by: PeriodBy, happened: RawBuilder<unknown>): RawBuilder<unknown> {
  const { from, to } = period;
  if (by === "happened") return sql`(${happened} >= ${from} and ${happened} < ${to})`;
  const { first, after } = periodDays(period);
  const placedAt = sql`v.body ->> '$.placedAt'`;
  const zone = sql`v.date_zones ->> '$.placedAt'`;
  const day = sql`crm_sync_local_date(${placedAt}, ${zone})`;
  const at = sql`coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', ${placedAt}), ${happened})`;
  return sql`iif(${zone} is null, ${at} >= ${from} and ${at} < ${to}, ${day} >= ${first} and ${day} < ${after})`;
}

export interface CustomersThen {
  branchAt(this: void, customer: RecordKey, instant: string): string | null;
  /** The moment itself is excluded. */
  branchBefore(this: void, customer: RecordKey, moment: string): string | null;
  enterpriseAt(this: void, customer: RecordKey, instant: string): string | null;
}

interface Since {
  since: string;
  value: string | null;
}

const branchesOf = asked<RecordKey, Since>(`select c.from_at as since, c.body ->> '$.branchCode' as value
  from record_version c where c.stream = 'customers' and c.namespace = @namespace and c.id = @id order by c.version`);

const enterprisesOf = asked<RecordKey, Since>(`select k.from_at as since, k.enterprise_global_id as value
  from link k where k.namespace = @namespace and k.customer_id = @id order by k.from_at`);

const mostKept = 2000;

export function customersThen(ledger: ReadOnlyLedger): CustomersThen {
  const branches = latest((customer) => branchesOf(ledger, customer));
  const enterprises = latest((customer) => enterprisesOf(ledger, customer));
  return {
    branchAt: (customer, instant) => branches(customer, (since) => since <= instant),
    branchBefore: (customer, moment) => branches(customer, (since) => since < moment),
    enterpriseAt: (customer, instant) => enterprises(customer, (since) => since <= instant),
  };
}

function latest(
  read: (customer: RecordKey) => readonly Since[],
): (customer: RecordKey, isThen: (since: string) => boolean) => string | null {
  const known = new Map<string, readonly Since[]>();
  return ({ namespace, id }, isThen) => {
    const key = formatKey({ namespace, id });
    let all = known.get(key);
    if (all === undefined) {
      if (known.size >= mostKept) known.clear();
      known.set(key, (all = read({ namespace, id })));
    }
    return (all.findLast(({ since }) => isThen(since)) ?? all[0])?.value ?? null;
  };
}
