import { formatKey } from "../crm/keys.ts";
import type { LoadedCustomer } from "./input.ts";

/** What has to be read from the platform before a customer can be planned. Nothing, where nothing depends on it. */
export interface Needs {
  enterprises: boolean;
  /** M5 and M6. */
  staff: boolean;
  /** (M6 ∪ E8) → M7 of an adopted enterprise, so that orders already there are not placed again. */
  orders: boolean;
}

/**
 * Decides what has to be read (E3; M5 and M6; the assets of an adopted enterprise). `thorough` reads staff even where
 * nothing changed.
 */
export function needsOf(input: LoadedCustomer, thorough: boolean): Needs {
  const { link } = input.known;
  const staffMatters =
    input.staff.some((staff) => staff.pending && staff.state !== "quarantined") ||
    hasStrangers(input) ||
    (thorough && input.staff.length > 0);
  return {
    enterprises: link === undefined && input.desiredCustomer?.state === "current",
    staff: link !== undefined && staffMatters,
    orders:
      link !== undefined &&
      link.origin !== "created" &&
      !link.examined &&
      input.orders.some((order) => order.pending && order.state === "current"),
  };
}

/** Whether somebody holds an asset here by our doing and no longer belongs to this customer in the CRM. */
function hasStrangers(input: LoadedCustomer): boolean {
  const ours = new Set(input.staff.map((staff) => formatKey(staff.key)));
  return input.known.assignments.some((assignment) => !ours.has(formatKey(assignment.staff)));
}
