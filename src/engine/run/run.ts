import { exitCodes, messageOf, Problem, type ExitCode } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { OpenScope } from "../../ledger/records/open-records.ts";
import type { RunState } from "../../ledger/runs/run-tables.ts";
import { balanceJson, balanceOf, type Balance } from "./balance.ts";
import { waitingHolds, type WaitingHold } from "./limits-gate.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import { SyncRun } from "./sync-run.ts";
import { toJson, type Json } from "../../base/canonical-json.ts";
import type { ClockDoubt } from "../../base/trusted-time.ts";
import { openCount, type OpenRecords } from "../../report/open.ts";
import type { CanaryTranche } from "./canary.ts";
import { countsOf, type StreamTally } from "../../ingest/tally.ts";

export function scopeOf(deps: Pick<RunDependencies, "sources">, request: Pick<RunRequest, "streams">): OpenScope {
  return { streams: request.streams, sources: deps.sources.map((source) => source.name) };
}

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

/** Runs a sync job once, from reading the sources to the balance. The caller holds the run lock. */
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
  // If the ledger fails or another run took its lock, all calls that wait for a permit stop.
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

interface End {
  state: RunState;
  failure?: unknown;
  unknownRecord?: Problem | undefined;
}

interface Ended extends End {
  run: string;
  work: SyncRun;
  carriedIn: string[];
  interrupted: RunSummary["cutOff"];
  paused: boolean;
}

async function notAsLeft({ state }: Pick<Ledger, "state">): Promise<RunSummary["notAsLeft"]> {
  const { counts } = await state.differences(0);
  let [differing, undone] = [0, 0];
  for (const { class: named, twice, still, count } of counts) {
    if (twice || still) undone += count;
    if (twice || still || named === "missing" || named === "different") differing += count;
  }
  return { differing, undone };
}

