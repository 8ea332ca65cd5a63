import type { ExitCode } from "../../base/errors.ts";
import { exitCodes, Problem } from "../../base/errors.ts";
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
    const key = formatKey(parseKey(id, application.config.namespace));
    const ledger = await application.existingLedger();
    const ref = `initial-password/${key}`;
    const sealed = await ledger.latestSealed(ref);
    const password = sealed.values?.["password"];
    const linked = await ledger.isStaffLinked(parseKey(id, application.config.namespace));
    if (!linked || typeof password !== "string") {
      throw new Problem({
        code: "staff.no-password",
        message: !linked
          ? `staff member ${key} was not added by crm-sync yet, so there is no password to hand out`
          : sealed.version > 0
            ? `the initial password of staff member ${key} was handed out already and is not kept`
            : `there is no generated password for staff member ${key}`,
        cure: !linked
          ? "`crm-sync explain staff ID` says what it waits for"
          : "have the person reset the password on the platform",
        exitCode: exitCodes.usage,
      });
    }
    // Audited first, printed next, wiped last: a pipe that breaks loses nothing, and no showing is without its entry.
    const body = { version: sealed.version, by };
    await ledger.audit({ kind: "password-handed-out", subject: `staff:${key}`, body });
    if (options.json) output.json({ staff: key, password });
    else output.line(password);
    await output.written();
    await ledger.wipeSealed(ref, sealed.version);
    output.note(`the initial password of ${key}; it is shown this once and is not kept`);
    return ok;
  });
}
