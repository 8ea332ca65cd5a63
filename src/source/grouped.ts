import { canonicalJson, type Json, type JsonObject } from "../base/canonical-json.ts";
import type { GroupSettings } from "./group-settings.ts";
import { batchesOf, keyReader, parseStaged, type RecordLimits } from "./json.ts";
import { pathOf, valueAt, type Path } from "./mapping/path.ts";
import {
  groupedRecords,
  groupedRows,
  type GroupedRows,
  type ReadOptions,
  type ReadOutcome,
  type SourceItem,
  type StagedRow,
  type Staging,
  type StagingArea,
} from "./reader.ts";

interface Grouped {
  settings: GroupSettings;
  rowKey: string | undefined;
  limits: RecordLimits;
  staging: Staging;
  read: (options: ReadOptions) => AsyncGenerator<SourceItem[], ReadOutcome, void>;
}

/** Parts of the staging area: rows by record key, rows by their own key, and rows whose own key is duplicated. */
const parts = { rows: "#rows", own: "#own", twice: "#twice" } as const;

/**
 * Groups rows by key: `{ key, NAME: [rows], FIELD: … }`. Row order must not change a record, so rows are sorted. An
 * incomplete or doubted read yields no record: missing rows would look like a change. Never resumes: changed rows are
 * only a part of a record.
 */
export async function* readGrouped(
  { settings, rowKey, limits, staging, read }: Grouped,
  options: ReadOptions,
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  const batchSize = options.batchSize ?? 500;
  const area = staging.open();
  try {
    const { signal } = options;
    const reading = read({ ...(signal === undefined ? {} : { signal }), batchSize });
    const { outcome, taken, bad } = yield* stageRows({ by: settings.by, rowKey }, area, reading, signal);
    let rows = bad;
    if (!outcome.complete) return { ...outcome, rows };
    const details = { ...outcome.details, [groupedRows]: taken, [groupedRecords]: area.count(parts.rows) };
    const ended = { complete: true, full: outcome.full, details };
    const shrunk = options.distrust?.(details, false);
    if (shrunk !== undefined) return { ...ended, rows, shrunk };
    for (const batch of batchesOf(rowsTwice(area, rowKey), batchSize)) {
      rows += batch.length;
      yield batch;
      options.signal?.throwIfAborted();
    }
    const make = recordMaker(settings, rowKey, limits);
    for (const groups of area.grouped(parts.rows, parts.twice, { batch: batchSize, most: limits.maxMembers })) {
      const items = groups.map(make).filter((item) => item !== undefined);
      rows += items.length;
      yield items;
      options.signal?.throwIfAborted();
    }
    return { ...ended, rows };
  } finally {
    area.close();
  }
}

async function* stageRows(
  { by, rowKey }: { by: string; rowKey: string | undefined },
  area: StagingArea,
  reading: AsyncGenerator<SourceItem[], ReadOutcome, void>,
  signal: AbortSignal | undefined,
): AsyncGenerator<SourceItem[], { taken: number; bad: number; outcome: ReadOutcome }, void> {
  const keyOf = keyReader(by);
  const ownOf = keyReader(rowKey);
  let taken = 0;
  let allBad = 0;
  try {
    for (;;) {
      const next = await reading.next();
      if (next.done === true) return { taken, bad: allBad, outcome: next.value };
      taken += next.value.length;
      const bad: SourceItem[] = [];
      const owns: StagedRow[] = [];
      const rows: StagedRow[] = [];
      for (const item of next.value) {
        if ("bad" in item) {
          bad.push(item);
          continue;
        }
        const { place, value } = item.raw;
        const key = keyOf(value);
        const own = ownOf?.(value);
        if (key !== undefined && (rowKey === undefined || own !== undefined))
          rows.push({ key, place, text: JSON.stringify(value) });
        else {
          const message = `the row has no usable key in ${key === undefined ? by : (rowKey ?? "")}`;
          bad.push({ bad: { place, code: "no-key", message, ...(own === undefined ? {} : { key: own }) } });
        }
        if (own !== undefined) owns.push({ key: own, place, text: key ?? "" });
      }
      area.put(parts.rows, rows);
      area.put(parts.own, owns);
      allBad += bad.length;
      if (bad.length > 0) yield bad;
      signal?.throwIfAborted();
    }
  } finally {
    await reading.return({ complete: false, full: false, rows: taken });
  }
}

function* rowsTwice(area: StagingArea, rowKey: string | undefined): Generator<SourceItem, void, void> {
  if (rowKey === undefined) return;
  for (const { key, places, texts } of area.duplicates(parts.own)) {
    area.put(
      parts.twice,
      texts.map((text, index) => ({ key: text, place: places[index] ?? "", text: key })),
    );
    for (const [index, place] of places.entries()) {
      const elsewhere = places.toSpliced(index, 1).slice(0, 10).join(", ");
      yield { bad: { place, key, code: "duplicate-row", message: `the row ${key} also occurs in ${elsewhere}` } };
    }
  }
}

interface Row {
  place: string;
  value: JsonObject;
  order: string;
}

/** Undefined if one of the rows is a duplicate: it is already reported, and nobody knows how often it counts. */
function recordMaker(
  { into, fields }: GroupSettings,
  rowKey: string | undefined,
  limits: RecordLimits,
): (group: GroupedRows) => SourceItem | undefined {
  const ownOf = keyReader(rowKey);
  const shared = Object.entries(fields).map(([name, path]) => ({ name, path, at: pathOf(path) }));
  return ({ key, count, rows, marked }) => {
    if (marked) return undefined;
    const bad = (place: string, code: string, message: string): SourceItem => ({ bad: { place, key, code, message } });
    if (rows.length < count) {
      const most = `at most ${limits.maxMembers} are allowed`;
      return bad(rows[0]?.place ?? "", "too-wide", `${count} rows have this key; ${most}`);
    }
    const sorted = rows
      .map(({ place, text }): Row => {
        const value = parseStaged(text, limits);
        const canonical = canonicalJson(value);
        const own = ownOf?.(value);
        return { place, value, order: own === undefined ? canonical : `${own}\u0000${canonical}` };
      })
      .toSorted((one, other) => (one.order < other.order ? -1 : one.order > other.order ? 1 : 0));
    const place = sorted[0]?.place ?? "";
    const record: JsonObject = { key, [into]: sorted.map(({ value }) => value) };
    for (const { name, path, at } of shared) {
      const said = saidBy(sorted, at);
      if (said.differs !== undefined) {
        const message = `the rows of this key must agree in ${path}, but this row and ${said.differs} differ`;
        return bad(said.place ?? place, "differing-rows", message);
      }
      record[name] = said.value;
    }
    return { raw: { place, key, value: record } };
  };
}

/** `value` is null if no row has a value. `differs`: the place of a row with another value. */
function saidBy(rows: readonly Row[], at: Path): { value: Json; place?: string; differs?: string } {
  let first: { value: Json; place: string; text: string } | undefined;
  for (const { place, value } of rows) {
    const found = valueAt({ item: value, parent: undefined }, at);
    if (found === undefined || found === null || found === "") continue;
    const text = canonicalJson(found);
    first ??= { value: found, place, text };
    if (text !== first.text) return { value: null, place: first.place, differs: place };
  }
  return first ?? { value: null };
}
