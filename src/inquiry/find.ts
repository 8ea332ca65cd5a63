import { sql } from "kysely";
import { formatKey, parseKey } from "../crm/keys.ts";
import { streams, type RecordKey, type Stream } from "../crm/model.ts";
import { nameKey, type Named } from "../crm/name-keys.ts";
import { isBeginning, mostFound, type RecordFacts } from "../report/explain.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import type { RecordTable } from "../ledger/records/tables.ts";

export interface Found {
  key: RecordKey;
  by: "id" | "asset number" | NumberKind | "name" | "login" | "beginning of its name" | "beginning of its login";
}

export interface FoundRecord extends Found {
  stream: Stream;
  record: RecordFacts | null;
}

/**
 * Finds records of a stream by id, platform number or asset number (its order, customer or holder), otherwise by
 * company name. It compares nothing personal, so neither answer nor time reveals a person.
 */
export async function find(ledger: ReadOnlyLedger, stream: Stream, text: string): Promise<Found[]> {
  const found: Found[] = [];
  for (const key of await byAssetNumber(ledger, stream, text)) found.push({ key, by: "asset number" });
  for (const key of await byId(ledger, stream, text)) found.push({ key, by: "id" });
  for (const { by, ...key } of await byNumber(ledger, stream, text)) found.push({ key, by });
  for (const key of await byId(ledger, stream, text, "quarantine")) found.push({ key, by: "id" });
  if (found.length === 0 && stream === "customers")
    found.push(...(await byKey(ledger, stream, { column: "name_key", named: "company", text })));
  return firstOfEach(found);
}

export async function findEverywhere(ledger: ReadOnlyLedger, text: string): Promise<FoundRecord[]> {
  const all: FoundRecord[] = [];
  for (const stream of streams) all.push(...(await withRecords(ledger, stream, await find(ledger, stream, text))));
  const isExact = ({ by }: Found): boolean => by !== "name" && by !== "beginning of its name";
  return all.some(isExact) ? all.filter(isExact) : all;
}

/**
 * People whose name or login equals or begins with a text: staff, and customers that are persons. Names are personal
 * data: the caller must check the right and log the request. Only keys are returned.
 */
export async function findPeople(ledger: ReadOnlyLedger, text: string): Promise<FoundRecord[]> {
  const all: FoundRecord[] = [];
  for (const stream of ["customers", "staff"] as const) {
    const found = await byKey(ledger, stream, { column: "name_key", named: "person", text });
    if (stream === "staff")
      found.push(...(await byKey(ledger, stream, { column: "login_key", named: "person", text })));
    all.push(...(await withRecords(ledger, stream, firstOfEach(found.toSorted(wholeFirst)))));
  }
  return all;
}

function wholeFirst(one: Found, other: Found): number {
  return Number(isBeginning(one)) - Number(isBeginning(other));
}

function firstOfEach(all: readonly Found[]): Found[] {
  const found = new Map<string, Found>();
  for (const one of all) {
    const name = formatKey(one.key);
    if (!found.has(name) && found.size < mostFound) found.set(name, one);
  }
  return [...found.values()];
}

async function withRecords(ledger: ReadOnlyLedger, stream: Stream, found: readonly Found[]): Promise<FoundRecord[]> {
  const records: FoundRecord[] = [];
  for (const one of found) records.push({ ...one, stream, record: await recordOf(ledger, stream, one.key) });
  return records;
}

async function byAssetNumber(ledger: ReadOnlyLedger, stream: Stream, number: string): Promise<RecordKey[]> {
  if (stream !== "staff")
    return (await ordersOfNumber(ledger, number)).map((owner) => (stream === "orders" ? owner.order : owner.customer));
  return await ledger.db
    .selectFrom("assignment")
    .select(["namespace", "staff_id as id"])
    .where("asset_number", "=", number)
    .where("to_at", "is", null)
    .execute();
}

