import type { RecordKey, Stream } from "../../crm/model.ts";
import type { OpenRecords } from "../../report/open.ts";
import type { LedgerContext } from "../context.ts";
import type { Sequence } from "../database/sequence.ts";
import type { HoldRows } from "../decisions/hold-rows.ts";
import { type OrderNow, RecordTables } from "./record-tables.ts";
import { OpenTables, type OpenScope } from "./open-records.ts";
import { QuarantineRetry, Remapping } from "./remapping.ts";
import { RemovedSources } from "./removed-sources.ts";
import { KnownRecords } from "./known-records.ts";
import { Reading, type ReadingTables } from "./reading.ts";
import { Checkpoints } from "./checkpoints.ts";
import { SkippedTables } from "./skipped.ts";
import {
  SourceReadTables,
  type ConfiguredStream,
  type EarlierRead,
  type MadeWith,
  type SourceReadRow,
} from "./source-reads.ts";
import type { RecordOutcome } from "../../engine/plan/records.ts";
import type { LookedAt, WorkTables } from "./work.ts";

/** What the CRM said: readings of its sources, records and the quarantine, and which customers are pending. */
export class Records {
  readonly #context: LedgerContext;
  readonly #records: RecordTables;
  readonly #open: OpenTables;
  readonly #work: WorkTables;
  readonly #reads: SourceReadTables;
  readonly #holds: HoldRows;
  readonly #tables: ReadingTables;
  /** How far readings have come that are not at their end. */
  readonly checkpoints: Checkpoints;
  readonly remapping: Remapping;
  readonly retry: QuarantineRetry;
  readonly removedSources: RemovedSources;

  constructor(context: LedgerContext, tables: { work: WorkTables; holds: HoldRows }) {
    const { database } = context;
    const reads = new SourceReadTables(database);
    const records = new RecordTables(database, {
      now: () => context.stampMs,
      randomHex: () => context.random.hex(16),
      seal: context.sealing,
      reads,
    });
    const skipped = new SkippedTables(database, () => context.stampMs);
    this.#context = context;
    this.#records = records;
    this.#open = new OpenTables(database);
    this.#work = tables.work;
    this.#reads = reads;
    this.#holds = tables.holds;
    this.#tables = { context, records, reads, skipped, known: new KnownRecords(database) };
    this.checkpoints = new Checkpoints(context, reads);
    this.retry = new QuarantineRetry(context, records, skipped);
    this.remapping = new Remapping(context, records, reads);
    this.removedSources = new RemovedSources(context);
  }

  /** Begins a read. Whoever begins it ends it: see `Reading`. */
  async startRead(run: string | null, source: string, stream: Stream, made: MadeWith = {}): Promise<Reading> {
    const { context, reads } = this.#tables;
    const read = await context.write(() => reads.startRead({ run, source, stream }, context.now, made));
    return new Reading(this.#tables, { read, run, source, stream, first: made.continues ?? read });
  }

  async lastCompleteRead(source: string, stream: Stream): Promise<SourceReadRow | undefined> {
    return this.#context.read(() => this.#reads.lastCompleteRead(source, stream));
  }

  /** The newest whole, complete read of a stream: of a run, or of whoever. */
  async lastWholeRead(source: string, stream: Stream, ofRun: boolean): Promise<SourceReadRow | undefined> {
    return this.#context.read(() => this.#reads[ofRun ? "lastWholeRead" : "newestWholeRead"](source, stream));
  }

  /** What the rows of the last whole reading of a run looked like, where that is known. */
  async shapeBefore(source: string, stream: Stream): Promise<ReturnType<SourceReadTables["lastShape"]>> {
    return this.#context.read(() => this.#reads.lastShape(source, stream));
  }

  /**
   * What a reading must not have lost too much of: the last whole read of a run, and the newest of all where that is a
   * plan's: what it has read stands in the ledger too, but by itself it makes nothing smaller. Where none was ever
   * whole, what others have brought.
   */
  async readsToCompare(source: string, stream: Stream): Promise<EarlierRead[]> {
    const kept = (): number => this.#records.kept(source, stream);
    return this.#context.read(() => this.#reads.toCompare(source, stream, kept));
  }

  async lastRead(source: string, stream: Stream): Promise<SourceReadRow | undefined> {
    return this.#context.read(() => this.#reads.lastRead(source, stream));
  }

  async readsOf(run: string): Promise<SourceReadRow[]> {
    return this.#context.read(() => this.#reads.reads(run));
  }

  /** Streams whose last read failed, was incomplete or shrank. */
  async troubledReads(): Promise<SourceReadRow[]> {
    return this.#context.read(() => this.#reads.troubledReads());
  }

  /** Keeps which streams are configured, so that a source that is configured no longer neither blocks nor alarms. */
  async configureStreams(streams: readonly ConfiguredStream[]): Promise<void> {
    if (!this.#context.read(() => this.#reads.streamsDiffer(streams))) return;
    await this.#context.write(() => this.#reads.configureStreams(streams, this.#context.now));
  }

  async pendingCustomers(after: RecordKey | undefined, limit: number): Promise<RecordKey[]> {
    return this.#context.read(() => this.#work.pendingCustomers(after, limit));
  }

  async unlinkedCustomers(after: RecordKey | undefined, limit: number): Promise<RecordKey[]> {
    return this.#context.read(() => this.#work.unlinkedCustomers(after, limit));
  }

  async pendingCount(): Promise<number> {
    return this.#context.read(() => this.#work.pendingCount());
  }

  /** What the customer was told of for a reason that begins so is done; what it waits for otherwise stays. */
  async endLesserOutcome(customer: RecordKey, prefix: string): Promise<void> {
    await this.#context.write(() => this.#work.endDeferral(customer, prefix));
  }

  /** The next run looks again at a customer that waits or was rejected, and says anew why. */
  async lookAgain(customer: RecordKey): Promise<void> {
    await this.#context.write(() => this.#work.lookAgain(customer));
  }

  async endDeferral(customer: RecordKey, prefix: string): Promise<void> {
    await this.#context.write(() => {
      this.#work.endDeferral(customer, prefix);
      this.#work.lookAgain(customer);
    });
  }

