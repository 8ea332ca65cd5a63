import Database from "better-sqlite3";
import { Problem } from "../../base/errors.ts";
import type { Row } from "../tables.ts";

/** Hashes that are taken from the disk at once. */
const page = 2_000;

/** What a reading keeps in the temporary folder does not fit there. */
export function noTemporarySpace(error: Error): Problem {
  return new Problem({
    code: "source.no-temporary-space",
    message: `the temporary folder has no room for the records of this read: ${error.message}`,
    cure: "free about 150 bytes for each record, or set SQLITE_TMPDIR to a folder with more room; then start again",
    cause: error,
  });
}

/**
 * The raw forms that one reading has met as they were, by their hashes. They are kept in a temporary SQLite database
 * that the system removes when it is closed or the process ends, so that remembering a million rows takes no memory,
 * and the ledger is not written for what has not changed.
 */
export class SeenForms {
  readonly #database: Database.Database;
  readonly #insert: Database.Statement<[string]>;
  #find: Database.Statement<[string, number], 1> | undefined;
  #failure: Problem | undefined;
  /** Forms up to this one were met by an earlier part of the reading. */
  #earlier = 0;

  /** `mostPages`: what the file may grow to, in pages of 4,096 bytes; else what the disk has. */
  constructor({ mostPages }: { mostPages?: number } = {}) {
    // An empty name is a private temporary file, written only when it outgrows the page cache.
    this.#database = new Database("");
    this.#database.pragma("journal_mode = off");
    this.#database.pragma("synchronous = off");
    this.#database.pragma("temp_store = file");
    this.#database.pragma("cache_size = -8000");
    if (mostPages !== undefined) this.#database.pragma(`max_page_count = ${mostPages}`);
    this.#database.exec("create table seen (hash blob not null) strict");
    this.#insert = this.#database.prepare("insert into seen (hash) select unhex(value) from json_each(?)");
  }

  /** Adds hashes of 64 hex characters. */
  add(hashes: readonly string[]): void {
    if (hashes.length > 0) this.#kept(() => this.#insert.run(JSON.stringify(hashes)));
  }

  /** Takes over what an earlier part of the reading has met, as `addBytes` takes it. */
  takeOver(hashes: Buffer): void {
    this.addBytes(hashes);
    this.#earlier = this.last;
  }

  /** Adds hashes of 32 bytes, one behind the other. */
  addBytes(hashes: Buffer): void {
    const width = 32;
    for (let from = 0; from < hashes.length; from += width * page) {
      const some = hashes.subarray(from, from + width * page);
      this.add(
        Array.from({ length: some.length / width }, (_, at) => some.toString("hex", at * width, (at + 1) * width)),
      );
    }
  }

  /**
   * Whether this part of the reading has met a form: one that an earlier part met is an older form, and no second one.
   * Asked only for records that have changed, so the order is made when it is first asked.
   */
  has(hash: string): boolean {
    return this.#hasAfter(this.#earlier, hash);
  }

  /** Whether the reading has met a form, in this part or an earlier one. */
  hasMet(hash: string): boolean {
    return this.#hasAfter(0, hash);
  }

  #hasAfter(place: number, hash: string): boolean {
    return this.#kept(() => {
      if (this.#find === undefined) {
        this.#sort();
        this.#find = this.#database
          .prepare<[string, number], 1>("select 1 from seen where hash = unhex(?) and rowid > ?")
          .pluck();
      }
      return this.#find.get(hash, place) !== undefined;
    });
  }

  /** What was met after the place that `upTo` gave before, as `takeOver` takes it. */
  since(place: number): { hashes: Buffer; upTo: number } {
    return this.#kept(() => {
      const upTo = this.last;
      const rows = this.#database.prepare<[number, number], Buffer>(
        "select hash from seen where rowid > ? and rowid <= ?",
      );
      return { hashes: Buffer.concat(rows.pluck().all(place, upTo)), upTo };
    });
  }

  /** The place of what was met last. */
  get last(): number {
    return this.#database.prepare<[], number>("select coalesce(max(rowid), 0) from seen").pluck().get() ?? 0;
  }

  /** Every form that was met, in the order of the hashes. */
  *inOrder(): Generator<string, void, void> {
    const inOrder = "select lower(hex(hash)) from seen indexed by seen_by_hash order by hash";
    const rows = this.#kept(() => {
      this.#sort();
      return this.#database.prepare<[], string>(inOrder).pluck().iterate();
    });
    try {
      yield* rows;
    } catch (error) {
      this.#kept(() => {
        throw error;
      });
    }
  }

  /** Every form that was met, in pages. */
  *pages(): Generator<string[], void, void> {
    const statement = this.#database.prepare<[number, number], { rowid: number; hash: string }>(
      "select rowid, lower(hex(hash)) as hash from seen where rowid > ? order by rowid limit ?",
    );
    for (let last = 0; ;) {
      const rows = this.#kept(() => statement.all(last, page));
      const end = rows.at(-1);
      if (end === undefined) return;
      last = end.rowid;
      yield rows.map((row) => row.hash);
    }
  }

  /** Whether the temporary file could not hold something: what it holds is not to be relied on any more. */
  get failed(): boolean {
    return this.#failure !== undefined;
  }

  close(): void {
    this.#database.close();
  }

  /** What fails here is this file, not the ledger: the reading comes to nothing, and everything else goes on. */
  #kept<T>(work: () => T): T {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Database.SqliteError)) throw error;
      this.#failure = noTemporarySpace(error);
      throw this.#failure;
    }
  }

  /** Sorting once is several times faster than keeping the order while rows come in. */
  #sort(): void {
    this.#database.exec("create index if not exists seen_by_hash on seen (hash)");
  }
}

