import { type Clock, toInstant } from "../base/clock.ts";
import { hostOf, type Host } from "../base/host.ts";
import type { Ids, Randomness } from "../base/ids.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import type { ReadingGroup } from "../base/private-files.ts";
import { keepingWho } from "../base/who.ts";
import { AuditLog } from "./audit/audit-log.ts";
import { KeptHeads } from "./audit/audit-heads.ts";
import { databaseProblem, isFatal } from "./database/damage.ts";
import { closeDatabase, type Sqlite } from "./database/database.ts";
import { commitCounter, requireNewest } from "./database/newest.ts";
import { epochKey, isRunLockHeld, takeRunLock, type RunLock } from "./database/lock.ts";
import { OpenFiles } from "./database/open-files.ts";
import { ReasonGuard } from "./private/reasons.ts";
import { sealingKey, type SealingKey, type SealingSalt } from "./private/private.ts";
import { everyTable, type Row } from "./tables.ts";
import { PerTransaction } from "./database/per-transaction.ts";
import { Writer } from "./database/writer.ts";
import type { OperationName } from "../engine/model/resource.ts";
import type { OperationState } from "./journal/tables.ts";

export interface LedgerOptions {
  path: string;
  clock: Clock;
  ids: Ids;
  random: Randomness;
  /** Where the salts of audit entries come from, if not from `random`. */
  salts?: Randomness | undefined;
  /** The secret that passwords are sealed with; without it records that hold passwords are refused. */
  sealSecret?: string | undefined;
  /** The one before it. */
  formerSealSecret?: string | undefined;
  groupSize?: number;
  /** Who may read the ledger and what lies beside it, but for its owner. */
  group?: ReadingGroup | undefined;
  /** How long to wait for another program that is writing, in milliseconds (10,000). */
  busyTimeoutMs?: number;
  observer?: LedgerObserver | undefined;
  /** A rebuild opens it also where it lacks what was done since, and fills that gap. */
  fillsGap?: boolean | undefined;
  /** Where it is opened; without it the end of no earlier process is proven. */
  host?: Host | undefined;
  /** How the ledger waits for a commit, or for a later turn of the event loop. A clock of a test stands still meanwhile. */
  awaited?: <T>(commit: () => Promise<T>) => Promise<T>;
}

/**
 * What every concern of the ledger stands on: the database with its one writer, time, ids, the audit chain that each
 * appends to with what it writes, the run lock, and the end of it all.
 */
export class LedgerContext {
  readonly path: string;
  readonly database: Sqlite;
  readonly ids: Ids;
  readonly random: Randomness;
  readonly sealing: SealingKey | undefined;
  readonly audit: AuditLog;
  readonly host: Host;
  readonly #awaited: NonNullable<LedgerOptions["awaited"]>;
  readonly #writer: Writer;
  readonly #heads: KeptHeads;
  readonly #files: OpenFiles;
  readonly #clock: Clock;
  readonly #opened: { now: number; monotonic: number };
  /** The newest moment that closed periods stand on, in epoch milliseconds. */
  #closedUntil = 0;
  /** What the wall clock said last. */
  #last = 0;
  /** Where stamps go on while the wall clock is behind that moment. */
  #resumed: { at: number; monotonic: number } | undefined;
  readonly #meta;
  readonly #beginReading;
  readonly #endReading;
  readonly #keepMoment;
  readonly #observer: LedgerObserver | undefined;
  /** What was concluded in the transaction that is on. */
  #concluded: Parameters<LedgerObserver["concluded"]>[0][] = [];
  readonly #fillsGap: boolean;
  #lock: RunLock | undefined;

