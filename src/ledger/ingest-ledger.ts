import type { Json } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { ShownOrder } from "../plan/adoption.ts";
import type { CustomerInput } from "../plan/input.ts";
import type { Known, PayloadFacts } from "../operation/state.ts";
import type { PrivateMarker } from "../operation/references.ts";
import type { AbsenceRule } from "./absence.ts";
import { LedgerCore } from "./core.ts";
import type { OrderNow } from "./known.ts";
import type { WantedNumbers } from "./numbers.ts";
import type { WaitingRow } from "./quarantine-retry.ts";
import type { IngestedRecord, IngestedRejection } from "./records.ts";
import type { ConfiguredStream, RunTables } from "./runs.ts";
import type { SourceReadRow } from "./run-statements.ts";
import type { RecordOutcome, WorkTables } from "./work.ts";

interface IngestResult {
  changed: number;
  unchanged: number;
  quarantined: number;
}

/** An earlier reading that a new one must not have lost too much of. */
export interface EarlierRead extends Pick<SourceReadRow, "rows" | "details"> {
  /** `the last complete read`, as a message names it. */
  name: string;
}

/**
 * The ledger's business with records: taking them up, what is to be done about them, and what one customer is planned
 * from.
 */
export class IngestLedger extends LedgerCore {
  // Taking records up

  async startRead(run: string | null, source: string, stream: Stream): Promise<number> {
    return await this.write(() => this.tables.runs.startRead(run, source, stream, this.now));
  }

  async finishRead(read: number, fields: Omit<Parameters<RunTables["finishRead"]>[1], "at">): Promise<void> {
    await this.write(() => this.tables.runs.finishRead(read, { ...fields, at: this.now }));
  }

  /** Which of these raw hashes are as they were, and which are quarantined still. The others have to be mapped. */
  async markSeen(
    source: string,
    stream: Stream,
    read: number,
    hashes: readonly string[],
  ): Promise<{ unchanged: Set<string>; quarantined: Set<string> }> {
    return await this.write(() => this.tables.records.markSeen(source, stream, read, hashes));
  }

  /** Takes a batch of mapped records and rejections up, in one transaction. */
  async ingest(
    source: string,
    stream: Stream,
    read: number,
    run: string,
    items: readonly ({ record: IngestedRecord } | { rejection: IngestedRejection })[],
  ): Promise<IngestResult> {
    return await this.write(() => {
      const result: IngestResult = { changed: 0, unchanged: 0, quarantined: 0 };
      for (const item of items) {
        if ("rejection" in item) {
          this.tables.records.reject(source, stream, read, item.rejection);
          result.quarantined += 1;
        } else {
          result[this.tables.records.ingest(source, stream, read, run, item.record)] += 1;
        }
      }
      return result;
    });
  }

  /**
   * A random text of this ledger that raw forms are hashed with; it lives in the private table, and erasing it makes
   * the hashes say nothing.
   */
  async rawSalt(): Promise<string> {
    const find = this.database.prepare<[], { salt: string }>(
      "select salt from private_value where ref = 'raw-salt' and version = 1",
    );
    const known = find.get()?.salt;
    if (known !== undefined) return known;
    await this.write(() =>
      this.database
        .prepare(
          "insert into private_value (ref, version, salt, created_at) values ('raw-salt', 1, ?, ?) on conflict do nothing",
        )
        .run(this.random.hex(16), this.now),
    );
    return find.get()?.salt ?? "";
  }

  /** Closes a whole, complete read. Without a `rule` nothing that is missing counts: a plan's read. */
  async closeWholeRead(
    source: string,
    stream: Stream,
    read: number,
    rule: AbsenceRule | undefined,
    run: string | null = null,
  ): Promise<{ absent: number; missed: number; released: number }> {
    return await this.write(() => this.tables.records.closeWholeRead(source, stream, read, rule, run));
  }

  async lastCompleteRead(source: string, stream: Stream): Promise<SourceReadRow | undefined> {
    return this.read(() => this.tables.runs.lastCompleteRead(source, stream));
  }

