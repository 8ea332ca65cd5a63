import { sql } from "kysely";
import type { RawBuilder } from "kysely";
import { usage } from "../../base/errors.ts";
import type { Problem } from "../../base/errors.ts";
import { parseKey } from "../../crm/keys.ts";
import type { Filters } from "../../report/statement/shape.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";

/** So many are named to somebody who asked for one that there is not. */
const mostNamed = 5;

/** Where the values of a filter stand: whether the one asked for is there, and those that it may be. */
interface Known {
  what: string;
  isKnown: RawBuilder<{ found: number }>;
  /** Every value, each once or more. */
  values: RawBuilder<{ value: string }>;
}

/** Throws a usage Problem for a source, customer, branch or product that the ledger knows nothing of. */
export function requireFilters(ledger: ReadOnlyLedger, filters: Filters): void {
  const { source, customer, branch, product } = filters;
  if (source !== undefined) requireKnown(ledger, source, sources(source));
  if (customer !== undefined) requireKnown(ledger, customer, customers(customer));
  if (branch !== undefined) requireKnown(ledger, branch, branches(branch));
  if (product !== undefined) requireKnown(ledger, product, products(product));
}

function requireKnown(ledger: ReadOnlyLedger, asked: string, { what, isKnown, values }: Known): void {
  for (const _ of ledger.rows({ compile: () => isKnown.compile(ledger.db) })) return;
  throw unknown(what, asked, near(asked, ledger.rows({ compile: () => values.compile(ledger.db) })));
}

function unknown(what: string, asked: string, names: readonly string[]): Problem {
  const text = JSON.stringify(asked);
  return usage(
    `the ledger knows no ${what} ${text}`,
    names.length === 0 ? `name a ${what} that the CRM gave` : `did you mean ${names.join(", ")}?`,
  );
}

/** The values that are most like the one asked for, the likest first; of others the first ones. */
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

/** How many characters have to be changed, added or left out to make one text of another. */
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

/** The same product may be named by its number or by its application key. */
const products = (asked: string): Known => ({
  what: "product",
  isKnown: sql`select 1 as found from record_version v, json_each(v.body, '$.instances') i where v.stream = 'orders'
    and ${asked} in (json_extract(i.value, '$.gmsPid'), json_extract(i.value, '$.appKey')) limit 1`,
  values: sql`select distinct coalesce(json_extract(i.value, '$.gmsPid'), json_extract(i.value, '$.appKey')) as value
    from (select v.body from ${newest("orders")}) o, json_each(o.body, '$.instances') i
    where coalesce(json_extract(i.value, '$.gmsPid'), json_extract(i.value, '$.appKey')) is not null`,
});
