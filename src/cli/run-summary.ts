import { toInstant } from "../base/clock.ts";
import { exitCodes } from "../base/errors.ts";
import type { RunSummary } from "../run/summary.ts";
import type { VerifySummary } from "../run/verify-run.ts";
import type { Invocation } from "./command.ts";
import type { Output } from "./output.ts";
import { heldText, safeLines, viewOf } from "./output.ts";
import { notDone, openSentence } from "../report/open.ts";
import { counted, productsCounted, rejectedText } from "../report/text.ts";
import { behindText, coverageText } from "../report/coverage.ts";
import { balanceText } from "../report/runs.ts";
import type { Application } from "../app/application.ts";
import { runJson } from "../app/ended-json.ts";

const mostShown = 10;

/** Prints what a run came to and what waits now, for people or for machines. */
export async function showRun(
  { output, options }: Pick<Invocation, "output" | "options">,
  application: Application,
  summary: RunSummary,
): Promise<void> {
  const ledger = await application.ledger();
  const calls = await ledger.journal.writingCallsOf(summary.run);
  if (options.json) {
    output.result(runJson(summary, calls));
    return;
  }
  printRun(output, summary, { calls, now: toInstant(application.clock.now()) });
}

const meanings: Record<number, string> = {
  [exitCodes.ok]: "all is well",
  [exitCodes.other]: "the run did not end; the next one goes on from here",
  [exitCodes.recordsRejected]: "some records are not done",
  [exitCodes.changesPending]: "changes are pending: `crm-sync run JOB` carries them out",
  [exitCodes.held]: "something waits for approval: `crm-sync status` lists it with what decides it",
  [exitCodes.unknown]: "the outcome of some operations is not known yet: `crm-sync settle list`",
  [exitCodes.doesNotBalance]:
    "the counts of the run do not add up, which is a fault of crm-sync: report it with the output of " +
    "`crm-sync runs`",
  [exitCodes.sourceDown]:
    "a source or a service was down or incomplete; records that depend on it wait, and nothing was " +
    "removed because of it",
};

/**
 * The last line of a run or a plan: the exit code in words, or `instead` of them, what is not done, and what a person
 * did not want done.
 */
export function lastLine(
  { exitCode: code, open, rejected }: Pick<RunSummary, "exitCode" | "open" | "rejected">,
  instead?: string,
): string {
  const left = notDone(open);
  const isDefect = code === exitCodes.other && open.some((group) => group.code === "defect");
  const isRest = code === exitCodes.ok && rejected > 0;
  const normal = isRest ? "nothing is left to do" : meanings[code];
  const own = isDefect ? "crm-sync failed by a defect of its own: report it" : normal;
  const meaning = instead ?? (code === exitCodes.recordsRejected && left !== undefined ? undefined : own);
  const parts = [
    meaning,
    left === undefined ? undefined : `${left}; \`crm-sync status\` says since when, why and what to do`,
    rejected === 0 ? undefined : `${rejectedText(rejected)}; \`crm-sync status --all\` says how to take that back`,
  ];
  return safeLines(`exit ${code}: ${parts.filter((part) => part !== undefined).join("; and ")}`);
}

export function printRun(output: Output, summary: RunSummary, { calls, now }: { calls: number; now: string }): void {
  const { differing } = summary.notAsLeft;
  output.line(`run ${summary.run} of ${summary.job}: ${summary.state}`);
  for (const tally of summary.sources) {
    const why = tally.problem ?? tally.doubt;
    if (why !== undefined)
      output.line(safeLines(`  source ${tally.source}/${tally.stream}: ${why.message}\n    → ${why.cure}`));
  }
  if (summary.cutOff.length > 0) output.line(`  found interrupted, and ended: ${summary.cutOff.join(", ")}`);
  output.line(balanceText(summary.balance, viewOf(output, "UTC")));
  output.line("");
  output.line(customersText(summary));
  for (const tranche of summary.canary) output.line(safeLines(canaryText(tranche)));
  for (const hold of summary.held) output.line(heldText(hold));
  for (const group of summary.open.slice(0, mostShown)) output.line(`open: ${openSentence(group, now)}`);
  if (summary.open.length > mostShown)
    output.line(`open: ${counted(summary.open.length - mostShown, "more reason")}: \`crm-sync status\``);
  if (differing > 0)
    output.line(
      `differs: by the last reading, the platform shows ${counted(differing, "thing")} otherwise than sent: ` +
        "`crm-sync report reconciliation` lists each of them",
    );
  showClock(output, summary.clock);
  output.line(`writing calls: ${calls}`);
  const kept = summary.paused ? pausedMeaning(summary) : undefined;
  const stands = summary.exitCode === exitCodes.ok && differing > 0;
  const instead = stands
    ? "nothing is left to do, but the platform shows something otherwise than it was sent"
    : (kept ?? undoneMeaning(summary) ?? clockMeaning(summary));
  output.line(lastLine(summary, instead));
}

