import { exitCodes } from "../base/errors.ts";
import { parseKey } from "../crm/keys.ts";
import type { RunSummary } from "../engine/run/run.ts";
import type { VerifySummary } from "../engine/run/verify-run.ts";
import type { Invocation } from "./command.ts";
import { type Output, safeLines, viewOf } from "./output.ts";
import { nextForHold } from "../report/next-steps.ts";
import { openCount, openCounts, openTable, serviceTrouble } from "../report/open.ts";
import {
  counted,
  numberText,
  painted,
  printable,
  productsCounted,
  rejectedText,
  section,
  textOf,
  withLocalInstants,
  wrapped,
  type View,
} from "../report/text.ts";
import type { WaitingHold } from "../engine/run/limits-gate.ts";
import { behindText, coverageText } from "../report/status.ts";
import type { NotAttempted } from "../report/facts.ts";
import { balanceText, notAttemptedLines } from "../report/runs.ts";
import type { Application } from "../operate/application.ts";
import { runJson } from "../operate/ended-json.ts";

const mostHolds = 10;

export async function showRun(
  { output, options }: Pick<Invocation, "output" | "options">,
  application: Application,
  summary: RunSummary,
): Promise<void> {
  const ledger = await application.ledger();
  const calls = await ledger.journal.writingCallsOf(summary.run);
  if (options.json) output.result(runJson(summary, calls));
  else {
    const others = openCount(await ledger.records.open()) - openCount(summary.open);
    const notAttempted = await notAttemptedIn(application, summary);
    printRun(output, summary, { calls, notAttempted, others, zone: application.config.zone });
  }
}

export async function notAttemptedIn(application: Application, { run, balance }: RunSummary): Promise<NotAttempted[]> {
  return balance.operations.notAttempted === 0 ? [] : await (await application.inquiry()).notAttempted(run);
}

const meanings: Record<number, string> = {
  [exitCodes.ok]: "all is well",
  [exitCodes.other]: "the run did not end; the next one goes on from here",
  [exitCodes.recordsRejected]: "some records are not done",
  [exitCodes.changesPending]: "changes are pending: `crm-sync apply` makes them",
  [exitCodes.held]: "something waits for a person: an approval, or the end of a pause",
  [exitCodes.unknown]: "the outcome of some operations is not known yet: `crm-sync settle list`",
  [exitCodes.doesNotBalance]:
    "the counts of the run do not add up, which is a fault of crm-sync: report it with the output of " +
    "`crm-sync run show last --json`",
  [exitCodes.sourceDown]: "a service was down; nothing was removed because of it",
};

interface Ended extends Pick<RunSummary, "exitCode" | "open" | "rejected"> {
  held?: number;
}

/** `1 approval needed, 15 records waiting (exit 4).`; `instead` replaces the meaning of the exit code. */
export function closingLine({ exitCode: code, open, rejected, held = 0 }: Ended, instead?: string): string {
  const isDefect = code === exitCodes.other && open.some((group) => group.code === "defect");
  const normal = code === exitCodes.ok && rejected > 0 ? "nothing is left to do" : meanings[code];
  const meaning = instead ?? (isDefect ? "crm-sync failed by a defect of its own: report it" : normal);
  const left = [...(held === 0 ? [] : [`${counted(held, "approval")} needed`]), ...openCounts(open)];
  const saysItself = [exitCodes.held, exitCodes.recordsRejected].some((one) => one === code);
  const parts = saysItself && left.length > 0 && instead === undefined ? left : [meaning, ...left];
  const sentence = parts.filter((part) => part !== undefined).join(", ");
  return safeLines(
    [
      `${sentence.replace(/^(?!crm-sync)./u, (first) => first.toUpperCase())} (exit ${code}).`,
      ...(left.length === 0 ? [] : ["`crm-sync status` says what to do."]),
      ...(rejected === 0 ? [] : [`${rejectedText(rejected)}; \`crm-sync status --all\` says how to take that back.`]),
    ].join(" "),
  );
}

