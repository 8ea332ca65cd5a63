import type { RecordTable } from "../ledger/records/tables.ts";
import type { RecordFacts } from "../report/explain.ts";

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
