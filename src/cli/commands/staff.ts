import type { ExitCode } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import { ok, withApplication, withLedger } from "../command.ts";
import type { Invocation } from "../command.ts";
import { byWhom, example, withdrawing, withReason } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";
import { parseKey } from "../keys.ts";
import { requireReason } from "../../requests/reason.ts";
import type { PasswordReset } from "../../requests/staff-password.ts";

export const register: Register = (program, carryOut) => {
  const staff = program.command("staff").description("staff members");
  staff
    .command("password")
    .description("hand a generated password out, once: the one that was set last, else the initial one")
    .argument("<id>", "ID, or NAMESPACE/ID")
    .option("--by <name>", "who asks; kept in the audit log (default: the user of the operating system)")
    .addHelpText("after", example("crm-sync staff password 4711"))
    .action((id, options) => carryOut((invocation) => staffPasswordCommand(invocation, id, options)));
  staff
    .command("reset-password <id>")
    .description("set a new password for a member of staff (M3)")
    .option(...withReason)
    .option(...byWhom)
    .option("--from-crm", "set the password that the CRM gives, in place of a generated one")
    .option("--dry-run", "show what would be sent; M5 is read, and nothing is written or sent")
    .option(...withdrawing)
    .addHelpText(
      "after",
      `${example('crm-sync staff reset-password 4711 --reason "lost the letter"')}
The new password is sealed before it is sent, and \`crm-sync staff password ID\` hands it out, once. It is sent once: a
call without an answer waits for a person (exit 5, \`crm-sync settle\`) and is never repeated by itself. While another
run is on (exit 75), and while the outcome of another operation of the customer is open (exit 5), it stays asked for.`,
    )
    .action((id, options) => carryOut((invocation) => resetCommand(invocation, id, options)));
};

/** `staff password ID`: hands the generated password out, once. */
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
    const { handOutPassword } = await import("../../requests/staff-password.ts");
    const kind = await handOutPassword(application, staff, by, async (password) => {
      if (options.json) output.json({ staff: key, password });
      else output.line(password);
      await output.written();
    });
    output.note(`the ${kind} password of ${key}; it is shown this once and is not kept`);
    return ok;
  });
}

interface ResetWords {
  reason?: string | undefined;
  by?: string | undefined;
  fromCrm?: boolean | undefined;
  withdraw?: boolean | undefined;
  dryRun?: boolean | undefined;
}

/** `staff reset-password ID`. */
async function resetCommand(invocation: Invocation, id: string, words: ResetWords): Promise<ExitCode> {
  return await withApplication(invocation, async (application) => {
    const reset: PasswordReset = {
      staff: parseKey(id, application.config.namespace),
      fromCrm: words.fromCrm === true,
      withdraw: words.withdraw === true,
      reason: requireReason(words.reason),
      by: deciderOf(words.by),
    };
    const { askingForReset, customerOfStaff } = await import("../../requests/staff-password.ts");
    const { carryOutRequest } = await import("../manual-request.ts");
    const customer = await customerOfStaff(application, reset.staff);
    const asking = askingForReset(application, customer, reset);
    return await carryOutRequest(invocation, application, asking, words.dryRun === true);
  });
}
