import Database from "better-sqlite3";
import { Kysely, SqliteAdapter, SqliteDialect } from "kysely";
import type { DatabaseConnection } from "kysely";
import { CompiledQuery, SqliteDriver } from "kysely";
import { Migrator } from "kysely/migration";
import type { Migration, MigrationProvider } from "kysely/migration";
import { messageOf, Problem } from "../../base/errors.ts";
import { refuseLostLedger } from "../audit/audit-heads.ts";
import { keepPrivate } from "../../base/private-files.ts";
import type { ReadingGroup } from "../../base/private-files.ts";
import { databaseProblem, isFatal, refused } from "./damage.ts";
import {
  closeToOthers,
  connect,
  openForReading,
  prepareLedgerFile,
  requireLedgerFile,
  requireThere,
} from "./ledger-file.ts";
import { beginLedger } from "./new-ledger.ts";
import { requireNewest } from "./newest.ts";
import * as ledgerMigration from "../../../migrations/0001_ledger.ts";
import * as servicesLeftMigration from "../../../migrations/0002_services_left.ts";
import * as openRecordsMigration from "../../../migrations/0003_open_records.ts";
import * as absenceMigration from "../../../migrations/0005_absence.ts";
import * as workMigration from "../../../migrations/0006_work_and_tallies.ts";
import * as retentionMigration from "../../../migrations/0007_retention.ts";
import * as fireTimesMigration from "../../../migrations/0008_fire_times.ts";
import * as refusedTriesMigration from "../../../migrations/0009_refused_tries.ts";
import * as factsAndWordsMigration from "../../../migrations/0010_facts_and_words.ts";
import * as requestsMigration from "../../../migrations/0011_requests.ts";
import * as rowsInOnePageMigration from "../../../migrations/0012_rows_in_one_page.ts";
import * as fewerIndexesMigration from "../../../migrations/0013_fewer_indexes.ts";
import * as wholeReadingsMigration from "../../../migrations/0014_whole_readings.ts";
import * as claimsMigration from "../../../migrations/0015_claims.ts";
import * as takingsMigration from "../../../migrations/0016_takings.ts";
import * as orderStepsMigration from "../../../migrations/0017_order_steps.ts";
import * as byHandMigration from "../../../migrations/0018_by_hand.ts";
import * as assumptionsMetMigration from "../../../migrations/0019_assumptions_met.ts";
import * as appliedPlansMigration from "../../../migrations/0020_applied_plans.ts";
import * as differencesMigration from "../../../migrations/0021_differences.ts";
import * as flipsMigration from "../../../migrations/0022_flips.ts";
import * as linksOfCustomersMigration from "../../../migrations/0023_links_of_customers.ts";
import * as wordsThatEndMigration from "../../../migrations/0024_words_that_end.ts";
import * as movedOrdersMigration from "../../../migrations/0025_moved_orders.ts";
import * as foundElsewhereMigration from "../../../migrations/0026_found_elsewhere.ts";
import * as holdsOfUndoMigration from "../../../migrations/0027_holds_of_undo.ts";
import * as goneLocksMigration from "../../../migrations/0028_gone_locks.ts";
import * as auditTreeMigration from "../../../migrations/0029_audit_tree.ts";
import * as headPlacesMigration from "../../../migrations/0030_head_places.ts";
import * as booksMigration from "../../../migrations/0031_books.ts";
import * as whatStoodMigration from "../../../migrations/0032_what_stood.ts";
import * as earlierNumbersMigration from "../../../migrations/0034_earlier_numbers.ts";
import * as zonesOfDatesMigration from "../../../migrations/0035_zones_of_dates.ts";
import * as cutReadsMigration from "../../../migrations/0036_cut_reads.ts";
import * as shapesOfReadsMigration from "../../../migrations/0037_shapes_of_reads.ts";
import * as refusedStoredFormsMigration from "../../../migrations/0038_refused_stored_forms.ts";
import * as toldByWayMigration from "../../../migrations/0039_told_by_way.ts";
import * as namesToFindByMigration from "../../../migrations/0040_names_to_find_by.ts";
import * as forgottenStepsMigration from "../../../migrations/0041_forgotten_steps.ts";
import * as rejectionsMigration from "../../../migrations/0004_rejections.ts";

export type Sqlite = Database.Database;

/** Marks a database file as a ledger of ours: `CRMS` in ASCII. */
const applicationId = 0x43524d53;
/** Before this version SQLite could corrupt a WAL that was reset while being read. */
const oldestSqlite = [3, 51, 3];

