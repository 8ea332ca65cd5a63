import { toJson } from "../../base/canonical-json.ts";
import { requireReason } from "../../requests/reason.ts";
import type { ExitCode } from "../../base/errors.ts";
import { usage } from "../../base/errors.ts";
import { counted } from "../../report/text.ts";
import { ok, withLedger } from "../command.ts";
import type { Invocation } from "../command.ts";
import { byWhom, example, withReason } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("reassign")
    .description("give the records of a source that is configured no longer to another one, or let go of them")
    .argument("<source>", "the name that the source had")
    .option("--to <source>", "the configured source that reads them now")
    .option("--release", "no source will read them again: nothing changes for them or their licences", false)
    .option(...withReason)
    .option(...byWhom)
    .addHelpText(
      "after",
      `${example('crm-sync reassign hr --to people --reason "renamed"')}
The records keep their keys. Records that the next full reads of the other source do not have count as deleted by the
usual rules.`,
    )
    .action((source, words) => carryOut((invocation) => reassignCommand(invocation, source, words)));
};

interface Words {
  to?: string | undefined;
  release: boolean;
  reason?: string | undefined;
  by?: string | undefined;
}

async function reassignCommand(invocation: Invocation, from: string, words: Words): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withLedger(invocation, async (application) => {
    const { to, release } = words;
    if ((to === undefined) !== release)
      throw usage("reassign needs either --to or --release", `crm-sync reassign ${from} --to SOURCE --reason TEXT`);
    const whose = { by: deciderOf(words.by), reason: requireReason(words.reason) };
    const { reassign } = await import("../../requests/decisions.ts");
    const given = await reassign(application, { from, to }, whose);
    if (options.json) output.json({ from, to: to ?? null, records: toJson(given) });
    else
      for (const { stream, count } of given)
        output.line(
          `${stream}: ${counted(count, "record")} of ${from} ` +
            (to === undefined ? "stay as they are; no source reads them" : `are of ${to} now`),
        );
    return ok;
  });
}
