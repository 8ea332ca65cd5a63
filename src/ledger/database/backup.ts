import Database from "better-sqlite3";
import { createPrivateFile } from "../../base/private-files.ts";
import { refused } from "./damage.ts";
import { connect } from "./ledger-file.ts";
import { openReadOnly } from "./database.ts";
import { gapKeys } from "./newest.ts";
import { pauseKey, pauseOn, type PauseWord } from "../pause.ts";
import type { Paused } from "../../report/status.ts";

/** How far a copy of the ledger is. */
export interface CopiedLedger {
  /** Groups of changes that were committed. */
  commits: number;
  /** The version of the schema. */
  schema: number;
}

/** Pages that are copied before others have their turn. */
const pagesAtOnce = 2_000;

/**
 * Copies a ledger with SQLite's backup, as it is at one moment, beside a run that goes on writing: its connection stays
 * on the state that it began with, so that what is committed meanwhile begins nothing anew. The copy is one file in
 * rollback mode, which needs no log beside it. `to` must not be there. Throws a Problem with exit code 65 where the
 * ledger cannot be read, and the error of SQLite or of the file system where the copy cannot be written.
 */
export async function copyWhileWritten(
  from: string,
  to: string,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const source = openReadOnly(from);
  try {
    source.exec("begin");
    // The state that is copied is that of the first reading.
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

/**
 * Looks through a copy page by page and row by row: every page, index and reference is as it should be. Says how far it
 * is. Throws a Problem with exit code 65 where something is wrong.
 */
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

/**
 * What a ledger is called, and the hash of one entry of its audit log: null and undefined where it has none. Of any
 * version; it is only read. Throws the error of SQLite where it cannot be.
 */
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

/** What people said in a ledger that a backup of it lacks: whose data they erased, and the pause that is on. */
export interface SaidSince {
  erased: string[];
  paused: Paused | undefined;
  /** What of it cannot be read. */
  unread: ("erased" | "paused")[];
}

/** That of a ledger, after an entry of its audit log: as much as can be read of it, as it may be damaged. */
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

/**
 * Has a copy that is put back say which backup it is of, where it lacks something, so that a rebuild can tell what.
 * `unknown`: nobody knows what was done after it. From the ledger that it is put over it has a pause, and its `name` if
 * it is from before that had one.
 */
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
