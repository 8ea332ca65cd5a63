import { existsSync } from "node:fs";
import type { ExitCode } from "../../base/errors.ts";
import { ok, withLedger } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("migrate")
    .description("bring the ledger to this version")
    .option("--accept-platform", "the services of this configuration are the ledger's own, at a new address", false)
    .option("--by <name>", "with --accept-platform: who decides (default: the user of the operating system)")
    .addHelpText("after", example("crm-sync migrate"))
    .action((options) => carryOut((invocation) => migrateCommand(invocation, options.acceptPlatform, options.by)));
};

/** `migrate`: brings the ledger to this version. A migration that fails leaves it as it was. */
async function migrateCommand(
  invocation: Invocation,
  acceptPlatform: boolean,
  by: string | undefined,
): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withLedger(invocation, async (application) => {
    const who = deciderOf(by);
    const existed = existsSync(application.ledgerPath);
    const ledger = await application.ledger();
    const applied = ledger.identity.migrations();
    if (acceptPlatform) {
      const { platformName } = await import("../../app/platform-name.ts");
      await ledger.identity.requirePlatform(await platformName(application), { by: who });
    }
    if (options.json) output.json({ ledger: application.ledgerPath, migrations: applied });
    else output.line(`${application.ledgerPath} is ${existed ? "at this version" : "new"}: ${applied.join(", ")}`);
    return ok;
  });
}
