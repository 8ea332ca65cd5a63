import { counted } from "../../report/text.ts";
import { toJson } from "../../base/canonical-json.ts";
import type { JsonObject } from "../../base/canonical-json.ts";
import type { ExitCode } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { CustomerPlan } from "../../plan/plan.ts";
import type { Planned, PlanSummary } from "../../run/plan-run.ts";
import { withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { byWhom, example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";
import { heldText, safeLines, savedText } from "../output.ts";
import { scopeOf } from "../scope.ts";
import type { ScopeWords } from "../scope.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("plan")
    .description("what would change, by record and field; sends nothing but reads")
    .option("--customer <id>", "only this customer")
    .option("--order <id>", "only the customer of this order")
    .option("--source <name>", "only what this source gives")
    .option("--out <file>", "save the plan as a file for `apply`")
    .option("--show-private", "with the personal data behind the markers; the audit log notes who saw it", false)
    .option(...byWhom)
    .addHelpText("after", example("crm-sync plan --out plan.ndjson", "crm-sync plan --customer ALFKI"))
    .action((options) => carryOut((invocation) => planCommand(invocation, options, options)));
};

export async function planCommand(
  invocation: Invocation,
  words: ScopeWords,
  { out, showPrivate = false, by }: { out?: string | undefined; showPrivate?: boolean; by?: string | undefined } = {},
): Promise<ExitCode> {
  const { signal } = invocation;
  const privateFor = showPrivate ? deciderOf(by) : undefined;
  return await withApplication(invocation, async (application) => {
    const { planByHand } = await import("../../app/by-hand.ts");
    const { planText } = await import("../plan-text.ts");
    const { lastLine } = await import("../run-summary.ts");
    return await planByHand(application, scopeOf(application, words), out, {
      signal,
      privateFor,
      showPlan: (planned, shown) => showPlanned(invocation, planned, { shown, textOf: planText }),
      show: async (summary) => showTotal(invocation, summary, out, lastLine(summary)),
    });
  });
}

function showPlanned(
  { output, options }: Invocation,
  planned: Planned,
  { shown, textOf }: { shown: Record<string, string> | undefined; textOf: (plan: CustomerPlan) => string },
): void {
  if (!("plan" in planned)) {
    const customer = formatKey(planned.customer);
    const { code, reason } = planned;
    if (options.json) output.json({ type: "unplanned", customer, code, reason });
    else output.line(safeLines(`customer ${customer}\n  ! ${planned.reason}`));
    return;
  }
  const { plan } = planned;
  const silent =
    plan.operations.length === 0 &&
    plan.changes.length === 0 &&
    plan.records.every((record) => record.outcome === "planned");
  if (options.json) output.json({ ...planJson(plan), ...(shown !== undefined && { private: shown }) });
  else if (!silent) output.line([textOf(plan), ...privateLines(shown)].join("\n"));
}

function showTotal(
  { output, options }: Invocation,
  summary: PlanSummary,
  out: string | undefined,
  lastLine: string,
): void {
  const { run, customers, operations, unplanned, held, rejected, heldOperations, open, exitCode: exit } = summary;
  for (const tally of summary.sources) {
    const why = tally.problem ?? tally.doubt;
    if (why !== undefined)
      output.note(safeLines(`source ${tally.source}/${tally.stream}: ${why.message}\n  → ${why.cure}`));
  }
  if (options.json) {
    const counts = { customers, operations, heldOperations, unplanned, writingCalls: 0 };
    output.json({ type: "total", run, ...counts, held: toJson(held), rejected, open: toJson(open), exit });
    return;
  }
  output.line(
    `${counted(operations, "operation")} planned for ${counted(customers, "customer")}; ` +
      `${unplanned} could not be planned. Nothing was sent.`,
  );
  if (heldOperations > 0) output.line(`${heldOperations} of them would wait for approval first`);
  for (const hold of held) output.line(heldText(hold));
  if (out !== undefined) output.line(savedText(out, operations, heldOperations));
  output.line(lastLine);
}

/** The personal data behind the markers of a plan, a line for each. */
function privateLines(shown: Record<string, string> = {}): string[] {
  return Object.entries(shown).map(([marker, value]) => safeLines(`      (private) ${marker}: ${value}`));
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
      // For whom stands what is to go before this is sent.
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
