import type { ExitCode } from "../../base/errors.ts";
import { usage } from "../../base/errors.ts";
import { ok } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { reportFailure } from "../output.ts";
import { askedTwice } from "../password-question.ts";

export const register: Register = (program, carryOut) => {
  const account = program
    .command("account")
    .description("people who sign in at the pages with a password")
    .addHelpText("after", example("crm-sync account hash > /etc/crm-sync/secrets/anna"));
  account
    .command("hash")
    .description("ask for a password and print the line that serve.access.accounts.NAME.password refers to")
    .addHelpText("after", example("crm-sync account hash > /etc/crm-sync/secrets/anna"))
    .action(() => carryOut(hashCommand));
};

/** `account hash`: from a terminal the password is typed twice and not shown; from a pipe it is the first line. */
async function hashCommand({ output, options }: Invocation): Promise<ExitCode> {
  try {
    const { hashLineOf, longestPassword, shortestPassword } = await import("../../app/account-password.ts");
    const password = await askedTwice(process.stdin, process.stderr);
    if (password.length < shortestPassword || password.length > longestPassword)
      throw usage(
        `a password has at least ${shortestPassword} and at most ${longestPassword} characters`,
        "take a longer one, such as four words",
      );
    const line = await hashLineOf(password);
    if (options.json) output.json({ line });
    else output.line(line);
    output.note("keep it in a file that only the program may read; nobody can sign in with the line itself");
    return ok;
  } catch (error) {
    return reportFailure(output, error, options.json);
  }
}
