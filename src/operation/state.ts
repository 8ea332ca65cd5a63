import { handedIn } from "../engine/registry.ts";
import type { ChangeShapes } from "../engine/resource.ts";
import { acknowledgedParts } from "./state/acknowledged.ts";
import type { AcknowledgedChange, KnownAcknowledged } from "./state/acknowledged.ts";
import { assetNumbersParts } from "./state/asset-numbers.ts";
import type { KnownAssetNumbers, NumbersTaken } from "./state/asset-numbers.ts";
import { byHandParts } from "./state/by-hand.ts";
import type { DoneByHand } from "./state/by-hand.ts";
import { enterpriseCodeParts } from "./state/enterprise-code.ts";
import type { EnterpriseCodeChange, KnownEnterpriseCode } from "./state/enterprise-code.ts";
import { licenceTypesParts } from "./state/licence-types.ts";
import type { LicenceTypesShown } from "./state/licence-types.ts";
import { linkParts } from "./state/link.ts";
import type { KnownLink, LinkChange } from "./state/link.ts";
import { movedOrdersParts } from "./state/moved-orders.ts";
import type { MovedOrderChange } from "./state/moved-orders.ts";
import { observationsParts } from "./state/observations.ts";
import type { ObservationChange } from "./state/observations.ts";
import type { ChangeContext, StatePart } from "./state/part.ts";
import { orderStepsParts } from "./state/order-steps.ts";
import type { OrderStepChange } from "./state/order-steps.ts";
import { placedOrdersParts } from "./state/placed-orders.ts";
import type { KnownPlacedOrders, OrderPlaced } from "./state/placed-orders.ts";
import { platformCustomersParts } from "./state/platform-customers.ts";
import type { KnownPlatformCustomers, PlatformCustomersChange } from "./state/platform-customers.ts";
import { protectedMembersParts } from "./state/protected-members.ts";
import type { KnownProtectedMembers, MembersProtected } from "./state/protected-members.ts";
import { requestsParts } from "./state/requests.ts";
import type { KnownRequests, RequestChange } from "./state/requests.ts";
import { secretsParts } from "./state/secrets.ts";
import type { SecretsWiped } from "./state/secrets.ts";
import { staffLinksParts } from "./state/staff-links.ts";
import type { KnownStaffLinks, StaffChange } from "./state/staff-links.ts";
import { unreadCustomersParts } from "./state/unread-customers.ts";
import type { UnreadCustomerChange } from "./state/unread-customers.ts";

/** What the ledger says we did for one customer: a file in `state/` for each thing that is known. */
export interface Known
  extends
    KnownLink,
    KnownPlatformCustomers,
    KnownAcknowledged,
    KnownPlacedOrders,
    KnownAssetNumbers,
    KnownStaffLinks,
    KnownProtectedMembers,
    KnownEnterpriseCode,
    KnownRequests {}

/** The changes that no resource folder has yet. */
export type OldChange =
  | LinkChange
  | PlatformCustomersChange
  | AcknowledgedChange
  | MembersProtected
  | OrderPlaced
  | MovedOrderChange
  | NumbersTaken
  | OrderStepChange
  | StaffChange
  | LicenceTypesShown
  | EnterpriseCodeChange
  | RequestChange
  | ObservationChange
  | DoneByHand
  | SecretsWiped
  | UnreadCustomerChange;
export type OldChanges = { [Change in OldChange as Change["type"]]: Change };

declare module "../engine/resource.ts" {
  interface ChangeShapes extends OldChanges {}
}

/** What becomes known by an outcome or a reading. Applied in the transaction of that outcome. */
export type StateChange = ChangeShapes[keyof ChangeShapes];

/** How each of them changes what is recorded. */
export const stateParts: { readonly [Type in keyof OldChanges]: StatePart<Known, OldChanges[Type]> } = {
  ...linkParts,
  ...platformCustomersParts,
  ...acknowledgedParts,
  ...protectedMembersParts,
  ...placedOrdersParts,
  ...movedOrdersParts,
  ...assetNumbersParts,
  ...orderStepsParts,
  ...staffLinksParts,
  ...licenceTypesParts,
  ...enterpriseCodeParts,
  ...requestsParts,
  ...observationsParts,
  ...byHandParts,
  ...secretsParts,
  ...unreadCustomersParts,
};

/** What is recorded of a customer of whom nothing is recorded, but for the resources that have a folder. */
export const nothingRecorded = () => ({
  link: undefined,
  unlinked: undefined,
  acknowledged: undefined,
  platformCustomers: [],
  placedOrders: new Map(),
  numbers: [],
  staffLinks: new Map(),
  protectedMembers: new Set<string>(),
  enterpriseCode: undefined,
  requests: [],
  crmAsked: [],
});

/**
 * What is known of a customer once a change is written: the same as is read back from the rows that the ledger writes
 * for it. What a change says of others leaves this customer as it is.
 */
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

/** The same for many changes, one after the other. */
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
