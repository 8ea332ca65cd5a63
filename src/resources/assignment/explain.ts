import { sql } from "kysely";
import type { Kysely } from "kysely";
import type { RecordKey, Stream } from "../../crm/model.ts";
import { compareBytes } from "../../operation/state/row-order.ts";
import type { LedgerTables } from "../../ledger/tables.ts";
import { mostObservations } from "../../report/explain.ts";
import type { AssignmentFacts } from "../../report/explain.ts";
import type { AssignmentTable } from "./state.ts";

/** The assignments of a person, of the numbers of an order, or of a customer: those that stand, and some that ended. */
export async function explain(
  db: Kysely<LedgerTables>,
  { stream, key, numbers }: { stream: Stream; key: RecordKey; numbers: readonly string[] },
): Promise<AssignmentFacts[]> {
  let query = db.selectFrom("assignment").selectAll().orderBy("asset_number").orderBy("from_at", "desc");
  if (stream === "staff") query = query.where("namespace", "=", key.namespace).where("staff_id", "=", key.id);
  else if (stream === "orders")
    query = query.where(sql<boolean>`asset_number in (select value from json_each(${JSON.stringify(numbers)}))`);
  else query = query.where("customer_namespace", "=", key.namespace).where("customer_id", "=", key.id);
  const standing = await query.where("to_at", "is", null).execute();
  if (stream === "customers") return standing.map(factsOf);
  const ended = await query.where("to_at", "is not", null).limit(mostObservations).execute();
  return [...standing, ...ended]
    .toSorted((one, other) =>
      one.asset_number === other.asset_number
        ? compareBytes(other.from_at, one.from_at)
        : compareBytes(one.asset_number, other.asset_number),
    )
    .map(factsOf);
}

function factsOf(row: AssignmentTable): AssignmentFacts {
  return {
    assetNumber: row.asset_number,
    staff: { namespace: row.namespace, id: row.staff_id },
    memberGlobalId: row.member_global_id,
    origin: row.origin,
    from: row.from_at,
    to: row.to_at,
    operationId: row.operation_id,
    endedBy: row.ended_by,
  };
}
