import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import { toInstant } from "../base/clock.ts";
import type { Ids, Randomness } from "../base/ids.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { formatKey } from "../crm/keys.ts";
import type { KnownChange } from "../plan/changes.ts";
import type { CustomerInput, Known } from "../plan/input.ts";
import type { Operation, PrivateMarker } from "../plan/operation.ts";
import { AuditLog, verifyChain } from "./audit.ts";
import type { AuditHead, AuditRow, AuditVerdict } from "./audit.ts";
import { headsPath, keepHead, readKeptHeads } from "./audit-heads.ts";
import { ChangeTables } from "./changes.ts";
import { appliedMigrations, openDatabase } from "./database.ts";
import type { Sqlite } from "./database.ts";
import { JournalTables } from "./journal.ts";
import type { Attempt, JournalRow, OperationContext, OperationState } from "./journal.ts";
import { takeRunLock } from "./lock.ts";
import type { RunLock } from "./lock.ts";
import { sealingKey } from "./private.ts";
import type { SealingKey } from "./private.ts";
import { RecordTables } from "./records.ts";
import type { TakeUpRecord, TakeUpRejection, TakeUpResult } from "./records.ts";
import { RunTables } from "./runs.ts";
import type { HoldRow, RunCounts, RunRow, RunState, SourceReadRow } from "./runs.ts";
import { WorkTables } from "./work.ts";
import type { RecordOutcome } from "./work.ts";
import { Writer } from "./writer.ts";

export interface LedgerOptions {
  path: string;
  clock: Clock;
  ids: Ids;
  random: Randomness;
  /** The secret that passwords are sealed with; without it records that hold passwords are refused. */
  sealSecret?: string | undefined;
  migrate?: boolean;
  groupSize?: number;
}

/** How an attempt ended, for the journal. */
export interface AttemptEnd {
  outcome: "done" | "rejected" | "not-sent" | "unknown";
  httpStatus?: number | undefined;
  code?: string | undefined;
  detail?: string | undefined;
}

/** What became of an operation: its new state, what is known by it, and its audit entry. Committed together. */
export interface Conclusion {
  state: OperationState;
  /** The operation as it was read before; when it has moved on since, nothing is concluded. */
  expected?: { state: OperationState; attempts: number } | undefined;
  attempt?: AttemptEnd | undefined;
  settleAfter?: string | undefined;
  verdict?: string | undefined;
  evidence?: Json | undefined;
  code?: string | undefined;
  message?: string | undefined;
  /** The redacted answer, kept where the outcome has to be looked into. */
  answer?: string | undefined;
  changes: readonly KnownChange[];
  audit: { kind: string; body: JsonObject };
}

/**
 * The ledger: what the CRM said, what we did, what the platform showed, and the proof of it. All business methods are async; writing ones
 * resolve after their commit at full durability.
 */
export class Ledger {
  readonly path: string;
  readonly #database: Sqlite;
  readonly #writer: Writer;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #random: Randomness;
  readonly #seal: SealingKey | undefined;
  readonly #records: RecordTables;
  readonly #work: WorkTables;
  readonly #journal: JournalTables;
  readonly #changes: ChangeTables;
  readonly #runs: RunTables;
  readonly #audit: AuditLog;
  #lock: RunLock | undefined;

