import type { RecordKey } from "../../crm/model.ts";
import { together, compareBytes, isSameKey } from "../../engine/model/state-part.ts";

/** A person holds an asset number, because we assigned it or adopted that. */
export interface Assignment {
  assetNumber: string;
  staff: RecordKey;
  memberGlobalId: string;
  origin: "granted" | "adopted";
}

interface AssignmentBegins extends Assignment {
  type: "asset-granted";
  customer: RecordKey;
  /** Null: no operation of ours, a reading taught it. */
  operationId: string | null;
}

interface AssignmentEnds {
  type: "asset-revoked";
  assetNumber: string;
  operationId: string | null;
}

declare module "../../engine/model/resource.ts" {
  interface ChangeShapes {
    "asset-granted": AssignmentBegins;
    "asset-revoked": AssignmentEnds;
  }
}
declare module "../../engine/model/state.ts" {
  interface Known {
    /** Those of the customer that stand, by asset number. */
    assignments: Assignment[];
  }
}

const assignments = together<{ assignments: Assignment[] }, AssignmentBegins | AssignmentEnds>((known, changes, of) => {
  const held = new Map(known.assignments.map((item) => [item.assetNumber, item]));
  for (const change of changes) {
    const { assetNumber } = change;
    if (change.type === "asset-granted" && isSameKey(change.customer, of.customer)) {
      const { staff, memberGlobalId, origin } = change;
      held.set(assetNumber, { assetNumber, staff, memberGlobalId, origin });
      continue;
    }
    // It ended, or somebody of another customer holds it.
    held.delete(assetNumber);
  }
  const sorted = [...held.values()].toSorted((one, other) => compareBytes(one.assetNumber, other.assetNumber));
  return { ...known, assignments: sorted };
});

/** How its changes change what is recorded of a customer, in memory. */
const later = { ...assignments, isForLater: true as const };
export const changes = { "asset-granted": later, "asset-revoked": later };
