import type { ExitCode } from "../../base/errors.ts";
import { usage } from "../../base/errors.ts";
import { withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { reportFailure } from "../output.ts";
import { scopeOf } from "../scope.ts";
import type { ScopeWords } from "../scope.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("resync")
    .description("synchronise one customer, the customer of one order, or one source now, and read everything again")
    .option("--customer <id>", "this customer")
    .option("--order <id>", "the customer of this order")
    .option("--source <name>", "everything this source gives")
    .option("--since <time>", "with --source: what changed since then")
    .addHelpText("after", example("crm-sync resync --customer ALFKI"))
    .action((options) => carryOut((invocation) => resyncCommand(invocation, options)));
};

export async function resyncCommand(invocation: Invocation, words: ScopeWords): Promise<ExitCode> {
  const { output, options, signal } = invocation;
  return await withApplication(invocation, async (application) => {
    const scope = scopeOf(application, words);
    if (scope === undefined) throw usage("resync needs to know what", "add --customer ID, --order ID or --source NAME");
    const { resync } = await import("../../requests/plans.ts");
    const { showRun } = await import("../run-summary.ts");
    return await resync(application, scope, {
      signal,
      show: async (summary) => {
        const { unknownRecord } = summary;
        if (unknownRecord !== undefined) reportFailure(output, unknownRecord, options.json, application.config.zone);
        else await showRun(invocation, application, summary);
      },
    });
  });
}