/** Ignores case and spaces. Exact matches come before beginnings. */
async function byKey(
  { db }: ReadOnlyLedger,
  stream: Stream,
  { column, named, text }: { column: "name_key" | "login_key"; named: Named; text: string },
): Promise<Found[]> {
  const wanted = nameKey(named, text);
  if (wanted === null) return [];
  const key = sql.ref(`p.${column}`);
  const name = sql`substr(p.ref, ${stream.length + 2})`;
  const what = column === "name_key" ? "name" : "login";
  const { rows } = await sql<RecordKey & { isWhole: number }>`
    select r.namespace, r.id, ${key} = ${wanted} as "isWhole" from private_value p cross join record r
      on r.stream = ${stream} and substr(p.ref, 1, ${stream.length + 1}) = ${`${stream}/`} and r.namespace =
        substr(${name}, 1, instr(${name}, '/') - 1) and r.id = substr(${name}, instr(${name}, '/') + 1) and r.version = p.version
    where ${key} is not null and ${key} >= ${wanted} and ${key} < ${`${wanted}\u{10ffff}`}
    order by ${key} limit ${mostFound}`.execute(db);
  return rows.map(({ isWhole, ...one }) => ({ key: one, by: isWhole === 1 ? what : `beginning of its ${what}` }));
}

type NumberKind = "channel order number" | "licence order" | "channel customer number" | "enterprise" | "member";

const byIdIn = {
  record: { id: sql`r.id`, waits: sql`true` },
  quarantine: { id: sql`r.record_id`, waits: sql`r.state <> 'resolved'` },
};

/** With a namespace, or in any: a stream has few namespaces, and each uses the index. */
async function byId(
  { db }: ReadOnlyLedger,
  stream: Stream,
  text: string,
  table: keyof typeof byIdIn = "record",
): Promise<RecordKey[]> {
  const { namespace, id } = text.includes("/") ? parseKey(text) : { namespace: "", id: text };
  const { id: named, waits } = byIdIn[table];
  const from = sql`${sql.raw(table)} r`;
  const { rows } = await sql<RecordKey>`
    with recursive one (namespace) as (
      select min(r.namespace) from ${from} where ${waits} and r.stream = ${stream} and r.namespace > ''
      union all
      select (select min(r.namespace) from ${from} where ${waits} and r.stream = ${stream}
          and r.namespace > one.namespace)
        from one where one.namespace is not null)
    select distinct r.namespace, ${named} as id from one cross join ${from}
      on ${waits} and r.stream = ${stream} and r.namespace = one.namespace and (${named} = ${text}
        or ${named} = ${id} and r.namespace = ${namespace})
      order by r.namespace, ${named} limit ${mostFound}`.execute(db);
  return rows;
}

async function byNumber(
  { db }: ReadOnlyLedger,
  stream: Stream,
  number: string,
): Promise<(RecordKey & { by: NumberKind })[]> {
  const named = (by: NumberKind) => sql<NumberKind>`${sql.lit(by)}`.as("by");
  if (stream === "staff")
    return await db
      .selectFrom("staff_link")
      .select(["namespace", "staff_id as id", named("member")])
      .where("member_global_id", "=", number)
      .where("to_at", "is", null)
      .execute();
  if (stream === "customers") {
    const links = db.selectFrom("link").select(["namespace", "customer_id as id"]).where("to_at", "is", null);
    return await links
      .select(named("enterprise"))
      .where("enterprise_global_id", "=", number)
      .unionAll(links.select(named("channel customer number")).where("channel_customer_id", "=", number))
      .limit(mostFound)
      .execute();
  }
  return await db
    .selectFrom("placed_order")
    .select(["namespace", "order_id as id", named("channel order number")])
    .where("channel_order_id", "=", number)
    .where("to_at", "is", null)
    .unionAll(
      db
        .selectFrom("amendment_number")
        .select(["namespace", "order_id as id", named("channel order number")])
        .where("channel_order_id", "=", number),
    )
    .unionAll(
      db
        .selectFrom("licence_order")
        .select(["namespace", "order_id as id", named("licence order")])
        .where("license_order_id", "=", number),
    )
    .limit(mostFound)
    .execute();
}

interface NumberOwner {
  order: RecordKey;
  customer: RecordKey;
}

