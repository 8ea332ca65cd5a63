import { sql } from "kysely";
import type { RecordKey, Stream } from "../crm/model.ts";
import { similarTo } from "./explain.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { isJsonObject } from "../base/canonical-json.ts";
import { stored } from "../ledger/database/stored.ts";
import type { Json } from "../base/canonical-json.ts";

/** A record that somebody may mean, and by what it was found. */
export interface Found {
  key: RecordKey;
  by: "id" | "asset number" | "name";
}

const most = 10;

/** Which private values are names, by stream. Orders have none. */
const names: Partial<Record<Stream, readonly string[]>> = { customers: ["name"], staff: ["name", "userName"] };

/**
 * Finds the records of a stream that a text may mean: an id in any namespace, a number of the platform, an asset number
 * (its order, the customer of that, or the person who holds it), and last a name. Names are private values: they are
 * compared here, and only keys leave.
 */
export async function find(ledger: ReadOnlyLedger, stream: Stream, text: string): Promise<Found[]> {
  const found = new Map<string, Found>();
  const add = (key: RecordKey, by: Found["by"]): void => {
    const name = `${key.namespace}/${key.id}`;
    if (!found.has(name) && found.size < most) found.set(name, { key, by });
  };
  for (const key of await byAssetNumber(ledger, stream, text)) add(key, "asset number");
  for (const item of await similarTo(ledger, stream, { namespace: "", id: text }))
    if (item.stream === stream) add(item.key, "id");
  for (const key of await inQuarantine(ledger, stream, text)) add(key, "id");
  if (found.size === 0) for (const key of byName(ledger, stream, text)) add(key, "name");
  return [...found.values()];
}

async function byAssetNumber(ledger: ReadOnlyLedger, stream: Stream, number: string): Promise<RecordKey[]> {
  if (stream === "staff") {
    const { rows } = await sql<RecordKey>`select namespace, staff_id as id from assignment
      where asset_number = ${number} and to_at is null`.execute(ledger.db);
    return rows;
  }
  const { rows } = await sql<{ order: string; namespace: string; customer: string; customerNamespace: string }>`
    select n.order_id as "order", n.namespace, r.customer_id as customer, r.customer_namespace as "customerNamespace"
    from asset_number n join record r on r.stream = 'orders' and r.namespace = n.namespace and r.id = n.order_id
    where n.wire_number = ${number} and n.fixed_at is not null`.execute(ledger.db);
  return rows.map((row) =>
    stream === "orders"
      ? { namespace: row.namespace, id: row.order }
      : { namespace: row.customerNamespace, id: row.customer },
  );
}

async function inQuarantine(ledger: ReadOnlyLedger, stream: Stream, id: string): Promise<RecordKey[]> {
  const { rows } = await sql<RecordKey>`select distinct namespace, record_id as id from quarantine
    where state <> 'resolved' and record_id = ${id} and +stream = ${stream}`.execute(ledger.db);
  return rows;
}

/** Records whose newest form has this name, whatever its case and spaces. */
function* byName(ledger: ReadOnlyLedger, stream: Stream, text: string): Generator<RecordKey, void, void> {
  const fields = names[stream];
  if (fields === undefined) return;
  const wanted = plain(text);
  const query = sql<RecordKey & { body: string }>`select r.namespace, r.id, p.body from record r
    join private_value p on p.ref = r.stream || '/' || r.namespace || '/' || r.id and p.version = r.version
    where r.stream = ${stream} and p.body is not null`;
  for (const { namespace, id, body } of ledger.rows({ compile: () => query.compile(ledger.db) })) {
    const values = stored<Json>(body);
    if (isJsonObject(values) && fields.some((field) => plain(values[field]) === wanted)) yield { namespace, id };
  }
}

function plain(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value.normalize("NFC").trim().replaceAll(/\s+/gu, " ").toLowerCase() : undefined;
}
