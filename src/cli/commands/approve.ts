import type { ExitCode } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import { ok, withLedger } from "../command.ts";
import type { Invocation } from "../command.ts";
import { byWhom, example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";
import { requireReason } from "../reason.ts";

export const register: Register = (program, carryOut) => {
  for (const [name, verdict, text] of [
    ["approve", "approved", "release what a limit holds; the next run carries it out"],
    ["reject", "rejected", "refuse what a limit holds; nothing of it is taken away"],
  ] as const) {
    program
      .command(name)
      .description(text)
      .argument("<id>", "the hold")
      .option("--reason <text>", "why; kept in the audit record, so without phone numbers and e-mail addresses")
      .option(...byWhom)
      .addHelpText("after", example(`crm-sync ${name} h-1a2b3c4d --reason "asked the customer"`))
      .action((id, options) => carryOut((invocation) => holdCommand(invocation, verdict, id, options)));
  }
};

/** `approve ID` and `reject ID`: a person's decision on what a limit holds. */
export async function holdCommand(
  invocation: Invocation,
  verdict: "approved" | "rejected",
  id: string,
  words: { reason?: string | undefined; by?: string | undefined },
): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withLedger(invocation, async (application) => {
    const why = requireReason(words.reason);
    const by = deciderOf(words.by);
    const ledger = await application.existingLedger();
    const hold = await ledger.approvals.decide(id, verdict, why, by);
    const customer = formatKey(hold.customer);
    if (options.json) output.json({ hold: id, customer, state: verdict });
    else if (verdict === "approved") {
      output.line(
        `hold ${id} of customer ${customer} is approved; the next run carries out exactly this set of revokes`,
      );
    } else output.line(`hold ${id} of customer ${customer} is rejected; nothing of it is taken away`);
    return ok;
  });
}
