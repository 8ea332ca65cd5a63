import type { Problem } from "../../base/errors.ts";
import type { RecordLimits } from "../limits.ts";
import { parsePath } from "../mapping/path.ts";
import { fileProblem, sourceProblem } from "../problems.ts";
import { readUtf8, stateOf } from "./bytes.ts";
import { readCsv } from "./csv.ts";
import { readJsonList } from "./json-list.ts";
import { notAsExpected, expectedOf } from "./marker.ts";
import { readNdjson } from "./ndjson.ts";
import type { FileItem, FormatReader } from "./row.ts";
import type { FileSet } from "./file-source-settings.ts";
import { readXlsx } from "./xlsx/read.ts";
import { glob } from "node:fs/promises";
import { resolve } from "node:path";
import type { OpenedFile } from "./bytes.ts";

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

type FileFormat = "csv" | "xlsx" | "json" | "ndjson";

export interface FoundFile extends OpenedFile {
  format: FileFormat;
}

/** Finds the files of a set, sorted by name, each once. Throws a Problem that names what is missing or not finished. */
export async function findFiles(set: FileSet, directory: string): Promise<FoundFile[]> {
  const names = new Set<string>();
  for (const pattern of typeof set.files === "string" ? [set.files] : set.files) {
    const found: string[] = [];
    if (/[*?[{]/.test(pattern)) {
      for await (const name of glob(pattern, { cwd: directory })) found.push(name);
      if (found.length === 0) {
        throw sourceProblem(
          "source.missing-file",
          pattern,
          `No file matches ${pattern}.`,
          "Export the data again, or correct `files` in the configuration.",
        );
      }
    } else found.push(pattern);
    for (const name of found) names.add(name);
  }
  const files: FoundFile[] = [];
  const folder = resolve(directory);
  for (const name of [...names].sort()) {
    const path = resolve(directory, name);
    const state = await stateOf(path);
    const expected = expectedOf({ path, folder, name, modified: state.modified }, set);
    const gzip = set.gzip ?? name.endsWith(".gz");
    files.push({
      path,
      folder,
      name,
      gzip,
      encoding: set.encoding,
      state,
      expected,
      format: set.format ?? formatOf(name),
    });
  }
  return files;
}

/** Ends of names of spreadsheets that are neither XLSX nor text. */
const otherSpreadsheets: ReadonlySet<string> = new Set(["xls", "xlsb", "ods", "numbers"]);

function formatOf(name: string): FileFormat {
  const extension = /\.([a-z]+)(?:\.gz)?$/i.exec(name)?.[1]?.toLowerCase();
  if (extension === "json" || extension === "xlsx") return extension;
  if (extension !== undefined && otherSpreadsheets.has(extension))
    throw sourceProblem(
      "source.wrong-shape",
      name,
      `The file ${name} is a spreadsheet in a form that is not read.`,
      "Save it as .xlsx or .csv.",
    );
  return extension === "ndjson" || extension === "jsonl" ? "ndjson" : "csv";
}
