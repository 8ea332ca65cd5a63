import { counted } from "../../report/text.ts";
import { usage } from "../../base/errors.ts";
import type { ExitCode } from "../../base/errors.ts";
import type { RunSummary } from "../../engine/run/run.ts";
import { withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example, repeated } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { parseKey } from "../keys.ts";
import { safeLines } from "../output.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("apply")
    .description("apply a saved plan exactly, or the plan of now")
    .argument("[file]", "a file made by `plan --out`")
    .option("--only <hash>", "only this operation of the file, by the first 8 characters of its hash", repeated, [])
    .option("--customer <id>", "only the operations of this customer", repeated, [])
    .addHelpText(
      "after",
      example("crm-sync apply plan.ndjson", "crm-sync apply plan.ndjson --only 1a2b3c4d --customer ALFKI"),
    )
    .action((file, { only, customer }) =>
      carryOut((invocation) => applyCommand(invocation, file, { operations: only, customers: customer })),
    );
};

/** `apply`: the plan of now; `apply FILE`: a saved plan as it is, or what is chosen of it, each operation once. */
export async function applyCommand(
  invocation: Invocation,
  file: string | undefined,
  chosen: { operations: readonly string[]; customers: readonly string[] } = { operations: [], customers: [] },
): Promise<ExitCode> {
  if (file === undefined && chosen.operations.length + chosen.customers.length > 0)
    throw usage("--only and --customer choose from a saved plan", "name the file");
  const { output, options, signal } = invocation;
  return await withApplication(invocation, async (application) => {
    const { applyByHand } = await import("../../requests/plans.ts");
    const { showRun } = await import("../run-summary.ts");
    const customers = chosen.customers.map((key) => parseKey(key, application.config.namespace));
    let undone: string | undefined;
    const told = (before: readonly string[], undo: string | undefined): void => {
      for (const text of before) output.note(safeLines(text));
      undone = undo;
    };
    const from = file === undefined ? undefined : { file, choice: { operations: chosen.operations, customers }, told };
    return await applyByHand(application, from, {
      signal,
      show: async (summary) => {
        await showRun(invocation, application, summary);
        if (options.json) return;
        if (undone !== undefined)
          for (const text of nextOfUndo(summary, file ?? "", undone)) output.line(safeLines(text));
        if (summary.stale.length === 0) return;
        for (const { customer, moved } of summary.stale)
          output.line(safeLines(`refused: ${customer} changed since the plan was made: ${moved.join("; ")}`));
        output.line(
          `refused: ${counted(summary.stale.length, "customer")} changed since the plan was made; ` +
            "plan anew with `crm-sync plan --out FILE`",
        );
      },
    });
  });
}

/** What a person does about what is left of taking a run back. */
function nextOfUndo({ held }: RunSummary, file: string, undone: string): string[] {
  const holds = held.filter(({ ofUndo }) => ofUndo === true);
  return [
    ...holds.map(
      ({ hold, customer }) =>
        `next: hold ${hold} of ${customer} takes a run back: crm-sync approve ${hold} --reason TEXT, then ` +
        `crm-sync apply ${file} again; no other run carries it out, and nothing is sent twice`,
    ),
    `next: crm-sync undo ${undone} shows the rest; --out FILE plans the rest`,
  ];
}
