import type { ExitCode } from "../../base/errors.ts";
import { withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("apply")
    .description("apply a saved plan exactly, or the plan of now")
    .argument("[file]", "a file made by `plan --out`")
    .addHelpText("after", example("crm-sync apply plan.ndjson"))
    .action((file) => carryOut((invocation) => applyCommand(invocation, file)));
};

export async function applyCommand(invocation: Invocation, file: string | undefined): Promise<ExitCode> {
  const { output, options, signal } = invocation;
  return await withApplication(invocation, async (application) => {
    const { applyByHand } = await import("../../app/by-hand.ts");
    const { showRun } = await import("../run-summary.ts");
    return await applyByHand(application, file, {
      signal,
      show: async (summary) => {
        await showRun(invocation, application, summary);
        if (summary.customers.stale > 0 && !options.json) {
          output.line(
            `refused: ${summary.customers.stale} customer(s) changed since ` +
              `the plan was made; plan anew with \`crm-sync plan --out FILE\``,
          );
        }
      },
    });
  });
}
