import { canonicalJson, isJsonObject, sha256 } from "../../base/canonical-json.ts";
import type { JsonObject } from "../../base/canonical-json.ts";
import type { FileItem } from "../file/row.ts";
import type { RecordLimits } from "../limits.ts";
import type { SourceItem, StagedRow, StagingArea } from "../reader.ts";
import { batchesOf, parseStaged } from "../staged.ts";
import type { Moving, PagingSettings } from "./paging-settings.ts";

type KeyOf = ((value: JsonObject) => string | undefined) | undefined;

/** By what a record is known again on another page: its key, or without one its content. */
export function identityOf(item: FileItem | SourceItem, keyOf: KeyOf): string | undefined {
  const value = "row" in item ? item.row.value : "raw" in item ? item.raw.value : undefined;
  if (!isJsonObject(value)) return undefined;
  const key = keyOf?.(value);
  return key === undefined ? `content ${sha256(canonicalJson(value))}` : `key ${key}`;
}

/** What a page and the way to the next one look like. */
export interface Step {
  from: URL;
  next: { parameters: Readonly<Record<string, string | number>>; url?: URL };
  /** Number of the page, its records, and those of all pages so far. */
  number: number;
  records: number;
  sum: number;
}

/**
 * How is noticed that a list moved while it was read. Where the settings do not say: by overlapping pages where a page
 * begins after so many records, and by reading again where pages are counted in another way; a cursor or an address is
 * trusted to keep its place in the list unless it merely counts.
 */
export function movingOf(paging: PagingSettings, counts: boolean): Moving {
  if (paging.kind === "none" || paging.kind === "keyset") return "trust";
  if (paging.moving !== undefined) return paging.moving;
  if (paging.kind === "offset") return "overlap";
  return paging.kind === "page" || counts ? "again" : "trust";
}

/** Whether what leads to the next page is a number of pages or records: another place once the list moved. */
export function merelyCounts(paging: PagingSettings, step: Step): boolean {
  if (paging.kind === "cursor") return isCount(String(step.next.parameters[paging.parameter] ?? ""), undefined, step);
  const { url } = step.next;
  if (url === undefined) return false;
  return [...url.searchParams].some(([name, value]) => {
    const before = step.from.searchParams.get(name);
    return before !== value && isCount(value, before ?? undefined, step);
  });
}

function isCount(text: string, before: string | undefined, { number, records, sum }: Step): boolean {
  if (!/^\d{1,15}$/u.test(text)) return false;
  const value = Number(text);
  if (value === sum || value === sum + 1 || value === number || value === number + 1) return true;
  return before !== undefined && [1, records].includes(value - Number(before));
}

const seenPart = "#seen";
const passPart = (pass: number): string => `#pass ${pass}`;

/**
 * The records of a list that is read several times. A pass lost no record that was there all the time if the next one
 * finds everything again that it found, and it met no key twice: then nothing left the part of the list that it had
 * read, nor moved into it.
 */
export class Passes {
  readonly #area: StagingArea;
  readonly #keyOf: KeyOf;
  readonly #limits: RecordLimits;
  readonly #ofRecords: boolean;
  /** Of each pass without keys, what its rows are, whatever their order. */
  readonly #contents: bigint[] = [];
  #pass = 1;

  /**
   * `ofRecords`: the rows are parts of records. One that has gone or was changed must not stand in a record beside what
   * took its place, so the rows of one pass alone are taken, when it is known which one.
   */
  constructor(area: StagingArea, keyOf: KeyOf, limits: RecordLimits, { ofRecords }: { ofRecords: boolean }) {
    this.#area = area;
    this.#keyOf = keyOf;
    this.#limits = limits;
    this.#ofRecords = ofRecords;
  }

  /** Whether rows are held back until it is known which pass they are taken of. */
  get holds(): boolean {
    return this.#ofRecords;
  }

