import type { ExitCode } from "../../base/errors.ts";
import { withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { toJson } from "../../base/canonical-json.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("rebuild")
    .description("bring links, orders and assignments back into an empty ledger, from the platform and the sources")
    .option("--dry-run", "say what would be brought back, and keep nothing")
    .addHelpText(
      "after",
      `${example("crm-sync rebuild --dry-run")}
Nothing is sent but readings. It is for a ledger that is lost: one that was worked with is refused (exit 65). What
cannot be brought back is listed, and \`crm-sync report rebuild\` lists it again later. Where a record is among that, or
something is left to do, it ends with exit 3.`,
    )
    .action((options) => carryOut((invocation) => rebuildCommand(invocation, options.dryRun === true)));
};

/** `rebuild [--dry-run]`. */
async function rebuildCommand(invocation: Invocation, dryRun: boolean): Promise<ExitCode> {
  const { output, options, signal } = invocation;
  return await withApplication(invocation, async (application) => {
    const { rebuild } = await import("../../app/rebuild.ts");
    const { neverRebuilt, rebuildText } = await import("../../report/rebuild.ts");
    return await rebuild(application, {
      dryRun,
      signal,
      show: (summary) => {
        const { run, state, customers, known, unreadable, lost, assumed, left } = summary;
        const never = [...neverRebuilt];
        if (options.json)
          output.result(toJson({ run, state, dryRun, customers, known, unreadable, lost, assumed, left, never }));
        else for (const line of rebuildText(summary)) output.line(line);
      },
    });
  });
}
