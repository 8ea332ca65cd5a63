import { handedIn } from "./registry.ts";
import type { ChangeShapes } from "./resource.ts";
import type {
  DoneByHand,
  LicenceTypesShown,
  ObservationChange,
  KnownRequests,
  RequestChange,
  SecretsWiped,
  UnreadCustomerChange,
} from "./state-parts.ts";
import type { ChangeContext } from "./state-part.ts";

export interface Known extends KnownRequests {}

type OwnChange =
  | LicenceTypesShown
  | RequestChange
  | ObservationChange
  | DoneByHand
  | SecretsWiped
  | UnreadCustomerChange;
type OwnChanges = { [Change in OwnChange as Change["type"]]: Change };

declare module "./resource.ts" {
  interface ChangeShapes extends OwnChanges {}
}

/** Applied in the transaction of the outcome or reading that it follows from. */
export type StateChange = ChangeShapes[keyof ChangeShapes];

export const nothingRecorded: KnownRequests = { requests: [], crmAsked: [] };

/** Gives the same result as loading from the ledger after the change. */
export function applyChange(known: Known, change: StateChange, context: ChangeContext): Known {
  return advanced(known, change.type, [change], context);
}

function advanced<Type extends keyof ChangeShapes>(
  known: Known,
  type: Type,
  changes: readonly ChangeShapes[Type][],
  context: ChangeContext,
): Known {
  return handedIn().changes[type].apply(known, changes, context);
}

export function applyChanges(known: Known, changes: readonly StateChange[], context: ChangeContext): Known {
  const apart = new Map<object, { type: StateChange["type"]; changes: StateChange[] }>();
  let after = known;
  for (const change of changes) {
    const part = handedIn().changes[change.type];
    if (!part.isApart) after = applyChange(after, change, context);
    else {
      const own = apart.get(part) ?? { type: change.type, changes: [] };
      own.changes.push(change);
      apart.set(part, own);
    }
  }
  for (const { type, changes: own } of apart.values()) after = advanced(after, type, own, context);
  return after;
}
