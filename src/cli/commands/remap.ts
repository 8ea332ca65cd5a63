import { toJson } from "../../base/canonical-json.ts";
import type { ExitCode } from "../../base/errors.ts";
import { exitCodes } from "../../base/errors.ts";
import type { RemappedStream } from "../../app/remap.ts";
import { ok, withLedger } from "../command.ts";
import type { Invocation } from "../command.ts";
import { byWhom, example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";
import { safeLines } from "../output.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("remap")
    .description("map what the ledger keeps anew, with the mapping of now, without asking a source")
    .argument("[source]", "this source; all, where none is named")
    .argument("[stream]", "this stream of it")
    .option(...byWhom)
    .addHelpText("after", example("crm-sync remap erp orders"))
    .action((source, stream, options) =>
      carryOut((invocation) => remapCommand(invocation, { source, stream }, options.by)),
    );
};

export async function remapCommand(
  invocation: Invocation,
  only: { source: string | undefined; stream: string | undefined },
  by?: string,
): Promise<ExitCode> {
  const { output, options, signal } = invocation;
  return await withLedger(invocation, async (application) => {
    const { remap } = await import("../../app/remap.ts");
    const results = await remap(application, only, { by: deciderOf(by), signal });
    if (options.json) output.json({ streams: toJson(results) });
    else for (const result of results) output.line(safeLines(remappedText(result)));
    const isDone = results.every(
      (result) => result.left.length === 0 && result.quarantined === 0 && result.retried.every(isTakenUp),
    );
    return isDone ? ok : exitCodes.recordsRejected;
  });
}

const isTakenUp = ({ kind }: RemappedStream["retried"][number]): boolean => kind === "taken-up";

function remappedText(result: RemappedStream): string {
  const { source, stream, current, changed, unchanged, quarantined, left, retried } = result;
  const lines = [
    `${source}, ${stream}: ${changed} changed, ${unchanged} mapped to what they were, ` +
      `${current} mapped so before, ${quarantined} not usable any more`,
  ];
  if (changed > 0) lines.push("  → the next run carries out what changed");
  if (quarantined > 0) lines.push("  → `crm-sync quarantine list` says why; correct the mapping, then remap again");
  const used = retried.filter(isTakenUp).length;
  if (retried.length > 0) lines.push(`  of ${retried.length} in quarantine: ${used} usable now`);
  for (const { why, count } of left) lines.push(`  ${count} left as mapped before: ${why}`);
  if (left.length > 0) lines.push(`  → \`crm-sync resync --source ${source}\` reads them from the source`);
  return lines.join("\n");
}
