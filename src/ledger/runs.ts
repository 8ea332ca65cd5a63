import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { Sqlite } from "./database.ts";

export type RunState = "running" | "done" | "stopped" | "failed" | "cut-off";

export interface RunRow {
  id: string;
  job: string;
  kind: string;
  trigger: string;
  scope: string | null;
  startedAt: string;
  finishedAt: string | null;
  state: RunState;
  exitCode: number | null;
  balance: Json;
  summary: Json;
  header: JsonObject;
}

interface RunTableRow {
  id: string;
  job: string;
  kind: string;
  trigger: string;
  scope: string | null;
  started_at: string;
  finished_at: string | null;
  state: RunState;
  exit_code: number | null;
  balance: string | null;
  summary: string | null;
  header: string;
}

export interface HoldRow {
  id: string;
  scope: "enterprise" | "run";
  customer: RecordKey;
  count: number;
  allowed: number;
  total: number;
  setHash: string;
  state: "open" | "approved" | "rejected" | "used" | "lapsed";
  explanation: string;
  createdAt: string;
  decidedAt: string | null;
  reason: string | null;
}

interface HoldTableRow {
  id: string;
  scope: "enterprise" | "run";
  customer_namespace: string;
  customer_id: string;
  count: number;
  allowed: number;
  total: number;
  set_hash: string;
  state: HoldRow["state"];
  explanation: string;
  created_at: string;
  decided_at: string | null;
  reason: string | null;
}

export interface SourceReadRow {
  number: number;
  source: string;
  stream: Stream;
  started_at: string;
  finished_at: string | null;
  complete: number;
  whole: number;
  rows: number;
  bad: number;
  cursor: string | null;
  problem: string | null;
}

/** Counts that tie records and operations of one run together. */
export interface RunCounts {
  records: {
    stream: Stream;
    planned: number;
    deferred: number;
    quarantinedLate: number;
    takenUpAgain: number;
    changed: number;
    lost: number;
  }[];
  operations: Record<string, number>;
}

/** Runs, source reads, holds, slots and notices. */
export class RunTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  start(run: {
    id: string;
    job: string;
    kind: string;
    trigger: string;
    scope: string | null;
    at: string;
    header: JsonObject;
  }): void {
    this.#statements.start.run(run.id, run.job, run.kind, run.trigger, run.scope, run.at, JSON.stringify(run.header));
  }

  finish(id: string, fields: { state: RunState; exitCode: number; balance: Json; summary: Json; at: string }): void {
    this.#statements.finish.run(
      fields.state,
      fields.exitCode,
      JSON.stringify(fields.balance),
      JSON.stringify(fields.summary),
      fields.at,
      id,
    );
  }

  /** Runs of a process that died: still `running` although nobody holds the lock. */
  cutOff(): RunRow[] {
    return this.#statements.running.all().map(runFromRow);
  }

  byId(id: string): RunRow | undefined {
    const row = this.#statements.byId.get(id);
    return row === undefined ? undefined : runFromRow(row);
  }

  last(limit: number): RunRow[] {
    return this.#statements.last.all(limit).map(runFromRow);
  }

  lastByJob(): Map<string, RunRow> {
    return new Map(this.#statements.lastByJob.all().map((row) => [row.job, runFromRow(row)]));
  }

  isStaffLinked(staff: RecordKey): boolean {
    return this.#statements.staffLinked.get(staff.namespace, staff.id) !== undefined;
  }

  startRead(run: string | null, source: string, stream: Stream, at: string): number {
    return Number(this.#statements.startRead.run(run, source, stream, at).lastInsertRowid);
  }

  finishRead(
    number: number,
    fields: {
      complete: boolean;
      whole: boolean;
      rows: number;
      bad: number;
      cursor?: string | undefined;
      problem?: string | undefined;
      at: string;
    },
  ): void {
    this.#statements.finishRead.run(
      fields.at,
      fields.complete ? 1 : 0,
      fields.whole ? 1 : 0,
      fields.rows,
      fields.bad,
      fields.cursor ?? null,
      fields.problem ?? null,
      number,
    );
  }

  lastCompleteRead(source: string, stream: Stream, wholeOnly: boolean): SourceReadRow | undefined {
    return this.#statements.lastComplete.get(source, stream, wholeOnly ? 1 : 0);
  }

  reads(run: string): SourceReadRow[] {
    return this.#statements.reads.all(run);
  }

  troubledReads(): SourceReadRow[] {
    return this.#statements.troubledReads.all();
  }

  writingCalls(run: string): number {
    return this.#statements.writingCalls.get(run)?.count ?? 0;
  }

  openQuarantine(): number {
    return this.#statements.openQuarantine.get()?.count ?? 0;
  }

  hasRecord(stream: Stream, key: RecordKey): boolean {
    return this.#statements.hasRecord.get(stream, key.namespace, key.id) !== undefined;
  }

  counts(run: string): RunCounts {
    const operations: Record<string, number> = {};
    for (const row of this.#statements.operationCounts.all(run)) operations[row.state] = row.count;
    return {
      records: this.#statements.recordCounts.all({ run }).map((row) => ({
        stream: row.stream,
        planned: row.planned,
        deferred: row.deferred,
        quarantinedLate: row.quarantined,
        takenUpAgain: row.again,
        changed: row.changed,
        lost: row.lost,
      })),
      operations,
    };
  }

  operationStates(run: string, carriedIn: readonly string[]): Record<string, number> {
    const states: Record<string, number> = {};
    for (const row of this.#statements.operationStates.all(run, JSON.stringify(carriedIn)))
      states[row.state] = row.count;
    return states;
  }

  openHold(hold: Omit<HoldRow, "state" | "decidedAt" | "reason">): void {
    this.#statements.openHold.run(
      hold.id,
      hold.scope,
      hold.customer.namespace,
      hold.customer.id,
      hold.count,
      hold.allowed,
      hold.total,
      hold.setHash,
      hold.explanation,
      hold.createdAt,
    );
  }

  holdOf(customer: RecordKey): HoldRow | undefined {
    const row = this.#statements.holdOf.get(customer.namespace, customer.id);
    return row === undefined ? undefined : holdFromRow(row);
  }

  hold(id: string): HoldRow | undefined {
    const row = this.#statements.hold.get(id);
    return row === undefined ? undefined : holdFromRow(row);
  }

  openHolds(): HoldRow[] {
    return this.#statements.openHolds.all().map(holdFromRow);
  }

  setHold(id: string, state: HoldRow["state"], at: string, reason: string | null): void {
    this.#statements.setHold.run(state, at, reason, id);
  }

  holdRejected(customer: RecordKey, setHash: string): boolean {
    return this.#statements.holdRejected.get(customer.namespace, customer.id, setHash) !== undefined;
  }

  liveAssignments(customer: RecordKey | undefined): number {
    const row =
      customer === undefined
        ? this.#statements.liveAssignments.get()
        : this.#statements.liveAssignmentsOf.get(customer.namespace, customer.id);
    return row?.count ?? 0;
  }

  claimSlot(job: string, slot: string, at: string): boolean {
    return this.#statements.claimSlot.run(job, slot, at).changes === 1;
  }

  lastSlot(job: string): string | undefined {
    return this.#statements.lastSlot.get(job)?.last_slot;
  }

  notices(): Map<string, { since: string; body: Json; sent: boolean }> {
    return new Map(
      this.#statements.notices
        .all()
        .map((row) => [row.key, { since: row.since, body: parse(row.body), sent: row.sent_at !== null }]),
    );
  }

  setNotice(key: string, body: Json, at: string): void {
    this.#statements.setNotice.run(key, at, JSON.stringify(body));
  }

  noticeSent(key: string, at: string): void {
    this.#statements.noticeSent.run(at, key);
  }

  dropNotice(key: string): void {
    this.#statements.dropNotice.run(key);
  }
}

