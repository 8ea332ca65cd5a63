import { endFailed, hiddenExit, scopeOf, endInterruptedRuns } from "./run.ts";
import { type ExitCode, exitCodes } from "../../base/errors.ts";
import type { ClockDoubt } from "../../base/trusted-time.ts";
import { readingPlatform } from "../../platform/platform.ts";
import { SnapshotReader } from "../../platform/snapshot.ts";
import type { RunState } from "../../ledger/runs/run-tables.ts";
import { shownStill, shownTwice, type DriftClass, type Finding } from "../../report/reconciliation/case.ts";
import { formatKey } from "../../crm/keys.ts";
import { toInstant } from "../../base/clock.ts";
import { durationMs } from "../../base/duration.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { AssumptionMet } from "../model/assumptions-met.ts";
import type { Coverage } from "../../report/status.ts";
import { openCount, type OpenRecords } from "../../report/open.ts";
import type { VerifyBudget } from "./run-settings.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import type { DifferencesOfCustomer } from "./canary.ts";
import { TrustedClock } from "./trusted-clock.ts";
import { readBack, type ReadBack } from "./verify.ts";

const mostNamed = 5;
const keptTogether = 100;

export interface VerifySummary extends ReadBack {
  run: string;
  state: RunState;
  exitCode: ExitCode;
  exitWithoutHolds: ExitCode | undefined;
  findings: { counts: Record<Finding, number>; first: string[] };
  differences: Record<DriftClass, number>;
  coverage: Coverage | undefined;
  open: OpenRecords[];
  waiting: { operations: number; holds: number };
  rejected: number;
  clock: ClockDoubt | undefined;
}

type VerifyRequest = Pick<RunRequest, "job" | "trigger" | "streams" | "signal" | "header" | "time"> & {
  budget?: VerifyBudget | undefined;
  differences: (since: string) => AsyncIterable<DifferencesOfCustomer>;
};

/**
 * Reads back linked customers and compares them with what we sent. A difference stays until a full reading no longer
 * shows it. Makes no writing call. Ends with 3 if there are findings, also of other runs, or if the budget is too
 * small. An open operation or a hold has a more serious code.
 */
export async function runVerify(given: RunDependencies, request: VerifyRequest): Promise<VerifySummary> {
  const deps = { ...given, platform: readingPlatform(given.platform) };
  const { ledger, logger } = deps;
  await endInterruptedRuns(deps);
  const since = await comparedSince(deps, request.job);
  const run = await ledger.runs.start({
    job: request.job,
    kind: "verify",
    trigger: request.trigger,
    scope: null,
    header: request.header,
  });
  const reader = new SnapshotReader(deps.platform, deps.settings);
  const time = request.time ?? new TrustedClock(deps);
  const stopped = (): boolean => request.signal?.aborted === true;
  const summary = emptySummary(run);
  try {
    await readBack(deps, { signal: request.signal, calls: request.budget?.calls }, reader, summary);
    const found = await keepDifferences(deps, request.differences(since));
    await ledger.assumptions.met(metByTypes(deps, found));
    await tellDifferences(ledger, summary);
    summary.coverage = await coverageOf(deps, request.budget);
    summary.open = await ledger.records.open(scopeOf(deps, request));
    const operations = await ledger.journal.open();
    const holds = (await ledger.decisions.questions()).filter((hold) => hold.state === "open");
    summary.waiting = { operations: operations.length, holds: holds.length };
    summary.rejected = await ledger.decisions.rejected();
    if (!stopped()) await time.now({ isFresh: false });
    summary.clock = time.doubt;
  } catch (error) {
    throw await endFailed(ledger, run, error);
  }
  if (stopped()) summary.state = "stopped";
  summary.exitCode = exitOf(summary);
  const exitWithoutHolds = hiddenExit(summary, exitBesideHolds(summary));
  summary.exitWithoutHolds = exitWithoutHolds;
  const { state, exitCode, customers, failed, assets, products, members, findings, clock, coverage } = summary;
  await ledger.runs.finish(run, {
    state,
    exitCode,
    balance: null,
    summary: {
      customers,
      failed,
      assets,
      products,
      members,
      findings: { counts: { ...findings.counts }, first: findings.first },
      differences: { ...summary.differences },
      ...(exitWithoutHolds !== undefined && { exitWithoutHolds }),
      ...(clock !== undefined && { clock: { ...clock } }),
      ...(coverage !== undefined && { coverage: { ...coverage } }),
    },
  });
  const ended = { run, job: request.job, state, exit: exitCode, customers, failed, findings: findings.counts };
  logger.info(ended, "run ended");
  return summary;
}

