import { closeSync, fstatSync, readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { toInstant } from "../../base/clock.ts";
import type { Problem } from "../../base/errors.ts";
import { openRegular, UnfitFile } from "../../base/regular-file.ts";
import { streams, type Stream } from "../../crm/model.ts";
import { columnsRead, type ReadSettings } from "../group-settings.ts";
import { readJoined, type Joined, type JoinedPart } from "../joined.ts";
import { recordsOf, type RecordLimits } from "../json.ts";
import { parsePath, pathOf } from "../mapping/path.ts";
import { fileProblem, sourceProblem } from "../problems.ts";
import type { FileItem, FormatReader, OpenedReader, ReadOptions, Staging } from "../reader.ts";
import type { FileSourceSettings, FileStream } from "../source-settings.ts";
import { notAsExpected, readUtf8, stateOf, type Expected, type OpenedFile } from "./bytes.ts";
import { readCsv } from "./csv.ts";
import type { FileSet } from "./file-source-settings.ts";
import { readJsonList, readNdjson } from "./json.ts";
import { readXlsx } from "./xlsx/sheet.ts";

export function createFileSource(
  settings: FileSourceSettings,
  deps: { directory: string; staging: Staging },
): OpenedReader {
  return {
    async *read(stream, options) {
      const files = settings.streams[stream];
      if (files === undefined) return { complete: true, full: true, rows: 0 };
      const needed = neededColumns(stream, files);
      if (files.details !== undefined)
        return yield* readJoined(joinedOf(files, files.details, needed, deps, options), options);
      const { directory } = deps;
      const { key, limits } = files;
      const { signal, batchSize = 500 } = options;
      const rows = readFiles(files, { directory, columns: needed.own, limits, batchSize, signal });
      return yield* recordsOf(rows, { key, full: true, signal });
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

export interface ReadFilesOptions {
  directory: string;
  columns: readonly string[];
  limits: RecordLimits;
  batchSize: number;
  signal: AbortSignal | undefined;
}

/** A failing file does not stop the others. Returns the first problem. */
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

/** Yields the rows before a failure; the format readers hold back a row that may be incomplete. */
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
      if (next.value !== undefined || count === rows) return next.value;
      return notAsExpected(
        file.name,
        `it has ${count} rows, ${Math.abs(rows - count)} ${count < rows ? "fewer" : "more"}`,
      );
    }
  } catch (thrown) {
    options.signal?.throwIfAborted();
    return fileProblem(thrown, file.name);
  } finally {
    await reader.return(undefined);
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
    case "json":
      return readJsonList(file, pathOf(set.records ?? ".").steps, limits, batchSize, signal);
  }
}

type FileFormat = "csv" | "xlsx" | "json" | "ndjson";

interface FoundFile extends OpenedFile {
  format: FileFormat;
}

/** Throws a Problem if a file is missing or unfinished. */
async function findFiles(set: FileSet, directory: string): Promise<FoundFile[]> {
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

interface ReadByColumns extends ReadSettings {
  key?: string | undefined;
  details?: Readonly<Record<string, { key?: string | undefined }>> | undefined;
}

export interface NeededColumns {
  own: readonly string[];
  details: Readonly<Record<string, readonly string[]>>;
}

export function columnsOf(path: string | undefined): string[] {
  const parsed = path === undefined ? undefined : parsePath(path);
  const first = parsed?.ok === true ? parsed.value.steps[0] : undefined;
  return typeof first === "string" ? [first] : [];
}

export function neededColumns(stream: Stream, settings: ReadByColumns): NeededColumns {
  const sets = settings.details ?? {};
  const own = new Set(columnsOf(settings.key));
  const details = new Map(Object.entries(sets).map(([name, set]) => [name, new Set(columnsOf(set.key))]));
  for (const { part, column } of columnsRead(stream, settings))
    ((part === undefined ? undefined : details.get(part)) ?? own).add(column);
  return { own: [...own], details: Object.fromEntries([...details].map(([name, columns]) => [name, [...columns]])) };
}

interface MarkedFile {
  path: string;
  folder: string;
  name: string;
  /** Last write, epoch milliseconds. */
  modified: number;
}

/** Throws a Problem if the marker is missing, unusable, or older than the file (unless it has a SHA-256). */
function expectedOf(file: MarkedFile, { completeWhen }: FileSet): Expected {
  if (completeWhen === undefined || !("file" in completeWhen)) return {};
  const { file: marker, contains } = completeWhen;
  const path = resolve(
    file.path,
    "..",
    marker.replaceAll("{file}", () => basename(file.path)),
  );
  const wait = "Wait until the export has ended; the next run reads the file.";
  let modified: number;
  let text: string;
  try {
    const opened = openRegular(path, file.folder);
    try {
      modified = fstatSync(opened).mtimeMs;
      text = contains === undefined ? "" : readFileSync(opened, "utf8");
    } finally {
      closeSync(opened);
    }
  } catch (thrown) {
    const why = thrown instanceof UnfitFile ? `cannot be used: ${thrown.message}` : "is missing";
    throw notFinished(file, `its marker ${marker} ${why}`, wait, thrown);
  }
  // Equal bytes prove the file, whatever the clocks of two file systems say.
  if (contains !== "sha256" && lastMoment(modified) < file.modified)
    throw notFinished(
      file,
      `its marker ${marker}, written ${toInstant(modified)}, is older than the file, written ` +
        toInstant(file.modified),
      `${wait} If you copy both, copy the marker last or keep the times of both; with \`contains: sha256\` the ` +
        "times do not matter.",
    );
  if (contains === undefined) return {};
  const found = wordFor(file, text);
  if (contains === "rows" && /^\d{1,15}$/u.test(found)) return { rows: Number(found) };
  if (contains === "sha256" && /^[0-9a-f]{64}$/iu.test(found)) return { sha256: found.toLowerCase() };
  const what = contains === "rows" ? "number of rows" : "SHA-256";
  throw notFinished(file, `its marker ${marker} does not contain the ${what} of the file`, wait);
}

function notFinished({ name }: { name: string }, why: string, cure: string, cause?: unknown): Problem {
  return sourceProblem("source.half-written", name, `The file ${name} is not finished: ${why}.`, cure, cause);
}

/** A file system with whole seconds rounds down: the write may be up to 999 ms later. */
function lastMoment(modified: number): number {
  return modified % 1_000 === 0 ? modified + 999 : modified;
}

/** For output of `sha256sum` and `wc -l`: the first word of the file's line. */
function wordFor({ path }: MarkedFile, text: string): string {
  const lines = text.split("\n").flatMap((line) => {
    const [, word = "", name = ""] = /^\s*(\S+)(?:\s+\*?(.*\S))?\s*$/u.exec(line) ?? [];
    return word === "" ? [] : [{ word, name }];
  });
  const named = lines.find(({ name }) => name !== "" && basename(name) === basename(path));
  const only = lines.length === 1 && lines[0]?.name === "" ? lines[0] : undefined;
  return (named ?? only)?.word ?? "";
}
