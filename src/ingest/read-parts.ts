import type { Problem } from "../base/errors.ts";
import type { Checkpoint, Checkpoints } from "../ledger/records/checkpoints.ts";
import type { Reading } from "../ledger/records/reading.ts";
import { sourceProblem } from "../source/problems.ts";
import type { ReadOptions, ReadOutcome } from "../source/reader.ts";

/** A reading: its number, its question, and whether it may be continued. */
interface PartOf {
  read: Reading;
  question: string;
  /** The reading that it continues. */
  before: Checkpoint | undefined;
  /** A full reading by a run: if it is interrupted, the next run continues it. */
  keeps: boolean;
  now: string;
}

/** The progress of this part, and whether the ledger has all its rows. */
interface PartProgress {
  taken: () => { rows: number; bad: number };
  isTakenIn: () => boolean;
}

/** After these problems a list is read from its start, because its parts do not fit together. */
const doesNotFit: ReadonlySet<string> = new Set([
  "source.count-differs",
  "source.moved",
  "source.order-went-back",
  "source.page-loop",
  "source.too-many-pages",
  "source.changed-while-read",
  // A reading with another shape is compared again from its first row.
  "source.drifted",
]);
/** These problems say nothing about the place where a reading was to continue. */
const sourceAway: ReadonlySet<string> = new Set(["source.down", "source.wrong-password"]);

/**
 * One part of a stream's reading, with the counts of earlier parts and its progress. It keeps the place where the next
 * run continues, until the reading ends.
 */
export class ReadPart {
  readonly #checkpoints: Checkpoints;
  readonly #of: PartOf;
  readonly #progress: PartProgress;
  #before: Checkpoint | undefined;
  #isFurther = false;
  /** Progress that is not stored yet. */
  #reached: Omit<Parameters<Checkpoints["keep"]>[1], "question"> | undefined;
  /** The write in progress. */
  #writing: Promise<void> = Promise.resolve();
  #failure: { error: unknown } | undefined;

  constructor(checkpoints: Checkpoints, of: PartOf, progress: PartProgress) {
    this.#checkpoints = checkpoints;
    this.#of = of;
    this.#progress = progress;
    this.#before = of.before;
    if (of.before !== undefined) checkpoints.goOn(of.read);
  }

  /** Rows of the earlier parts. */
  get rowsBefore(): number {
    return this.#before?.rows ?? 0;
  }

  get badBefore(): number {
    return this.#before?.bad ?? 0;
  }

  /** The reader's options for continuing, and its callbacks. */
  get options(): Pick<ReadOptions, "resume" | "reached" | "beginsAnew"> {
    const { read, before, keeps } = this.#of;
    if (!keeps) return {};
    return {
      ...(before === undefined ? {} : { resume: before.position }),
      beginsAnew: () => {
        this.#before = undefined;
        this.#write(() => this.#checkpoints.beginAnew(read));
      },
      reached: (position) => {
        this.#isFurther = true;
        const { rows, bad } = this.#progress.taken();
        const all = { rows: rows + this.rowsBefore, bad: bad + this.badBefore };
        const beganAt = this.#before?.beganAt ?? this.#of.now;
        this.#reached = { position, ...all, beganAt };
        this.#keepReached();
      },
    };
  }

  /** The staged rows are in the ledger, so the next run need not read them again. */
  async caughtUp(): Promise<void> {
    this.#keepReached();
    await this.kept();
  }

  /** Rows that are not in the ledger are read again if the reading is interrupted. */
  #keepReached(): void {
    if (this.#reached === undefined || !this.#progress.isTakenIn()) return;
    const { read, question } = this.#of;
    const reached = { question, ...this.#reached };
    this.#reached = undefined;
    this.#write(() => this.#checkpoints.keep(read, reached));
  }

  /** Resolves when all progress is stored; rejects if the ledger failed. */
  async kept(): Promise<void> {
    await this.#writing;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Resolves when no write is in progress, also after a failure. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /**
   * The outcome of a continued reading in a list whose records may have moved meanwhile. It may have missed some, so it
   * counts as incomplete, and the next run reads everything.
   */
  judged(outcome: ReadOutcome): ReadOutcome {
    if (this.#before === undefined || !outcome.complete || outcome.full) return outcome;
    const { cursor: _cursor, ...rest } = outcome;
    const { source, stream } = this.#of.read;
    const problem = sourceProblem(
      "source.read-in-parts",
      `${source}/${stream}`,
      `the source ${source} (${stream}) was read in parts, because an earlier read was cut off after ` +
        `${this.rowsBefore} rows. Its records are used, but no record counts as missing`,
      "nothing: the next run reads the whole list. If reads are often cut off, set `paging.kind: keyset` if the " +
        "service can do it: then the parts are one complete read",
    );
    return { ...rest, complete: false, problem };
  }

  /** Ends the reading. The next run may continue an interrupted one, unless its parts do not fit or it is stuck. */
  async end(outcome: { complete: boolean; problem?: Problem | undefined }): Promise<void> {
    await this.settled();
    const code = outcome.problem?.code ?? "";
    const isStuck = this.#before !== undefined && !this.#isFurther && !sourceAway.has(code);
    const isOver = outcome.complete || code === "source.read-in-parts" || doesNotFit.has(code);
    if (!this.#of.keeps || !(isOver || isStuck)) return;
    await this.#checkpoints.drop(this.#of.read.source, this.#of.read.stream);
  }

  #write(work: () => Promise<void>): void {
    this.#writing = this.#writing.then(work).catch((error: unknown) => {
      this.#failure ??= { error };
    });
  }
}