/** All migrations, in the order of their names. */
export const migrations: Record<string, Migration> = {
  "0001_ledger": ledgerMigration,
  "0002_services_left": servicesLeftMigration,
  "0003_open_records": openRecordsMigration,
  "0004_rejections": rejectionsMigration,
  "0005_absence": absenceMigration,
  "0006_work_and_tallies": workMigration,
  "0007_retention": retentionMigration,
  "0008_fire_times": fireTimesMigration,
  "0009_refused_tries": refusedTriesMigration,
  "0010_facts_and_words": factsAndWordsMigration,
  "0011_requests": requestsMigration,
  "0012_rows_in_one_page": rowsInOnePageMigration,
  "0013_fewer_indexes": fewerIndexesMigration,
  "0014_whole_readings": wholeReadingsMigration,
  "0015_claims": claimsMigration,
  "0016_takings": takingsMigration,
  "0017_order_steps": orderStepsMigration,
  "0018_by_hand": byHandMigration,
  "0019_assumptions_met": assumptionsMetMigration,
  "0020_applied_plans": appliedPlansMigration,
  "0021_differences": differencesMigration,
  "0022_flips": flipsMigration,
  "0023_links_of_customers": linksOfCustomersMigration,
  "0024_words_that_end": wordsThatEndMigration,
  "0025_moved_orders": movedOrdersMigration,
  "0026_found_elsewhere": foundElsewhereMigration,
  "0027_holds_of_undo": holdsOfUndoMigration,
  "0028_gone_locks": goneLocksMigration,
  "0029_audit_tree": auditTreeMigration,
  "0030_head_places": headPlacesMigration,
  "0031_books": booksMigration,
  "0032_what_stood": whatStoodMigration,
  "0034_earlier_numbers": earlierNumbersMigration,
  "0035_zones_of_dates": zonesOfDatesMigration,
  "0036_cut_reads": cutReadsMigration,
  "0037_shapes_of_reads": shapesOfReadsMigration,
  "0038_refused_stored_forms": refusedStoredFormsMigration,
  "0039_told_by_way": toldByWayMigration,
  "0040_names_to_find_by": namesToFindByMigration,
  "0041_forgotten_steps": forgottenStepsMigration,
};

class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class ImmediateDriver extends SqliteDriver {
  readonly #database: Sqlite;

  constructor(database: Sqlite) {
    super({ database });
    this.#database = database;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  /** SQLite takes a transaction back by itself where the disk is full; asked again, it would hide why. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection);
  }
}

/** SQLite whose transactions begin immediate and whose migrations roll back when they fail. */
class LedgerDialect extends SqliteDialect {
  readonly #database: Sqlite;

  constructor(database: Sqlite) {
    super({ database });
    this.#database = database;
  }

  override createAdapter(): TransactionalDdlAdapter {
    return new TransactionalDdlAdapter();
  }

  override createDriver(): SqliteDriver {
    return new ImmediateDriver(this.#database);
  }
}

export function kyselyOn<Tables>(database: Sqlite): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new LedgerDialect(database) });
}

export interface OpenOptions {
  migrate: boolean;
  busyTimeoutMs?: number | undefined;
  /** Who may read beside the owner. */
  group?: ReadingGroup | undefined;
  /** It may lack what was done since, as whoever opens it finds that out. */
  fillsGap?: boolean | undefined;
}

/**
 * Opens the ledger's database for writing, in WAL mode at full durability, and brings it to this program's version when
 * `migrate` is set. Throws a Problem with exit code 65 for a file that is not a ledger, is newer than the program, is
 * damaged, or cannot be made durable, and with exit code 78 where this user may not write.
 */
export async function openDatabase(path: string, options: OpenOptions): Promise<Sqlite> {
  prepareLedgerFile(path);
  requireLedgerFile(path);
  const database = connect(path, { timeout: options.busyTimeoutMs ?? 10_000 });
  try {
    requireSqlite(database, path);
    requireOurs(database, path);
    keepPrivate(path, options.group);
    makeDurable(database, path);
    requireSound(database, path);
    if (appliedMigrations(database).length > 0) {
      if (options.fillsGap !== true) requireNewest(database, path);
    } else refuseLostLedger(path);
    if (options.migrate) await migrate(database, path);
    requireKnownVersion(database, path);
    closeToOthers(path, options.group);
    return database;
  } catch (error) {
    database.close();
    throw error instanceof Problem ? error : databaseProblem(error, path);
  }
}

/**
 * Opens the ledger's database for reading. It needs no right to write and writes nothing beside the ledger: see
 * `openForReading`. Throws a Problem with exit code 65 where there is no ledger of this version.
 */
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
 * Closes the connection that writes, with the log emptied into the ledger. A connection that only reads closes after
 * it: so the last one to close takes away neither the log nor its index, which readers without the right to write need
 * and cannot make.
 */
