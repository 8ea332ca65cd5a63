import { toInstant } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { Schedule } from "../run/schedule.ts";
import type { ScheduledRun } from "../run/schedule.ts";
import { cronTicker } from "../run/schedule-ticker.ts";
import type { Application } from "./application.ts";
import { executeJob } from "./execute-job.ts";
import { readHealth } from "./health.ts";
import type { StartHealth } from "./health.ts";
import { supervisorOf } from "./supervisor.ts";

/**
 * Runs the jobs on their schedule and answers /healthz until `signal` is aborted; a run that is on is stopped cleanly.
 * A service manager that started the program is told how it stands.
 */
export async function serve(application: Application, { signal, startHealth, started }: ServeRequest): Promise<void> {
  const ledger = await application.ledger();
  const jobs = application.jobs();
  const { clock, logger } = application;
  const supervisor = supervisorOf(application.environment, process, { clock, logger });
  let waiting = "";
  const schedule = new Schedule({
    jobs,
    store: ledger.schedule,
    clock,
    logger,
    ticker: cronTicker(clock),
    execute: async (run) => {
      supervisor.status(`run of ${run.job.id}, on since ${toInstant(clock.now())}`);
      try {
        return await executeAtFireTime(application, ledger, run);
      } finally {
        if (!signal.aborted) supervisor.status(waiting);
      }
    },
  });
  const health = await startHealth({
    settings: application.config.serve,
    clock,
    logger,
    read: () => readHealth(application.platform(), ledger, schedule),
  });
  const scheduled = jobs.filter((job) => job.schedule !== undefined).length;
  waiting = `waits for the fire times of ${scheduled} job(s); health at ${health.url}/healthz`;
  started({ jobs: scheduled, url: health.url });
  supervisor.ready(waiting);
  schedule.start();
  const broken = await untilStopped(signal, ledger, application, schedule);
  logger.info({}, "stopping");
  supervisor.stopping();
  await schedule.stop();
  await health.close();
  await supervisor.end();
  if (broken !== undefined) throw broken;
}

export interface ServeRequest {
  signal: AbortSignal;
  startHealth: StartHealth;
  /** Told once everything answers: how many jobs have a schedule, and where health is. */
  started: (serving: { jobs: number; url: string }) => void;
}

async function executeAtFireTime(
  application: Application,
  ledger: Ledger,
  { job, fireTime, signal }: ScheduledRun,
): Promise<"done" | "unfinished" | "busy"> {
  try {
    await executeJob(application, job, { trigger: "schedule", signal, fireTime });
    return (await ledger.schedule.unfinished(job.id)).includes(fireTime) ? "unfinished" : "done";
  } catch (error) {
    if (error instanceof Problem && error.code === "run.active") return "busy";
    throw error;
  }
}

/**
 * Waits for the signal, or for a ledger that can no longer be written: then only a new start knows what is on disk. A
 * fire time that waits for another program's run is tried again all the while, so that it fires soon after that run
 * ended or was killed.
 */
async function untilStopped(
  signal: AbortSignal,
  ledger: Ledger,
  application: Application,
  schedule: Schedule,
): Promise<Problem | undefined> {
  while (!signal.aborted) {
    if (ledger.broken !== undefined) return ledger.broken;
    if (schedule.waits) void schedule.tick();
    await application.clock.sleep(500, signal).catch(() => {});
  }
  return undefined;
}
