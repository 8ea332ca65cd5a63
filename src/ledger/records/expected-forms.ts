import type { Row } from "../tables.ts";

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