function emptySummary(run: string): VerifySummary {
  return {
    run,
    state: "done",
    exitCode: exitCodes.ok,
    exitWithoutHolds: undefined,
    customers: 0,
    failed: 0,
    unclear: 0,
    defects: 0,
    assets: 0,
    products: 0,
    members: 0,
    rejected: 0,
    findings: { counts: { "not-shown": 0, differs: 0, "shown-twice": 0, "shown-still": 0 }, first: [] },
    differences: { missing: 0, extra: 0, different: 0, "in-transit": 0, "not-observable": 0 },
    coverage: undefined,
    open: [],
    waiting: { operations: 0, holds: 0 },
    clock: undefined,
  };
}

async function comparedSince({ ledger, clock }: RunDependencies, job: string): Promise<string> {
  const last = (await ledger.runs.lastByJob()).get(job);
  return last !== undefined && last.state !== "done" ? "" : toInstant(clock.now());
}

/** Records the differences. Returns the longest time in ms that a purchase did not show, by licence type. */
async function keepDifferences(
  { ledger }: Pick<RunDependencies, "ledger">,
  found: AsyncIterable<DifferencesOfCustomer>,
): Promise<ReadonlyMap<string, number>> {
  const unshown = new Map<string, number>();
  let kept: DifferencesOfCustomer[] = [];
  for await (const one of found) {
    for (const [type, at] of one.neverShown)
      unshown.set(type, Math.max(unshown.get(type) ?? 0, Date.parse(one.seenAt) - Date.parse(at)));
    kept.push(one);
    if (kept.length < keptTogether) continue;
    await ledger.state.keepDifferences(kept);
    kept = [];
  }
  await ledger.state.keepDifferences(kept);
  return unshown;
}

/** The settings call these types visible, but nothing of them shows a settle time after the purchase (A43). */
function metByTypes(
  { settings, settle }: Pick<RunDependencies, "settings" | "settle">,
  unshown: ReadonlyMap<string, number>,
): AssumptionMet[] {
  return (settings.visibleLicenseTypes ?? []).flatMap((about): AssumptionMet[] => {
    if ((unshown.get(about) ?? 0) < settle.timeMs) return [];
    const evidence = "nothing was shown of a licence type that the settings call visible, a settle time after an E5";
    return [{ row: "A43", about, evidence }];
  });
}

async function tellDifferences(ledger: Ledger, { findings, differences }: VerifySummary): Promise<void> {
  const standing = await ledger.state.differences(mostNamed);
  for (const { class: named, twice, still, count } of standing.counts) {
    differences[named] += count;
    if (twice) findings.counts["shown-twice"] += count;
    else if (still) findings.counts["shown-still"] += count;
    else if (named === "missing") findings.counts["not-shown"] += count;
    else if (named === "different") findings.counts.differs += count;
  }
  findings.first = standing.first.map(
    ({ level, subject, detail, ...key }) =>
      `${formatKey(key)}: ${level} ${subject.replace(shownTwice, "").replace(shownStill, "")}: ${detail}`,
  );
}

async function coverageOf({ ledger, clock }: RunDependencies, budget?: VerifyBudget): Promise<Coverage | undefined> {
  if (budget === undefined) return undefined;
  const { spread: within } = budget;
  const now = clock.now();
  return {
    within,
    at: toInstant(now),
    ...(await ledger.state.readTogether((rows) => rows.enterprise.readings.since(toInstant(now - durationMs(within))))),
  };
}

export function findingCount(findings: VerifySummary["findings"]): number {
  return Object.values(findings.counts).reduce((sum, count) => sum + count, 0);
}

function exitOf(summary: VerifySummary): ExitCode {
  if (summary.waiting.operations > 0) return exitCodes.unknown;
  return summary.waiting.holds > 0 ? exitCodes.held : exitBesideHolds(summary);
}

function exitBesideHolds(summary: VerifySummary): ExitCode {
  if (summary.failed > 0) return exitCodes.sourceDown;
  if (summary.defects > 0) return exitCodes.other;
  if (summary.unclear > 0 || summary.clock !== undefined) return exitCodes.recordsRejected;
  if (findingCount(summary.findings) > 0) return exitCodes.recordsRejected;
  if ((summary.coverage?.behind ?? 0) > 0) return exitCodes.recordsRejected;
  if (summary.state === "stopped") return exitCodes.other;
  return openCount(summary.open) > 0 ? exitCodes.recordsRejected : exitCodes.ok;
}