  private constructor(database: Sqlite, options: LedgerOptions) {
    this.path = options.path;
    this.#database = database;
    this.#clock = options.clock;
    this.#ids = options.ids;
    this.#random = options.random;
    this.#seal = options.sealSecret === undefined ? undefined : sealingKey(options.sealSecret);
    const epoch = database.prepare<[], { value: string }>("select value from meta where key = 'epoch'");
    this.#writer = new Writer(database, {
      ...(options.groupSize === undefined ? {} : { groupSize: options.groupSize }),
      guard: () => {
        if (this.#lock === undefined) return;
        if (Number(epoch.get()?.value ?? "0") === this.#lock.epoch) return;
        throw new Problem({
          code: "run.lost-lock",
          message: "another run has taken the ledger over; this one writes nothing more",
          cure: "let the other run go on; `crm-sync status` shows it",
          exitCode: exitCodes.runActive,
        });
      },
    });
    this.#records = new RecordTables(database, {
      now: () => options.clock.now(),
      randomHex: () => options.random.hex(16),
      seal: this.#seal,
    });
    this.#work = new WorkTables(database, this.#seal);
    this.#journal = new JournalTables(database);
    this.#changes = new ChangeTables(database);
    this.#runs = new RunTables(database);
    this.#audit = new AuditLog(database);
  }

  /** Opens the ledger, or throws a Problem with exit code 65 (not a ledger, newer, damaged, not durable). */
  static async open(options: LedgerOptions): Promise<Ledger> {
    const database = await openDatabase(options.path, { migrate: options.migrate !== false });
    return new Ledger(database, options);
  }

  get canSeal(): boolean {
    return this.#seal !== undefined;
  }

  get broken(): Problem | undefined {
    return this.#writer.broken;
  }

  #now(): string {
    return toInstant(this.#clock.now());
  }

  // The run lock

  /** Takes the lock of the run, or throws a Problem with exit code 75 at once. */
  takeRunLock(): void {
    this.#lock = takeRunLock(this.path, this.#database);
  }

  releaseRunLock(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }

  // Taking records up

  async startRead(run: string | null, source: string, stream: Stream): Promise<number> {
    return await this.#writer.write(() => this.#runs.startRead(run, source, stream, this.#now()));
  }

  async finishRead(read: number, fields: Omit<Parameters<RunTables["finishRead"]>[1], "at">): Promise<void> {
    await this.#writer.write(() => this.#runs.finishRead(read, { ...fields, at: this.#now() }));
  }

  /** Which of these raw hashes are as they were, and which are quarantined still. The others have to be mapped. */
  async markSeen(
    source: string,
    stream: Stream,
    read: number,
    hashes: readonly string[],
  ): Promise<{ unchanged: Set<string>; quarantined: Set<string> }> {
    return await this.#writer.write(() => this.#records.markSeen(source, stream, read, hashes));
  }

  /** Takes a batch of mapped records and rejections up, in one transaction. */
  async takeUp(
    source: string,
    stream: Stream,
    read: number,
    run: string,
    items: readonly ({ record: TakeUpRecord } | { rejection: TakeUpRejection })[],
  ): Promise<TakeUpResult> {
    return await this.#writer.write(() => {
      const result: TakeUpResult = { changed: 0, unchanged: 0, quarantined: 0 };
      for (const item of items) {
        if ("rejection" in item) {
          this.#records.reject(source, stream, read, item.rejection);
          result.quarantined += 1;
        } else {
          result[this.#records.takeUp(source, stream, read, run, item.record)] += 1;
        }
      }
      return result;
    });
  }

  async closeWholeRead(
    source: string,
    stream: Stream,
    read: number,
    confirmations: number,
  ): Promise<{ absent: number; missed: number }> {
    return await this.#writer.write(() => this.#records.closeWholeRead(source, stream, read, confirmations));
  }

  async lastCompleteRead(source: string, stream: Stream, wholeOnly: boolean): Promise<SourceReadRow | undefined> {
    return this.#runs.lastCompleteRead(source, stream, wholeOnly);
  }

  async retryQuarantine(id: string): Promise<boolean> {
    return await this.#writer.write(() => this.#records.retryQuarantine(id));
  }

  // Work

  async dirtyCustomers(after: RecordKey | undefined, limit: number): Promise<RecordKey[]> {
    return this.#work.dirtyCustomers(after, limit);
  }

  async dirtyCount(): Promise<number> {
    return this.#work.dirtyCount();
  }

  async markPending(scope: Parameters<WorkTables["markPending"]>[0]): Promise<number> {
    return await this.#writer.write(() => this.#work.markPending(scope));
  }

  async load(customer: RecordKey): Promise<Omit<CustomerInput, "observed">> {
    return this.#work.load(customer);
  }

  async known(customer: RecordKey): Promise<Known> {
    return this.#work.known(customer);
  }

  /** The value behind a marker, or undefined where it was erased, wiped, or does not fit its commitment. */
  privateValue(marker: PrivateMarker): Json | undefined {
    return this.#work.privateValue(marker);
  }

  async recordOutcomes(run: string, outcomes: readonly RecordOutcome[]): Promise<void> {
    if (outcomes.length === 0) return;
    await this.#writer.write(() => this.#work.recordOutcomes(run, outcomes, this.#now()));
  }

  /** Defers records that are pending and have no outcome in this run yet: those of one customer, or all that this run changed. */
  async deferPending(run: string, customer: RecordKey | undefined, code: string, reason: string): Promise<number> {
    return await this.#writer.write(() => this.#work.deferPending(run, customer, code, reason, this.#now()));
  }

  async customerOfOrder(order: RecordKey): Promise<RecordKey | undefined> {
    return this.#work.customerOfOrder(order);
  }

  async keepPending(records: readonly { stream: Stream; key: RecordKey }[]): Promise<void> {
    if (records.length === 0) return;
    await this.#writer.write(() => this.#work.keepPending(records));
  }

  async fixNumbers(
    order: RecordKey,
    wanted: Parameters<WorkTables["fixNumbers"]>[1],
  ): Promise<{ lacking: number; clashing: string[] }> {
    return await this.#writer.write(() => this.#work.fixNumbers(order, wanted, this.#now()));
  }

  /** The order that was placed under this channel order number. */
  async channelOrderOwner(channelOrderId: string): Promise<RecordKey | undefined> {
    return this.#work.channelOrderOwner(channelOrderId);
  }

  /** The customer that an enterprise is linked to. */
  async customerOfEnterprise(enterpriseGlobalId: string): Promise<RecordKey | undefined> {
    return this.#work.customerOfEnterprise(enterpriseGlobalId);
  }

  async poolSize(): Promise<number> {
    return this.#work.poolSize();
  }

  // The journal

  /**
   * Records the intent to send: the operation (new, or planned before), one attempt with nonce and payload hash, state `sending`. Secrets
   * that the payload needs for the first time are sealed in the same transaction. Resolves after the commit; only then may a byte leave.
   */
  async intend(entry: {
    operation: Operation;
    id?: string | undefined;
    runId: string | null;
    wireHash: string;
    nonce: string;
    context: OperationContext;
    sealed?: { ref: string; version: number; salt: string; values: JsonObject }[] | undefined;
  }): Promise<string> {
    const id = entry.id ?? this.#ids.next("op");
    await this.#writer.write(() => {
      const at = this.#now();
      if (entry.id === undefined) {
        this.#journal.insert({ ...entry, id, state: "sending", at });
      } else {
        this.#journal.markSending(id, { wireHash: entry.wireHash, context: entry.context, runId: entry.runId, at });
      }
      this.#journal.startAttempt(id, { nonce: entry.nonce, wireHash: entry.wireHash, at });
      for (const item of entry.sealed ?? []) this.#sealValues(item, at);
    });
    return id;
  }

  #sealValues(item: { ref: string; version: number; salt: string; values: JsonObject }, at: string): void {
    if (this.#seal === undefined) throw new Error("secrets cannot be stored without a sealing key");
    this.#database
      .prepare(
        "insert into private_value (ref, version, salt, body, sealed, created_at) values (?, ?, ?, null, ?, ?) on conflict do nothing",
      )
      .run(item.ref, item.version, item.salt, this.#seal.seal(JSON.stringify(item.values)), at);
  }

  /** Records what became of an operation: outcome, ledger changes and audit entry in one transaction. */
  async conclude(id: string, conclusion: Conclusion): Promise<void> {
    await this.#writer.write(() => {
      const at = this.#now();
      const row = this.#journal.byId(id);
      if (row === undefined) throw new Error(`operation ${id} is not in the journal`);
      if (row.state === "done" || row.state === "rejected" || row.state === "dropped") {
        throw new Problem({
          code: "journal.already-concluded",
          message: `operation ${id} (${row.operation.endpoint}, ${row.operation.subject}) is ${row.state} already`,
          cure: "nothing needs to be done; `crm-sync explain` shows what happened",
        });
      }
      const { expected } = conclusion;
      if (expected !== undefined && (row.state !== expected.state || row.attempts !== expected.attempts)) {
        throw new Problem({
          code: "journal.moved-on",
          message: `operation ${id} (${row.operation.endpoint}, ${row.operation.subject}) has moved on: it is ${row.state} after ${row.attempts} attempts`,
          cure: "look at it again with `crm-sync settle list`; nothing was changed",
        });
      }
      this.#journal.finish(id, {
        state: conclusion.state,
        at,
        ...(conclusion.attempt === undefined ? {} : { attempt: conclusion.attempt }),
        settleAfter: conclusion.settleAfter,
        verdict: conclusion.verdict,
        evidence: conclusion.evidence,
        code: conclusion.code,
        message: conclusion.message,
        answer: conclusion.answer,
      });
      for (const change of conclusion.changes) this.#changes.apply(change, at);
      this.#audit.append({
        at,
        kind: conclusion.audit.kind,
        subject: row.operation.subject,
        body: {
          operation: id,
          endpoint: row.operation.endpoint,
          kind: row.operation.kind,
          customer: formatKey(row.operation.customer),
          run: row.runId,
          state: conclusion.state,
          intent: row.operation.hash,
          wire: row.wireHash,
          code: conclusion.code,
          verdict: conclusion.verdict,
          ...conclusion.audit.body,
        },
      });
    });
  }

  /** Keeps what a reading showed about an operation that is not settled by it. */
  async noteEvidence(id: string, evidence: Json): Promise<void> {
    await this.#writer.write(() => this.#journal.noteEvidence(id, evidence));
  }

  async confirmCorrelation(correlation: string): Promise<void> {
    if (await this.correlationConfirmed(correlation)) return;
    await this.#writer.write(() => {
      this.#database
        .prepare("insert into meta (key, value) values (?, ?) on conflict do nothing")
        .run(`correlation ${correlation}`, this.#now());
    });
  }

  /** Whether E3 has shown an enterprise that an accepted E2 of this ledger made, under the same templates (A8). */
  async correlationConfirmed(correlation: string): Promise<boolean> {
    return this.#database.prepare("select 1 from meta where key = ?").get(`correlation ${correlation}`) !== undefined;
  }

  /** Ledger changes that come from reading, not from an operation; with an audit entry where something is adopted. */
  async learn(
    customer: RecordKey,
    changes: readonly KnownChange[],
    audit?: { kind: string; subject: string; body: JsonObject },
  ): Promise<void> {
    if (changes.length === 0 && audit === undefined) return;
    await this.#writer.write(() => {
      const at = this.#now();
      for (const change of changes) this.#changes.apply(change, at);
      if (audit !== undefined) {
        this.#audit.append({
          at,
          kind: audit.kind,
          subject: audit.subject,
          body: { customer: formatKey(customer), ...audit.body },
        });
      }
    });
  }

  async operation(id: string): Promise<JournalRow | undefined> {
    return this.#journal.byId(id);
  }

  async attempts(id: string): Promise<Attempt[]> {
    return this.#journal.attempts(id);
  }

  /** All operations that are sending, unknown or parked, oldest first. */
  async openOperations(): Promise<JournalRow[]> {
    return this.#journal.open();
  }

  async openOperationsOf(customer: RecordKey): Promise<JournalRow[]> {
    return this.#journal.openOf(customer);
  }

  async plannedOperationsOf(customer: RecordKey): Promise<JournalRow[]> {
    return this.#journal.plannedOf(customer);
  }

  /** Writes operations that have not begun: planned (to be released when limits are judged) or held. */
  async storePlanned(entry: {
    runId: string | null;
    planId?: string | null;
    holdId?: string | null;
    state: "planned" | "held";
    operations: readonly Operation[];
  }): Promise<string[]> {
    return await this.#writer.write(() => {
      const at = this.#now();
      return entry.operations.map((operation, position) => {
        const id = this.#ids.next("op");
        this.#journal.insert({
          id,
          operation,
          state: entry.state,
          runId: entry.runId,
          planId: entry.planId ?? null,
          holdId: entry.holdId ?? null,
          position,
          at,
        });
        return id;
      });
    });
  }

  /** Gives up operations that have not begun: one of them by its hash, or all of the customer, those that are held included or not. */
  async dropPlanned(customer: RecordKey, why: string, which: { hash?: string; held: boolean }): Promise<number> {
    return await this.#writer.write(() => this.#journal.drop(customer, this.#now(), why, which));
  }

  /** Puts planned operations of a customer under a hold: those that take something away, or all that are left. */
  async holdPlanned(customer: RecordKey, hold: string, which: { revokesOnly: boolean }): Promise<number> {
    return await this.#writer.write(() => this.#journal.hold(customer, hold, this.#now(), which.revokesOnly));
  }

  // Holds

  async openHold(hold: Omit<HoldRow, "id" | "state" | "createdAt" | "decidedAt" | "reason">): Promise<HoldRow> {
    return await this.#writer.write(() => {
      const current = this.#runs.holdOf(hold.customer);
      const at = this.#now();
      if (current !== undefined) {
        if (current.setHash === hold.setHash && current.state === "open") return current;
        this.#runs.setHold(current.id, "lapsed", at, null);
      }
      const row: HoldRow = {
        ...hold,
        id: `h-${this.#random.hex(4)}`,
        state: "open",
        createdAt: at,
        decidedAt: null,
        reason: null,
      };
      this.#runs.openHold(row);
      this.#audit.append({
        at,
        kind: "held",
        subject: `customer:${formatKey(hold.customer)}`,
        body: {
          hold: row.id,
          scope: hold.scope,
          count: hold.count,
          allowed: hold.allowed,
          total: hold.total,
          set: hold.setHash,
        },
      });
      return row;
    });
  }

  async holdOf(customer: RecordKey): Promise<HoldRow | undefined> {
    return this.#runs.holdOf(customer);
  }

  async openHolds(): Promise<HoldRow[]> {
    return this.#runs.openHolds();
  }

  /** A person's decision on a hold, or its use by the run that carries it out. */
  async decideHold(id: string, state: "approved" | "rejected" | "used" | "lapsed", reason: string): Promise<HoldRow> {
    return await this.#writer.write(() => {
      const hold = this.#runs.hold(id);
      if (hold === undefined) {
        throw new Problem({
          code: "hold.unknown",
          message: `there is no hold ${id}`,
          cure: "`crm-sync status` lists the holds",
          exitCode: exitCodes.usage,
        });
      }
      const from = state === "used" ? ["approved"] : state === "lapsed" ? ["open", "approved"] : ["open"];
      if (!from.includes(hold.state)) {
        throw new Problem({
          code: "hold.decided",
          message: `hold ${id} is ${hold.state} already`,
          cure: "`crm-sync status` lists the holds that wait for a person",
          exitCode: exitCodes.usage,
        });
      }
      const at = this.#now();
      this.#runs.setHold(id, state, at, reason);
      if (state === "approved" || state === "rejected") this.#work.markPending({ customer: hold.customer });
      this.#audit.append({
        at,
        kind: `hold-${state}`,
        subject: `customer:${formatKey(hold.customer)}`,
        body: { hold: id, reason, set: hold.setHash },
      });
      return { ...hold, state };
    });
  }

  /** Whether a person rejected exactly this set of revokes of a customer. */
  async holdRejected(customer: RecordKey, setHash: string): Promise<boolean> {
    return this.#runs.holdRejected(customer, setHash);
  }

  /** Live assignments of a customer, and of all customers: what a share of a deletion limit is of. */
  async liveAssignments(customer?: RecordKey): Promise<number> {
    return this.#runs.liveAssignments(customer);
  }

  /** Until when a different value of a state-setting call must wait, because one with an unknown outcome may still land. */
  async quietUntil(subject: string, settleMs: number): Promise<number> {
    return this.#journal.lastUncertain(subject) + settleMs;
  }

  // Runs, slots, notices

  async startRun(run: {
    job: string;
    kind: string;
    trigger: string;
    scope: string | null;
    header: JsonObject;
  }): Promise<string> {
    const id = this.#ids.next("run");
    await this.#writer.write(() => this.#runs.start({ ...run, id, at: this.#now() }));
    return id;
  }

  async finishRun(
    id: string,
    fields: { state: RunState; exitCode: number; balance: Json; summary: Json },
  ): Promise<AuditHead | undefined> {
    const head = await this.#writer.write(() => {
      const at = this.#now();
      this.#runs.finish(id, { ...fields, at });
      return this.#audit.append({
        at,
        kind: "run",
        subject: `run:${id}`,
        body: { state: fields.state, exit: fields.exitCode, balance: fields.balance },
      });
    });
    keepHead(this.path, head, this.#now());
    return head;
  }

  async cutOffRuns(): Promise<RunRow[]> {
    return this.#runs.cutOff();
  }

  async run(id: string): Promise<RunRow | undefined> {
    return this.#runs.byId(id);
  }

  async lastRuns(limit: number): Promise<RunRow[]> {
    return this.#runs.last(limit);
  }

  /** The last run of each job. */
  async lastRunByJob(): Promise<Map<string, RunRow>> {
    return this.#runs.lastByJob();
  }

  async isStaffLinked(staff: RecordKey): Promise<boolean> {
    return this.#runs.isStaffLinked(staff);
  }

  /** The migrations this ledger has had. */
  migrations(): string[] {
    return appliedMigrations(this.#database);
  }

  async readsOf(run: string): Promise<SourceReadRow[]> {
    return this.#runs.reads(run);
  }

  /** Streams whose last read failed, was incomplete or shrank. */
  async troubledReads(): Promise<SourceReadRow[]> {
    return this.#runs.troubledReads();
  }

  /** Writing calls that left during a run, by the attempts of the journal. */
  async writingCallsOf(run: string): Promise<number> {
    return this.#runs.writingCalls(run);
  }

  async openQuarantineCount(): Promise<number> {
    return this.#runs.openQuarantine();
  }

  async hasRecord(stream: Stream, key: RecordKey): Promise<boolean> {
    return this.#runs.hasRecord(stream, key);
  }

  async countsOf(run: string): Promise<RunCounts> {
    return this.#runs.counts(run);
  }

  /** How many operations of a run, and of those it carried in, are in each state. */
  async operationStates(run: string, carriedIn: readonly string[]): Promise<Record<string, number>> {
    return this.#runs.operationStates(run, carriedIn);
  }

  /** Customers with a link, in key order: those that can be verified. */
  async linkedCustomers(after: RecordKey | undefined, limit: number): Promise<RecordKey[]> {
    return this.#work.linkedCustomers(after, limit);
  }

  /** Asset numbers fixed to the placed orders of a customer. */
  async placedNumbers(customer: RecordKey): Promise<string[]> {
    const known = this.#work.known(customer);
    return known.numbers
      .filter((item) => known.placedOrders.has(formatKey({ namespace: item.namespace, id: item.orderId })))
      .map((item) => item.number);
  }

  /** What this ledger is called: fixed when it was made, and named in plan files. */
  async identity(): Promise<string> {
    const find = this.#database.prepare<[], { value: string }>("select value from meta where key = 'ledger'");
    const known = find.get();
    if (known !== undefined) return known.value;
    const id = this.#ids.next("ledger");
    await this.#writer.write(() =>
      this.#database.prepare("insert into meta (key, value) values ('ledger', ?) on conflict do nothing").run(id),
    );
    return find.get()?.value ?? id;
  }

  /** Records that a slot fired. False when it, or a later one, has fired already: slots only move forward. */
  async claimSlot(job: string, slot: string): Promise<boolean> {
    return await this.#writer.write(() => this.#runs.claimSlot(job, slot, this.#now()));
  }

  async lastSlot(job: string): Promise<string | undefined> {
    return this.#runs.lastSlot(job);
  }

  async notices(): Promise<Map<string, { since: string; body: Json; sent: boolean }>> {
    return this.#runs.notices();
  }

  async setNotice(key: string, body: Json): Promise<void> {
    await this.#writer.write(() => this.#runs.setNotice(key, body, this.#now()));
  }

  async noticeSent(key: string): Promise<void> {
    await this.#writer.write(() => this.#runs.noticeSent(key, this.#now()));
  }

  async dropNotice(key: string): Promise<void> {
    await this.#writer.write(() => this.#runs.dropNotice(key));
  }

  // Audit

  /** Appends an entry that stands for itself, such as a person's decision. */
  async audit(entry: { kind: string; subject: string; body: JsonObject }): Promise<AuditHead> {
    return await this.#writer.write(() => this.#audit.append({ ...entry, at: this.#now() }));
  }

  auditHead(): AuditHead | undefined {
    return this.#audit.head();
  }

  auditRows(): IterableIterator<AuditRow> {
    return this.#database
      .prepare<[], AuditRow>(
        "select sequence, format, at, kind, subject, body, previous, hash from audit order by sequence",
      )
      .iterate();
  }

  verifyAudit(keptHeads?: readonly AuditHead[]): AuditVerdict {
    return verifyChain(this.auditRows(), keptHeads ?? readKeptHeads(headsPath(this.path)));
  }

  /** The newest secret sealed under a name that is not wiped yet, and the version that the next one takes. */
  async latestSealed(ref: string): Promise<{ values: JsonObject | undefined; version: number; nextVersion: number }> {
    const row = this.#database
      .prepare<[string], { version: number; sealed: string | null }>(
        "select version, sealed from private_value where ref = ? order by version desc limit 1",
      )
      .get(ref);
    if (row === undefined) return { values: undefined, version: 0, nextVersion: 1 };
    const usable = row.sealed !== null && this.#seal !== undefined;
    const values =
      usable && row.sealed !== null ? (JSON.parse(this.#seal?.open(row.sealed) ?? "{}") as JsonObject) : undefined;
    return { values, version: row.version, nextVersion: row.version + 1 };
  }

  async wipeSealed(ref: string, version: number): Promise<void> {
    await this.#writer.write(() => this.#changes.apply({ type: "secrets-wiped", ref, version }, this.#now()));
  }

  close(): void {
    this.#writer.close();
    this.releaseRunLock();
    if (!this.#database.open) return;
    this.#database.close();
  }
}
