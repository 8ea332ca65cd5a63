import type { Problem } from "../base/errors.ts";
import type { Checkpoint, Checkpoints } from "../ledger/records/checkpoints.ts";
import type { Reading } from "../ledger/records/reading.ts";
import { sourceProblem } from "../source/problems.ts";
import type { ReadOptions, ReadOutcome } from "../source/reader.ts";

/** What a reading is: its number, what it asks, and whether it may be gone on with. */
interface PartOf {
  read: Reading;
  question: string;
  /** The reading that it goes on with. */
  before: Checkpoint | undefined;
  /** A reading of everything by a run: should it be cut, the next run goes on with it. */
  keeps: boolean;
  /** When this part began. */
  now: string;
}

/** What this part has read until now, and whether all of it is in the ledger. */
interface PartProgress {
  taken: () => { rows: number; bad: number };
  isTakenIn: () => boolean;
}

/** After these a list is read from its start: what was read of it does not fit together. */
const doesNotFit: ReadonlySet<string> = new Set([
  "source.count-differs",
  "source.moved",
  "source.order-went-back",
  "source.page-loop",
  "source.too-many-pages",
  "source.changed-while-read",
  // What looks otherwise is looked at from its first row on.
  "source.drifted",
]);
/** These say nothing of the place where a reading was to go on. */
const sourceAway: ReadonlySet<string> = new Set(["source.down", "source.wrong-password"]);

/**
 * One part of a reading of a stream: what the parts before it took, and how far this one has come. It keeps where the
 * next run goes on, and forgets that when the reading ends.
 */
export class ReadPart {
  readonly #checkpoints: Checkpoints;
  readonly #of: PartOf;
  readonly #progress: PartProgress;
  #before: Checkpoint | undefined;
  #isFurther = false;
  /** How far it has come, where that is not kept yet. */
  #reached: Omit<Parameters<Checkpoints["keep"]>[1], "question"> | undefined;
  /** What is being written of it. */
  #writing: Promise<void> = Promise.resolve();
  #failure: { error: unknown } | undefined;

  constructor(checkpoints: Checkpoints, of: PartOf, progress: PartProgress) {
    this.#checkpoints = checkpoints;
    this.#of = of;
    this.#progress = progress;
    this.#before = of.before;
    if (of.before !== undefined) checkpoints.goOn(of.read);
  }

  /** Rows that the parts before it have read. */
  get rowsBefore(): number {
    return this.#before?.rows ?? 0;
  }

  get badBefore(): number {
    return this.#before?.bad ?? 0;
  }

  /** What the reader is told, and what it tells. */
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

  /** What was staged has been taken in: the next run need not read it again. */
  async caughtUp(): Promise<void> {
    this.#keepReached();
    await this.kept();
  }

  /** What is not in the ledger is read again, should the reading be cut. */
  #keepReached(): void {
    if (this.#reached === undefined || !this.#progress.isTakenIn()) return;
    const { read, question } = this.#of;
    const reached = { question, ...this.#reached };
    this.#reached = undefined;
    this.#write(() => this.#checkpoints.keep(read, reached));
  }

  /** Resolves when everything that was told is kept; rejects where the ledger could not. */
  async kept(): Promise<void> {
    await this.#writing;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Resolves when nothing is being written any more, also where it failed. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /**
   * What a reading says that has gone on in a list whose records may have moved meanwhile: something of it may have
   * been passed over, so it counts as incomplete, and the next run reads everything.
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

  /** A reading that has ended is gone on with no more; one that was cut is, where that makes sense. */
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
