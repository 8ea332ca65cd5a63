import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Operation } from "../../engine/model/operation.ts";
import type { RecordReference } from "../../engine/model/shape.ts";
import type { OperationName } from "../../engine/model/resource.ts";
import type { TakenThing } from "../../engine/model/taking.ts";
import type { StateRows, ChangeTables } from "../state/registry.ts";
import type { HoldRows, StandingHold, Whose } from "../decisions/hold-rows.ts";
import { saidLinks } from "../state/said-links.ts";
import type { LedgerContext } from "../context.ts";
import { contradictionIn } from "../database/damage.ts";
import type { PerTransaction } from "../database/per-transaction.ts";
import type { Sequence } from "../database/sequence.ts";
import type { Intent, Conclusion } from "./attempt-tables.ts";
import { AppliedPlans, RunOperations, takenOf } from "./run-operations.ts";
import { ClockNoteTables } from "./clock-notes.ts";
import { JournalTables, refusedYetShown, type JournalRow, type PlannedRow } from "./journal-tables.ts";
import type { AttemptFacts } from "../../report/facts.ts";
import type { OperationState } from "./tables.ts";
import type { Pause } from "../pause.ts";
import type { PrivateValues, SealedValues } from "../private/private-values.ts";
import type { RejectionTables } from "./rejections.ts";
import type { WorkTables } from "../records/work.ts";
import { UniquenessChecks } from "./uniqueness.ts";

/** What we did: intents, attempts, outcomes, what is planned or open, and what services refused. */
export class Journal {
  readonly #context: LedgerContext;
  readonly #journal: JournalTables;
  readonly #claims: UniquenessChecks;
  readonly #clockNotes: ClockNoteTables;
  readonly #rejections: RejectionTables;
  /** Whether the ledger has any rejection. */
  readonly #hasRejections: PerTransaction<boolean>;
  readonly #work: WorkTables;
  readonly #changes: ChangeTables;
  readonly #private: PrivateValues;
  readonly #holds: HoldRows;
  readonly #plans: AppliedPlans;
  readonly #ofRuns: RunOperations;

  constructor(
    context: LedgerContext,
    tables: {
      rows: StateRows;
      changes: ChangeTables;
      rejections: RejectionTables;
      private: PrivateValues;
      holds: HoldRows;
      pause: Pause;
      work: WorkTables;
    },
  ) {
    this.#context = context;
    this.#journal = new JournalTables(context.database);
    this.#claims = new UniquenessChecks(context.database, tables);
    this.#clockNotes = new ClockNoteTables(context.database);
    this.#rejections = tables.rejections;
    this.#hasRejections = context.perTransaction();
    this.#work = tables.work;
    this.#changes = tables.changes;
    this.#private = tables.private;
    this.#holds = tables.holds;
    this.#plans = new AppliedPlans(context.database);
    this.#ofRuns = new RunOperations(context.database);
  }

  /**
   * Records the intent to send: the operation (new, or planned before), one attempt with nonce and payload hash, state
   * `sending`. Secrets that the payload needs for the first time are sealed in the same transaction. Resolves after the
   * commit; only then may a byte leave.
   */
  intend(entry: {
    operation: Operation;
    id?: string | undefined;
    runId: string | null;
    wireHash: string;
    nonce: string;
    acceptedUntil?: Intent["acceptedUntil"];
    context: JsonObject;
    sealed?: readonly SealedValues[] | undefined;
    /** The saved plan that it is applied from: each operation of one is applied by one run. */
    plan?: string | undefined;
    /** It takes a run back. */
    ofUndo?: boolean | undefined;
    /** What a person approved of it. */
    hold?: Pick<StandingHold, "id"> | undefined;
    /** What it counts on that is not committed yet: it is refused where that failed. */
    after?: Sequence | undefined;
  }): Promise<string> {
    const id = entry.id ?? this.#context.ids.next("op");
    const work = (): string => {
      const at = this.#context.now;
      this.#claims.require(entry.operation, entry.id);
      if (entry.plan !== undefined) this.#plans.apply(entry.plan, entry.operation.hash, entry.runId ?? "", at);
      this.#holds.attach(entry.hold, id);
      const state = entry.id === undefined ? "planned" : this.#journal.standing(entry.id)?.state;
      if (state === "planned" || state === "held" || state === "dropped") {
        this.#claims.requireAsked(entry.operation);
        this.#claims.requireDecided(entry.operation, entry.ofUndo === true);
        this.#claims.requireStanding(entry.operation, entry.context["channelOrderId"]);
      }
      if (entry.id === undefined) {
        this.#journal.insert({ ...entry, id, state: "sending", at });
      } else {
        this.#journal.markSending(id, { ...entry, at });
      }
      this.#journal.attempts.start(id, { ...entry, at, holder: this.#context.holder });
      for (const item of entry.sealed ?? []) this.#private.seal(item, at);
      return id;
    };
    return this.#context.write(entry.after?.follows(work) ?? work);
  }

