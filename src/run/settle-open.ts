import type { CustomerState } from "../apply/customer-state.ts";
import type { Settled } from "../apply/settled.ts";
import { operationOpen } from "./customer-attempt.ts";
import type { CustomerAttempt, CustomerAttemptResult, ReconcileDependencies } from "./customer-attempt.ts";

/** Something of a customer that stays open: why its records wait, and how the attempt ends. */
export interface LeftOpen {
  code: string;
  reason: string;
  end: CustomerAttemptResult;
}

/**
 * Settles what is open of a customer. While something stays open, nothing else of the customer is done.
 */
export async function settleOpen(
  { ledger, settling }: Pick<ReconcileDependencies, "ledger" | "settling">,
  knows: CustomerState,
  { runId, signal }: Pick<CustomerAttempt, "runId" | "signal">,
): Promise<LeftOpen | undefined> {
  for (const row of await ledger.journal.openOf(knows.customer)) {
    const settled = await settling.settle(row, { runId, signal, knows });
    if (settled.kind === "done" || settled.kind === "dropped" || settled.kind === "rejected") continue;
    const { endpoint, subject } = row.operation;
    const reason = `waits until the outcome of ${endpoint} on ${subject} (${row.id}) is known`;
    return { code: operationOpen, reason, end: endOf(settled) };
  }
  return undefined;
}

function endOf(settled: Settled): CustomerAttemptResult {
  if (settled.kind === "waiting") return { kind: "waiting", until: settled.until };
  if (settled.kind === "parked" || settled.kind === "paused") return { kind: "stopped", reason: settled.kind };
  return { kind: "finished", short: new Set(["unread"]) };
}
