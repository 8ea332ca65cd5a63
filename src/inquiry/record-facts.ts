import type { RecordKey, Stream } from "../crm/model.ts";
import type { RecordTable } from "../ledger/records/tables.ts";
import type { RecordFacts } from "../report/explain.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** A row of the record table as people get it. */
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

/** A record as it stands now; null where the CRM gave none. */
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
