import { dirname, join } from "node:path";
import { toInstant } from "../base/clock.ts";
import { exitCodes, Problem, usage, type ExitCode } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import { streams, type RecordKey } from "../crm/model.ts";
import { heldOfPlans, type WaitsInPlan } from "../engine/run/limits-gate.ts";
import type { Called } from "../engine/model/operation-line.ts";
import type { CustomerPlan } from "../engine/plan/plan.ts";
import { planRun, type Planned, type PlanSummary } from "../engine/run/plan-run.ts";
import type { RunDependencies, RunRequest } from "../engine/run/request.ts";
import { runSync, type RunSummary } from "../engine/run/run.ts";
import { TrustedClock } from "../engine/run/trusted-clock.ts";
import { planUndoRun, type UndoSummary } from "../engine/run/undo-run.ts";
import { acceptsChanges } from "../ingest/belief/guards.ts";
import { openInquiry, type Inquiry } from "../inquiry/inquiry.ts";
import { copyWhileWritten } from "../ledger/database/backup.ts";
import { holdFolder } from "../ledger/database/lock.ts";
import { tellPeople } from "../operate/alerts.ts";
import { underRunLock, type Application } from "../operate/application.ts";
import { chosenFrom, readPlanFile, requirePlanPlace, writePlanFile, type Choice } from "./plan-file.ts";

export type Scope = RunRequest["scope"];

/** `show` is called while the run lock is still held. */
interface ByHand<Summary> {
  signal: AbortSignal;
  show: (summary: Summary) => Promise<void>;
}

/** Only reads. If the sources' configuration changed, an unsaved plan is a trial on a temporary copy of the ledger. */
export async function planByHand(
  application: Application,
  scope: Scope,
  out: string | undefined,
  {
    signal,
    show,
    showPlan,
  }: Omit<ByHand<PlanSummary>, "show"> & {
    /** `inquiry`: on the ledger that the plan was made in. */
    show: (summary: PlanSummary, made: { inquiry: Inquiry; isTrial: boolean }) => Promise<void>;
    showPlan: (planned: Planned) => void;
  },
): Promise<ExitCode> {
  requirePlanPlace(out);
  const own = await application.runDependencies();
  const kept: CustomerPlan[] = [];
  const planned = async ({ dependencies, inquiry }: PlanPlace, trial: boolean): Promise<ExitCode> => {
    const accepts = trial ? dependencies.streams.flatMap(({ source, stream }) => acceptsChanges(source, stream)) : [];
    const request = { ...requestOf(application, "plan", signal), scope, read: true, accepts };
    const keep = (planned: Planned): void => {
      if (out !== undefined && "plan" in planned && planned.plan.operations.length > 0) kept.push(planned.plan);
      showPlan(planned);
    };
    const save = async (run: string, held: WaitsInPlan["asked"]): Promise<void> => {
      if (out !== undefined)
        await writePlanFile(dependencies.ledger, out, madeNow(application, run), { plans: kept, held });
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

function madeNow({ clock, header }: Application, run: string): { run: string; at: string; config: string } {
  return { run, at: toInstant(clock.now()), config: header.hash };
}

/** `told`: the operations applied before, and the run that the plan undoes. */
interface SavedFile {
  file: string;
  choice: Choice;
  told: (before: readonly string[], undo: string | undefined) => void;
}

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

interface PlanPlace {
  dependencies: RunDependencies;
  inquiry: Inquiry;
}

/** Whether records are read or mapped differently than in the last run. Such a plan must not be kept. */
export async function isTrial(application: Application, { ledger }: RunDependencies): Promise<boolean> {
  const runs = [...(await ledger.runs.lastByJob()).values()].filter(({ kind }) => kind === "sync");
  const [last] = runs.toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
  return last !== undefined && last.header["sources"] !== application.sourcesHash;
}

/** The copy is removed afterwards: nothing that it reads or decides is kept. */
async function onCopy<T>(application: Application, work: (place: PlanPlace) => Promise<T>): Promise<T> {
  const folder = holdFolder(dirname(application.ledgerPath));
  try {
    const path = join(folder.path, "ledger.db");
    await copyWhileWritten(application.ledgerPath, path, () => {});
    const ledger = await application.ledgerAt(path);
    try {
      ledger.runs.takeLock();
      const inquiry = openInquiry(path);
      try {
        return await work({ dependencies: await application.runDependencies(ledger), inquiry });
      } finally {
        inquiry.close();
      }
    } finally {
      ledger.close();
    }
  } finally {
    folder.release();
  }
}

/** Only reads. `named`: a run, or `last` for the newest that changed something. */
export async function undoByHand(
  application: Application,
  named: string,
  {
    out,
    signal,
    show,
  }: { out: string | undefined; signal: AbortSignal; show: (summary: UndoSummary & { heldOfFile: number }) => void },
): Promise<ExitCode> {
  requirePlanPlace(out);
  const ledger = await application.existingLedger();
  const id = named === "last" ? await ledger.journal.newestRunWithDone() : named;
  if (id === undefined) throw usage("no run of this ledger carried anything out", "there is nothing to take back");
  const undone = await ledger.runs.byId(id);
  if (undone === undefined) throw unknownRun(id);
  const dependencies = await application.runDependencies();
  return await underRunLock(application, async () => {
    const header = application.runHeader();
    const time = new TrustedClock(dependencies);
    let heldOfFile = 0;
    const save = async ({ run, plans }: UndoSummary): Promise<void> => {
      if (out === undefined) return;
      const { limits } = application.config;
      const held = await heldOfPlans({ ...dependencies, time, limits: limits.removals }, plans);
      heldOfFile = held.size;
      const made = { ...madeNow(application, run), undo: id };
      await writePlanFile(ledger, out, made, { plans: plans.map(({ plan }) => plan), held });
    };
    const summary = await planUndoRun(dependencies, { header, signal, undone }, save);
    show({ ...summary, heldOfFile });
    return summary.exitCode;
  });
}

function unknownRun(id: string): Problem {
  return new Problem({
    code: "run.unknown",
    message: `there is no run ${id}`,
    cure: "`crm-sync runs` lists the last runs",
    exitCode: exitCodes.usage,
  });
}

/** Names of companies and products for everybody; people appear only by id. The usual namespace is left out. */
export function calledIn(inquiry: Inquiry, namespace: string): Called {
  const record = (key: RecordKey): string => (key.namespace === namespace ? key.id : formatKey(key));
  const companies = remembered(async (key: RecordKey) => await inquiry.companyNames(key), formatKey);
  const parts = remembered(
    async ([order, instanceId]: [RecordKey, string]) => await inquiry.productNames({ order, instanceId }),
    ([order, instanceId]) => `${formatKey(order)} ${instanceId}`,
  );
  return {
    record,
    async company(customer, commitment) {
      const names = await companies(customer);
      return (commitment === undefined ? names[0] : names.find((one) => one.commitment === commitment))?.name;
    },
    async productsOf(asset) {
      const part = await inquiry.partOfAsset(asset);
      return part === undefined ? [] : await parts([part.order, part.instanceId]);
    },
    productsIn: async (order, instanceId) => await parts([order, instanceId]),
  };
}

function remembered<Key, Answer>(
  ask: (key: Key) => Promise<Answer>,
  nameOf: (key: Key) => string,
): (key: Key) => Promise<Answer> {
  const answers = new Map<string, Promise<Answer>>();
  return async (key) => {
    const answer = answers.get(nameOf(key)) ?? ask(key);
    answers.set(nameOf(key), answer);
    return await answer;
  };
}
