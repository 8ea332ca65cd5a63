import type { Sqlite } from "./database.ts";
import type { Problem } from "../../base/errors.ts";
import { databaseProblem, isFatal } from "./damage.ts";

interface Job {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  rides: boolean;
}

/** A group of this many awaited jobs is flushed at once. */
const fullEnough = 12;
/** How many turns of the event loop a smaller group waits for more jobs. */
const mostTurns = 6;
const mostTurnsUnawaited = 20;

/**
 * The one writer. It commits a group of synchronous jobs in one transaction: full durability costs one flush for each
 * group. If a job throws, the group runs again with a savepoint for each job. So a job may run twice, and must have no
 * effect outside the database that counts twice. If the ledger itself fails (commit, full disk, damage, head not kept),
 * the writer accepts no more jobs. Then only the next start can read the real state.
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
  #awaited = 0;
  #scheduled = false;
  #transactions = 0;
  #transaction: number | undefined;
  #broken: Problem | undefined;
  readonly #failed = new AbortController();
  #closed = false;

  /** `guard` runs first in a transaction, `counted` last. The function that `counted` returns runs after the commit. */
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

  /** Resolves after the commit. A job that `rides` waits for others, or for a short time. */
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

  /** The number of the transaction in progress. Undoing a part of it changes the number. */
  get transaction(): number | undefined {
    return this.#transaction;
  }

  #start(): void {
    this.#begin.run();
    this.#transaction = this.#transactions += 1;
    this.#guard();
  }

  /** False if a job threw: then all are undone. */
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

  /** Runs each job in its own savepoint, and returns the jobs that threw. */
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
        // The transaction ended with the connection. The next start reads the state on disk.
      }
    }
    this.break(databaseProblem(error, this.#database.name), group);
  }

  break(problem: Problem, group: readonly Job[] = []): void {
    this.#broken ??= problem;
    this.#failed.abort(this.#broken);
    for (const job of [...group, ...this.#queue.splice(0)]) job.reject(problem);
  }

  get broken(): Problem | undefined {
    return this.#broken;
  }

  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  close(): void {
    while (this.#queue.length > 0 && this.#broken === undefined) this.#flush();
    this.#closed = true;
  }
}