export function holdLines(holds: readonly WaitingHold[], view: View): string[] {
  const lines = holds
    .slice(0, mostHolds)
    .flatMap(({ hold: id, customer, explanation, ofUndo = false }) => [
      `${painted("id", id, view)} for ${printable(customer)}: ${printable(explanation)}`,
      `  → ${nextForHold({ id, state: "open", ofUndo, count: 1, customer: parseKey(customer) })}`,
    ]);
  const more = holds.length - mostHolds;
  return more > 0 ? [...lines, `and ${counted(more, "more")}: crm-sync status --all`] : lines;
}

export function printRun(
  output: Output,
  summary: RunSummary,
  {
    calls,
    notAttempted,
    others = 0,
    zone,
  }: {
    calls: number;
    notAttempted: readonly NotAttempted[];
    /** Open records that this job does not read. */
    others?: number;
    zone: string;
  },
): void {
  const { differing } = summary.notAsLeft;
  const view = viewOf(output, zone);
  output.line(`Run ${painted("id", summary.run, view)} of ${summary.job}: ${runSentence(summary, calls)}`);
  for (const tally of summary.sources) {
    const why = tally.problem ?? tally.doubt;
    if (why !== undefined)
      output.line(safeLines(`  source ${tally.source}/${tally.stream}: ${why.message}\n    → ${why.cure}`));
  }
  if (summary.cutOff.length > 0) output.line(`  found interrupted, and ended: ${summary.cutOff.join(", ")}`);
  output.line("");
  output.line(balanceText(summary.balance, view));
  for (const line of notAttemptedLines(notAttempted)) output.line(line);
  output.line("");
  for (const line of customersLines(summary)) output.line(line);
  for (const tranche of summary.canary) output.line(safeLines(canaryText(tranche)));
  output.line(`writing calls: ${calls}`);
  const held = section("held until a person decides", holdLines(summary.held, view));
  const open = openTable(summary.open, view);
  if (held.length + open.length > 0) output.line(textOf(wrapped([...held, ...open, ""], view)));
  if (differing > 0)
    output.line(
      `differs: by the last reading, the platform shows ${counted(differing, "thing")} otherwise than sent: ` +
        "`crm-sync report reconciliation` lists each of them",
    );
  showClock(output, summary.clock, view);
  const kept = summary.paused ? pausedMeaning(summary) : undefined;
  const isOtherwise = summary.exitCode === exitCodes.ok && differing > 0;
  const instead = isOtherwise
    ? "nothing is left to do, but the platform shows something otherwise than it was sent"
    : (kept ?? undoneMeaning(summary) ?? clockMeaning(summary) ?? downMeaning(summary) ?? restMeaning(summary, others));
  output.line(closingLine({ ...summary, held: summary.held.length }, instead));
}

/** `done, 1,074 changes made, 1 held, 14 records waiting.` Problems come first. */
function runSentence(summary: RunSummary, calls: number): string {
  const { state, exitCode, balance, held, open } = summary;
  const { done, unknown } = balance.operations;
  const isIll = [exitCodes.unknown, exitCodes.doesNotBalance, exitCodes.sourceDown].some((code) => code === exitCode);
  const parts = [
    isIll && state === "done" ? "ended" : state,
    ...(unknown === 0 ? [] : [`${counted(unknown, "outcome")} unknown`]),
    ...(exitCode === exitCodes.sourceDown ? whatWasDown(summary) : []),
    ...(done > 0 ? [`${counted(done, "change")} made`] : calls === 0 ? ["no changes made"] : []),
    ...(held.length === 0 ? [] : [`${numberText(held.length)} held`]),
    ...openCounts(open),
  ];
  return `${parts.join(", ")}.`;
}