  constructor(database: Sqlite, options: LedgerOptions) {
    this.path = options.path;
    this.#fillsGap = options.fillsGap === true;
    this.database = database;
    this.ids = options.ids;
    this.host = options.host ?? hostOf(() => undefined);
    this.random = options.random;
    // Statements are prepared when they are first used; what is damaged is refused before anything is read or sent.
    database.prepare(everyTable());
    const reasons = new ReasonGuard(database);
    this.audit = new AuditLog(database, options.salts ?? options.random, {
      allowed: (entry) => reasons.require(entry),
      tail: this.perTransaction(),
    });
    this.#awaited = options.awaited ?? ((commit) => commit());
    this.#clock = options.clock;
    this.#observer = options.observer;
    this.#meta = database.prepare<[string], Row<"meta", "value">>("select value from meta where key = +?");
    this.#beginReading = database.prepare("begin");
    this.#endReading = database.prepare("commit");
    // When what is written in a transaction was so: what a row said before is kept with it, by triggers. The newest
    // of these moments is what a clock is compared with.
    this.#keepMoment = database.prepare(
      `insert into meta (key, value) values ('moment', @now), ('newest', @now) on conflict (key) do update
         set value = excluded.value where iif(key = 'moment', value <> excluded.value, value < excluded.value)`,
    );
    this.closedUntil();
    this.#opened = { now: this.stampMs, monotonic: options.clock.monotonic() };
    const { sealSecret, formerSealSecret } = options;
    this.sealing = sealSecret === undefined ? undefined : sealingKey(sealSecret, this.#sealingSalt(), formerSealSecret);
    this.#files = new OpenFiles(options.path);
    this.#heads = new KeptHeads(options.path);
    const count = commitCounter(database);
    this.#writer = new Writer(database, {
      ...(options.groupSize === undefined ? {} : { groupSize: options.groupSize }),
      timed: timedBy(options),
      guard: () => {
        this.#concluded = [];
        this.#files.requireSame();
        this.#requireOwnEpoch();
        this.#keepMoment.run({ now: this.now });
      },
      counted: () => {
        const commit = Number(count.get()?.value);
        const head = this.audit.grow() ?? { sequence: 0, hash: "" };
        return () => {
          if (this.#heads.keep({ commit, ...head }, this.now) && this.#lock !== undefined) this.#heads.shorten();
          for (const conclusion of this.#concluded) this.#observer?.concluded(conclusion);
        };
      },
    });
  }

