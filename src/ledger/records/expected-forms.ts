import type { Row } from "../tables.ts";

/** A record as it stands in the ledger. */
export type StandingRecord = Row<"record", "namespace" | "id" | "source" | "state" | "raw_hash" | "missed">;

/** How many records are taken from the ledger at once. */
export const expectedAtOnce = 500;

/** After so many questions that nothing expected has answered, the source comes in another order. */
const mostMisses = 4;

/**
 * The records that a reading will most likely meet next. Sources mostly come in the order of their keys, as records
 * stand in the ledger: then a page of them answers for a page of rows, several times faster than looking each up. What
 * is expected is what the ledger said when the page was taken, and is dropped once anybody has written into it.
 */
export class ExpectedForms {
  readonly #source: string;
  readonly #next: (namespace: string, id: string) => StandingRecord[];
  readonly #version: () => string;
  #seenVersion = "";
  #last = { namespace: "", id: "" };
  #before = new Map<string, StandingRecord>();
  #page = new Map<string, StandingRecord>();
  #misses = 0;

  /**
   * `next` gives the records of the stream that come after a key, `version` a text that changes with each write into
   * the ledger.
   */
  constructor(
    source: string,
    asked: { next: (namespace: string, id: string) => StandingRecord[]; version: () => string },
  ) {
    this.#source = source;
    this.#next = asked.next;
    this.#version = asked.version;
  }

  /** The records that stand in one of these forms, as current ones, and the forms that have to be looked up. */
  find(hashes: readonly string[]): { found: StandingRecord[]; others: readonly string[] } {
    const found: StandingRecord[] = [];
    if (this.#misses >= mostMisses) return { found, others: hashes };
    const version = this.#version();
    if (version !== this.#seenVersion) {
      this.#before.clear();
      this.#page.clear();
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

  #answer(hashes: readonly string[], found: StandingRecord[]): string[] {
    return hashes.filter((hash) => {
      const record = this.#page.get(hash) ?? this.#before.get(hash);
      if (record !== undefined) found.push(record);
      return record === undefined;
    });
  }

  /** Goes on to the next page; false where there is none. */
  #turn(): boolean {
    const rows = this.#next(this.#last.namespace, this.#last.id);
    const last = rows.at(-1);
    if (last === undefined) return false;
    this.#last = last;
    this.#before = this.#page;
    this.#page = new Map(
      rows.filter((row) => row.source === this.#source && row.state === "current").map((row) => [row.raw_hash, row]),
    );
    return true;
  }
}
