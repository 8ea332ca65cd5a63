import type { RecordKey, Stream } from "../../crm/model.ts";
import type { OpenRecords } from "../../report/open.ts";
import type { LedgerContext } from "../context.ts";
import type { Sequence } from "../database/sequence.ts";
import type { HoldRows } from "../decisions/hold-rows.ts";
import { type OrderNow, RecordTables } from "./record-tables.ts";
import { OpenTables, type OpenNewest, type OpenScope } from "./open-records.ts";
import { QuarantineRetry, Remapping } from "./remapping.ts";
import {
  RemovedSources,
  SkippedTables,
  SourceReadTables,
  type ConfiguredStream,
  type EarlierRead,
  type MadeWith,
  type SourceReadRow,
} from "./source-reads.ts";
import { type KnownRecord, KnownRecords } from "./staged-records.ts";
import { knownTo, Reading, type ReadingTables } from "./reading.ts";
import { Checkpoints } from "./checkpoints.ts";
import type { RecordOutcome } from "../../engine/plan/blocks.ts";
import type { LookedAt, WorkTables } from "./work.ts";

export class Records {
  readonly #context: LedgerContext;
  readonly #records: RecordTables;
  readonly #open: OpenTables;
  readonly #work: WorkTables;
  readonly #reads: SourceReadTables;
  readonly #holds: HoldRows;
  readonly #tables: ReadingTables;
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

  async startRead(run: string | null, source: string, stream: Stream, made: MadeWith = {}): Promise<Reading> {
    const { context, reads } = this.#tables;
    const read = await context.write(() => reads.startRead({ run, source, stream }, context.now, made));
    return new Reading(this.#tables, { read, run, source, stream, first: made.continues ?? read });
  }

  /** For a row that no read gave. Records that the last whole read contained count as met. */
  comparedAlone(source: string, stream: Stream): ReturnType<Reading["compared"]> {
    const hasMet = ({ missed }: KnownRecord): boolean => missed === 0;
    const none = (): number => 0;
    const unusableRow = (line: string, of: RecordKey): string | undefined =>
      this.#context.read(() => this.#tables.known.unusableRow({ source, stream }, line, of, 0));
    const ofRead = { isPart: false, total: 0, hasMet, isLeft: () => false, unusableRow };
    return { ...knownTo(this.#tables, { source, stream }), ...ofRead, left: none, newBefore: none, missing: none };
  }

  async lastCompleteRead(source: string, stream: Stream): Promise<SourceReadRow | undefined> {
    return this.#context.read(() => this.#reads.lastCompleteRead(source, stream));
  }

  /** The newest complete full read of a stream. `ofRun`: without reads of plans. */
  async lastWholeRead(source: string, stream: Stream, ofRun: boolean): Promise<SourceReadRow | undefined> {
    return this.#context.read(() => this.#reads[ofRun ? "lastWholeRead" : "newestWholeRead"](source, stream));
  }

  async shapeBefore(source: string, stream: Stream): Promise<ReturnType<SourceReadTables["lastShape"]>> {
    return this.#context.read(() => this.#reads.lastShape(source, stream));
  }

  /** To detect a loss: the last complete full read of a run, and the newest one. Else the number of records. */
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

  async troubledReads(): Promise<SourceReadRow[]> {
    return this.#context.read(() => this.#reads.troubledReads());
  }

  /** Sources that are no longer configured neither block nor raise alerts. */
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

  async endLesserOutcome(customer: RecordKey, prefix: string): Promise<void> {
    await this.#context.write(() => this.#work.endDeferral(customer, prefix));
  }

  async lookAgain(customer: RecordKey): Promise<void> {
    await this.#context.write(() => this.#work.lookAgain(customer));
  }

  async endDeferral(customer: RecordKey, prefix: string): Promise<void> {
    await this.#context.write(() => {
      this.#work.endDeferral(customer, prefix);
      this.#work.lookAgain(customer);
    });
  }

  /** If the customer waits or was rejected for a code of another prefix, that stays; the next run looks again. */
  async setLesserOutcome(run: string, outcome: RecordOutcome, prefix: string): Promise<void> {
    await this.#context.write(() => {
      if (this.#work.waitsOtherwise(outcome.key, prefix)) this.#work.lookAgain(outcome.key);
      else this.#work.recordOutcomes(run, [outcome], this.#context.now);
    });
  }

  async decideBy(rules: string): Promise<number> {
    if (this.#context.read(() => this.#work.isDecidedBy(rules))) return 0;
    return await this.#context.write(() => this.#work.decideBy(rules));
  }

  async awaitsWholeRead(source: string, stream: Stream): Promise<boolean> {
    return this.#context.read(() => this.#work.awaitsWholeRead(source, stream));
  }

  async markPending(what: LookedAt): Promise<number> {
    return await this.#context.write(() => this.#work.markPending(what));
  }

  /**
   * The next run looks at `unfinished` again. One transaction, so that a crash never makes an unfinished record look
   * done. `held`: a customer with a hold; if a person approved it meanwhile, the next run must act.
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

  setOutcomesAhead(run: string, outcomes: readonly RecordOutcome[], sequence: Sequence): Promise<void> {
    const at = this.#context.now;
    return this.#context.ride(sequence.leads(() => this.#work.recordOutcomes(run, outcomes, at)));
  }

  async noteDeferrals(customer: RecordKey, records: readonly Omit<RecordOutcome, "again">[]): Promise<void> {
    const goes = this.#context.read(() => this.#work.waitsAnything(customer));
    const waiting = goes ? records : records.filter((record) => record.outcome !== "planned");
    if (waiting.length > 0) await this.#context.write(() => this.#work.noteDeferrals(waiting, this.#context.now));
  }

  /** Defers pending records: all of one customer, or those that this run changed and gave no outcome. */
  async deferPending(run: string, customer: RecordKey | undefined, code: string, reason: string): Promise<number> {
    return await this.#context.write(() =>
      this.#work.deferPending(run, customer, { code, reason, at: this.#context.now }),
    );
  }

  async customerOfOrder(order: RecordKey): Promise<RecordKey | undefined> {
    return this.#context.read(() => this.#work.customerOfOrder(order));
  }

  async ownerOf(stream: Stream, key: RecordKey): Promise<ReturnType<WorkTables["ownerOf"]>> {
    return this.#context.read(() => this.#work.ownerOf(stream, key));
  }

  async orderNow(order: RecordKey): Promise<OrderNow | undefined> {
    return this.#context.read(() => this.#records.orderNow(order));
  }

  async open(scope: OpenScope = {}): Promise<OpenRecords[]> {
    return this.#context.read(() => this.#open.records(scope));
  }

  async openNewest(): Promise<OpenNewest[]> {
    return this.#context.read(() => this.#open.newest());
  }

  async has(stream: Stream, key: RecordKey): Promise<boolean> {
    return this.#context.read(() => this.#records.has(stream, key));
  }
}
