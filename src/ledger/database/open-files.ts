import { existsSync, statSync } from "node:fs";
import { refused } from "./damage.ts";
import { openSuffixes } from "./ledger-file.ts";
import Database from "better-sqlite3";
import { z } from "zod";
import type { Sqlite } from "./database.ts";

interface OpenFile {
  path: string;
  device: number;
  file: number;
}

function isSame(known: OpenFile): boolean {
  const now = statSync(known.path, { throwIfNoEntry: false });
  return now?.ino === known.file && now.dev === known.device;
}

/** SQLite continues to write into a moved file, where no later start reads. So each group first checks the names. */
export class OpenFiles {
  readonly #path: string;
  readonly #known: OpenFile[] = [];

  constructor(path: string) {
    this.#path = path;
    for (const suffix of openSuffixes) {
      const found = statSync(path + suffix, { throwIfNoEntry: false });
      if (found !== undefined) this.#known.push({ path: path + suffix, device: found.dev, file: found.ino });
    }
  }

  get areSame(): boolean {
    return this.#known.every(isSame);
  }

  /** Throws a Problem with exit code 65 if a file is missing or was replaced. */
  requireSame(): void {
    for (const known of this.#known) {
      if (isSame(known)) continue;
      const { path } = known;
      const isThere = existsSync(path);
      throw refused(
        isThere ? "ledger.replaced" : "ledger.gone",
        path,
        `${path} was ${isThere ? "replaced by another file" : "deleted or moved away"} ` +
          `while the ledger ${this.#path} was in use. ` +
          "Nothing more is written or sent; the result of a call in progress is not recorded",
        "put the file back, or restore the newest backup, then start again. The next run continues from that " +
          "ledger, and refuses a ledger that is too old",
      );
    }
  }
}

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
