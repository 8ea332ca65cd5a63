import type { Json } from "../../base/canonical-json.ts";
import type { ExitCode } from "../../base/errors.ts";
import { exitCodes } from "../../base/errors.ts";
import { withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { safeLines } from "../output.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("check")
    .description("look at configuration, sources and services, without writing anything")
    .addHelpText("after", example("crm-sync check"))
    .action(() => carryOut(checkCommand));
};

/** `check`: what is good and what is not, with what to do about it. */
export async function checkCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, options, signal } = invocation;
  return await withApplication(invocation, async (application) => {
    const { check } = await import("../../setup/check.ts");
    const findings = await check(application, signal);
    if (options.json) {
      output.json(
        findings.map((finding): Json => ({
          ...finding,
          warning: finding.warning ?? false,
          place: finding.place ?? null,
          cure: finding.cure ?? null,
        })),
      );
    } else {
      for (const finding of findings) {
        const verdict = !finding.good ? "BAD " : finding.warning === true ? "warn" : "good";
        output.line(safeLines(`${verdict}  ${finding.what}: ${finding.detail}`));
        if (finding.place !== undefined && !finding.detail.includes(finding.place))
          output.line(safeLines(`      in ${finding.place}`));
        if (finding.cure !== undefined) output.line(safeLines(`      → ${finding.cure}`));
      }
    }
    const bad = findings.filter((finding) => !finding.good);
    if (bad.some((finding) => finding.kind === "ledger")) return exitCodes.ledgerRefused;
    if (bad.some((finding) => finding.kind === "setting")) return exitCodes.configuration;
    if (bad.some((finding) => finding.kind !== "records")) return exitCodes.sourceDown;
    return bad.length > 0 ? exitCodes.recordsRejected : exitCodes.ok;
  });
}
