import { durationMs } from "../base/duration.ts";
import type { Stream } from "../crm/model.ts";
import { streams as allStreams } from "../crm/model.ts";
import type { Block } from "../plan/block.ts";
import type { Source } from "../source/source.ts";
import { ingestStream, logTally } from "./ingest.ts";
import type { StreamTally } from "./ingest.ts";
import { takingBlockedBy } from "./read-doubts.ts";
import type { RunDependencies, RunRequest } from "./request.ts";

/** The first phase of a run and of a plan: everything that its sources say now comes into the ledger. */
export class SourceReading {
  readonly tallies: StreamTally[] = [];
  /** Why nothing may be taken away in this run. */
  takingBlocked: Block | undefined;
  readonly #deps: RunDependencies;
  readonly #request: RunRequest;
  readonly #run: string;
  readonly #countsAbsence: boolean;

  /** A plan passes `countsAbsence: false`: what its reads lack is not missed. */
  constructor(deps: RunDependencies, request: RunRequest, run: string, options: { countsAbsence: boolean }) {
    this.#deps = deps;
    this.#request = request;
    this.#run = run;
    this.#countsAbsence = options.countsAbsence;
  }

  /**
   * Reads the job's streams of every source: customers first, then what depends on them. A source that fails stops no
   * other.
   */
  async read(): Promise<void> {
    const { ledger, logger } = this.#deps;
    await ledger.records.configureStreams(this.#deps.streams);
    try {
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
    for (const stream of allStreams.filter((name) => this.#request.streams.includes(name))) {
      for (const source of this.#deps.sources.filter((item) => item.streams.includes(stream))) {
        if (this.#request.scope?.source !== undefined && source.name !== this.#request.scope.source) continue;
        const tally = await ingestStream(
          {
            ledger,
            settings,
            logger,
            limits: this.#request.limits,
            absence: this.#countsAbsence
              ? { reads: this.#request.limits.absenceReads, ms: durationMs(this.#request.limits.absenceTime) }
              : undefined,
            job: this.#jobReading(source.name, stream),
            acceptShrink: this.#request.acceptShrink?.includes(source.name) === true,
            progress: (done) => progress(`reading ${source.name}/${stream}`, done, undefined),
          },
          source,
          stream,
          this.#run,
          { since: await this.#sinceOf(source, stream), signal: this.#request.signal },
        );
        this.tallies.push(tally);
        logTally(logger, this.#run, tally);
      }
    }
  }

  /**
   * From when on changes are asked for; undefined: for everything. A run asks for everything when no run did for the
   * time that the source says. What a person asks for reaches back at least to where the last reading ended: what lies
   * between would never be read.
   */
  async #sinceOf(source: Source, stream: Stream): Promise<string | undefined> {
    const { ledger, clock } = this.#deps;
    const cursor = (await ledger.records.lastCompleteRead(source.name, stream))?.cursor ?? undefined;
    const wholeEvery = source.wholeEveryMs(stream);
    if (cursor === undefined || wholeEvery === undefined) return undefined;
    if (this.#countsAbsence) {
      const whole = await ledger.records.lastWholeRead(source.name, stream);
      const age = whole === undefined ? Number.NaN : clock.now() - Date.parse(whole.started_at);
      if (!(age >= 0 && age < wholeEvery)) return undefined;
    }
    const asked = this.#request.scope?.since;
    return asked !== undefined && asked < cursor ? asked : cursor;
  }

  #jobReading(source: string, stream: Stream): string | undefined {
    return this.#deps.streams.find((item) => item.source === source && item.stream === stream)?.job;
  }
}
