import { operationStates } from "./tables.ts";
import type { OperationState } from "./tables.ts";

/** How many operations are in each state, as columns of one row: grouped rows would be sorted in memory first. */
export const stateCounts = operationStates.map((state) => `sum(state = '${state}') as ${state}`).join(", ");

/** Null where there is no operation at all. */
export type StateCounts = Record<OperationState, number | null>;

/** The states that are there, with their number. */
export function foundStates(counts: StateCounts | undefined): Record<string, number> {
  const found: Record<string, number> = {};
  for (const state of operationStates) {
    const count = counts?.[state] ?? 0;
    if (count > 0) found[state] = count;
  }
  return found;
}
