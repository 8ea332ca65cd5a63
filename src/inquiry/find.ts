import { sql } from "kysely";
import { formatKey } from "../crm/keys.ts";
import { streams } from "../crm/model.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { nameKey } from "../crm/name-keys.ts";
import type { Named } from "../crm/name-keys.ts";
import { isBeginning, mostFound } from "../report/explain.ts";
import type { RecordFacts } from "../report/explain.ts";
import { byId, byNumber } from "./by-number.ts";
import type { NumberKind } from "./by-number.ts";
import { ordersOfNumber } from "./number-owners.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { recordOf } from "./record-facts.ts";

/** A record that somebody may mean, and by what it was found. */
export interface Found {
  key: RecordKey;
  by: "id" | "asset number" | NumberKind | "name" | "login" | "beginning of its name" | "beginning of its login";
}

/** The same with how it stands; null where it was never usable. */
export interface FoundRecord extends Found {
  stream: Stream;
  record: RecordFacts | null;
}

/**
 * Finds the records of a stream that a text may mean: an id in any namespace, a number of the platform, an asset number
 * (its order, its customer or its holder), and last the name of a company or its beginning. It compares nothing
 * personal, so neither the answer nor its time tells anything about a person.
 */
export async function find(ledger: ReadOnlyLedger, stream: Stream, text: string): Promise<Found[]> {
  const found: Found[] = [];
  for (const key of await byAssetNumber(ledger, stream, text)) found.push({ key, by: "asset number" });
  for (const key of await byId(ledger, stream, text)) found.push({ key, by: "id" });
  for (const { by, ...key } of await byNumber(ledger, stream, text)) found.push({ key, by });
  for (const key of await inQuarantine(ledger, stream, text)) found.push({ key, by: "id" });
  if (found.length === 0 && stream === "customers")
    found.push(...(await byKey(ledger, stream, { column: "name_key", named: "company", text })));
  return firstOfEach(found);
}

/** The records of every stream that a text may mean, with how they stand; see `find`. */
export async function findEverywhere(ledger: ReadOnlyLedger, text: string): Promise<FoundRecord[]> {
  const all: FoundRecord[] = [];
  for (const stream of streams) all.push(...(await withRecords(ledger, stream, await find(ledger, stream, text))));
  const isExact = ({ by }: Found): boolean => by !== "name" && by !== "beginning of its name";
  return all.some(isExact) ? all.filter(isExact) : all;
}

/**
 * People whose name or login a text is, or begins: staff, and customers that are persons. Names are personal data: who
 * asks has the right to see them, and that they asked is written down. Only keys leave.
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

/** Each record once, by what it was found first, and no more than are listed. */
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

async function inQuarantine({ db }: ReadOnlyLedger, stream: Stream, id: string): Promise<RecordKey[]> {
  const { rows } = await sql<RecordKey>`
    with recursive one (namespace) as (
      select min(namespace) from quarantine where state <> 'resolved' and stream = ${stream} and namespace > ''
      union all
      select (select min(q.namespace) from quarantine q where q.state <> 'resolved' and q.stream = ${stream}
          and q.namespace > one.namespace)
        from one where one.namespace is not null)
    select distinct q.namespace, q.record_id as id from one cross join quarantine q
      on q.state <> 'resolved' and q.stream = ${stream} and q.namespace = one.namespace and q.record_id = ${id}
      limit ${mostFound}`.execute(db);
  return rows;
}

/** Records whose newest form has this name or login, whatever its case and spaces; whole ones before beginnings. */
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
  // A key that is the wanted one comes before all that only begin with it.
  const { rows } = await sql<RecordKey & { isWhole: number }>`
    select r.namespace, r.id, ${key} = ${wanted} as "isWhole" from private_value p cross join record r
      on r.stream = ${stream} and substr(p.ref, 1, ${stream.length + 1}) = ${`${stream}/`} and r.namespace =
        substr(${name}, 1, instr(${name}, '/') - 1) and r.id = substr(${name}, instr(${name}, '/') + 1) and r.version = p.version
    where ${key} is not null and ${key} >= ${wanted} and ${key} < ${`${wanted}\u{10ffff}`}
    order by ${key} limit ${mostFound}`.execute(db);
  return rows.map(({ isWhole, ...one }) => ({ key: one, by: isWhole === 1 ? what : `beginning of its ${what}` }));
}