type OwnerRow = Record<"namespace" | "id" | "customerNamespace" | "customerId", string> & { ended: number };

/** Orders that have an asset number now (original, renewed), newest first; all of them if its unit ended in all. */
async function ordersOfNumber({ db }: ReadOnlyLedger, number: string): Promise<NumberOwner[]> {
  const { rows } = await sql<OwnerRow>`
    with held (namespace, id, since) as (
      select n.namespace, n.order_id, 0 from asset_number n where n.wire_number = ${number} and n.fixed_at is not null
      union all
      select s.namespace, s.order_id, s.number from asset_number n
        join order_step s on s.customer_namespace = n.customer_namespace and s.customer_id = n.customer_id
        join json_each(s.items) i on i.value ->> 'number' = n.wire_number and i.value ->> 'continues' is not null
        where n.wire_number = ${number} and n.fixed_at is not null and s.kind = 'bought'
          and s.forgotten_at is null)
    select h.namespace, h.id, coalesce(n.customer_namespace, r.customer_namespace) as customerNamespace,
      coalesce(n.customer_id, r.customer_id) as customerId,
      exists (select 1 from order_step e, json_each(e.items) j where e.namespace = h.namespace and e.order_id = h.id
        and e.kind = 'removed' and e.forgotten_at is null and e.number > h.since
        and j.value ->> 'number' = n.wire_number
        and j.value ->> 'product' is null) as ended
    from held h cross join asset_number n on n.wire_number = ${number} and n.fixed_at is not null
    cross join record r on r.stream = 'orders' and r.namespace = h.namespace and r.id = h.id
    order by h.since desc, h.namespace, h.id`.execute(db);
  const present = rows.filter(({ ended }) => ended === 0);
  const owners = new Map(
    (present.length === 0 ? rows : present).map(({ namespace, id, customerNamespace, customerId }) => [
      JSON.stringify([namespace, id]),
      { order: { namespace, id }, customer: { namespace: customerNamespace, id: customerId } },
    ]),
  );
  return [...owners.values()];
}

export function recordFacts(row: RecordTable): RecordFacts {
  return {
    stream: row.stream,
    key: { namespace: row.namespace, id: row.id },
    customer: { namespace: row.customer_namespace, id: row.customer_id },
    source: row.source,
    state: row.state,
    version: row.version,
    firstSeen: row.first_seen,
    changedAt: row.changed_at,
    missed: row.missed,
    pending: row.pending === 1,
    deferred:
      row.deferred_code === null
        ? null
        : { code: row.deferred_code, reason: row.deferred_reason ?? "", since: row.deferred_since ?? row.changed_at },
    changedRun: row.changed_run,
    outcome: row.outcome_run === null ? null : { run: row.outcome_run, decision: row.outcome ?? "" },
  };
}

export async function recordOf(ledger: ReadOnlyLedger, stream: Stream, key: RecordKey): Promise<RecordFacts | null> {
  const row = await ledger.db
    .selectFrom("record")
    .selectAll()
    .where("stream", "=", stream)
    .where("namespace", "=", key.namespace)
    .where("id", "=", key.id)
    .executeTakeFirst();
  return row === undefined ? null : recordFacts(row);
}

const recordsInPage = 25;

/** One page by key; `after`: last key of the page before. Without `indexed by`, SQLite reads the whole stream. */
export async function recordsOfCustomer(
  { db }: ReadOnlyLedger,
  customer: RecordKey,
  stream: Exclude<Stream, "customers">,
  after: RecordKey = { namespace: "", id: "" },
): Promise<{ records: RecordFacts[]; goesOn: boolean }> {
  const { rows } = await sql<RecordTable>`select * from record indexed by record_by_customer
    where customer_namespace = ${customer.namespace} and customer_id = ${customer.id} and stream = ${stream}
      and (namespace, id) > (${after.namespace}, ${after.id})
    order by namespace, id limit ${recordsInPage + 1}`.execute(db);
  return { records: rows.slice(0, recordsInPage).map(recordFacts), goesOn: rows.length > recordsInPage };
}
