import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { Problem } from "../base/errors.ts";
import type { Stream } from "../crm/model.ts";

/** One record as the source gave it, before any mapping. */
export interface RawRecord {
  /** Where it stands: `customers.csv:12`, or `https://crm.example/orders?page=2#/items/3`. */
  place: string;
  /** What the stream's `key` setting finds in it: the same in every reading, wherever the record has moved to. */
  key?: string;
  value: JsonObject;
}

/** Something in the source that is no usable record. The records around it are read all the same. */
export interface BadRecord {
  place: string;
  key?: string;
  /** A stable word such as `column-count`, `not-json`, `orphan-detail`, `duplicate-key`. */
  code: string;
  /** What is wrong, without personal data. */
  message: string;
  /** The raw text, at most 64 KiB of it. Left out where the mapping of the stream reads secrets. */
  text?: string;
}

export type SourceItem = { raw: RawRecord } | { bad: BadRecord };

/** Name of the header rows where rows are joined; no set of details can have it, since its name is a word. */
export const headerRows = "#headers";

/** Names of the rows, and of the records that they became, where rows are grouped. */
export const groupedRows = "#rows";
export const groupedRecords = "#records";

/** How a reading ended. */
export interface ReadOutcome {
  /**
   * Everything the source holds for the question asked was read. Only a reading that is `complete` and `full` may show
   * that a record is gone.
   */
  complete: boolean;
  /** The question was "everything", not "what changed since". */
  full: boolean;
  /** Records yielded, bad ones included. */
  rows: number;
  /** What to pass as `since` next time, where the source reads incrementally. Given only by a complete reading. */
  cursor?: string;
  /**
   * Rows of each set of details, by its name, where records are joined from several parts; those of the headers under
   * `headerRows`. Where rows are grouped, `groupedRows` and `groupedRecords`.
   */
  details?: Readonly<Record<string, number>>;
  /** Why no record was yielded although everything was read: the answer of `ReadOptions.distrust`. */
  shrunk?: string;
  /**
   * Why the reading is not complete: `source.missing-file`, `source.half-read`, `source.down`, `source.wrong-password`…
   */
  problem?: Problem;
}

export interface ReadOptions {
  /** The `cursor` of an earlier reading. A source that cannot read incrementally reads everything and says `full`. */
  since?: string;
  signal?: AbortSignal;
  /** Largest number of items in one batch; 500 by default. */
  batchSize?: number;
  /**
   * Told how far a reading has come each time the batch before was taken: what `resume` of a later reading begins at,
   * should this one be cut. It holds neither secrets nor personal data. A reader that only begins anew never calls it.
   */
  reached?: (position: string) => void;
  /**
   * A position that `reached` was told by a reading with the same settings that was cut. A reading that goes on from
   * there is `full` only where its records have an order in which none of them moves.
   */
  resume?: string;
  /** Called before the first batch by a reader that cannot go on from `resume` and reads everything from the start. */
  beginsAnew?: () => void;
  /**
   * Says why so few rows are not believed. Asked before the first joined record is yielded, because a record whose
   * detail rows were lost looks like one that was changed.
   */
  distrust?: (details: Readonly<Record<string, number>>) => string | undefined;
}

export interface SourceReader {
  /**
   * The records of a stream in batches, in a stable order; the generator's return value says how the reading ended. A
   * source that cannot be read is an outcome with a problem and never an exception; an aborted signal is thrown.
   */
  read(stream: Stream, options: ReadOptions): AsyncGenerator<SourceItem[], ReadOutcome, void>;
}

/** A source of one kind, opened. */
export interface OpenedReader extends SourceReader {
  check(signal?: AbortSignal): Promise<Problem | undefined>;
  /** Lets go of the view that the streams were read in. */
  endReading?(): Promise<void>;
  close?(): Promise<void>;
}

/** Header and detail rows on disk, so that joining them takes no memory. Given by the ledger. */
export interface Staging {
  open(): StagingArea;
}

/** A row on its way into or out of a staging area; `text` is JSON. */
export interface StagedRow {
  key: string;
  place: string;
  text: string;
}

export interface JoinedRow {
  header: StagedRow;
  /** Rows by the name of their part, in the order in which they were put; no member for a part without a row. */
  details: Record<string, { place: string; text: string }[]>;
}

export interface GroupedRows {
  key: string;
  count: number;
  /** All of them, or only the first where they are more than `most`. */
  rows: { place: string; text: string }[];
  /** The key has a row in the part `mark` too. */
  marked: boolean;
}

export interface StagingArea {
  put(part: string, rows: StagedRow[]): void;
  /** The rows of a part in the order in which they were put, `batch` at a time. */
  rows(part: string, batch: number): Iterable<StagedRow[]>;
  /** Headers whose key stands once, in the order in which they were put, with their details, `batch` at a time. */
  joined(headerPart: string, batch: number): Iterable<JoinedRow[]>;
  /** Rows of `part` whose key no header has. */
  orphans(part: string, headerPart: string): Iterable<StagedRow>;
  /** Keys of a part that stand more than once, with the places and texts of all their rows. */
  duplicates(part: string): Iterable<{ key: string; places: string[]; texts: string[] }>;
  /** Those of the keys that a part has already. */
  known(part: string, keys: readonly string[]): ReadonlySet<string>;
  /** How many keys a part has. */
  count(part: string): number;
  /** The rows of a part by their keys, in the order of these, about `batch` rows at a time. */
  grouped(part: string, mark: string, limits: { batch: number; most: number }): Iterable<GroupedRows[]>;
  close(): void;
}

/** A record of a file before its key is known. */
export interface FileRow {
  place: string;
  value: Json;
}

/** What the reader of one format yields, in the order of the file. */
export type FileItem = { row: FileRow } | { bad: BadRecord };

/** Returns why the file was not read whole. A problem that is thrown means the same and ends the file where it is. */
export type FormatReader = AsyncGenerator<FileItem[], Problem | undefined, void>;

/** Text in UTF-8, and what people call where it stands. */
export interface NamedBytes {
  name: string;
  bytes: AsyncIterable<Buffer>;
}

/** A reading with each of its batches and its end changed; it is closed with whoever leaves it. `left`: its end then. */
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

/** How a reading ends that somebody left. */
export const leftReading: ReadOutcome = { complete: false, full: false, rows: 0 };

/** The first rows of a stream, and how its reading ended where that was its end. */
interface Sample {
  items: SourceItem[];
  /** Undefined where the reading was stopped because enough was read. */
  outcome: ReadOutcome | undefined;
}

/**
 * Reads the first rows of a stream that are `wanted`, `limit` at the most, and stops there. Nothing is kept. Where rows
 * are joined, all of them are read before the first one comes.
 */
export async function readSample(
  source: SourceReader,
  stream: Stream,
  options: {
    limit: number;
    wanted?: (item: SourceItem) => boolean;
    /** Is told of every row that was read, also of those behind the last one that is wanted, and of `atLeast`. */
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
