import Database from "better-sqlite3";
import { exitCodes, messageOf, Problem } from "../../base/errors.ts";
import type { Json } from "../../base/canonical-json.ts";

/** A Problem with exit code 65: the ledger is not used as it is. */
export function refused(code: string, path: string, message: string, cure: string, cause?: unknown): Problem {
  return new Problem({ code, message, cure, place: path, exitCode: exitCodes.ledgerRefused, cause });
}

/**
 * A row that this program cannot have written as it stands now: the ledger is refused, the row is named, nothing is
 * repaired.
 */
export function unreadableRow(table: string, id: string, column: string, cause?: unknown): Problem {
  return refused(
    "ledger.damaged",
    `${table} ${id}`,
    `the ledger is damaged: column ${column} of ${table} ${id} cannot be read`,
    "restore the ledger from a backup. Nothing was repaired or sent",
    cause,
  );
}

/** SQLite results after which nothing that is written or read can be relied on. */
const fatal = /^SQLITE_(?:FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|PERM|NOMEM|BUSY|PROTOCOL)/u;

/** A ledger of this version that lacks a part of its schema was damaged by somebody. */
const lacks = /^no such (?:table|column|index):|^table \S+ has no column named /u;

/** Whether an error concerns the ledger as a whole, and not only the piece of work that met it. */
export function isFatal(error: unknown): boolean {
  if (error instanceof Problem) return error.exitCode === exitCodes.ledgerRefused;
  return error instanceof Database.SqliteError && (fatal.test(error.code) || lacks.test(error.message));
}

/** What the system refused about a file beside the ledger, as SQLite would say it of the ledger itself. */
function systemCode(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOSPC") return "SQLITE_FULL";
  return /^(?:EACCES|EPERM|EROFS|EIO|EISDIR|ENOENT|ENOTDIR)$/u.test(code) ? "SQLITE_CANTOPEN" : "";
}

/** What a failure of SQLite means for people, by its result code. */
export function databaseProblem(error: unknown, path: string): Problem {
  if (error instanceof Problem) return error;
  const code = error instanceof Database.SqliteError ? error.code : systemCode(error);
  const said = messageOf(error);
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_PROTOCOL")) {
    return refused(
      "ledger.busy",
      path,
      `another program has locked the ledger ${path} (${said}). Nothing more is sent`,
      "stop the program that locks the file, then start again: the next run continues from here",
      error,
    );
  }
  if (code.startsWith("SQLITE_FULL")) {
    return refused(
      "ledger.disk-full",
      path,
      `the ledger ${path} cannot be written: ${said}. Nothing more is sent`,
      "free disk space, then start again: the next run continues from here",
      error,
    );
  }
  if (/^SQLITE_(?:READONLY|CANTOPEN|PERM|IOERR)/u.test(code)) {
    return refused(
      "ledger.cannot-write",
      path,
      `the ledger ${path} cannot be written: ${said}. Nothing more is sent`,
      "check the disk, that the folder exists and that this user may write there, then start again: the next run " +
        "continues from here",
      error,
    );
  }
  return refused(
    "ledger.damaged",
    path,
    `the ledger ${path} cannot be read: ${said}`,
    "restore the ledger from a backup. Nothing was repaired or sent",
    error,
  );
}

/** What of the platform can belong to one record only, and is said to belong to a second one. */
const belongsToOne: Record<string, string> = {
  "staff_link.member_global_id": "its globalId belongs to another staff record already",
  "link.enterprise_global_id": "its enterprise belongs to another customer already",
  "placed_order.channel_order_id": "its channel order number belongs to another order already",
};

/**
 * Two things that the ledger cannot both hold, such as one enterprise for two customers; any other error as it came.
 */
export function contradictionIn(error: unknown, what: string): unknown {
  if (!(error instanceof Database.SqliteError) || !error.code.startsWith("SQLITE_CONSTRAINT")) return error;
  const said = Object.entries(belongsToOne).find(([column]) => error.message.includes(column))?.[1] ?? error.message;
  return new Problem({
    code: "ledger.contradiction",
    message: `the outcome of ${what} contradicts the ledger: ${said}. The outcome was not recorded`,
    cure: "correct the CRM or the platform, then decide: `crm-sync settle list` shows the evidence",
    cause: error,
  });
}

/** Reads a column that this program wrote as JSON; `where` names the row for people, should it be damaged. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what this program writes into the column
export function stored<T>(text: string, where = "a row of the ledger"): T {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    return JSON.parse(text) as T;
  } catch (error) {
    throw refused(
      "ledger.damaged",
      where,
      `the ledger is damaged: ${where} cannot be read`,
      "restore the ledger from a backup. Nothing was repaired or sent",
      error,
    );
  }
}

export function storedOrNull(text: string | null): Json {
  return text === null ? null : stored<Json>(text);
}