function parse(text: string): Json {
  return JSON.parse(text) as Json;
}

function runFromRow(row: RunTableRow): RunRow {
  return {
    id: row.id,
    job: row.job,
    kind: row.kind,
    trigger: row.trigger,
    scope: row.scope,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    state: row.state,
    exitCode: row.exit_code,
    balance: row.balance === null ? null : parse(row.balance),
    summary: row.summary === null ? null : parse(row.summary),
    header: JSON.parse(row.header) as JsonObject,
  };
}

function holdFromRow(row: HoldTableRow): HoldRow {
  return {
    id: row.id,
    scope: row.scope,
    customer: { namespace: row.customer_namespace, id: row.customer_id },
    count: row.count,
    allowed: row.allowed,
    total: row.total,
    setHash: row.set_hash,
    state: row.state,
    explanation: row.explanation,
    createdAt: row.created_at,
    decidedAt: row.decided_at,
    reason: row.reason,
  };
}

const runColumns = "id, job, kind, trigger, scope, started_at, finished_at, state, exit_code, balance, summary, header";
const holdColumns =
  "id, scope, customer_namespace, customer_id, count, allowed, total, set_hash, state, explanation, created_at, decided_at, reason";

function prepareStatements(database: Sqlite) {
  return {
    start: database.prepare(
      "insert into run (id, job, kind, trigger, scope, started_at, state, header) values (?, ?, ?, ?, ?, ?, 'running', ?)",
    ),
    finish: database.prepare(
      "update run set state = ?, exit_code = ?, balance = ?, summary = ?, finished_at = ? where id = ?",
    ),
    running: database.prepare<[], RunTableRow>(
      `select ${runColumns} from run where state = 'running' order by started_at`,
    ),
    byId: database.prepare<[string], RunTableRow>(`select ${runColumns} from run where id = ?`),
    last: database.prepare<[number], RunTableRow>(
      `select ${runColumns} from run order by started_at desc, id desc limit ?`,
    ),
    lastByJob: database.prepare<[], RunTableRow>(
      `select ${runColumns} from run where id in (select max(id) from run group by job) order by job`,
    ),
    staffLinked: database.prepare<[string, string], { staff_id: string }>(
      "select staff_id from staff_link where namespace = ? and staff_id = ? and to_at is null",
    ),
    startRead: database.prepare("insert into source_read (run_id, source, stream, started_at) values (?, ?, ?, ?)"),
    finishRead: database.prepare(
      `update source_read set finished_at = ?, complete = ?, whole = ?, rows = ?, bad = ?, cursor = ?, problem = ? where number = ?`,
    ),
    lastComplete: database.prepare<[string, string, number], SourceReadRow>(
      `select number, source, stream, started_at, finished_at, complete, whole, rows, bad, cursor, problem from source_read
       where source = ? and stream = ? and complete = 1 and whole >= ? order by number desc limit 1`,
    ),
    reads: database.prepare<[string], SourceReadRow>(
      `select number, source, stream, started_at, finished_at, complete, whole, rows, bad, cursor, problem from source_read
       where run_id = ? order by number`,
    ),
    troubledReads: database.prepare<[], SourceReadRow>(
      `select number, source, stream, started_at, finished_at, complete, whole, rows, bad, cursor, problem from source_read
       where number in (select max(number) from source_read where finished_at is not null group by source, stream) and complete = 0
       order by source, stream`,
    ),
    writingCalls: database.prepare<[string], { count: number }>(
      `select count(*) as count from attempt where started_at >= (select started_at from run where id = ?)
       and (outcome is null or outcome <> 'not-sent')`,
    ),
    openQuarantine: database.prepare<[], { count: number }>("select count(*) as count from quarantine where state <> 'resolved'"),
    hasRecord: database.prepare<[string, string, string], { id: string }>(
      "select id from record where stream = ? and namespace = ? and id = ?",
    ),
    operationStates: database.prepare<[string, string], { state: string; count: number }>(
      `select state, count(*) as count from (
         select id, state from operation where run_id = ? union select id, state from operation where id in (select value from json_each(?)))
       group by state`,
    ),
    operationCounts: database.prepare<[string], { state: string; count: number }>(
      "select state, count(*) as count from operation where run_id = ? group by state",
    ),
    recordCounts: database.prepare<
      [{ run: string }],
      {
        stream: Stream;
        planned: number;
        deferred: number;
        quarantined: number;
        again: number;
        changed: number;
        lost: number;
      }
    >(
      `select stream,
         sum(outcome_run = @run and outcome = 'planned') as planned,
         sum(outcome_run = @run and outcome = 'deferred') as deferred,
         sum(changed_run = @run and state = 'quarantined' and outcome_run is not @run) as quarantined,
         sum(outcome_run = @run and changed_run is not @run) as again,
         sum(changed_run = @run) as changed,
         sum(changed_run = @run and state <> 'quarantined' and outcome_run is not @run) as lost
       from record where changed_run = @run or outcome_run = @run group by stream`,
    ),
    openHold: database.prepare(
      `insert into hold (id, scope, customer_namespace, customer_id, count, allowed, total, set_hash, explanation, created_at, state)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open')`,
    ),
    holdOf: database.prepare<[string, string], HoldTableRow>(
      `select ${holdColumns} from hold where customer_namespace = ? and customer_id = ? and state in ('open', 'approved')`,
    ),
    hold: database.prepare<[string], HoldTableRow>(`select ${holdColumns} from hold where id = ?`),
    openHolds: database.prepare<[], HoldTableRow>(
      `select ${holdColumns} from hold where state in ('open', 'approved') order by created_at, id`,
    ),
    setHold: database.prepare("update hold set state = ?, decided_at = ?, reason = coalesce(?, reason) where id = ?"),
    holdRejected: database.prepare<[string, string, string], { id: string }>(
      "select id from hold where customer_namespace = ? and customer_id = ? and set_hash = ? and state = 'rejected' limit 1",
    ),
    liveAssignments: database.prepare<[], { count: number }>(
      "select count(*) as count from assignment where to_at is null",
    ),
    liveAssignmentsOf: database.prepare<[string, string], { count: number }>(
      "select count(*) as count from assignment where to_at is null and customer_namespace = ? and customer_id = ?",
    ),
    claimSlot: database.prepare(
      `insert into slot (job, last_slot, fired_at) values (?, ?, ?)
       on conflict (job) do update set last_slot = excluded.last_slot, fired_at = excluded.fired_at where excluded.last_slot > slot.last_slot`,
    ),
    lastSlot: database.prepare<[string], { last_slot: string }>("select last_slot from slot where job = ?"),
    notices: database.prepare<[], { key: string; since: string; body: string; sent_at: string | null }>(
      "select key, since, body, sent_at from notice order by key",
    ),
    setNotice: database.prepare(
      `insert into notice (key, since, body) values (?, ?, ?)
       on conflict (key) do update set body = excluded.body`,
    ),
    noticeSent: database.prepare("update notice set sent_at = ? where key = ?"),
    dropNotice: database.prepare("delete from notice where key = ?"),
  };
}
