import Database from "better-sqlite3";
import { z } from "zod";
import type { Sqlite } from "./database.ts";

/** What SQLite answers about a checkpoint. */
const checkpointed = z.array(z.object({ busy: z.number() }));

/** So long whoever is reading is waited for, in milliseconds. */
const readersMs = 2_000;

/**
 * Writes the database anew without the bytes of what was deleted or replaced in it, and empties its log. Undefined: it
 * is done; else why not. It takes as long as copying the file, and as much space beside it.
 */
export function overwriteFreed(database: Sqlite): string | undefined {
  // What it sorts into is as large as the ledger, so not into memory.
  database.pragma("temp_store = file");
  const patience = Number(database.pragma("busy_timeout", { simple: true }));
  try {
    database.exec("vacuum");
    database.pragma(`busy_timeout = ${readersMs}`);
    const [state] = checkpointed.parse(database.pragma("wal_checkpoint(truncate)"));
    return state?.busy === 0 ? undefined : "somebody is reading the ledger, and its log is kept for them";
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    return error.message;
  } finally {
    database.pragma(`busy_timeout = ${patience}`);
    database.pragma("temp_store = memory");
  }
}
