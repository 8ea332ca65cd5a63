import type { Json } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import type { ExitCode } from "../base/errors.ts";
import { exitCodes } from "../base/errors.ts";
import { streams } from "../crm/model.ts";
import { runSync } from "../run/run.ts";
import { runVerify } from "../run/verify-run.ts";
import { underRunLock, withWorkplace } from "./command.ts";
import type { Output } from "./output.ts";
import { safeLines } from "./output.ts";
import { monthReport } from "./report-files.ts";
import { findingsIn } from "./run-commands.ts";
import { printRun, runJson, verifyJson } from "./run-summary.ts";
import type { Environment, Workplace } from "./workplace.ts";

/** Where the demo's things are: its configuration, its reports, and its folder as a person in the shell would type it. */
export interface DemoPlaces {
  config: string;
  reports: string;
  here: string;
}

/**
 * The main job on a sample: reads it, brings customers, orders and staff to the sandbox inside the program, reads everything back, and says
 * what a person wants to know. Run again it finds nothing to do.
 */
export async function demonstrate(
  places: DemoPlaces,
  json: boolean,
  environment: Environment,
  output: Output,
  signal: AbortSignal,
): Promise<ExitCode> {
  const invocation = { options: { config: places.config, json, sandbox: true as const }, environment, output };
  return await withWorkplace(invocation, async (workplace) => {
    const dependencies = await workplace.runDependencies();
    const { sandbox } = workplace;
    if (sandbox === undefined) throw new Error("the demo runs with a sandbox inside");
    const before = sandbox.counts().writingCalls;
    const header = workplace.runHeader();
    const { summary, verified } = await underRunLock(workplace, async () => {
      const summary = await runSync(dependencies, {
        job: "demo",
        trigger: "hand",
        streams,
        limits: workplace.config.limits,
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
        findings: () => findingsIn(workplace),
      });
      return { summary, verified };
    });
    const writingCalls = sandbox.counts().writingCalls - before;
    const queries = await workplace.queries();
    const agreement = await queries.agreement();
    const waiting = [...queries.quarantine()];
    const month = currentMonth(workplace);
    const files: string[] = [];
    for (const kind of ["orders", "reconciliation", "exceptions"] as const) {
      files.push(await monthReport(workplace, kind, month, places.reports));
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
        ledger: workplace.ledgerPath,
        reports: files,
      });
    } else {
      printRun(output, summary, writingCalls, toInstant(workplace.clock.now()));
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
      output.line(`ledger:  ${workplace.ledgerPath}`);
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
function currentMonth(workplace: Workplace): string {
  const now = Temporal.Instant.fromEpochMilliseconds(workplace.clock.now()).toZonedDateTimeISO(workplace.config.zone);
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
