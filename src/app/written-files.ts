import { closeSync, createWriteStream, openSync, readSync, renameSync, rmSync, statSync } from "node:fs";
import { once } from "node:events";
import { dirname } from "node:path";
import { finished } from "node:stream/promises";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { keepPrivate } from "../base/private-files.ts";
import type { ReadingGroup } from "../base/private-files.ts";

export type Chunks = Iterable<string | Buffer> | AsyncIterable<string | Buffer>;

/**
 * Writes a file for the owner, and for the group if there is one. It appears whole or not at all, in a folder that is
 * there. Not write-file-atomic: it wants the whole content in memory, and reports are streamed.
 */
export async function writeWhole(
  path: string,
  chunks: Chunks,
  options: { what: string; group: ReadingGroup | undefined },
): Promise<void> {
  const unfinished = `${path}.part`;
  if (startOf(path, databaseMark.length) === databaseMark)
    throw inTheWay(path, options.what, "a database is there, which would be lost");
  try {
    const file = createWriteStream(unfinished, { mode: 0o600, flush: true });
    await once(file, "open");
    for await (const chunk of chunks) if (!file.write(chunk)) await once(file, "drain");
    file.end();
    await finished(file);
    keepPrivate(unfinished, options.group);
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw cannotWrite(path, options.what, error);
  }
}

/** What every SQLite file begins with. */
export const databaseMark = "SQLite format 3\u0000";

/** The beginning of a file as text, of so many bytes at most; empty where there is none. */
export function startOf(path: string, bytes: number): string {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return "";
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(bytes);
    return start.toString("utf8", 0, readSync(file, start, 0, bytes, 0));
  } finally {
    closeSync(file);
  }
}

/** Why something is not written to a path where something else is. */
export function inTheWay(path: string, what: string, why: string): Problem {
  return new Problem({
    code: "file.in-the-way",
    message: `the ${what} is not written to ${path}: ${why}`,
    cure: "name another file, or put that one aside first",
    exitCode: exitCodes.usage,
    place: path,
  });
}

function cannotWrite(path: string, what: string, error: Error): Problem {
  const folder = dirname(path);
  const isMissing = statSync(folder, { throwIfNoEntry: false }) === undefined;
  return new Problem({
    code: "file.cannot-write",
    message: isMissing
      ? `the ${what} cannot be written to ${path}: there is no folder ${folder}`
      : `the ${what} cannot be written to ${path}: ${messageOf(error)}`,
    cure: isMissing
      ? `make the folder (\`mkdir -p ${folder}\`), or name a file in one that is there`
      : "check that the folder can be written to and has room",
    exitCode: isMissing ? exitCodes.usage : exitCodes.other,
    cause: error,
  });
}
