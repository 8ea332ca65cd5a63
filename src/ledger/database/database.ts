import Database from "better-sqlite3";
import { Problem } from "../../base/errors.ts";
import { refuseLostLedger } from "../audit/audit-heads.ts";
import { keepPrivate, type ReadingGroup } from "../../base/private-files.ts";
import { databaseProblem, refused } from "./damage.ts";
import {
  closeToOthers,
  connect,
  openForReading,
  prepareLedgerFile,
  requireLedgerFile,
  requireThere,
} from "./ledger-file.ts";
import { requireNewest } from "./newest.ts";
import { schema } from "../../../migrations/0001_ledger.ts";

export type Sqlite = Database.Database;

/** `CRMS` in ASCII. */
const applicationId = 0x43524d53;
/** Older SQLite could corrupt a WAL that was reset while being read. */
const oldestSqlite = [3, 51, 3];

export const schemaVersion = 1;

export interface OpenOptions {
  busyTimeoutMs?: number | undefined;
  group?: ReadingGroup | undefined;
  /** The ledger may miss later changes, because the caller detects the gap. */
  fillsGap?: boolean | undefined;
}

/** WAL mode, full durability; an empty file gets the schema. Throws a Problem (65: unusable file, 78: not writable). */
export function openDatabase(path: string, options: OpenOptions = {}): Sqlite {
  prepareLedgerFile(path);
  requireLedgerFile(path);
  const database = connect(path, { timeout: options.busyTimeoutMs ?? 10_000 });
  try {
    requireSqlite(database, path);
    requireOurs(database, path);
    keepPrivate(path, options.group);
    makeDurable(database, path);
    requireSound(database, path);
    if (isEmpty(database)) {
      refuseLostLedger(path);
      makeSchema(database);
    } else {
      requireKnownVersion(database, path);
      if (options.fillsGap !== true) requireNewest(database, path);
    }
    closeToOthers(path, options.group);
    return database;
  } catch (error) {
    database.close();
    throw error instanceof Problem ? error : databaseProblem(error, path);
  }
}

/** Needs no right to write: see `openForReading`. Throws a Problem (65) if there is no ledger of this version. */
export function openReadOnly(path: string): Sqlite {
  requireThere(path);
  const database = openForReading(path);
  try {
    requireSqlite(database, path);
    requireOurs(database, path);
    requireKnownVersion(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error instanceof Problem ? error : databaseProblem(error, path);
  }
}

/**
 * Empties the log. A reader closes last, so that SQLite keeps `-wal` and `-shm`: readers without the right to write
 * need these files and cannot make them.
 */
export function closeDatabase(database: Sqlite, isSound: boolean): void {
  if (!database.open) return;
  let reader: Sqlite | undefined;
  try {
    if (!isSound) return;
    // A reader in progress keeps the log; do not wait for it.
    database.pragma("busy_timeout = 0");
    reader = new Database(database.name, { readonly: true, fileMustExist: true });
    // Only a connection that has read something holds the log.
    reader.prepare("pragma schema_version").get();
    database.pragma("wal_checkpoint(truncate)");
  } catch {
    // The log stays, and the next start empties it. A file that was moved has no readers.
  } finally {
    database.close();
    reader?.close();
  }
}

/** Larger ledgers are not checked on opening. Their damage shows when it is read. */
const checkedWholeBytes = 16 * 1024 * 1024;

function requireSound(database: Sqlite, path: string): void {
  database.pragma("cell_size_check = on");
  const pages = Number(database.pragma("page_count", { simple: true }));
  if (pages * Number(database.pragma("page_size", { simple: true })) > checkedWholeBytes) return;
  const found = database.prepare("pragma quick_check(1)").pluck().get();
  if (found === "ok") return;
  throw refused(
    "ledger.damaged",
    path,
    `the ledger ${path} is damaged: ${String(found)}`,
    "restore the ledger from a backup. Nothing was repaired or sent",
  );
}

function requireSqlite(database: Sqlite, path: string): void {
  const version = String(database.prepare("select sqlite_version()").pluck().get());
  const parts = version.split(".").map(Number);
  for (let index = 0; index < oldestSqlite.length; index += 1) {
    const have = parts[index] ?? 0;
    const want = oldestSqlite[index] ?? 0;
    if (have > want) return;
    if (have < want) {
      throw refused(
        "ledger.sqlite-too-old",
        path,
        `SQLite ${version} can damage the ledger; the oldest safe version is ${oldestSqlite.join(".")}`,
        "install the dependencies again with `npm ci`",
      );
    }
  }
}

function requireOurs(database: Sqlite, path: string): void {
  const id = database.pragma("application_id", { simple: true });
  if (id === applicationId) return;
  const tables = database.prepare("select count(*) from sqlite_schema").pluck().get();
  if (id === 0 && tables === 0) return;
  throw refused(
    "ledger.not-a-ledger",
    path,
    `${path} is a SQLite database, but not a ledger of crm-sync`,
    "set ledger.path to the right file. This file was not changed",
  );
}

function makeDurable(database: Sqlite, path: string): void {
  database.pragma("journal_mode = wal");
  database.pragma("synchronous = full");
  database.pragma("foreign_keys = on");
  // Groups of work are small, and temporary files would cost more writes than the work itself.
  database.pragma("temp_store = memory");
  database.pragma("wal_autocheckpoint = 1000");
  database.pragma("journal_size_limit = 67108864");
  const mode = database.pragma("journal_mode", { simple: true });
  const synchronous = database.pragma("synchronous", { simple: true });
  if (mode !== "wal" || synchronous !== 2) {
    throw refused(
      "ledger.not-durable",
      path,
      `the file system of ${path} cannot keep the ledger safe in a crash (journal ${String(mode)}, synchronous ` +
        `${String(synchronous)})`,
      "put the ledger on a local disk",
    );
  }
}

/** Does nothing if another program made the schema first. */
function makeSchema(database: Sqlite): void {
  // Set first: a program that dies here leaves an empty ledger, not a foreign database.
  database.pragma(`application_id = ${applicationId}`);
  const make = database.transaction(() => {
    if (!isEmpty(database)) return;
    database.exec(schema);
    database.pragma(`user_version = ${schemaVersion}`);
  });
  make.immediate();
}

function isEmpty(database: Sqlite): boolean {
  return database.prepare("select count(*) from sqlite_schema").pluck().get() === 0;
}

function requireKnownVersion(database: Sqlite, path: string): void {
  const version = Number(database.pragma("user_version", { simple: true }));
  if (version === schemaVersion) return;
  throw refused(
    "ledger.unknown-version",
    path,
    `the ledger ${path} was made by another version of crm-sync (schema ${version}, not ${schemaVersion}). ` +
      "Nothing was written",
    "use the version that made it, or set `ledger.path` to a new file and run `crm-sync rebuild`",
  );
}
