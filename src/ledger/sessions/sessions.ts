import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { Randomness } from "../../base/ids.ts";
import type { Sqlite } from "../database/database.ts";
import type { Who } from "../../base/who.ts";
import { SideFile } from "./side-file.ts";
import type { Own } from "./side-file.ts";

/** Who signed in, and how. `mark` says on which settings that rests: once they differ, the session has ended. */
export interface SessionFacts extends Who {
  role: string;
  mark: string;
}

export interface Session extends SessionFacts {
  /** What each form of whoever signed in bears, and nobody else can know. */
  csrf: string;
}

interface SessionRow extends Session {
  created_at: number;
  seen_at: number;
}

export interface SessionsOptions {
  /** The side file; beside the ledger. */
  path: string;
  clock: Pick<Clock, "now">;
  random: Randomness;
  /** The file was made anew: everybody signs in again. */
  anew: (why: string) => void;
}

const minute = 60_000;
const linkLife = minute;
/** A request writes at most so often that somebody is still there. */
const seenEvery = minute;
/** A clock that was set back further than this ends what was begun by the later time. */
const clockTolerance = minute;
const mostSessions = 10_000;

/**
 * Who is signed in, and links that sign somebody in. Of what lets somebody in only a hash is kept,
 * so that whoever reads the file is nobody by it.
 */
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

  /** The secret and the name of this file. */
  own(): Own {
    return this.#file.use((database) => {
      const own = database.prepare<[], Own>("select key, name from own").get();
      if (own === undefined) throw new Error("the file of who is signed in has no key");
      return own;
    });
  }

  /** Signs somebody in and gives the token that their browser shows from now on. */
  begin(facts: SessionFacts): string {
    const token = this.#random.hex(32);
    const now = this.#clock.now();
    const row = { ...facts, hash: hashOf(token), csrf: this.#random.hex(32), now };
    this.#file.use((database) => {
      keepNewest(database);
      database
        .prepare(
          `insert into session (hash, name, way, issuer, subject, role, mark, csrf, created_at, seen_at)
           values (@hash, @name, @way, @issuer, @subject, @role, @mark, @csrf, @now, @now)`,
        )
        .run(row);
    });
    return token;
  }

  /** The session of a token. One whose time is over, or whose settings are others now, ends. */
  find(
    token: string,
    life: { idleMs: number; longestMs: number; isUsed: boolean },
    markOf: (way: string) => string | undefined,
  ): Session | undefined {
    const hash = hashOf(token);
    const now = this.#clock.now();
    return this.#file.use((database) => {
      const row = database.prepare<[string], SessionRow>("select * from session where hash = ?").get(hash);
      if (row === undefined) return undefined;
      const { created_at: created, seen_at: seen } = row;
      const isInTime =
        now - created <= life.longestMs && now - seen <= life.idleMs && now >= Math.max(created, seen) - clockTolerance;
      if (!isInTime || row.mark !== markOf(row.way)) {
        database.prepare<[string]>("delete from session where hash = ?").run(hash);
        return undefined;
      }
      if (life.isUsed && now - seen >= seenEvery)
        database.prepare<[number, string]>("update session set seen_at = ? where hash = ?").run(now, hash);
      const { name, way, issuer, subject, role, mark, csrf } = row;
      return { name, way, issuer, subject, role, mark, csrf };
    });
  }

  end(token: string): void {
    this.#file.use((database) => database.prepare<[string]>("delete from session where hash = ?").run(hashOf(token)));
  }

  /** Makes the token of a link that signs a user of this machine in, once and within a minute. */
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

  /** Whom a link signs in; it is used up then. */
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

/** Makes room for one more row: who only begins must not fill the disk. */
function keepNewest(database: Sqlite): void {
  const { count } = database.prepare<[], { count: number }>("select count(*) as count from session").get() ?? {
    count: 0,
  };
  if (count < mostSessions) return;
  database
    .prepare<[number]>("delete from session where hash in (select hash from session order by seen_at limit ?)")
    .run(count - mostSessions + Math.ceil(mostSessions / 10));
}
