import type { Json, JsonObject } from "../base/canonical-json.ts";
import { parseJsonObject } from "../base/canonical-json.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { verifyChain } from "./audit.ts";
import type { AuditHead, AuditRow, AuditVerdict } from "./audit.ts";
import { headsPath, readKeptHeads } from "./audit-heads.ts";
import type { LedgerOptions } from "./core.ts";
import { databaseProblem } from "./damage.ts";
import { openDatabase } from "./database.ts";
import type { HoldRow } from "./holds.ts";
import { JournalLedger } from "./journal-ledger.ts";
import type { OpenScope } from "./open-records.ts";
import type { OpenRecords } from "../report/open.ts";
import { countsOf, daysOf, historyKinds } from "./retention.ts";
import type { Batch, Place, RetentionSettings } from "./retention.ts";
import type { RunCounts, RunRow } from "./runs.ts";
import type { RunState, SourceReadRow } from "./run-statements.ts";
import type { OpenCircuit } from "./slots.ts";

export type { LedgerOptions } from "./core.ts";
export type { AttemptEnd, Conclusion } from "./journal-ledger.ts";

/** Rows that are looked at in one piece of work when history is thinned, and how many pieces follow one run. */
const batchRows = 500;
const mostBatches = 200;

/** What the name of every sandbox begins with; alone it stands for one that did not say which it is. */
export const anySandbox = "the sandbox";

/**
 * The ledger: what the CRM said, what we did, what the platform showed, and the proof of it. All business methods are
 * async; writing ones resolve after their commit at full durability. They stand in three layers: records, operations,
 * and here holds, runs, schedule and audit.
 */
export class Ledger extends JournalLedger {
  /** Opens the ledger, or throws a Problem with exit code 65 (not a ledger, newer, damaged, gone, not durable). */
  static async open(options: LedgerOptions): Promise<Ledger> {
    const { busyTimeoutMs, group } = options;
    const database = await openDatabase(options.path, { migrate: options.migrate !== false, busyTimeoutMs, group });
    try {
      return new Ledger(database, options);
    } catch (error) {
      // A schema in which a name was damaged does not take the statements that are prepared here.
      database.close();
      throw databaseProblem(error, options.path);
    }
  }

  // Holds

