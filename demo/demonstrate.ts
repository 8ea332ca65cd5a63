import type { Json } from "../src/base/canonical-json.ts";
import { type ExitCode, exitCodes } from "../src/base/errors.ts";
import { streams } from "../src/crm/model.ts";
import type { HoldFacts, NotAttempted, QuarantineFacts } from "../src/report/facts.ts";
import type { AgreementCount } from "../src/report/reconciliation/case.ts";
import { runSync, type RunSummary } from "../src/engine/run/run.ts";
import { runVerify, type VerifySummary } from "../src/engine/run/verify-run.ts";
import { underRunLock, type Application } from "../src/operate/application.ts";
import { withApplication } from "../src/cli/command.ts";
import { type Output, safeLines } from "../src/cli/output.ts";
import { monthReport } from "../src/books/statements.ts";
import { differencesIn } from "../src/app/execute-job.ts";
import { runJson, verifyJson } from "../src/operate/ended-json.ts";
import { notAttemptedIn, printRun } from "../src/cli/run-summary.ts";
import type { Environment } from "../src/config/load.ts";
import { formatKey, parseKey } from "../src/crm/keys.ts";
import { openCount, openWhat, type OpenRecords } from "../src/report/open.ts";
import { counted, explainCommand } from "../src/report/text.ts";
import { copyExports, edits, writeSecondAct } from "./second-act.ts";

/**
 * Where the demo's things are: its configuration, its reports, and its folder as a person in the shell would type it.
 */
export interface DemoPlaces {
  config: string;
  /** The exports of the CRM as they come with the demo. */
  sample: string;
  /** Where the configuration reads them, as they are in the act that was shown last. */
  exports: string;
  reports: string;
  here: string;
}

/** What the demo came to. */
interface Demonstrated {
  summary: RunSummary;
  verified: VerifySummary;
  writingCalls: number;
  notAttempted: readonly NotAttempted[];
  agreement: readonly AgreementCount[];
  waiting: readonly QuarantineFacts[];
  sampleRead: string;
  ledger: string;
  reports: readonly string[];
}

/**
 * The main job on a sample: reads it, brings customers, orders and staff to the sandbox inside the program, reads
 * everything back, and says what a person wants to know. Run again it finds nothing to do.
 */
export async function demonstrate(
  places: DemoPlaces,
  json: boolean,
  environment: Environment,
  output: Output,
  signal: AbortSignal,
): Promise<ExitCode> {
  copyExports(places.sample, places.exports);
  const invocation = { options: { config: places.config, json, sandbox: true as const }, environment, output };
  return await withApplication(invocation, async (application) => {
    const { sandbox } = application;
    if (sandbox === undefined) throw new Error("the demo runs with a sandbox inside");
    const before = sandbox.counts().writingCalls;
    const { summary, verified } = await synchroniseAndVerify(application, signal);
    const writingCalls = sandbox.counts().writingCalls - before;
    const inquiry = await application.inquiry();
    const agreement = await inquiry.agreement();
    const waiting = [...inquiry.quarantine()];
    const month = currentMonth(application);
    const reports: string[] = [];
    for (const kind of ["orders", "reconciliation", "exceptions"] as const) {
      reports.push(
        ...(await monthReport(application, { kind, format: "csv", by: "happened", month, folder: places.reports })),
      );
    }
    const shown = {
      summary,
      verified,
      writingCalls,
      notAttempted: await notAttemptedIn(application, summary),
      agreement,
      waiting,
      sampleRead: await sampleRead(application),
      ledger: application.ledgerPath,
      reports,
    };
    if (json) output.json(demonstratedJson(shown));
    else print(output, places, shown);
    return worst(summary.exitCode, verified.exitCode);
  });
}

/** Who is gone from an export counts as gone after as many whole readings of it. */
const readingsOfTheGone = 3;

/**
 * The second act: what a CRM changed since the first one. Says what was sent for it, what waits for a person, and how a
 * person decides; run again after that it carries out what was approved.
 */
export async function demonstrateSecondAct(
  places: DemoPlaces,
  json: boolean,
  environment: Environment,
  output: Output,
  signal: AbortSignal,
): Promise<ExitCode> {
  const isNew = writeSecondAct(places.sample, places.exports);
  const invocation = { options: { config: places.config, json, sandbox: true as const }, environment, output };
  return await withApplication(invocation, async (application) => {
    const { sandbox } = application;
    if (sandbox === undefined) throw new Error("the demo runs with a sandbox inside");
    const before = sandbox.counts().calls;
    const approved = await (await application.inquiry()).holds({ states: ["approved"] });
    const summary = await synchronise(application, signal);
    const calls = writesBetween(before, sandbox.counts().calls);
    const inquiry = await application.inquiry();
    const held = await inquiry.holds({ states: ["open"] });
    const { exitCode } = summary;
    if (json) {
      output.json({ exitCode, calls, held: held.map(({ id, explanation }) => ({ id, explanation })) });
      return exitCode;
    }
    const left = new Set((await inquiry.holds({ states: ["approved"] })).map(({ id }) => id));
    const carriedOut = approved.filter(({ id }) => !left.has(id));
    printSecondAct(output, places, {
      summary,
      isNew,
      calls,
      held,
      carriedOut,
      sampleRead: await sampleRead(application),
    });
    return exitCode;
  });
}