  /**
   * Records why a customer waits, where it does not wait or was not rejected for a reason that begins otherwise: that
   * one stays, and the next run looks at the customer again.
   */
  async setLesserOutcome(run: string, outcome: RecordOutcome, prefix: string): Promise<void> {
    await this.#context.write(() => {
      if (this.#work.waitsOtherwise(outcome.key, prefix)) this.#work.lookAgain(outcome.key);
      else this.#work.recordOutcomes(run, [outcome], this.#context.now);
    });
  }

  /**
   * What waits or is in quarantine, and is not looked at by itself, is looked at once where what records are decided by
   * changed. Answers how many records that wait are looked at for it.
   */
  async decideBy(rules: string): Promise<number> {
    if (this.#context.read(() => this.#work.isDecidedBy(rules))) return 0;
    return await this.#context.write(() => this.#work.decideBy(rules));
  }

  /** Whether something in quarantine is to be mapped anew that only a reading of everything surely gives. */
  async awaitsWholeRead(source: string, stream: Stream): Promise<boolean> {
    return this.#context.read(() => this.#work.awaitsWholeRead(source, stream));
  }

  async markPending(what: LookedAt): Promise<number> {
    return await this.#context.write(() => this.#work.markPending(what));
  }

  /**
   * Records what a run came to with these records. Those of `unfinished` are looked at again by the next run, planned
   * or not: in one transaction, so that no crash makes a record that is planned and was not carried out look finished.
   * `held`: the customer of whom something is held. Where a person has approved some of it by now, the customer is
   * looked at again too: what was approved is carried out by the next run.
   */
  async setOutcomes(
    run: string,
    outcomes: readonly RecordOutcome[],
    unfinished: readonly { stream: Stream; key: RecordKey }[] = [],
    held?: RecordKey,
  ): Promise<void> {
    if (outcomes.length === 0 && unfinished.length === 0 && held === undefined) return;
    await this.#context.write(() => {
      this.#work.recordOutcomes(run, outcomes, this.#context.now);
      for (const { stream, key } of unfinished) this.#work.markPending({ record: { stream, ...key } });
      if (held !== undefined && this.#holds.hasApproved(held)) this.#work.markPending({ customer: held });
    });
  }

  /** Records what a run came to with these records, without waiting for the commit. */
  setOutcomesAhead(run: string, outcomes: readonly RecordOutcome[], sequence: Sequence): Promise<void> {
    const at = this.#context.now;
    return this.#context.ride(sequence.leads(() => this.#work.recordOutcomes(run, outcomes, at)));
  }

  /** Keeps what a plan found about a customer's records that cannot be carried out now, and of those that can again. */
  async noteDeferrals(customer: RecordKey, records: readonly Omit<RecordOutcome, "again">[]): Promise<void> {
    const goes = this.#context.read(() => this.#work.waitsAnything(customer));
    const waiting = goes ? records : records.filter((record) => record.outcome !== "planned");
    if (waiting.length > 0) await this.#context.write(() => this.#work.noteDeferrals(waiting, this.#context.now));
  }

  /**
   * Defers records that are pending and have no outcome in this run yet: those of one customer, or all that this run
   * changed.
   */
  async deferPending(run: string, customer: RecordKey | undefined, code: string, reason: string): Promise<number> {
    return await this.#context.write(() =>
      this.#work.deferPending(run, customer, { code, reason, at: this.#context.now }),
    );
  }

  async customerOfOrder(order: RecordKey): Promise<RecordKey | undefined> {
    return this.#context.read(() => this.#work.customerOfOrder(order));
  }

  /** The customer that a record belongs to, and how the record stands. */
  async ownerOf(stream: Stream, key: RecordKey): Promise<ReturnType<WorkTables["ownerOf"]>> {
    return this.#context.read(() => this.#work.ownerOf(stream, key));
  }

  /** What the CRM says of an order now. */
  async orderNow(order: RecordKey): Promise<OrderNow | undefined> {
    return this.#context.read(() => this.#records.orderNow(order));
  }

  /** Every record that is not done, once, by how it stands and why. */
  async open(scope: OpenScope = {}): Promise<OpenRecords[]> {
    return this.#context.read(() => this.#open.records(scope));
  }

  async has(stream: Stream, key: RecordKey): Promise<boolean> {
    return this.#context.read(() => this.#records.has(stream, key));
  }
}
