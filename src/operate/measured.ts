import { statSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { ServiceName } from "../contract/endpoints.ts";
import { operationNames } from "../engine/model/registry.ts";
import type { ServiceState } from "../http/client.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import type { JobEnds, LedgerMeasures } from "../inquiry/measures.ts";
import type { Application, Observed } from "./application.ts";
import { nextFireTime } from "./fire-times.ts";
import type { BoundJob } from "./job.ts";
import { isKind as isAlertKind } from "./notify/alert.ts";
import type { Schedule } from "./schedule.ts";

/** After a reading, the pause is this many times its duration, so that frequent requests cost little. */
const restTimes = 20;

/** Times in epoch seconds. */
export interface MeasuredJob {
  job: string;
  nextFire: number | undefined;
  /** Seconds from the next fire time to the one after it. */
  fireInterval: number | undefined;
  /** Of the last run that ended. 1 if it was interrupted. */
  lastExitCode: number | undefined;
  lastSuccess: number | undefined;
  /** Last run that did everything it could, even if records wait for a person. */
  lastEnd: number | undefined;
}

/** `at`: time of the reading, epoch seconds. */
export interface MeasuredLedger extends Omit<LedgerMeasures, "ends"> {
  at: number;
  jobs: MeasuredJob[];
}

/** Metrics of a running program. Only words of fixed lists and of the configuration. */
export interface Measured {
  observed: Observed;
  version: string;
  services(): Record<ServiceName, ServiceState>;
  operationKinds: readonly string[];
  ledgerBytes(): { db: number; wal: number };
  /** Rejects if the ledger cannot be read or written. */
  ledger(): Promise<MeasuredLedger>;
  clock: Clock;
  logger: Logger;
}

interface MeasuredOf {
  application: Application;
  schedule: Pick<Schedule, "state">;
  version: string;
}

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
  jobs: () => readonly Pick<BoundJob, "id" | "schedule">[];
  sources: () => readonly string[];
  schedule: Pick<Schedule, "state">;
  clock: Clock;
}

export class LedgerReading {
  readonly #deps: ReadingDependencies;
  #last: { measured: MeasuredLedger; until: number } | undefined;
  #reading: Promise<MeasuredLedger> | undefined;

  constructor(dependencies: ReadingDependencies) {
    this.#deps = dependencies;
  }

  /** Callers during a reading share its answer. */
  async now(): Promise<MeasuredLedger> {
    const { clock } = this.#deps;
    if (this.#last !== undefined && clock.monotonic() < this.#last.until) return this.#last.measured;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return await this.#reading;
  }

  async #read(): Promise<MeasuredLedger> {
    const { clock, jobs, sources, schedule } = this.#deps;
    this.#last = undefined;
    const inquiry = await this.#deps.inquiry();
    const since = clock.monotonic();
    const at = clock.now() / 1_000;
    const configured = new Set(sources());
    const { alerts, reads, ends, ...measures } = await inquiry.measures(jobs().map(({ id }) => id));
    const states = new Map((await schedule.state()).map((state) => [state.job, state]));
    const measured = {
      ...measures,
      at,
      jobs: jobs().map((job) => measuredJob(job, secondsOf(states.get(job.id)?.nextFireTime), ends.get(job.id))),
      alerts: alerts.filter(({ kind }) => isAlertKind(kind)),
      reads: reads.filter(({ source }) => configured.has(source)),
    };
    const took = clock.monotonic() - since;
    this.#last = { measured, until: clock.monotonic() + took * restTimes };
    return measured;
  }
}

function measuredJob(
  { id: job, schedule }: Pick<BoundJob, "id" | "schedule">,
  nextFire: number | undefined,
  ends: JobEnds | undefined,
): MeasuredJob {
  return {
    job,
    nextFire,
    fireInterval: nextFire === undefined || schedule === undefined ? undefined : intervalAfter(nextFire, schedule),
    lastExitCode: ends?.exitCode,
    lastSuccess: secondsOf(ends?.success),
    lastEnd: secondsOf(ends?.work),
  };
}

function intervalAfter(fireTime: number, { cron, zone }: NonNullable<BoundJob["schedule"]>): number | undefined {
  const then = nextFireTime(cron, zone, fireTime * 1_000);
  return then === undefined ? undefined : then / 1_000 - fireTime;
}

function secondsOf(instant: string | null | undefined): number | undefined {
  return instant === null || instant === undefined ? undefined : Date.parse(instant) / 1_000;
}
