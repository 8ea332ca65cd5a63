import { type Clock, toInstant } from "../base/clock.ts";
import { messageOf, Problem } from "../base/errors.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import type { Stream } from "../crm/model.ts";
import type { AbsenceRule } from "../ledger/records/absence.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Reading } from "../ledger/records/reading.ts";
import type { SkippedRecord, EarlierRead } from "../ledger/records/source-reads.ts";
import type { MappedRow, StagedRecords } from "../ledger/records/staged-records.ts";
import { notAsMarked } from "../source/problems.ts";
import type { ReadOutcome, SourceItem } from "../source/reader.ts";
import type { RowShape } from "../source/shape.ts";
import type { Source, StreamMapping } from "../source/source.ts";
import {
  DriftWatch,
  acceptedOf,
  notBelieved,
  unlessAccepted,
  type Acceptance,
  type Accepted,
  type Doubt,
} from "./belief/guards.ts";
import { asJudged, isSuspect, ReadJudge, type ReadLimit } from "./belief/judge.ts";
import { detailShrinkage, lostRows, tableCounts } from "./belief/rows.ts";
import { hashOfItem, mapItem } from "./map-row.ts";
import { ReadPart, type Asked } from "./read-parts.ts";
import { emptyTally, type StreamTally } from "./tally.ts";

export interface BeliefLimits {
  sourceShrink: number;
  newIds: ReadLimit;
  massChange: ReadLimit;
}

interface IngestDependencies {
  ledger: Ledger;
  settings: AssumptionSettings;
  limits: BeliefLimits;
  /** When a missing record counts as deleted. Undefined: never, and an interrupted read starts again (a plan). */
  absence: AbsenceRule | undefined;
  clock: Pick<Clock, "now">;
}

interface StreamToRead {
  source: Source;
  stream: Stream;
  run: string;
  job: string | undefined;
  accepts: readonly Acceptance[];
  progress: (done: number) => void;
  /** Given the fingerprint of the question. Default: everything. */
  asked?: (question: string) => Promise<Asked>;
  signal?: AbortSignal | undefined;
}

/** Unchanged rows are marked as seen, others staged until `guards` agree. Only a full, complete read shows absence. */
export async function ingestStream(deps: IngestDependencies, of: StreamToRead): Promise<StreamTally> {
  const { ledger } = deps;
  const { source, stream, signal } = of;
  const { mapping, asked = {}, failure } = await questionOf(of);
  const made = { question: mapping?.question, mapping: mapping?.fingerprint, continues: asked.resume?.first };
  const read = await ledger.records.startRead(of.run, source.name, stream, made);
  const tally = emptyTally(source.name, stream);
  let reading: StreamReading | undefined;
  const stopped = async (): Promise<StreamTally> => {
    await reading?.takeIn();
    return { ...tally, problem: stoppedReading(source.name, stream) };
  };
  try {
    if (mapping === undefined) throw failure;
    const salt = await ledger.private.rawSalt();
    const earlier = await ledger.records.readsToCompare(source.name, stream);
    const shape = await ledger.records.shapeBefore(source.name, stream);
    reading = new StreamReading(deps, { ...of, read, mapping, asked, salt, earlier, shape }, tally);
    const outcome = await reading.toItsEnd();
    if (!outcome.complete && signal?.aborted === true) return await stopped();
    await reading.conclude(outcome);
    return tally;
  } catch (error) {
    if (ledger.broken !== undefined) throw error;
    // A read that was stopped on purpose proves nothing about the source.
    if (signal?.aborted === true) return await stopped();
    tally.problem = error instanceof Problem ? error : unreadSource(source.name, stream, error);
    const rows = reading?.rows ?? { rows: 0, bad: 0 };
    await read.finish({ complete: false, whole: false, ...rows, problem: tally.problem.message });
    await reading?.ended({ complete: false, problem: tally.problem });
    return tally;
  } finally {
    await reading?.close();
    read.end();
  }
}

async function questionOf({
  source,
  stream,
  asked,
  signal,
}: StreamToRead): Promise<{ mapping?: StreamMapping; asked?: Asked | undefined; failure?: unknown }> {
  let mapping: StreamMapping;
  try {
    mapping = await source.mapping(stream, signal);
  } catch (failure) {
    return { failure };
  }
  return { mapping, asked: await asked?.(mapping.question) };
}

