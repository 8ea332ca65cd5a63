import type { RecordKey, Stream } from "../crm/model.ts";
import type { RecordFacts } from "../report/explain.ts";
import { recordFacts } from "./record-facts.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** So many records of a customer are listed at once. */
export const recordsInPage = 25;

/** Orders or staff of a customer in key order, as many as a page holds; `after` goes on behind a record. */
export async function recordsOfCustomer(
  { db }: ReadOnlyLedger,
  customer: RecordKey,
  stream: Exclude<Stream, "customers">,
  after?: RecordKey,
): Promise<{ records: RecordFacts[]; goesOn: boolean }> {
  let query = db
    .selectFrom("record")
    .selectAll()
    .where("customer_namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .where("stream", "=", stream)
    .orderBy("namespace")
    .orderBy("id")
    .limit(recordsInPage + 1);
  if (after !== undefined)
    query = query.where((where) =>
      where(where.refTuple("namespace", "id"), ">", where.tuple(after.namespace, after.id)),
    );
  const rows = await query.execute();
  return { records: rows.slice(0, recordsInPage).map(recordFacts), goesOn: rows.length > recordsInPage };
}
