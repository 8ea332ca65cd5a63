import { accessSync, constants, copyFileSync, rmSync, statSync, type BigIntStats } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { exitCodes, messageOf, Problem } from "../../base/errors.ts";
import { createPrivateFile, keepPrivate, type ReadingGroup } from "../../base/private-files.ts";
import { headsPath, refuseLostLedger } from "../audit/audit-heads.ts";
import { databaseProblem, refused } from "./damage.ts";
import { holdFolder, momentaryFolder } from "./lock.ts";

type Sqlite = Database.Database;

export const openSuffixes = ["", "-wal", "-shm"];

/** Creates the ledger file if missing, readable only by its owner. Throws a Problem if this user may not write. */
export function prepareLedgerFile(path: string): void {
  const now = statOf(path);
  if (now !== undefined && !now.isFile()) {
    throw refused("ledger.not-a-file", path, `the ledger ${path} is not a file`, "set ledger.path to a file");
  }
  if (now === undefined || now.size === 0n) refuseLostLedger(path);
  try {
    if (now !== undefined) accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
    if (now === undefined) createPrivateFile(path);
  } catch (error) {
    throw notWritable(path, error);
  }
}

/** Lets only the owner and the group read the ledger and the files beside it. */
export function closeToOthers(path: string, group: ReadingGroup | undefined): void {
  // A run creates this file later; it must belong to the group from the start.
  if (group !== undefined) createPrivateFile(headsPath(path));
  for (const suffix of [...openSuffixes, ".heads", ".lock"]) keepPrivate(path + suffix, group);
}

/** A path that this user may not write is a configuration error (exit code 78). Other failures have exit code 65. */
export function notWritable(path: string, error: unknown): Problem {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!/^(?:EACCES|EPERM|EROFS|ENOTDIR|EEXIST)$/u.test(code)) {
    return refused(
      "ledger.cannot-open",
      path,
      `the ledger ${path} cannot be opened: ${messageOf(error)}`,
      "check that the folder exists and that this user may write there",
      error,
    );
  }
  return new Problem({
    code: "config.ledger-not-writable",
    message: `ledger.path is ${path}, and this user cannot write there (${messageOf(error)}). Nothing was sent`,
    cure: "set ledger.path to a file in a folder where this user can write, or let this user write there",
    exitCode: exitCodes.configuration,
    place: "ledger.path",
    cause: error,
  });
}

export function requireThere(path: string): void {
  const now = statOf(path);
  if (now?.isFile() === false)
    throw refused("ledger.not-a-file", path, `the ledger ${path} is not a file`, "set ledger.path to a file");
  if (now?.size === 0n) refuseLostLedger(path);
  if (now === undefined || now.size === 0n)
    throw refused(
      "ledger.missing",
      path,
      `there is no ledger at ${path} yet`,
      "correct ledger.path in the configuration. If no job ever ran here, run one: `crm-sync run customers-and-orders`",
    );
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false, bigint: true });
  } catch (error) {
    throw notReadable(path, error);
  }
}

function notReadable(path: string, error: unknown): Problem {
  return refused(
    "ledger.cannot-read",
    path,
    `the ledger ${path} cannot be read by this user: ${messageOf(error)}`,
    "run the command as a member of the group in ledger.group, or as the user that runs crm-sync",
    error,
  );
}

/** Never open the file without SQLite: closing it would drop the locks of all connections of this process. */
export function requireLedgerFile(path: string): void {
  const reader = connect(path, { readonly: true });
  try {
    reader.prepare("pragma schema_version").get();
  } catch (error) {
    if (!(error instanceof Database.SqliteError) || error.code !== "SQLITE_NOTADB") return;
    throw refused(
      "ledger.not-a-ledger",
      path,
      `${path} is not a ledger: it is not a SQLite database`,
      "set ledger.path to the right file, or restore the ledger from a backup. This file was not changed",
      error,
    );
  } finally {
    reader.close();
  }
}

export function connect(path: string, options: Database.Options): Sqlite {
  try {
    return new Database(path, { fileMustExist: true, ...options });
  } catch (error) {
    throw refused(
      "ledger.cannot-open",
      path,
      `the ledger ${path} cannot be opened: ${messageOf(error)}`,
      "check that the folder exists and that this user may write there",
      error,
    );
  }
}

/**
 * A reader, also for a user who may not write. Measured: without the right to write, SQLite needs `-wal` and `-shm`,
 * and cannot make them. So the program leaves both when it ends. If one is missing (a restored backup), this reads a
 * copy. A user who is not the owner never makes files beside the ledger, because the owner could not write them.
 */
export function openForReading(path: string): Sqlite {
  if (readsWhereItLies(path)) {
    const reader = connect(path, { readonly: true });
    try {
      reader.prepare("select 1 from sqlite_schema limit 1").get();
      return reader;
    } catch (error) {
      reader.close();
      if (!(error instanceof Database.SqliteError) || !/^SQLITE_(?:CANTOPEN|READONLY)/u.test(error.code))
        throw databaseProblem(error, path);
    }
  }
  return openCopy(path);
}

function readsWhereItLies(path: string): boolean {
  if (statOf(`${path}-wal`) !== undefined && statOf(`${path}-shm`) !== undefined) return true;
  const user = process.geteuid?.();
  return user === undefined || BigInt(user) === statOf(path)?.uid;
}

const mostCopies = 5;

/** Copies the ledger and its log into a private folder. The names are removed at once, so that nothing remains. */
function openCopy(path: string): Sqlite {
  const folder = holdFolder(momentaryFolder(path));
  try {
    const copy = join(folder.path, "ledger.db");
    for (let tries = 1; !copyWhole(path, copy); tries += 1) {
      if (tries < mostCopies) continue;
      throw refused(
        "ledger.busy",
        path,
        `the ledger ${path} could not be read: it changed during every copy`,
        "run the command again in a moment",
      );
    }
    const reader = connect(copy, { readonly: true });
    reader.prepare("select 1 from sqlite_schema limit 1").get();
    return reader;
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw error instanceof Database.SqliteError ? databaseProblem(error, path) : notReadable(path, error);
  } finally {
    folder.release();
  }
}

function copyWhole(path: string, copy: string): boolean {
  const before = markOf(path);
  copyFileSync(path, copy, constants.COPYFILE_FICLONE);
  rmSync(`${copy}-wal`, { force: true });
  if (statOf(`${path}-wal`) !== undefined) copyFileSync(`${path}-wal`, `${copy}-wal`);
  return markOf(path) === before;
}

function markOf(path: string): string {
  return ["", "-wal"]
    .map((suffix) => statOf(path + suffix))
    .map((now) => (now === undefined ? "none" : `${now.ino} ${now.size} ${now.mtimeNs} ${now.ctimeNs}`))
    .join(" ");
}
