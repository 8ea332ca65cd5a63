import type { Clock } from "../base/clock.ts";
import { durationMs } from "../base/duration.ts";
import { type Stream, streams as allStreams } from "../crm/model.ts";
import type { AskedTime } from "../base/trusted-time.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import type { Logger } from "../base/logger.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { ConfiguredStream, SourceReadRow } from "../ledger/records/source-reads.ts";
import type { Policies } from "../engine/model/policy-settings.ts";
import type { AbsenceRule } from "../ledger/records/absence.ts";
import type { Block } from "../engine/plan/blocks.ts";
import { rulesOf } from "../engine/plan/plan.ts";
import type { Source } from "../source/source.ts";
import { acceptsTrials, type Acceptance } from "./belief/guards.ts";
import { ingestStream, type BeliefLimits } from "./ingest.ts";
import { logTally, type StreamTally } from "./tally.ts";
import { askedOf } from "./read-parts.ts";
import { remapMissing } from "./retry.ts";

interface ReadingDependencies {
  ledger: Ledger;
  sources: readonly Source[];
  /** Includes streams that this run does not read. */
  streams: readonly ConfiguredStream[];
  settings: AssumptionSettings;
  policies: Policies;
  logger: Logger;
  clock: Clock;
  progress: (phase: string, done: number, total: number | undefined) => void;
}

interface ReadingRequest {
  streams: readonly Stream[];
  read: boolean;
  scope?: { source?: string; since?: string } | undefined;
  limits: BeliefLimits & { absenceReads: number; absenceTime: string; resumeWithin: string };
  accepts?: readonly Acceptance[] | undefined;
  signal?: AbortSignal | undefined;
}

/** The first phase of a run or plan: reads the sources into the ledger. */
export class SourceReading {
  readonly tallies: StreamTally[] = [];
  removalsBlocked: Block | undefined;
  readonly #deps: ReadingDependencies;
  readonly #request: ReadingRequest;
  readonly #run: string;
  readonly #time: AskedTime | undefined;

  /** A plan passes no `time`: missing records then do not count. */
  constructor(deps: ReadingDependencies, request: ReadingRequest, run: string, time?: AskedTime) {
    this.#deps = deps;
    this.#request = request;
    this.#run = run;
    this.#time = time;
  }

  /** Reads customers first, then the records that depend on them. A failing source does not stop others. */
  async read(): Promise<void> {
    const { ledger, logger, settings, policies } = this.#deps;
    await ledger.records.configureStreams(this.#deps.streams);
    await ledger.records.decideBy(rulesOf({ policies, settings, canSeal: ledger.private.canSeal }));
    try {
      // A snapshot or tables from an earlier look do not belong to this read.
      for (const source of this.#deps.sources) await source.endReading();
      if (this.#request.read) await this.#readStreams();
    } finally {
      for (const source of this.#deps.sources) await source.endReading();
    }
    this.removalsBlocked = await removalsBlockedBy(ledger, this.#deps.streams);
    if (this.removalsBlocked !== undefined)
      logger.warn({ run: this.#run, reason: this.removalsBlocked.reason }, "revokes blocked");
  }

  async #readStreams(): Promise<void> {
    const { ledger, sources } = this.#deps;
    const isTrial = await ledger.runs.onlyPlansBefore(this.#run);
    const only = this.#request.scope?.source;
    for (const stream of allStreams.filter((name) => this.#request.streams.includes(name)))
      for (const source of sources)
        if (source.streams.includes(stream) && (only === undefined || source.name === only))
          await this.#readStream(source, stream, isTrial);
  }

  async #readStream(source: Source, stream: Stream, isTrial: boolean): Promise<void> {
    const { ledger, settings, logger, clock, progress } = this.#deps;
    const { scope, limits, accepts = [], signal } = this.#request;
    const absence = this.#absenceRule;
    const isRun = absence !== undefined;
    const asking = { isRun, scope, resumeWithinMs: durationMs(limits.resumeWithin) };
    const tally = await ingestStream(
      { ledger, settings, limits, absence, clock },
      {
        source,
        stream,
        run: this.#run,
        job: this.#deps.streams.find((item) => item.source === source.name && item.stream === stream)?.job,
        accepts: isTrial ? acceptsTrials(source.name, stream) : accepts,
        progress: (done) => progress(`reading ${source.name}/${stream}`, done, undefined),
        asked: (question) => askedOf(this.#deps, { source, stream, question }, asking),
        signal,
      },
    );
    this.tallies.push(tally);
    logTally(logger, this.#run, tally);
    if (isRun && tally.complete && tally.doubt === undefined) await this.#remapMissing(source, stream);
  }

  async #remapMissing(source: Source, stream: Stream): Promise<void> {
    const { ledger, settings, logger } = this.#deps;
    const remapped = await remapMissing({ ledger, settings }, source, stream);
    const left = Object.values(remapped.left).reduce((sum, count) => sum + count, 0);
    if (remapped.changed + remapped.quarantined + left === 0) return;
    logger.warn({ run: this.#run, ...remapped }, "records that are missing were mapped anew, or left as they were");
  }

  get #absenceRule(): AbsenceRule | undefined {
    const time = this.#time;
    if (time === undefined) return undefined;
    const { absenceReads: reads, absenceTime } = this.#request.limits;
    return { reads, ms: durationMs(absenceTime), time: async () => await time.now({ isFresh: true }) };
  }
}

/**
 * Nothing may be removed while the last read of a stream, by any job, is incomplete, doubted, interrupted or missing:
 * unread records might keep what would be removed. A finished incremental read is fine.
 */
async function removalsBlockedBy(ledger: Ledger, streams: readonly ConfiguredStream[]): Promise<Block | undefined> {
  const doubts: string[] = [];
  for (const stream of streams) {
    const name = `${stream.source}/${stream.stream}`;
    const last = await ledger.records.lastRead(stream.source, stream.stream);
    const doubt = doubtOf(name, last);
    const cure = cureOf(name, stream.job, last === undefined ? "reads it" : "reads it again");
    if (doubt !== undefined) doubts.push(`${doubt}; ${cure}`);
  }
  const [first, ...others] = doubts;
  if (first === undefined) return undefined;
  const more = others.length === 0 ? "" : ` (and ${others.length} more: \`crm-sync status\`)`;
  return { code: "revokes.blocked", reason: `nothing is removed: ${first}${more}`, again: true };
}

function doubtOf(name: string, read: SourceReadRow | undefined): string | undefined {
  if (read === undefined) return `${name} was never read`;
  if (read.finished_at === null) return `the last read of ${name} did not finish`;
  if (read.complete === 1) return undefined;
  if (read.doubted === 1) return `the last read of ${name} is not believed: ${read.problem ?? "its rows may be wrong"}`;
  return `the last read of ${name} was not complete: ${withoutDot(read.problem ?? "it did not reach its end")}`;
}

function cureOf(name: string, job: string | undefined, reads: string): string {
  if (job === undefined) return `no job reads ${name}: add it to a job, or remove it from the configuration`;
  return `\`crm-sync run ${job}\` ${reads}; remove ${name} from the configuration if it is no longer used`;
}

function withoutDot(text: string): string {
  return text.replace(/\.$/u, "");
}
