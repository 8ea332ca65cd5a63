import type { ExitCode } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import { ok, withLedger } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";
import { parseKey } from "../keys.ts";

export const register: Register = (program, carryOut) => {
  const staff = program.command("staff").description("staff members");
  staff
    .command("password")
    .description("hand a generated initial password out, once")
    .argument("<id>", "ID, or NAMESPACE/ID")
    .option("--by <name>", "who asks; kept in the audit record (default: the user of the operating system)")
    .addHelpText("after", example("crm-sync staff password 4711"))
    .action((id, options) => carryOut((invocation) => staffPasswordCommand(invocation, id, options)));
};

/** `staff password ID`: hands the generated initial password out, once. */
export async function staffPasswordCommand(
  invocation: Invocation,
  id: string,
  words: { by?: string | undefined },
): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withLedger(invocation, async (application) => {
    const by = deciderOf(words.by);
    const staff = parseKey(id, application.config.namespace);
    const key = formatKey(staff);
    const { handOutPassword } = await import("../../app/initial-password.ts");
    await handOutPassword(application, staff, by, async (password) => {
      if (options.json) output.json({ staff: key, password });
      else output.line(password);
      await output.written();
    });
    output.note(`the initial password of ${key}; it is shown this once and is not kept`);
    return ok;
  });
}
