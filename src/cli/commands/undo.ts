import { counted } from "../../report/text.ts";
import type { ExitCode } from "../../base/errors.ts";
import type { UndoStep } from "../../engine/plan/undo.ts";
import type { UndoSummary } from "../../engine/run/undo-run.ts";
import { withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { safeLines, savedText } from "../output.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("undo")
    .description("what would take a run back, step by step, newest first; sends nothing but reads")
    .argument("<run>", "the run, as `runs` lists it, or `last`: the newest that carried something out")
    .option("--out <file>", "save it as a plan, to be applied by `apply`")
    .addHelpText(
      "after",
      example("crm-sync undo run_01J… --out undo.ndjson", "crm-sync apply undo.ndjson", "crm-sync undo last"),
    )
    .action((run, { out }) => carryOut((invocation) => undoCommand(invocation, run, out)));
};

export async function undoCommand(invocation: Invocation, run: string, out: string | undefined): Promise<ExitCode> {
  const { signal } = invocation;
  return await withApplication(invocation, async (application) => {
    const { undoByHand } = await import("../../requests/plans.ts");
    const { payloadLines } = await import("../../engine/model/registry.ts");
    const linesOf = ({ operations }: UndoStep): string[] =>
      operations.flatMap((operation) => [
        `      ${operation.hash.slice(0, 8)} ${operation.endpoint} ${operation.subject}: ${operation.reason}`,
        ...payloadLines(operation).map((line) => `        ${line}`),
      ]);
    return await undoByHand(application, run, {
      out,
      signal,
      show: (summary) => showUndo(invocation, summary, { out, linesOf }),
    });
  });
}

function showUndo(
  { output, options }: Invocation,
  { run, undone, again, steps, plans, unplanned, exitCode, heldOfFile }: UndoSummary & { heldOfFile: number },
  { out, linesOf }: { out: string | undefined; linesOf: (step: UndoStep) => string[] },
): void {
  const operations = plans.reduce((sum, { plan }) => sum + plan.operations.length, 0);
  if (options.json) {
    output.json({
      type: "undo",
      run,
      undone,
      steps: steps.map(({ operations: own, difference, note, waits, ...step }) => ({
        ...step,
        difference: difference ?? null,
        note: note ?? null,
        waits: waits ?? null,
        operations: own.map(({ hash }) => hash),
      })),
      operations,
      unplanned: unplanned.length,
      again,
      writingCalls: 0,
      exit: exitCode,
    });
    return;
  }
  if (steps.length === 0 && unplanned.length === 0) {
    output.line(`${undone} carried nothing out: there is nothing to take back`);
    return;
  }
  const count = (how: UndoStep["how"]): number => steps.filter((step) => step.how === how).length;
  output.line(
    safeLines(
      `${counted(steps.length, "step")} to take ${undone} back: ${count("exact")} exact, ${count("approximate")} approximate, ` +
        `${count("impossible")} impossible`,
    ),
  );
  for (const step of steps) output.line(safeLines([stepLine(step), ...linesOf(step)].join("\n")));
  for (const { customer, reason } of unplanned)
    output.line(safeLines(`  ! ${customer.namespace}/${customer.id}: ${reason}`));
  output.line(
    `${counted(operations, "operation")} planned for ${counted(plans.length, "customer")}. Nothing was sent.`,
  );
  if (out !== undefined) output.line(savedText(out, operations, heldOfFile));
  output.line(again);
}

/** `  approximate  op_… E5 order:crm/O1: …`. */
function stepLine({ how, operation, endpoint, subject, difference, note, waits }: UndoStep): string {
  const said = [difference, note, waits === undefined ? undefined : `not now: ${waits}`];
  const text = said.filter((part) => part !== undefined).join("; ");
  return `  ${how.padEnd(11)}  ${operation} ${endpoint} ${subject}${text === "" ? "" : `: ${text}`}`;
}
