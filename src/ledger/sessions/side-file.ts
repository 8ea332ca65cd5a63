import { rmSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { createPrivateFile, keepPrivate } from "../../base/private-files.ts";
import type { Sqlite } from "../database/database.ts";

/** The version of the tables; a file of another one is made anew, as everything in it can be done again. */
const version = 1;

const tables = `
  create table own (id integer primary key check (id = 1), key text not null, name text not null) strict;
  create table session (
    hash text primary key, name text not null, way text not null, issuer text not null, subject text not null,
    role text not null, mark text not null, csrf text not null, created_at integer not null, seen_at integer not null
  ) strict;
  create table link (
    hash text primary key, user text not null, created_at integer not null, used_at integer
  ) strict;
  create index session_seen on session (seen_at);
  pragma user_version = ${version};
`;

/** What a file is made with. */
export interface Own {
  /** The secret of this file, for what is proved without being kept. */
  key: string;
  /** The host name of the pages on this machine, which nobody can guess. */
  name: string;
}

const broken = /^SQLITE_(?:CORRUPT|NOTADB)|^SQLITE_ERROR$/u;

/**
 * The SQLite file beside the ledger that holds who is signed in: for the owner alone, whoever may read the ledger. What
 * stands in it can be done again, so one that is damaged, missing or of another version is made anew, and `anew` is
 * told why.
 */
export class SideFile {
  readonly #path: string;
  readonly #own: () => Own;
  readonly #anew: (why: string) => void;
  #open: { database: Sqlite; file: number } | undefined;

  constructor(path: string, parts: { own: () => Own; anew: (why: string) => void }) {
    this.#path = path;
    this.#own = parts.own;
    this.#anew = parts.anew;
  }

  /** Does something with it as a whole or not at all. What finds it damaged is done once more with a new one. */
  use<T>(work: (database: Sqlite) => T): T {
    try {
      return this.#within(work);
    } catch (error) {
      if (!(error instanceof Database.SqliteError) || !broken.test(error.code)) throw error;
      this.#remove("damaged");
      return this.#within(work);
    }
  }

  close(): void {
    this.#open?.database.close();
    this.#open = undefined;
  }

  #within<T>(work: (database: Sqlite) => T): T {
    const database = this.#database();
    return database.transaction(() => work(database)).immediate();
  }

  #database(): Sqlite {
    const now = statSync(this.#path, { throwIfNoEntry: false });
    if (this.#open !== undefined && now?.ino === this.#open.file) return this.#open.database;
    // SQLite would go on with a file that was deleted, where no other process looks for it.
    if (this.#open !== undefined) {
      this.close();
      if (now === undefined) this.#anew("gone");
    }
    createPrivateFile(this.#path);
    keepPrivate(this.#path, undefined);
    const database = new Database(this.#path, { timeout: 5_000 });
    try {
      this.#prepare(database);
    } catch (error) {
      database.close();
      throw error;
    }
    this.#open = { database, file: statSync(this.#path).ino };
    return database;
  }

  #prepare(database: Sqlite): void {
    const make = database.transaction(() => {
      const found = Number(database.pragma("user_version", { simple: true }));
      if (found === version) return true;
      if (found !== 0) return false;
      database.exec(tables);
      database.prepare("insert into own (id, key, name) values (1, @key, @name)").run(this.#own());
      return true;
    });
    if (make.immediate()) return;
    database.close();
    this.#remove("of another version of the program");
    throw new Database.SqliteError("the file is of another version", "SQLITE_CORRUPT");
  }

  #remove(why: string): void {
    this.close();
    for (const ending of ["", "-journal"]) rmSync(`${this.#path}${ending}`, { force: true });
    this.#anew(why);
  }
}
