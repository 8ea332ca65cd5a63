import type { RecordKey, Stream } from "../../crm/model.ts";
import type { LedgerContext } from "../context.ts";
import type { AbsenceNow, AbsenceRule, Met } from "./absence.ts";
import { type ExpectedForms, SeenForms } from "./seen-forms.ts";
import type { KnownRecord, KnownRecords } from "./known-records.ts";
import type { RecordTables } from "./record-tables.ts";
import type { SkippedRecord, SkippedTables } from "./skipped.ts";
import type { FinishedRead, ReadParts, SourceReadTables } from "./source-reads.ts";
import { keyOfRow, StagedRecords, type MappedRow } from "./staged-records.ts";

/** The tables that a reading reads and writes. */
export interface ReadingTables {
  context: LedgerContext;
  records: RecordTables;
  reads: SourceReadTables;
  skipped: SkippedTables;
  known: KnownRecords;
}

/** What a reading has met until now, and the forms that it will most likely meet. */
class Memory implements Met {
  readonly expected: ExpectedForms;
  /** The forms that it has met as they were. */
  readonly seen = new SeenForms();
  skipped: SeenForms | undefined;
  /** Records that it has taken up itself, each counted once. */
  taken = 0;
  /** Records that it skipped and that may be any. */
  nameless = 0;
  /** The places up to which `seen` and `skipped` are kept in its checkpoint. */
  keptUpTo = { seen: 0, skipped: 0 };

  constructor(expected: ExpectedForms) {
    this.expected = expected;
  }

  get records(): number {
    return this.expected.met + this.taken;
  }

  close(): void {
    this.seen.close();
    this.skipped?.close();
  }
}

/** A read of one stream that goes on: it stores rows, and says what was there and what was not. */
export class Reading implements ReadParts {
  readonly read: number;
  readonly run: string | null;
  readonly source: string;
  readonly stream: Stream;
  /** The number of the first of its parts: its own, where it goes on with none. */
  first: number;
  readonly #tables: ReadingTables;
  #memory: Memory | undefined;

  constructor(tables: ReadingTables, { read, run, source, stream, first }: ReadParts) {
    this.#tables = tables;
    this.read = read;
    this.run = run;
    this.source = source;
    this.stream = stream;
    this.first = first;
  }

  get memory(): Memory {
    this.#memory ??= new Memory(this.#tables.records.expected(this));
    return this.#memory;
  }

  /** Lets go of what it has met: it has ended, was stopped, or begins anew. */
  end(): void {
    this.#memory?.close();
    this.#memory = undefined;
  }

  /**
   * Which of these raw hashes are as they were, and which are quarantined still. The others have to be mapped. The
   * ledger is written only for what was missed or is quarantined; the rest is remembered until the read ends.
   */
  async markSeen(hashes: readonly string[]): Promise<{ unchanged: Set<string>; quarantined: Set<string> }> {
    const { context, records } = this.#tables;
    const { seen, expected } = this.memory;
    const known = context.read(() => records.known(this, hashes, expected));
    seen.add(known.unchanged);
    const unchanged = new Set(known.unchanged);
    if (known.missed.length === 0 && known.quarantined.length === 0) return { unchanged, quarantined: new Set() };
    return await context.write(() => {
      if (known.missed.length > 0) records.markSeen(this, known.missed);
      return { unchanged, quarantined: new Set(records.markQuarantineSeen(this, known.quarantined)) };
    });
  }

  /** Keeps that it has met records which their stream leaves out: they are not missed, and stay as they are. */
  async skip(items: readonly SkippedRecord[]): Promise<void> {
    const { context, skipped } = this.#tables;
    const { memory } = this;
    const keys = items.flatMap(({ key }) => key ?? []);
    const { forms, touched } = context.read(() => skipped.standing(this.source, this.stream, keys));
    memory.nameless += items.filter(({ isNameless }) => isNameless).length;
    if (forms.length > 0) {
      memory.skipped ??= new SeenForms();
      memory.skipped.add(forms);
    }
    if (touched.length === 0) return;
    await context.write(() => {
      for (const key of touched) skipped.leave(this, key);
    });
  }

  /**
   * Room for what it brings that is new or changed, until it is believed. Whoever opens it closes it. Undefined where
   * no source has given a record of the stream before: there is nothing to compare it with.
   */
  stage(): StagedRecords | undefined {
    const { context, known } = this.#tables;
    return context.read(() => known.hasAny(this.stream, this.first)) ? new StagedRecords() : undefined;
  }

