import type { ExitCode } from "../base/errors.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { SnapshotReader } from "../platform/snapshot.ts";
import type { RunState } from "../ledger/runs/tables.ts";
import type { Finding } from "../report/reconciliation/case.ts";
import type { FoundDifference } from "../report/reconciliation/rows.ts";
import { openCount } from "../report/open.ts";
import type { OpenRecords } from "../report/open.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import { scopeOf } from "./run.ts";
import { endInterruptedRuns } from "./interrupted.ts";
import { readBack } from "./read-back.ts";
import type { ReadBack } from "./read-back.ts";

/** Findings that are named in the summary; the reconciliation report has all of them. */
const mostNamed = 5;

/** What reading everything back came to. */
export interface VerifySummary extends ReadBack {
  run: string;
  state: RunState;
  exitCode: ExitCode;
  /**
   * What was placed, added or given and is not shown, differs, or is shown twice: how many of each, and the first few.
   */
  findings: { counts: Record<Finding, number>; first: string[] };
  /** Every record of the job's streams that is not done. */
  open: OpenRecords[];
}

/**
 * The verify job: reads back what the platform shows of every linked customer, keeps it, and compares it with what was
 * sent (`findings`, asked once everything is kept). No writing call is made. Ends with 3 where something is not as it
 * was placed. In one piece: one run on one screen.
 */
export async function runVerify(
  deps: RunDependencies,
  request: Pick<RunRequest, "job" | "trigger" | "streams" | "signal" | "header"> & {
    findings: () => AsyncIterable<FoundDifference>;
  },
): Promise<VerifySummary> {
  const { ledger, logger } = deps;
  await endInterruptedRuns(deps);
  const run = await ledger.runs.start({
    job: request.job,
    kind: "verify",
    trigger: request.trigger,
    scope: null,
    header: request.header,
  });
  const reader = new SnapshotReader(deps.platform, deps.settings);
  const stopped = (): boolean => request.signal?.aborted === true;
  const summary: VerifySummary = {
    run,
    state: "done",
    exitCode: exitCodes.ok,
    customers: 0,
    failed: 0,
    assets: 0,
    products: 0,
    members: 0,
    findings: { counts: { "not-shown": 0, differs: 0, "shown-twice": 0 }, first: [] },
    open: [],
  };
  try {
    await readBack(deps, request, reader, summary);
    for await (const found of request.findings()) {
      summary.findings.counts[found.finding] += 1;
      if (summary.findings.first.length < mostNamed) summary.findings.first.push(found.text);
    }
  } catch (error) {
    if (ledger.broken !== undefined) throw ledger.broken;
    const exitCode = error instanceof Problem ? error.exitCode : exitCodes.other;
    await ledger.runs.finish(run, { state: "failed", exitCode, balance: null, summary: { reason: messageOf(error) } });
    throw error;
  }
  if (stopped()) summary.state = "stopped";
  summary.open = await ledger.records.open(scopeOf(deps, request));
  summary.exitCode = exitOf(summary);
  await ledger.runs.finish(run, {
    state: summary.state,
    exitCode: summary.exitCode,
    balance: null,
    summary: {
      customers: summary.customers,
      failed: summary.failed,
      assets: summary.assets,
      products: summary.products,
      members: summary.members,
      findings: { counts: { ...summary.findings.counts }, first: summary.findings.first },
    },
  });
  logger.info(
    {
      run,
      job: request.job,
      state: summary.state,
      exit: summary.exitCode,
      customers: summary.customers,
      failed: summary.failed,
      findings: summary.findings.counts,
    },
    "run ended",
  );
  return summary;
}

/** How many findings there are in all. */
export function findingCount(findings: VerifySummary["findings"]): number {
  return Object.values(findings.counts).reduce((sum, count) => sum + count, 0);
}

function exitOf(summary: VerifySummary): ExitCode {
  if (summary.failed > 0) return exitCodes.sourceDown;
  if (findingCount(summary.findings) > 0) return exitCodes.recordsRejected;
  if (summary.state === "stopped") return exitCodes.other;
  return openCount(summary.open) > 0 ? exitCodes.recordsRejected : exitCodes.ok;
}
