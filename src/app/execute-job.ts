import type { JsonObject } from "../base/canonical-json.ts";
import { exitCodeOf, exitCodes, type ExitCode } from "../base/errors.ts";
import type { TrustedTime } from "../base/trusted-time.ts";
import { keepHead } from "../books/head-places.ts";
import { writeReports } from "../books/statements.ts";
import type { DifferencesOfCustomer } from "../engine/run/canary.ts";
import type { RunDependencies, RunRequest } from "../engine/run/request.ts";
import { usualSpread } from "../engine/run/run-settings.ts";
import { endFailed, endInterruptedRuns, runSync, type RunSummary } from "../engine/run/run.ts";
import { TrustedClock } from "../engine/run/trusted-clock.ts";
import { findingCount, runVerify, type VerifySummary } from "../engine/run/verify-run.ts";
import { guards, type Acceptance } from "../ingest/belief/guards.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RunState } from "../ledger/runs/run-tables.ts";
import { tellPeople } from "../operate/alerts.ts";
import { underRunLock, type Application } from "../operate/application.ts";
import type { BoundJob } from "../operate/job.ts";
import { callSwitches } from "../operate/notify/dead-mans-switch.ts";
import { makeBackup, type MadeBackup } from "../recovery/backup.ts";

export type EndedJob =
  | { kind: "sync"; summary: RunSummary }
  | { kind: "verify"; summary: VerifySummary; found: number }
  | { kind: "report"; run: string; files: string[] }
  | { kind: "backup"; run: string; backup: MadeBackup };

interface JobRequest {
  trigger: "schedule" | "hand";
  signal: AbortSignal;
  fireTime?: string;
  accepts?: readonly Acceptance[];
  by?: string;
  calls?: number;
  canary?: readonly number[];
  /** Called at the end, while the run lock is still held. */
  show?: (ended: EndedJob) => Promise<void>;
}

interface Outcome {
  ended: EndedJob;
  exitCode: ExitCode;
  exitWithoutHolds?: ExitCode | undefined;
  state: RunState;
}

interface Execution {
  application: Application;
  dependencies: RunDependencies;
  job: BoundJob;
  request: JobRequest;
  header: RunRequest["header"];
  time: TrustedClock;
}

const executions = { sync: executeSync, verify: executeVerify, report: executeReport, backup: executeBackup } as const;

export async function executeJob(application: Application, job: BoundJob, request: JobRequest): Promise<ExitCode> {
  const { fireTime, accepts = [], by, signal } = request;
  const dependencies = await application.runDependencies();
  const { ledger } = dependencies;
  const header = {
    ...application.runHeader(),
    ...(accepts.length === 0 ? {} : { accepts: accepts.map((one) => ({ ...one })) }),
    ...(by === undefined ? {} : { by }),
  };
  const work = async (): Promise<ExitCode> => {
    for (const { guard, source, stream, most } of accepts) {
      const body = { job: job.id, stream, most, by: by ?? "" };
      await ledger.audit.append({ kind: guards[guard].audit, subject: `source:${source}`, body });
    }
    const time = new TrustedClock(dependencies);
    const execution = { application, dependencies, job, request, header, time };
    const { ended, ...outcome } = await executions[job.kind](execution);
    const { exitCode, state } = outcome;
    await request.show?.(ended);
    if (!signal.aborted) await thinHistory(application, ledger, await time.now({ isFresh: false }), signal);
    // Each report has its own month; other jobs also finish their earlier fire times.
    if (fireTime !== undefined && state === "done")
      await ledger.schedule.finish(job.id, fireTime, job.kind !== "report");
    await callDeadMansSwitches(application, ledger, { job: job.id, ...outcome });
    return exitCode;
  };
  // Another program may have run this fire time while we waited for the lock.
  const done = async (): Promise<ExitCode | undefined> =>
    fireTime === undefined || (await ledger.schedule.unfinished(job.id)).includes(fireTime) ? undefined : exitCodes.ok;
  const refused = async (error: unknown): Promise<void> => {
    // Whoever starts a run by hand sees the refusal. Heads are not kept: the ledger may be an older copy.
    if (request.trigger === "hand" || ledger.broken !== undefined) return;
    await endFailed(ledger, await startRun({ dependencies, job, request, header }), error);
    await tellPeople(await application.notifyDependencies(ledger), undefined);
  };
  return await underRunLock(application, work, done, refused);
}

async function startRun({
  dependencies,
  job,
  request: { trigger },
  header,
}: Pick<Execution, "dependencies" | "job" | "request" | "header">): Promise<string> {
  await endInterruptedRuns(dependencies);
  return await dependencies.ledger.runs.start({ job: job.id, kind: job.kind, trigger, scope: null, header });
}

