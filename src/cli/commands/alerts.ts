import { toInstant } from "../../base/clock.ts";
import { toJson } from "../../base/canonical-json.ts";
import type { ExitCode } from "../../base/errors.ts";
import { exitCodes } from "../../base/errors.ts";
import { ok, withLedger, withReader } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { safeLines, viewOf } from "../output.ts";

export const register: Register = (program, carryOut) => {
  const alerts = program
    .command("alerts")
    .description("list open issues: since when, and who got an alert by which channel")
    .addHelpText("after", example("crm-sync alerts", "crm-sync alerts test on-call"))
    .action(() => carryOut(alertsCommand));
  alerts
    .command("test")
    .description("send a test message by each channel, or by one, and show the answer")
    .argument("[channel]", "the name of the channel; its kind, where it has no name")
    .addHelpText("after", example("crm-sync alerts test"))
    .action((channel) => carryOut((invocation) => alertsTestCommand(invocation, channel)));
};

/** `alerts`: what stood at the last look. */
async function alertsCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const { alertsNow } = await import("../../operate/notify/configured.ts");
    const facts = await alertsNow(application, await application.inquiry());
    if (options.json) {
      output.json(toJson(facts));
      return ok;
    }
    const { alertsText } = await import("../../report/alerts.ts");
    const now = toInstant(application.clock.now());
    output.line(alertsText(facts, now, viewOf(output, application.config.zone)));
    return ok;
  });
}

/** `alerts test`: exit code 1 where a channel did not deliver, or not to everybody. */
async function alertsTestCommand(invocation: Invocation, named: string | undefined): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withLedger(invocation, async (application) => {
    application.jobs();
    const { testAlerts } = await import("../../operate/notify/configured.ts");
    const tested = await testAlerts(application, named);
    if (options.json) output.json({ channels: toJson(tested) });
    else if (tested.length === 0)
      output.line("no channel is configured (`notify`, `alerts.channels`): nobody gets an alert");
    else
      for (const { channel, kind, problem, partly } of tested) {
        const name = channel === kind ? channel : `${channel} (${kind})`;
        const failed = problem ?? partly;
        output.line(safeLines(failed === null ? `good  ${name}: delivered` : `BAD   ${name}: ${failed}`));
        if (failed !== null) output.line(`      → ${cureOf(kind)}`);
      }
    return tested.some(({ problem, partly }) => problem !== null || partly !== null) ? exitCodes.other : ok;
  });
}

function cureOf(kind: string): string {
  if (kind === "mail") return "look at `mail` and at the recipients, then `crm-sync alerts test` again";
  if (kind === "command") return "run the program yourself with a JSON text on its standard input";
  return "check its address, its token and the network";
}
