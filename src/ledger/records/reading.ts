import type { RecordKey, Stream } from "../../crm/model.ts";
import type { LedgerContext } from "../context.ts";
import type { AbsenceNow, AbsenceRule, Met } from "./absence.ts";
import { type ExpectedForms, SeenForms } from "./seen-forms.ts";
import { type KnownRecord, type KnownRecords, keyOfRow, StagedRecords, type MappedRow } from "./staged-records.ts";
import type { RecordTables } from "./record-tables.ts";
import {
  nobody,
  type SkippedRecord,
  type SkippedTables,
  type FinishedRead,
  type ReadOf,
  type ReadParts,
  type SourceReadTables,
} from "./source-reads.ts";

export interface ReadingTables {
  context: LedgerContext;
  records: RecordTables;
  reads: SourceReadTables;
  skipped: SkippedTables;
  known: KnownRecords;
}

/** The ledger's side of a comparison with rows of a stream. */
export function knownTo(
  { context, reads, known }: ReadingTables,
  { source, stream }: Pick<ReadOf, "source" | "stream">,
) {
  const ask = <T>(work: () => T): T => context.read(work);
  return {
    of: (keys: readonly RecordKey[]) => ask(() => known.of(stream, keys)),
    ordersOf: (customers: readonly RecordKey[]) => ask(() => known.ordersOf(customers)),
    named: (names: readonly string[]) => ask(() => known.named(stream, names)),
    suspects: (keys: readonly RecordKey[]) => ask(() => known.suspects(source, stream, keys)),
    isOfAnother: (one: KnownRecord) =>
      one.source !== source && one.missed === 0 && ask(() => reads.isConfigured(one.source, stream)),
  };
}

class Memory implements Met {
  readonly expected: ExpectedForms;
  readonly seen = new SeenForms();
  skipped: SeenForms | undefined;
  taken = 0;
  nameless = 0;
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

export class Reading implements ReadParts {
  readonly read: number;
  readonly run: string | null;
  readonly source: string;
  readonly stream: Stream;
  /** The number of its first part; its own number if it continues no other read. */
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

  /** Frees the memory of the read when it ended, stopped or starts again. */
  end(): void {
    this.#memory?.close();
    this.#memory = undefined;
  }

  /**
   * Which forms are unchanged or still quarantined; the others must be mapped. Writes only for missed or quarantined
   * records. The rest is remembered until the end of the read.
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

  /** Space for rows until the read is believed; the caller closes it. Undefined if there is nothing to compare with. */
  stage(): StagedRecords | undefined {
    const { context, known } = this.#tables;
    return context.read(() => known.hasAny(this.stream, this.first)) ? new StagedRecords() : undefined;
  }

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

  /** `total` counts all records of the source, so it is slow. */
  compared(staged: StagedRecords) {
    const { context, records, known } = this.#tables;
    const { source, stream } = this;
    const ask = <T>(work: () => T): T => context.read(work);
    const { memory } = this;
    const compared = knownTo(this.#tables, this);
    return {
      isPart: this.first !== this.read,
      total: ask(() => records.kept(source, stream)),
      ...compared,
      /** Whether this part of the read met this record unchanged, or skipped it: ids may have changed since others. */
      hasMet: ({ rawHash, lastRead }: KnownRecord) =>
        lastRead >= this.read || memory.seen.has(rawHash) || memory.skipped?.has(rawHash) === true,
      isLeft: (one: KnownRecord) => ![source, nobody].includes(one.source) && !compared.isOfAnother(one),
      left: () => ask(() => records.absence.left(source, stream)),
      newBefore: () => ask(() => records.newSinceComplete(source, stream)),
      missing: () => ask(() => records.absence.missing(this, memory, (keys) => staged.find(keys).size)),
      /** A whole read resolves the rows that it does not meet; until then, each may be the line. */
      unusableRow: (line: string, of: RecordKey, isWhole: boolean) =>
        staged.unusableRow(line) ?? ask(() => known.unusableRow(this, line, of, isWhole ? this.first : 0)),
    };
  }

  /** Records of the read are not missing, even if the read is not believed. */
  async keepPresent(staged: StagedRecords): Promise<void> {
    const { context, records, known } = this.#tables;
    for (const rows of staged.pages()) {
      const keys = rows.flatMap((row) => keyOfRow(row) ?? []);
      const missed = context.read(() => known.missedOf(this.source, this.stream, keys));
      if (missed.length > 0) await context.write(() => records.keepPresent(this, missed));
    }
  }

  /** Ends the read. A believed complete full read also needs `closeWhole`. */
  async finish(fields: FinishedRead): Promise<void> {
    const { context, reads } = this.#tables;
    const closes = fields.complete && fields.whole;
    if (!closes) await this.#keepSeen();
    await context.write(() => reads.finishRead(this.read, fields, context.now));
    if (!closes) this.end();
  }

  /**
   * If a quarantine row that this read has not met is mapped again later, the marks show that it is older. A complete
   * full read resolves such rows instead. Works by the page, so that other writers get a turn.
   */
  async #keepSeen(): Promise<void> {
    const { context, records } = this.#tables;
    const seen = this.#memory?.seen;
    if (seen === undefined || seen.failed || !context.read(() => records.isQuarantineUnseen(this))) return;
    for (const hashes of seen.pages()) await context.write(() => records.markSeen(this, hashes));
  }

  /** Ends a complete full read. Without `rule` (a plan) missing records do not count. */
  async closeWhole(rule: AbsenceRule | undefined): Promise<{ absent: number; missed: number; released: number }> {
    const { context, records } = this.#tables;
    try {
      const now = await this.#absenceNow(rule);
      return await context.write(() => records.closeWholeRead(this, now, this.#memory));
    } finally {
      this.end();
    }
  }

  async #absenceNow(rule: AbsenceRule | undefined): Promise<AbsenceNow | undefined> {
    if (rule === undefined) return undefined;
    const { context, records } = this.#tables;
    const isLacking = context.read(() => records.absence.isLacking(this, this.#memory));
    return { ...rule, isLacking, time: isLacking ? await rule.time() : undefined };
  }
}
