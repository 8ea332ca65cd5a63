import { glob } from "node:fs/promises";
import { resolve } from "node:path";
import { sourceProblem } from "../problems.ts";
import { stateOf } from "./bytes.ts";
import type { OpenedFile } from "./bytes.ts";
import type { FileSet } from "./file-source-settings.ts";
import { expectedOf } from "./marker.ts";

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
