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
import { PerTransaction } from "./database/read-together.ts";
import { Writer } from "./database/writer.ts";
import type { OperationName } from "../engine/model/resource.ts";
import type { OperationState } from "./journal/tables.ts";

export interface LedgerOptions {
  path: string;
  clock: Clock;
  ids: Ids;
  random: Randomness;
  /** Source of the salts of audit entries; `random` if absent. */
  salts?: Randomness | undefined;
  /** Key material for passwords. Without it the ledger refuses records with passwords. */
  sealSecret?: string | undefined;
  formerSealSecret?: string | undefined;
  groupSize?: number;
  group?: ReadingGroup | undefined;
  /** How long to wait while another program writes, in milliseconds (default 10,000). */
  busyTimeoutMs?: number;
  observer?: LedgerObserver | undefined;
  /** A rebuild also opens an older ledger, and reads the missing changes back. */
  fillsGap?: boolean | undefined;
  /** This computer. Without it nothing proves that an earlier process ended. */
  host?: Host | undefined;
  /** How the ledger waits for a commit or a later turn of the event loop. A test stops its clock for that time. */
  awaited?: <T>(commit: () => Promise<T>) => Promise<T>;
}

/** What all parts of the ledger share: the database and its one writer, time, ids, the audit log and the run lock. */
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
  /** The newest time that closed periods cover, in epoch milliseconds. */
  #closedUntil = 0;
  #last = 0;
  /** Stamps continue from here while the wall clock is behind `#closedUntil`. */
  #resumed: { at: number; monotonic: number } | undefined;
  readonly #meta;
  readonly #beginReading;
  readonly #endReading;
  readonly #keepMoment;
  readonly #observer: LedgerObserver | undefined;
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
    // Statements are prepared on first use. A damaged schema must fail before anything is read or sent.
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
    // The time of this transaction. Triggers keep the previous row with it. `newest` is for comparison with the clock.
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

  perTransaction<Fact>(): PerTransaction<Fact> {
    return new PerTransaction(() => this.#writer.transaction);
  }

  noteConcluded(conclusion: Parameters<LedgerObserver["concluded"]>[0]): void {
    if (this.#observer !== undefined) this.#concluded.push(conclusion);
  }

  get broken(): Problem | undefined {
    return this.#writer.broken;
  }

  /** Aborted if the ledger failed or lost its lock. Then nothing more may be sent. */
  get failed(): AbortSignal {
    return this.#writer.failed;
  }

  get now(): string {
    return toInstant(this.stampMs);
  }

  /** The wall clock in epoch milliseconds. If it was set back into a closed period, stamps continue from the newest. */
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

  /** Reads until when periods are closed. Call it on opening, at the start of a run, and after closing a period. */
  closedUntil(): void {
    const asOf = "select max(as_of) from closed_period where reopened_at is null";
    const until = this.database.prepare<[], string | null>(asOf).pluck().get();
    this.#closedUntil = typeof until === "string" ? Date.parse(until) : 0;
  }

  /** The stamp, limited by the monotonic time since the ledger was opened. So a clock set forward ends no wait. */
  get surelyNow(): number {
    const { now, monotonic } = this.#opened;
    return Math.min(this.stampMs, now + this.#clock.monotonic() - monotonic);
  }

  /** Runs `work` in the next group of the one writer. Resolves after the commit. */
  write<T>(work: () => T): Promise<T> {
    return this.#awaited(() => this.#writer.write(keepingWho(work)));
  }

  /** Like `write`, for work whose commit nobody waits for. It is committed together with later work. */
  ride<T>(work: () => T): Promise<T> {
    return this.#awaited(() => this.#writer.write(keepingWho(work), true));
  }

  turn<T>(work: () => Promise<T>): Promise<T> {
    return this.#awaited(work);
  }

  /** Runs a reading. If it meets damage, writing stops too, and it throws a Problem with exit code 65. */
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

  /** Runs several readings in one transaction: they see one state. */
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

  async setMeta(key: string, value: string): Promise<void> {
    const insert = "insert into meta (key, value) values (?, ?) on conflict do nothing";
    await this.write(() => this.database.prepare(insert).run(key, value));
  }

  /** Throws a Problem: exit code 75 if another run has the lock, 65 if the ledger is an older copy. */
  takeRunLock(): void {
    if (!this.#fillsGap) requireNewest(this.database, this.path);
    this.#lock = takeRunLock(this.path, this.database, this.host);
    this.closedUntil();
  }

  get holder(): string | undefined {
    return this.#lock?.holder;
  }

  /** Counts how often the lock was taken. Undefined if this program does not hold it. */
  get runEpoch(): number | undefined {
    return this.#lock?.epoch;
  }

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

  /** Flushes the file of heads to disk, at the start and end of a run. Only the holder of the run lock shortens it. */
  flushHeads(): void {
    this.#heads.flush();
    if (this.#lock !== undefined) this.#heads.shorten();
  }

  close(): void {
    this.#writer.close();
    this.#heads.close();
    this.releaseRunLock();
    // After a failure, or if another file replaced the ledger, touch no file beside it.
    closeDatabase(this.database, this.broken === undefined && this.#files.areSame);
  }

  /** Frees lock and files as when a process ends, and writes nothing more. */
  abandon(): void {
    this.releaseRunLock();
    this.#heads.close();
    this.database.close();
  }
}

function timedBy({ clock, observer }: LedgerOptions): ((commit: () => void) => void) | undefined {
  if (observer === undefined) return undefined;
  return (commit) => {
    const since = clock.monotonic();
    commit();
    observer.committed(clock.monotonic() - since);
  };
}

/** Observes the work of the ledger, for example for metrics. Its methods must not throw. */
export interface LedgerObserver {
  committed(ms: number): void;
  concluded(conclusion: { kind: OperationName; state: OperationState }): void;
}
