import { sql } from "kysely";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { RecordTable } from "../ledger/records/tables.ts";
import type { RecordFacts } from "../report/explain.ts";
import { recordFacts } from "./record-facts.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** So many records of a customer are listed at once. */
const recordsInPage = 25;

/**
 * Orders or staff of a customer in key order, as many as a page holds; `after` goes on behind a record. SQLite would
 * rather go through the whole stream in the order that is asked for, so it is told by which index.
 */
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
