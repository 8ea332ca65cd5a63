import { access, glob } from "node:fs/promises";
import { resolve } from "node:path";
import { sourceProblem } from "../problems.ts";
import type { OpenedFile } from "./bytes.ts";
import type { FileSet } from "./file-source-settings.ts";

type FileFormat = "csv" | "json" | "ndjson";

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
  const files = [...names].sort().map((name): FoundFile => {
    const gzip = set.gzip ?? name.endsWith(".gz");
    return { path: resolve(directory, name), name, gzip, encoding: set.encoding, format: set.format ?? formatOf(name) };
  });
  for (const file of files) await requireFinished(file, set);
  return files;
}

function formatOf(name: string): FileFormat {
  const extension = /\.([a-z]+)(?:\.gz)?$/i.exec(name)?.[1]?.toLowerCase();
  if (extension === "json") return "json";
  return extension === "ndjson" || extension === "jsonl" ? "ndjson" : "csv";
}

async function requireFinished(file: FoundFile, set: FileSet): Promise<void> {
  await access(file.path);
  if (set.completeWhen === undefined || !("file" in set.completeWhen)) return;
  const marker = set.completeWhen.file.replaceAll("{file}", file.path);
  try {
    await access(resolve(file.path, "..", marker));
  } catch (thrown) {
    throw sourceProblem(
      "source.half-written",
      file.name,
      `The file ${file.name} is not finished: its marker ${set.completeWhen.file} is not there.`,
      "Wait until the export has ended; the next run reads the file.",
      thrown,
    );
  }
}
