import { toJson, type Json } from "../base/canonical-json.ts";
import { balanceJson } from "../engine/run/balance.ts";
import { summaryJson, type RunSummary } from "../engine/run/run.ts";
import type { VerifySummary } from "../engine/run/verify-run.ts";

export function runJson(summary: RunSummary, writingCalls: number): Json {
  return {
    run: summary.run,
    job: summary.job,
    state: summary.state,
    exit: summary.exitCode,
    writingCalls,
    balance: balanceJson(summary.balance),
    summary: summaryJson(summary),
  };
}

export function verifyJson(summary: VerifySummary): Json {
  const { exitCode, open, coverage, clock, ...rest } = summary;
  const doubt = clock === undefined ? {} : { clock: { ...clock } };
  return {
    ...rest,
    ...doubt,
    coverage: coverage === undefined ? null : toJson(coverage),
    open: toJson(open),
    exit: exitCode,
  };
}
