import { toInstant } from "../../base/clock.ts";
import { inOrder } from "../../base/lanes.ts";
import { exitCodes, type ExitCode } from "../../base/errors.ts";
import { CustomerState } from "../customer.ts";
import { UndoPlanning } from "../planning.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { JournalRow } from "../../ledger/journal/journal-tables.ts";
import { typeOf } from "../model/registry.ts";
import type { CustomerPlan } from "../plan/plan.ts";
import type { UndoStep } from "../plan/undo.ts";
import { SnapshotReader } from "../../platform/snapshot.ts";
import type { RunFacts } from "../../report/facts.ts";
import { byHand } from "../../report/last-runs.ts";
import { customersNotShown, operationOpen, restless } from "../attempt.ts";
import type { WaitsInPlan } from "./limits-gate.ts";
import { openFirst, unplannedBy, waitsIn, type Unplanned } from "./plan-run.ts";
import type { RunDependencies, RunRequest } from "./request.ts";

export interface UndoSummary {
  run: string;
  undone: string;
  again: string;
  steps: UndoStep[];
  plans: readonly ({ plan: CustomerPlan } & WaitsInPlan)[];
  unplanned: readonly Unplanned[];
  exitCode: ExitCode;
}

type Planned = ({ plan: CustomerPlan; steps: readonly UndoStep[] } & WaitsInPlan) | Unplanned;

/** Makes no writing call. `save` keeps the plan before this run ends. */
export async function planUndoRun(
  deps: RunDependencies,
  request: Pick<RunRequest, "header" | "signal"> & { undone: Pick<RunFacts, "id" | "job" | "kind" | "header"> },
  save: (summary: UndoSummary) => Promise<void>,
): Promise<UndoSummary> {
  const { ledger } = deps;
  const { undone, signal } = request;
  const header = { ...request.header, undo: undone.id };
  const run = await ledger.runs.start({ job: "undo", kind: "plan", trigger: "hand", scope: null, header });
  const finish = async (
    state: "done" | "stopped" | "failed",
    exitCode: ExitCode,
    operations: number,
  ): Promise<void> => {
    const summary = { operations, at: toInstant(deps.clock.now()) };
    await ledger.runs.finish(run, { state, exitCode, balance: null, summary });
  };
  try {
    const rows = await ledger.journal.doneOf(undone.id);
    const customers = new Map(rows.map(({ operation }) => [formatKey(operation.customer), operation.customer]));
    const reader = new SnapshotReader(deps.platform, deps.settings);
    const planned: (Planned & { customer: RecordKey })[] = [];
    const plan = async (customer: RecordKey) => ({
      customer,
      ...(await planOne({ ...deps, reader }, customer, undone.id, signal)),
    });
    const own = [...customers.values()].filter(({ id }) => id !== "");
    for await (const one of inOrder(own, deps.concurrency, plan)) planned.push(one);
    const steps = new Map(
      planned.flatMap((item) => ("steps" in item ? item.steps.map((step) => [step.operation, step]) : [])),
    );
    const plans = planned.flatMap((item) => ("plan" in item && item.plan.operations.length > 0 ? [item] : []));
    const unplanned = planned.flatMap((item) => ("reason" in item ? [item] : []));
    const reasons = new Map(unplanned.map(({ customer, reason }) => [formatKey(customer), reason]));
    const all = rows.map(
      (row) => steps.get(row.id) ?? unplannedStep(row, reasons.get(formatKey(row.operation.customer))),
    );
    const isStopped = signal?.aborted === true;
    const summary: UndoSummary = {
      run,
      undone: undone.id,
      again: againText(undone),
      steps: all,
      plans,
      unplanned,
      exitCode: isStopped ? exitCodes.other : exitCodeOf(all, plans.length, unplanned),
    };
    await save(summary);
    await finish(
      isStopped ? "stopped" : "done",
      summary.exitCode,
      plans.reduce((sum, { plan }) => sum + plan.operations.length, 0),
    );
    return summary;
  } catch (error) {
    if (ledger.broken !== undefined) throw ledger.broken;
    await finish("failed", exitCodes.other, 0);
    throw error;
  }
}

function againText({ job, kind, header }: Pick<RunFacts, "job" | "kind" | "header">): string {
  if (header["undo"] !== undefined) return "the next run follows the CRM, as always";
  if (kind === "requests") return "no run does it again by itself";
  const named = byHand({ job, kind }) ? "run" : `run of ${job}`;
  return `the next ${named} does it again unless the CRM changes`;
}

/** Unplanned customers come first, then operations to send, then steps without an operation. */
function exitCodeOf(steps: readonly UndoStep[], plans: number, unplanned: readonly Unplanned[]): ExitCode {
  if (unplanned.some(({ code }) => code === operationOpen)) return exitCodes.unknown;
  if (unplanned.some(({ of }) => of === "service")) return exitCodes.sourceDown;
  if (unplanned.some(({ of }) => of === "program")) return exitCodes.other;
  if (unplanned.length > 0) return exitCodes.recordsRejected;
  if (plans > 0) return exitCodes.changesPending;
  return steps.every(({ note }) => note !== undefined) ? exitCodes.ok : exitCodes.recordsRejected;
}

function unplannedStep({ id, operation }: JournalRow, waits: string | undefined): UndoStep {
  const { reversal } = typeOf(operation);
  const { endpoint, subject } = operation;
  const step = { operation: id, endpoint, subject, how: reversal.how, operations: [], note: undefined };
  if (reversal.how === "impossible") return { ...step, difference: reversal.why, waits: undefined };
  return { ...step, difference: reversal.how === "approximate" ? reversal.difference : undefined, waits };
}

async function planOne(
  deps: RunDependencies & { reader: SnapshotReader },
  customer: RecordKey,
  run: string,
  signal: AbortSignal | undefined,
): Promise<Planned> {
  try {
    const open = await openFirst(deps, customer);
    if (open !== undefined) return open;
    const knows = new CustomerState(deps, customer, { keeps: false });
    const planning = new UndoPlanning(deps, knows, { run, signal, removalsBlocked: undefined });
    const made = await planning.plan();
    if (made.kind === "planned")
      return {
        plan: made.plan,
        ...(await waitsIn(deps, knows, made.plan, { ofUndo: true })),
        steps: made.steps ?? [],
      };
    return { customer, ...(made.kind === "awaits" ? { code: customersNotShown, reason: made.reason } : restless) };
  } catch (error) {
    return unplannedBy(deps, customer, error);
  }
}
