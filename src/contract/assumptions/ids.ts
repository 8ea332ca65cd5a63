import type { AssumptionId } from "./row.ts";

/** A1 to A43, in this order. */
export const assumptionIds: readonly AssumptionId[] = Array.from(
  { length: 43 },
  (_, index): AssumptionId => `A${index + 1}`,
);
