import { toJson } from "../../base/canonical-json.ts";
import type { Json } from "../../base/canonical-json.ts";
import type { ExitCode } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { CustomerPlan } from "../../plan/plan.ts";
import type { Planned, PlanSummary } from "../../run/plan-run.ts";
import { withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { safeLines } from "../output.ts";
import { scopeOf } from "../scope.ts";
import type { ScopeWords } from "../scope.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("plan")
    .description("what would change, by record and field; sends nothing but reads")
    .option("--customer <id>", "only this customer")
    .option("--order <id>", "only the customer of this order")
    .option("--source <name>", "only what this source gives")
    .option("--out <file>", "save the plan, to be applied as it is")
    .addHelpText("after", example("crm-sync plan --out plan.ndjson", "crm-sync plan --customer ALFKI"))
    .action((options) => carryOut((invocation) => planCommand(invocation, options, options.out)));
};

export async function planCommand(
  invocation: Invocation,
  words: ScopeWords,
  out: string | undefined,
): Promise<ExitCode> {
  const { signal } = invocation;
  return await withApplication(invocation, async (application) => {
    const { planByHand } = await import("../../app/by-hand.ts");
    const { planText } = await import("../plan-text.ts");
    const { lastLine } = await import("../run-summary.ts");
    return await planByHand(application, scopeOf(application, words), out, {
      signal,
      showPlan: (planned) => showPlanned(invocation, planned, planText),
      show: async (summary) => showTotal(invocation, summary, out, lastLine(summary.exitCode, summary.open)),
    });
  });
}

function showPlanned({ output, options }: Invocation, planned: Planned, textOf: (plan: CustomerPlan) => string): void {
  if (!("plan" in planned)) {
    const customer = formatKey(planned.customer);
    if (options.json) output.json({ type: "unplanned", customer, reason: planned.reason });
    else output.line(safeLines(`customer ${customer}\n  ! ${planned.reason}`));
    return;
  }
  const { plan } = planned;
  const silent =
    plan.operations.length === 0 &&
    plan.changes.length === 0 &&
    plan.records.every((record) => record.outcome === "planned");
  if (options.json) output.json(planJson(plan));
  else if (!silent) output.line(textOf(plan));
}

function showTotal(
  { output, options }: Invocation,
  summary: PlanSummary,
  out: string | undefined,
  lastLine: string,
): void {
  const { run, customers, operations, unreadable: unplanned, open, exitCode: exit } = summary;
  for (const tally of summary.sources) {
    if (tally.problem === undefined && tally.shrunk === undefined) continue;
    output.note(
      safeLines(
        `source ${tally.source}/${tally.stream}: ${tally.problem?.message ?? tally.shrunk ?? ""}\n` +
          `  → ${tally.problem?.cure ?? "Until then nothing is taken away."}`,
      ),
    );
  }
  if (options.json) {
    output.json({ type: "total", run, customers, operations, unplanned, writingCalls: 0, open: toJson(open), exit });
    return;
  }
  output.line(
    `${operations} operation(s) planned for ${customers} ` +
      `customer(s); ${unplanned} could not be planned. Nothing was sent.`,
  );
  if (out !== undefined) output.line(`saved as ${out}; \`crm-sync apply ${out}\` carries out exactly this`);
  output.line(lastLine);
}

function planJson(plan: CustomerPlan): Json {
  return {
    type: "customer",
    customer: formatKey(plan.customer),
    fingerprint: plan.fingerprint,
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
