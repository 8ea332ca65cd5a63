import { parseJson, type Json } from "../../base/canonical-json.ts";
import { z } from "zod";
import { streams } from "../../crm/model.ts";
import type { RecordReference } from "../../engine/model/resource.ts";
import { isOperationName, typeIn } from "../../engine/model/registry.ts";
import {
  type Operation,
  type Entry,
  type Stored,
  readOperation,
  isRemoval,
  noWeight,
} from "../../engine/model/operation.ts";
import type { AttemptFacts } from "../../report/facts.ts";
import { unreadableRow } from "../database/damage.ts";
import { type AttemptTable, type OperationState, type OperationTable, operationStates } from "./tables.ts";

/** Verdict on a rejected operation that the platform shows all the same. Only a person can end it. */
export const refusedYetShown = "was refused and is shown; waits for a person";

/** Verdict on an operation of another process that may only be suspended, and may still send it. */
export const maybePaused = "whoever was sending it may only be paused";

export type JournalRow = JournalState & Stored;

export interface PlannedRow extends JournalState {
  operation: Omit<ReturnType<typeof operationHead>, "columns">;
}

interface JournalState {
  id: string;
  runId: string | null;
  planId: string | null;
  questionId: string | null;
  state: OperationState;
  wireHash: string | null;
  createdAt: string;
  updatedAt: string;
  settleAfter: string | null;
  verdict: string | null;
  evidence: Json;
  outcomeCode: string | null;
  outcomeMessage: string | null;
  attempts: number;
}

export type OperationRow = Omit<OperationTable, "position" | "answer_ref" | "claim" | "weight"> & {
  attempts: number;
};

const attemptsOf = (id: string): string => `(select count(*) from attempt a where a.operation_id = ${id})`;

export const operationColumns = `o.id, o.run_id, o.plan_id, o.question_id, o.customer_namespace, o.customer_id, o.kind,
  o.endpoint, o.stage, o.subject, o.hash, o.state,
  o.target, o.payload, o.wire_hash, o.context, o.reason, o.before, o.after, o.takes_away, o.created_at, o.updated_at,
  o.settle_after, o.verdict, o.evidence, o.outcome_code, o.outcome_message,
  o.records, o.approved, ${attemptsOf("o.id")} as attempts`;

export const newestOnSubject = `select o.id from operation o where o.subject = +?
  and o.state in (select value from json_each(?)) order by o.created_at desc, o.id desc limit 1`;

const standingColumns = `id, run_id, customer_namespace, customer_id, kind, endpoint, subject, hash, state, wire_hash,
  records, question_id, approved, ${attemptsOf("operation.id")} as attempts`;

export const operationStands = `select ${standingColumns} from operation where id = +?`;

/** Changes nothing if the outcome is known or the operation is not as expected. `@reopened`: 1 for a rejected one. */
export const operationConcluded = `update operation set state = @state, updated_at = @at, settle_after = @settleAfter,
    verdict = coalesce(@verdict, verdict), evidence = coalesce(@evidence, evidence), outcome_code = @code,
    outcome_message = @message, answer_ref = coalesce(@answerRef, answer_ref)
  where id = +@id and (state not in ('done', 'rejected', 'dropped') or state = 'rejected' and @reopened = 1)
    and (@expected is null or state = @expected and ${attemptsOf("operation.id")} = @attempts)
  returning ${standingColumns}`;

export type StandingRow = Pick<
  OperationRow,
  | "id"
  | "run_id"
  | "customer_namespace"
  | "customer_id"
  | "kind"
  | "endpoint"
  | "subject"
  | "hash"
  | "state"
  | "wire_hash"
  | "records"
  | "question_id"
  | "approved"
  | "attempts"
>;

export type AttemptRow = Omit<AttemptTable, "wire_hash" | "holder" | "accepted_until">;

/** Throws a Problem (exit code 65) that names row and column if a column is damaged. */
export function journalRow(row: OperationRow): JournalRow {
  const { kind, columns, ...common } = operationHead(row);
  const read = readOperation(kind, common, columns);
  if ("misfit" in read) throw unreadableRow("operation", row.id, read.misfit);
  return { ...stateOf(row), ...read.stored };
}

export function plannedRow(row: OperationRow): PlannedRow {
  const { columns: _, ...operation } = operationHead(row);
  return { ...stateOf(row), operation };
}

function stateOf(row: OperationRow): JournalState {
  return {
    id: row.id,
    runId: row.run_id,
    planId: row.plan_id,
    questionId: row.question_id,
    state: row.state,
    wireHash: row.wire_hash,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    settleAfter: row.settle_after,
    verdict: row.verdict,
    evidence: row.evidence === null ? null : stored(row, "evidence", row.evidence),
    outcomeCode: row.outcome_code,
    outcomeMessage: row.outcome_message,
    attempts: row.attempts,
  };
}

/** Enough of an operation to conclude it, even if its payload is unreadable. Throws as `journalRow` does. */
export function standingOperation(row: StandingRow) {
  const { kind, endpoint } = row;
  if (!isOperationName(kind)) throw unreadableRow("operation", row.id, "kind");
  return {
    kind,
    endpoint,
    customer: { namespace: row.customer_namespace, id: row.customer_id },
    subject: row.subject,
    records: storedRecords(row),
    hash: row.hash,
  };
}

