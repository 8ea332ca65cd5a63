import { exitCodes, messageOf } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RunState } from "../ledger/runs.ts";
import { balanceJson, balanceOf } from "./balance.ts";
import { endCutOffRuns } from "./cut-off.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import { exitCodeOf, summaryJson } from "./summary.ts";
import type { RunSummary } from "./summary.ts";
import { SyncRun } from "./sync-run.ts";

/** One execution of a sync job: the whole road, from reading the sources to the balance. The caller holds the run lock. */
export async function runSync(deps: RunDependencies, request: RunRequest): Promise<RunSummary> {
  const { ledger, logger } = deps;
  const cutOff = await endCutOffRuns(deps);
  const run = await ledger.startRun({
    job: request.job,
    kind: "sync",
    trigger: request.trigger,
    scope: request.scope === undefined ? null : JSON.stringify(request.scope),
    header: request.header,
  });
  const carriedIn = (await ledger.openOperations())
    .filter((row) => row.operation.customer.id !== "")
    .map((row) => row.id);
  if (carriedIn.length > 0) logger.info({ run, operations: carriedIn.length }, "operations in doubt are taken up");
  let planned = 0;
  // A ledger that fails, or whose lock another run has taken, stops the calls that wait for their permit, those that read included.
  const stop = request.signal === undefined ? ledger.failed : AbortSignal.any([request.signal, ledger.failed]);
  const work = new SyncRun(deps, { ...request, signal: stop }, run, () => {
    planned += 1;
  });
  let state: RunState = "done";
  let failure: unknown;
  try {
    await work.takeUpCutOff();
    await work.readSources();
    await work.applyAll();
    await work.judge();
    await work.waitForSettling();
    if (request.signal?.aborted === true) state = "stopped";
  } catch (error) {
    if (ledger.broken !== undefined) throw error;
    if (request.signal?.aborted === true) state = "stopped";
    else {
      state = "failed";
      failure = error;
      logger.error({ run, reason: messageOf(error) }, "run failed");
    }
  }
  await work.deferUntouched(state);
  const balance = balanceOf(work.tallies, await ledger.countsOf(run), {
    planned,
    carriedIn: carriedIn.length,
    states: await ledger.operationStates(run, carriedIn),
  });
  const open = await ledger.openOperations();
  const holds = (await ledger.openHolds()).filter((hold) => hold.state === "open");
  const summary: RunSummary = {
    run,
    job: request.job,
    state,
    exitCode: exitCodes.ok,
    balance,
    sources: work.tallies,
    customers: work.customers,
    held: holds.map((hold) => ({ hold: hold.id, customer: formatKey(hold.customer), explanation: hold.explanation })),
    openOperations: open.length,
    cutOff,
  };
  summary.exitCode = exitCodeOf(summary, failure);
  await ledger.finishRun(run, {
    state,
    exitCode: summary.exitCode,
    balance: balanceJson(balance),
    summary: summaryJson(summary),
  });
  logger.info({ run, job: request.job, state, exit: summary.exitCode, adds: balance.adds }, "run ended");
  return summary;
}
