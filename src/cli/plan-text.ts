import { formatKey } from "../crm/keys.ts";
import { kindOf } from "../operation/registry.ts";
import type { CustomerPlan } from "../plan/plan.ts";
import { safeLines } from "./output.ts";

/** One customer's plan for people. */
export function planText(plan: CustomerPlan): string {
  const lines: string[] = [`customer ${formatKey(plan.customer)}`];
  for (const operation of plan.operations) {
    lines.push(
      `  ${operation.takesAway > 0 ? "−" : "+"} ${operation.endpoint} ${operation.subject}: ${operation.reason}`,
    );
    for (const field of kindOf(operation).planLines(operation)) lines.push(`      ${field}`);
  }
  for (const change of plan.changes) {
    if (change.type === "linked") lines.push(`  = adopts the enterprise ${change.link.enterpriseGlobalId}`);
    if (change.type === "order-placed")
      lines.push(
        `  = takes the order ${formatKey(change.order)} for placed: the platform ` +
          `shows all of it under the channel order number ${change.channelOrderId}`,
      );
  }
  for (const record of plan.records) {
    if (record.outcome !== "planned")
      lines.push(`  … ${record.stream} ${formatKey(record.key)} ${record.outcome}: ${record.reason ?? ""}`);
  }
  return safeLines(lines.join("\n"));
}
