import type { Problem } from "../../base/errors.ts";
import { keyReader } from "../keys.ts";
import type { ReadOptions, ReadOutcome, SourceItem, SourceReader, Staging } from "../reader.ts";
import type { FileSourceSettings, FileStream } from "../settings.ts";
import { readJoined } from "./joined.ts";
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
      return yield* files.details === undefined
        ? readPlain(files, deps.directory, options)
        : readJoined(files, files.details, deps, options);
    },
    async check(signal) {
      for (const stream of Object.values(settings.streams)) {
        if (stream === undefined) continue;
        for (const set of [stream, ...Object.values(stream.details ?? {})]) {
          const rows = readFiles(set, { directory: deps.directory, limits: stream.limits, batchSize: 1, signal });
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

async function* readPlain(
  stream: FileStream,
  directory: string,
  options: ReadOptions,
): AsyncGenerator<SourceItem[], ReadOutcome, void> {
  const keyOf = keyReader(stream.key);
  const batchSize = options.batchSize ?? 500;
  const rows = readFiles(stream, { directory, limits: stream.limits, batchSize, signal: options.signal });
  let count = 0;
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
}