  async lastWholeRead(source: string, stream: Stream): Promise<SourceReadRow | undefined> {
    return this.read(() => this.tables.runs.lastWholeRead(source, stream));
  }

  /**
   * What a reading must not have lost too much of: the last whole read of a run, and the newest of all where that is a
   * plan's: what it has read stands in the ledger too, but by itself it makes nothing smaller. Where none was ever
   * whole, what others have brought.
   */
  async readsToCompare(source: string, stream: Stream): Promise<EarlierRead[]> {
    return this.read(() => {
      const { runs } = this.tables;
      const newest = runs.newestWholeRead(source, stream);
      if (newest === undefined) {
        const rows = this.tables.records.kept(source, stream);
        return [{ rows, details: null, name: "earlier reads, none of which was complete" }];
      }
      const ofRun = runs.lastWholeRead(source, stream);
      return [ofRun, newest.number === ofRun?.number ? undefined : newest]
        .filter((row) => row !== undefined)
        .map(({ rows, details }) => ({ rows, details, name: "the last complete read" }));
    });
  }

  async lastRead(source: string, stream: Stream): Promise<SourceReadRow | undefined> {
    return this.read(() => this.tables.runs.lastRead(source, stream));
  }

  /** Keeps which streams are configured, so that a source that is configured no longer neither blocks nor alarms. */
  async configureStreams(streams: readonly ConfiguredStream[]): Promise<void> {
    if (!this.read(() => this.tables.runs.streamsDiffer(streams))) return;
    await this.write(() => {
      this.tables.runs.configureStreams(streams);
      if (streams.length > 0) this.tables.records.unconfigured.forget(this.now);
    });
  }

  /** A row of the quarantine that waits, with its raw form, for mapping it anew. */
  async waitingRow(id: string): Promise<WaitingRow | undefined> {
    return this.read(() => this.tables.retry.waiting(id));
  }

  /**
   * Takes up what a row of the quarantine maps to now, because a person asked for it. False: it does not wait any more.
   */
  async settleRetry(
    id: string,
    item: { record: IngestedRecord } | { rejection: IngestedRejection },
    by: string,
  ): Promise<boolean> {
    return await this.write(() => {
      const settled = this.tables.retry.settle(id, item, this.now);
      if (settled) this.#auditRetry(id, by);
      return settled;
    });
  }

