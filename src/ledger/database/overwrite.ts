import Database from "better-sqlite3";
import { z } from "zod";
import type { Sqlite } from "./database.ts";

const checkpointed = z.array(z.object({ busy: z.number() }));

/** How long to wait for readers, in milliseconds. */
const readersMs = 2_000;

/** Rewrites the file without deleted bytes. Returns the reason if that failed. Takes the time and space of a copy. */
export function overwriteFreed(database: Sqlite): string | undefined {
  // The temporary data is as large as the ledger, so it must not be in memory.
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
