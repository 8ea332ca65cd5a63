import type { Json } from "../src/base/canonical-json.ts";
import { toInstant } from "../src/base/clock.ts";
import type { ExitCode } from "../src/base/errors.ts";
import { exitCodes } from "../src/base/errors.ts";
import { streams } from "../src/crm/model.ts";
import type { QuarantineFacts } from "../src/report/facts.ts";
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
import { findingsIn } from "../src/app/execute-job.ts";
import { runJson, verifyJson } from "../src/app/ended-json.ts";
import { printRun } from "../src/cli/run-summary.ts";
import type { Environment } from "../src/config/environment.ts";
import type { Application } from "../src/app/application.ts";

/**
 * Where the demo's things are: its configuration, its reports, and its folder as a person in the shell would type it.
 */
export interface DemoPlaces {
  config: string;
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
      reports.push(await monthReport(application, kind, month, places.reports));
    }
    const shown = { summary, verified, writingCalls, agreement, waiting, ledger: application.ledgerPath, reports };
    if (json) output.json(demonstratedJson(shown));
    else print(output, places, shown, toInstant(application.clock.now()));
    return worst(summary.exitCode, verified.exitCode);
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
    const findings = (): ReturnType<typeof findingsIn> => findingsIn(application);
    const verified = await runVerify(dependencies, { ...request, job: "verify", findings });
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

function print(output: Output, { here }: DemoPlaces, shown: Demonstrated, now: string): void {
  const { waiting, ledger, reports } = shown;
  printRun(output, shown.summary, shown.writingCalls, now);
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
  output.line("         npm run demo -- --reset      drops the demo's ledger and sandbox");
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