  /** A place for a fact that is read once in each writing transaction. */
  perTransaction<Fact>(): PerTransaction<Fact> {
    return new PerTransaction(() => this.#writer.transaction);
  }

  /** Has the observer told of it once it is committed; called last in the work that records it. */
  noteConcluded(conclusion: Parameters<LedgerObserver["concluded"]>[0]): void {
    if (this.#observer !== undefined) this.#concluded.push(conclusion);
  }

  /** Set once the ledger failed; then nothing more may be sent. */
  get broken(): Problem | undefined {
    return this.#writer.broken;
  }

  /** Aborted once the ledger failed or its lock was lost. */
  get failed(): AbortSignal {
    return this.#writer.failed;
  }

  /** The stamp of what is written. */
  get now(): string {
    return toInstant(this.stampMs);
  }

  /**
   * The stamp in epoch milliseconds: the wall clock. What closed periods stand on is no time to write in any more:
   * while the wall clock is set back behind it, stamps go on from the newest one.
   */
  get stampMs(): number {
    const [wall, monotonic] = [this.#clock.now(), this.#clock.monotonic()];
    // Another process may have closed a period since.
    if (wall < this.#last) this.closedUntil();
    this.#last = wall;
    if (wall > this.#closedUntil) return wall;
    const newest = Date.parse(this.meta("newest") ?? "");
    this.#resumed ??= { at: Math.max(this.#closedUntil, Number.isNaN(newest) ? 0 : newest) + 1, monotonic };
    return this.#resumed.at + Math.max(0, monotonic - this.#resumed.monotonic);
  }

  /** Takes note of what closed periods stand on: when the ledger is opened, and when a run begins or a period is closed. */
  closedUntil(): void {
    const asOf = "select max(as_of) from closed_period where reopened_at is null";
    const until = this.database.prepare<[], string | null>(asOf).pluck().get();
    this.#closedUntil = typeof until === "string" ? Date.parse(until) : 0;
  }

  /**
   * The stamp in epoch milliseconds, but no later than what has really passed since the ledger was opened accounts for:
   * a wall clock that is set forward meanwhile ends no wait.
   */
  get surelyNow(): number {
    const { now, monotonic } = this.#opened;
    return Math.min(this.stampMs, now + this.#clock.monotonic() - monotonic);
  }

  /** Runs `work` in the next group of the one writer; resolves after the commit. */
  write<T>(work: () => T): Promise<T> {
    return this.#awaited(() => this.#writer.write(keepingWho(work)));
  }

  /** The same of work whose commit nobody waits for to go on: it is committed with what comes next. */
  ride<T>(work: () => T): Promise<T> {
    return this.#awaited(() => this.#writer.write(keepingWho(work), true));
  }

  /** Waits for work that reads the ledger in a later turn of the event loop, as for a commit. */
  turn<T>(work: () => Promise<T>): Promise<T> {
    return this.#awaited(work);
  }

  /** Runs a reading. Damage that it meets ends the writing too, and is thrown as a Problem with exit code 65. */
  read<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!isFatal(error)) throw error;
      const problem = databaseProblem(error, this.path);
      this.#writer.break(problem);
      throw problem;
    }
  }

  /** Runs several readings as one: they see one state, and the database is asked for it once. */
  readTogether<T>(work: () => T): T {
    if (this.database.inTransaction) return this.read(work);
    return this.read(() => {
      this.#beginReading.run();
      try {
        return work();
      } finally {
        this.#endReading.run();
      }
    });
  }

  meta(key: string): string | undefined {
    return this.read(() => this.#meta.get(key)?.value);
  }

  #sealingSalt(): SealingSalt {
    const key = "seal-salt";
    return {
      read: () => this.#meta.get(key)?.value,
      make: () => {
        const salt = this.random.hex(16);
        this.database.prepare("insert into meta (key, value) values (?, ?)").run(key, salt);
        return salt;
      },
    };
  }

  /** Keeps a value under a key that has none yet. */
  async setMeta(key: string, value: string): Promise<void> {
    const insert = "insert into meta (key, value) values (?, ?) on conflict do nothing";
    await this.write(() => this.database.prepare(insert).run(key, value));
  }

  /**
   * Takes the lock of the run, or throws a Problem with exit code 75 at once. A ledger that lacks what the last kept
   * head says it had (an older copy, put back) is refused with exit code 65: what it no longer knows would be done
   * twice.
   */
  takeRunLock(): void {
    if (!this.#fillsGap) requireNewest(this.database, this.path);
    this.#lock = takeRunLock(this.path, this.database, this.host);
    this.closedUntil();
  }

  /** Who holds the run lock, if this program does, as `Host` has it. */
  get holder(): string | undefined {
    return this.#lock?.holder;
  }

  /** Which taking of the run lock this program holds, if it does. */
  get runEpoch(): number | undefined {
    return this.#lock?.epoch;
  }

  /** Whether a run is on for this ledger, in whatever process. */
  get isRunOn(): boolean {
    return this.#lock !== undefined || isRunLockHeld(this.path);
  }

  releaseRunLock(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }

  #requireOwnEpoch(): void {
    if (this.#lock === undefined || Number(this.#meta.get(epochKey)?.value) === this.#lock.epoch) return;
    throw new Problem({
      code: "run.lost-lock",
      message: "another run has taken over the ledger, so this run writes nothing more",
      cure: "let the other run finish; `crm-sync status --all` shows it",
      exitCode: exitCodes.runActive,
    });
  }

  /**
   * Has on the disk what the file of heads says so far: at the start of a run, and at its end. The holder of the run
   * lock keeps it short.
   */
  flushHeads(): void {
    this.#heads.flush();
    if (this.#lock !== undefined) this.#heads.shorten();
  }

  close(): void {
    this.#writer.close();
    this.#heads.close();
    this.releaseRunLock();
    // After a failure, and where another file lies in its place, nothing beside it is touched.
    closeDatabase(this.database, this.broken === undefined && this.#files.areSame);
  }

  /** What the system does by itself when a process ends: lock and files are free, and nothing more is written. */
  abandon(): void {
    this.releaseRunLock();
    this.#heads.close();
    this.database.close();
  }
}

/** How commits are made so that the observer hears how long each took. */
function timedBy({ clock, observer }: LedgerOptions): ((commit: () => void) => void) | undefined {
  if (observer === undefined) return undefined;
  return (commit) => {
    const since = clock.monotonic();
    commit();
    observer.committed(clock.monotonic() - since);
  };
}

/** Who is told of the ledger's work, such as metrics. Nothing here ever throws. */
export interface LedgerObserver {
  /** A group of commits was on the disk after so many milliseconds. */
  committed(ms: number): void;
  /** An operation came to this state, and that is committed. */
  concluded(conclusion: { kind: OperationName; state: OperationState }): void;
}
