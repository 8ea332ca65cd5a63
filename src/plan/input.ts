import { unreadable } from "../base/errors.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Desired, DesiredCustomer, DesiredStaff, OrderWithTree } from "../operation/desired.ts";
import type { OrderStanding } from "../operation/order-standing.ts";
import type { OperationName } from "../engine/resource.ts";
import type { RecordReference } from "../operation/shape.ts";
import type { Known } from "../operation/state.ts";
import type { Block } from "./block.ts";
import type { Drift } from "./drift.ts";
import type {
  AssetReading,
  ObservedAsset,
  ObservedLoan,
  ObservedMember,
  ShownEnterprise,
} from "../platform/snapshot.ts";

/** What the platform showed just now; `undefined` where it was not read. A read that failed is never an empty list. */
export interface Observed {
  /** E3: enterprises under the customer's channel numbers. */
  enterprises: ShownEnterprise[] | undefined;
  /** Why E3's answer says neither that there is an enterprise nor that there is none. */
  ambiguous?: string | undefined;
  members: ObservedMember[] | undefined;
  /** M6, and those of E8 that M6 leaves out where it leaves out a number that people hold or are given. */
  assets: ObservedAsset[] | undefined;
  /** M7 of the asset numbers that were asked for and that M6 or E8 shows. */
  contents?: ReadonlyMap<string, AssetReading> | undefined;
  /** Asset numbers that neither M6 nor E8 shows, and of whose assets M7 says that there are none. */
  goneAssets?: ReadonlySet<string> | undefined;
  /** M7 was read of all assets that M6 and E8 show. */
  allContents?: boolean | undefined;
  /** What is to go and enough readings of M7 left out over the settle time, by order: names of `absentName`. */
  gone?: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /** M8, read where M5 or M6 shows something lent, where the CRM wants that, and where something is to go. */
  loans?: readonly ObservedLoan[] | undefined;
  /** Readings that gave nothing in this attempt: nothing is planned that rests on one of them. */
  unread?: Unread | undefined;
  /** Orders that may be on the platform already, whole or in part, and why they wait; by order. */
  unclearOrders?: ReadonlyMap<string, { code: string; reason: string; again: boolean }> | undefined;
}

/**
 * Why what rests on a reading waits, by the reading that gave nothing.
 * - `people`: M5 and M6, and M8 where it was needed: what is done for people and what is taken away of orders.
 * - `seats`: E8 beside M6: what is done about numbers that M6 leaves out, and deleted of accounts.
 * - `customers`: E3 of a linked enterprise: every purchase.
 * - `contents`: M7 of what stands: changes and repairs of orders, and what goes on under the number of another.
 * - `examined`: M7 of all that an enterprise shows which somebody else made: orders that may be there already.
 */
export type Unread = Partial<Record<"people" | "seats" | "customers" | "contents" | "examined", Block>>;

/** Whether a service gave nothing for something that a plan rests on. */
export function isUnread({ unread = {} }: Pick<Observed, "unread">): boolean {
  return Object.values(unread).some((block) => block.code === unreadable);
}

/** Something that a service refused for a record, as the ledger keeps it while the record has not changed since. */
export interface Rejection {
  record: RecordReference;
  kind: OperationName;
  /** Of what was refused: the operation, or one person's part of M1. */
  hash: string;
  /** Fingerprint of the settings that it was made with. */
  settings: string;
  operationId: string;
  code: string;
  reason: string;
  /** Refused together with others, so that it is not known whose fault it was. */
  shared: boolean;
}

/** An asset that was taken away: nothing stands under its number. */
export interface EndedAsset {
  number: string;
  namespace: string;
  instanceId: string;
}

/** An order that moved away from the customer in the CRM, and of which something may stand here still. */
export interface AwayOrder {
  /** As the CRM says it now, for its owner. */
  order: OrderWithTree;
  owner: RecordKey;
  /** What stands of it here; `lost`: nobody knows that; undefined where it was never placed. */
  standing: OrderStanding | { lost: string } | undefined;
  /** Why nobody knows what of it its owner has already; undefined where that is known. */
  unclear: string | undefined;
  /** The record of its owner; undefined where the CRM gave none. */
  buyer: Desired<DesiredCustomer> | undefined;
  /** Numbers that the CRM gives to the order and that it cannot have, even after nothing of it is left here. */
  taken: readonly string[];
}

/** What exists of an order for a customer that it moved away from; `lost`: nobody knows that. */
export interface LeftBehind {
  customer: RecordKey;
  standing: OrderStanding | { lost: string };
}

/** Everything one customer is planned from. */
export interface CustomerInput {
  customer: RecordKey;
  desiredCustomer: Desired<DesiredCustomer> | undefined;
  orders: OrderWithTree[];
  staff: Desired<DesiredStaff>[];
  known: Known;
  /**
   * Orders that wait for a change of their own, so that nothing of them is planned, and that take over something of
   * orders of which something may end.
   */
  takers?: readonly OrderWithTree[] | undefined;
  /** What stands of placed orders of which the CRM says something else now, by order; `lost`: why nobody knows that. */
  standings?: ReadonlyMap<string, OrderStanding | { lost: string }> | undefined;
  /** Another customer for whom something of a placed order exists, or may exist, and what, by order. */
  left?: ReadonlyMap<string, LeftBehind> | undefined;
  /** Orders that moved away from the customer in the CRM. */
  away?: readonly AwayOrder[] | undefined;
  /** Earlier orders that orders of this customer name, and that are another customer's: whose, by order. */
  earlierOwners?: ReadonlyMap<string, RecordKey> | undefined;
  /** Earlier orders of its own that are named so, do not stand as the CRM says, and are not looked at now. */
  earlier?: readonly OrderWithTree[] | undefined;
  /** Placed orders of which licence passwords are kept still, of whatever form. */
  sealed?: ReadonlySet<string> | undefined;
  /** Asset numbers fixed to units of placed orders whose purchase was never made, where there is any staff. */
  unbought?: ReadonlySet<string> | undefined;
  /** What ended of placed orders that stand as the CRM says, where there is any staff. */
  ended?: readonly EndedAsset[] | undefined;
  /** The ledger was built anew, which left something of the customer to be made, and no person approved of that yet. */
  rebuilt?: true | undefined;
  /** A rebuild could not look at the customer, and nobody could since. */
  unread?: true | undefined;
  /** The customer's own orders that moved back to where nobody knows what they left. */
  unclear?: readonly OrderWithTree[] | undefined;
  /** What was read back otherwise than it was left; undefined where nothing was. */
  drift?: Drift | undefined;
  observed: Observed;
  /** Clear private values of customer and staff, by marker key, where there is any staff; in memory only. */
  privateValues: ReadonlyMap<string, string>;
  /** The customer's own record was read, and could not be used yet. */
  customerInQuarantine?: boolean | undefined;
  /** Quarantined records that belong to this customer and block deletes in its scope. */
  quarantinedInScope: number;
  /**
   * A source of this customer's people that gave a row of which nobody can tell whose it is: it blocks deletes wherever
   * the source's people are.
   */
  sourceWithStrayRecord: { source: string; row: string } | undefined;
  /** What was refused for this customer and its records, and stands while nothing has changed. */
  rejections: readonly Rejection[];
}

/** The same as the ledger gives it, before the platform was read. */
export type LoadedCustomer = Omit<CustomerInput, "observed">;
