import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Operation, RemovedThing } from "../../engine/model/operation.ts";
import type { RecordReference, OperationName } from "../../engine/model/resource.ts";
import type { StateRows, ChangeTables } from "../state/registry.ts";
import type { HoldRows, StandingHold, Whose } from "../decisions/hold-rows.ts";
import { saidLinks } from "../state/said-links.ts";
import type { LedgerContext } from "../context.ts";
import { contradictionIn } from "../database/damage.ts";
import type { PerTransaction } from "../database/read-together.ts";
import type { Sequence } from "../database/sequence.ts";
import { prepared, sql } from "../database/statements.ts";
import type { Row } from "../tables.ts";
import {
  type Intent,
  type Conclusion,
  JournalTables,
  refusedYetShown,
  type JournalRow,
  type PlannedRow,
} from "./journal-tables.ts";
import { AppliedPlans, RunOperations, takenOf } from "./run-operations.ts";
import type { AttemptFacts } from "../../report/facts.ts";
import type { OperationState } from "./tables.ts";
import type { Pause } from "../pause.ts";
import type { PrivateValues, SealedValues } from "../private/private-values.ts";
import type { RejectionTables } from "./rejections.ts";
import type { WorkTables } from "../records/work.ts";
import { UniquenessChecks } from "./uniqueness.ts";

