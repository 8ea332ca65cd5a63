import { sql } from "kysely";
import type { RecordKey, Stream } from "../crm/model.ts";
import { nameKey } from "../crm/name-keys.ts";
import { mostFound } from "../report/explain.ts";
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
 * (the order that has it now, the customer whose it is, or the person who holds it), and last a name or a login, whole
 * or its beginning. Names are private values: they are compared here, and only keys leave.
 */
export async function find(ledger: ReadOnlyLedger, stream: Stream, text: string): Promise<Found[]> {
  const found = new Map<string, Found>();
  const add = (key: RecordKey, by: Found["by"]): void => {
    const name = `${key.namespace}/${key.id}`;
    if (!found.has(name) && found.size < mostFound) found.set(name, { key, by });
  };
  for (const key of await byAssetNumber(ledger, stream, text)) add(key, "asset number");
  for (const key of await byId(ledger, stream, text)) add(key, "id");
  for (const { by, ...key } of await byNumber(ledger, stream, text)) add(key, by);
  for (const key of await inQuarantine(ledger, stream, text)) add(key, "id");
  if (found.size > 0) return [...found.values()];
  for (const isWhole of [true, false]) {
    for (const key of await byKey(ledger, stream, { column: "name_key", text, isWhole }))
      add(key, isWhole ? "name" : "beginning of its name");
    for (const key of await byKey(ledger, stream, { column: "login_key", text, isWhole }))
      add(key, isWhole ? "login" : "beginning of its login");
  }
  return [...found.values()];
}

/** The records of every stream that a text may mean, with how they stand. */
export async function findEverywhere(ledger: ReadOnlyLedger, text: string): Promise<FoundRecord[]> {
  const all: FoundRecord[] = [];
  for (const stream of ["customers", "orders", "staff"] as const) {
    for (const found of await find(ledger, stream, text))
      all.push({ ...found, stream, record: await recordOf(ledger, stream, found.key) });
  }
  const isExact = ({ by }: Found): boolean => by !== "name" && by !== "login" && !by.startsWith("beginning");
  return all.some(isExact) ? all.filter(isExact) : all;
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

/** Records whose newest form has this name or login, whole or as its beginning, whatever its case and spaces. */
async function byKey(
  { db }: ReadOnlyLedger,
  stream: Stream,
  { column, text, isWhole }: { column: "name_key" | "login_key"; text: string; isWhole: boolean },
): Promise<RecordKey[]> {
  const wanted = nameKey(stream, text);
  if (wanted === null || (column === "login_key" && stream !== "staff")) return [];
  const key = sql.ref(`p.${column}`);
  const until = `${wanted}\u{10ffff}`;
  const name = sql`substr(p.ref, ${stream.length + 2})`;
  const { rows } = await sql<RecordKey>`select r.namespace, r.id from private_value p cross join record r
      on r.stream = ${stream} and r.namespace = substr(${name}, 1, instr(${name}, '/') - 1)
        and r.id = substr(${name}, instr(${name}, '/') + 1) and r.version = p.version
    where ${key} is not null and ${isWhole ? sql`${key} = ${wanted}` : sql`${key} >= ${wanted} and ${key} < ${until}`}
    order by ${key} limit ${mostFound}`.execute(db);
  return rows;
}
