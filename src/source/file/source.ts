import type { Problem } from "../../base/errors.ts";
import { readJoined } from "../joined.ts";
import type { Joined, JoinedPart } from "../joined.ts";
import { keyReader } from "../keys.ts";
import type { ReadOptions, ReadOutcome, SourceItem, SourceReader, Staging } from "../reader.ts";
import { streams } from "../../crm/model.ts";
import type { FileSourceSettings, FileStream } from "../source-settings.ts";
import type { FileSet } from "./file-source-settings.ts";
import { neededColumns } from "./columns.ts";
import type { NeededColumns } from "./columns.ts";
import { toItem } from "./items.ts";
import { readFiles } from "./rows.ts";

/** Reads streams from files. Files have no memory, so every reading is a full one. */
export function createFileSource(
  settings: FileSourceSettings,
  deps: { directory: string; staging: Staging },
): SourceReader & { check(signal?: AbortSignal): Promise<Problem | undefined> } {
  return {
    async *read(stream, options) {
      const files = settings.streams[stream];
      if (files === undefined) return { complete: true, full: true, rows: 0 };
      const columns = neededColumns(
        stream,
        options.needsColumns === false ? { ...files, mapping: {}, skip: undefined } : files,
      );
      return yield* files.details === undefined
        ? readPlain(files, columns.own, deps.directory, options)
        : readJoined(joinedOf(files, files.details, columns, deps, options), options);
    },
    async check(signal) {
      for (const name of streams) {
        const stream = settings.streams[name];
        if (stream === undefined) continue;
        const needed = neededColumns(name, stream);
        const sets: [FileSet, readonly string[]][] = [[stream, needed.own]];
        for (const [detail, set] of Object.entries(stream.details ?? {}))
          sets.push([set, needed.details[detail] ?? []]);
        for (const [set, columns] of sets) {
          const { directory } = deps;
          const rows = readFiles(set, { directory, columns, limits: stream.limits, batchSize: 1, signal });
          try {
            const start = await rows.next();
            if (start.done === true && start.value !== undefined) return start.value;
          } finally {
            await rows.return(undefined);
          }
        }
      }
      return undefined;
    },
  };
}

function joinedOf(
  stream: FileStream,
  details: NonNullable<FileStream["details"]>,
  columns: NeededColumns,
  { directory, staging }: { directory: string; staging: Staging },
  { batchSize = 500, signal }: ReadOptions,
): Joined {
  const { limits } = stream;
  const partOf = (set: FileSet & { required?: boolean }, key: string, needed: readonly string[]): JoinedPart => ({
    key,
    required: set.required === true,
    read: () => readFiles(set, { directory, columns: needed, limits, batchSize, signal }),
  });
  return {
    header: partOf(stream, stream.key ?? "", columns.own),
    details: Object.fromEntries(
      Object.entries(details).map(([name, set]) => [name, partOf(set, set.key, columns.details[name] ?? [])]),
    ),
    limits,
    staging,
  };
}

async function* readPlain(
  stream: FileStream,
  columns: readonly string[],
  directory: string,
  options: ReadOptions,
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  const keyOf = keyReader(stream.key);
  const batchSize = options.batchSize ?? 500;
  const rows = readFiles(stream, { directory, columns, limits: stream.limits, batchSize, signal: options.signal });
  let count = 0;
  try {
    for (;;) {
      const next = await rows.next();
      if (next.done === true) {
        const problem = next.value;
        return {
          complete: problem === undefined,
          full: true,
          rows: count,
          ...(problem === undefined ? {} : { problem }),
        };
      }
      count += next.value.length;
      yield next.value.map((item) => ("bad" in item ? item : toItem(item.row, keyOf)));
      options.signal?.throwIfAborted();
    }
  } finally {
    await rows.return(undefined);
  }
}