export function closeDatabase(database: Sqlite, isSound: boolean): void {
  if (!database.open) return;
  let reader: Sqlite | undefined;
  try {
    if (!isSound) return;
    // A reader that is on keeps the log; it is not waited for.
    database.pragma("busy_timeout = 0");
    reader = new Database(database.name, { readonly: true, fileMustExist: true });
    // A reading of any kind keeps its hold on the log.
    reader.prepare("pragma schema_version").get();
    database.pragma("wal_checkpoint(truncate)");
  } catch {
    // The log stays as it is, and the next start empties it; a file that was moved away has no readers either.
  } finally {
    database.close();
    reader?.close();
  }
}

/**
 * Ledgers up to this size are looked through whole each time they are opened; in larger ones damage is found where it
 * is read.
 */
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
    "restore it from a backup; nothing was repaired or sent",
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
        `SQLite ${version} can damage a write-ahead log; ${oldestSqlite.join(".")} is the oldest that is safe`,
        "install the locked dependencies with `npm ci`",
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
    "name the right file in ledger.path; the file was not touched",
  );
}

function makeDurable(database: Sqlite, path: string): void {
  database.pragma("journal_mode = wal");
  database.pragma("synchronous = full");
  database.pragma("foreign_keys = on");
  // What a statement may have to undo is kept in memory: a group of work is small, and files for it cost more writes
  // than the work itself.
  database.pragma("temp_store = memory");
  database.pragma("wal_autocheckpoint = 1000");
  database.pragma("journal_size_limit = 67108864");
  const mode = database.pragma("journal_mode", { simple: true });
  const synchronous = database.pragma("synchronous", { simple: true });
  if (mode !== "wal" || synchronous !== 2) {
    throw refused(
      "ledger.not-durable",
      path,
      `the file system of ${path} does not let the ledger be made durable (journal ${String(mode)}, ` +
        `synchronous ${String(synchronous)})`,
      "put the ledger on a local disk",
    );
  }
}

const provider: MigrationProvider = { getMigrations: async () => migrations };

/**
 * Applies the migrations that are missing, all in one transaction: one that fails leaves the ledger as it was. Writes
 * nothing where none is. A database without a table becomes in one step what most of them would make of it.
 */
export async function migrate(
  database: Sqlite,
  path: string,
  provide: MigrationProvider = provider,
): Promise<string[]> {
  requireKnownVersion(database, path);
  const applied = appliedMigrations(database);
  if (Object.keys(await provide.getMigrations()).every((name) => applied.includes(name))) return [];
  // Before the first migration: a program that ends between the two leaves an empty ledger of ours, not a foreign
  // database.
  if (database.pragma("application_id", { simple: true }) === 0) database.pragma(`application_id = ${applicationId}`);
  if (provide === provider) {
    beginLedger(database, knownMigrations);
    if (appliedMigrations(database).length === knownMigrations.length) return knownMigrations.slice(applied.length);
  }
  const db = kyselyOn<unknown>(database);
  const { error, results } = await new Migrator({ db, provider: provide }).migrateToLatest();
  if (error !== undefined) {
    if (isFatal(error)) throw databaseProblem(error, path);
    throw refused(
      "ledger.migration-failed",
      path,
      `the ledger ${path} could not be brought to this version: ${messageOf(error)}. It is as it was before`,
      "keep the older program running and report the message",
      error,
    );
  }
  return (results ?? []).filter((result) => result.status === "Success").map((result) => result.migrationName);
}

/** The names of migrations this ledger has had, oldest first. */
export function appliedMigrations(database: Sqlite): string[] {
  const exists = database.prepare("select 1 from sqlite_schema where name = 'kysely_migration'").get();
  if (exists === undefined) return [];
  return database.prepare<[], string>("select name from kysely_migration order by name").pluck().all();
}

export const knownMigrations = Object.keys(migrations);

function requireKnownVersion(database: Sqlite, path: string): void {
  const applied = appliedMigrations(database);
  const unknown = applied.filter((name) => !(name in migrations));
  if (unknown.length > 0) {
    throw refused(
      "ledger.newer",
      path,
      `the ledger ${path} is newer than this program: it has had ${unknown.join(", ")}`,
      "use the newer program; this one wrote nothing",
    );
  }
  const missing = knownMigrations.filter((name) => !applied.includes(name));
  if (database.readonly && missing.length > 0) {
    throw refused(
      "ledger.older",
      path,
      `the ledger ${path} is older than this program: ${missing.join(", ")} is missing`,
      "run `crm-sync migrate`",
    );
  }
}
