import {
  canonicalJson,
  hashOf,
  isJsonObject,
  parseJsonObject,
  sha256,
  type JsonObject,
} from "../../base/canonical-json.ts";
import { batchesOf, parseStaged, type RecordLimits } from "../json.ts";
import type { BadRecord, FileItem, SourceItem, StagedRow, StagingArea } from "../reader.ts";
import type { Moving, PagingSettings } from "./paging-settings.ts";

type KeyOf = ((value: JsonObject) => string | undefined) | undefined;

/**
 * By what a record is known again on another page: its key, or without one its content. One that cannot be used is
 * known by what is wrong with it and by its text, wherever it stands.
 */
export function identityOf(item: FileItem | SourceItem, keyOf: KeyOf): string {
  if ("bad" in item) {
    const { code, key, text, message } = item.bad;
    return `bad ${hashOf([code, key ?? null, text ?? message])}`;
  }
  const value = "row" in item ? item.row.value : item.raw.value;
  const key = isJsonObject(value) ? keyOf?.(value) : undefined;
  return key === undefined ? `content ${sha256(canonicalJson(value))}` : `key ${key}`;
}

/** What a page and the way to the next one look like. */
interface Step {
  from: URL;
  next: { parameters: Readonly<Record<string, string | number>>; url?: URL };
  /** Number of the page, its records, and those of all pages so far. */
  number: number;
  records: number;
  sum: number;
}

/**
 * How crm-sync notices that a list changed during a read, if the settings do not choose. Paging that counts pages or
 * records reads the list again. A cursor or an address is trusted to keep its place.
 */
export function movingOf(paging: PagingSettings, counts: boolean): Moving {
  if (paging.kind === "none" || paging.kind === "keyset") return "trust";
  if (paging.moving !== undefined) return paging.moving;
  return paging.kind === "page" || paging.kind === "offset" || counts ? "again" : "trust";
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

const isBad = (identity: string): boolean => identity.startsWith("bad ");
const first = (identity: string): string => `${identity} 1`;

/** A record that cannot be used, as it was staged. */
function badOf(staged: string, place: string): BadRecord {
  const { code, key, message, text } = parseJsonObject(staged);
  return {
    place,
    code: typeof code === "string" ? code : "",
    message: typeof message === "string" ? message : "",
    ...(typeof key === "string" ? { key } : {}),
    ...(typeof text === "string" ? { text } : {}),
  };
}

const seenPart = "#seen";
const passPart = (pass: number): string => `#pass ${pass}`;

/**
 * The records of a list that is read several times. A pass missed no record that was there all the time if the
 * next pass finds all of its records again, and it found no key twice. Then no record moved into the part of the list
 * that the pass had read, or out of it.
 */
export class Passes {
  readonly #area: StagingArea;
  readonly #keyOf: KeyOf;
  readonly #limits: RecordLimits;
  /** Whether rows are held back until it is known which pass they are taken of. */
  readonly holds: boolean;
  /** Of each pass without keys, what its rows are, whatever their order. */
  readonly #contents: bigint[] = [];
  #pass = 1;
  /** How often this pass has met records that cannot be used and look alike, of those that it met more than once. */
  readonly #alike = new Map<string, number>();

  /**
   * `ofRecords`: the rows are parts of records. One that has gone or was changed must not stand in a record beside what
   * took its place, so the rows of one pass alone are taken, when it is known which one.
   */
  constructor(area: StagingArea, keyOf: KeyOf, limits: RecordLimits, { ofRecords }: { ofRecords: boolean }) {
    this.#area = area;
    this.#keyOf = keyOf;
    this.#limits = limits;
    this.holds = ofRecords;
  }

  /**
   * Takes what a page of this pass holds, and gives back what the first pass yields of it: a record whose key stood on
   * a page before has moved, and of two forms of one record in a reading nobody could tell which one counts. A change
   * that it came with is read the next time. Of rows that are parts of records only what is bad is given back.
   */
  see(items: readonly SourceItem[]): SourceItem[] {
    const part = passPart(this.#pass);
    const named = this.#numbered(
      part,
      items.map((item) => ({ item, key: identityOf(item, this.#keyOf) })),
    );
    const rows = named.map(({ item, key }): StagedRow => {
      const { place } = "raw" in item ? item.raw : item.bad;
      const kept = "raw" in item ? item.raw.value : item.bad;
      return { key, place, text: this.#pass === 1 && !this.holds ? "" : JSON.stringify(kept) };
    });
    if (this.holds) {
      const good = rows.filter(({ key }) => !isBad(key));
      this.#area.put(part, good);
      if (this.#keyOf === undefined) this.#addContents(good);
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
    return named.filter(({ key }) => !key.startsWith("key ") || !before.has(key)).map(({ item }) => item);
  }

  /** Records that cannot be used and look alike, each by how many of them came before: they count one by one. */
  #numbered<Named extends { key: string }>(part: string, named: readonly Named[]): Named[] {
    const bad = named.filter(({ key }) => isBad(key)).map(({ key }) => key);
    if (bad.length === 0) return [...named];
    const met = this.#area.known(part, bad.map(first));
    const counts = new Map<string, number>();
    return named.map((one) => {
      if (!isBad(one.key)) return one;
      const count = (counts.get(one.key) ?? this.#alike.get(one.key) ?? (met.has(first(one.key)) ? 1 : 0)) + 1;
      counts.set(one.key, count);
      if (count > 1) this.#alike.set(one.key, count);
      return { ...one, key: `${one.key} ${count}` };
    });
  }

  begin(): void {
    this.#pass += 1;
    this.#alike.clear();
  }

  #partOf(of: "this" | "before"): string {
    return passPart(of === "this" ? this.#pass : this.#pass - 1);
  }

  /** The rows of this pass, or of the one before it. */
  *rows(of: "this" | "before", batchSize: number): Generator<SourceItem[], void, void> {
    for (const rows of this.#area.rows(this.#partOf(of), batchSize)) yield rows.map((row) => this.#itemOf(row));
  }

  /**
   * Rows without keys, which may be alike, are not the same ones as in the pass before: one may have stood on two pages
   * of a pass or on none.
   */
  differ(): boolean {
    return this.holds && this.#contents[this.#pass] !== this.#contents[this.#pass - 1];
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
        const { key: identity, place, text } = row;
        if (identity.startsWith("key ") && given.has(identity)) return [];
        given.add(identity);
        return [isBad(identity) ? { bad: badOf(text, place) } : this.#itemOf(row)];
      });
      yield items;
    }
    this.#area.put(
      seenPart,
      [...given].map((key) => ({ key, place: "", text: "" })),
    );
  }

  /** A key that this pass met twice, or the one before it, with where it stood. */
  twice(of: "this" | "before"): { key: string; places: string[] } | undefined {
    for (const { key, places } of this.#area.duplicates(this.#partOf(of)))
      if (key.startsWith("key ")) return { key: key.slice(4), places };
    return undefined;
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
