import { toJson, type JsonObject } from "../../base/canonical-json.ts";
import { type ExitCode, usage } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { CustomerPlan } from "../../engine/plan/plan.ts";
import type { Planned, PlanSummary } from "../../engine/run/plan-run.ts";
import { withApplication, type Invocation } from "../command.ts";
import { example, repeated, type Register } from "../command-line.ts";
import { scopeOf, parseKey, type ScopeWords } from "../words.ts";
import { safeLines, savedText, viewOf, typed, type Output } from "../output.ts";
import { counted } from "../../report/text.ts";
import type { RunSummary } from "../../engine/run/run.ts";
import type { UndoStep } from "../../engine/plan/undo.ts";
import type { UndoSummary } from "../../engine/run/undo-run.ts";

export const addPlan: Register = (program, carryOut) => {
  program
    .command("plan")
    .description(
      "what would change, by record and field; sends nothing but reads, and the next run carries out what they found",
    )
    .option("--customer <id>", "only this customer")
    .option("--order <id>", "only the customer of this order")
    .option("--source <name>", "only what this source gives")
    .option("--out <file>", "save the plan as a file for `apply`")
    .option("--all", "every change; without it at most 50", false)
    .option("--verbose", "each field of a change", false)
    .addHelpText("after", example("crm-sync plan --out plan.ndjson", "crm-sync plan --customer ALFKI"))
    .action((options) => carryOut((invocation) => planCommand(invocation, options)));
};

interface PlanWords extends ScopeWords {
  out?: string | undefined;
  all: boolean;
  verbose: boolean;
}

async function planCommand(invocation: Invocation, words: PlanWords): Promise<ExitCode> {
  const { output, options, signal } = invocation;
  const { out } = words;
  return await withApplication(invocation, async (application) => {
    const { planByHand } = await import("../../requests/plans.ts");
    const { calledIn } = await import("../../requests/plans.ts");
    const { ShownPlan } = await import("../plan-text.ts");
    const { closingLine } = await import("../run-summary.ts");
    const shownPlan = new ShownPlan(words);
    return await planByHand(application, scopeOf(application, words), out, {
      signal,
      showPlan: (planned) => (options.json ? output.json(plannedJson(planned)) : shownPlan.add(planned)),
      show: async (summary, { inquiry, isTrial }) => {
        if (isTrial) output.note(trialText);
        noteSources(output, summary);
        if (options.json) {
          output.json(totalJson(summary));
          return;
        }
        const { namespace, zone } = application.config;
        const called = calledIn(inquiry, namespace);
        output.line(await shownPlan.text(summary, called, planAgain(words), viewOf(output, zone)));
        output.line("");
        if (out !== undefined) output.line(savedText(out, summary.operations, summary.heldBy.size));
        output.line(closingLine({ ...summary, held: summary.held.length + summary.newlyHeld }));
      },
    });
  });
}

const trialText =
  "The configuration of the sources changed since the last run, so this plan was made in a copy of the ledger. The copy " +
  "is not kept, and a run may still refuse a read that changed too much.";

function planAgain({ customer, order, source }: ScopeWords): string {
  const scope = Object.entries({ customer, order, source }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${typed(value)}`],
  );
  return ["crm-sync plan", ...scope].join(" ");
}

function noteSources(output: Output, { sources }: PlanSummary): void {
  for (const { source, stream, problem, doubt } of sources) {
    const why = problem ?? doubt;
    if (why !== undefined) output.note(safeLines(`source ${source}/${stream}: ${why.message}\n  → ${why.cure}`));
  }
}

function totalJson({ run, customers, operations, unplanned, ...summary }: PlanSummary): JsonObject {
  const { heldBy, held, rejected, open, exitCode: exit } = summary;
  const counts = { customers, operations, heldOperations: heldBy.size, unplanned, writingCalls: 0 };
  return { type: "total", run, ...counts, held: toJson(held), rejected, open: toJson(open), exit };
}

function plannedJson(planned: Planned): JsonObject {
  if ("plan" in planned) return planJson(planned.plan);
  const { customer, code, reason } = planned;
  return { type: "unplanned", customer: formatKey(customer), code, reason };
}

function planJson(plan: CustomerPlan): JsonObject {
  return {
    type: "customer",
    customer: formatKey(plan.customer),
    facts: { ...plan.facts },
    operations: plan.operations.map((operation) => ({
      ...operation,
      customer: { ...operation.customer },
      records: operation.records.map((record) => ({ ...record })),
    })),
    records: plan.records.map((record) => ({
      stream: record.stream,
      id: formatKey(record.key),
      outcome: record.outcome,
      code: record.code,
      reason: record.reason,
    })),
  };
}

export const addApply: Register = (program, carryOut) => {
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
    .action((file, chosen) => carryOut((invocation) => applyCommand(invocation, file, chosen)));
};

/** `apply`: the present plan; `apply FILE`: a saved plan, or chosen operations of it, each once. */
async function applyCommand(
  invocation: Invocation,
  file: string | undefined,
  { only, customer }: { only: readonly string[]; customer: readonly string[] },
): Promise<ExitCode> {
  if (file === undefined && only.length + customer.length > 0)
    throw usage("--only and --customer choose from a saved plan", "name the file");
  const { output, options, signal } = invocation;
  return await withApplication(invocation, async (application) => {
    const { applyByHand } = await import("../../requests/plans.ts");
    const { showRun } = await import("../run-summary.ts");
    const customers = customer.map((key) => parseKey(key, application.config.namespace));
    let undone: string | undefined;
    const told = (before: readonly string[], undo: string | undefined): void => {
      for (const text of before) output.note(safeLines(text));
      undone = undo;
    };
    const from = file === undefined ? undefined : { file, choice: { operations: only, customers }, told };
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

export const addUndo: Register = (program, carryOut) => {
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

async function undoCommand(invocation: Invocation, run: string, out: string | undefined): Promise<ExitCode> {
  const { signal } = invocation;
  return await withApplication(invocation, async (application) => {
    const { undoByHand } = await import("../../requests/plans.ts");
    const { payloadLines } = await import("../../engine/model/operation-line.ts");
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

function stepLine({ how, operation, endpoint, subject, difference, note, waits }: UndoStep): string {
  const said = [difference, note, waits === undefined ? undefined : `not now: ${waits}`];
  const text = said.filter((part) => part !== undefined).join("; ");
  return `  ${how.padEnd(11)}  ${operation} ${endpoint} ${subject}${text === "" ? "" : `: ${text}`}`;
}
