import type { Json } from "../src/base/canonical-json.ts";
import { toInstant } from "../src/base/clock.ts";
import type { ExitCode } from "../src/base/errors.ts";
import { exitCodes } from "../src/base/errors.ts";
import { streams } from "../src/crm/model.ts";
import { runSync } from "../src/run/run.ts";
import { runVerify } from "../src/run/verify-run.ts";
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
    const dependencies = await application.runDependencies();
    const { sandbox } = application;
    if (sandbox === undefined) throw new Error("the demo runs with a sandbox inside");
    const before = sandbox.counts().writingCalls;
    const header = application.runHeader();
    const { summary, verified } = await underRunLock(application, async () => {
      const summary = await runSync(dependencies, {
        job: "demo",
        trigger: "hand",
        streams,
        limits: application.config.limits,
        read: true,
        signal,
        header,
      });
      const verified = await runVerify(dependencies, {
        job: "verify",
        trigger: "hand",
        streams,
        signal,
        header,
        findings: () => findingsIn(application),
      });
      return { summary, verified };
    });
    const writingCalls = sandbox.counts().writingCalls - before;
    const queries = await application.queries();
    const agreement = await queries.agreement();
    const waiting = [...queries.quarantine()];
    const month = currentMonth(application);
    const files: string[] = [];
    for (const kind of ["orders", "reconciliation", "exceptions"] as const) {
      files.push(await monthReport(application, kind, month, places.reports));
    }
    if (json) {
      output.json({
        ...asObject(runJson(summary, writingCalls)),
        writingCalls,
        verify: verifyJson(verified),
        asMeant: agreement.map((line): Json => ({ ...line })),
        quarantine: waiting.map((row): Json => ({
          id: row.id,
          place: row.place,
          code: row.code,
          message: row.message,
        })),
        ledger: application.ledgerPath,
        reports: files,
      });
    } else {
      printRun(output, summary, writingCalls, toInstant(application.clock.now()));
      output.line("");
      if (waiting.length > 0) {
        output.line(`waiting in quarantine (${waiting.length}), on purpose in this sample:`);
        for (const row of waiting) output.line(safeLines(`  ${row.place}: ${row.message}`));
      }
      output.line("");
      output.line("read back from the platform, as meant:");
      for (const line of agreement) {
        const rest = line.total - line.matched;
        output.line(
          `  ${line.what.padEnd(12)} ${String(line.matched).padStart(6)} of ${line.total}${rest === 0 ? "" : `; ${rest} not: they wait as said above, or the reconciliation report says why`}`,
        );
      }
      output.line("");
      output.line(`ledger:  ${application.ledgerPath}`);
      output.line(`reports: ${files.join("\n         ")}`);
      output.line("");
      output.line("next:    npm run demo                 finds nothing to do: writing calls: 0");
      output.line(`         edit a line in ${places.here}/sample and run it again: exactly that change is made`);
      output.line(`         bin/crm-sync --config ${places.here}/crm-sync.yaml --sandbox status`);
      output.line(`         bin/crm-sync --config ${places.here}/crm-sync.yaml --sandbox quarantine list`);
      output.line("         npm run demo -- --reset      drops the demo's ledger and sandbox");
    }
    return worst(summary.exitCode, verified.exitCode);
  });
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