  /**
   * Records what became of an operation: outcome, ledger changes and audit entry in one transaction, and gives the
   * instant that they bear. Throws a Problem `ledger.contradiction` where the changes cannot stand beside what the
   * ledger knows; nothing is recorded then.
   */
  conclude(id: string, conclusion: Conclusion): Promise<string> {
    return this.#context.write(() => withContradiction(id, () => this.#conclude(id, conclusion, this.#context.now)));
  }

  /** The same without waiting for the commit, which comes with that of what is written next. */
  concludeAhead(id: string, conclusion: Conclusion, sequence: Sequence): { at: string; committed: Promise<void> } {
    const at = this.#context.now;
    const work = sequence.leads(() => withContradiction(id, () => void this.#conclude(id, conclusion, at)));
    // What was handed over before it may be what the ledger cannot hold.
    return { at, committed: this.#context.ride(() => withContradiction(id, work)) };
  }

  #conclude(id: string, conclusion: Conclusion, at: string): string {
    const { settleMs } = conclusion;
    const settleAfter = settleMs === undefined ? conclusion.settleAfter : toInstant(Date.parse(at) + settleMs);
    const row = this.#journal.finish(id, { ...conclusion, settleAfter }, at);
    if (row === undefined) throw this.#movedOn(id);
    for (const change of conclusion.changes) this.#changes.apply(change, at);
    if (conclusion.state === "done" && this.#hasRejections.get(() => this.#rejections.any())) {
      this.#rejections.forget(row.operation, conclusion.rejections?.parts);
    }
    if (conclusion.rejections !== undefined) {
      this.#rejections.add(id, conclusion.rejections, at);
      this.#hasRejections.put(true);
    }
    this.#context.audit.append({
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
        ...saidLinks(conclusion.changes),
      },
    });
    if (row.approved && (conclusion.state === "done" || conclusion.state === "rejected")) this.#holds.done(id, at);
    this.#context.noteConcluded({ kind: row.operation.kind, state: conclusion.state });
    return at;
  }

  /** Why an operation cannot be concluded. */
  #movedOn(id: string): Error {
    const row = this.#journal.standing(id);
    if (row === undefined) return new Error(`operation ${id} is not in the journal`);
    const { state, attempts } = row;
    const named = `operation ${id} (${row.operation.endpoint}, ${row.operation.subject})`;
    return state === "done" || state === "rejected" || state === "dropped"
      ? new Problem({
          code: "journal.already-concluded",
          message: `${named} is already ${state}`,
          cure: "nothing needs to be done: the outcome is recorded",
        })
      : new Problem({
          code: "journal.moved-on",
          message: `${named} has changed meanwhile: it is ${state} after ${attempts} attempts`,
          cure: "look at the operation again with `crm-sync settle list`. Nothing was changed",
        });
  }

  /**
   * Keeps what a reading showed about an operation that is not settled by it; what is concluded by now keeps what it
   * was concluded on.
   */
  async noteEvidence(id: string, evidence: Json): Promise<void> {
    await this.#context.write(() => this.#journal.noteEvidence(id, evidence));
  }

  /** How many attempts of a kind may have left for a record without a known outcome since a person decided last. */
  async sendingsInDoubt(record: RecordReference, kind: OperationName): Promise<number> {
    return this.#context.read(() => this.#journal.sendingsInDoubt(record, kind));
  }

  /** The refused E5 operations of an order, newest first. */
  refusedOrders(order: RecordKey): JournalRow[] {
    return this.#context.read(() => this.#journal.refusedOrders(order));
  }

  /** A refused operation of which the platform shows something waits for a person: its outcome is open again. */
  async reopenRefused(id: string, reason: string, evidence: Json): Promise<void> {
    await this.#context.write(() => {
      const row = this.#journal.byId(id);
      if (row?.state !== "rejected") throw new Error(`operation ${id} is ${row?.state ?? "not in the journal"}`);
      const at = this.#context.now;
      const code = row.outcomeCode ?? undefined;
      const parked = { state: "parked" as const, verdict: refusedYetShown, evidence, code, message: reason };
      this.#journal.finish(id, { ...parked, reopened: true }, at);
      const { endpoint, kind, subject, customer } = row.operation;
      this.#context.audit.append({
        at,
        kind: "parked",
        subject,
        body: { operation: id, endpoint, kind, customer: formatKey(customer), state: "parked", code, reason },
      });
      this.#context.noteConcluded({ kind, state: "parked" });
    });
  }

  async byId(id: string): Promise<JournalRow | undefined> {
    return this.#context.read(() => this.#journal.byId(id));
  }

  /** The newest operation on a subject in one of these states. */
  async newestOn(subject: string, states: readonly OperationState[]): Promise<JournalRow | undefined> {
    return this.#context.read(() => this.#journal.newestOn(subject, states));
  }

  async attempts(id: string): Promise<AttemptFacts[]> {
    return this.#context.read(() => this.#journal.attempts.of(id));
  }

  /** What the last intent of an operation tells whoever finds it, and who that is. */
  async left(id: string): Promise<Intent & { taker: string | undefined }> {
    return { ...this.#context.read(() => this.#journal.attempts.left(id)), taker: this.#context.holder };
  }

  /** All operations that are sending, unknown or parked, oldest first. */
  async open(): Promise<JournalRow[]> {
    return this.#context.read(() => this.#journal.open());
  }

  async openOf(customer: RecordKey): Promise<JournalRow[]> {
    return this.#context.read(() => this.#journal.openOf(customer));
  }

  /** What a run carried out, newest first. */
  async doneOf(run: string): Promise<JournalRow[]> {
    return this.#context.read(() => this.#ofRuns.doneOf(run));
  }

  async newestRunWithDone(): Promise<string | undefined> {
    return this.#context.read(() => this.#ofRuns.newestWithDone());
  }

  /** The ids of all operations that wait for a person, or with what does. */
  async held(): Promise<string[]> {
    return this.#context.read(() => this.#ofRuns.held());
  }

  /** What is planned or held of a customer, of what runs do or of what takes a run back. */
  async plannedOf({ customer, ofUndo }: Whose): Promise<PlannedRow[]> {
    return this.#context.read(() => this.#journal.plannedOf(customer, ofUndo));
  }

  /** Writes planned operations, to be released when limits are judged. `holds`: what is held already, by hash. */
  async plan(entry: {
    runId: string | null;
    planId?: string | null;
    operations: readonly Operation[];
    holds?: ReadonlyMap<string, Pick<StandingHold, "id">>;
  }): Promise<void> {
    const { runId, planId = null, operations, holds } = entry;
    if (operations.length === 0) return;
    await this.#context.write(() => {
      const at = this.#context.now;
      for (const [position, operation] of operations.entries()) {
        const id = this.#context.ids.next("op");
        this.#holds.attach(holds?.get(operation.hash), id);
        this.#journal.insert({ id, operation, state: "planned", runId, planId, position, at });
      }
    });
  }

  /**
   * Gives up operations of a customer that are planned and have not begun, all or the one of a hash. What waits for a
   * person goes on waiting.
   */
  async drop(customer: RecordKey, why: string, hash?: string): Promise<number> {
    return await this.#context.write(() => this.#journal.drop(customer, this.#context.now, why, hash));
  }

  /**
   * Keeps what of a customer waits with something that a person is asked about, under that question, and gives up what
   * waited so before and does no more. Gives what the journal did not have yet.
   */
  async waitWith(
    { customer, ofUndo }: Whose,
    by: { runId: string; planId: string | null },
    waiting: readonly { operation: Operation; question: string }[],
  ): Promise<Operation[]> {
    return await this.#context.write(() => {
      const at = this.#context.now;
      const stored = new Map(this.#journal.plannedOf(customer, ofUndo).map((row) => [row.operation.hash, row.id]));
      const kept = waiting.map(({ operation, question }, position) => {
        const id = stored.get(operation.hash) ?? this.#context.ids.next("op");
        if (!stored.has(operation.hash)) this.#journal.insert({ ...by, id, operation, state: "planned", position, at });
        this.#journal.hold(id, question, at);
        return id;
      });
      this.#journal.giveUpWaiting({ customer, ofUndo }, kept, at);
      return waiting.map(({ operation }) => operation).filter(({ hash }) => !stored.has(hash));
    });
  }

  /**
   * How much was taken away since an instant without a person's approval, or may have been: what is in doubt counts,
   * and so does what the clock says lies in the future, or was sent later with a clock that was set back. Both instants
   * are of a clock that is trusted: no other one ends a window.
   */
  async takenSince(since: string, now: string): Promise<Record<TakenThing, number>> {
    return this.#context.read(() => takenOf(this.#journal.takenSince(since, now)));
  }

  /** When the last call on a subject ended with an unknown outcome, epoch milliseconds; 0 where there was none. */
  async lastUncertain(subject: string): Promise<number> {
    return this.#context.read(() => this.#journal.attempts.lastUncertain(subject));
  }

  /** Writing calls that left during a run, by the attempts of the journal. */
  async writingCallsOf(run: string): Promise<number> {
    return this.#context.read(() => this.#journal.attempts.writingCalls(run));
  }

  /** How many operations of a run, and of those it carried in, are in each state. */
  async statesOf(run: string, carriedIn: readonly string[]): Promise<Record<string, number>> {
    return this.#context.read(() => this.#journal.operationStates(run, carriedIn));
  }

  /** A person wants what was refused in this scope tried once more; what it is about is worked on by this run. */
  async retryRejected(scope: { customer?: RecordKey; order?: RecordKey; source?: string }): Promise<void> {
    await this.#context.write(() => this.#rejections.ask(scope));
  }

  /**
   * Makes the run look at customers without a changed record. A rejection that may pass is tried again a few times. A
   * hold about a record that moved to another customer and changed there can no longer be approved, so it is made anew.
   */
  async lookAgain(): Promise<void> {
    await this.#context.write(() => {
      for (const record of this.#rejections.tryAgain()) this.#work.markPending({ record });
      this.#holds.lookAtChanged();
    });
  }

  /**
   * When an instant of ours was first met from which a wrong clock cannot count: what was to be counted from there is
   * counted from here. Epoch milliseconds. Kept, so that the next process goes on counting.
   */
  async countedFrom(key: string, instant: number): Promise<number> {
    const now = Date.parse(this.#context.now);
    const kept = this.#context.read(() => this.#clockNotes.of(key));
    if (kept?.future === instant && kept.metAt <= now) return kept.metAt;
    await this.#context.write(() => this.#clockNotes.keep(key, instant, now));
    return now;
  }

  /** Epoch milliseconds by a clock that, set forward meanwhile, ends no wait. */
  get surelyNow(): number {
    return this.#context.surelyNow;
  }
}

/** Throws a Problem where what the work writes cannot stand beside what the ledger knows. */
function withContradiction<Result>(id: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw contradictionIn(error, `operation ${id}`);
  }
}
