import Database from "better-sqlite3";
import { Problem } from "../../base/errors.ts";

/** `mostPages` limits the file, in pages of 4,096 bytes. */
export interface TemporaryOptions {
  cacheKiB?: number;
  mostPages?: number;
}

/** A file without a name. It is written only when it outgrows the page cache, and removed on close or death. */
export function temporaryDatabase(schema: string, { cacheKiB, mostPages }: TemporaryOptions = {}): Database.Database {
  const database = new Database("");
  database.pragma("journal_mode = off");
  database.pragma("synchronous = off");
  database.pragma("temp_store = file");
  if (cacheKiB !== undefined) database.pragma(`cache_size = -${cacheKiB}`);
  if (mostPages !== undefined) database.pragma(`max_page_count = ${mostPages}`);
  database.exec(schema);
  return database;
}

/** Works on a temporary file. If that fails, only the read fails, not the ledger. */
export function inTemporarySpace<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    throw new Problem({
      code: "source.no-temporary-space",
      message: `the temporary folder has no room for the records of this read: ${error.message}`,
      cure: "free about 150 bytes for each record, or set SQLITE_TMPDIR to a folder with more room; then start again",
      cause: error,
    });
  }
}
