import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { Randomness } from "../../base/ids.ts";
import type { Sqlite } from "../database/database.ts";
import { SideFile } from "./side-file.ts";

/** Who signed in, and how. `mark` says on which settings that rests: once they differ, the session has ended. */
export interface SessionFacts {
  person: string;
  role: string;
  way: string;
  mark: string;
}

export interface Session extends SessionFacts {
  /** What each form of whoever signed in bears, and nobody else can know. */
  csrf: string;
}

/** A sign-in that is under way at an OpenID provider. */
export interface SignInUnderWay {
  /** What the browser that began it holds. */
  browser: string;
  nonce: string;
  verifier: string;
  /** Where the person wanted to go. */
  path: string;
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
const signInLife = 10 * minute;
/** A request writes at most so often that somebody is still there. */
const seenEvery = minute;
/** A clock that was set back further than this ends what was begun by the later time. */
const clockTolerance = minute;
const mostSessions = 10_000;
const mostSignIns = 1_000;

/**
 * Who is signed in, and links that sign somebody in. Of what lets somebody in only a hash is kept,
 * so that whoever reads the file is nobody by it.
 */
export class Sessions {
  readonly #file: SideFile;
  readonly #clock: Pick<Clock, "now">;
  readonly #random: Randomness;

  constructor({ path, clock, random, anew }: SessionsOptions) {
    this.#file = new SideFile(path, { key: () => random.hex(32), anew });
    this.#clock = clock;
    this.#random = random;
  }

  /** The secret of this file, for what is proved without being kept. */
  key(): string {
    return this.#file.use((database) => {
      const row = database.prepare<[], { value: string }>("select value from key").get();
      return row?.value ?? "";
    });
  }

  /** Signs somebody in and gives the token that their browser shows from now on. */
  begin(facts: SessionFacts): string {
    const token = this.#random.hex(32);
    const now = this.#clock.now();
    const row = { ...facts, hash: hashOf(token), csrf: this.#random.hex(32), now };
    this.#file.use((database) => {
      keepNewest(database, "session", mostSessions);
      database
        .prepare(
          `insert into session (hash, person, role, way, mark, csrf, created_at, seen_at)
           values (@hash, @person, @role, @way, @mark, @csrf, @now, @now)`,
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
      const { person, role, way, mark, csrf } = row;
      return { person, role, way, mark, csrf };
    });
  }

  end(token: string): void {
    this.#file.use((database) => database.prepare<[string]>("delete from session where hash = ?").run(hashOf(token)));
  }

  /** Makes the token of a link that signs somebody in, once and within a minute. */
  makeLink(person: string): string {
    const token = this.#random.hex(32);
    const now = this.#clock.now();
    this.#file.use((database) => {
      database.prepare<[number]>("delete from link where created_at < ?").run(now - 60 * minute);
      database
        .prepare<[string, string, number]>("insert into link (hash, person, created_at) values (?, ?, ?)")
        .run(hashOf(token), person, now);
    });
    return token;
  }

  /** Whom a link signs in; it is used up then. */
  useLink(token: string): string | undefined {
    const hash = hashOf(token);
    const now = this.#clock.now();
    return this.#file.use((database) => {
      const row = database
        .prepare<[string], { person: string; created_at: number; used_at: number | null }>(
          "select person, created_at, used_at from link where hash = ?",
        )
        .get(hash);
      if (row === undefined || row.used_at !== null) return undefined;
      database.prepare<[number, string]>("update link set used_at = ? where hash = ?").run(now, hash);
      const age = now - row.created_at;
      return age <= linkLife && age >= -clockTolerance ? row.person : undefined;
    });
  }

  /** Keeps a sign-in at a provider until the browser comes back, and gives its state. */
  beginSignIn(facts: SignInUnderWay): string {
    const state = this.#random.hex(32);
    const now = this.#clock.now();
    this.#file.use((database) => {
      keepNewest(database, "sign_in", mostSignIns);
      database
        .prepare(
          `insert into sign_in (hash, browser, nonce, verifier, path, created_at)
           values (@hash, @browser, @nonce, @verifier, @path, @now)`,
        )
        .run({ ...facts, browser: hashOf(facts.browser), hash: hashOf(state), now });
    });
    return state;
  }

  /** What was kept for a state; once, within ten minutes, and for the browser that began it. */
  takeSignIn(state: string, browser: string): Omit<SignInUnderWay, "browser"> | undefined {
    const hash = hashOf(state);
    const now = this.#clock.now();
    return this.#file.use((database) => {
      const row = database
        .prepare<[string], SignInUnderWay & { created_at: number }>("select * from sign_in where hash = ?")
        .get(hash);
      if (row === undefined) return undefined;
      database.prepare<[string]>("delete from sign_in where hash = ?").run(hash);
      const age = now - row.created_at;
      if (row.browser !== hashOf(browser) || age > signInLife || age < -clockTolerance) return undefined;
      const { nonce, verifier, path } = row;
      return { nonce, verifier, path };
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
function keepNewest(database: Sqlite, table: "session" | "sign_in", most: number): void {
  const { count } = database.prepare<[], { count: number }>(`select count(*) as count from ${table}`).get() ?? {
    count: 0,
  };
  if (count < most) return;
  const oldest = table === "session" ? "seen_at" : "created_at";
  database
    .prepare<[number]>(`delete from ${table} where hash in (select hash from ${table} order by ${oldest} limit ?)`)
    .run(count - most + Math.ceil(most / 10));
}
