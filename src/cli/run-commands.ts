import type { ExitCode } from "../base/errors.ts";
import { exitCodes } from "../base/errors.ts";
import type { RunState } from "../ledger/runs.ts";
import type { FoundDifference } from "../report/reconciliation.ts";
import type { BoundJob } from "../run/job.ts";
import { thinHistory } from "../run/retention.ts";
import { runSync } from "../run/run.ts";
import { runVerify } from "../run/verify-run.ts";
import type { RunRequest } from "../run/request.ts";
import { tellPeople } from "../run/tell.ts";
import { underRunLock, withWorkplace } from "./command.ts";
import type { Invocation } from "./command.ts";
import { deciderOf } from "./decider.ts";
import { parseKey, usage } from "./keys.ts";
import { exitCodeOf, reportFailure } from "./output.ts";
import { printVerify, showRun, verifyJson } from "./run-summary.ts";
import type { Workplace } from "./workplace.ts";

/** Executes one job under the run lock and tells people what changed. What the schedule runs and what `run JOB` runs is this. */
export async function executeJob(
  workplace: Workplace,
  job: BoundJob,
  trigger: "schedule" | "hand",
  signal: AbortSignal,
  options: { slot?: string; print: boolean; acceptShrink?: readonly string[]; by?: string },
): Promise<ExitCode> {
  const dependencies = await workplace.runDependencies();
  const { output, json } = workplace;
  const header = {
    ...workplace.runHeader(),
    ...(options.acceptShrink === undefined ? {} : { acceptShrink: [...options.acceptShrink] }),
    ...(options.by === undefined ? {} : { by: options.by }),
  };
  const { ledger } = dependencies;
  const { slot } = options;
  /** Also a job that ended by an error is told of at once. */
  const telling = async <Result>(ended: Promise<Result>): Promise<Result> => {
    try {
      return await ended;
    } finally {
      if (ledger.broken === undefined) await tellPeople(await workplace.notifyDependencies(ledger), undefined);
    }
  };
  const work = async (): Promise<ExitCode> => {
    for (const source of options.acceptShrink ?? [])
      await ledger.audit({
        kind: "shrink-accepted",
        subject: `source:${source}`,
        body: { job: job.id, by: options.by ?? "" },
      });
    let exit: ExitCode;
    let state: RunState = "done";
    if (job.kind === "verify") {
      const summary = await telling(
        runVerify(dependencies, {
          job: job.id,
          trigger,
          streams: job.streams,
          signal,
          header,
          findings: () => findingsIn(workplace),
        }),
      );
      ({ exitCode: exit, state } = summary);
      if (options.print && json) output.json(verifyJson(summary));
      else if (options.print) printVerify(output, summary);
    } else if (job.kind === "report") {
      exit = await telling(executeReport(workplace, job, trigger, options));
    } else {
      const summary = await runSync(
        { ...dependencies, sources: dependencies.sources.filter((source) => job.sources.includes(source.name)) },
        {
          job: job.id,
          trigger,
          streams: job.streams,
          limits: job.limits,
          read: true,
          acceptShrink: options.acceptShrink,
          signal,
          header,
        },
      );
      ({ exitCode: exit, state } = summary);
      await tellPeople(await workplace.notifyDependencies(dependencies.ledger), summary);
      if (options.print) await showRun(workplace, summary);
    }
    await thinHistory({ ...dependencies, settings: workplace.config.retention }, () => signal.aborted);
    // A whole synchronisation does what an earlier one was for; each report is about a month of its own.
    if (slot !== undefined && state === "done") await ledger.finishFireTime(job.id, slot, job.kind !== "report");
    return exit;
  };
  // Another program may have run an interrupted fire time while this one waited for the lock.
  return await underRunLock(workplace, work, async () =>
    slot === undefined || (await ledger.unfinishedFireTimes(job.id)).includes(slot) ? undefined : exitCodes.ok,
  );
}

/** What the last readings of all customers show otherwise than it was placed. */
export async function* findingsIn(workplace: Workplace): AsyncGenerator<FoundDifference, void, void> {
  yield* (await workplace.queries()).findings();
}

