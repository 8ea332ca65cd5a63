import type { Json, JsonObject } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { StateChange } from "../operation/state.ts";
import type { Operation, RecordReference } from "../operation/operation.ts";
import type { OperationKind } from "../operation/registry.ts";
import { contradictionIn } from "./damage.ts";
import { IngestLedger } from "./ingest-ledger.ts";
import type { NewRejections } from "./rejections.ts";
import { refusedYetShown } from "./journal.ts";
import type { Attempt, JournalRow, OperationContext, OperationState } from "./journal.ts";

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
  /** For how long from now on it may still land, milliseconds. */
  settleMs?: number | undefined;
  /** The end of an earlier settle time, which still stands. */
  settleAfter?: string | undefined;
  verdict?: string | undefined;
  evidence?: Json | undefined;
  code?: string | undefined;
  message?: string | undefined;
  /** The redacted answer, kept where the outcome has to be looked into. */
  answer?: string | undefined;
  changes: readonly StateChange[];
  /** What was refused of it, so that it is not sent again as it was. */
  rejections?: NewRejections | undefined;
  audit: { kind: string; body: JsonObject };
}

/** The ledger's business with operations: intents, outcomes, what is open, what is planned, and what reading taught. */
export class JournalLedger extends IngestLedger {
  /** Correlations that this process has seen confirmed. */
  readonly #confirmed = new Set<string>();

