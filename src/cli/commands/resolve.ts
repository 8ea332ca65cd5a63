import type { Resolved, RecordSubject } from "../../requests/resolve.ts";
import type { ExitCode } from "../../base/errors.ts";
import { exitCodes, usage } from "../../base/errors.ts";
import type { Stream } from "../../crm/model.ts";
import { printable } from "../../report/text.ts";
import { ok, withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { byWhom, example, withReason } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";
import { parseKey } from "../keys.ts";
import { requireReason } from "../../requests/reason.ts";

interface ResolveWords {
  done?: boolean | undefined;
  reason?: string | undefined;
  by?: string | undefined;
}

const streamOf: Readonly<Record<string, Stream>> = { customer: "customers", order: "orders", staff: "staff" };

export const register: Register = (program, carryOut) => {
  program
    .command("resolve")
    .description("record that a person changed something on the platform; it counts once crm-sync has read it back")
    .argument("<record>", "customer:ALFKI, order:10248 or staff:portal/7")
    .option("--done", "a person made there the change that the CRM wants")
    .option(...withReason)
    .option(...byWhom)
    .addHelpText(
      "after",
      `${example('crm-sync resolve staff:S1 --done --reason "the service desk renamed the account"')}
crm-sync writes the note first, then reads the platform. Fields that agree with the CRM count as done. Fields that no
reading shows count by your word, and are marked so. If a field differs, nothing counts (exit 3).`,
    )
    .action((record, options) => carryOut((invocation) => resolveCommand(invocation, record, options)));
};

/** `resolve RECORD --done`. */
async function resolveCommand(invocation: Invocation, record: string, words: ResolveWords): Promise<ExitCode> {
  const { output, options, signal } = invocation;
  return await withApplication(invocation, async (application) => {
    const subject = subjectIn(record, application.config.namespace);
    if (words.done !== true) throw usage("resolve needs to know which change was made", "add --done");
    const note = { subject, reason: requireReason(words.reason), by: deciderOf(words.by) };
    application.requireLedger();
    const { resolveByHand } = await import("../../requests/resolve.ts");
    const resolved = await resolveByHand(application, note, signal);
    if (options.json) output.json({ ...resolved, counts: resolved.otherwise.length === 0 });
    else for (const line of linesOf(resolved)) output.line(printable(line));
    return resolved.otherwise.length === 0 ? ok : exitCodes.recordsRejected;
  });
}

/** `order:10248`, `staff:portal/7`. */
function subjectIn(text: string, namespace: string): RecordSubject {
  const colon = text.indexOf(":");
  const stream = streamOf[text.slice(0, Math.max(colon, 0))];
  if (stream !== undefined) return { stream, key: parseKey(text.slice(colon + 1), namespace) };
  throw usage(`${JSON.stringify(text)} names no record`, "write it as customer:ID, order:ID or staff:ID");
}

function linesOf({ subject, seen, unseen, otherwise }: Resolved): string[] {
  const all = seen.length + unseen.length + otherwise.length;
  const shown = `${subject}: ${seen.length} of ${all} things are shown as the CRM says`;
  if (otherwise.length > 0)
    return [`${shown}; nothing counts as agreed, because:`, ...otherwise.map((is) => `  ${is}`)];
  if (unseen.length === 0) return [`${shown}; it counts as agreed`];
  return [`${shown}; it counts as agreed, and what cannot be read back by your word alone: ${unseen.join(", ")}`];
}