async function executeReport(
  workplace: Workplace,
  job: BoundJob,
  trigger: "schedule" | "hand",
  options: { slot?: string; print: boolean },
): Promise<ExitCode> {
  const { writeReports } = await import("./report-files.ts");
  const ledger = await workplace.ledger();
  const run = await ledger.startRun({
    job: job.id,
    kind: "report",
    trigger,
    scope: null,
    header: workplace.runHeader(),
  });
  const end = async (state: "done" | "failed", exitCode: ExitCode, files: string[]): Promise<void> => {
    await ledger.finishRun(run, { state, exitCode, balance: null, summary: { files } });
  };
  try {
    const files = await writeReports(workplace, job, options.slot);
    await end("done", exitCodes.ok, files);
    if (options.print && workplace.json) workplace.output.json({ run, files });
    else if (options.print) for (const file of files) workplace.output.line(`${file} written`);
    return exitCodes.ok;
  } catch (error) {
    await end("failed", exitCodeOf(error), []);
    throw error;
  }
}

export async function runCommand(
  invocation: Invocation,
  id: string,
  acceptShrink: readonly string[],
  by?: string,
): Promise<ExitCode> {
  return await withWorkplace(invocation, async (workplace) => {
    const who = deciderOf(by);
    const job = workplace.job(id);
    const unknown = acceptShrink.find((name) => !job.sources.includes(name));
    if (unknown !== undefined)
      throw usage(`the job ${id} reads no source ${unknown}`, `use one of: ${job.sources.join(", ")}`);
    return await executeJob(workplace, job, "hand", invocation.signal, {
      print: true,
      ...(acceptShrink.length === 0 ? {} : { acceptShrink, by: who }),
    });
  });
}

export interface Scope {
  customer?: string | undefined;
  order?: string | undefined;
  source?: string | undefined;
  since?: string | undefined;
}

/** Reads a scope from the command line: one of customer, order, source; `--since` goes with a source. */
export function scopeOf(workplace: Workplace, scope: Scope): NonNullable<RunRequest["scope"]> | undefined {
  const given = [scope.customer, scope.order, scope.source].filter((item) => item !== undefined);
  if (given.length > 1) throw usage("more than one of --customer, --order and --source was given", "give one of them");
  if (scope.since !== undefined && scope.source === undefined)
    throw usage("--since goes with --source", "add --source NAME");
  const { namespace } = workplace.config;
  if (scope.customer !== undefined) return { customer: parseKey(scope.customer, namespace) };
  if (scope.order !== undefined) return { order: parseKey(scope.order, namespace) };
  if (scope.source === undefined) return undefined;
  if (workplace.config.sources[scope.source] === undefined) {
    throw usage(
      `there is no source ${scope.source}`,
      `use one of: ${Object.keys(workplace.config.sources).join(", ")}`,
    );
  }
  if (scope.since === undefined) return { source: scope.source };
  if (Number.isNaN(Date.parse(scope.since)))
    throw usage(`${scope.since} is no time`, "write it as 2026-10-01T00:00:00Z");
  return { source: scope.source, since: new Date(Date.parse(scope.since)).toISOString() };
}

export async function resyncCommand(invocation: Invocation, given: Scope): Promise<ExitCode> {
  return await withWorkplace(invocation, async (workplace) => {
    const scope = scopeOf(workplace, given);
    if (scope === undefined) throw usage("resync needs to know what", "add --customer ID, --order ID or --source NAME");
    const dependencies = await workplace.runDependencies();
    return await underRunLock(workplace, async () => {
      const summary = await runSync(dependencies, {
        job: "resync",
        trigger: "hand",
        streams: ["customers", "orders", "staff"],
        limits: workplace.config.limits,
        scope,
        read: true,
        signal: invocation.signal,
        header: workplace.runHeader(),
      });
      await tellPeople(await workplace.notifyDependencies(dependencies.ledger), summary);
      if (summary.unknownRecord !== undefined) reportFailure(workplace.output, summary.unknownRecord, workplace.json);
      else await showRun(workplace, summary);
      return summary.exitCode;
    });
  });
}