  /**
   * Records the intent to send: the operation (new, or planned before), one attempt with nonce and payload hash, state
   * `sending`. Secrets that the payload needs for the first time are sealed in the same transaction. Resolves after the
   * commit; only then may a byte leave.
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
    const id = entry.id ?? this.ids.next("op");
    await this.write(() => {
      const at = this.now;
      this.tables.claims.require(entry.operation, entry.id);
      if (entry.id === undefined) {
        this.tables.journal.insert({ ...entry, id, state: "sending", at });
      } else {
        this.tables.journal.markSending(id, {
          wireHash: entry.wireHash,
          context: entry.context,
          runId: entry.runId,
          at,
        });
      }
      this.tables.journal.startAttempt(id, { nonce: entry.nonce, wireHash: entry.wireHash, at });
      for (const item of entry.sealed ?? []) this.#sealValues(item, at);
    });
    return id;
  }

  #sealValues(item: { ref: string; version: number; salt: string; values: JsonObject }, at: string): void {
    if (this.sealing === undefined) throw new Error("secrets cannot be stored without a sealing key");
    this.database
      .prepare(
        "insert into private_value (ref, version, salt, body, sealed, created_at) values (?, ?, ?, null, ?, ?) on conflict do nothing",
      )
      .run(item.ref, item.version, item.salt, this.sealing.seal(JSON.stringify(item.values), item), at);
  }

  /**
   * Records what became of an operation: outcome, ledger changes and audit entry in one transaction. Throws a Problem
   * `ledger.contradiction` where the changes cannot stand beside what the ledger knows; nothing is recorded then.
   */
  async conclude(id: string, conclusion: Conclusion): Promise<void> {
    try {
      await this.write(() => this.#conclude(id, conclusion));
    } catch (error) {
      throw contradictionIn(error, `operation ${id}`);
    }
  }

  #conclude(id: string, conclusion: Conclusion): void {
    const at = this.now;
    const row = this.tables.journal.byId(id);
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
    this.tables.journal.finish(id, {
      state: conclusion.state,
      at,
      ...(conclusion.attempt === undefined ? {} : { attempt: conclusion.attempt }),
      settleAfter:
        conclusion.settleMs === undefined ? conclusion.settleAfter : toInstant(Date.parse(at) + conclusion.settleMs),
      verdict: conclusion.verdict,
      evidence: conclusion.evidence,
      code: conclusion.code,
      message: conclusion.message,
      answer: conclusion.answer,
    });
    for (const change of conclusion.changes) this.tables.changes.apply(change, at);
    if (conclusion.state === "done")
      this.tables.rejections.forget(row.operation.kind, row.operation.records, conclusion.rejections?.parts);
    if (conclusion.rejections !== undefined) this.tables.rejections.add(id, conclusion.rejections, at);
    this.tables.audit.append({
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
  }

  /**
   * Keeps what a reading showed about an operation that is not settled by it; what is concluded by now keeps what it
   * was concluded on.
   */
  async noteEvidence(id: string, evidence: Json): Promise<void> {
    await this.write(() => this.tables.journal.noteEvidence(id, evidence));
  }

  async confirmCorrelation(correlation: string): Promise<void> {
    if (this.#confirmed.has(correlation)) return;
    if (!(await this.correlationConfirmed(correlation))) await this.setMeta(`correlation ${correlation}`, this.now);
    this.#confirmed.add(correlation);
  }

  /** Whether E3 has shown an enterprise that an accepted E2 of this ledger made, under the same templates (A8). */
  async correlationConfirmed(correlation: string): Promise<boolean> {
    return this.meta(`correlation ${correlation}`) !== undefined;
  }

  /** Whether the platform has ever shown an asset of a licence type to this ledger (A43). */
  async licenceTypeShown(type: string): Promise<boolean> {
    return this.meta(`licence-type-shown ${type}`) !== undefined;
  }

  /** Ledger changes that come from reading, not from an operation; with an audit entry where something is adopted. */
  async recordChanges(
    customer: RecordKey,
    changes: readonly StateChange[],
    audit?: { kind: string; subject: string; body: JsonObject },
  ): Promise<void> {
    if (changes.length === 0 && audit === undefined) return;
    await this.write(() => {
      const at = this.now;
      for (const change of changes) this.tables.changes.apply(change, at);
      if (audit !== undefined) {
        this.tables.audit.append({
          at,
          kind: audit.kind,
          subject: audit.subject,
          body: { customer: formatKey(customer), ...audit.body },
        });
      }
    });
  }

  /**
   * How many attempts of a kind may have left for a record and have no known outcome, since a person decided on one
   * last.
   */
  async sendingsInDoubt(record: RecordReference, kind: OperationKind): Promise<number> {
    return this.read(() => this.tables.journal.sendingsInDoubt(record, kind));
  }

  /** The refused E5 operations of an order, newest first. */
  async refusedOrders(order: RecordKey): Promise<JournalRow[]> {
    return this.read(() => this.tables.journal.refusedOrders(order));
  }

  /** A refused operation of which the platform shows something waits for a person: its outcome is open again. */
  async reopenRefused(id: string, reason: string, evidence: Json): Promise<void> {
    await this.write(() => {
      const row = this.tables.journal.byId(id);
      if (row?.state !== "rejected") throw new Error(`operation ${id} is ${row?.state ?? "not in the journal"}`);
      const at = this.now;
      const code = row.outcomeCode ?? undefined;
      this.tables.journal.finish(id, {
        state: "parked",
        at,
        verdict: refusedYetShown,
        evidence,
        code,
        message: reason,
      });
      const { endpoint, kind, subject, customer } = row.operation;
      this.tables.audit.append({
        at,
        kind: "parked",
        subject,
        body: { operation: id, endpoint, kind, customer: formatKey(customer), state: "parked", code, reason },
      });
    });
  }

  async operation(id: string): Promise<JournalRow | undefined> {
    return this.read(() => this.tables.journal.byId(id));
  }

  async attempts(id: string): Promise<Attempt[]> {
    return this.read(() => this.tables.journal.attempts(id));
  }

  /** All operations that are sending, unknown or parked, oldest first. */
  async openOperations(): Promise<JournalRow[]> {
    return this.read(() => this.tables.journal.open());
  }

  async openOperationsOf(customer: RecordKey): Promise<JournalRow[]> {
    return this.read(() => this.tables.journal.openOf(customer));
  }

  async plannedOperationsOf(customer: RecordKey): Promise<JournalRow[]> {
    return this.read(() => this.tables.journal.plannedOf(customer));
  }

  /** Writes operations that have not begun: planned (to be released when limits are judged) or held. */
  async storePlanned(entry: {
    runId: string | null;
    planId?: string | null;
    holdId?: string | null;
    state: "planned" | "held";
    operations: readonly Operation[];
  }): Promise<string[]> {
    return await this.write(() => {
      const at = this.now;
      return entry.operations.map((operation, position) => {
        const id = this.ids.next("op");
        this.tables.journal.insert({
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

  /**
   * Gives up operations that have not begun: one of them by its hash, or all of the customer, those that are held
   * included or not.
   */
  async dropPlanned(customer: RecordKey, why: string, which: { hash?: string; held: boolean }): Promise<number> {
    return await this.write(() => this.tables.journal.drop(customer, this.now, why, which));
  }

  /** Puts planned operations of a customer under a hold: those that take something away, or all that are left. */
  async holdPlanned(customer: RecordKey, hold: string, which: { revokesOnly: boolean }): Promise<number> {
    return await this.write(() => this.tables.journal.hold(customer, hold, this.now, which.revokesOnly));
  }

  /** When the last call on a subject ended with an unknown outcome, epoch milliseconds; 0 where there was none. */
  async lastUncertain(subject: string): Promise<number> {
    return this.read(() => this.tables.journal.lastUncertain(subject));
  }

  /**
   * When a time of ours that lies in the future was first met: the clock was set back since, and what was to be counted
   * from that time is counted from here. Epoch milliseconds. Kept, so that the next process goes on counting.
   */
  async noticed(key: string, future: number): Promise<number> {
    const name = `clock-set-back ${key}`;
    const now = Date.parse(this.now);
    const [keptFuture, keptAt] = (this.meta(name) ?? "").split(" ").map(Number);
    if (keptFuture === future && keptAt !== undefined && keptAt <= now) return keptAt;
    await this.write(() =>
      this.database
        .prepare("insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value")
        .run(name, `${future} ${now}`),
    );
    return now;
  }
}