  /** Takes a batch of mapped records and rejections up, in one transaction. */
  async ingest(rows: readonly MappedRow[]): Promise<Record<"changed" | "unchanged" | "quarantined", number>> {
    const { context, records } = this.#tables;
    const memory = this.#memory;
    const seen = memory?.seen;
    const { taken, ...result } = await context.write(() => {
      const counts = { changed: 0, unchanged: 0, quarantined: 0, taken: 0 };
      let isQuarantineEmpty = records.isQuarantineEmpty();
      for (const row of rows) {
        if ("rejection" in row) {
          records.reject(this, row.rejection);
          counts.quarantined += 1;
        } else {
          const { became, isFirst } = records.ingest(this, row.record, { isQuarantineEmpty, seen });
          counts[became] += 1;
          if (isFirst) counts.taken += 1;
        }
        if (counts.quarantined > 0) isQuarantineEmpty = false;
      }
      return counts;
    });
    if (memory !== undefined) memory.taken += taken;
    return result;
  }

  /** What the staged rows are compared with. `total`: how many records its source had before; it counts them all. */
  compared(staged: StagedRecords) {
    const { context, records, reads, known } = this.#tables;
    const { source, stream } = this;
    const ask = <T>(work: () => T): T => context.read(work);
    const { memory } = this;
    return {
      total: ask(() => records.kept(source, stream)),
      of: (keys: readonly RecordKey[]) => ask(() => known.of(stream, keys)),
      ordersOf: (customers: readonly RecordKey[]) => ask(() => known.ordersOf(customers)),
      named: (names: readonly string[]) => ask(() => known.named(stream, names)),
      /** Those of these raw forms that a person takes as they are. */
      decided: (hashes: readonly string[]) => ask(() => known.decided(source, stream, hashes)),
      /** Whether it met the record in the form in which the ledger has it, or left it out. */
      hasMet: ({ rawHash, lastRead }: KnownRecord) =>
        lastRead >= this.first || memory.seen.hasMet(rawHash) || memory.skipped?.hasMet(rawHash) === true,
      /** Whether another configured source gives the record. */
      isOfAnother: (one: KnownRecord) => one.source !== source && ask(() => reads.isConfigured(one.source, stream)),
      /** How many records it is the first to lack. */
      missing: () => ask(() => records.absence.newlyMissing(this, memory, (keys) => staged.find(keys).size)),
      /** Where a row is that cannot be used and may be this line. */
      unusableRow: (line: string) =>
        staged.unusableRow(line) ?? ask(() => known.unusableRow(source, stream, line, this.first)),
    };
  }

  /** What it has shown is not missing, also where it is not believed. */
  async keepPresent(staged: StagedRecords): Promise<void> {
    const { context, records, known } = this.#tables;
    for (const rows of staged.pages()) {
      const keys = rows.flatMap((row) => keyOfRow(row) ?? []);
      const missed = context.read(() => known.missedOf(this.source, this.stream, keys));
      if (missed.length > 0) await context.write(() => records.keepPresent(this, missed));
    }
  }

  /** Ends it. After a whole, complete read that is believed, `closeWhole` says what it lacks. */
  async finish(fields: FinishedRead): Promise<void> {
    const { context, reads } = this.#tables;
    const closes = fields.complete && fields.whole;
    if (!closes) await this.#keepSeen();
    await context.write(() => reads.finishRead(this.read, fields, context.now));
    if (!closes) this.end();
  }

  /**
   * Marks what it has seen, where a quarantine row is open that it has not: should that row be mapped anew, it is the
   * older form. A whole, complete reading needs no such marks: it releases the row. By the page, so that a million of
   * them keep nobody else from writing.
   */
  async #keepSeen(): Promise<void> {
    const { context, records } = this.#tables;
    const seen = this.#memory?.seen;
    if (seen === undefined || seen.failed || !context.read(() => records.isQuarantineUnseen(this))) return;
    for (const hashes of seen.pages()) await context.write(() => records.markSeen(this, hashes));
  }

  /** Closes a whole, complete read. Without a `rule` nothing that is missing counts: a plan's read. */
  async closeWhole(rule: AbsenceRule | undefined): Promise<{ absent: number; missed: number; released: number }> {
    const { context, records } = this.#tables;
    try {
      const now = await this.#absenceNow(rule);
      return await context.write(() => records.closeWholeRead(this, now, this.#memory));
    } finally {
      this.end();
    }
  }

  /** Only what is missing needs a time that is trusted. */
  async #absenceNow(rule: AbsenceRule | undefined): Promise<AbsenceNow | undefined> {
    if (rule === undefined) return undefined;
    const { context, records } = this.#tables;
    const isLacking = context.read(() => records.absence.isLacking(this, this.#memory));
    return { ...rule, isLacking, time: isLacking ? await rule.time() : undefined };
  }
}