/** How it went for the customers that were worked on, and of how many something waits for a person. */
function customersText({ customers, held }: Pick<RunSummary, "customers" | "held">): string {
  const { worked, finished, waiting, parked, rejected, unreadable } = customers;
  const parts: [number, string][] = [
    [waiting, "wait for an outcome"],
    [parked, "wait for a person to settle an outcome"],
    [rejected, "rejected"],
    [unreadable, "not reached"],
    [new Set(held.map(({ customer }) => customer)).size, "with something held for a person"],
  ];
  const some = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return `customers: ${[`${worked} worked on`, `${finished} finished`, ...some].join(", ")}`;
}

/** What exit code 3 says where the platform shows something twice, or after a call removed it. */
function undoneMeaning({ exitCode, notAsLeft: { undone } }: RunSummary): string | undefined {
  if (exitCode !== exitCodes.recordsRejected || undone === 0) return undefined;
  const what = counted(undone, "product, seat or account", "products, seats or accounts");
  return `the platform shows ${what} twice, or after the removal: compare with the services; nothing is sent again by itself`;
}

/** What exit code 3 says where nothing but the clock is behind it. */
function clockMeaning({ exitCode, clock, open }: Pick<RunSummary, "exitCode" | "clock" | "open">): string | undefined {
  const isClock = exitCode === exitCodes.recordsRejected && clock !== undefined && notDone(open) === undefined;
  return isClock ? "the clock is not trusted" : undefined;
}

function showClock(output: Output, clock: RunSummary["clock"]): void {
  if (clock !== undefined)
    output.line(`clock: nothing was ended or removed by time, as ${clock.message}\n  → ${clock.cure}`);
}

/** What exit code 4 says of a run that was kept from sending, and of what waits for a person beside that. */
function pausedMeaning({ exitCode, held }: RunSummary): string | undefined {
  if (exitCode !== exitCodes.held) return undefined;
  const waits = "crm-sync is paused: the next run after `crm-sync resume` sends the rest";
  return held.length === 0 ? waits : `${waits}; and ${meanings[exitCodes.held] ?? ""}`;
}

function canaryText({ share, customers: done, wrong, before }: RunSummary["canary"][number]): string {
  const [first] = wrong;
  // Nothing was done of somebody who could not be read.
  const those =
    wrong.length > done ? counted(wrong.length, "customer") : `${wrong.length} of ${counted(done, "customer")}`;
  if (first !== undefined) return `canary ${share} %: ${those} not as meant: ${first}; the rest waits`;
  const stood = before === 0 ? "" : `; ${counted(before, "thing")} differed before (crm-sync report reconciliation)`;
  return `canary ${share} %: ${counted(done, "customer")}${share < 100 ? ", read back as meant" : ""}${stood}`;
}

export function printVerify(output: Output, summary: VerifySummary, found: number): void {
  const unread = summary.failed + summary.unclear + summary.defects;
  output.line(
    `run ${summary.run}: ${summary.customers - unread} customers read back, ${unread} could ` +
      `not be; ${summary.assets} assets, ${summary.products} products, ${summary.members} accounts shown, with ` +
      `those that each enterprise has by itself (${productsCounted})`,
  );
  const { counts, first } = summary.findings;
  for (const text of first) output.line(safeLines(`not as placed: ${text}`));
  if (found > 0) {
    output.line(
      `not as placed: ${found} in all: ${counts["not-shown"]} not shown, ${counts.differs} with other ` +
        `values, ${counts["shown-twice"]} shown twice, ${counts["shown-still"]} shown after the removal; ` +
        "`crm-sync report reconciliation` has each of them",
    );
  }
  const { extra, "in-transit": moving, "not-observable": unseen } = summary.differences;
  const others = extra - counts["shown-twice"] - counts["shown-still"];
  if (others + moving + unseen > 0)
    output.line(`beside that: ${others} extra and not ours, ${moving} in transit, ${unseen} not observable`);
  if (summary.coverage !== undefined) output.line(coverageText(summary.coverage));
  showClock(output, summary.clock);
  output.line("writing calls: 0");
  const placed =
    found > 0
      ? "the platform does not show everything as it was sent: compare it with the order service and the member-center; " +
        "nothing is sent again by itself"
      : undefined;
  const { coverage } = summary;
  const behind = coverage === undefined || coverage.behind === 0 ? undefined : behindText(coverage);
  const own = summary.exitCode === exitCodes.recordsRejected ? (placed ?? behind ?? clockMeaning(summary)) : undefined;
  output.line(lastLine(summary, own));
}