  /**
   * Takes what a page of this pass holds, and gives back what the first pass yields of it: a record whose key stood on
   * a page before has moved, and of two forms of one record in a reading nobody could tell which one counts. A change
   * that it came with is read the next time. Of rows that are parts of records only what is bad is given back.
   */
  see(items: readonly SourceItem[]): SourceItem[] {
    const named = items.map((item) => ({ item, key: identityOf(item, this.#keyOf) }));
    const rows = named.flatMap(({ item, key }): StagedRow[] => {
      if (key === undefined || !("raw" in item)) return [];
      const isKept = this.#pass > 1 || this.#ofRecords;
      return [{ key, place: item.raw.place, text: isKept ? JSON.stringify(item.raw.value) : "" }];
    });
    const part = passPart(this.#pass);
    if (this.#ofRecords) {
      this.#area.put(part, rows);
      if (this.#keyOf === undefined) this.#addContents(rows);
      return items.filter((item) => "bad" in item);
    }
    const before =
      this.#pass > 1
        ? undefined
        : this.#area.known(
            part,
            rows.map(({ key }) => key),
          );
    this.#area.put(part, rows);
    if (before === undefined) return [];
    this.#area.put(seenPart, rows);
    return named.filter(({ key }) => key?.startsWith("key ") !== true || !before.has(key)).map(({ item }) => item);
  }

  begin(): void {
    this.#pass += 1;
  }

  /** The rows of this pass, or of the one before it. */
  *rows(of: "this" | "before", batchSize: number): Generator<SourceItem[], void, void> {
    const pass = of === "this" ? this.#pass : this.#pass - 1;
    for (const rows of this.#area.rows(passPart(pass), batchSize)) yield rows.map((row) => this.#itemOf(row));
  }

  /**
   * Rows without keys, which may be alike, are not the same ones as in the pass before: one may have stood on two pages
   * of a pass or on none.
   */
  differ(): boolean {
    return this.#ofRecords && this.#contents[this.#pass] !== this.#contents[this.#pass - 1];
  }

  #addContents(rows: readonly StagedRow[]): void {
    const sum = rows.reduce((all, { key }) => all + BigInt(`0x${sha256(key)}`) + 1n, this.#contents[this.#pass] ?? 0n);
    this.#contents[this.#pass] = sum;
  }

  #itemOf({ place, text }: StagedRow): SourceItem {
    const value = parseStaged(text, this.#limits);
    const key = this.#keyOf?.(value);
    return { raw: key === undefined ? { place, value } : { place, key, value } };
  }

  /** Records of this pass that no pass before it has found, each once. */
  *fresh(batchSize: number): Generator<SourceItem[], void, void> {
    const given = new Set<string>();
    for (const rows of batchesOf(this.#area.orphans(passPart(this.#pass), seenPart), batchSize)) {
      const items = rows.flatMap((row): SourceItem[] => {
        if (row.key.startsWith("key ") && given.has(row.key)) return [];
        given.add(row.key);
        return [this.#itemOf(row)];
      });
      yield items;
    }
    this.#area.put(
      seenPart,
      [...given].map((key) => ({ key, place: "", text: "" })),
    );
  }

  /** A key that a pass met twice, with where it stood. */
  #twiceIn(pass: number): { key: string; places: string[] } | undefined {
    for (const { key, places } of this.#area.duplicates(passPart(pass)))
      if (key.startsWith("key ")) return { key: key.slice(4), places };
    return undefined;
  }

  twice(): { key: string; places: string[] } | undefined {
    return this.#twiceIn(this.#pass);
  }

  twiceBefore(): { key: string; places: string[] } | undefined {
    return this.#twiceIn(this.#pass - 1);
  }

  /** A record that the pass before this one found and this one did not. */
  lostSinceBefore(): { key: string; place: string } | undefined {
    for (const { key, place } of this.#area.orphans(passPart(this.#pass - 1), passPart(this.#pass)))
      return { key, place };
    return undefined;
  }

  close(): void {
    this.#area.close();
  }
}
