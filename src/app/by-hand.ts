import { toJson } from "../base/canonical-json.ts";
import { programVersion } from "../base/program-version.ts";
import { toInstant } from "../base/clock.ts";
import type { ExitCode } from "../base/errors.ts";
import { streams } from "../crm/model.ts";
import type { WaitsInPlan } from "../engine/gate.ts";
import { acceptsChanges } from "../ingest/belief/guards.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import { planRun } from "../engine/run/plan-run.ts";
import type { Planned, PlanSummary } from "../engine/run/plan-run.ts";
import type { RunRequest } from "../engine/run/request.ts";
import { runSync } from "../engine/run/run.ts";
import type { RunSummary } from "../engine/run/run.ts";
import { tellPeople } from "../operate/alerts.ts";
import type { Application } from "./application.ts";
import { chosenFrom } from "./chosen-operations.ts";
import type { Choice } from "./chosen-operations.ts";
import { planFormat, readPlanFile, requirePlanPlace, writePlanFile } from "./plan-file.ts";
import type { KeptPlan } from "./plan-file.ts";
import { privateIn } from "./shown-private.ts";
import { underRunLock } from "./run-lock.ts";
import { isTrial, onCopy } from "./trial.ts";
import type { PlanPlace } from "./trial.ts";

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
 * but reads. If the configuration of the sources changed since the last run, a plan that is not saved is a trial: it
 * works on a copy of the ledger, and the copy is not kept.
 */
export async function planByHand(
  application: Application,
  scope: Scope,
  out: string | undefined,
  {
    signal,
    show,
    showPlan,
    privateFor,
  }: Omit<ByHand<PlanSummary>, "show"> & {
    /** `inquiry`: to the ledger that the plan was made in. */
    show: (summary: PlanSummary, made: { inquiry: Inquiry; isTrial: boolean }) => Promise<void>;
    showPlan: (planned: Planned, shown: Record<string, string> | undefined) => void;
    /** Who sees the personal data behind the markers; undefined: nobody does. */
    privateFor: string | undefined;
  },
): Promise<ExitCode> {
  requirePlanPlace(out);
  const own = await application.runDependencies();
  const kept: KeptPlan[] = [];
  const planned = async ({ dependencies, inquiry }: PlanPlace, trial: boolean): Promise<ExitCode> => {
    const accepts = trial ? dependencies.streams.flatMap(({ source, stream }) => acceptsChanges(source, stream)) : [];
    const request = { ...requestOf(application, "plan", signal), scope, read: true, accepts };
    if (privateFor !== undefined)
      await own.ledger.audit.append({
        kind: "private-shown",
        subject: "plan",
        body: { by: privateFor, scope: scope === undefined ? null : toJson(scope) },
      });
    const { valueOf } = dependencies.ledger.private.reader();
    const keep = (planned: Planned): void => {
      const shown = privateFor === undefined || !("plan" in planned) ? undefined : privateIn(planned.plan, valueOf);
      if (out !== undefined && "plan" in planned && planned.plan.operations.length > 0)
        kept.push({ plan: planned.plan, shown });
      showPlan(planned, shown);
    };
    const save = async (run: string, held: WaitsInPlan["asked"]): Promise<void> => {
      if (out === undefined) return;
      const ledger = await dependencies.ledger.identity.name();
      const at = toInstant(application.clock.now());
      const shown = privateFor === undefined ? ("withheld" as const) : ("shown" as const);
      const made = { version: programVersion(), ledger, run, at, config: application.header.hash, private: shown };
      await writePlanFile(dependencies.ledger, out, { type: "plan", format: planFormat, ...made }, kept, held);
    };
    const summary = await planRun(dependencies, request, keep, save);
    await show(summary, { inquiry, isTrial: trial });
    return summary.exitCode;
  };
  return await underRunLock(application, async () => {
    if (out === undefined && (await isTrial(application, own)))
      return await onCopy(application, (place) => planned(place, true));
    return await planned({ dependencies: own, inquiry: await application.inquiry() }, false);
  });
}

/** What a person applies of a saved plan. `told`: what of it was applied before, and the run that it takes back. */
interface SavedFile {
  file: string;
  choice: Choice;
  told: (before: readonly string[], undo: string | undefined) => void;
}

/** Applies a saved plan exactly, or what was chosen of it; or the plan of now where no file is named. */
export async function applyByHand(
  application: Application,
  from: SavedFile | undefined,
  { signal, show }: ByHand<RunSummary>,
): Promise<ExitCode> {
  const { ledger } = await application.runDependencies();
  const request = requestOf(application, "apply", signal);
  if (from === undefined) return await synchronise(application, show, { ...request, read: true });
  const saved = await readPlanFile(from.file, ledger);
  const { run } = saved.header;
  const { expected, before } = chosenFrom(from.file, saved, from.choice, await ledger.runs.appliedOf(run));
  const { undo } = saved.header;
  from.told(before, undo);
  const header = { ...request.header, plan: run, ...(undo === undefined ? {} : { undo }) };
  return await synchronise(application, show, { ...request, read: false, expected, header });
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