/** Thins old history in batches, so that other programs can write meanwhile. Needs a trusted clock. */
async function thinHistory(
  { config, logger }: Application,
  ledger: Ledger,
  time: TrustedTime | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (time === undefined) return;
  const thinned = await ledger.runs.thinHistory(time, config.retention, () => signal.aborted);
  if (Object.keys(thinned).length > 0) logger.info({ thinned }, "history thinned");
}

async function executeSync({ application, dependencies, job, request, header, time }: Execution): Promise<Outcome> {
  const shares = request.canary ?? job.canary;
  const summary = await runSync(
    { ...dependencies, sources: dependencies.sources.filter((source) => job.sources.includes(source.name)) },
    {
      job: job.id,
      trigger: request.trigger,
      streams: job.streams,
      limits: application.config.limits,
      read: true,
      accepts: request.accepts,
      canary: shares === undefined ? undefined : { shares, differences: (since) => differencesIn(application, since) },
      signal: request.signal,
      time,
      header: shares === undefined ? header : { ...header, canary: [...shares] },
    },
  );
  await keepHead(application, dependencies.ledger);
  await tellPeople(await application.notifyDependencies(dependencies.ledger), summary);
  const { exitCode, exitWithoutHolds, state } = summary;
  return { ended: { kind: "sync", summary }, exitCode, exitWithoutHolds, state };
}

async function executeVerify(execution: Execution): Promise<Outcome> {
  const { application, dependencies, job, request, header, time } = execution;
  const summary = await telling(
    execution,
    runVerify(dependencies, {
      job: job.id,
      trigger: request.trigger,
      streams: job.streams,
      signal: request.signal,
      time,
      header,
      budget: request.calls === undefined ? job.budget : { spread: usualSpread, ...job.budget, calls: request.calls },
      differences: (since) => differencesIn(application, since),
    }),
  );
  const found = findingCount(summary.findings);
  const { exitCode, exitWithoutHolds, state } = summary;
  return { ended: { kind: "verify", summary, found }, exitCode, exitWithoutHolds, state };
}

export async function* differencesIn(
  application: Application,
  since: string,
): AsyncGenerator<DifferencesOfCustomer, void, void> {
  yield* (await application.inquiry()).differences(since);
}

async function executeReport(execution: Execution): Promise<Outcome> {
  const { application, job, request } = execution;
  const { run, made, exitCode } = await telling(
    execution,
    asRun(execution, async () => {
      const files = await writeReports(application, job, request.fireTime);
      return { made: files, summary: { files } };
    }),
  );
  return { ended: { kind: "report", run, files: made }, exitCode, state: "done" };
}

async function executeBackup(execution: Execution): Promise<Outcome> {
  const { application, job } = execution;
  const to = job.backup;
  if (to === undefined) throw new TypeError(`the job ${job.id} does not say where backups go`);
  const { run, made, exitCode } = await telling(
    execution,
    asRun(execution, async () => {
      await execution.time.now({ isFresh: false });
      const backup = await makeBackup(application, to);
      return { made: backup, summary: { backup: backup.path, sha256: backup.manifest.sha256 } };
    }),
  );
  return { ended: { kind: "backup", run, backup: made }, exitCode, state: "done" };
}

async function asRun<Made>(
  execution: Execution,
  work: () => Promise<{ made: Made; summary: JsonObject }>,
): Promise<{ run: string; made: Made; exitCode: ExitCode }> {
  const { time } = execution;
  const { ledger } = execution.dependencies;
  const run = await startRun(execution);
  const end = async (state: "done" | "failed", exitCode: ExitCode, summary: JsonObject): Promise<void> => {
    await ledger.runs.finish(run, { state, exitCode, balance: null, summary });
  };
  try {
    const { made, summary } = await work();
    await time.now({ isFresh: false });
    const { doubt } = time;
    const exitCode = doubt === undefined ? exitCodes.ok : exitCodes.recordsRejected;
    await end("done", exitCode, doubt === undefined ? summary : { ...summary, clock: { ...doubt } });
    return { run, made, exitCode };
  } catch (error) {
    await end("failed", exitCodeOf(error), {});
    throw error;
  }
}

async function telling<Result>({ application, dependencies }: Execution, ended: Promise<Result>): Promise<Result> {
  const { ledger } = dependencies;
  try {
    return await ended;
  } finally {
    if (ledger.broken === undefined) {
      await keepHead(application, ledger);
      await tellPeople(await application.notifyDependencies(ledger), undefined);
    }
  }
}

/** Only after a good run and as the last step: a call means success. */
async function callDeadMansSwitches(
  application: Application,
  ledger: Ledger,
  run: Parameters<typeof callSwitches>[1],
): Promise<void> {
  const switches = application.config.alerts.deadMansSwitches;
  if (switches.length === 0) return;
  const telling = await application.notifyDependencies(ledger);
  if (await callSwitches(switches, run, telling)) await tellPeople(telling, undefined);
}
