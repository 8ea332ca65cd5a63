import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { Problem } from "../base/errors.ts";
import type { Stream } from "../crm/model.ts";

export interface RawRecord {
  /** For example `customers.csv:12` or `https://crm.example/orders?page=2#/items/3`. */
  place: string;
  /** Value of the stream's `key` setting, the same in every read. */
  key?: string;
  value: JsonObject;
}

export interface BadRecord {
  place: string;
  key?: string;
  /** A stable word such as `column-count`, `not-json`, `orphan-detail`, `duplicate-key`. */
  code: string;
  /** Without personal data. */
  message: string;
  /** The raw text, at most 64 KiB. Missing if the stream's mapping reads secrets. */
  text?: string;
}

export type SourceItem = { raw: RawRecord } | { bad: BadRecord };

/** Name of the header rows in a join. No detail set can have it: their names are words. */
export const headerRows = "#headers";

export const groupedRows = "#rows";
export const groupedRecords = "#records";

export interface ReadOutcome {
  /** Everything that was requested was read. Only a `complete` and `full` read can prove that a record is missing. */
  complete: boolean;
  /** Everything was requested, not only changes. */
  full: boolean;
  rows: number;
  /** The next `since`, if the source reads incrementally. Only a complete read has one. */
  cursor?: string;
  /** Row counts by name: of details and `headerRows` in a join, of `groupedRows` and `groupedRecords` in a group. */
  details?: Readonly<Record<string, number>>;
  /** The answer of `ReadOptions.distrust`: why no record was yielded although everything was read. */
  shrunk?: string;
  problem?: Problem;
}

export interface ReadOptions {
  /** The `cursor` of an earlier read. A source without incremental reads reads everything and reports `full`. */
  since?: string;
  signal?: AbortSignal;
  batchSize?: number;
  /** Gets the position when the caller takes the next batch; `resume` continues there. Without private data. */
  reached?: (position: string) => void;
  /** A position of a cut read with the same settings. The read is `full` only if its records have a fixed order. */
  resume?: string;
  /** Called before the first batch by a reader that cannot resume and starts from the beginning. */
  beginsAnew?: () => void;
  /**
   * Why so few rows are not believed. Asked before the first joined record: lost rows look like changes. `isUnclear`:
   * in a read of changes, rows of details that no header row has may belong to its records.
   */
  distrust?: (details: Readonly<Record<string, number>>, isUnclear: boolean) => string | undefined;
}

export interface SourceReader {
  /** An unreadable source is an outcome with a problem, never an exception. An aborted signal throws. */
  read(stream: Stream, options: ReadOptions): AsyncGenerator<SourceItem[], ReadOutcome, void>;
}

export interface OpenedReader extends SourceReader {
  check(signal?: AbortSignal): Promise<Problem | undefined>;
  endReading?(): Promise<void>;
  close?(): Promise<void>;
}

/** Header and detail rows on disk, so that joining them takes no memory. Given by the ledger. */
export interface Staging {
  open(): StagingArea;
}

export interface StagedRow {
  key: string;
  place: string;
  text: string;
}

export interface JoinedRow {
  header: StagedRow;
  /** By part name, in `put` order. A part without rows has no member. */
  details: Record<string, { place: string; text: string }[]>;
}

export interface GroupedRows {
  key: string;
  count: number;
  rows: { place: string; text: string }[];
  /** The key also has a row in the part `mark`. */
  marked: boolean;
}

export interface StagingArea {
  put(part: string, rows: StagedRow[]): void;
  rows(part: string, batch: number): Iterable<StagedRow[]>;
  /** Headers with a unique key and their details, in `put` order. */
  joined(headerPart: string, batch: number): Iterable<JoinedRow[]>;
  orphans(part: string, headerPart: string): Iterable<StagedRow>;
  duplicates(part: string): Iterable<{ key: string; places: string[]; texts: string[] }>;
  known(part: string, keys: readonly string[]): ReadonlySet<string>;
  count(part: string): number;
  grouped(part: string, mark: string, limits: { batch: number; most: number }): Iterable<GroupedRows[]>;
  close(): void;
}

export interface FileRow {
  place: string;
  value: Json;
}

export type FileItem = { row: FileRow } | { bad: BadRecord };

/** Returns why the file was not read completely. A thrown Problem means the same and ends the file. */
export type FormatReader = AsyncGenerator<FileItem[], Problem | undefined, void>;

export interface NamedBytes {
  name: string;
  bytes: AsyncIterable<Buffer>;
}

/** Transforms each batch and the end of a read. Closes the read when the caller leaves; its end is then `left`. */
export async function* changed<From, To, FromEnd, ToEnd>(
  reading: AsyncGenerator<From, FromEnd, void>,
  how: { batch: (batch: From) => To; end: (end: FromEnd) => ToEnd; left: FromEnd },
): AsyncGenerator<To, ToEnd, void> {
  try {
    for (;;) {
      const next = await reading.next();
      if (next.done === true) return how.end(next.value);
      yield how.batch(next.value);
    }
  } finally {
    await reading.return(how.left);
  }
}

export const leftReading: ReadOutcome = { complete: false, full: false, rows: 0 };

interface Sample {
  items: SourceItem[];
  /** Undefined if the read stopped early because `limit` was reached. */
  outcome: ReadOutcome | undefined;
}

/** Reads the first `limit` rows that are `wanted`. Stores nothing. A join first reads all rows. */
export async function readSample(
  source: SourceReader,
  stream: Stream,
  options: {
    limit: number;
    wanted?: (item: SourceItem) => boolean;
    /** Sees every row read, also rows after the last wanted one. A batch has at least `atLeast` rows. */
    sees?: { item: (item: SourceItem) => void; atLeast: number };
    signal: AbortSignal;
  },
): Promise<Sample> {
  const { limit, wanted = () => true, sees, signal } = options;
  const batchSize = Math.min(Math.max(limit, sees?.atLeast ?? 0), 500);
  const reading = source.read(stream, { batchSize, signal });
  const items: SourceItem[] = [];
  let rows = 0;
  for (;;) {
    const next = await reading.next();
    if (next.done === true) return { items, outcome: next.value };
    rows += next.value.length;
    if (sees !== undefined) for (const item of next.value) sees.item(item);
    for (const item of next.value) {
      if (!wanted(item)) continue;
      items.push(item);
      if (items.length < limit) continue;
      await reading.return({ complete: false, full: false, rows });
      return { items, outcome: undefined };
    }
  }
}
