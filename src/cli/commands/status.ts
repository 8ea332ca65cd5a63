import { toJson } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import type { ExitCode } from "../../base/errors.ts";
import { ok, withReader } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { viewOf } from "../output.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("status")
    .description("show the state of the synchronisation, and what needs a person")
    .addHelpText("after", example("crm-sync status --json"))
    .action(() => carryOut(statusCommand));
};

export async function statusCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const inquiry = await application.inquiry();
    const now = application.clock.now();
    const facts = { ...(await inquiry.status()), taken: await inquiry.taken(application.config.limits.taking, now) };
    const { attentionOf, statusText } = await import("../../report/status.ts");
    if (options.json) {
      output.json(toJson({ ...facts, attention: attentionOf(facts, toInstant(now)) }));
      return ok;
    }
    output.line(statusText(facts, toInstant(now), viewOf(output, application.config.zone)));
    return ok;
  });
}
