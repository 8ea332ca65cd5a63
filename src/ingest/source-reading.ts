import type { Clock } from "../base/clock.ts";
import { durationMs } from "../base/duration.ts";
import type { Stream } from "../crm/model.ts";
import { streams as allStreams } from "../crm/model.ts";
import type { AskedTime } from "../base/trusted-time.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import type { Logger } from "../base/logger.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { ConfiguredStream } from "../ledger/records/source-reads.ts";
import type { Policies } from "../engine/model/policy.ts";
import type { AbsenceRule } from "../ledger/records/absence.ts";
import type { Block } from "../engine/plan/block.ts";
import { rulesOf } from "../engine/plan/rules.ts";
import type { Source } from "../source/source.ts";
import { acceptsTrials } from "./belief/guards.ts";
import type { Acceptance } from "./belief/guards.ts";
import { takingBlockedBy } from "./belief/read-doubts.ts";
import { ingestStream } from "./ingest.ts";
import type { BeliefLimits } from "./ingest.ts";
import { logTally } from "./tally.ts";
import type { StreamTally } from "./tally.ts";
import { askedOf } from "./read-question.ts";
import { remapMissing } from "./remap.ts";

interface ReadingDependencies {
  ledger: Ledger;
  sources: readonly Source[];
  /** Every stream of every configured source, also those that this run does not read. */
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

/** The first phase of a run and of a plan: everything that its sources say now comes into the ledger. */
export class SourceReading {
  readonly tallies: StreamTally[] = [];
  /** Why nothing may be taken away in this run. */
  takingBlocked: Block | undefined;
  readonly #deps: ReadingDependencies;
  readonly #request: ReadingRequest;
  readonly #run: string;
  /** Whether what its reads lack is missed. */
  readonly #countsAbsence: boolean;
  readonly #time: AskedTime | undefined;

  /** A plan passes no `time`: what its reads lack is not missed. */
  constructor(deps: ReadingDependencies, request: ReadingRequest, run: string, time?: AskedTime) {
    this.#deps = deps;
    this.#request = request;
    this.#run = run;
    this.#countsAbsence = time !== undefined;
    this.#time = time;
  }

  /**
   * Reads the job's streams of every source: customers first, then what depends on them. A source that fails stops no
   * other.
   */
  async read(): Promise<void> {
    const { ledger, logger, settings, policies } = this.#deps;
    await ledger.records.configureStreams(this.#deps.streams);
    await ledger.records.decideBy(rulesOf({ policies, settings, canSeal: ledger.private.canSeal }));
    try {
      // What somebody looked at before, a view of a database or tables, is no part of this reading.
      for (const source of this.#deps.sources) await source.endReading();
      if (this.#request.read) await this.#readStreams();
    } finally {
      for (const source of this.#deps.sources) await source.endReading();
    }
    this.takingBlocked = await takingBlockedBy(ledger, this.#deps.streams);
    if (this.takingBlocked !== undefined)
      logger.warn({ run: this.#run, reason: this.takingBlocked.reason }, "revokes blocked");
  }

  async #readStreams(): Promise<void> {
    const { ledger, settings, logger, progress } = this.#deps;
    const asking = {
      isRun: this.#countsAbsence,
      scope: this.#request.scope,
      resumeWithinMs: durationMs(this.#request.limits.resumeWithin),
    };
    const isTrial = await ledger.runs.onlyPlansBefore(this.#run);
    for (const stream of allStreams.filter((name) => this.#request.streams.includes(name))) {
      for (const source of this.#deps.sources.filter((item) => item.streams.includes(stream))) {
        if (this.#request.scope?.source !== undefined && source.name !== this.#request.scope.source) continue;
        const tally = await ingestStream(
          {
            ledger,
            settings,
            limits: this.#request.limits,
            absence: this.#absenceRule,
            job: this.#jobReading(source.name, stream),
            accepts: isTrial ? acceptsTrials(source.name, stream) : (this.#request.accepts ?? []),
            progress: (done) => progress(`reading ${source.name}/${stream}`, done, undefined),
            clock: this.#deps.clock,
          },
          source,
          stream,
          this.#run,
          {
            asked: (question) => askedOf(this.#deps, source, stream, question, asking),
            keeps: this.#countsAbsence,
            signal: this.#request.signal,
          },
        );
        this.tallies.push(tally);
        logTally(logger, this.#run, tally);
        if (this.#countsAbsence && tally.complete && tally.doubt === undefined)
          await this.#remapMissing(source, stream);
      }
    }
  }

  /** What whole readings lack and is not gone yet is mapped as everything else is, from its stored form. */
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

  #jobReading(source: string, stream: Stream): string | undefined {
    return this.#deps.streams.find((item) => item.source === source && item.stream === stream)?.job;
  }
}
