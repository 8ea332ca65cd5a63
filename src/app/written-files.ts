import {
  closeSync,
  createReadStream,
  createWriteStream,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { finished as ended } from "node:stream/promises";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { keepPrivate } from "../base/private-files.ts";
import type { ReadingGroup } from "../base/private-files.ts";
import { holdFolder } from "../ledger/database/held-folder.ts";
import type { StatementFile } from "./statement-files.ts";

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
  await writeUnfinished(path, chunks, options);
  appear(path, options.what);
}

/** What was written to a private file, which has no name any more: it begins once the last of it was written. */
export async function finished(chunks: Chunks): Promise<Chunks> {
  const folder = holdFolder();
  try {
    const path = join(folder.path, "whole");
    await writeWhole(path, chunks, { what: "result", group: undefined });
    const file = createReadStream(path);
    await once(file, "open");
    return file;
  } finally {
    folder.release();
  }
}

/** Where a file stands until it is whole. */
function unfinishedOf(path: string): string {
  return `${path}.part`;
}

async function writeUnfinished(
  path: string,
  chunks: Chunks,
  { what, group }: { what: string; group: ReadingGroup | undefined },
): Promise<void> {
  const unfinished = unfinishedOf(path);
  if (startOf(path, databaseMark.length) === databaseMark)
    throw inTheWay(path, what, "a database is there, which would be lost");
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    throw inTheWay(path, what, "a folder is there");
  try {
    const file = createWriteStream(unfinished, { mode: 0o600, flush: true });
    await once(file, "open");
    for await (const chunk of chunks) if (!file.write(chunk)) await once(file, "drain");
    file.end();
    await ended(file);
    keepPrivate(unfinished, group);
  } catch (error) {
    throw unwritten(path, what, error);
  }
}

function appear(path: string, what: string): void {
  try {
    renameSync(unfinishedOf(path), path);
  } catch (error) {
    throw unwritten(path, what, error);
  }
}

/** Takes what was written away; what went wrong outside the file system stays what it is. */
function unwritten(path: string, what: string, error: unknown): unknown {
  rmSync(unfinishedOf(path), { force: true });
  return error instanceof Error && "syscall" in error ? cannotWrite(path, what, error) : error;
}

/**
 * Writes several files that belong together, which come one after the other: all of them appear, in their order, once
 * the last is whole, or none does. Gives their paths.
 */
export async function writeFilesWhole(
  files: AsyncIterable<StatementFile>,
  options: { pathOf: (file: string) => string; what: string; group: ReadingGroup | undefined },
): Promise<string[]> {
  const { pathOf, what, group } = options;
  const paths: string[] = [];
  try {
    for await (const { file, chunks } of files) {
      const path = pathOf(file);
      if (paths.includes(path)) throw new Error(`${path} was written already, and its chunks came apart`);
      paths.push(path);
      await writeUnfinished(path, chunks, { what, group });
    }
    for (const path of paths) appear(path, what);
  } catch (error) {
    for (const path of paths) rmSync(unfinishedOf(path), { force: true });
    throw error;
  }
  return paths;
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
    place: isMissing ? folder : path,
    cause: error,
  });
}
