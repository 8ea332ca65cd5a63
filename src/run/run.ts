import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { OpenScope } from "../ledger/records/open-records.ts";
import type { RunState } from "../ledger/runs/tables.ts";
import { balanceJson, balanceOf } from "./balance.ts";
import { endInterruptedRuns } from "./interrupted.ts";
import { waitingHolds } from "./judgement.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import { exitCodeOf, summaryJson } from "./summary.ts";
import type { RunSummary } from "./summary.ts";
import { SyncRun } from "./sync-run.ts";

/** The streams and sources of a job: what its exit code speaks of. */
export function scopeOf(deps: Pick<RunDependencies, "sources">, request: Pick<RunRequest, "streams">): OpenScope {
  return { streams: request.streams, sources: deps.sources.map((source) => source.name) };
}

/** Says so where the record that a run was asked for is not known to the CRM at all. */
async function unknownOf(ledger: Ledger, scope: RunRequest["scope"]): Promise<Problem | undefined> {
  const missing = async (stream: "customers" | "orders", key: RecordKey | undefined): Promise<boolean> =>
    key !== undefined && !(await ledger.records.has(stream, key));
  const what = (await missing("customers", scope?.customer))
    ? scope?.customer
    : (await missing("orders", scope?.order))
      ? scope?.order
      : undefined;
  if (what === undefined) return undefined;
  return new Problem({
    code: "record.unknown",
    message: `no source has given a record ${formatKey(what)}`,
    cure:
      "check the id, and the namespace before the slash; `crm-sync quarantine list` shows records that could not " +
      "be used",
    exitCode: exitCodes.usage,
  });
}

/**
 * One execution of a sync job: the whole road, from reading the sources to the balance. The caller holds the run lock.
 */
export async function runSync(deps: RunDependencies, request: RunRequest): Promise<RunSummary> {
  const { ledger, logger } = deps;
  const interrupted = await endInterruptedRuns(deps);
  const open = await ledger.journal.open();
  const run = await ledger.runs.start({
    job: request.job,
    kind: request.asked === undefined ? "sync" : "requests",
    trigger: request.trigger,
    scope: request.scope === undefined ? null : JSON.stringify(request.scope),
    header: request.header,
  });
  const inDoubt = open.filter((row) => row.operation.customer.id !== "").map((row) => row.id);
  if (inDoubt.length > 0) logger.info({ run, operations: inDoubt.length }, "operations in doubt are settled");
  const carriedIn = [...inDoubt, ...(await ledger.journal.held())];
  // A ledger that fails, or whose lock another run has taken, stops the calls that wait for their permit, those that
  // read included.
  const stop = request.signal === undefined ? ledger.failed : AbortSignal.any([request.signal, ledger.failed]);
  ledger.assumptions.refresh();
  const refused = ledger.pause.refused;
  const work = new SyncRun(deps, { ...request, signal: stop }, run);
  const end: End = { state: "done" };
  try {
    await work.markInterrupted();
    await work.reading.read();
    end.unknownRecord = await unknownOf(ledger, request.scope);
    await work.applyAll();
    if (request.signal?.aborted === true) end.state = "stopped";
  } catch (error) {
    if (ledger.broken !== undefined) throw ledger.broken;
    if (request.signal?.aborted === true) end.state = "stopped";
    else {
      end.state = "failed";
      end.failure = error;
      const cure = error instanceof Problem ? { cure: error.cure } : {};
      logger.error({ run, reason: messageOf(error), ...cure }, "run failed");
    }
  }
  await work.deferUntouched(end.state);
  return await finish(deps, request, {
    run,
    work,
    carriedIn,
    interrupted,
    paused: ledger.pause.refused > refused,
    ...end,
  });
}

/** How a run ended. */
interface End {
  state: RunState;
  failure?: unknown;
  /** The record that the run was asked for is not known. */
  unknownRecord?: Problem | undefined;
}

/** A run whose work has ended. */
interface Ended extends End {
  run: string;
  work: SyncRun;
  /** Operations that were open when it began. */
  carriedIn: string[];
  interrupted: RunSummary["cutOff"];
  paused: boolean;
}

/** How much stands otherwise than it was left, by the last readings. */
async function notAsLeft({ state }: Pick<Ledger, "state">): Promise<RunSummary["notAsLeft"]> {
  const { counts } = await state.differences(0);
  let [differing, undone] = [0, 0];
  for (const { class: named, twice, still, count } of counts) {
    if (twice || still) undone += count;
    if (twice || still || named === "missing" || named === "different") differing += count;
  }
  return { differing, undone };
}

/** Balances a run, says what it came to, and writes that down. */
async function finish(deps: RunDependencies, request: RunRequest, ended: Ended): Promise<RunSummary> {
  const { ledger, logger } = deps;
  const { run, work, carriedIn, state, unknownRecord } = ended;
  const balance = balanceOf(work.reading.tallies, await ledger.runs.countsOf(run), {
    planned: work.planned,
    carriedIn: carriedIn.length,
    states: await ledger.journal.statesOf(run, carriedIn),
  });
  const open = await ledger.journal.open();
  // What follows a run ends and removes by time too.
  if (state === "done") await work.time.now({ isFresh: false });
  const summary: RunSummary = {
    run,
    job: request.job,
    state,
    exitCode: exitCodes.ok,
    balance,
    sources: work.reading.tallies,
    customers: work.customers,
    stale: work.stale,
    canary: work.tranches,
    held: await waitingHolds(deps),
    rejected: await ledger.decisions.rejected(),
    paused: ended.paused,
    openOperations: open.length,
    open: await ledger.records.open({ ...scopeOf(deps, request), run }),
    notAsLeft: await notAsLeft(ledger),
    unknownRecord,
    clock: work.time.doubt,
    cutOff: ended.interrupted,
  };
  summary.exitCode = exitCodeOf(summary, ended.failure ?? unknownRecord);
  await ledger.runs.finish(run, {
    state,
    exitCode: summary.exitCode,
    balance: balanceJson(balance),
    summary: summaryJson(summary),
  });
  logger.info({ run, job: request.job, state, exit: summary.exitCode, adds: balance.adds }, "run ended");
  return summary;
}
