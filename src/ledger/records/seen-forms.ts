import type Database from "better-sqlite3";
import { inTemporarySpace, temporaryDatabase, type TemporaryOptions } from "../database/temporary.ts";
import type { Row } from "../tables.ts";

const page = 2_000;

/** Hashes of unchanged forms that a read has met. A million rows need no memory, and the ledger is not written. */
export class SeenForms {
  readonly #database;
  readonly #insert;
  #find: Database.Statement<[string, number], 1> | undefined;
  #failure: Error | undefined;
  /** Rows up to this one are from an earlier part of the read. */
  #earlier = 0;

  constructor({ mostPages }: TemporaryOptions = {}) {
    const options = { cacheKiB: 8_000, ...(mostPages === undefined ? {} : { mostPages }) };
    this.#database = temporaryDatabase("create table seen (hash blob not null) strict", options);
    this.#insert = this.#database.prepare("insert into seen (hash) select unhex(value) from json_each(?)");
  }

  add(hashes: readonly string[]): void {
    if (hashes.length > 0) this.#kept(() => this.#insert.run(JSON.stringify(hashes)));
  }

  /** Adds hashes of an earlier part, of 32 bytes each, without separators. */
  takeOver(hashes: Buffer): void {
    const width = 32;
    for (let from = 0; from < hashes.length; from += width * page) {
      const some = hashes.subarray(from, from + width * page);
      this.add(
        Array.from({ length: some.length / width }, (_, at) => some.toString("hex", at * width, (at + 1) * width)),
      );
    }
    this.#earlier = this.last;
  }

  /** Whether this part met the form: one of an earlier part is older, no duplicate. Only for changed records. */
  has(hash: string): boolean {
    return this.#hasAfter(this.#earlier, hash);
  }

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

  since(place: number): { hashes: Buffer; upTo: number } {
    return this.#kept(() => {
      const upTo = this.last;
      const rows = this.#database.prepare<[number, number], Buffer>(
        "select hash from seen where rowid > ? and rowid <= ?",
      );
      return { hashes: Buffer.concat(rows.pluck().all(place, upTo)), upTo };
    });
  }

  get last(): number {
    return this.#database.prepare<[], number>("select coalesce(max(rowid), 0) from seen").pluck().get() ?? 0;
  }

  *inOrder(isOfPart = false): Generator<string, void, void> {
    const inOrder = "select lower(hex(hash)) from seen indexed by seen_by_hash where rowid > ? order by hash";
    const rows = this.#kept(() => {
      this.#sort();
      const rowsAfter = this.#database.prepare<[number], string>(inOrder).pluck();
      return rowsAfter.iterate(isOfPart ? this.#earlier : 0);
    });
    try {
      yield* rows;
    } catch (error) {
      this.#kept(() => {
        throw error;
      });
    }
  }

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

  /** The temporary file is full, so its content is unreliable. */
  get failed(): boolean {
    return this.#failure !== undefined;
  }

  close(): void {
    this.#database.close();
  }

  #kept<T>(work: () => T): T {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return inTemporarySpace(work);
    } catch (error) {
      if (error instanceof Error) this.#failure = error;
      throw error;
    }
  }

  /** One sort is several times faster than an index during the inserts. */
  #sort(): void {
    this.#database.exec("create index if not exists seen_by_hash on seen (hash)");
  }
}

export type StandingRecord = Row<
  "record",
  "namespace" | "id" | "source" | "state" | "raw_hash" | "last_read" | "missed"
>;

export const expectedAtOnce = 500;

/** After this many batches without a match, the source has another order. */
const mostMisses = 4;

interface Place {
  namespace: string;
  id: string;
}

class Page {
  readonly #rows: readonly StandingRecord[];
  readonly #from: Place;
  #next = 0;
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

  /** The last record before the next match. */
  get reached(): Place {
    return this.#rows[this.#next - 1] ?? this.#from;
  }
}

const start: Place = { namespace: "", id: "" };

/**
 * Most sources send rows by key, as the ledger keeps them. Then one page answers for many rows, several times faster
 * than single look-ups. A page is read again after any write to the ledger.
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

  /** `next` returns records after a key. `version` changes with each write to the ledger. */
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

  /** Current records with one of these forms, and the forms that must be looked up. */
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

  /** Records met as expected, each counted once, without those that the read took up. */
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
