import { canonicalJson, isJsonObject } from "../base/canonical-json.ts";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import { rowsInside } from "./group-settings.ts";
import type { GroupSettings, RowsInside } from "./group-settings.ts";
import { batchesOf, keyReader, measureJson, parseStaged } from "./json.ts";
import type { RecordLimits } from "./json.ts";
import { pathOf, valueAt } from "./mapping/path.ts";
import type { Path } from "./mapping/path.ts";
import { groupedRecords, groupedRows } from "./reader.ts";
import type {
  BadRecord,
  GroupedRows,
  RawRecord,
  ReadOptions,
  ReadOutcome,
  SourceItem,
  StagedRow,
  Staging,
  StagingArea,
} from "./reader.ts";

/** Rows that become records by their key. */
interface Grouped {
  settings: GroupSettings;
  /**
   * Field that identifies a record as the source gives it: a row, or what rows stand in. One that stands twice is then
   * named.
   */
  rowKey: string | undefined;
  limits: RecordLimits;
  staging: Staging;
  /** Reads all rows, of whatever kind. */
  read: (options: ReadOptions) => AsyncGenerator<SourceItem[], ReadOutcome, void>;
}

/** Parts of the staging area: rows by the key of their record, by their own, and those whose own key stands twice. */
const parts = { rows: "#rows", own: "#own", twice: "#twice" } as const;

/**
 * The rows of a reading as records, one for each key: `{ key, NAME: [rows], FIELD: … }`. A row is what the reading
 * gives, or an element of a list in it. A record depends on its rows
 * alone and not on the order in which they came: they stand in the order of their own keys, as text, and without these
 * in that of their canonical JSON. Records come in the order of their keys. Everything is staged first: where the rows
 * were not read whole, or so many are gone that it is not believed, there is no record, since one that lacks rows would
 * look like a change. Rows are always read from the beginning: those that changed are a part of a record.
 */
