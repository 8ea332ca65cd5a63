import Database from "better-sqlite3";
import { exitCodes, messageOf, Problem } from "../../base/errors.ts";
import type { Json } from "../../base/canonical-json.ts";

/** A Problem with exit code 65: the ledger is not usable. */
export function refused(code: string, path: string, message: string, cure: string, cause?: unknown): Problem {
  return new Problem({ code, message, cure, place: path, exitCode: exitCodes.ledgerRefused, cause });
}

/** This program cannot have written such a row. The Problem names the row; nothing is repaired. */
export function unreadableRow(table: string, id: string, column: string, cause?: unknown): Problem {
  return refused(
    "ledger.damaged",
    `${table} ${id}`,
    `the ledger is damaged: column ${column} of ${table} ${id} cannot be read`,
    "restore the ledger from a backup. Nothing was repaired or sent",
    cause,
  );
}

/** After these SQLite results no read or write is reliable. */
const fatal = /^SQLITE_(?:FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|PERM|NOMEM|BUSY|PROTOCOL)/u;

/** A ledger of this version without a part of its schema is damaged. */
const lacks = /^no such (?:table|column|index):|^table \S+ has no column named /u;

/** Whether an error concerns the whole ledger, and not only the work that met it. */
export function isFatal(error: unknown): boolean {
  if (error instanceof Problem) return error.exitCode === exitCodes.ledgerRefused;
  return error instanceof Database.SqliteError && (fatal.test(error.code) || lacks.test(error.message));
}

/** The SQLite code that matches a file system error of a file beside the ledger. */
function systemCode(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOSPC") return "SQLITE_FULL";
  return /^(?:EACCES|EPERM|EROFS|EIO|EISDIR|ENOENT|ENOTDIR)$/u.test(code) ? "SQLITE_CANTOPEN" : "";
}

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

const belongsToOne: Record<string, string> = {
  "staff_link.member_global_id": "its globalId belongs to another staff record already",
  "link.enterprise_global_id": "its enterprise belongs to another customer already",
  "placed_order.channel_order_id": "its channel order number belongs to another order already",
};

/** Makes a Problem of a broken constraint, such as one enterprise for two customers. Returns other errors unchanged. */
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

/** Parses a JSON column that this program wrote. `where` names the row in the message if it is damaged. */
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
