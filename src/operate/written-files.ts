import { once } from "node:events";
import { closeSync, createReadStream, createWriteStream, lstatSync, readSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { openNew, type ReadingGroup } from "../base/private-files.ts";
import { openRegular } from "../base/regular-file.ts";
import { holdFolder, momentaryFolder, type HeldFolder } from "../ledger/database/lock.ts";

export type Chunks = Iterable<string | Buffer> | AsyncIterable<string | Buffer>;

interface NamedChunks {
  file: string;
  chunks: Chunks;
}

interface Written {
  what: string;
  group: ReadingGroup | undefined;
}

/** Appears completely or not at all, in an existing folder. Replaces a link of this name; does not follow it. */
export async function writeWhole(path: string, chunks: Chunks, options: Written): Promise<void> {
  await writeFilesWhole([{ file: path, chunks }], { pathOf: (file) => file, ...options });
}

/** Files appear, in order, when the last is complete. If the system refuses a name, only earlier ones have appeared. */
export async function writeFilesWhole(
  files: Iterable<NamedChunks> | AsyncIterable<NamedChunks>,
  { pathOf, what, group }: Written & { pathOf: (file: string) => string },
): Promise<string[]> {
  const folders = new Map<string, HeldFolder>();
  const made = new Map<string, string>();
  try {
    for await (const { file, chunks } of files) {
      const path = pathOf(file);
      if (made.has(path)) throw new Error(`${path} was written already, and its chunks came apart`);
      await told(path, what, async () => {
        requireFree(path, what);
        const folder = folders.getOrInsertComputed(dirname(path), holdFolder);
        const unfinished = join(folder.path, String(made.size));
        made.set(path, unfinished);
        await writeNew(unfinished, chunks, group);
      });
    }
    for (const [path, unfinished] of made) await told(path, what, () => renameSync(unfinished, path));
    return [...made.keys()];
  } finally {
    for (const folder of folders.values()) folder.release();
  }
}

/** Not write-file-atomic: it needs the whole content in memory, and reports are streamed. */
export async function writeNew(path: string, chunks: Chunks, group: ReadingGroup | undefined): Promise<void> {
  await pipeline(chunks, createWriteStream(path, { fd: openNew(path, group), flush: true }));
}

/** Buffers everything in a nameless file; reading starts after the last write. */
export async function finished(chunks: Chunks, ledgerPath: string): Promise<Chunks> {
  const folder = holdFolder(momentaryFolder(ledgerPath));
  try {
    const path = join(folder.path, "whole");
    await writeNew(path, chunks, undefined);
    const file = createReadStream(path);
    await once(file, "open");
    return file;
  } finally {
    folder.release();
  }
}

function requireFree(path: string, what: string): void {
  if (startOf(path, databaseMark.length) === databaseMark)
    throw inTheWay(path, what, "a database has this name, and it would be lost");
  const there = statSync(path, { throwIfNoEntry: false });
  if (there === undefined || there.isFile()) return;
  throw inTheWay(path, what, there.isDirectory() ? "a folder has this name" : "a pipe or a device has this name");
}

async function told(path: string, what: string, work: () => Promise<void> | void): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw error instanceof Error && "syscall" in error ? cannotWrite(path, what, error) : error;
  }
}

export const databaseMark = "SQLite format 3\u0000";

/** The first bytes of a file as text. Empty for a missing file and for a link. */
export function startOf(path: string, bytes: number): string {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return "";
  const file = openRegular(path);
  try {
    const start = Buffer.alloc(bytes);
    return start.toString("utf8", 0, readSync(file, start, 0, bytes, 0));
  } finally {
    closeSync(file);
  }
}

export function inTheWay(path: string, what: string, why: string): Problem {
  return new Problem({
    code: "file.in-the-way",
    message: `the ${what} was not written to ${path}: ${why}`,
    cure: "choose another file name, or first move the existing file away",
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
      ? `the ${what} cannot be written to ${path}: the folder ${folder} does not exist`
      : `the ${what} cannot be written to ${path}: ${messageOf(error)}`,
    cure: isMissing
      ? `create the folder (\`mkdir -p ${folder}\`), or choose a file in an existing folder`
      : "check that this user may write in the folder and that the disk has room",
    exitCode: isMissing ? exitCodes.usage : exitCodes.other,
    place: isMissing ? folder : path,
    cause: error,
  });
}