const writing = ["E1", "E2", "E4", "E5", "E6", "E7", "M1", "M2", "M3", "M4", "M9", "M10"] as const;

function writesBetween(before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>) {
  const counts = writing.map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/** What the second act came to. */
interface SecondAct {
  summary: RunSummary;
  /** The CRM has the changes of the act since this run. */
  isNew: boolean;
  calls: Readonly<Record<string, number>>;
  held: readonly HoldFacts[];
  carriedOut: readonly HoldFacts[];
  /** When the first run had read the sample: only what is open since before then is broken in the sample itself. */
  sampleRead: string;
}

function printSecondAct(output: Output, { here }: DemoPlaces, act: SecondAct): void {
  const { calls, held, carriedOut } = act;
  if (act.isNew) {
    output.line("changes in the CRM since the first act:");
    for (const { record, what } of edits) output.line(`  ${record.padEnd(20)} ${what}`);
  } else output.line("the CRM has changed nothing since this act was shown last");
  output.line("");
  const sent = Object.entries(calls).map(([name, count]) => `${name} ${count}`);
  output.line(`writing calls: ${sent.length === 0 ? "0" : sent.join(", ")}`);
  const command = `bin/crm-sync --config ${here}/crm-sync.yaml --sandbox`;
  const block = (heading: string, lines: readonly string[]): void => {
    if (lines.length > 0) output.line(safeLines(["", heading, ...lines.map((line) => `  ${line}`)].join("\n")));
  };
  const text = ({ id, customer, explanation }: HoldFacts): string => `${id} of ${formatKey(customer)}: ${explanation}`;
  block(`carried out, as approved (${carriedOut.length}):`, carriedOut.map(text));
  block(
    `held until a person decides (${held.length}):`,
    held.flatMap((hold) => [text(hold), `  ${command} approve ${hold.id} --reason TEXT   (or reject)`]),
  );
  const later = openSince(act.summary.open, act.sampleRead);
  block(
    "open since the first act:",
    later.flatMap((group) =>
      group.examples.flatMap(({ record, reason }) => [
        `${openWhat({ ...group, count: 1 })}: ${record}: ${reason}`,
        `  ${(group.standing === "quarantined" ? "crm-sync quarantine list" : explainCommand(group.stream, parseKey(record))).replace("crm-sync", command)}`,
      ]),
    ),
  );
  output.line("");
  const next = [
    ...(held.length > 0 ? ["npm run demo -- --act 2      carries out the approved changes, and nothing else"] : []),
    `${command} explain order SO-50004`,
    "npm run demo -- --act 3      for finance: a month is closed, corrected later, and checked",
    "npm run demo                 takes the CRM back to the first act",
  ];
  output.line(`next:    ${next.join("\n         ")}`);
  printExitOfSecondAct(
    output,
    act.summary,
    later.reduce((sum, { examples }) => sum + examples.length, 0),
  );
}

/** Why it ends as it does, as both codes that it normally ends with are no success. */
function printExitOfSecondAct(output: Output, { exitCode, open }: RunSummary, later: number): void {
  const sample = openCount(open) - later;
  const more = later === 0 ? "" : `, and ${later} more`;
  const told: Partial<Record<ExitCode, string>> = {
    [exitCodes.held]: "a removal waits for a person",
    [exitCodes.recordsRejected]: `${counted(sample, "record")} of the sample ${sample === 1 ? "waits" : "wait"} since the first act${more}`,
  };
  const why = told[exitCode];
  if (why !== undefined) output.line(`\nIt ends with exit code ${exitCode}, as it should: ${why}.`);
}

/** What is open only since then: of each group the records that are named. */
function openSince(open: readonly OpenRecords[], since: string): OpenRecords[] {
  return open
    .filter(({ counts }) => counts)
    .map((group) => ({ ...group, examples: group.examples.filter((example) => example.since > since) }))
    .filter(({ examples }) => examples.length > 0);
}

/** When the first run of the demo in this ledger had read the sample. */
async function sampleRead(application: Application): Promise<string> {
  const runs = await (await application.inquiry()).runs({ job: "demo", limit: Number.MAX_SAFE_INTEGER });
  const first = runs.at(-1);
  return first?.finishedAt ?? first?.startedAt ?? "";
}

async function synchronise(application: Application, signal: AbortSignal): Promise<RunSummary> {
  const dependencies = await application.runDependencies();
  const { limits } = application.config;
  const request = { trigger: "hand", streams, signal, header: application.runHeader() } as const;
  const sync = { ...request, job: "demo", limits, read: true };
  return await underRunLock(application, async () => {
    let summary = await runSync(dependencies, sync);
    for (let reading = 1; reading < readingsOfTheGone; reading += 1) summary = await runSync(dependencies, sync);
    return summary;
  });
}

async function synchroniseAndVerify(
  application: Application,
  signal: AbortSignal,
): Promise<{ summary: RunSummary; verified: VerifySummary }> {
  const dependencies = await application.runDependencies();
  const request = { trigger: "hand", streams, signal, header: application.runHeader() } as const;
  return await underRunLock(application, async () => {
    const { limits } = application.config;
    const summary = await runSync(dependencies, { ...request, job: "demo", limits, read: true });
    const differences = (since: string): ReturnType<typeof differencesIn> => differencesIn(application, since);
    const verified = await runVerify(dependencies, { ...request, job: "verify", differences });
    return { summary, verified };
  });
}

function demonstratedJson(shown: Demonstrated): Json {
  const { summary, verified, writingCalls, agreement, waiting, ledger, reports } = shown;
  return {
    ...asObject(runJson(summary, writingCalls)),
    writingCalls,
    verify: verifyJson(verified),
    asMeant: agreement.map((line): Json => ({ ...line })),
    quarantine: waiting.map(({ id, place, code, message }): Json => ({ id, place, code, message })),
    ledger,
    reports: [...reports],
  };
}

function print(output: Output, { here }: DemoPlaces, shown: Demonstrated): void {
  const { ledger, reports, sampleRead: since } = shown;
  printRun(output, shown.summary, { ...shown, calls: shown.writingCalls, zone: "UTC" });
  const broken = shown.waiting.filter(({ firstSeen }) => firstSeen <= since);
  const later = shown.waiting.filter(({ firstSeen }) => firstSeen > since);
  const listed = (heading: string, rows: readonly QuarantineFacts[]): void => {
    if (rows.length === 0) return;
    output.line(`\n${heading} (${rows.length}):`);
    for (const row of rows) output.line(safeLines(`  ${row.place}: ${row.message}`));
  };
  listed("waiting in quarantine since the first run, on purpose in this sample", broken);
  listed("waiting in quarantine since a later change", later);
  printAgreement(output, shown.agreement);
  output.line(`ledger:  ${ledger}`);
  output.line(`reports: ${reports.join("\n         ")}`);
  output.line("");
  output.line("next:    npm run demo                 finds nothing to do: writing calls: 0");
  output.line(`         edit a line in ${here}/sample and run it again: exactly that change is made`);
  output.line(`         bin/crm-sync --config ${here}/crm-sync.yaml --sandbox status`);
  output.line(`         bin/crm-sync --config ${here}/crm-sync.yaml --sandbox quarantine list`);
  output.line(
    "         npm run demo -- --act 2      later changes of the CRM: an order amended, one cancelled, a " +
      "person who left, a new name",
  );
  output.line("         npm run demo -- --act 3      for finance: a month is closed, corrected later, and checked");
  output.line("         npm run demo -- --reset      drops the demo's ledger and sandbox");
  if (shown.summary.exitCode !== exitCodes.recordsRejected) return;
  const open = openSince(shown.summary.open, since).reduce((sum, { examples }) => sum + examples.length, 0);
  const waits = openCount(shown.summary.open) - broken.length - open;
  output.line("");
  output.line(`It ends with exit code 3, as it should: ${broken.length} records of the sample are broken on purpose,`);
  output.line(`and ${counted(waits, "other")} that need them or lack an address wait.`);
  if (open > 0)
    output.line(
      `${open} more ${open === 1 ? "waits" : "wait"} since a later change: \`crm-sync status\` says what to do, or ` +
        "npm run demo -- --reset begins anew.",
    );
}

/** What the platform shows as it was sent, with what of the rest was never sent. */
function printAgreement(output: Output, agreement: readonly AgreementCount[]): void {
  output.line("\nread back from the platform:");
  for (const { what, matched, unsent, total } of agreement) {
    const other = total - matched - unsent;
    const rest = [
      ...(unsent === 0 ? [] : [`${unsent} not sent`]),
      ...(other === 0 ? [] : [`${other} otherwise: the reconciliation report says why`]),
    ];
    output.line(`  ${[`${what.padEnd(12)} ${String(matched).padStart(6)} as sent`, ...rest].join(", ")}`);
  }
  output.line(
    "  Not sent are the records that wait or are in quarantine, and what is in them. Of the rows read, those without",
  );
  output.line("  an id and orders that were cancelled before they were placed are not counted here.\n");
}

function asObject(value: Json): { [key: string]: Json | undefined } {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

/** The month it is now in the configured zone, `2026-10`. */
function currentMonth(application: Application): string {
  const now = Temporal.Instant.fromEpochMilliseconds(application.clock.now()).toZonedDateTimeISO(
    application.config.zone,
  );
  return now.toPlainDate().toPlainYearMonth().toString();
}

const order: readonly ExitCode[] = [
  exitCodes.doesNotBalance,
  exitCodes.unknown,
  exitCodes.held,
  exitCodes.other,
  exitCodes.sourceDown,
  exitCodes.recordsRejected,
  exitCodes.changesPending,
  exitCodes.ok,
];

function worst(...codes: ExitCode[]): ExitCode {
  return order.find((code) => codes.includes(code)) ?? codes[0] ?? exitCodes.ok;
}
