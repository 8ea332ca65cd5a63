import type { ExitCode } from "../../base/errors.ts";
import { ok, withLedger } from "../command.ts";
import type { Invocation } from "../command.ts";
import { byWhom, example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("accept-platform")
    .description("say that the services of this configuration are the ledger's own, at a new address")
    .option(...byWhom)
    .addHelpText("after", example("crm-sync accept-platform --by anna.lee"))
    .action((options) => carryOut((invocation) => acceptPlatform(invocation, options.by)));
};

async function acceptPlatform(invocation: Invocation, by: string | undefined): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withLedger(invocation, async (application) => {
    const who = deciderOf(by);
    const ledger = await application.existingLedger();
    const { platformName } = await import("../../app/platform-name.ts");
    const platform = await platformName(application);
    await ledger.identity.requirePlatform(platform, { by: who });
    if (options.json) output.json({ ledger: application.ledgerPath, platform });
    else output.line(`${application.ledgerPath} belongs to ${platform}`);
    return ok;
  });
}
