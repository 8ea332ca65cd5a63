import type { Problem } from "../../base/errors.ts";
import type { RecordLimits } from "../limits.ts";
import { parsePath } from "../mapping/path.ts";
import { fileProblem } from "../problems.ts";
import { readUtf8 } from "./bytes.ts";
import { readCsv } from "./csv.ts";
import { readJsonList } from "./json-list.ts";
import { notAsExpected } from "./marker.ts";
import { findFiles } from "./names.ts";
import type { FoundFile } from "./names.ts";
import { readNdjson } from "./ndjson.ts";
import type { FileItem, FormatReader } from "./row.ts";
import type { FileSet } from "./file-source-settings.ts";
import { readXlsx } from "./xlsx/read.ts";

export interface ReadFilesOptions {
  directory: string;
  /** Columns without which a CSV file or a sheet is not read, since somebody reads them. */
  columns: readonly string[];
  limits: RecordLimits;
  batchSize: number;
  signal: AbortSignal | undefined;
}

/**
 * The rows of a set of files, one after the other in order of their names, in batches of about `batchSize`. A file that
 * fails does not keep the others from being read; the first problem is returned.
 */
export async function* readFiles(
  set: FileSet,
  options: ReadFilesOptions,
): AsyncGenerator<FileItem[], Problem | undefined, void> {
  let files: FoundFile[];
  try {
    files = await findFiles(set, options.directory);
  } catch (thrown) {
    options.signal?.throwIfAborted();
    const path = thrown instanceof Error && "path" in thrown && typeof thrown.path === "string" ? thrown.path : "";
    return fileProblem(thrown, path === "" ? [set.files].flat().join(", ") : path);
  }
  let first: Problem | undefined;
  for (const file of files) {
    const problem = yield* wholeFile(file, set, options);
    first ??= problem;
  }
  return first;
}

/** One file. What stands before the place where it fails is yielded; the formats keep back what may be half a row. */
async function* wholeFile(
  file: FoundFile,
  set: FileSet,
  options: ReadFilesOptions,
): AsyncGenerator<FileItem[], Problem | undefined, void> {
  const reader = formatReader(file, set, options);
  let count = 0;
  try {
    for (;;) {
      const next = await reader.next();
      if (next.done !== true) {
        count += next.value.length;
        yield next.value;
        continue;
      }
      const { rows = count } = file.expected;
      if (next.value.problem !== undefined || count === rows) return next.value.problem;
      return notAsExpected(
        file.name,
        `it has ${count} rows, ${Math.abs(rows - count)} ${count < rows ? "fewer" : "more"}`,
      );
    }
  } catch (thrown) {
    options.signal?.throwIfAborted();
    return fileProblem(thrown, file.name);
  } finally {
    await reader.return({ problem: undefined });
  }
}

function formatReader(
  file: FoundFile,
  set: FileSet,
  { columns, limits, batchSize, signal }: ReadFilesOptions,
): FormatReader {
  switch (file.format) {
    case "csv":
      return readCsv({ name: file.name, bytes: readUtf8(file, signal) }, set.csv, columns, limits, batchSize);
    case "xlsx":
      return readXlsx(file, set.xlsx, { columns, limits, batchSize, signal });
    case "ndjson": {
      const { completeWhen } = set;
      const count = completeWhen !== undefined && "count" in completeWhen ? completeWhen.count : undefined;
      return readNdjson({ name: file.name, bytes: readUtf8(file, signal) }, count, limits, batchSize);
    }
    case "json": {
      const path = parsePath(set.records ?? ".");
      return readJsonList(file, path.ok ? path.value.steps : [], limits, batchSize, signal);
    }
  }
}
