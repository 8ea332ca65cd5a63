import type { Problem } from "../base/errors.ts";
import type { Checkpoint, Checkpoints } from "../ledger/records/checkpoints.ts";
import type { Reading } from "../ledger/records/reading.ts";
import { sourceProblem } from "../source/problems.ts";
import type { ReadOptions, ReadOutcome } from "../source/reader.ts";
import type { Clock } from "../base/clock.ts";
import type { Stream } from "../crm/model.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Source } from "../source/source.ts";

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

export interface Asked {
  since?: string | undefined;
  resume?: Checkpoint | undefined;
}

interface AskedStream {
  source: Source;
  stream: Stream;
  question: string;
}

interface Asking {
  /** A plan or rebuild neither continues a run's read nor decides when a full read is due. */
  isRun: boolean;
  scope: { source?: string; since?: string } | undefined;
  resumeWithinMs: number;
}

/**
 * Changes are enough only if the last full read had the same question and the next one is not due. Everything is
 * requested if quarantined records need a new mapping, or a person asks for a source. A person's `since` reaches back
 * at least to the last read, so that no gap remains.
 */
export async function askedOf(
  deps: { ledger: Ledger; clock: Clock },
  of: AskedStream,
  { isRun, scope, resumeWithinMs }: Asking,
): Promise<Asked> {
  const { records } = deps.ledger;
  const { source, stream, question } = of;
  const wantsAll = scope?.source !== undefined && scope.since === undefined;
  const since = wantsAll ? undefined : await sinceOf(deps, of, isRun);
  if (since !== undefined) return { since: earlierOf(since, scope?.since, source) };
  if (!isRun) return {};
  const cut = await records.checkpoints.of(source.name, stream);
  if (cut === undefined) return {};
  const age = deps.clock.now() - Date.parse(cut.beganAt);
  const isOf = cut.question === question && age >= 0 && age < resumeWithinMs;
  const isSame = isOf && !(await records.checkpoints.wasAskedOtherwise(source.name, stream, cut.first, question));
  if (isSame && !wantsAll) return { resume: cut };
  await records.checkpoints.drop(source.name, stream);
  return {};
}

/** No time zone is further behind UTC. */
const furthestBehindMs = 43_200_000;

/** In the cursor's format. A cursor without a zone is compared with the earliest possible time, to miss nothing. */
function earlierOf(cursor: string, asked: string | undefined, { zone }: Source): string {
  if (asked === undefined) return cursor;
  if (cursor.endsWith("Z")) return Date.parse(asked) < Date.parse(cursor) ? asked : cursor;
  const instant = Temporal.Instant.from(asked).subtract({ milliseconds: zone === undefined ? furthestBehindMs : 0 });
  const text = instant
    .toZonedDateTimeISO(zone ?? "UTC")
    .toPlainDateTime()
    .toString();
  return text < cursor ? text : cursor;
}

/** Undefined: a full read is needed. */
async function sinceOf(
  { ledger, clock }: { ledger: Ledger; clock: Clock },
  { source, stream, question }: AskedStream,
  isRun: boolean,
): Promise<string | undefined> {
  const fullReadEvery = source.fullReadEveryMs(stream);
  if (fullReadEvery === undefined) return undefined;
  const { records } = ledger;
  const whole = await records.lastWholeRead(source.name, stream, isRun);
  if (whole?.question !== question || (await records.awaitsWholeRead(source.name, stream))) return undefined;
  // Records from a read with other settings, even an interrupted one, keep their form until they are read again.
  if (await records.checkpoints.wasAskedOtherwise(source.name, stream, whole.number, question)) return undefined;
  if (isRun) {
    const age = clock.now() - Date.parse(whole.started_at);
    if (!(age >= 0 && age < fullReadEvery)) return undefined;
  }
  return (await records.lastCompleteRead(source.name, stream))?.cursor ?? undefined;
}