/** Parses the JSON columns without checking their shape. Throws as `journalRow` does. */
function operationHead(row: OperationRow) {
  return {
    ...standingOperation(row),
    stage: row.stage,
    reason: row.reason,
    takesAway: row.takes_away,
    policy: undefined,
    weight: noWeight,
    needs: [],
    columns: {
      target: stored(row, "target", row.target),
      payload: stored(row, "payload", row.payload),
      before: stored(row, "before", row.before),
      after: stored(row, "after", row.after),
      context: stored(row, "context", row.context),
    },
  };
}

/** Needs the context of the intent. Throws as `journalRow` does. */
export function journalEntry(row: JournalRow): Entry {
  const { id, operation, context } = row;
  if (context === undefined) throw unreadableRow("operation", id, "context");
  return { id, operation, context };
}

function stored(row: StandingRow, column: string, text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw unreadableRow("operation", row.id, column, error);
  }
}

/** Removed units as JSON; null if no limit counts this operation. */
export function weightColumn(operation: Pick<Operation, "takesAway" | "weight">): string | null {
  return isRemoval(operation) ? JSON.stringify(operation.weight) : null;
}

export function recordsText(records: readonly RecordReference[]): string {
  const nameOf = ({ stream, namespace, id }: RecordReference): string => `${stream}\n${namespace}\n${id}`;
  const kept = records.map(({ stream, namespace, id }) => ({ stream, namespace, id }));
  return JSON.stringify(kept.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1)));
}

const recordList = z.array(z.object({ stream: z.enum(streams), namespace: z.string(), id: z.string() }));

function storedRecords(row: StandingRow): RecordReference[] {
  const records = recordList.safeParse(stored(row, "records", row.records));
  if (!records.success) throw unreadableRow("operation", row.id, "records", records.error);
  return records.data;
}

export function attempt(row: AttemptRow): AttemptFacts {
  return {
    number: row.number,
    nonce: row.nonce,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    outcome: row.outcome,
    httpStatus: row.http_status,
    code: row.code,
    detail: row.detail,
  };
}

/** Counts as columns of one row: grouped rows would be sorted in memory first. */
export const stateCounts = operationStates.map((state) => `sum(state = '${state}') as ${state}`).join(", ");

export type StateCounts = Record<OperationState, number | null>;

export function foundStates(counts: StateCounts | undefined): Record<string, number> {
  const found: Record<string, number> = {};
  for (const state of operationStates) {
    const count = counts?.[state] ?? 0;
    if (count > 0) found[state] = count;
  }
  return found;
}

const mayHold = (column: string): string => typeIn(column, ({ can }) => can.afterRefusal !== undefined);

const removes = (column: string): string => typeIn(column, ({ can }) => can.removes !== undefined);

/**
 * Rejected calls that may have had an effect, newest first. A later successful call of the same kind (purchase or
 * removal) explains a call. So does a recorded effect: a purchase with its channel order number, one that a person
 * recorded for the same form of the order, or a removal of the same parts.
 */
export function refusedOrdersOf(columns: string): string {
  return `select ${columns} from operation_record i join operation o on o.id = i.operation_id
    where i.stream = 'orders' and i.namespace = +? and i.record_id = +? and ${mayHold("o.kind")}
      and o.state = 'rejected'
      and not exists (select 1 from operation_record later join operation d on d.id = later.operation_id
        where later.stream = 'orders' and later.namespace = i.namespace and later.record_id = i.record_id
          and ${mayHold("d.kind")} and (${removes("d.kind")}) = (${removes("o.kind")}) and d.state = 'done'
          and (d.created_at, d.id) > (o.created_at, o.id))
      and not exists (select 1 from order_step s where s.namespace = i.namespace and s.order_id = i.record_id
        and s.customer_namespace = o.customer_namespace and s.customer_id = o.customer_id
        and s.kind = 'bought' and s.forgotten_at is null and (s.channel_order_id = o.context ->> 'channelOrderId'
          or s.origin = 'by-hand' and s.version = o.context ->> 'version' and s.at >= o.created_at))
      and not exists (select 1 from order_step s, json_each(s.items) x, json_each(o.after, '$.items') y
        where s.namespace = i.namespace and s.order_id = i.record_id and s.customer_namespace = o.customer_namespace
        and s.customer_id = o.customer_id and s.kind = 'removed' and s.forgotten_at is null and s.at >= o.created_at
        and ${removes("o.kind")}
        and (x.value ->> 'instanceId', x.value ->> 'unit') = (y.value ->> 'instanceId', y.value ->> 'unit')
        and coalesce(x.value ->> 'product' = y.value ->> 'product', true))
      and not exists (select 1 from placed_order p where p.namespace = i.namespace and p.order_id = i.record_id
        and p.to_at is null and p.channel_order_id = o.context ->> 'channelOrderId'
        and coalesce(p.placed_for_namespace, p.customer_namespace) = o.customer_namespace
        and coalesce(p.placed_for_id, p.customer_id) = o.customer_id)
    order by o.created_at desc, o.id desc`;
}
