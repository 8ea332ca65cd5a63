import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { Problem } from "../../base/errors.ts";
import type { RecordKey } from "../../crm/model.ts";
import { isApproved, type Whose } from "../decisions/hold-rows.ts";
import { typeOf } from "../../engine/model/registry.ts";
import type { Operation } from "../../engine/model/operation.ts";
import type { RecordReference, OperationName } from "../../engine/model/resource.ts";
import type { Sqlite } from "../database/database.ts";
import {
  journalRow,
  newestOnSubject,
  operationColumns,
  plannedRow,
  recordsText,
  operationConcluded,
  operationStands,
  standingOperation,
  weightColumn,
  type JournalRow,
  type OperationRow,
  type PlannedRow,
  type StandingRow,
  foundStates,
  stateCounts,
  type StateCounts,
  refusedOrdersOf,
  attempt,
  type AttemptRow,
} from "./journal-row.ts";
import type { OperationState, AttemptTable } from "./tables.ts";
import { prepared, sql } from "../database/statements.ts";
import { toInstant } from "../../base/clock.ts";
import type { AttemptFacts } from "../../report/facts.ts";
import type { StateChange } from "../../engine/model/state.ts";
import type { NewRejections } from "./rejections.ts";

export { journalEntry, maybePaused, refusedYetShown } from "./journal-row.ts";
export type { JournalRow, PlannedRow } from "./journal-row.ts";

type Standing = Pick<JournalRow, "state" | "attempts" | "runId" | "wireHash" | "questionId"> & {
  approved: boolean;
  operation: ReturnType<typeof standingOperation>;
};

/** Whether a person was asked about this operation, or approved it and a run must send it. */
const isHeld = `exists (select 1 from hold h where h.operation_id = operation.id and h.state in ('asked', 'approved'))`;

/** Writes run inside the writer's transaction. */
export class JournalTables {
  readonly attempts: AttemptTables;
  readonly #statements;

