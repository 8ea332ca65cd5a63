import { sql } from "kysely";
import { isJsonObject, type JsonObject } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { stored, storedOrNull } from "../ledger/database/damage.ts";
import { attempt } from "../ledger/journal/journal-row.ts";
import type { OperationState, OperationTable } from "../ledger/journal/tables.ts";
import { typeOf } from "../engine/model/registry.ts";
import type { OperationName } from "../engine/model/resource.ts";
import { lookForStored } from "../engine/model/operation.ts";
import type { EvidenceFacts, OperationFacts } from "../report/facts.ts";
import { privateBody, spelled, type ReadOnlyLedger } from "./read-only-ledger.ts";

type OperationFound = OperationFacts & { kind: OperationName };

/** Every given condition must hold. */
interface OperationFilter {
  states?: readonly OperationState[];
  run?: string;
  /** Finds only open operations of this customer: finished ones have no index by customer. */
  openOf?: RecordKey;
  subject?: string;
  /** Only operations that changed state from this instant on, and before `until`. */
  since?: string;
  until?: string;
  after?: { createdAt: string; id: string } | undefined;
  limit?: number;
}

const endings = { observe: "read", resend: "send-again", lost: "lost", ask: "ask" } as const;

export const openStates: readonly OperationState[] = ["sending", "unknown", "parked"];

export const waitingStates: readonly OperationState[] = ["planned", "held"];

export async function* operations(
  ledger: ReadOnlyLedger,
  filter: OperationFilter = {},
): AsyncGenerator<OperationFound, void, void> {
  let query = ledger.db.selectFrom("operation").selectAll().orderBy("created_at").orderBy("id");
  if (filter.states !== undefined) query = query.where("state", "in", spelled(filter.states));
  if (filter.run !== undefined) query = query.where("run_id", "=", filter.run);
  if (filter.subject !== undefined) query = query.where("subject", "=", filter.subject);
  if (filter.since !== undefined) query = query.where("updated_at", ">=", filter.since);
  if (filter.until !== undefined) query = query.where("updated_at", "<", filter.until);
  const { after } = filter;
  if (after !== undefined)
    query = query.where((of) => of(of.refTuple("created_at", "id"), ">", of.tuple(after.createdAt, after.id)));
  if (filter.limit !== undefined) query = query.limit(filter.limit);
  if (filter.openOf !== undefined) {
    query = query
      .where("state", "in", spelled(openStates))
      .where("customer_namespace", "=", filter.openOf.namespace)
      .where("customer_id", "=", filter.openOf.id);
  }
  for (const row of ledger.rows(query)) yield await operationFacts(ledger, row);
}

/** All or some operations with an open outcome, oldest first. */
export function unsettled(
  ledger: ReadOnlyLedger,
  some: Pick<OperationFilter, "after" | "limit"> = {},
): AsyncGenerator<OperationFound, void, void> {
  return operations(ledger, { states: openStates, ...some });
}

/** The redacted answer to the last attempt, if it was kept. It may contain personal data. */
export async function keptAnswer(ledger: ReadOnlyLedger, operation: string): Promise<string | undefined> {
  return await privateBody(ledger, `answer/${operation}`);
}

export async function operationById(ledger: ReadOnlyLedger, id: string): Promise<OperationFound | undefined> {
  const row = await ledger.db.selectFrom("operation").selectAll().where("id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : await operationFacts(ledger, row);
}

export async function operationsOfRecord(
  ledger: ReadOnlyLedger,
  record: { stream: "customers" | "orders" | "staff"; key: RecordKey },
  limit: number,
): Promise<{ total: number; newest: OperationFound[] }> {
  const served = ledger.db
    .selectFrom("operation_record as link")
    .innerJoin("operation", "operation.id", "link.operation_id")
    .where("link.stream", "=", record.stream)
    .where("link.namespace", "=", record.key.namespace)
    .where("link.record_id", "=", record.key.id);
  const counted = await served.select(sql<number>`count(*)`.as("total")).executeTakeFirst();
  const rows = await served
    .selectAll("operation")
    .orderBy("operation.created_at", "desc")
    .orderBy("operation.id", "desc")
    .limit(limit)
    .execute();
  const newest: OperationFound[] = [];
  for (const row of rows) newest.push(await operationFacts(ledger, row));
  return { total: counted?.total ?? 0, newest };
}

export async function operationFacts(ledger: ReadOnlyLedger, row: OperationTable): Promise<OperationFound> {
  const attempts = await ledger.db
    .selectFrom("attempt")
    .selectAll()
    .where("operation_id", "=", row.id)
    .orderBy("number")
    .execute();
  const records = stored<{ stream: Stream; namespace: string; id: string }[]>(row.records);
  const unbound = { target: stored<JsonObject>(row.target), payload: stored<JsonObject>(row.payload) };
  const context = stored<JsonObject>(row.context);
  return {
    id: row.id,
    kind: row.kind,
    endpoint: row.endpoint,
    stage: row.stage,
    customer: { namespace: row.customer_namespace, id: row.customer_id },
    subject: row.subject,
    state: row.state,
    runId: row.run_id,
    planId: row.plan_id,
    questionId: row.question_id,
    reason: row.reason,
    ...unbound,
    context,
    lookFor: lookForStored(row.kind, { ...unbound, context, records }) ?? null,
    whenUnknown: endings[typeOf(row).onUnknown.by],
    before: storedOrNull(row.before),
    after: storedOrNull(row.after),
    takesAway: row.takes_away,
    hash: row.hash,
    wireHash: row.wire_hash,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    settleAfter: row.settle_after,
    verdict: row.verdict,
    evidence: evidenceOf(row.evidence),
    outcomeCode: row.outcome_code,
    outcomeMessage: row.outcome_message,
    answerKept: row.answer_ref !== null,
    records: recordsIn(row.records),
    attempts: attempts.map(attempt),
  };
}

export function recordsIn(kept: string): OperationFacts["records"] {
  const records = stored<{ stream: Stream; namespace: string; id: string }[]>(kept);
  return records.map(({ stream, namespace, id }) => ({ stream, key: { namespace, id } }));
}

function evidenceOf(text: string | null): EvidenceFacts[] {
  const kept = storedOrNull(text);
  if (!isJsonObject(kept) || !Array.isArray(kept["readings"])) return [];
  return kept["readings"].flatMap((reading) => {
    if (!isJsonObject(reading) || typeof reading["at"] !== "string") return [];
    return [{ at: reading["at"], seen: reading["seen"] === true, detail: reading["detail"] ?? null }];
  });
}
