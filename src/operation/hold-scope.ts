/**
 * What holds an operation: the limit of an enterprise, the sum of a run, of 24 hours or of 7 days, a policy, its kind,
 * which a person approves one by one, a CRM that changes it to and fro, or a ledger that was built anew.
 */
export type HoldScope = "enterprise" | "run" | "day" | "week" | "policy" | "operation" | "flips" | "rebuilt";
