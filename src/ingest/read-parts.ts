import type { Problem } from "../base/errors.ts";
import type { Checkpoint, Checkpoints } from "../ledger/records/checkpoints.ts";
import type { Reading } from "../ledger/records/reading.ts";
import { sourceProblem } from "../source/problems.ts";
import type { ReadOptions, ReadOutcome } from "../source/reader.ts";

interface PartOf {
  read: Reading;
  question: string;
  before: Checkpoint | undefined;
  keeps: boolean;
  now: string;
}

interface PartProgress {
  taken: () => { rows: number; bad: number };
  isTakenIn: () => boolean;
}

/** After these problems a list is read from its start: its parts do not fit together. */
const doesNotFit: ReadonlySet<string> = new Set([
  "source.count-differs",
  "source.moved",
  "source.order-went-back",
  "source.page-loop",
  "source.too-many-pages",
  "source.changed-while-read",
  // A read with another shape is compared again from its first row.
  "source.drifted",
]);
/** These problems prove nothing about the resume position. */
const sourceAway: ReadonlySet<string> = new Set(["source.down", "source.wrong-password"]);

/** One part of a stream's read. Stores the position where the next run continues, until the read ends. */
export class ReadPart {
  readonly #checkpoints: Checkpoints;
  readonly #of: PartOf;
  readonly #progress: PartProgress;
  #before: Checkpoint | undefined;
  #isFurther = false;
  #reached: Omit<Parameters<Checkpoints["keep"]>[1], "question"> | undefined;
  #writing: Promise<void> = Promise.resolve();
  #failure: { error: unknown } | undefined;

  constructor(checkpoints: Checkpoints, of: PartOf, progress: PartProgress) {
    this.#checkpoints = checkpoints;
    this.#of = of;
    this.#progress = progress;
    this.#before = of.before;
    if (of.before !== undefined) checkpoints.goOn(of.read);
  }

  get rowsBefore(): number {
    return this.#before?.rows ?? 0;
  }

  get badBefore(): number {
    return this.#before?.bad ?? 0;
  }

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

  /** Call when the staged rows are in the ledger: the next run does not read them again. */
  async caughtUp(): Promise<void> {
    this.#keepReached();
    await this.kept();
  }

  #keepReached(): void {
    if (this.#reached === undefined || !this.#progress.isTakenIn()) return;
    const { read, question } = this.#of;
    const reached = { question, ...this.#reached };
    this.#reached = undefined;
    this.#write(() => this.#checkpoints.keep(read, reached));
  }

  /** Rejects if the ledger failed. */
  async kept(): Promise<void> {
    await this.#writing;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Resolves also after a failure. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /** After a resume, records may have moved: the read counts as incomplete, and the next run reads everything. */
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

  /** The next run may continue an interrupted read, unless its parts do not fit or it made no progress. */
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
