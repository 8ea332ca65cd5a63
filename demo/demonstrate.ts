import type { Json } from "../src/base/canonical-json.ts";
import type { ExitCode } from "../src/base/errors.ts";
import { exitCodes } from "../src/base/errors.ts";
import { streams } from "../src/crm/model.ts";
import type { HoldFacts, QuarantineFacts } from "../src/report/facts.ts";
import type { AgreementCount } from "../src/report/reconciliation/rows.ts";
import { runSync } from "../src/run/run.ts";
import type { RunSummary } from "../src/run/summary.ts";
import { runVerify } from "../src/run/verify-run.ts";
import type { VerifySummary } from "../src/run/verify-run.ts";
import { underRunLock } from "../src/app/run-lock.ts";
import { withApplication } from "../src/cli/command.ts";
import type { Output } from "../src/cli/output.ts";
import { safeLines } from "../src/cli/output.ts";
import { monthReport } from "../src/app/report-files.ts";
import { differencesIn } from "../src/app/execute-job.ts";
import { runJson, verifyJson } from "../src/app/ended-json.ts";
import { printRun } from "../src/cli/run-summary.ts";
import type { Environment } from "../src/config/environment.ts";
import { formatKey } from "../src/crm/keys.ts";
import { openCount } from "../src/report/open.ts";
import { counted } from "../src/report/text.ts";
import { copyExports, edits, writeSecondAct } from "./second-act.ts";
import type { Application } from "../src/app/application.ts";

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
  agreement: readonly AgreementCount[];
  waiting: readonly QuarantineFacts[];
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
      agreement,
      waiting,
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
  writeSecondAct(places.sample, places.exports);
  const invocation = { options: { config: places.config, json, sandbox: true as const }, environment, output };
  return await withApplication(invocation, async (application) => {
    const { sandbox } = application;
    if (sandbox === undefined) throw new Error("the demo runs with a sandbox inside");
    const before = sandbox.counts().calls;
    const summary = await synchronise(application, signal);
    const calls = writesBetween(before, sandbox.counts().calls);
    const held = await (await application.inquiry()).holds({ states: ["open"] });
    const { exitCode } = summary;
    if (json) output.json({ exitCode, calls, held: held.map(({ id, explanation }) => ({ id, explanation })) });
    else printSecondAct(output, places, calls, held);
    return exitCode;
  });
}

const writing = ["E1", "E2", "E4", "E5", "E6", "E7", "M1", "M2", "M3", "M4", "M9", "M10"] as const;

function writesBetween(before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>) {
  const counts = writing.map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

function printSecondAct(
  output: Output,
  { here }: DemoPlaces,
  calls: Readonly<Record<string, number>>,
  held: readonly HoldFacts[],
): void {
  output.line("changes in the CRM since the first act:");
  for (const { record, what } of edits) output.line(`  ${record.padEnd(20)} ${what}`);
  output.line("");
  const sent = Object.entries(calls).map(([name, count]) => `${name} ${count}`);
  output.line(`writing calls: ${sent.length === 0 ? "0" : sent.join(", ")}`);
  output.line("");
  const command = `bin/crm-sync --config ${here}/crm-sync.yaml --sandbox`;
  if (held.length === 0) output.line("nothing waits for a person");
  else output.line(`held until a person decides (${held.length}):`);
  for (const { id, customer, explanation } of held) {
    output.line(safeLines(`  ${id} of ${formatKey(customer)}: ${explanation}`));
    output.line(`    ${command} approve ${id} --reason TEXT   (or reject)`);
  }
  output.line("");
  if (held.length > 0)
    output.line("next:    npm run demo -- --act 2      carries out the approved changes, and nothing else");
  output.line(`         ${command} explain order SO-50004`);
  output.line("         npm run demo -- --act 3      for finance: a month is closed, corrected later, and checked");
  output.line("         npm run demo                 takes the CRM back to the first act");
  if (held.length > 0) {
    output.line("");
    output.line("It ends with exit code 4, as it should: a removal waits for a person.");
  }
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
  const { waiting, ledger, reports } = shown;
  printRun(output, shown.summary, shown.writingCalls);
  output.line("");
  if (waiting.length > 0) {
    output.line(`waiting in quarantine (${waiting.length}), on purpose in this sample:`);
    for (const row of waiting) output.line(safeLines(`  ${row.place}: ${row.message}`));
  }
  output.line("");
  output.line("read back from the platform, as meant:");
  for (const { what, matched, total } of shown.agreement) {
    const rest = total - matched;
    const why = rest === 0 ? "" : `; ${rest} not: they wait as said above, or the reconciliation report says why`;
    output.line(`  ${what.padEnd(12)} ${String(matched).padStart(6)} of ${total}${why}`);
  }
  output.line("");
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
  const waits = openCount(shown.summary.open) - waiting.length;
  if (shown.summary.exitCode !== exitCodes.recordsRejected) return;
  output.line("");
  output.line(`It ends with exit code 3, as it should: ${waiting.length} records of the sample are broken on purpose,`);
  output.line(`and ${counted(waits, "other")} that need them or lack an address wait.`);
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
