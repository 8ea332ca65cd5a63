import { sql } from "kysely";
import type { RecordKey } from "../crm/model.ts";
import type { HoldTable } from "../ledger/approvals/tables.ts";
import type { HoldFacts } from "../report/facts.ts";
import { spelled } from "./read-only-ledger.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** Holds, oldest first. */
export async function holds(
  ledger: ReadOnlyLedger,
  filter: { states?: readonly HoldFacts["state"][]; customer?: RecordKey; id?: string } = {},
): Promise<HoldFacts[]> {
  let query = ledger.db
    .selectFrom("hold")
    .selectAll()
    .select((from) =>
      from
        .selectFrom("operation")
        .select(sql<number>`count(*)`.as("count"))
        .whereRef("operation.hold_id", "=", "hold.id")
        .where("operation.state", "=", sql.lit("held"))
        .as("operations"),
    )
    .orderBy("created_at")
    .orderBy("id");
  if (filter.states !== undefined) query = query.where("state", "in", spelled(filter.states));
  if (filter.id !== undefined) query = query.where("id", "=", filter.id);
  if (filter.customer !== undefined) {
    query = query
      .where("customer_namespace", "=", filter.customer.namespace)
      .where("customer_id", "=", filter.customer.id);
  }
  return (await query.execute()).map(holdFacts);
}

export function holdFacts(row: HoldTable & { operations: number | null }): HoldFacts {
  return {
    id: row.id,
    scope: row.scope,
    customer: { namespace: row.customer_namespace, id: row.customer_id },
    count: row.count,
    allowed: row.allowed,
    total: row.total,
    state: row.state,
    explanation: row.explanation,
    createdAt: row.created_at,
    decidedAt: row.decided_at,
    reason: row.reason,
    decidedBy: row.decided_by,
    operations: row.operations ?? 0,
  };
}
