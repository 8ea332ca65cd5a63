import type { Clock } from "../base/clock.ts";
import { toInstant } from "../base/clock.ts";
import type { Ids, Randomness } from "../base/ids.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import type { ReadingGroup } from "../base/private-files.ts";
import { AuditLog } from "./audit.ts";
import { KeptHeads } from "./audit-heads.ts";
import { ChangeTables } from "./changes.ts";
import { UniquenessChecks } from "./uniqueness.ts";
import { databaseProblem, isFatal } from "./damage.ts";
import { appliedMigrations, closeDatabase, commitCounter, requireNewest } from "./database.ts";
import type { Sqlite } from "./database.ts";
import { HoldTables } from "./holds.ts";
import { JournalTables } from "./journal.ts";
import { KnownTables } from "./known.ts";
import { readEpoch, takeRunLock } from "./lock.ts";
import type { RunLock } from "./lock.ts";
import { NumberTables } from "./numbers.ts";
import { OpenFiles } from "./open-files.ts";
import { OpenTables } from "./open-records.ts";
import { sealingKey } from "./private.ts";
import type { SealingKey, SealingSalt } from "./private.ts";
import { QuarantineRetry } from "./quarantine-retry.ts";
import { RecordTables } from "./records.ts";
import { RejectionTables } from "./rejections.ts";
import { RetentionTables } from "./retention.ts";
import { RunTables } from "./runs.ts";
import { SlotTables } from "./slots.ts";
import { WorkTables } from "./work.ts";
import { Writer } from "./writer.ts";

export interface LedgerOptions {
  path: string;
  clock: Clock;
  ids: Ids;
  random: Randomness;
  /** The secret that passwords are sealed with; without it records that hold passwords are refused. */
  sealSecret?: string | undefined;
  migrate?: boolean;
  groupSize?: number;
  /** Who may read the ledger and what lies beside it, but for its owner. */
  group?: ReadingGroup | undefined;
  /** How long to wait for another program that is writing, in milliseconds (10,000). */
  busyTimeoutMs?: number;
}

interface Tables {
  records: RecordTables;
  retry: QuarantineRetry;
  known: KnownTables;
  work: WorkTables;
  numbers: NumberTables;
  journal: JournalTables;
  claims: UniquenessChecks;
  changes: ChangeTables;
  holds: HoldTables;
  rejections: RejectionTables;
  runs: RunTables;
  slots: SlotTables;
  retention: RetentionTables;
  audit: AuditLog;
  open: OpenTables;
}

/**
 * What every business method of the ledger stands on: the database with its one writer, the tables, the run lock, and
 * the end of it all.
 */
export class LedgerCore {
  readonly path: string;
  protected readonly database: Sqlite;
  protected readonly ids: Ids;
  protected readonly random: Randomness;
  protected readonly sealing: SealingKey | undefined;
  protected readonly tables: Tables;
  readonly #writer: Writer;
  readonly #heads: KeptHeads;
  readonly #files: OpenFiles;
  readonly #clock: Clock;
  readonly #opened: { now: number; monotonic: number };
  readonly #meta;
  readonly #beginReading;
  readonly #endReading;
  #lock: RunLock | undefined;

  protected constructor(database: Sqlite, options: LedgerOptions) {
    this.path = options.path;
    this.database = database;
    this.ids = options.ids;
    this.random = options.random;
    this.#clock = options.clock;
    this.#opened = { now: options.clock.now(), monotonic: options.clock.monotonic() };
    this.#meta = database.prepare<[string], { value: string }>("select value from meta where key = +?");
    this.#beginReading = database.prepare("begin");
    this.#endReading = database.prepare("commit");
    this.sealing = options.sealSecret === undefined ? undefined : sealingKey(options.sealSecret, this.#sealingSalt());
    this.#files = new OpenFiles(options.path);
    this.#heads = new KeptHeads(options.path);
    const count = commitCounter(database);
    this.#writer = new Writer(database, {
      ...(options.groupSize === undefined ? {} : { groupSize: options.groupSize }),
      guard: () => {
        this.#files.requireSame();
        this.#requireOwnEpoch();
      },
      counted: () => {
        const commit = Number(count.get()?.value);
        const head = this.tables.audit.head() ?? { sequence: 0, hash: "" };
        return () => {
          if (this.#heads.keep({ commit, ...head }, this.now) && this.#lock !== undefined) this.#heads.shorten();
        };
      },
    });
    const records = new RecordTables(database, {
      now: () => options.clock.now(),
      randomHex: () => options.random.hex(16),
      seal: this.sealing,
    });
    this.tables = {
      rejections: new RejectionTables(database),
      records,
      retry: new QuarantineRetry(database, records),
      known: new KnownTables(database, this.sealing),
      work: new WorkTables(database),
      numbers: new NumberTables(database),
      journal: new JournalTables(database),
      claims: new UniquenessChecks(database),
      changes: new ChangeTables(database),
      holds: new HoldTables(database),
      runs: new RunTables(database),
      slots: new SlotTables(database),
      retention: new RetentionTables(database),
      audit: new AuditLog(database),
      open: new OpenTables(database),
    };
  }

