import type { Json } from "../base/canonical-json.ts";
import { exitCodes } from "../base/errors.ts";
import { balanceJson } from "../run/balance.ts";
import { summaryJson } from "../run/summary.ts";
import type { RunSummary } from "../run/summary.ts";
import { findingCount } from "../run/verify-run.ts";
import type { VerifySummary } from "../run/verify-run.ts";
import type { Output } from "./output.ts";
import { safeLines, viewOf } from "./output.ts";
import { balanceText } from "../report/runs.ts";
import type { Workplace } from "./workplace.ts";

/** Records that wait for the same reason. */
export interface Deferral {
  code: string;
  reason: string;
  count: number;
  /** One of them, such as `order crm/10248`. */
  example: string;
}

const mostShown = 10;

/** Groups what waits by reason, the most frequent first. */
export function deferralsOf(rows: readonly { record: string; code: string; reason: string }[]): Deferral[] {
  const groups = new Map<string, Deferral>();
  for (const { record, code, reason } of rows) {
    const group = groups.get(`${code} ${reason}`);
    if (group === undefined) groups.set(`${code} ${reason}`, { code, reason, count: 1, example: record });
    else group.count += 1;
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

/** Prints what a run came to and what waits now, for people or for machines. */
export async function showRun(workplace: Workplace, summary: RunSummary): Promise<void> {
  const calls = await (await workplace.ledger()).writingCallsOf(summary.run);
  const deferrals = deferralsOf(await (await workplace.queries()).deferred());
  if (workplace.json) workplace.output.json(runJson(summary, calls, deferrals));
  else printRun(workplace.output, summary, calls, deferrals);
}

/** The counts of a run that machines read. */
export function runJson(summary: RunSummary, writingCalls: number, deferrals: readonly Deferral[] = []): Json {
  return {
    run: summary.run,
    job: summary.job,
    state: summary.state,
    exit: summary.exitCode,
    writingCalls,
    balance: balanceJson(summary.balance),
    summary: summaryJson(summary),
    deferred: deferrals.map((item): Json => ({ ...item })),
  };
}

const meanings: Record<number, string> = {
  [exitCodes.ok]: "all is well",
  [exitCodes.other]: "the run did not come to its end; the next one goes on from here",
  [exitCodes.recordsRejected]:
    "some records were rejected or wait in quarantine: `crm-sync quarantine list`, `crm-sync status`",
  [exitCodes.held]:
    "something waits for approval: `crm-sync status` lists it, `crm-sync approve ID --reason TEXT` releases it",
  [exitCodes.unknown]: "the outcome of some operations is not known yet: `crm-sync settle list`",
  [exitCodes.doesNotBalance]: "the run does not balance: report this with `crm-sync run show`",
  [exitCodes.sourceDown]:
    "a source or a service was down or incomplete; what depends on it waits, and nothing was taken away",
};

export function exitMeaning(code: number): string {
  return meanings[code] ?? `exit ${code}`;
}

export function printRun(
  output: Output,
  summary: RunSummary,
  writingCalls: number,
  deferrals: readonly Deferral[] = [],
): void {
  output.line(`run ${summary.run} of ${summary.job}: ${summary.state}`);
  for (const tally of summary.sources) {
    if (tally.problem !== undefined)
      output.line(
        safeLines(`  source ${tally.source}/${tally.stream}: ${tally.problem.message}\n    → ${tally.problem.cure}`),
      );
    else if (tally.shrunk !== undefined)
      output.line(
        safeLines(`  source ${tally.source}/${tally.stream}: ${tally.shrunk}\n    → Until then nothing is taken away.`),
      );
  }
  if (summary.cutOff.length > 0) output.line(`  found cut off, and taken up: ${summary.cutOff.join(", ")}`);
  output.line(balanceText(summary.balance, viewOf(output)));
  output.line("");
  const { customers } = summary;
  output.line(
    `customers: ${customers.worked} worked on, ${customers.finished} finished, ${customers.waiting} wait for an outcome, ${customers.parked} wait for a person, ${customers.rejected} rejected, ${customers.unreadable} not reached`,
  );
  for (const hold of summary.held)
    output.line(safeLines(`held: ${hold.hold} for ${hold.customer}: ${hold.explanation}`));
  for (const { count, example, reason } of deferrals.slice(0, mostShown))
    output.line(safeLines(`deferred: ${count === 1 ? example : `${count} records such as ${example}`}: ${reason}`));
  if (deferrals.length > mostShown)
    output.line(`deferred: ${deferrals.length - mostShown} more reason(s): \`crm-sync status\``);
  output.line(`writing calls: ${writingCalls}`);
  output.line(`exit ${summary.exitCode}: ${exitMeaning(summary.exitCode)}`);
}

export function verifyJson(summary: VerifySummary): Json {
  const { exitCode, ...rest } = summary;
  return { ...rest, exit: exitCode };
}

export function printVerify(output: Output, summary: VerifySummary): void {
  output.line(
    `run ${summary.run}: ${summary.customers - summary.failed} customers read back, ${summary.failed} could not be; ${summary.assets} assets, ${summary.products} products, ${summary.members} staff members shown`,
  );
  const { counts, first } = summary.findings;
  const found = findingCount(summary.findings);
  for (const text of first) output.line(safeLines(`not as placed: ${text}`));
  if (found > 0) {
    output.line(
      `not as placed: ${found} in all: ${counts["not-shown"]} not shown, ${counts.differs} with other values, ${counts["shown-twice"]} shown twice; \`crm-sync report reconciliation\` has each of them`,
    );
  }
  output.line("writing calls: 0");
  const meaning =
    summary.exitCode === exitCodes.recordsRejected
      ? "the platform does not show everything as it was placed: compare it with the order service and the member-center; nothing is sent again by itself"
      : exitMeaning(summary.exitCode);
  output.line(`exit ${summary.exitCode}: ${meaning}`);
}