/** A record as it stands in the ledger. */
export type StandingRecord = Row<
  "record",
  "namespace" | "id" | "source" | "state" | "raw_hash" | "last_read" | "missed"
>;

/** How many records are taken from the ledger at once. */
export const expectedAtOnce = 500;

/** After so many questions that nothing expected has answered, the source comes in another order. */
const mostMisses = 4;

interface Place {
  namespace: string;
  id: string;
}

/** Records of the ledger in key order after `from`. One that it has answered with it answers with no more. */
class Page {
  readonly #rows: readonly StandingRecord[];
  readonly #from: Place;
  /** One more than the place of the last one that it has answered with. */
  #next = 0;
  /** The places of those that are left, once one of them has not come as the next. */
  #places: Map<string, number> | undefined;

  constructor(rows: readonly StandingRecord[], from: Place) {
    this.#rows = rows;
    this.#from = from;
  }

  take(form: string): StandingRecord | undefined {
    const row = this.#rows[this.#next];
    if (this.#places === undefined && row?.raw_hash === form) {
      this.#next += 1;
      return row;
    }
    this.#places ??= new Map(this.#rows.slice(this.#next).map((left, index) => [left.raw_hash, this.#next + index]));
    const place = this.#places.get(form);
    if (place === undefined) return undefined;
    this.#places.delete(form);
    this.#next = Math.max(this.#next, place + 1);
    return this.#rows[place];
  }

  get isBegun(): boolean {
    return this.#next > 0;
  }

  /** After which record nothing was answered yet. */
  get reached(): Place {
    return this.#rows[this.#next - 1] ?? this.#from;
  }
}

const start: Place = { namespace: "", id: "" };

/**
 * The records that a reading will most likely meet next. Sources mostly come in the order of their keys, as records
 * stand in the ledger: then a page of them answers for a page of rows, several times faster than looking each up. What
 * is expected is what the ledger said when the page was taken, and is taken anew once anybody has written into it.
 */
export class ExpectedForms {
  readonly #source: string;
  readonly #read: number;
  readonly #next: (namespace: string, id: string) => StandingRecord[];
  readonly #version: () => string;
  #seenVersion = "";
  #last = start;
  #before = new Page([], start);
  #page = new Page([], start);
  #misses = 0;
  #met = 0;

  /**
   * `next` gives the records of the stream that come after a key, `version` a text that changes with each write into
   * the ledger.
   */
  constructor(
    source: string,
    read: number,
    asked: { next: (namespace: string, id: string) => StandingRecord[]; version: () => string },
  ) {
    this.#source = source;
    this.#read = read;
    this.#next = asked.next;
    this.#version = asked.version;
  }

  /** The records that stand in one of these forms, as current ones, and the forms that have to be looked up. */
  find(hashes: readonly string[]): { found: StandingRecord[]; others: readonly string[] } {
    const found: StandingRecord[] = [];
    if (this.#misses >= mostMisses) return { found, others: hashes };
    const version = this.#version();
    if (version !== this.#seenVersion) {
      this.#last = this.#page.isBegun ? this.#page.reached : this.#before.reached;
      this.#before = new Page([], this.#last);
      this.#page = new Page([], this.#last);
    }
    this.#seenVersion = version;
    let others = this.#answer(hashes, found);
    while (others.length > 0 && this.#misses < mostMisses && this.#turn()) {
      const left = this.#answer(others, found);
      if (left.length === others.length) break;
      others = left;
    }
    this.#misses = found.length * 2 > hashes.length ? 0 : this.#misses + 1;
    return { found, others };
  }

  /** How many records were met as they were expected: each once, and none that the reading itself has taken up. */
  get met(): number {
    return this.#met;
  }

  #answer(hashes: readonly string[], found: StandingRecord[]): string[] {
    return hashes.filter((hash) => {
      const record = this.#page.take(hash) ?? this.#before.take(hash);
      if (record === undefined) return true;
      found.push(record);
      if (record.last_read !== this.#read) this.#met += 1;
      return false;
    });
  }

  /** Goes on to the next page; false where there is none. */
  #turn(): boolean {
    const rows = this.#next(this.#last.namespace, this.#last.id);
    const last = rows.at(-1);
    if (last === undefined) return false;
    this.#before = this.#page;
    const own = rows.filter((row) => row.source === this.#source && row.state === "current");
    this.#page = new Page(own, this.#last);
    this.#last = last;
    return true;
  }
}
