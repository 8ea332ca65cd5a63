import type { Clock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { programVersion } from "../base/program-version.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Application } from "../operate/application.ts";
import { readCertificate } from "../operate/certificate.ts";
import { createDashboard } from "../operate/dashboard.ts";
import { readHealth, type StartWeb } from "../operate/health.ts";
import { measuredOf } from "../operate/measured.ts";
import { minuteTicker, Schedule, type ScheduledRun } from "../operate/schedule.ts";
import { executeJob } from "./execute-job.ts";

/** Stops a run in progress cleanly. One function: it ends everything that it starts, in reverse order. */
export async function serve(application: Application, request: ServeRequest): Promise<void> {
  const { signal } = request;
  const ledger = await application.ledger();
  const { clock, logger } = application;
  const jobs = application.jobs();
  const schedule = new Schedule({
    jobs,
    store: ledger.schedule,
    clock,
    logger,
    ticker: minuteTicker(clock),
    execute: async (run) => await executeAtFireTime(application, ledger, run),
  });
  const ended = new AbortController();
  const dashboard = createDashboard({
    application,
    fireTimes: async () => await schedule.state(),
    signal: ended.signal,
  });
  const { tls } = application.config.serve;
  const health = await request.startWeb({
    settings: application.config.serve,
    certificate: tls === undefined ? undefined : () => readCertificate(tls, application.directory, clock),
    goesOn: true,
    clock,
    logger,
    read: () => readHealth(application.platform(), ledger, schedule),
    dashboard,
    measured: await measuredOf({ application, schedule, version: programVersion() }),
  });
  const { url } = health;
  try {
    const scheduled = jobs.filter((job) => job.schedule !== undefined).length;
    request.started({ jobs: scheduled, url });
    schedule.start();
    const broken = await untilStopped(signal, ledger, clock, schedule);
    logger.info({}, "stopping");
    await schedule.stop();
    ended.abort();
    await health.close();
    if (broken !== undefined) throw broken;
  } finally {
    dashboard.close();
  }
}

interface ServeRequest {
  signal: AbortSignal;
  startWeb: StartWeb;
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

/** A broken ledger needs a restart. Meanwhile retries a fire time that waits for another program's run. */
async function untilStopped(
  signal: AbortSignal,
  ledger: Ledger,
  clock: Clock,
  schedule: Schedule,
): Promise<Problem | undefined> {
  while (!signal.aborted) {
    if (ledger.broken !== undefined) return ledger.broken;
    if (schedule.waits) void schedule.tick();
    await clock.sleep(500, signal).catch(() => {});
  }
  return undefined;
}