  constructor(database: Sqlite) {
    this.attempts = new AttemptTables(database);
    this.#statements = prepared(database, {
      insert: sql`insert into operation (id, run_id, plan_id, question_id, customer_namespace, customer_id, kind,
        endpoint, stage,
          subject, hash, state, target,
          payload, wire_hash, context, reason, before, after, takes_away, position, created_at, updated_at, records,
          claim, weight, approved)
        values (?, ?, ?, null, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
          ${isApproved("@id")})`,
      record: sql`insert into operation_record (stream, namespace, record_id, operation_id) values (?, ?, ?, ?)`,
      // The planned values are of an earlier state, so the present removals and result replace them.
      sending: sql`update operation set state = 'sending', wire_hash = ?, context = ?, run_id = ?, updated_at = ?,
         verdict = null, reason = ?, after = ?, takes_away = ?, weight = iif(state = 'unknown', weight, ?),
         approved = max(approved, ${isApproved("operation.id")})
        where id = +? and state in ('planned', 'held', 'unknown')`,
      conclude: sql<[Record<string, string | number | null>], StandingRow>`${operationConcluded}`,
      refusedOrders: sql<[string, string], OperationRow>`${refusedOrdersOf(operationColumns)}`,
      sendings: sql<[{ stream: string; namespace: string; id: string; kind: string }], { count: number }>`
        select count(*) as count from operation_record r join operation o on o.id = r.operation_id
          join attempt a on a.operation_id = o.id
          where r.stream = +@stream and r.namespace = +@namespace and r.record_id = +@id and o.kind = +@kind
            and (a.outcome is null or a.outcome = 'unknown')
            and a.started_at > coalesce((select max(d.updated_at) from operation_record s
              join operation d on d.id = s.operation_id
              where s.stream = +@stream and s.namespace = +@namespace and s.record_id = +@id and d.kind = +@kind
                and d.verdict like 'a person decided%'), '')`,
      evidence: sql`update operation set evidence = ? where id = +? and state in ('unknown', 'parked')`,
      byId: sql<[string], OperationRow>`select ${operationColumns} from operation o where o.id = +?`,
      newestOn: sql<[string, string], Pick<OperationRow, "id">>`${newestOnSubject}`,
      standing: sql<[string], StandingRow>`${operationStands}`,
      open: sql<[], OperationRow>`
        select ${operationColumns} from operation o where o.state in ('sending', 'unknown', 'parked')
          order by o.created_at, o.id`,
      openOf: sql<[string, string], OperationRow>`select ${operationColumns} from operation o indexed by operation_open
        where o.state in ('sending', 'unknown', 'parked')
        and o.customer_namespace = +? and o.customer_id = +? order by o.created_at, o.id`,
      plannedOf: sql<[string, string, number], OperationRow>`
        select ${operationColumns} from operation o where o.state in ('planned', 'held')
          and o.customer_namespace = +? and o.customer_id = +? and (o.plan_id is not null) = ?
          order by o.position, o.id`,
      drop: sql`update operation set state = iif(${isHeld}, 'held', 'dropped'), updated_at = ?,
          outcome_message = iif(${isHeld}, outcome_message, ?)
        where state in ('planned', 'held') and state = 'planned' and customer_namespace = +? and customer_id = +?
          and (? is null or hash = +?)`,
      hold: sql`update operation set state = 'held', question_id = ?, updated_at = ?
        where id = +? and (state = 'planned' or question_id is not ?)`,
      giveUpWaiting: sql`update operation set state = 'dropped', updated_at = ?, outcome_message = 'no longer needed'
        where state in ('planned', 'held') and state = 'held' and customer_namespace = +? and customer_id = +?
          and (plan_id is not null) = ? and id not in (select value from json_each(?)) and not ${isHeld}`,
      takenSince: sql<[{ since: string; now: string }], { kind: OperationName; count: number; seats: number }>`
        with first as (select min(id) as id from run indexed by run_by_start
            where started_at >= @since and started_at <= @now),
          set_back as (select r.id from run r, first where r.id > first.id and r.started_at < @since)
          select kind, sum(takes_away) as count, sum(coalesce(weight ->> '$.seats', 0)) as seats from (
            select kind, takes_away, weight, approved, state from operation indexed by operation_taking
            where (takes_away > 0 or weight is not null) and approved = 0
              and state in ('sending', 'unknown', 'parked', 'done') and updated_at >= @since
            union all
            select kind, takes_away, weight, approved, state from operation indexed by operation_by_run
            where run_id in (select id from set_back) and updated_at < @since
          ) where (takes_away > 0 or weight is not null) and approved = 0
            and state in ('sending', 'unknown', 'parked', 'done') group by kind`,
      operationStates: sql<[{ run: string; carriedIn: string }], StateCounts>`select ${stateCounts} from (
        select state from operation where run_id = +@run
        union all select state from operation
          where id in (select value from json_each(@carriedIn)) and run_id is not @run)`,
      answer: sql`insert into private_value (ref, version, body, created_at) values (?, ?, ?, ?)
        on conflict do nothing`,
    });
  }

  insert(entry: {
    id: string;
    operation: Operation;
    state: OperationState;
    runId: string | null;
    planId?: string | null;
    wireHash?: string | null;
    context?: JsonObject;
    position?: number;
    at: string;
  }): void {
    const { operation } = entry;
    this.#statements.insert.run(
      entry.id,
      entry.runId,
      entry.planId ?? null,
      operation.customer.namespace,
      operation.customer.id,
      operation.kind,
      operation.endpoint,
      operation.stage,
      operation.subject,
      operation.hash,
      entry.state,
      JSON.stringify(operation.target),
      JSON.stringify(operation.payload),
      entry.wireHash ?? null,
      JSON.stringify(entry.context ?? {}),
      operation.reason,
      JSON.stringify(operation.before),
      JSON.stringify(operation.after),
      operation.takesAway,
      entry.position ?? 0,
      entry.at,
      entry.at,
      recordsText(operation.records),
      typeOf(operation).can.claims?.of(operation)?.number ?? null,
      weightColumn(operation),
      { id: entry.id },
    );
    for (const item of operation.records) {
      this.#statements.record.run(item.stream, item.namespace, item.id, entry.id);
    }
  }

  markSending(
    id: string,
    fields: { operation: Operation; wireHash: string; context: JsonObject; runId: string | null; at: string },
  ): void {
    const { operation, wireHash, runId, at } = fields;
    const { reason, takesAway } = operation;
    const now = [reason, JSON.stringify(operation.after), takesAway, weightColumn(operation)];
    const changed = this.#statements.sending.run(
      wireHash,
      JSON.stringify(fields.context),
      runId,
      at,
      ...now,
      id,
    ).changes;
    if (changed !== 1) {
      throw new Problem({
        code: "journal.moved-on",
        message: `operation ${id} is ${this.byId(id)?.state ?? "not in the journal"}, so it was not sent`,
        cure: "nothing needs to be done: the next run looks at it again",
      });
    }
  }

  /** Undefined if the outcome is known or the operation is not as expected: then nothing changed. */
  finish(
    id: string,
    fields: Omit<Conclusion, "settleMs" | "changes" | "rejections" | "audit">,
    at: string,
  ): Standing | undefined {
    if (fields.attempt !== undefined) this.attempts.finish(id, fields.attempt, at);
    let answerRef: string | null = null;
    if (fields.answer !== undefined) {
      answerRef = `answer/${id}`;
      this.#statements.answer.run(answerRef, this.attempts.of(id).length, fields.answer, at);
    }
    const row = this.#statements.conclude.get({
      id,
      at,
      answerRef,
      state: fields.state,
      settleAfter: fields.settleAfter ?? null,
      verdict: fields.verdict ?? null,
      evidence: fields.evidence === undefined ? null : JSON.stringify(fields.evidence),
      code: fields.code ?? null,
      message: fields.message ?? null,
      expected: fields.expected?.state ?? null,
      attempts: fields.expected?.attempts ?? null,
      reopened: fields.reopened === true ? 1 : 0,
    });
    return row && standingOf(row);
  }

  newestOn(subject: string, states: readonly OperationState[]): JournalRow | undefined {
    const id = this.#statements.newestOn.get(subject, JSON.stringify(states))?.id;
    return id === undefined ? undefined : this.byId(id);
  }

  refusedOrders(order: RecordKey): JournalRow[] {
    return this.#statements.refusedOrders.all(order.namespace, order.id).map(journalRow);
  }

  sendingsInDoubt(record: RecordReference, kind: OperationName): number {
    const { stream, namespace, id } = record;
    return this.#statements.sendings.get({ stream, namespace, id, kind })?.count ?? 0;
  }

  noteEvidence(id: string, evidence: Json): void {
    this.#statements.evidence.run(JSON.stringify(evidence), id);
  }

  standing(id: string): Standing | undefined {
    const row = this.#statements.standing.get(id);
    return row && standingOf(row);
  }

  byId(id: string): JournalRow | undefined {
    const row = this.#statements.byId.get(id);
    return row === undefined ? undefined : journalRow(row);
  }

  open(): JournalRow[] {
    return this.#statements.open.all().map(journalRow);
  }

  openOf(customer: RecordKey): JournalRow[] {
    return this.#statements.openOf.all(customer.namespace, customer.id).map(journalRow);
  }

  plannedOf(customer: RecordKey, ofUndo: boolean): PlannedRow[] {
    return this.#statements.plannedOf.all(customer.namespace, customer.id, ofUndo ? 1 : 0).map(plannedRow);
  }

  /** Drops planned operations before a new plan. Held ones keep waiting. */
  drop({ namespace, id }: RecordKey, at: string, why: string, hash: string | null = null): number {
    return this.#statements.drop.run(at, why, namespace, id, hash, hash).changes;
  }

  hold(id: string, question: string, at: string): void {
    this.#statements.hold.run(question, at, id, question);
  }

  giveUpWaiting({ customer, ofUndo }: Whose, kept: readonly string[], at: string): void {
    const { namespace, id } = customer;
    this.#statements.giveUpWaiting.run(at, namespace, id, ofUndo ? 1 : 0, JSON.stringify(kept));
  }

  /** Also counts all of a later run with an earlier time: its clock was set back. */
  takenSince(since: string, now: string): { kind: OperationName; count: number; seats: number }[] {
    return this.#statements.takenSince.all({ since, now });
  }

  operationStates(run: string, carriedIn: readonly string[]): Record<string, number> {
    return foundStates(this.#statements.operationStates.get({ run, carriedIn: JSON.stringify(carriedIn) }));
  }
}

