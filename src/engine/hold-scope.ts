/**
 * What holds an operation: the limit of an enterprise, the sum of a run, of 24 hours or of 7 days, a policy, its kind,
 * which a person approves one by one, a CRM that changes it to and fro, or a ledger that was built anew.
 */
export type HoldScope = "enterprise" | "run" | "day" | "week" | "policy" | "operation" | "flips" | "rebuilt";

/** Whether a limit holds it, so that it is a matter of a sum; else it is held for what it is itself. */
export function isLimit(scope: HoldScope): boolean {
  return scope === "enterprise" || scope === "run" || scope === "day" || scope === "week";
}
