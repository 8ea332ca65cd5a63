import type { Sqlite } from "./database.ts";
import type { Problem } from "../../base/errors.ts";
import { databaseProblem, isFatal } from "./damage.ts";

interface Job {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /** Nobody waits for its commit to go on. */
  rides: boolean;
}

/** A group for which so many wait is worth a flush of its own. */
const fullEnough = 12;
/** How many turns of the event loop a smaller group waits for company. */
const mostTurns = 6;
/** The same of a group that nobody waits for. */
const mostTurnsUnawaited = 20;

/**
 * The one writer of the ledger. Each piece of work is a synchronous function; the writer runs a group of them (at most
 * `groupSize`) in one BEGIN IMMEDIATE, and answers after COMMIT, so that full durability costs one flush a group. Where
 * a piece throws, the group is undone and run again with a SAVEPOINT for each, so that what throws is undone alone: a
 * piece may be run twice, and does outside the database nothing that counts twice. When the ledger itself fails
 * (commit, full disk, damage), or what it committed cannot be kept outside it as well, every piece of the group fails
 * and the writer accepts nothing more: what is on disk is then only known to the next start.
 */
export class Writer {
  readonly #database: Sqlite;
  readonly #groupSize: number;
  readonly #guard: () => void;
  readonly #counted: () => () => void;
  readonly #timed: (commit: () => void) => void;
  readonly #begin;
  readonly #commit;
  readonly #rollback;
  readonly #savepoint;
  readonly #release;
  #queue: Job[] = [];
  /** How many in the queue are waited for. */
  #awaited = 0;
  #scheduled = false;
  #transactions = 0;
  #transaction: number | undefined;
  #broken: Problem | undefined;
  readonly #failed = new AbortController();
  #closed = false;

  /**
   * `guard` runs at the beginning of each transaction, `counted` at its end; what that returns is run after the commit,
   * before anybody is answered.
   * `timed` makes the commit.
   */
  constructor(
    database: Sqlite,
    options: {
      groupSize?: number;
      guard?: () => void;
      counted?: () => () => void;
      timed?: ((commit: () => void) => void) | undefined;
    } = {},
  ) {
    this.#database = database;
    this.#groupSize = options.groupSize ?? 64;
    this.#guard = options.guard ?? (() => {});
    this.#counted = options.counted ?? (() => () => {});
    this.#timed = options.timed ?? ((commit) => commit());
    this.#begin = database.prepare("begin immediate");
    this.#commit = database.prepare("commit");
    this.#rollback = database.prepare("rollback");
    this.#savepoint = database.prepare("savepoint work");
    this.#release = database.prepare("release work");
  }

  /**
   * Runs `work` inside the next group. Resolves after the commit; rejects with what `work` threw, undone alone. What
   * `rides` is committed with what somebody waits for, or a little later by itself.
   */
  write<T>(work: () => T, rides = false): Promise<T> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    if (this.#closed) return Promise.reject(new Error("the ledger is closed"));
    return new Promise<T>((resolve, reject) => {
      let result: { value: T } | undefined;
      this.#queue.push({
        work: () => {
          result = { value: work() };
        },
        resolve: () => {
          if (result === undefined) reject(new Error("ledger work was not run"));
          else resolve(result.value);
        },
        reject,
        rides,
      });
      if (!rides) this.#awaited += 1;
      this.#schedule();
    });
  }

  /** Lets the event loop turn a few times while the group is small: what comes in by then shares its flush. */
  #schedule(turns = 0): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#waitsForCompany(turns)) this.#schedule(turns + 1);
      else this.#flush();
    });
  }

  #waitsForCompany(turns: number): boolean {
    if (this.#awaited >= fullEnough || this.#queue.length >= this.#groupSize) return false;
    return turns < (this.#awaited > 0 ? mostTurns : mostTurnsUnawaited);
  }

  #flush(): void {
    const group = this.#queue.splice(0, this.#groupSize);
    this.#awaited = this.#queue.reduce((count, job) => (job.rides ? count : count + 1), 0);
    if (group.length === 0) return;
    let failures: ReadonlyMap<Job, unknown>;
    try {
      failures = this.#commitTogether(group) ? new Map() : this.#commitApart(group);
    } catch (error) {
      this.#fail(error, group);
      return;
    }
    for (const job of group) {
      if (failures.has(job)) job.reject(failures.get(job));
      else job.resolve(undefined);
    }
    if (this.#queue.length > 0) this.#schedule();
  }

  /** The number of the transaction in progress; another one after some of it was undone. */
  get transaction(): number | undefined {
    return this.#transaction;
  }

  #start(): void {
    this.#begin.run();
    this.#transaction = this.#transactions += 1;
    this.#guard();
  }

  /** False where a piece threw: then all of them are undone. */
  #commitTogether(group: readonly Job[]): boolean {
    this.#start();
    try {
      for (const job of group) job.work();
    } catch (error) {
      this.#requireSound(error);
      this.#rollback.run();
      this.#transaction = undefined;
      return false;
    }
    this.#commitCounted();
    return true;
  }

  /** The same with each piece undone alone that throws. Answers those, with what they threw. */
  #commitApart(group: readonly Job[]): Map<Job, unknown> {
    const failures = new Map<Job, unknown>();
    this.#start();
    for (const job of group) {
      this.#savepoint.run();
      try {
        job.work();
        this.#release.run();
      } catch (error) {
        this.#requireSound(error);
        this.#database.exec("rollback to work");
        this.#database.exec("release work");
        this.#transaction = this.#transactions += 1;
        failures.set(job, error);
      }
    }
    this.#commitCounted();
    return failures;
  }

  /** Throws what a piece threw where it was not the piece that failed, but the ledger. */
  #requireSound(error: unknown): void {
    if (!this.#database.inTransaction || isFatal(error)) throw error;
  }

  #commitCounted(): void {
    const keep = this.#counted();
    this.#timed(() => void this.#commit.run());
    this.#transaction = undefined;
    keep();
  }

  #fail(error: unknown, group: Job[]): void {
    this.#transaction = undefined;
    if (this.#database.open && this.#database.inTransaction) {
      try {
        this.#database.exec("rollback");
      } catch {
        // The transaction is gone with the connection; the next start reads what is on disk.
      }
    }
    this.break(databaseProblem(error, this.#database.name), group);
  }

  /** Ends the writing: what waits is refused with `problem`, and so is everything later. */
  break(problem: Problem, group: readonly Job[] = []): void {
    this.#broken ??= problem;
    this.#failed.abort(this.#broken);
    for (const job of [...group, ...this.#queue.splice(0)]) job.reject(problem);
  }

  /** Set once the ledger failed: the program then sends nothing more. */
  get broken(): Problem | undefined {
    return this.#broken;
  }

  /** Aborted once the ledger failed: what waits to be sent does not leave. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** Runs what is queued and accepts nothing more. */
  close(): void {
    while (this.#queue.length > 0 && this.#broken === undefined) this.#flush();
    this.#closed = true;
  }
}