function standingOf(row: StandingRow): Standing {
  const { state, attempts, run_id: runId, wire_hash: wireHash, question_id: questionId, approved } = row;
  return { state, attempts, runId, wireHash, questionId, approved: approved === 1, operation: standingOperation(row) };
}

export interface Intent {
  holder: string | undefined;
  /** By the sender's clock, in epoch milliseconds. */
  startedAt: number;
  /** Epoch milliseconds. Undefined if the service set no limit. */
  acceptedUntil: number | undefined;
}

/** Attempts `a` of the operation `o` that were sent since the run `r` began. */
const sentSince = `a.operation_id = o.id and a.started_at >= r.started_at
  and (a.outcome is null or a.outcome <> 'not-sent')`;

/** Writes run inside the writer's transaction. */
export class AttemptTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, {
      start: sql`insert into attempt (operation_id, number, nonce, wire_hash, started_at, holder, accepted_until)
        values (?, (select coalesce(max(number), 0) + 1 from attempt where operation_id = +?), ?, ?, ?, ?, ?)`,
      left: sql<[string], Pick<AttemptTable, "holder" | "started_at" | "accepted_until">>`
        select holder, started_at, accepted_until from attempt where operation_id = +?
          order by number desc limit 1`,
      finish: sql`update attempt set finished_at = ?, outcome = ?, http_status = ?, code = ?, detail = ?
        where operation_id = +? and finished_at is null`,
      lastUncertain: sql<[string], { at: string | null }>`
        select max(coalesce(a.finished_at, a.started_at)) as at from operation o
          join attempt a on a.operation_id = o.id
          where o.subject = +? and (a.outcome = 'unknown' or a.outcome is null)`,
      of: sql<[string], AttemptRow>`
        select operation_id, number, nonce, started_at, finished_at, outcome, http_status, code, detail from attempt
          where operation_id = +? order by number`,
      // E9 orders belong to the pool, not to a run. Those since the run began are its own, because it holds the lock.
      writingCalls: sql<[string], { count: number }>`
        select (select count(*) from operation o, attempt a where o.run_id = r.id and ${sentSince})
            + (select count(*) from operation o, attempt a where o.customer_id = '' and o.created_at >= r.started_at
                and o.run_id is not r.id and ${sentSince}) as count
          from run r where r.id = +?`,
    });
  }

  start(id: string, begun: Partial<Omit<Intent, "startedAt">> & { nonce: string; wireHash: string; at: string }): void {
    const { nonce, wireHash, at, holder = null, acceptedUntil: until } = begun;
    const acceptedUntil = until === undefined ? null : toInstant(until);
    this.#statements.start.run(id, id, nonce, wireHash, at, holder, acceptedUntil);
  }

  finish(id: string, { outcome, httpStatus, code, detail }: AttemptEnd, at: string): void {
    this.#statements.finish.run(at, outcome, httpStatus ?? null, code ?? null, detail ?? null, id);
  }

  left(id: string): Intent {
    const { holder = null, started_at: at = "", accepted_until: until = null } = this.#statements.left.get(id) ?? {};
    return {
      holder: holder ?? undefined,
      startedAt: Date.parse(at),
      acceptedUntil: until === null ? undefined : Date.parse(until),
    };
  }

  /** End of the last attempt with unknown outcome on a subject, in epoch milliseconds; 0 without one. */
  lastUncertain(subject: string): number {
    const { at = null } = this.#statements.lastUncertain.get(subject) ?? {};
    return at === null ? 0 : Date.parse(at);
  }

  writingCalls(run: string): number {
    return this.#statements.writingCalls.get(run)?.count ?? 0;
  }

  of(id: string): AttemptFacts[] {
    return this.#statements.of.all(id).map(attempt);
  }
}

export interface AttemptEnd {
  outcome: "done" | "rejected" | "not-sent" | "unknown";
  httpStatus?: number | undefined;
  code?: string | undefined;
  detail?: string | undefined;
}

/** The outcome of an operation, its changes and its audit entry. Committed together. */
export interface Conclusion {
  state: OperationState;
  /** The state that the caller read. If it changed since, nothing is concluded. */
  expected?: { state: OperationState; attempts: number } | undefined;
  /** A rejected operation may be concluded again. */
  reopened?: true;
  attempt?: AttemptEnd | undefined;
  /** How long the call may still take effect, in milliseconds. */
  settleMs?: number | undefined;
  /** The end of an earlier settle time that still counts. */
  settleAfter?: string | undefined;
  verdict?: string | undefined;
  evidence?: Json | undefined;
  code?: string | undefined;
  message?: string | undefined;
  /** The redacted answer, kept if somebody must examine the outcome. */
  answer?: string | undefined;
  changes: readonly StateChange[];
  rejections?: NewRejections | undefined;
  audit: { kind: string; body: JsonObject };
}