  get canSeal(): boolean {
    return this.sealing !== undefined;
  }

  /** Set once the ledger failed; then nothing more may be sent. */
  get broken(): Problem | undefined {
    return this.#writer.broken;
  }

  /** Aborted once the ledger failed or its lock was lost. */
  get failed(): AbortSignal {
    return this.#writer.failed;
  }

  protected get now(): string {
    return toInstant(this.#clock.now());
  }

  /**
   * Epoch milliseconds by the wall clock, but no later than what has really passed since the ledger was opened accounts
   * for: a wall clock that is set forward meanwhile ends no wait.
   */
  get surelyNow(): number {
    const { now, monotonic } = this.#opened;
    return Math.min(this.#clock.now(), now + this.#clock.monotonic() - monotonic);
  }

  /** Runs `work` in the next group of the one writer; resolves after the commit. */
  protected write<T>(work: () => T): Promise<T> {
    return this.#writer.write(work);
  }

  /** Runs a reading. Damage that it meets ends the writing too, and is thrown as a Problem with exit code 65. */
  protected read<T>(work: () => T): T {
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
  protected readTogether<T>(work: () => T): T {
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

  protected meta(key: string): string | undefined {
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
  protected async setMeta(key: string, value: string): Promise<void> {
    const insert = "insert into meta (key, value) values (?, ?) on conflict do nothing";
    await this.write(() => this.database.prepare(insert).run(key, value));
  }

  /** What this ledger is called: fixed when it was made, and named in plan files. */
  async identity(): Promise<string> {
    const known = this.meta("ledger");
    if (known !== undefined) return known;
    const id = this.ids.next("ledger");
    await this.setMeta("ledger", id);
    return this.meta("ledger") ?? id;
  }

  /** The migrations this ledger has had. */
  migrations(): string[] {
    return this.read(() => appliedMigrations(this.database));
  }

  // The run lock

  /**
   * Takes the lock of the run, or throws a Problem with exit code 75 at once. A ledger that lacks what the last kept
   * head says it had (an older copy, put back) is refused with exit code 65: what it no longer knows would be done
   * twice.
   */
  takeRunLock(): void {
    requireNewest(this.database, this.path);
    this.#lock = takeRunLock(this.path, this.database);
  }

  /** Which taking of the run lock this program holds, if it does. */
  get runEpoch(): number | undefined {
    return this.#lock?.epoch;
  }

  releaseRunLock(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }

  #requireOwnEpoch(): void {
    if (this.#lock === undefined || readEpoch(this.database) === this.#lock.epoch) return;
    throw new Problem({
      code: "run.lost-lock",
      message: "another run has taken the ledger over; this one writes nothing more",
      cure: "let the other run go on; `crm-sync status` shows it",
      exitCode: exitCodes.runActive,
    });
  }

  /** Lets go of the file of heads, which the system does by itself when a process ends. */
  protected closeHeads(): void {
    this.#heads.close();
  }

  /**
   * Has on the disk what the file of heads says so far: at the start of a run, and at its end. The holder of the run
   * lock keeps it short.
   */
  protected flushHeads(): void {
    this.#heads.flush();
    if (this.#lock !== undefined) this.#heads.shorten();
  }

  close(): void {
    this.#writer.close();
    this.closeHeads();
    this.releaseRunLock();
    // After a failure, and where another file lies in its place, nothing beside it is touched.
    closeDatabase(this.database, this.broken === undefined && this.#files.areSame);
  }
}
