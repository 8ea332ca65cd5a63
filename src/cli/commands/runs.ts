import { toJson } from "../../base/canonical-json.ts";
import type { ExitCode } from "../../base/errors.ts";
import { ok, withReader } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example, wholeNumber } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { viewOf } from "../output.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("runs")
    .description("the last runs")
    .option("--limit <number>", "how many", wholeNumber, 20)
    .addHelpText("after", example("crm-sync runs --limit 5"))
    .action((options) => carryOut((invocation) => runsCommand(invocation, options.limit)));
};

export async function runsCommand(invocation: Invocation, limit: number): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const runs = await (await application.inquiry()).runs({ limit });
    if (options.json) {
      output.json(toJson(runs));
      return ok;
    }
    const { runsText } = await import("../../report/runs.ts");
    output.line(runsText(runs, viewOf(output, application.config.zone)));
    return ok;
  });
}