export class Journal {
  readonly #context: LedgerContext;
  readonly #journal: JournalTables;
  readonly #claims: UniquenessChecks;
  readonly #clockNotes;
  readonly #rejections: RejectionTables;
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
    this.#clockNotes = prepared(context.database, clockNotes);
    this.#rejections = tables.rejections;
    this.#hasRejections = context.perTransaction();
    this.#work = tables.work;
    this.#changes = tables.changes;
    this.#private = tables.private;
    this.#holds = tables.holds;
    this.#plans = new AppliedPlans(context.database);
    this.#ofRuns = new RunOperations(context.database);
  }

  /** Commits operation, attempt and newly sealed secrets. Only after it resolves may a byte be sent. */
  intend(entry: {
    operation: Operation;
    id?: string | undefined;
    runId: string | null;
    wireHash: string;
    nonce: string;
    acceptedUntil?: Intent["acceptedUntil"];
    context: JsonObject;
    sealed?: readonly SealedValues[] | undefined;
    /** The saved plan. Only one run may apply each operation of it. */
    plan?: string | undefined;
    ofUndo?: boolean | undefined;
    hold?: Pick<StandingHold, "id"> | undefined;
    /** Earlier work that is not committed yet. If it fails, this intent is refused. */
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

  /** One transaction. Throws `ledger.contradiction`, and records nothing, if `changes` contradict the ledger. */
  conclude(id: string, conclusion: Conclusion): Promise<string> {
    return this.#context.write(() => withContradiction(id, () => this.#conclude(id, conclusion, this.#context.now)));
  }

  /** Like `conclude`, without waiting for the commit. */
  concludeAhead(id: string, conclusion: Conclusion, sequence: Sequence): { at: string; committed: Promise<void> } {
    const at = this.#context.now;
    const work = sequence.leads(() => withContradiction(id, () => void this.#conclude(id, conclusion, at)));
    // The contradiction may come from earlier work of the sequence.
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

  /** Keeps evidence of a reading that settles nothing. A concluded operation keeps its own evidence. */
  async noteEvidence(id: string, evidence: Json): Promise<void> {
    await this.#context.write(() => this.#journal.noteEvidence(id, evidence));
  }

  /** Attempts that may have been sent with an unknown outcome, since the last decision of a person. */
  async sendingsInDoubt(record: RecordReference, kind: OperationName): Promise<number> {
    return this.#context.read(() => this.#journal.sendingsInDoubt(record, kind));
  }

  /** Rejected E5 operations of an order, newest first. */
  refusedOrders(order: RecordKey): JournalRow[] {
    return this.#context.read(() => this.#journal.refusedOrders(order));
  }

  /** Reopens a rejected operation that the platform shows. A person must decide it. */
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

  async newestOn(subject: string, states: readonly OperationState[]): Promise<JournalRow | undefined> {
    return this.#context.read(() => this.#journal.newestOn(subject, states));
  }

  async attempts(id: string): Promise<AttemptFacts[]> {
    return this.#context.read(() => this.#journal.attempts.of(id));
  }

  async left(id: string): Promise<Intent & { taker: string | undefined }> {
    return { ...this.#context.read(() => this.#journal.attempts.left(id)), taker: this.#context.holder };
  }

  async open(): Promise<JournalRow[]> {
    return this.#context.read(() => this.#journal.open());
  }

  async openOf(customer: RecordKey): Promise<JournalRow[]> {
    return this.#context.read(() => this.#journal.openOf(customer));
  }

  async doneOf(run: string): Promise<JournalRow[]> {
    return this.#context.read(() => this.#ofRuns.doneOf(run));
  }

  async newestRunWithDone(): Promise<string | undefined> {
    return this.#context.read(() => this.#ofRuns.newestWithDone());
  }

  async held(): Promise<string[]> {
    return this.#context.read(() => this.#ofRuns.held());
  }

  async plannedOf({ customer, ofUndo }: Whose): Promise<PlannedRow[]> {
    return this.#context.read(() => this.#journal.plannedOf(customer, ofUndo));
  }

  /** Plans operations until limits are checked. `holds`: existing holds by hash. */
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

  async drop(customer: RecordKey, why: string, hash?: string): Promise<number> {
    return await this.#context.write(() => this.#journal.drop(customer, this.#context.now, why, hash));
  }

  /** Holds operations that must wait with a question, and drops those that no longer do. Returns the new ones. */
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
   * Without approved ones. Counts unknown outcomes, future times, and later runs with an earlier clock. Both instants
   * must be of a trusted clock: no other clock may end a window.
   */
  async takenSince(since: string, now: string): Promise<Record<RemovedThing, number>> {
    return this.#context.read(() => takenOf(this.#journal.takenSince(since, now)));
  }

  /** End of the last call with an unknown outcome, in epoch milliseconds; 0 without one. */
  async lastUncertain(subject: string): Promise<number> {
    return this.#context.read(() => this.#journal.attempts.lastUncertain(subject));
  }

  async writingCallsOf(run: string): Promise<number> {
    return this.#context.read(() => this.#journal.attempts.writingCalls(run));
  }

  async statesOf(run: string, carriedIn: readonly string[]): Promise<Record<string, number>> {
    return this.#context.read(() => this.#journal.operationStates(run, carriedIn));
  }

  async retryRejected(scope: { customer?: RecordKey; order?: RecordKey; source?: string }): Promise<void> {
    await this.#context.write(() => this.#rejections.ask(scope));
  }

  /**
   * Marks customers with a rejection that may pass, or a hold about a record that moved away and changed. Such a hold
   * cannot be approved, so the run makes a new one.
   */
  async lookAgain(): Promise<void> {
    await this.#context.write(() => {
      for (const record of this.#rejections.tryAgain()) this.#work.markPending({ record });
      this.#holds.lookAtChanged();
    });
  }

  /** Epoch milliseconds. If a wrong clock put `instant` into the future, counts from when that was noticed. */
  async countedFrom(key: string, instant: number): Promise<number> {
    const now = Date.parse(this.#context.now);
    const kept = this.#context.read(() => this.#clockNotes.find.get(key));
    if (kept?.future === instant && kept.met_at <= now) return kept.met_at;
    await this.#context.write(() => this.#clockNotes.keep.run(key, instant, now));
    return now;
  }

  /** Epoch milliseconds. A clock set forward ends no wait. */
  get surelyNow(): number {
    return this.#context.surelyNow;
  }
}

const clockNotes = {
  find: sql<[string], Row<"clock_note", "future" | "met_at">>`
    select future, met_at from clock_note where subject = +?`,
  keep: sql`insert into clock_note (subject, future, met_at) values (?, ?, ?)
    on conflict (subject) do update set future = excluded.future, met_at = excluded.met_at`,
};

function withContradiction<Result>(id: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw contradictionIn(error, `operation ${id}`);
  }
}
