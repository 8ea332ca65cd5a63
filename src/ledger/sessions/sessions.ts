import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { Randomness } from "../../base/ids.ts";
import type { Sqlite } from "../database/database.ts";
import { rmSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { createPrivateFile, keepPrivate } from "../../base/private-files.ts";

export interface Session {
  user: string;
  /** Every form of the session contains this secret. */
  csrf: string;
}

interface SessionRow extends Session {
  created_at: number;
  seen_at: number;
}

export interface SessionsOptions {
  path: string;
  clock: Pick<Clock, "now">;
  random: Randomness;
  /** A new file was made, so everybody must sign in again. */
  anew: (why: string) => void;
}

const minute = 60_000;
const linkLife = minute;
/** Activity is written at most this often. */
const seenEvery = minute;
/** A clock set back further than this ends sessions and links of the later time. */
const clockTolerance = minute;
const mostSessions = 10_000;

/** Sessions and sign-in links. Only hashes of their tokens are kept, so that nobody can use the file to sign in. */
export class Sessions {
  readonly #file: SideFile;
  readonly #clock: Pick<Clock, "now">;
  readonly #random: Randomness;

  constructor({ path, clock, random, anew }: SessionsOptions) {
    const own = (): Own => ({ key: random.hex(32), name: `crm-sync-${random.hex(16)}.localhost` });
    this.#file = new SideFile(path, { own, anew });
    this.#clock = clock;
    this.#random = random;
  }

  own(): Own {
    return this.#file.use((database) => {
      const own = database.prepare<[], Own>("select key, name from own").get();
      if (own === undefined) throw new Error("the file of who is signed in has no key");
      return own;
    });
  }

  /** Returns the token for the browser. */
  begin(user: string): string {
    const token = this.#random.hex(32);
    const row = { hash: hashOf(token), user, csrf: this.#random.hex(32), now: this.#clock.now() };
    this.#file.use((database) => {
      keepNewest(database);
      database
        .prepare(`insert into session (hash, user, csrf, created_at, seen_at) values (@hash, @user, @csrf, @now, @now)`)
        .run(row);
    });
    return token;
  }

  /** Ends an expired session. */
  find(token: string, life: { idleMs: number; longestMs: number; isUsed: boolean }): Session | undefined {
    const hash = hashOf(token);
    const now = this.#clock.now();
    return this.#file.use((database) => {
      const row = database.prepare<[string], SessionRow>("select * from session where hash = ?").get(hash);
      if (row === undefined) return undefined;
      const { user, csrf, created_at: created, seen_at: seen } = row;
      const isInTime =
        now - created <= life.longestMs && now - seen <= life.idleMs && now >= Math.max(created, seen) - clockTolerance;
      if (!isInTime) {
        database.prepare<[string]>("delete from session where hash = ?").run(hash);
        return undefined;
      }
      if (life.isUsed && now - seen >= seenEvery)
        database.prepare<[number, string]>("update session set seen_at = ? where hash = ?").run(now, hash);
      return { user, csrf };
    });
  }

  end(token: string): void {
    this.#file.use((database) => database.prepare<[string]>("delete from session where hash = ?").run(hashOf(token)));
  }

  /** The token of a link that signs in once, within a minute. */
  makeLink(user: string): string {
    const token = this.#random.hex(32);
    const now = this.#clock.now();
    this.#file.use((database) => {
      database.prepare<[number]>("delete from link where created_at < ?").run(now - 60 * minute);
      database
        .prepare<[string, string, number]>("insert into link (hash, user, created_at) values (?, ?, ?)")
        .run(hashOf(token), user, now);
    });
    return token;
  }

  useLink(token: string): string | undefined {
    const hash = hashOf(token);
    const now = this.#clock.now();
    return this.#file.use((database) => {
      const row = database
        .prepare<[string], { user: string; created_at: number; used_at: number | null }>(
          "select user, created_at, used_at from link where hash = ?",
        )
        .get(hash);
      if (row === undefined || row.used_at !== null) return undefined;
      database.prepare<[number, string]>("update link set used_at = ? where hash = ?").run(now, hash);
      const age = now - row.created_at;
      return age <= linkLife && age >= -clockTolerance ? row.user : undefined;
    });
  }

  close(): void {
    this.#file.close();
  }
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** Limits the number of sessions, so that unfinished sign-ins cannot fill the disk. */
function keepNewest(database: Sqlite): void {
  const { count } = database.prepare<[], { count: number }>("select count(*) as count from session").get() ?? {
    count: 0,
  };
  if (count < mostSessions) return;
  database
    .prepare<[number]>("delete from session where hash in (select hash from session order by seen_at limit ?)")
    .run(count - mostSessions + Math.ceil(mostSessions / 10));
}

/** A file of another version is replaced; its content is not important. */
const version = 2;

const tables = `
  create table own (id integer primary key check (id = 1), key text not null, name text not null) strict;
  create table session (
    hash text primary key, user text not null, csrf text not null, created_at integer not null,
    seen_at integer not null
  ) strict;
  create table link (
    hash text primary key, user text not null, created_at integer not null, used_at integer
  ) strict;
  create index session_seen on session (seen_at);
  pragma user_version = ${version};
`;

export interface Own {
  key: string;
  /** A secret host name of the pages on this computer. */
  name: string;
}

const broken = /^SQLITE_(?:CORRUPT|NOTADB)|^SQLITE_ERROR$/u;

/** Readable only by its owner. Replaced if damaged, missing or of another version: `anew` gets the reason. */
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

  /** One transaction. If the file is damaged, runs `work` once more with a new file. */
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
    // SQLite would continue with a deleted file, which no other process can see.
    if (this.#open !== undefined) {
      this.close();
      if (now === undefined) this.#anew("gone");
    }
    createPrivateFile(this.#path);
    keepPrivate(this.#path, undefined);
    const database = new Database(this.#path, { timeout: 5_000 });
    try {
      if (this.#prepare(database)) {
        this.#open = { database, file: statSync(this.#path).ino };
        return database;
      }
    } catch (error) {
      database.close();
      throw error;
    }
    database.close();
    this.#remove("of another version of the program");
    return this.#database();
  }

  /** False if the file is of another version. */
  #prepare(database: Sqlite): boolean {
    const make = database.transaction(() => {
      const found = Number(database.pragma("user_version", { simple: true }));
      if (found === version) return true;
      if (found !== 0) return false;
      database.exec(tables);
      database.prepare("insert into own (id, key, name) values (1, @key, @name)").run(this.#own());
      return true;
    });
    return make.immediate();
  }

  #remove(why: string): void {
    this.close();
    for (const ending of ["", "-journal"]) rmSync(`${this.#path}${ending}`, { force: true });
    this.#anew(why);
  }
}
