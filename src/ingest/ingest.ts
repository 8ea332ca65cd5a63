import type { Clock } from "../base/clock.ts";
import { messageOf, Problem } from "../base/errors.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import type { Stream } from "../crm/model.ts";
import type { AbsenceRule } from "../ledger/records/absence.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Reading } from "../ledger/records/reading.ts";
import type { EarlierRead } from "../ledger/records/source-reads.ts";
import { notAsMarked, sourceProblem } from "../source/problems.ts";
import type { ReadOutcome, SourceItem } from "../source/reader.ts";
import type { Source, StreamMapping } from "../source/source.ts";
import { DriftWatch } from "./belief/drift-watch.ts";
import { acceptedOf, believing, unlessAccepted } from "./belief/guards.ts";
import type { Acceptance, Accepted, Doubt } from "./belief/guards.ts";
import type { ReadLimit } from "./belief/judge.ts";
import { detailShrinkage, hasSets, shrinkage, tableCounts } from "./belief/rows.ts";
import { Intake } from "./intake.ts";
import { ReadPart } from "./read-parts.ts";
import type { Asked } from "./read-question.ts";
import { emptyTally } from "./tally.ts";
import type { StreamTally } from "./tally.ts";

/** From which numbers on a read is not believed: see `guards`. */
export interface BeliefLimits {
  sourceShrink: number;
  newIds: ReadLimit;
  massChange: ReadLimit;
}

export interface IngestDependencies {
  ledger: Ledger;
  settings: AssumptionSettings;
  limits: BeliefLimits;
  /** When what is missing counts as gone; undefined: it does not count (a plan). */
  absence: AbsenceRule | undefined;
  /** A job that reads this stream: the command that believes a read names it. */
  job: string | undefined;
  /** What a person believes of this read. */
  accepts: readonly Acceptance[];
  progress: (done: number) => void;
  clock: Pick<Clock, "now">;
}

/** How a reading is asked for. */
export interface ReadingAsked {
  /** What it asks its source for, given the fingerprint of its question; everything, where nobody says. */
  asked?: (question: string) => Promise<Asked>;
  /** Where it is cut, the next run goes on with it: a reading by a run. */
  keeps?: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Reads one stream of a source into the ledger. Unchanged rows are marked as seen; the others are mapped, validated and
 * staged, and taken in if the read is believed. Only a full, complete read can show that a record is missing.
 */
export async function ingestStream(
  deps: IngestDependencies,
  source: Source,
  stream: Stream,
  run: string,
  options: ReadingAsked,
): Promise<StreamTally> {
  const { ledger } = deps;
  const begun = await beginReading(source, stream, options);
  const { mapping, asked = {} } = begun;
  const made = { question: mapping?.question, mapping: mapping?.fingerprint, continues: asked.resume?.first };
  const read = await ledger.records.startRead(run, source.name, stream, made);
  const tally = emptyTally(source.name, stream);
  let reading: StreamReading | undefined;
  const stopped = async (): Promise<StreamTally> => {
    await reading?.takeIn();
    return { ...tally, problem: stoppedReading(source.name, stream) };
  };
  try {
    if (mapping === undefined) throw begun.failure;
    reading = await StreamReading.begin(deps, { source, stream, read, mapping, asked, options }, tally);
    const outcome = await reading.toItsEnd();
    if (!outcome.complete && options.signal?.aborted === true) return await stopped();
    await reading.conclude(outcome);
    return tally;
  } catch (error) {
    if (ledger.broken !== undefined) throw error;
    // A reading that was stopped on purpose has not ended: it says nothing of the source.
    if (options.signal?.aborted === true) return await stopped();
    tally.problem = error instanceof Problem ? error : unreadSource(source.name, stream, error);
    const rows = reading?.rows ?? { rows: 0, bad: 0 };
    const { message: problem } = tally.problem;
    await read.finish({ complete: false, whole: false, ...rows, problem });
    await reading?.ended({ complete: false, problem: tally.problem });
    return tally;
  } finally {
    await reading?.close();
    read.end();
  }
}

/** What one reading is of. */
interface ReadingOf {
  source: Source;
  stream: Stream;
  read: Reading;
  mapping: StreamMapping;
  asked: Asked;
  options: ReadingAsked;
}

/** One reading from its first row to its end. */
class StreamReading {
  readonly #deps: IngestDependencies;
  readonly #of: ReadingOf;
  readonly #tally: StreamTally;
  readonly #accepted: Accepted;
  readonly #earlier: readonly EarlierRead[];
  readonly #intake: Intake;
  readonly #part: ReadPart;
  readonly #watch: DriftWatch;
  readonly #items: AsyncGenerator<SourceItem[], ReadOutcome, void>;
  /** Why the reader was told not to give the rows that it has joined. */
  #distrusted: Doubt | undefined;