  /** Opens a hold, or answers the one of exactly this set that a person was asked about already, whatever its state. */
  async openHold(hold: Omit<HoldRow, "id" | "state" | "createdAt" | "decidedAt" | "reason">): Promise<HoldRow> {
    return await this.write(() => {
      const current = this.tables.holds.holdOf(hold.customer);
      const at = this.now;
      if (current?.setHash === hold.setHash) return current;
      const rejected = this.tables.holds.rejectedHold(hold.customer, hold.setHash);
      if (rejected !== undefined) return rejected;
      if (current !== undefined) this.tables.holds.setHold(current.id, "lapsed", at, null);
      const row: HoldRow = {
        ...hold,
        id: `h-${this.random.hex(4)}`,
        state: "open",
        createdAt: at,
        decidedAt: null,
        reason: null,
      };
      this.tables.holds.openHold(row);
      this.tables.audit.append({
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
    return this.read(() => this.tables.holds.holdOf(customer));
  }

  async openHolds(): Promise<HoldRow[]> {
    return this.read(() => this.tables.holds.openHolds());
  }

  /** A person's decision on a hold, with who it is, or its use by the run that carries it out. */
  async decideHold(
    id: string,
    state: "approved" | "rejected" | "used" | "lapsed",
    reason: string,
    by?: string,
  ): Promise<HoldRow> {
    return await this.write(() => {
      const hold = this.tables.holds.hold(id);
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
      const at = this.now;
      this.tables.holds.setHold(id, state, at, reason, by);
      if (state === "approved" || state === "rejected") this.tables.work.markPending({ customer: hold.customer });
      this.tables.audit.append({
        at,
        kind: `hold-${state}`,
        subject: `customer:${formatKey(hold.customer)}`,
        body: { hold: id, reason, set: hold.setHash, ...(by === undefined ? {} : { by }) },
      });
      return { ...hold, state };
    });
  }

  /** Whether a person rejected exactly this set of revokes of a customer. */
  async holdRejected(customer: RecordKey, setHash: string): Promise<boolean> {
    return this.read(() => this.tables.holds.rejectedHold(customer, setHash) !== undefined);
  }

  /** Live assignments of a customer, and of all customers: what a share of a deletion limit is of. */
  async liveAssignments(customer?: RecordKey): Promise<number> {
    return this.read(() => this.tables.holds.liveAssignments(customer));
  }

  // Runs, slots, notices

  async startRun(run: {
    job: string;
    kind: string;
    trigger: string;
    scope: string | null;
    header: JsonObject;
  }): Promise<string> {
    const made = this.ids.next("run");
    const id = await this.write(() => this.tables.runs.start({ ...run, id: made, at: this.now }));
    this.flushHeads();
    return id;
  }

  async finishRun(
    id: string,
    fields: { state: RunState; exitCode: number; balance: Json; summary: Json },
  ): Promise<AuditHead | undefined> {
    const head = await this.write(() => {
      const at = this.now;
      this.tables.runs.finish(id, { ...fields, at });
      return this.tables.audit.append({
        at,
        kind: "run",
        subject: `run:${id}`,
        body: { state: fields.state, exit: fields.exitCode, balance: fields.balance },
      });
    });
    this.flushHeads();
    return head;
  }

  async cutOffRuns(): Promise<RunRow[]> {
    return this.read(() => this.tables.runs.cutOff());
  }

  async run(id: string): Promise<RunRow | undefined> {
    return this.read(() => this.tables.runs.byId(id));
  }

  async lastRuns(limit: number): Promise<RunRow[]> {
    return this.read(() => this.tables.runs.last(limit));
  }

  /** The last run of each job. */
  async lastRunByJob(): Promise<Map<string, RunRow>> {
    return this.read(() => this.tables.runs.lastByJob());
  }

  async isStaffLinked(staff: RecordKey): Promise<boolean> {
    return this.read(() => this.tables.runs.isStaffLinked(staff));
  }

  async readsOf(run: string): Promise<SourceReadRow[]> {
    return this.read(() => this.tables.runs.reads(run));
  }

  /** Streams whose last read failed, was incomplete or shrank. */
  async troubledReads(): Promise<SourceReadRow[]> {
    return this.read(() => this.tables.runs.troubledReads());
  }

  /** Writing calls that left during a run, by the attempts of the journal. */
  async writingCallsOf(run: string): Promise<number> {
    return this.read(() => this.tables.runs.writingCalls(run));
  }

  /** Every record that is not done, once, by how it stands and why. */
  async openRecords(scope: OpenScope = {}): Promise<OpenRecords[]> {
    return this.read(() => this.tables.open.records(scope));
  }

  async hasRecord(stream: Stream, key: RecordKey): Promise<boolean> {
    return this.read(() => this.tables.runs.hasRecord(stream, key));
  }

  async countsOf(run: string): Promise<RunCounts> {
    return this.read(() => this.tables.runs.counts(run));
  }

  /** How many operations of a run, and of those it carried in, are in each state. */
  async operationStates(run: string, carriedIn: readonly string[]): Promise<Record<string, number>> {
    return this.read(() => this.tables.runs.operationStates(run, carriedIn));
  }

  /** Customers with a link, in key order: those that can be verified. */
  async linkedCustomers(after: RecordKey | undefined, limit: number): Promise<RecordKey[]> {
    return this.read(() => this.tables.work.linkedCustomers(after, limit));
  }

  /** Asset numbers fixed to the placed orders of a customer. */
  async placedNumbers(customer: RecordKey): Promise<string[]> {
    const known = await this.known(customer);
    return known.numbers
      .filter((item) => known.placedOrders.has(formatKey({ namespace: item.namespace, id: item.orderId })))
      .map((item) => item.number);
  }

  /**
   * Ties the ledger to the services it speaks of, the first time, and refuses any others ever after: what was done on
   * one platform would be taken for done on the other. `accept` changes the tie by a person's word. The head is kept,
   * so that a ledger that is lost during its first run already is missed.
   */
  async requirePlatform(platform: string, accept?: { by: string }): Promise<void> {
    const known = this.meta("platform");
    if (known === platform || (platform === anySandbox && known?.startsWith(anySandbox) === true)) return;
    const named = known === anySandbox && platform.startsWith(anySandbox);
    if (known !== undefined && !named && accept === undefined) {
      const sandboxes = known.startsWith(anySandbox) && platform.startsWith(anySandbox);
      throw new Problem({
        code: "ledger.other-platform",
        message: `the ledger ${this.path} belongs to ${known}, and this command would use ${platform}. Nothing was sent`,
        cure: sandboxes
          ? "start that sandbox again with the store that it kept (sandbox.db beside the ledger, or --store), or drop the ledger together with the sandbox that it belongs to"
          : "give each platform a ledger of its own (ledger.path); where the same services only moved to a new address, `crm-sync migrate --accept-platform`",
        exitCode: exitCodes.ledgerRefused,
      });
    }
    await this.write(() => {
      this.database
        .prepare(
          "insert into meta (key, value) values ('platform', ?) on conflict (key) do update set value = excluded.value",
        )
        .run(platform);
      const body = { platform, before: known ?? null, ...accept };
      this.tables.audit.append({ at: this.now, kind: "platform", subject: "ledger", body });
    });
    this.flushHeads();
  }

  /** Records that a slot fired. False when it, or a later one since the last rewinding, has fired already. */
  async claimSlot(job: string, slot: string): Promise<boolean> {
    return await this.write(() => this.tables.slots.claimSlot(job, slot, this.now));
  }

  /** Sets the last slot of a job back after the clock was set back; slots that fired stay refused. */
  async rewindSlot(job: string, slot: string): Promise<void> {
    await this.write(() => this.tables.slots.rewindSlot(job, slot, this.now));
  }

  /** Records that a fire time needs no run any more; with `earlier`, those before it neither. */
  async finishFireTime(job: string, slot: string, earlier = false): Promise<void> {
    await this.write(() => this.tables.slots.finishFireTime(job, slot, this.now, earlier));
  }

  async unfinishedFireTimes(job: string): Promise<string[]> {
    return this.read(() => this.tables.slots.unfinishedFireTimes(job));
  }

  async lastSlot(job: string): Promise<string | undefined> {
    return this.read(() => this.tables.slots.lastSlot(job));
  }

  async notices(): Promise<Map<string, { since: string; body: Json; sent: boolean }>> {
    return this.read(() => this.tables.slots.notices());
  }

  async setNotice(key: string, body: Json): Promise<void> {
    await this.write(() => this.tables.slots.setNotice(key, body, this.now));
  }

  async noticeSent(key: string): Promise<void> {
    await this.write(() => this.tables.slots.noticeSent(key, this.now));
  }

  async dropNotice(key: string): Promise<void> {
    await this.write(() => this.tables.slots.dropNotice(key));
  }

  /** Circuits that are open, as far as the last runs know. */
  async openCircuits(): Promise<OpenCircuit[]> {
    return this.read(() => this.tables.slots.openCircuits());
  }

  /** Notes that the circuit of a service is open from now on, or still. */
  async noteOpenCircuit(service: string, reason: string, probeAt: string): Promise<void> {
    await this.write(() => this.tables.slots.noteOpenCircuit({ service, since: this.now, reason, probeAt }));
  }

  async closeCircuit(service: string): Promise<void> {
    await this.write(() => this.tables.slots.closeCircuit(service));
  }

  /**
   * Thins the history that ended before these instants, in short pieces of work, at most so much in one go that a run
   * is not held up. Gives what was thinned, as the audit entry says it; nothing is recorded where it was nothing.
   */
  async thinHistory(
    until: Readonly<Partial<Record<keyof RetentionSettings, string>>>,
    stop: () => boolean,
  ): Promise<JsonObject> {
    const thinned = { rawForms: 0, quarantineForms: 0, observations: 0, reads: 0, runs: 0 };
    let batches = 0;
    for (const kind of historyKinds) {
      const limit = until[daysOf[kind]];
      if (limit === undefined) continue;
      let place: Place | undefined = this.read(() => this.tables.retention.begin(kind));
      while (place !== undefined && batches < mostBatches && !stop()) {
        const after: Place = place;
        const batch: Batch = await this.write(() => this.tables.retention.batch(kind, after, limit, batchRows));
        thinned[kind] += batch.thinned;
        batches += 1;
        place = batch.next;
      }
    }
    const counts = countsOf(thinned);
    if (Object.keys(counts).length === 0) return counts;
    const body = { until: { ...until }, thinned: counts };
    await this.write(() => this.tables.audit.append({ at: this.now, kind: "retention", subject: "ledger", body }));
    return counts;
  }

  // Audit

  /** Appends an entry that stands for itself, such as a person's decision. */
  async audit(entry: { kind: string; subject: string; body: JsonObject }): Promise<AuditHead> {
    return await this.write(() => this.tables.audit.append({ ...entry, at: this.now }));
  }

  auditHead(): AuditHead | undefined {
    return this.read(() => this.tables.audit.head());
  }

  auditRows(): IterableIterator<AuditRow> {
    return this.database
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
    const row = this.database
      .prepare<[string], { version: number; sealed: string | null }>(
        "select version, sealed from private_value where ref = ? order by version desc limit 1",
      )
      .get(ref);
    if (row === undefined) return { values: undefined, version: 0, nextVersion: 1 };
    const usable = row.sealed !== null && this.sealing !== undefined;
    const values =
      usable && row.sealed !== null
        ? parseJsonObject(this.sealing?.open(row.sealed, { ref, version: row.version }) ?? "{}")
        : undefined;
    return { values, version: row.version, nextVersion: row.version + 1 };
  }

  async wipeSealed(ref: string, version: number): Promise<void> {
    await this.write(() => this.tables.changes.apply({ type: "secrets-wiped", ref, version }, this.now));
  }
}