export async function* readGrouped(
  { settings, rowKey, limits, staging, read }: Grouped,
  options: ReadOptions,
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  const batchSize = options.batchSize ?? 500;
  const area = staging.open();
  let rows = 0;
  try {
    const inside = rowsInside(settings);
    const rowsOf = inside === undefined ? itself : (raw: RawRecord) => nestedRows(raw, inside, limits);
    const staged = stageRows({ by: settings.by, rowKey, rowsOf }, area, read({ ...signalOf(options), batchSize }));
    let outcome: ReadOutcome;
    let taken: number;
    for (;;) {
      const next = await staged.next();
      if (next.done === true) {
        ({ outcome, taken } = next.value);
        break;
      }
      rows += next.value.length;
      yield next.value;
      options.signal?.throwIfAborted();
    }
    if (!outcome.complete) return { ...outcome, rows };
    const details = { ...outcome.details, [groupedRows]: taken, [groupedRecords]: area.count(parts.rows) };
    const ended = { complete: true, full: outcome.full, details };
    const shrunk = options.distrust?.(details);
    if (shrunk !== undefined) return { ...ended, rows, shrunk };
    for (const batch of batchesOf(rowsTwice(area, rowKey, inside), batchSize)) {
      rows += batch.length;
      yield batch;
      options.signal?.throwIfAborted();
    }
    const make = recordMaker(settings, rowKey, inside, limits);
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

function signalOf({ signal }: ReadOptions): ReadOptions {
  return signal === undefined ? {} : { signal };
}

/** A record that is a row. */
function itself({ place, value }: RawRecord): Iterable<NestedRow> {
  return [{ at: "", place, value, text: JSON.stringify(value) }];
}

interface RowsStaged {
  by: string;
  rowKey: string | undefined;
  rowsOf: (raw: RawRecord) => Iterable<NestedRow>;
}

/** Most rows that are held until they are put into the area. */
const mostHeld = 500;

/** Puts rows into the area; yields what is bad in them, returns their number and how the reading ended. */
async function* stageRows(
  { by, rowKey, rowsOf }: RowsStaged,
  area: StagingArea,
  reading: AsyncGenerator<SourceItem[], ReadOutcome, void>,
): AsyncGenerator<SourceItem[], { taken: number; outcome: ReadOutcome }, void> {
  const keyOf = keyReader(by);
  const ownOf = keyReader(rowKey);
  let taken = 0;
  let records = 0;
  try {
    for (;;) {
      const next = await reading.next();
      if (next.done === true) return { taken, outcome: next.value };
      const bad: SourceItem[] = [];
      const owns: StagedRow[] = [];
      let rows: StagedRow[] = [];
      for (const item of next.value) {
        if ("bad" in item) {
          bad.push(item);
          taken += 1;
          continue;
        }
        const own = ownOf?.(item.raw.value);
        const groups = new Set<string>();
        let isKeyless = false;
        for (const row of rowsOf(item.raw)) {
          taken += 1;
          if ("bad" in row) {
            bad.push(named(row.bad, own, row.at));
            continue;
          }
          const key = keyOf(row.value);
          if (key === undefined) bad.push(keyless(row.place, own, row.at, by));
          else if (ownOf !== undefined && own === undefined) isKeyless = true;
          else {
            rows.push({ key, place: row.place, text: row.text });
            groups.add(key);
          }
          if (rows.length < mostHeld) continue;
          area.put(parts.rows, rows);
          rows = [];
        }
        if (isKeyless) bad.push(keyless(item.raw.place, own, "", rowKey ?? ""));
        if (own !== undefined) owns.push(...ownRows(item.raw.place, own, records, groups));
        records += 1;
      }
      area.put(parts.rows, rows);
      area.put(parts.own, owns);
      if (bad.length > 0) yield bad;
    }
  } finally {
    await reading.return({ complete: false, full: false, rows: taken });
  }
}

function keyless(place: string, own: string | undefined, at: string, path: string): SourceItem {
  return named({ place, code: "no-key", message: `the row has no usable key in ${path}` }, own, at);
}

/** Something bad with its key, which tells the rows of one record apart. */
function named(bad: BadRecord, own: string | undefined, at: string): SourceItem {
  return { bad: own === undefined ? bad : { ...bad, key: `${own}${at}` } };
}

/**
 * A record by its own key, once for each key that it has rows of; once at least, so that it is known to stand twice.
 * The text is its number, which tells it from another one of its key, and the key of the rows.
 */
function ownRows(place: string, own: string, record: number, groups: ReadonlySet<string>): StagedRow[] {
  return [...(groups.size === 0 ? [""] : groups)].map((key) => ({ key: own, place, text: `${record} ${key}` }));
}

/** Names each record whose own key stands twice, and notes the records that its rows would count in. */
function* rowsTwice(
  area: StagingArea,
  rowKey: string | undefined,
  inside: RowsInside | undefined,
): Generator<SourceItem, void, void> {
  if (rowKey === undefined) return;
  for (const { key, places, texts } of area.duplicates(parts.own)) {
    const placeOf = new Map(texts.map((text, index) => [text.slice(0, text.indexOf(" ")), places[index] ?? ""]));
    if (placeOf.size === 1) continue;
    area.put(
      parts.twice,
      texts.map((text, index) => ({ key: text.slice(text.indexOf(" ") + 1), place: places[index] ?? "", text: key })),
    );
    const what = inside === undefined ? "row" : "record";
    for (const [record, place] of placeOf) {
      const others = [...placeOf].filter(([other]) => other !== record).slice(0, 10);
      const elsewhere = others.map(([, at]) => at).join(", ");
      yield { bad: { place, key, code: "duplicate-row", message: `the ${what} ${key} also occurs in ${elsewhere}` } };
    }
  }
}

interface Row {
  place: string;
  value: JsonObject;
  order: string;
}

/**
 * Makes the record of a key. Undefined where one of its rows stands twice, which is named already: nobody knows how
 * often it counts.
 */
function recordMaker(
  { into, fields }: GroupSettings,
  rowKey: string | undefined,
  inside: RowsInside | undefined,
  limits: RecordLimits,
): (group: GroupedRows) => SourceItem | undefined {
  const keyOf = keyReader(rowKey);
  const ownOf = (row: JsonObject): string | undefined => {
    const record = inside === undefined ? row : row[inside.record];
    return isJsonObject(record) ? keyOf?.(record) : undefined;
  };
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
        const own = ownOf(value);
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

/** What rows say of a field: null where none says anything; the place of one that says something else. */
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

/** A row, or why there is none. `at` tells it from the others of its record; "" where it is the record itself. */
type NestedRow = { at: string } & ({ place: string; value: JsonObject; text: string } | { bad: BadRecord });

/**
 * The elements of a list in a record as rows: `{ …element, NAME: the record without the list }`. A record without the
 * list has none; an object alone counts as a list of one. What stands there and is no list is a bad record, and so is
 * an element that can be no row; the others are rows all the same. One comes at a time: each has a copy of its record.
 */
function* nestedRows(
  { place, value }: RawRecord,
  inside: RowsInside,
  limits: RecordLimits,
): Generator<NestedRow, void, void> {
  const found = valueAt({ item: value, parent: undefined }, { up: 0, steps: inside.steps });
  if (found === undefined || found === null || found === "") return;
  const placeOf = (at: string): string => `${place}${place.includes("#") ? at.slice(1) : at}`;
  const bad = (at: string, code: string, message: string): NestedRow => ({
    at,
    bad: { place: placeOf(at), code, message },
  });
  if (typeof found !== "object") {
    yield bad("", "not-a-list", `the record has no list in ${inside.path}; its rows are expected there`);
    return;
  }
  const around = without(value, inside.steps);
  // In a row the record stands one deeper than by itself.
  const measured = measureJson(around, { ...limits, maxDepth: limits.maxDepth - 1 });
  if (!measured.ok) {
    yield bad("", measured.error.code, `the record is ${measured.error.message}, which leaves no room for its rows`);
    return;
  }
  const recordText = `${JSON.stringify(inside.record)}:${JSON.stringify(around)}`;
  for (const [index, element] of (Array.isArray(found) ? found : [found]).entries()) {
    const at = `#/${[...inside.steps, index].join("/")}`;
    if (!isJsonObject(element)) yield bad(at, "not-an-object", "the row is not an object");
    else if (Object.hasOwn(element, inside.record)) {
      const cure = "set another name for the record in group.record";
      yield bad(at, "name-taken", `the row has a member ${inside.record} of its own; ${cure}`);
    } else if (Object.keys(element).length >= limits.maxMembers)
      yield bad(at, "too-wide", `the row has no room for its record; at most ${limits.maxMembers} members are allowed`);
    else {
      const text = JSON.stringify(element).slice(0, -1);
      const row = `${text}${text === "{" ? "" : ","}${recordText}}`;
      yield { at, place: placeOf(at), value: { ...element, [inside.record]: around }, text: row };
    }
  }
}

/** A copy of an object without the member that names lead to. */
function without(value: JsonObject, [name, ...further]: readonly string[]): JsonObject {
  const kept: [string, Json][] = [];
  for (const [member, inner] of Object.entries(value)) {
    if (member !== name) kept.push([member, inner ?? null]);
    else if (further.length > 0 && isJsonObject(inner)) kept.push([member, without(inner, further)]);
  }
  return Object.fromEntries(kept);
}
