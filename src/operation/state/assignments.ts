import type { RecordKey } from "../../crm/model.ts";
import { together } from "./part.ts";
import { compareBytes } from "./row-order.ts";
import { isSameKey } from "./same-key.ts";

export interface Assignment {
  assetNumber: string;
  staff: RecordKey;
  memberGlobalId: string;
  origin: "granted" | "adopted";
}

export interface KnownAssignments {
  assignments: Assignment[];
}

export type AssignmentChange =
  | {
      type: "asset-granted";
      assetNumber: string;
      staff: RecordKey;
      customer: RecordKey;
      memberGlobalId: string;
      origin: "granted" | "adopted";
      operationId: string | null;
    }
  | { type: "asset-revoked"; assetNumber: string; operationId: string | null };

const assignments = together<KnownAssignments, AssignmentChange>((known, changes, context) => {
  const all = new Map(known.assignments.map((item) => [item.assetNumber, item]));
  for (const change of changes) {
    const { assetNumber } = change;
    if (change.type === "asset-granted" && isSameKey(change.customer, context.customer)) {
      const { staff, memberGlobalId, origin } = change;
      all.set(assetNumber, { assetNumber, staff, memberGlobalId, origin });
    } else all.delete(assetNumber);
  }
  const sorted = [...all.values()].toSorted((one, other) => compareBytes(one.assetNumber, other.assetNumber));
  return { ...known, assignments: sorted };
});

export const assignmentsParts = { "asset-granted": assignments, "asset-revoked": assignments };

/** Whether a change is of who holds an asset. */
export function isOfAssignment(change: { type: string }): change is AssignmentChange {
  return Object.hasOwn(assignmentsParts, change.type);
}