interface ReadingOf extends Omit<StreamToRead, "asked"> {
  read: Reading;
  mapping: StreamMapping;
  asked: Asked;
  salt: string;
  earlier: readonly EarlierRead[];
  shape: RowShape | undefined;
}

interface MappedRows {
  fresh: MappedRow[];
  skipped: SkippedRecord[];
}

class StreamReading {
  readonly #deps: IngestDependencies;
  readonly #of: ReadingOf;
  readonly #tally: StreamTally;
  readonly #accepted: Accepted;
  readonly #isWholeAsked: boolean;
  readonly #part: ReadPart;
  readonly #watch: DriftWatch;
  readonly #items: AsyncGenerator<SourceItem[], ReadOutcome, void>;
  /** New and changed rows until the read is believed. Undefined: there is nothing to compare them with. */
  readonly #staged: StagedRecords | undefined;
  #isTaken = false;
  #distrusted: Doubt | undefined;
  #areDetailsUnclear = false;

  constructor(deps: IngestDependencies, of: ReadingOf, tally: StreamTally) {
    const { source, stream, read, mapping, asked, signal } = of;
    const { since } = asked;
    this.#deps = deps;
    this.#of = of;
    this.#tally = tally;
    this.#accepted = acceptedOf(of.accepts, source.name, stream);
    this.#isWholeAsked = since === undefined;
    this.#staged = read.stage();
    const keeps = deps.absence !== undefined && this.#isWholeAsked;
    const partOf = { read, question: mapping.question, before: asked.resume, keeps, now: toInstant(deps.clock.now()) };
    this.#part = new ReadPart(deps.ledger.records.checkpoints, partOf, {
      taken: () => ({ rows: this.#rows, bad: tally.quarantined }),
      isTakenIn: () => this.#staged === undefined || this.#staged.size === 0 || this.#isTaken,
    });
    const watched = { source: source.name, stream, mapping, before: of.shape, job: of.job };
    this.#watch = new DriftWatch({ ...watched, changesOnly: !this.#isWholeAsked, accepted: this.#accepted });
    this.#items = this.#watch.watch(
      source.read(stream, {
        ...this.#part.options,
        ...(since === undefined ? {} : { since }),
        ...(signal === undefined ? {} : { signal }),
        batchSize: 500,
        distrust: (details, isUnclear) => this.#distrust(details, isUnclear),
      }),
    );
  }

  get #rows(): number {
    return this.#tally.extracted + (this.#isTaken ? 0 : (this.#staged?.size ?? 0));
  }

  get rows(): { rows: number; bad: number } {
    const { rowsBefore, badBefore } = this.#part;
    return { rows: this.#rows + rowsBefore, bad: this.#tally.quarantined + badBefore };
  }

  async toItsEnd(): Promise<ReadOutcome> {
    for (;;) {
      const next = await this.#items.next();
      await this.#part.kept();
      if (next.done === true) return this.#part.judged(next.value);
      await this.#store(await this.#map(next.value));
      this.#of.progress(this.#rows);
    }
  }

  #distrust(details: Readonly<Record<string, number>>, isUnclear: boolean): string | undefined {
    this.#areDetailsUnclear = isUnclear;
    const doubts = this.#of.earlier.flatMap((row) => detailShrinkage(details, row, this.#deps.limits));
    this.#distrusted = unlessAccepted(doubts, this.#accepted);
    return this.#distrusted?.text;
  }

  async #map(items: readonly SourceItem[]): Promise<MappedRows> {
    const { read, stream, mapping, salt } = this.#of;
    const { settings } = this.#deps;
    const hashed = items.map((item) => ({ item, hash: hashOfItem(item, salt + mapping.fingerprint) }));
    const seen = await read.markSeen(hashed.map(({ hash }) => hash));
    const fresh: MappedRow[] = [];
    const skipped: SkippedRecord[] = [];
    for (const { item, hash } of hashed) {
      if (seen.unchanged.has(hash)) this.#tally.unchanged += 1;
      else if (seen.quarantined.has(hash)) this.#tally.quarantined += 1;
      else {
        const mapped = mapItem(item, hash, { stream, mapping, settings });
        if ("skipped" in mapped) skipped.push(mapped.skipped);
        else fresh.push(mapped);
      }
    }
    this.#tally.extracted += items.length - fresh.length;
    this.#tally.skipped += skipped.length;
    return { fresh, skipped };
  }

  async #store({ fresh, skipped }: MappedRows): Promise<void> {
    if (skipped.length > 0) await this.#of.read.skip(skipped);
    if (this.#staged === undefined) await this.#take(fresh);
    else this.#staged.put(fresh);
  }

  async #take(rows: readonly MappedRow[]): Promise<void> {
    if (rows.length === 0) return;
    const taken = await this.#of.read.ingest(rows);
    this.#tally.extracted += rows.length;
    this.#tally.changed += taken.changed;
    this.#tally.unchanged += taken.unchanged;
    this.#tally.quarantined += taken.quarantined;
  }

  async conclude(outcome: ReadOutcome): Promise<void> {
    const { source, stream, job, read, mapping, asked, earlier } = this.#of;
    const { limits, absence } = this.#deps;
    const tally = this.#tally;
    const tables = tableCounts(mapping.tableEntries);
    const details = { ...outcome.details, ...tables };
    const counts = { rows: this.rows.rows, details, tables };
    const lost =
      outcome.shrunk === undefined
        ? lostRows(outcome, counts, earlier, { ...limits, accepted: this.#accepted })
        : this.#distrusted;
    const isRefused =
      (lost !== undefined && lost.isOfAbsence !== true) ||
      outcome.problem?.code === notAsMarked ||
      this.#watch.problem(true) !== undefined;
    const doubt = (await (isRefused ? this.#refuse() : this.#believe(outcome.complete))) ?? lost;
    tally.complete = outcome.complete;
    tally.problem = outcome.problem;
    tally.doubt = doubt === undefined ? undefined : notBelieved(doubt, { source: source.name, stream, job });
    await this.#part.caughtUp();
    const isBelieved = outcome.complete && doubt === undefined;
    await read.finish({
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
      const closed = await read.closeWhole(absence);
      tally.absent = closed.absent;
      tally.quarantined -= closed.released;
      tally.changed += closed.released;
    }
    await this.ended(outcome);
  }

  /** For a stopped read: uses the rows if they are believed. The next read continues after them. */
  async takeIn(): Promise<void> {
    if (this.#watch.problem(true) !== undefined) return await this.#refuse();
    await this.#believe(false);
    await this.#part.caughtUp();
  }

  /** Returns the doubt. Rows that look like others wait in quarantine, unless a person accepts that many. */
  async #believe(isComplete: boolean): Promise<Doubt | undefined> {
    const staged = this.#staged;
    if (staged === undefined || staged.size === 0) return undefined;
    const { stream, read } = this.#of;
    const { limits } = this.#deps;
    const { rows } = this.rows;
    const kind = { isWhole: this.#isWholeAsked, isComplete, areDetailsUnclear: this.#areDetailsUnclear };
    const judged = { stream, staged, rows, ...kind, limits, ledger: read.compared(staged) };
    const { doubts, suspects } = new ReadJudge(judged).judge();
    const doubt = unlessAccepted(doubts, this.#accepted);
    if (doubt !== undefined) {
      await this.#refuse();
      return doubt;
    }
    this.#isTaken = true;
    const unclear = new Map([...suspects].filter(([, { isCounted }]) => !isCounted));
    const waiting = suspects.size - unclear.size <= this.#accepted.ids ? unclear : suspects;
    // Suspects go first. If the process dies in between, a suspect is already kept back when its twin changes.
    for (const isFirst of [true, false])
      for (const rows of staged.pages())
        await this.#take(
          rows.filter((row) => isSuspect(row, waiting) === isFirst).map((row) => asJudged(row, waiting)),
        );
    return undefined;
  }

  /** Discards the staged rows. Their records still do not count as missing. */
  async #refuse(): Promise<undefined> {
    if (this.#staged !== undefined) await this.#of.read.keepPresent(this.#staged);
  }

  async ended(outcome: { complete: boolean; problem?: Problem | undefined }): Promise<void> {
    await this.#part.end(outcome);
  }

  /** The caller reports why it leaves the read; closing never fails. */
  async close(): Promise<void> {
    await this.#items.return({ complete: false, full: false, rows: 0 }).catch(() => undefined);
    await this.#part.settled();
    this.#staged?.close();
  }
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
