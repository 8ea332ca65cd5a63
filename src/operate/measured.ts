import { statSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import { exitCodes, messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { ServiceName } from "../contract/endpoints.ts";
import { operationNames } from "../engine/model/registry.ts";
import type { ServiceState } from "../http/client.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import { workDoneExits } from "../inquiry/measures.ts";
import type { JobEnds, LedgerMeasures, MeasuredRun } from "../inquiry/measures.ts";
import type { Application, Observed } from "./application.ts";
import { nextFireTime } from "./fire-times.ts";
import type { BoundJob } from "./job.ts";
import { isKind as isAlertKind } from "./notify/alert.ts";
import type { Schedule } from "./schedule.ts";

/** Runs of no configured job, which a person started: what is counted of them bears this in place of a job. */
const byHandJobs: readonly string[] = ["apply", "resync", "plan", "undo", "rebuild", "requests"];
/** A job that no configuration names any more. */
const anotherJob = "other";
/** Reading the ledger takes this part of the time at most, however often somebody asks. */
const restTimes = 20;

/** Runs that ended while this process watched. */
interface EndedRuns {
  job: string;
  state: MeasuredRun["state"];
  exitCode: string;
  count: number;
}

/** What is known of a job. Times are epoch seconds; undefined where there is none. */
export interface MeasuredJob {
  job: string;
  kind: string;
  isRunning: boolean;
  nextFire: number | undefined;
  /** Seconds from the next fire time to the one after it. */
  fireInterval: number | undefined;
  lastRun: number | undefined;
  lastExitCode: number | undefined;
  /** Its last run that ended with exit code 0. */
  lastSuccess: number | undefined;
  /** Its last run that did all it could, records that wait for somebody or not. */
  lastEnd: number | undefined;
}

/** What the ledger and the schedule show; `at`: when that was looked at, epoch seconds. */
export interface MeasuredLedger extends Omit<LedgerMeasures, "lastRuns" | "runs" | "ends"> {
  at: number;
  jobs: MeasuredJob[];
  runs: EndedRuns[];
}

/** What a monitoring system may ask of a program that runs. Words of closed lists and of the configuration only. */
export interface Measured {
  observed: Observed;
  version: string;
  services(): Record<ServiceName, ServiceState>;
  /** Names of all kinds of operations. */
  operationKinds: readonly string[];
  /** Sizes of the ledger's files now, in bytes. */
  ledgerBytes(): { db: number; wal: number };
  /** Rejects where the ledger cannot be read, or be written any more. */
  ledger(): Promise<MeasuredLedger>;
  clock: Clock;
  logger: Logger;
}

interface MeasuredOf {
  application: Application;
  schedule: Pick<Schedule, "state">;
  version: string;
}

/** What is measured of `serve`. */
export async function measuredOf({ application, schedule, version }: MeasuredOf): Promise<Measured> {
  const { observed, clock, logger, ledgerPath } = application;
  const ledger = await application.ledger();
  const reading = new LedgerReading({
    inquiry: () => application.inquiry(),
    jobs: () => application.jobs(),
    sources: () => Object.keys(application.config.sources),
    schedule,
    clock,
  });
  await reading.begin().catch((error: unknown) => {
    logger.error({ event: "metrics.not-begun", reason: messageOf(error) }, "runs of before are not known to metrics");
  });
  return {
    observed,
    version,
    services: () => {
      const { orderService, memberCenter } = application.platform().state();
      return { "order-service": orderService, "member-center": memberCenter };
    },
    operationKinds: operationNames(),
    ledgerBytes: () => ({ db: bytesOf(ledgerPath), wal: bytesOf(`${ledgerPath}-wal`) }),
    ledger: async () => {
      if (ledger.broken !== undefined) throw ledger.broken;
      return await reading.now();
    },
    clock,
    logger,
  };
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

interface ReadingDependencies {
  inquiry: () => Promise<Pick<Inquiry, "measures">>;
  jobs: () => readonly Pick<BoundJob, "id" | "kind" | "schedule">[];
  sources: () => readonly string[];
  schedule: Pick<Schedule, "state">;
  clock: Clock;
}

type Ends = Pick<MeasuredJob, "lastSuccess" | "lastEnd">;

/** Reads what is measured of the ledger, at most as often as that costs little, and counts runs as they end. */
export class LedgerReading {
  readonly #deps: ReadingDependencies;
  #newest = "";
  readonly #running = new Set<string>();
  readonly #runs = new Map<string, EndedRuns>();
  readonly #ends = new Map<string, Ends>();
  /** Of each job's last run that is not on any more. */
  readonly #exits = new Map<string, number>();
  #begun = false;
  #last: { measured: MeasuredLedger; until: number } | undefined;
  #reading: Promise<MeasuredLedger> | undefined;

  constructor(dependencies: ReadingDependencies) {
    this.#deps = dependencies;
  }

  /** From now on runs are counted; those that ended before are known by their times alone. */
  async begin(): Promise<void> {
    const { newestRun, runsOn } = await (await this.#deps.inquiry()).measures();
    this.#newest = newestRun;
    for (const id of runsOn) this.#running.add(id);
    this.#begun = true;
  }

  /** Who asks while it is being read gets the same answer. */
  async now(): Promise<MeasuredLedger> {
    const { clock } = this.#deps;
    if (this.#last !== undefined && clock.monotonic() < this.#last.until) return this.#last.measured;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return await this.#reading;
  }

  async #read(): Promise<MeasuredLedger> {
    const { clock } = this.#deps;
    this.#last = undefined;
    if (!this.#begun) await this.begin();
    const inquiry = await this.#deps.inquiry();
    const since = clock.monotonic();
    const at = clock.now() / 1_000;
    const jobsNow = this.#deps.jobs();
    const { lastRuns, alerts, reads, runs, ends, ...measures } = await inquiry.measures({
      after: this.#newest,
      named: [...this.#running],
      // What ended before this process is looked for once.
      endsOf: jobsNow.flatMap(({ id }) => (this.#ends.has(id) ? [] : [id])),
    });
    this.#keepEnds(ends);
    this.#countRuns(runs, new Set(jobsNow.map(({ id }) => id)));
    const jobs = await this.#jobs(lastRuns);
    const sources = new Set(this.#deps.sources());
    const measured = {
      ...measures,
      at,
      jobs,
      runs: [...this.#runs.values()],
      alerts: alerts.filter(({ kind }) => isAlertKind(kind)),
      reads: reads.filter(({ source }) => sources.has(source)),
    };
    const took = clock.monotonic() - since;
    this.#last = { measured, until: clock.monotonic() + took * restTimes };
    return measured;
  }

  #keepEnds(ends: readonly JobEnds[]): void {
    for (const { job, success, work } of ends)
      this.#ends.set(job, { lastSuccess: secondsOf(success), lastEnd: secondsOf(work) });
  }

  #countRuns(runs: readonly MeasuredRun[], names: ReadonlySet<string>): void {
    for (const run of runs) {
      if (run.id > this.#newest) this.#newest = run.id;
      if (run.state === "running") this.#running.add(run.id);
      else this.#count(run, labelOf(run.job, names));
    }
  }

  #count(run: MeasuredRun, job: string): void {
    this.#running.delete(run.id);
    const exitCode = String(Object.values(exitCodes).find((code) => code === run.exitCode) ?? "none");
    const key = `${job} ${run.state} ${exitCode}`;
    const known = this.#runs.get(key) ?? { job, state: run.state, exitCode, count: 0 };
    this.#runs.set(key, { ...known, count: known.count + 1 });
    const ended = secondsOf(run.finishedAt);
    if (run.state !== "done" || run.exitCode === null || ended === undefined) return;
    const ends = this.#ends.get(run.job);
    if (ends === undefined || !workDoneExits.includes(run.exitCode)) return;
    const isGood = run.exitCode === exitCodes.ok;
    this.#ends.set(run.job, { lastEnd: ended, lastSuccess: isGood ? ended : ends.lastSuccess });
  }

  async #jobs(lastRuns: LedgerMeasures["lastRuns"]): Promise<MeasuredJob[]> {
    const states = new Map((await this.#deps.schedule.state()).map((state) => [state.job, state]));
    const last = new Map(lastRuns.map((run) => [run.job, run]));
    const jobs: MeasuredJob[] = [];
    for (const { id, kind, schedule } of this.#deps.jobs()) {
      const state = states.get(id);
      const run = last.get(id);
      const nextFire = secondsOf(state?.nextFireTime);
      // A run that was interrupted has none, and is no success.
      if (run !== undefined && run.state !== "running") this.#exits.set(id, run.exitCode ?? exitCodes.other);
      jobs.push({
        job: id,
        kind,
        isRunning: run?.state === "running",
        nextFire,
        fireInterval: nextFire === undefined || schedule === undefined ? undefined : intervalAfter(nextFire, schedule),
        lastRun: secondsOf(run?.startedAt),
        lastExitCode: this.#exits.get(id),
        ...(this.#ends.get(id) ?? { lastSuccess: undefined, lastEnd: undefined }),
      });
    }
    return jobs;
  }
}

function intervalAfter(fireTime: number, { cron, zone }: NonNullable<BoundJob["schedule"]>): number | undefined {
  const then = nextFireTime(cron, zone, fireTime * 1_000);
  return then === undefined ? undefined : then / 1_000 - fireTime;
}

function labelOf(job: string, names: ReadonlySet<string>): string {
  return names.has(job) || byHandJobs.includes(job) ? job : anotherJob;
}

function secondsOf(instant: string | null | undefined): number | undefined {
  return instant === null || instant === undefined ? undefined : Date.parse(instant) / 1_000;
}
