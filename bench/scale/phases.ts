/** What is measured at each size, in this order. */
export const phases = ["make", "first", "unchanged", "change", "verify", "status", "report", "audit"] as const;
export type Phase = (typeof phases)[number];
