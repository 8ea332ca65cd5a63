/** What is measured at each size, in this order. `make` writes the exports and a ledger that holds history alone. */
export const phases = [
  "make",
  "first",
  "unchanged",
  "change",
  "verify",
  "status",
  "explain",
  "orders",
  "reconciliation",
  "audit",
] as const;
export type Phase = (typeof phases)[number];
