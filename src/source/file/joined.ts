import { isJsonObject } from "../../base/canonical-json.ts";
import type { JsonObject } from "../../base/canonical-json.ts";
import type { Problem } from "../../base/errors.ts";
import { keyReader } from "../keys.ts";
import { parseJson } from "../json.ts";
import { headerRows } from "../reader.ts";
import type {
  BadRecord,
  JoinedRow,
  ReadOptions,
  ReadOutcome,
  SourceItem,
  StagedRow,
  Staging,
  StagingArea,
} from "../reader.ts";
import type { FileStream } from "../source-settings.ts";
import type { NeededColumns } from "./columns.ts";
import { notAnObject } from "./items.ts";
import { readFiles } from "./rows.ts";
import type { FileSet } from "./file-source-settings.ts";

/**
 * Header rows with their detail rows, as records that hold each list of details under its name. Everything is staged
 * first; where any of the files was not read whole, no record is yielded at all, because a record with a part of its
 * lines would look like a change. Nor is one where so many detail rows are gone that they are not believed.
 */
export async function* readJoined(
  stream: FileStream,
  details: NonNullable<FileStream["details"]>,
  columns: NeededColumns,
  deps: { directory: string; staging: Staging },
  options: ReadOptions,
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  const batchSize = options.batchSize ?? 500;
  const area = deps.staging.open();
  const counted: Record<string, number> = {};
  let rows = 0;
  try {
    let problem: Problem | undefined;
    const parts: [string, FileSet, string, readonly string[]][] = [[headerRows, stream, stream.key ?? "", columns.own]];
    for (const [name, set] of Object.entries(details)) parts.push([name, set, set.key, columns.details[name] ?? []]);
    for (const [part, set, key, needed] of parts) {
      const staging = stage(part, set, key, needed, stream, area, deps.directory, options);
      for (;;) {
        const next = await staging.next();
        if (next.done === true) {
          problem ??= next.value.problem;
          counted[part] = next.value.rows;
          break;
        }
        rows += next.value.length;
        yield next.value;
      }
    }
    if (problem !== undefined) return { complete: false, full: true, rows, problem };
    const shrunk = options.distrust?.(counted);
    if (shrunk !== undefined) return { complete: true, full: true, rows, details: counted, shrunk };

    for (const batch of batchesOf(unjoinable(area, Object.keys(details)), batchSize)) {
      rows += batch.length;
      yield batch;
      options.signal?.throwIfAborted();
    }
    for (const joined of area.joined(headerRows, batchSize)) {
      rows += joined.length;
      yield joined.map((row) => join(row, Object.keys(details), stream));
      options.signal?.throwIfAborted();
    }
    return { complete: true, full: true, rows, details: counted };
  } finally {
    area.close();
  }
}

/**
 * Puts the rows of one set of files into the area; yields what is bad in them, returns their number and why they were
 * not read whole.
 */
async function* stage(
  part: string,
  set: FileSet,
  key: string,
  columns: readonly string[],
  stream: FileStream,
  area: StagingArea,
  directory: string,
  options: ReadOptions,
): AsyncGenerator<SourceItem[], { rows: number; problem: Problem | undefined }, void> {
  let rows = 0;
  const keyOf = keyReader(key);
  const reading = readFiles(set, {
    directory,
    columns,
    limits: stream.limits,
    batchSize: options.batchSize ?? 500,
    signal: options.signal,
  });
  for (;;) {
    const next = await reading.next();
    if (next.done === true) return { rows, problem: next.value };
    rows += next.value.length;
    const staged: StagedRow[] = [];
    const bad: BadRecord[] = [];
    for (const item of next.value) {
      if ("bad" in item) {
        bad.push(item.bad);
        continue;
      }
      const { place, value } = item.row;
      if (!isJsonObject(value)) {
        bad.push(notAnObject(place));
        continue;
      }
      const found = keyOf(value);
      if (found === undefined) bad.push({ place, code: "no-key", message: `the row has no usable key in ${key}` });
      else staged.push({ key: found, place, text: JSON.stringify(value) });
    }
    area.put(part, staged);
    if (bad.length > 0) yield bad.map((record) => ({ bad: record }));
    options.signal?.throwIfAborted();
  }
}

function* unjoinable(area: StagingArea, parts: readonly string[]): Generator<SourceItem, void, void> {
  for (const { key, places } of area.duplicates(headerRows)) {
    for (const place of places) {
      const others = places
        .filter((other) => other !== place)
        .slice(0, 10)
        .join(", ");
      yield { bad: { place, key, code: "duplicate-key", message: `the key ${key} stands also in ${others}` } };
    }
  }
  for (const part of parts) {
    for (const { key, place } of area.orphans(part, headerRows)) {
      yield {
        bad: { place, key, code: "orphan-detail", message: `no header row has the key ${key} of this row of ${part}` },
      };
    }
  }
}

function join({ header, details }: JoinedRow, names: readonly string[], stream: FileStream): SourceItem {
  const value = parseStaged(header.text, stream);
  const taken = names.find((name) => Object.hasOwn(value, name));
  if (taken !== undefined) {
    const message = `the header row has a field ${taken}, which is also the name of its details`;
    return { bad: { place: header.place, key: header.key, code: "name-taken", message } };
  }
  for (const name of names) value[name] = (details[name] ?? []).map(({ text }) => parseStaged(text, stream));
  return { raw: { place: header.place, key: header.key, value } };
}

function parseStaged(text: string, stream: FileStream): JsonObject {
  const parsed = parseJson(text, stream.limits);
  if (!parsed.ok || !isJsonObject(parsed.value)) {
    throw new TypeError("the staging area gave back a row that was not put into it");
  }
  return parsed.value;
}

function* batchesOf<T>(items: Iterable<T>, size: number): Generator<T[], void, void> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
