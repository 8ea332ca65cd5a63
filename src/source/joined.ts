import { isJsonObject } from "../base/canonical-json.ts";
import type { Problem } from "../base/errors.ts";
import { batchesOf, parseStaged, keyReader, notAnObject, type RecordLimits } from "./json.ts";
import {
  headerRows,
  type BadRecord,
  type FileItem,
  type FileRow,
  type JoinedRow,
  type ReadOptions,
  type ReadOutcome,
  type SourceItem,
  type StagedRow,
  type Staging,
  type StagingArea,
} from "./reader.ts";

/** The header rows that were read, for details that are asked for by them. */
export type HeaderRows = () => Iterable<StagedRow[]>;

/**
 * A row whose part tells to which header row it belongs, where the row itself does not; or why rows could not be asked
 * for by a header row, which is then no usable record.
 */
export type PartItem = FileItem | { row: FileRow & { key: string } } | { lacking: { key: string; message: string } };

/** Name under which is staged why rows could not be asked for; no set of details can have it. */
const lackingPart = "#lacking";

/** Rows that belong together: those of the records themselves, or one set of their details. */
export interface JoinedPart {
  /** Path of the key in a row. */
  key: string;
  /** Reads the rows; returns why they were not read whole. Header rows are there when details are read. */
  read: (headers: HeaderRows) => AsyncGenerator<PartItem[], Problem | undefined, void>;
  /** These rows are asked for by header rows: nothing is asked for where those were not read whole. */
  chained?: boolean;
  /** A header row without a row of these is no usable record. */
  required?: boolean;
}

/** What is joined: one part of headers, and parts of details by the name under which a record holds them. */
export interface Joined {
  header: JoinedPart;
  details: Readonly<Record<string, JoinedPart>>;
  limits: RecordLimits;
  staging: Staging;
  /** Only header rows that changed were asked for: what is missing says nothing; details of others are passed over. */
  changesOnly?: boolean;
}

/**
 * Header rows with their detail rows, whatever they are read from, as records that hold each list of details under its
 * name. Everything is staged first; where any part was not read whole, no record is yielded at all, because a record
 * with a part of its lines would look like a change. Nor is one where so many detail rows are gone that they are not
 * believed.
 */
export async function* readJoined(
  { header, details, limits, staging, changesOnly = false }: Joined,
  options: ReadOptions,
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  const batchSize = options.batchSize ?? 500;
  const area = staging.open();
  const names = Object.keys(details);
  const full = !changesOnly;
  const counted: Record<string, number> = {};
  let rows = 0;
  try {
    let problem: Problem | undefined;
    for (const [name, part] of [[headerRows, header] as const, ...Object.entries(details)]) {
      if (part.chained === true && problem !== undefined) continue;
      const staged = yield* stage(name, part, area, batchSize, options);
      problem ??= staged.problem;
      counted[name] = staged.rows;
      rows += staged.bad;
    }
    if (problem !== undefined) return { complete: false, full, rows, problem };
    const shrunk = full ? options.distrust?.(counted) : undefined;
    if (shrunk !== undefined) return { complete: true, full, rows, details: counted, shrunk };

    for (const batch of batchesOf(unjoinable(area, full ? names : []), batchSize)) {
      rows += batch.length;
      yield batch;
      options.signal?.throwIfAborted();
    }
    for (const joined of area.joined(headerRows, batchSize)) {
      rows += joined.length;
      yield joined.map((row) => join(row, details, limits));
      options.signal?.throwIfAborted();
    }
    return full ? { complete: true, full, rows, details: counted } : { complete: true, full, rows };
  } finally {
    area.close();
  }
}

/**
 * Puts the rows of one part into the area; yields what is bad in them, returns their numbers and why they were not read
 * whole.
 */
async function* stage(
  part: string,
  { key, read }: JoinedPart,
  area: StagingArea,
  batchSize: number,
  options: ReadOptions,
): AsyncGenerator<SourceItem[], { rows: number; bad: number; problem: Problem | undefined }, void> {
  let rows = 0;
  let allBad = 0;
  const keyOf = keyReader(key);
  const reading = read(() => area.rows(headerRows, batchSize));
  try {
    for (;;) {
      const next = await reading.next();
      if (next.done === true) return { rows, bad: allBad, problem: next.value };
      rows += next.value.length;
      const staged: StagedRow[] = [];
      const bad: BadRecord[] = [];
      const lacking: StagedRow[] = [];
      for (const item of next.value) {
        if ("lacking" in item) {
          lacking.push({ key: item.lacking.key, place: "", text: item.lacking.message });
          continue;
        }
        if ("bad" in item) {
          bad.push(item.bad);
          continue;
        }
        const { place, value } = item.row;
        if (!isJsonObject(value)) {
          bad.push(notAnObject(place));
          continue;
        }
        const found = "key" in item.row ? item.row.key : keyOf(value);
        if (found === undefined) bad.push({ place, code: "no-key", message: `the row has no usable key in ${key}` });
        else staged.push({ key: found, place, text: JSON.stringify(value) });
      }
      area.put(part, staged);
      area.put(lackingPart, lacking);
      allBad += bad.length;
      if (bad.length > 0) yield bad.map((record) => ({ bad: record }));
      options.signal?.throwIfAborted();
    }
  } finally {
    await reading.return(undefined);
  }
}

function* unjoinable(area: StagingArea, parts: readonly string[]): Generator<SourceItem, void, void> {
  for (const { key, places, texts } of area.duplicates(headerRows)) {
    for (const [index, place] of places.entries()) {
      const others = places
        .filter((other) => other !== place)
        .slice(0, 10)
        .join(", ");
      const message = `the key ${key} also occurs in ${others}`;
      yield { bad: { place, key, code: "duplicate-key", message, text: texts[index] ?? "" } };
    }
  }
  for (const part of parts) {
    for (const { key, place, text } of area.orphans(part, headerRows)) {
      const message = `no header row has the key ${key} of this row of ${part}`;
      yield { bad: { place, key, code: "orphan-detail", message, text } };
    }
  }
}

function join(
  { header, details: joined }: JoinedRow,
  details: Readonly<Record<string, JoinedPart>>,
  limits: RecordLimits,
): SourceItem {
  const { key, place } = header;
  const [lacking] = joined[lackingPart] ?? [];
  if (lacking !== undefined) return { bad: { place, key, code: "no-value", message: lacking.text } };
  const value = parseStaged(header.text, limits);
  for (const [name, { required }] of Object.entries(details)) {
    if (Object.hasOwn(value, name)) {
      const message = `the header row has a field ${name}, which is also the name of its details`;
      return { bad: { place, key, code: "name-taken", message } };
    }
    if (required === true && joined[name] === undefined) {
      const message = `the header row has no row of ${name}, but it needs at least one`;
      return { bad: { place, key, code: "no-details", message } };
    }
    value[name] = (joined[name] ?? []).map(({ text }) => parseStaged(text, limits));
  }
  return { raw: { place, key, value } };
}
