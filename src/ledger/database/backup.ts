import Database from "better-sqlite3";
import { createPrivateFile } from "../../base/private-files.ts";
import { refused } from "./damage.ts";
import { connect } from "./ledger-file.ts";
import { openReadOnly } from "./database.ts";
import { gapKeys } from "./newest.ts";
import { pauseKey, pauseOn, type PauseWord } from "../pause.ts";
import type { Paused } from "../../report/status.ts";

export interface CopiedLedger {
  commits: number;
  schema: number;
}

/** Pages copied before other work gets a turn. */
const pagesAtOnce = 2_000;

/**
 * Copies a ledger at one moment, during a run. The result is one file in rollback mode; `to` must not exist. Throws a
 * Problem with exit code 65 if the ledger is unreadable, or the error of SQLite or the file system.
 */
export async function copyWhileWritten(
  from: string,
  to: string,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const source = openReadOnly(from);
  try {
    source.exec("begin");
    // The first reading fixes the state, so that later commits do not restart the copy.
    farOf(source);
    createPrivateFile(to);
    await source.backup(to, {
      progress: ({ totalPages, remainingPages }) => {
        progress(totalPages - remainingPages, totalPages);
        return pagesAtOnce;
      },
    });
    const copy = new Database(to, { fileMustExist: true });
    try {
      copy.pragma("journal_mode = delete");
    } finally {
      copy.close();
    }
  } finally {
    source.close();
  }
}

/** Checks every page, index and reference of a copy. Throws a Problem with exit code 65 if one is bad. */
export function requireIntact(path: string): CopiedLedger {
  const copy = connect(path, { readonly: true });
  try {
    const found = copy.pragma("integrity_check(1)", { simple: true });
    if (found !== "ok") throw damaged(path, String(found));
    const [dangling] = copy.prepare<[], { table: string }>("pragma foreign_key_check").all();
    if (dangling !== undefined) throw damaged(path, `a row of ${dangling.table} refers to one that is gone`);
    return farOf(copy);
  } catch (error) {
    throw error instanceof Database.SqliteError ? damaged(path, error.message) : error;
  } finally {
    copy.close();
  }
}

/** Name and one hash of a ledger of any version. Throws SQLite's error if it is unreadable. */
export function ledgerFacts(path: string, sequence = 0): { name: string | null; hash: string | undefined } {
  const database = connect(path, { readonly: true });
  try {
    const name = database.prepare<[], string>("select value from meta where key = 'ledger'").pluck().get();
    const hash = database.prepare<[number], string>("select hash from audit where sequence = ?").pluck().get(sequence);
    return { name: name ?? null, hash };
  } finally {
    database.close();
  }
}

/** Decisions that a backup of the ledger misses: erasures, and the current pause. */
export interface SaidSince {
  erased: string[];
  paused: Paused | undefined;
  unread: ("erased" | "paused")[];
}

/** Decisions after an audit entry, as far as readable: the ledger may be damaged. */
export function saidAfter(path: string, sequence: number): SaidSince {
  const unread: SaidSince["unread"] = [];
  const read = <T>(what: SaidSince["unread"][number], of: (database: Database.Database) => T): T | undefined => {
    let database: Database.Database | undefined;
    try {
      database = connect(path, { readonly: true });
      return of(database);
    } catch {
      unread.push(what);
      return undefined;
    } finally {
      database?.close();
    }
  };
  const subjects = "select distinct subject from audit where kind = 'erased' and sequence > ? order by subject";
  const word = "select value from meta where key = ?";
  return {
    erased: read("erased", (ledger) => ledger.prepare<[number], string>(subjects).pluck().all(sequence)) ?? [],
    paused: read("paused", (ledger) => pauseOn(ledger.prepare<[string], string>(word).pluck().get(pauseKey))),
    unread,
  };
}

/** `unknown`: nobody knows the changes after the backup. The copy gets the pause and name of the replaced ledger. */
export function noteRestored(
  path: string,
  note: { backup: string; at: string; unknown: boolean } | undefined,
  { name, paused }: { name: string | null; paused: Paused | undefined },
): void {
  const copy = connect(path, {});
  try {
    const own = copy.prepare<[], string>("select value from meta where key = 'ledger'").pluck().get();
    const set = copy.prepare(
      "insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value",
    );
    if (name !== null && own === undefined) set.run("ledger", name);
    if (paused !== undefined) set.run(pauseKey, JSON.stringify({ ...paused, isPaused: true } satisfies PauseWord));
    if (note !== undefined) set.run(gapKeys.restored, JSON.stringify(note));
  } finally {
    copy.close();
  }
}

function damaged(path: string, why: string): Error {
  return refused(
    "backup.damaged",
    path,
    `the copy ${path} of the ledger is damaged: ${why}`,
    "use another backup; if this one was made just now, check the disk",
  );
}

function farOf(database: Database.Database): CopiedLedger {
  const commits = database.prepare<[], string>("select value from meta where key = 'commits'").pluck().get();
  const schema = Number(database.pragma("user_version", { simple: true }));
  return { commits: Number(commits ?? 0), schema };
}