  static async begin(deps: IngestDependencies, of: ReadingOf, tally: StreamTally): Promise<StreamReading> {
    const { ledger } = deps;
    const name = of.source.name;
    const salt = await ledger.private.rawSalt();
    const earlier = await ledger.records.readsToCompare(name, of.stream);
    const before = await ledger.records.shapeBefore(name, of.stream);
    return new StreamReading(deps, of, tally, { salt, earlier, before });
  }

  private constructor(
    deps: IngestDependencies,
    of: ReadingOf,
    tally: StreamTally,
    known: {
      salt: string;
      earlier: readonly EarlierRead[];
      before: Awaited<ReturnType<Ledger["records"]["shapeBefore"]>>;
    },
  ) {
    const { source, stream, read, mapping, asked, options } = of;
    const { ledger, settings, job } = deps;
    this.#deps = deps;
    this.#of = of;
    this.#tally = tally;
    this.#earlier = known.earlier;
    this.#accepted = acceptedOf(deps.accepts, source.name, stream);
    const { before } = known;
    this.#intake = new Intake({ read, mapping, salt: known.salt, settings }, tally);
    const keeps = options.keeps === true && this.#isWholeAsked;
    const partOf = { read, question: mapping.question, before: asked.resume, keeps };
    const reached = () => ({ rows: this.#intake.rows, bad: tally.quarantined });
    this.#part = new ReadPart(ledger, partOf, deps.clock.now(), reached, () => this.#intake.isTakenIn);
    const watched = { source: source.name, stream, mapping, before, changesOnly: !this.#isWholeAsked, job };
    this.#watch = new DriftWatch({ ...watched, accepted: this.#accepted });
    this.#items = this.#watch.watch(
      source.read(stream, {
        ...this.#part.options,
        ...(asked.since === undefined ? {} : { since: asked.since }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
        batchSize: 500,
        distrust: (details) => this.#distrust(details),
      }),
    );
  }

  get #isWholeAsked(): boolean {
    return this.#of.asked.since === undefined;
  }

  /** What this reading and the parts before it have read. */
  get rows(): { rows: number; bad: number } {
    const { rowsBefore, badBefore } = this.#part;
    return { rows: this.#intake.rows + rowsBefore, bad: this.#tally.quarantined + badBefore };
  }

  async toItsEnd(): Promise<ReadOutcome> {
    for (;;) {
      const next = await this.#items.next();
      await this.#part.kept();
      if (next.done === true) return this.#part.judged(next.value);
      await this.#intake.add(next.value);
      this.#deps.progress(this.#intake.rows);
    }
  }

  #distrust(details: Readonly<Record<string, number>>): string | undefined {
    const doubts = this.#earlier.flatMap((row) => detailShrinkage(details, row, this.#deps.limits));
    this.#distrusted = unlessAccepted(doubts, this.#accepted);
    return this.#distrusted?.text;
  }

  /** Takes in what was read, or says why it is not believed, and keeps how the reading ended. */
  async conclude(outcome: ReadOutcome): Promise<void> {
    const { limits, absence } = this.#deps;
    const { mapping, asked, read: reading } = this.#of;
    const tally = this.#tally;
    const details = { ...outcome.details, ...tableCounts(mapping.tableEntries) };
    const lost = this.#rowsDoubt(outcome, details);
    const read = { isWhole: this.#isWholeAsked, isComplete: outcome.complete };
    const isRefused =
      (lost !== undefined && lost.isOfAbsence !== true) ||
      outcome.problem?.code === notAsMarked ||
      this.#watch.problem(true) !== undefined;
    const judged = isRefused ? await this.#intake.refuse() : await this.#intake.end(read, limits, this.#accepted);
    const doubt = judged ?? lost;
    tally.complete = outcome.complete;
    tally.problem = outcome.problem;
    tally.doubt = doubt === undefined ? undefined : this.#notBelieved(doubt);
    await this.#part.caughtUp();
    const isBelieved = outcome.complete && doubt === undefined;
    await reading.finish({
      complete: isBelieved,
      whole: outcome.full,
      ...this.rows,
      cursor: outcome.cursor,
      details: Object.keys(details).length === 0 ? undefined : details,
      problem: tally.doubt === undefined ? outcome.problem?.message : `${tally.doubt.message}; ${tally.doubt.cure}`,
      doubted: doubt !== undefined,
      shape: isBelieved && this.#isWholeAsked && asked.resume === undefined ? this.#watch.shape : undefined,
    });
    if (isBelieved && outcome.full) {
      const closed = await reading.closeWhole(absence);
      tally.absent = closed.absent;
      tally.quarantined -= closed.released;
      tally.changed += closed.released;
    }
    await this.ended(outcome);
  }

  /** What a reading has brought that was stopped is taken in, where it is believed: the next one goes on behind it. */
  async takeIn(): Promise<void> {
    const read = { isWhole: this.#isWholeAsked, isComplete: false };
    if (this.#watch.problem(true) !== undefined) return await this.#intake.refuse();
    await this.#intake.end(read, this.#deps.limits, this.#accepted);
    await this.#part.caughtUp();
  }

  #notBelieved(doubt: Doubt): Problem {
    const { source, stream } = this.#of;
    const command = believing(doubt, { source: source.name, stream, job: this.#deps.job });
    return sourceProblem(
      "source.not-believed",
      `${source.name}/${stream}`,
      `${doubt.text}. ` +
        (doubt.isOfAbsence === true ? "No record counts as deleted" : "No record of this read was used"),
      doubt.guard === "rows"
        ? `have the CRM export again; the next run continues. Only if these records really were deleted: ${command}`
        : `correct the export or the mapping; the next run continues. Only if the read is right: ${command}`,
    );
  }

  #rowsDoubt(outcome: ReadOutcome, details: Readonly<Record<string, number>>): Doubt | undefined {
    if (outcome.shrunk !== undefined) return this.#distrusted;
    const { limits } = this.#deps;
    const isEnded = outcome.complete && outcome.full;
    // Look-up tables are whole, whatever the read itself is.
    const counted = isEnded ? details : tableCounts(this.#of.mapping.tableEntries);
    const ofSets = this.#earlier.flatMap((row) => detailShrinkage(counted, row, limits));
    const lost = unlessAccepted(ofSets, this.#accepted);
    if (lost !== undefined || !isEnded) return lost;
    const { rows } = this.rows;
    const isJoined = outcome.details !== undefined;
    const ofRecords = this.#earlier.map((row) =>
      isJoined && hasSets(row) ? undefined : shrinkage(rows, row.rows, limits.sourceShrink, "records", row),
    );
    const doubt = unlessAccepted(ofRecords, this.#accepted);
    return doubt === undefined ? undefined : { ...doubt, isOfAbsence: true };
  }

  /** A reading that has ended is gone on with no more; one that was cut is, where that makes sense. */
  async ended(outcome: { complete: boolean; problem?: Problem | undefined }): Promise<void> {
    await this.#part.end(outcome);
  }

  /** Only a reading that was left before its end has something to close: why it was left is what is told. */
  async close(): Promise<void> {
    await this.#items.return({ complete: false, full: false, rows: 0 }).catch(() => undefined);
    await this.#part.settled();
    this.#intake.close();
  }
}

/** What a reading begins with; or why it cannot begin, which is told of it as of any other reading. */
async function beginReading(
  source: Source,
  stream: Stream,
  { asked, signal }: ReadingAsked,
): Promise<{ mapping?: StreamMapping; asked?: Asked | undefined; failure?: unknown }> {
  let mapping: StreamMapping;
  try {
    mapping = await source.mapping(stream, signal);
  } catch (failure) {
    return { failure };
  }
  return { mapping, asked: await asked?.(mapping.question) };
}

function stoppedReading(source: string, stream: Stream): Problem {
  return new Problem({
    code: "run.stopped",
    message: `the source ${source} (${stream}) was not read to its end, because the run was stopped`,
    cure: "nothing: the next run reads the source again",
  });
}

function unreadSource(source: string, stream: Stream, error: unknown): Problem {
  return new Problem({
    code: "source.failed",
    message: `the source ${source} could not be read (${stream}): ${messageOf(error)}`,
    cure: "check the source with `crm-sync check`",
    cause: error,
  });
}