  #auditRetry(id: string, by: string): void {
    this.tables.audit.append({ at: this.now, kind: "quarantine-retry", subject: `quarantine:${id}`, body: { by } });
  }

  /** A person has a quarantined record mapped again when its source is read. False where no such record is open. */
  async retryQuarantine(id: string, by: string): Promise<boolean> {
    return await this.write(() => {
      const marked = this.tables.retry.mark(id);
      if (marked) this.#auditRetry(id, by);
      return marked;
    });
  }

  // Work

  async pendingCustomers(after: RecordKey | undefined, limit: number): Promise<RecordKey[]> {
    return this.read(() => this.tables.work.pendingCustomers(after, limit));
  }

  async pendingCount(): Promise<number> {
    return this.read(() => this.tables.work.pendingCount());
  }

  async markPending(scope: Parameters<WorkTables["markPending"]>[0]): Promise<number> {
    return await this.write(() => this.tables.work.markPending(scope));
  }

  /** A person wants what was refused in this scope tried once more; what it is about is worked on by this run. */
  async retryRejected(scope: { customer?: RecordKey; order?: RecordKey; source?: string }): Promise<void> {
    await this.write(() => this.tables.rejections.ask(scope));
  }

  /**
   * What was refused under other settings than these is tried once more. Answers how many records are looked at again
   * for it.
   */
  async wakeRejected(settings: string): Promise<number> {
    return await this.write(() => this.tables.rejections.wake(settings));
  }

  /**
   * What was refused in words that may pass is tried once more, some times. Answers how many records are looked at
   * again for it.
   */
  async tryRejectedAgain(): Promise<number> {
    return await this.write(() => this.tables.rejections.tryAgain());
  }

  async load(customer: RecordKey): Promise<Omit<CustomerInput, "observed">> {
    return this.readTogether(() => ({
      ...this.tables.known.load(customer),
      rejections: this.tables.rejections.of(customer),
    }));
  }

  /** What the CRM says of an order now. */
  async orderNow(order: RecordKey): Promise<OrderNow | undefined> {
    return this.read(() => this.tables.known.orderNow(order));
  }

  /** What an adopted enterprise showed under a channel order number when it was examined. */
  async shownOrder(customer: RecordKey, channelOrderId: string): Promise<ShownOrder | undefined> {
    return this.read(() => this.tables.known.shownOrder(customer, channelOrderId));
  }

  async isPlaced(channelOrderId: string): Promise<boolean> {
    return this.read(() => this.tables.known.isPlaced(channelOrderId));
  }

  async known(customer: RecordKey): Promise<Known> {
    return this.readTogether(() => this.tables.known.known(customer));
  }

  /** What the references of a payload of this customer stand for now. */
  async payloadFacts(customer: RecordKey): Promise<PayloadFacts> {
    return this.readTogether(() => this.tables.known.payloadFacts(customer));
  }

  /** The value behind a marker, or undefined where it was erased, wiped, or does not fit its commitment. */
  privateValue(marker: PrivateMarker): Json | undefined {
    return this.read(() => this.tables.known.privateValue(marker));
  }

  /**
   * Records what a run came to with these records. Those of `unfinished` are looked at again by the next run, planned
   * or not: in one transaction, so that no crash makes a record that is planned and was not carried out look finished.
   * Where a person has approved `hold` by now, under which they were worked on, the customer is looked at again too:
   * what was approved is carried out by the next run.
   */
  async recordOutcomes(
    run: string,
    outcomes: readonly RecordOutcome[],
    unfinished: readonly { stream: Stream; key: RecordKey }[] = [],
    hold?: string,
  ): Promise<void> {
    if (outcomes.length === 0 && unfinished.length === 0 && hold === undefined) return;
    await this.write(() => {
      this.tables.work.recordOutcomes(run, outcomes, this.now);
      this.tables.work.keepPending(unfinished);
      const held = hold === undefined ? undefined : this.tables.holds.hold(hold);
      if (held?.state === "approved") this.tables.work.markPending({ customer: held.customer });
    });
  }

  /** Keeps what a plan found about these records that cannot be carried out now: `status` and `explain` say it too. */
  async noteDeferrals(records: readonly Omit<RecordOutcome, "again">[]): Promise<void> {
    const waiting = records.filter((record) => record.outcome !== "planned");
    if (waiting.length > 0) await this.write(() => this.tables.work.noteDeferrals(waiting, this.now));
  }

  /**
   * Defers records that are pending and have no outcome in this run yet: those of one customer, or all that this run
   * changed.
   */
  async deferPending(run: string, customer: RecordKey | undefined, code: string, reason: string): Promise<number> {
    return await this.write(() => this.tables.work.deferPending(run, customer, code, reason, this.now));
  }

  async customerOfOrder(order: RecordKey): Promise<RecordKey | undefined> {
    return this.read(() => this.tables.work.customerOfOrder(order));
  }

  async fixNumbers(
    order: RecordKey,
    wanted: readonly WantedNumbers[],
  ): Promise<{ lacking: number; clashing: string[] }> {
    return await this.write(() => this.tables.numbers.fixNumbers(order, wanted, this.now));
  }

  /** The customer that an enterprise is linked to. */
  async customerOfEnterprise(enterpriseGlobalId: string): Promise<RecordKey | undefined> {
    return this.read(() => this.tables.work.customerOfEnterprise(enterpriseGlobalId));
  }

  async poolSize(): Promise<number> {
    return this.read(() => this.tables.numbers.poolSize());
  }
}
