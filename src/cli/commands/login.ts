import type { ExitCode } from "../../base/errors.ts";
import { ok, withReader } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("login")
    .description("print a link that signs you in at the pages of `crm-sync serve`, once and within a minute")
    .addHelpText("after", example("crm-sync login"))
    .action(() => carryOut(loginCommand));
};

/** `login`: whoever may write beside the ledger may decide. */
async function loginCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const person = deciderOf(undefined);
    const { loginLink } = await import("../../operate/login-link.ts");
    const url = loginLink(application, person);
    if (options.json) output.json({ url, person });
    else output.line(url);
    output.note(`signs ${person} in, with the right to decide, once and within a minute`);
    return ok;
  });
}
