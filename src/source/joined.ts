import { isJsonObject } from "../base/canonical-json.ts";
import { Problem } from "../base/errors.ts";
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

export type HeaderRows = () => Iterable<StagedRow[]>;

/** `lacking`: why the rows of a header row could not be requested. That header row is then unusable. */
export type PartItem = FileItem | { row: FileRow & { key: string } } | { lacking: { key: string; message: string } };

const lackingPart = "#lacking";

export interface JoinedPart {
  key: string;
  /** Returns why the read is incomplete. Headers are staged before details are read. */
  read: (headers: HeaderRows) => AsyncGenerator<PartItem[], Problem | undefined, void>;
  /** Requested per header row. Skipped if the headers were not read completely. */
  chained?: boolean;
  required?: boolean;
  /** For a read of changes: counts all rows, also of unchanged header rows, and those that no header row has. */
  whole?: () => Promise<{ rows: number; orphans: number } | Problem>;
}

export interface Joined {
  header: JoinedPart;
  details: Readonly<Record<string, JoinedPart>>;
  limits: RecordLimits;
  staging: Staging;
  /** Only changed header rows were requested: missing rows prove nothing, and details of other rows are ignored. */
  changesOnly?: boolean;
}

/** If a part is incomplete, or `distrust` objects, no record is yielded: missing lines would look like a change. */
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
    const isNothing = !full && area.count(headerRows) === 0;
    const whole = full ? { counts: counted, isUnclear: false } : await wholeDetails(isNothing ? {} : details, counted);
    if (whole instanceof Problem) return { complete: false, full, rows, problem: whole };
    const read = { complete: true, full, ...(full && { details: counted }) };
    const shrunk = options.distrust?.(whole.counts, whole.isUnclear);
    if (shrunk !== undefined) return { ...read, rows, shrunk };

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
    return { ...read, rows };
  } finally {
    area.close();
  }
}

/** Details that are requested per header row are unclear only if there are none at all. */
async function wholeDetails(
  details: Joined["details"],
  counted: Readonly<Record<string, number>>,
): Promise<{ counts: Record<string, number>; isUnclear: boolean } | Problem> {
  const counts: Record<string, number> = {};
  let isUnclear = false;
  for (const [name, { chained, whole }] of Object.entries(details)) {
    const rows = counted[name] ?? 0;
    const found = chained === true ? { orphans: rows === 0 ? 1 : 0 } : ((await whole?.()) ?? { rows, orphans: 1 });
    if (found instanceof Problem) return found;
    if ("rows" in found) counts[name] = found.rows;
    if (found.orphans > 0) isUnclear = true;
  }
  return { counts, isUnclear };
}

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
