import { closeSync, fstatSync, readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { toInstant } from "../../base/clock.ts";
import type { Problem } from "../../base/errors.ts";
import { openRegular, UnfitFile } from "../../base/regular-file.ts";
import { notAsMarked, sourceProblem } from "../problems.ts";
import type { FileSet } from "./file-source-settings.ts";

/** What a marker says of its file. */
export interface Expected {
  /** Number of its rows. */
  rows?: number;
  /** SHA-256 of its bytes as they are on disk, in small hexadecimal letters. */
  sha256?: string;
}

interface MarkedFile {
  path: string;
  folder: string;
  name: string;
  /** When it was written last, in epoch milliseconds. */
  modified: number;
}

/**
 * What the marker of a file expects of it. Throws a Problem when the marker is missing, older than the file (where it
 * does not tell its bytes), or does not say what it should.
 */
export function expectedOf(file: MarkedFile, { completeWhen }: FileSet): Expected {
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
  // The same bytes are the same file, whatever the times of two file systems say.
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

/** The file is there, and is not the one that its marker is of: nothing of it is to be taken in. */
export function notAsExpected(name: string, what: string): Problem {
  const cure = "Wait until the export has ended, or export the file and its marker again.";
  const message = `The file ${name} does not match its marker: ${what} than the marker says.`;
  return sourceProblem(notAsMarked, name, message, cure);
}

function notFinished({ name }: { name: string }, why: string, cure: string, cause?: unknown): Problem {
  return sourceProblem("source.half-written", name, `The file ${name} is not finished: ${why}.`, cure, cause);
}

/** A file system that knows times by the second gives its beginning; the file may have been written later in it. */
function lastMoment(modified: number): number {
  return modified % 1_000 === 0 ? modified + 999 : modified;
}

/** Of lines as `sha256sum` and `wc -l` write them, the first word of the one that names the file, or of the only one. */
function wordFor({ path }: MarkedFile, text: string): string {
  const lines = text.split("\n").flatMap((line) => {
    const [, word = "", name = ""] = /^\s*(\S+)(?:\s+\*?(.*\S))?\s*$/u.exec(line) ?? [];
    return word === "" ? [] : [{ word, name }];
  });
  const named = lines.find(({ name }) => name !== "" && basename(name) === basename(path));
  const only = lines.length === 1 && lines[0]?.name === "" ? lines[0] : undefined;
  return (named ?? only)?.word ?? "";
}