async function finish(deps: RunDependencies, request: RunRequest, ended: Ended): Promise<RunSummary> {
  const { ledger, logger } = deps;
  const { run, work, carriedIn, state, unknownRecord } = ended;
  const balance = balanceOf(work.reading.tallies, await ledger.runs.countsOf(run), {
    planned: work.planned,
    carriedIn: carriedIn.length,
    states: await ledger.journal.statesOf(run, carriedIn),
  });
  const open = await ledger.journal.open();
  if (state === "done") await work.time.now({ isFresh: false });
  const summary: RunSummary = {
    run,
    job: request.job,
    state,
    exitCode: exitCodes.ok,
    exitWithoutHolds: undefined,
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
  const failure = ended.failure ?? unknownRecord;
  summary.exitCode = exitCodeOf(summary, failure);
  summary.exitWithoutHolds = hiddenExit(summary, exitBesideHolds(summary, failure));
  await ledger.runs.finish(run, {
    state,
    exitCode: summary.exitCode,
    balance: balanceJson(balance),
    summary: summaryJson(summary),
  });
  logger.info({ run, job: request.job, state, exit: summary.exitCode, adds: balance.adds }, "run ended");
  return summary;
}

/** Runs whose process died. The run that found them settles their open operations. */
export async function endInterruptedRuns(deps: RunDependencies): Promise<string[]> {
  const runs = await deps.ledger.runs.interrupted();
  for (const run of runs) {
    const open = (await deps.ledger.journal.open()).filter((row) => row.runId === run.id);
    deps.logger.warn(
      { run: run.id, job: run.job, startedAt: run.startedAt, inDoubt: open.length },
      "a run was interrupted; the next run that calls the services settles its open operations",
    );
    await deps.ledger.runs.finish(run.id, {
      state: "interrupted",
      exitCode: exitCodes.other,
      balance: { operations: await deps.ledger.journal.statesOf(run.id, []) },
      summary: { inDoubt: open.map((row) => row.id) },
    });
  }
  return runs.map((run) => run.id);
}

export interface RunSummary {
  run: string;
  job: string;
  state: RunState;
  exitCode: ExitCode;
  /** A failure of the run, hidden by the exit code of its holds. */
  exitWithoutHolds: ExitCode | undefined;
  balance: Balance;
  sources: StreamTally[];
  customers: SyncRun["customers"];
  stale: { customer: string; moved: readonly string[] }[];
  held: WaitingHold[];
  rejected: number;
  canary: readonly CanaryTranche[];
  paused: boolean;
  openOperations: number;
  /** Every record of the job's streams that is not done, also from earlier runs. */
  open: OpenRecords[];
  /** Drift in the last readings of any run. `undone`: exists twice, or still exists after its removal. */
  notAsLeft: { differing: number; undone: number };
  unknownRecord: Problem | undefined;
  /** The clock was not trusted, so nothing was ended or removed by time. */
  clock: ClockDoubt | undefined;
  cutOff: string[];
}

/** The most serious open problem decides. */
export function exitCodeOf(summary: RunSummary, failure: unknown): ExitCode {
  if (!summary.balance.adds) return exitCodes.doesNotBalance;
  if (failure instanceof Problem && failure.exitCode === exitCodes.ledgerRefused) return failure.exitCode;
  if (summary.openOperations > 0) return exitCodes.unknown;
  if (summary.held.length > 0 || summary.paused) return exitCodes.held;
  return exitBesideHolds(summary, failure);
}

/** Undefined if nothing failed besides what is held. */
export function hiddenExit({ exitCode }: { exitCode: ExitCode }, besideHolds: ExitCode): ExitCode | undefined {
  const isDone = besideHolds === exitCodes.ok || besideHolds === exitCodes.recordsRejected;
  return exitCode === exitCodes.held && !isDone ? besideHolds : undefined;
}

function exitBesideHolds(summary: RunSummary, failure: unknown): ExitCode {
  if (failure instanceof Problem && failure.exitCode !== exitCodes.other) return failure.exitCode;
  if (failure !== undefined || summary.state === "stopped") return exitCodes.other;
  const sourceDown = summary.sources.some(
    (tally) => tally.problem !== undefined || tally.doubt !== undefined || !tally.complete,
  );
  const serviceDown = summary.customers.unreadable > 0 || summary.clock?.isServiceDown === true;
  if (sourceDown || serviceDown) return exitCodes.sourceDown;
  if (summary.customers.defects > 0) return exitCodes.other;
  if (summary.canary.some(({ wrong }) => wrong.length > 0)) return exitCodes.recordsRejected;
  const { stale, waiting } = summary.customers;
  if (
    summary.clock !== undefined ||
    openCount(summary.open) > 0 ||
    summary.customers.rejected > 0 ||
    stale > 0 ||
    waiting > 0 ||
    summary.notAsLeft.undone > 0
  )
    return exitCodes.recordsRejected;
  return exitCodes.ok;
}

export function summaryJson(summary: RunSummary): Json {
  return {
    sources: summary.sources.map((tally) => ({
      ...countsOf(tally),
      complete: tally.complete,
      doubt: tally.doubt?.message ?? null,
      problem: tally.problem?.message ?? null,
    })),
    customers: { ...summary.customers },
    ...(summary.stale.length > 0 && {
      stale: summary.stale.map(({ customer, moved }) => ({ customer, moved: [...moved] })),
    }),
    held: summary.held.map((hold) => ({ ...hold })),
    rejected: summary.rejected,
    ...(summary.canary.length > 0 && { canary: toJson(summary.canary) }),
    openOperations: summary.openOperations,
    ...(summary.exitWithoutHolds !== undefined && { exitWithoutHolds: summary.exitWithoutHolds }),
    notAsLeft: { ...summary.notAsLeft },
    ...(summary.clock !== undefined && { clock: { ...summary.clock } }),
    open: summary.open.map((group) => ({ ...group, examples: group.examples.map((example) => ({ ...example })) })),
  };
}

/** Returns the error that the caller must throw. */
export async function endFailed(ledger: Ledger, run: string, error: unknown): Promise<unknown> {
  if (ledger.broken !== undefined) return ledger.broken;
  const exitCode = error instanceof Problem ? error.exitCode : exitCodes.other;
  await ledger.runs.finish(run, { state: "failed", exitCode, balance: null, summary: { reason: messageOf(error) } });
  return error;
}