function customersLines({ customers }: Pick<RunSummary, "customers">): string[] {
  const { waiting, parked, rejected, unreadable } = customers;
  const parts: [number, string][] = [
    [waiting, "with an unknown outcome"],
    [parked, "with an outcome that a person must settle"],
    [rejected, "rejected"],
    [unreadable, "not reached"],
  ];
  const some = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return some.length === 0 ? [] : [`customers: ${some.join(", ")}`];
}

/** Exit code 3 if the platform shows something twice, or after its removal. */
function undoneMeaning({ exitCode, notAsLeft: { undone } }: RunSummary): string | undefined {
  if (exitCode !== exitCodes.recordsRejected || undone === 0) return undefined;
  const what = counted(undone, "product, seat or account", "products, seats or accounts");
  return `the platform shows ${what} twice, or after the removal: compare with the services; nothing is sent again by itself`;
}

function clockMeaning({ exitCode, clock, open }: Pick<RunSummary, "exitCode" | "clock" | "open">): string | undefined {
  const isClock = exitCode === exitCodes.recordsRejected && clock !== undefined && openCount(open) === 0;
  return isClock ? "the clock is not trusted" : undefined;
}

function showClock(output: Output, clock: RunSummary["clock"], view: Pick<View, "zone">): void {
  if (clock === undefined) return;
  const why = withLocalInstants(clock.message, view);
  output.line(`clock: nothing was ended or removed by time, as ${why}\n  → ${clock.cure}`);
}

/** Reads that failed or are not believed, and why a service was not reached. */
function whatWasDown({ sources, customers, open }: RunSummary): string[] {
  const reads = sources.flatMap(({ source, stream, problem, doubt, complete }) => {
    if (doubt !== undefined) return [`the read of ${source}/${stream} is not believed`];
    return problem === undefined && complete ? [] : [`${source}/${stream} was not read completely`];
  });
  const service = customers.unreadable === 0 ? undefined : serviceTrouble(open);
  return service === undefined ? reads : [...reads, printable(service)];
}

function downMeaning(summary: RunSummary): string | undefined {
  const down = summary.exitCode === exitCodes.sourceDown ? whatWasDown(summary) : [];
  return down.length === 0 ? undefined : `${down.join("; ")}; nothing was removed because of it`;
}

function restMeaning({ exitCode, rejected }: RunSummary, others: number): string | undefined {
  if (exitCode !== exitCodes.ok || others <= 0 || rejected > 0) return undefined;
  const are = others === 1 ? "is" : "are";
  return `nothing is open for this job; ${counted(others, "other record")} ${are} not done: \`crm-sync status\``;
}

function pausedMeaning({ exitCode }: RunSummary): string | undefined {
  if (exitCode !== exitCodes.held) return undefined;
  return "crm-sync is paused: the next run after `crm-sync resume` sends the rest";
}

function canaryText({ share, customers: done, wrong, before }: RunSummary["canary"][number]): string {
  const [first] = wrong;
  // An unreadable customer counts as wrong but not as done.
  const those =
    wrong.length > done ? counted(wrong.length, "customer") : `${wrong.length} of ${counted(done, "customer")}`;
  if (first !== undefined) return `canary ${share} %: ${those} not as meant: ${first}; the rest waits`;
  const stood = before === 0 ? "" : `; ${counted(before, "thing")} differed before (crm-sync report reconciliation)`;
  return `canary ${share} %: ${counted(done, "customer")}${share < 100 ? ", read back as meant" : ""}${stood}`;
}

export function printVerify(output: Output, summary: VerifySummary, found: number, zone: string): void {
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
  showClock(output, summary.clock, { zone });
  output.line("writing calls: 0");
  const placed =
    found > 0
      ? "the platform does not show everything as it was sent: compare it with the order service and the member-center; " +
        "nothing is sent again by itself"
      : undefined;
  const { coverage } = summary;
  const behind = coverage === undefined || coverage.behind === 0 ? undefined : behindText(coverage);
  const own = summary.exitCode === exitCodes.recordsRejected ? (placed ?? behind ?? clockMeaning(summary)) : undefined;
  output.line(closingLine(summary, own));
}
