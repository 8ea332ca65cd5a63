import type { Json } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { PlatformCustomer } from "../platform/snapshot.ts";
import type { DesiredOrder } from "./desired.ts";

export interface Link {
  enterpriseGlobalId: string;
  channelCode: string;
  channelCustomerId: string;
  origin: "created" | "bound" | "adopted";
  /** For an adopted enterprise: whether its assets were read, so that orders already there are known. */
  examined: boolean;
  /** Since when the ledger knows of it, where it is kept there. */
  since?: string | undefined;
}

export interface PlacedOrder {
  key: RecordKey;
  /** For whom it was placed: not always the customer that the CRM names now. */
  customer: RecordKey;
  channelOrderId: string;
  bodyHash: string;
  version: number;
  origin: "placed" | "adopted";
  /** The order as it was placed, where the CRM has changed it since. */
  body?: DesiredOrder | undefined;
}

export interface FixedNumber {
  number: string;
  orderId: string;
  namespace: string;
  instanceId: string;
  slot: number;
}

/**
 * Commitments to what the CRM said of a staff member when the account was made or adopted; `null` where it said
 * nothing.
 */
export interface StaffProfile {
  userName: string;
  name: string;
  remark: string | null;
  mobile: string | null;
  departmentId: string | null;
}

export interface StaffLink {
  key: RecordKey;
  memberGlobalId: string;
  origin: "created" | "adopted";
  particulars: StaffProfile;
}

export interface Assignment {
  assetNumber: string;
  staff: RecordKey;
  memberGlobalId: string;
  origin: "granted" | "adopted";
}

/** What the ledger says we did for one customer. */
export interface Known {
  link: Link | undefined;
  /**
   * An earlier answer was believed that gave the enterprise an id which cannot be used: it counts as not linked, and is
   * never made again.
   */
  linkUnusable?: boolean | undefined;
  platformCustomers: PlatformCustomer[];
  /** Commitments of the fields that the platform acknowledged last by E2 or E4. */
  acknowledged: { name: string; branchName: string; address: string | null } | undefined;
  placedOrders: ReadonlyMap<string, PlacedOrder>;
  numbers: FixedNumber[];
  staffLinks: ReadonlyMap<string, StaffLink>;
  assignments: Assignment[];
  protectedMembers: ReadonlySet<string>;
  enterpriseCode: string | undefined;
}

/** What is known of a customer as far as the references of one payload need it. */
export interface PayloadFacts extends Pick<Known, "link" | "platformCustomers" | "enterpriseCode"> {
  /** The number that is fixed to a slot of an asset instance. */
  numberOf(order: RecordKey, instanceId: string, slot: number): string | undefined;
  memberOf(staff: RecordKey): string | undefined;
}

/** The same from a known state that is in memory. */
export function payloadFactsOf(known: Known): PayloadFacts {
  return {
    ...known,
    numberOf: (order, instanceId, slot) =>
      known.numbers.find(
        (item) =>
          item.namespace === order.namespace &&
          item.orderId === order.id &&
          item.instanceId === instanceId &&
          item.slot === slot,
      )?.number,
    memberOf: (staff) => known.staffLinks.get(formatKey(staff))?.memberGlobalId,
  };
}

/** What becomes known by an outcome or a reading. Applied in the transaction of that outcome. */
export type StateChange =
  | { type: "linked"; customer: RecordKey; link: Link }
  | { type: "examined"; customer: RecordKey }
  | { type: "platform-customers"; enterpriseGlobalId: string; customers: PlatformCustomer[] }
  | { type: "acknowledged"; customer: RecordKey; fields: NonNullable<Known["acknowledged"]> }
  | { type: "members-protected"; enterpriseGlobalId: string; memberGlobalIds: string[]; reason: string }
  | {
      type: "order-placed";
      order: RecordKey;
      customer: RecordKey;
      channelOrderId: string;
      bodyHash: string;
      version: number;
      operationId: string | null;
      origin: "placed" | "adopted";
      licenceOrders: { sequence: number; licenseType: string; platformCustomerId: string; licenseOrderId: string }[];
    }
  | { type: "numbers-taken"; numbers: string[]; operationId: string }
  | {
      type: "staff-linked";
      staff: RecordKey;
      customer: RecordKey;
      enterpriseGlobalId: string;
      memberGlobalId: string;
      origin: "created" | "adopted";
      particulars: StaffProfile;
    }
  /** Licence types whose assets the platform has shown: of others, not seeing an order says nothing (A43). */
  | { type: "licence-types-shown"; types: readonly string[] }
  | { type: "enterprise-code"; enterpriseGlobalId: string; code: string }
  | {
      type: "asset-granted";
      assetNumber: string;
      staff: RecordKey;
      customer: RecordKey;
      memberGlobalId: string;
      origin: "granted" | "adopted";
      operationId: string | null;
    }
  | { type: "asset-revoked"; assetNumber: string; operationId: string | null }
  | { type: "observed"; customer: RecordKey; kind: string; subject: string; body: Json }
  | { type: "observed-gone"; customer: RecordKey; kind: string; subjects: string[] }
  | { type: "observation-read"; customer: RecordKey; complete: boolean }
  | { type: "secrets-wiped"; ref: string; version: number };
