import { toJson } from "../../base/canonical-json.ts";
import type { JsonObject } from "../../base/canonical-json.ts";
import type { ExitCode } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { CustomerPlan } from "../../engine/plan/plan.ts";
import type { Planned, PlanSummary } from "../../engine/run/plan-run.ts";
import { withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { byWhom, example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { deciderOf } from "../decider.ts";
import { safeLines, savedText, viewOf } from "../output.ts";
import type { Output } from "../output.ts";
import { scopeOf } from "../scope.ts";
import type { ScopeWords } from "../scope.ts";
import { typed } from "../suggested.ts";

export const register: Register = (program, carryOut) => {
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
    .option("--show-private", "with the personal data behind the markers; the audit log notes who saw it", false)
    .option(...byWhom)
    .addHelpText("after", example("crm-sync plan --out plan.ndjson", "crm-sync plan --customer ALFKI"))
    .action((options) => carryOut((invocation) => planCommand(invocation, options)));
};

interface PlanWords extends ScopeWords {
  out?: string | undefined;
  all: boolean;
  verbose: boolean;
  showPrivate: boolean;
  by?: string | undefined;
}

export async function planCommand(invocation: Invocation, words: PlanWords): Promise<ExitCode> {
  const { output, options, signal } = invocation;
  const { out } = words;
  const privateFor = words.showPrivate ? deciderOf(words.by) : undefined;
  return await withApplication(invocation, async (application) => {
    const { planByHand } = await import("../../requests/plans.ts");
    const { calledIn } = await import("../../requests/plans.ts");
    const { ShownPlan } = await import("../plan-text.ts");
    const { closingLine } = await import("../run-summary.ts");
    const shownPlan = new ShownPlan(words);
    return await planByHand(application, scopeOf(application, words), out, {
      signal,
      privateFor,
      showPlan: (planned, shown) =>
        options.json ? output.json(plannedJson(planned, shown)) : shownPlan.add(planned, shown),
      show: async (summary, { inquiry, isTrial }) => {
        if (isTrial) output.note(trialText);
        noteSources(output, summary);
        if (options.json) {
          output.json(totalJson(summary));
          return;
        }
        const { namespace, zone } = application.config;
        const called = calledIn(inquiry, { namespace, showsPeople: privateFor !== undefined });
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

/** The same plan as it was asked for. */
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

function plannedJson(planned: Planned, shown: Record<string, string> | undefined): JsonObject {
  if ("plan" in planned) return { ...planJson(planned.plan), ...(shown !== undefined && { private: shown }) };
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
