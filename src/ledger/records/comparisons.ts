import type { RecordKey, Stream } from "../../crm/model.ts";
import type { LedgerContext } from "../context.ts";
import { KnownRecords } from "./known-records.ts";
import type { KnownRecord } from "./known-records.ts";
import type { OpenReadings } from "./open-readings.ts";
import type { RecordTables } from "./record-tables.ts";
import { keyOfRow, StagedRecords } from "./staged-records.ts";

/** A read and what it brought that is new or changed. */
export interface ComparedRead {
  read: number;
  source: string;
  stream: Stream;
  staged: StagedRecords;
}

/** What the rows of a read are compared with before they are taken in. */
export class Comparisons {
  readonly #context: LedgerContext;
  readonly #readings: OpenReadings;
  readonly #records: RecordTables;
  readonly #known: KnownRecords;

  constructor(context: LedgerContext, readings: OpenReadings, records: RecordTables) {
    this.#context = context;
    this.#readings = readings;
    this.#records = records;
    this.#known = new KnownRecords(context.database);
  }

  /** Room for what a read brings. Whoever opens it closes it. */
  stage(): StagedRecords {
    return new StagedRecords();
  }

  /** Whether any source has given a record of the stream before the read `first` that is not absent. */
  hasAny(stream: Stream, first: number): boolean {
    return this.#context.read(() => this.#known.hasAny(stream, first));
  }

  /** How many records of the stream a source has given that are not absent. It counts them all. */
  total(source: string, stream: Stream): number {
    return this.#context.read(() => this.#records.kept(source, stream));
  }

  /** Everything that one read is compared with. */
  of({ read, source, stream, staged }: ComparedRead) {
    const reading = this.#readings.of(read, source, stream);
    const ask = <T>(work: () => T): T => this.#context.read(work);
    return {
      of: (of: Stream, keys: readonly RecordKey[]) => ask(() => this.#known.of(of, keys)),
      ordersOf: (customers: readonly RecordKey[]) => ask(() => this.#known.ordersOf(customers)),
      named: (of: Stream, names: readonly string[]) => ask(() => this.#known.named(of, names)),
      hasMet: (known: KnownRecord) => reading.hasMet(known),
      isOfAnother: (known: KnownRecord) =>
        known.source !== source && ask(() => this.#records.unconfigured.isConfigured(known.source, stream)),
      decided: (hashes: readonly string[]) => ask(() => this.#known.decided(source, stream, hashes)),
      missing: () =>
        ask(() =>
          this.#records.absence.newlyMissing(
            source,
            stream,
            reading.first,
            reading.met,
            (keys) => staged.find(keys).size,
          ),
        ),
      unusableRow: (text: string) =>
        staged.unusableRow(text) ?? ask(() => this.#known.unusableRow(source, stream, text, reading.first)),
    };
  }

  /** What a read has shown is not missing, also where the read is not believed. */
  async keepPresent({ read, source, stream, staged }: ComparedRead): Promise<void> {
    for (const rows of staged.pages()) {
      const keys = rows.flatMap((row) => keyOfRow(row) ?? []);
      const missed = this.#context.read(() => this.#known.missedOf(source, stream, keys));
      if (missed.length > 0) await this.#context.write(() => this.#records.keepPresent(source, stream, read, missed));
    }
  }
}
