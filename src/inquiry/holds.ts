import { sql } from "kysely";
import type { RecordKey } from "../crm/model.ts";
import type { QuestionTable } from "../ledger/decisions/tables.ts";
import { whatIsAsked } from "../ledger/decisions/what-is-asked.ts";
import type { HoldFacts } from "../report/facts.ts";
import { spelled } from "./read-only-ledger.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** Questions that people were asked, oldest first. */
export async function holds(
  ledger: ReadOnlyLedger,
  filter: { states?: readonly HoldFacts["state"][]; customer?: RecordKey; id?: string } = {},
): Promise<HoldFacts[]> {
  let query = ledger.db
    .selectFrom("question")
    .selectAll()
    .select((from) =>
      from
        .selectFrom("operation")
        .select(sql<number>`count(*)`.as("count"))
        .whereRef("operation.question_id", "=", "question.id")
        .where("operation.state", "=", sql.lit("held"))
        .as("operations"),
    )
    .orderBy("number");
  const [state, ...others] = filter.states ?? [];
  // An index of one state is found by that state alone.
  if (state !== undefined && others.length === 0) query = query.where("state", "=", sql.lit(state));
  else if (filter.states !== undefined) query = query.where("state", "in", spelled(filter.states));
  if (filter.id !== undefined) query = query.where("id", "=", filter.id);
  if (filter.customer !== undefined) {
    query = query
      .where("customer_namespace", "=", filter.customer.namespace)
      .where("customer_id", "=", filter.customer.id);
  }
  return (await query.execute()).map((row) => holdFacts(ledger, row));
}

/** A question as people get it, with how many operations wait for its answer. */
export function holdFacts(ledger: ReadOnlyLedger, row: QuestionTable & { operations: number | null }): HoldFacts {
  return {
    id: row.id,
    scope: row.scope,
    customer: { namespace: row.customer_namespace, id: row.customer_id },
    state: row.state,
    ...whatIsAsked((statement, parameters) => ledger.all(statement, parameters), row.id),
    createdAt: row.created_at,
    decidedAt: row.decided_at,
    reason: row.reason,
    decidedBy: row.decided_by,
    operations: row.operations ?? 0,
    ofUndo: row.of_undo === 1,
  };
}
