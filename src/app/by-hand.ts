import { toInstant } from "../base/clock.ts";
import type { ExitCode } from "../base/errors.ts";
import { streams } from "../crm/model.ts";
import type { CustomerPlan } from "../plan/plan.ts";
import { planRun } from "../run/plan-run.ts";
import type { Planned, PlanSummary } from "../run/plan-run.ts";
import type { RunRequest } from "../run/request.ts";
import { runSync } from "../run/run.ts";
import type { RunSummary } from "../run/summary.ts";
import { tellPeople } from "../run/alerts.ts";
import type { Application } from "./application.ts";
import { readPlanFile, writePlanFile } from "./plan-file.ts";
import { underRunLock } from "./run-lock.ts";

/** What part of the work a person means; undefined: all of it. */
export type Scope = RunRequest["scope"];

/**
 * What each of these is told: how it is stopped, and where what it came to is shown while the run lock is still held.
 */
interface ByHand<Summary> {
  signal: AbortSignal;
  show: (summary: Summary) => Promise<void>;
}

/**
 * Plans what would change now, shows each customer's plan, and saves it to a file where one is named. Sends nothing
 * but reads.
 */
export async function planByHand(
  application: Application,
  scope: Scope,
  out: string | undefined,
  { signal, show, showPlan }: ByHand<PlanSummary> & { showPlan: (planned: Planned) => void },
): Promise<ExitCode> {
  const dependencies = await application.runDependencies();
  const kept: CustomerPlan[] = [];
  return await underRunLock(application, async () => {
    const request = { ...requestOf(application, "plan", signal), scope, read: true };
    const keep = (planned: Planned): void => {
      if (out !== undefined && "plan" in planned && planned.plan.operations.length > 0) kept.push(planned.plan);
      showPlan(planned);
    };
    const save = async (run: string): Promise<void> => {
      if (out === undefined) return;
      const ledger = await dependencies.ledger.identity.name();
      const at = toInstant(application.clock.now());
      writePlanFile(out, { type: "plan", format: 1, ledger, run, at, config: application.header.hash }, kept);
    };
    const summary = await planRun(dependencies, request, keep, save);
    await show(summary);
    return summary.exitCode;
  });
}

/** Applies a saved plan exactly, or the plan of now where no file is named. */
export async function applyByHand(
  application: Application,
  file: string | undefined,
  { signal, show }: ByHand<RunSummary>,
): Promise<ExitCode> {
  const dependencies = await application.runDependencies();
  const saved = file === undefined ? undefined : readPlanFile(file, await dependencies.ledger.identity.name());
  const request = requestOf(application, "apply", signal);
  return await synchronise(application, show, {
    ...request,
    read: saved === undefined,
    expected: saved?.customers,
    header: { ...request.header, plan: saved?.header.run },
  });
}

/** Synchronises one customer, one order's customer or one source, thoroughly. */
export async function resync(
  application: Application,
  scope: Scope,
  { signal, show }: ByHand<RunSummary>,
): Promise<ExitCode> {
  return await synchronise(application, show, { ...requestOf(application, "resync", signal), scope, read: true });
}

function requestOf(application: Application, job: string, signal: AbortSignal): Omit<RunRequest, "read"> {
  const { limits } = application.config;
  return { job, trigger: "hand", streams, limits, signal, header: application.runHeader() };
}

async function synchronise(
  application: Application,
  show: (summary: RunSummary) => Promise<void>,
  request: RunRequest,
): Promise<ExitCode> {
  const dependencies = await application.runDependencies();
  return await underRunLock(application, async () => {
    const summary = await runSync(dependencies, request);
    await tellPeople(await application.notifyDependencies(dependencies.ledger), summary);
    await show(summary);
    return summary.exitCode;
  });
}
