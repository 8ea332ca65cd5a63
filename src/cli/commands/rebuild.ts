import type { ExitCode } from "../../base/errors.ts";
import { withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { byWhom, example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { toJson } from "../../base/canonical-json.ts";
import { deciderOf } from "../decider.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("rebuild")
    .description(
      "bring links, orders and assignments back into a ledger that is empty or was restored, by reading the platform",
    )
    .option("--dry-run", "say what would be brought back, and keep nothing")
    .option(...byWhom)
    .addHelpText(
      "after",
      `${example("crm-sync rebuild --dry-run")}
It only reads. Use it for a new ledger after the old one was lost, or for an older copy: one that \`crm-sync restore\`
put back, or a copied file that lacks newer changes. A ledger that lacks nothing is refused (exit 65). An older copy
keeps its history:
records that agree with the platform stay, and the rest is read again. Until it has ended, every command that writes
is refused. It lists the rest that it cannot bring back. If that includes a record, or work is left, it ends with exit
3.`,
    )
    .action((options) => carryOut((invocation) => rebuildCommand(invocation, options)));
};

/** `rebuild [--dry-run]`. */
async function rebuildCommand(
  invocation: Invocation,
  { dryRun = false, by }: { dryRun?: boolean; by?: string | undefined },
): Promise<ExitCode> {
  const { output, options, signal } = invocation;
  return await withApplication(invocation, async (application) => {
    const { rebuild } = await import("../../recovery/rebuild.ts");
    const { neverRebuilt, rebuildText } = await import("../../report/rebuild.ts");
    return await rebuild(application, {
      by: deciderOf(by),
      dryRun,
      signal,
      show: (summary) => {
        const { run, state, customers, known, unreadable, lost, assumed, left, gap } = summary;
        const never = [...neverRebuilt(gap !== undefined)];
        if (options.json)
          output.result(
            toJson({
              run,
              state,
              dryRun,
              customers,
              known,
              unreadable,
              lost,
              assumed,
              left,
              never,
              ...(gap && { gap }),
            }),
          );
        else for (const line of rebuildText(summary, dryRun)) output.line(line);
      },
    });
  });
}
