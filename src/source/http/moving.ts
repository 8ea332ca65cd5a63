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

/** By key, or else by content. A bad record: by its fault and text. */
export function identityOf(item: FileItem | SourceItem, keyOf: KeyOf): string {
  if ("bad" in item) {
    const { code, key, text, message } = item.bad;
    return `bad ${hashOf([code, key ?? null, text ?? message])}`;
  }
  const value = "row" in item ? item.row.value : item.raw.value;
  const key = isJsonObject(value) ? keyOf?.(value) : undefined;
  return key === undefined ? `content ${sha256(canonicalJson(value))}` : `key ${key}`;
}

interface Step {
  from: URL;
  next: { parameters: Readonly<Record<string, string | number>>; url?: URL };
  /** `number`: of the page. `sum`: records of all pages so far. */
  number: number;
  records: number;
  sum: number;
}

/** Without a setting, paging by count is unsafe, so the list is read twice. A cursor or an address is trusted. */
export function movingOf(paging: PagingSettings, counts: boolean): Moving {
  if (paging.kind === "none" || paging.kind === "keyset") return "trust";
  if (paging.moving !== undefined) return paging.moving;
  return paging.kind === "page" || paging.kind === "offset" || counts ? "again" : "trust";
}

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

/** A pass is proven if it found no key twice and the next finds all its records: none moved across. */
export class Passes {
  readonly #area: StagingArea;
  readonly #keyOf: KeyOf;
  readonly #limits: RecordLimits;
  /** Rows wait until a pass is proven. */
  readonly holds: boolean;
  /** Of each pass without keys: a sum of its rows that ignores their order. */
  readonly #contents: bigint[] = [];
  #pass = 1;
  /** Bad records that look alike are counted, from the second one on. */
  readonly #alike = new Map<string, number>();

  /** `ofRecords`: rows are parts of records. Old and new rows must not mix, so rows of one proven pass are used. */
  constructor(area: StagingArea, keyOf: KeyOf, limits: RecordLimits, { ofRecords }: { ofRecords: boolean }) {
    this.#area = area;
    this.#keyOf = keyOf;
    this.#limits = limits;
    this.holds = ofRecords;
  }

  /**
   * The first pass yields each key once: a repeated key has moved, and its valid form is unknown. Later passes yield
   * nothing: see `fresh`. For parts of records, yields only bad items.
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

  *rows(of: "this" | "before", batchSize: number): Generator<SourceItem[], void, void> {
    for (const rows of this.#area.rows(this.#partOf(of), batchSize)) yield rows.map((row) => this.#itemOf(row));
  }

  /** Rows without keys differ from the pass before: a row may have been on two pages or on none. */
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

  /** A key that the pass met twice, with its places. */
  twice(of: "this" | "before"): { key: string; places: string[] } | undefined {
    for (const { key, places } of this.#area.duplicates(this.#partOf(of)))
      if (key.startsWith("key ")) return { key: key.slice(4), places };
    return undefined;
  }

  /** A record of the pass before that this pass did not find. */
  lostSinceBefore(): { key: string; place: string } | undefined {
    for (const { key, place } of this.#area.orphans(passPart(this.#pass - 1), passPart(this.#pass)))
      return { key, place };
    return undefined;
  }

  close(): void {
    this.#area.close();
  }
}
