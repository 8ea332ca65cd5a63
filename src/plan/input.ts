import { formatKey } from "../crm/keys.ts";
import type { Customer, InstanceWith, Order, RecordKey, Staff } from "../crm/model.ts";
import type { OperationKind, PrivateMarker, RecordReference } from "./operation.ts";

/** A canonical record with markers in place of its private fields. */
export type DesiredCustomer = Omit<Customer, CustomerPrivate> & { name: PrivateMarker } & {
  [Field in Exclude<CustomerPrivate, "name">]?: PrivateMarker;
};
type CustomerPrivate =
  | "name"
  | "enterpriseName"
  | "address"
  | "adminName"
  | "adminAccount"
  | "adminEmail"
  | "adminMobile"
  | "purchaserMobile";

export type DesiredInstance = InstanceWith<PrivateMarker>;
export type DesiredOrder = Omit<Order, "instances"> & { instances: DesiredInstance[] };

export type DesiredStaff = Omit<Staff, "userName" | "name" | "remark" | "mobile" | "password"> & {
  userName: PrivateMarker;
  name: PrivateMarker;
  remark?: PrivateMarker;
  mobile?: PrivateMarker;
  password?: PrivateMarker;
};

export type RecordState = "current" | "quarantined" | "absent";

/** One record of the CRM as the ledger holds it now. */
export interface Desired<Body> {
  key: RecordKey;
  version: number;
  bodyHash: string;
  state: RecordState;
  /** Set while the record waits to be planned. */
  pending: boolean;
  body: Body;
}

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

export interface KnownPlatformCustomer {
  customerId: string;
  isDefault: boolean;
  channelCode: string;
  channelCustomerId: string;
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

/** Commitments to what the CRM said of a staff member when the account was made or adopted; `null` where it said nothing. */
export interface StaffParticulars {
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
  particulars: StaffParticulars;
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
  /** An earlier answer was believed that gave the enterprise an id which cannot be used: it counts as not linked, and is never made again. */
  linkUnusable?: boolean | undefined;
  platformCustomers: KnownPlatformCustomer[];
  /** Commitments of the fields that the platform acknowledged last by E2 or E4. */
  acknowledged: { name: string; branchName: string; address: string | null } | undefined;
  placedOrders: ReadonlyMap<string, PlacedOrder>;
  numbers: FixedNumber[];
  staffLinks: ReadonlyMap<string, StaffLink>;
  assignments: Assignment[];
  protectedMembers: ReadonlySet<string>;
  enterpriseCode: string | undefined;
}

export interface ObservedMember {
  globalId: string;
  userName: string;
  name: string;
  deleted: boolean;
  assetNums: string[];
}

export interface ObservedAsset {
  assetNum: string;
  assetId: string;
  holder: string | null;
  borrowed: boolean;
}

/** What the platform showed just now; `undefined` where it was not read. A read that failed is never an empty list. */
export interface Observed {
  /** E3: enterprises under the customer's channel numbers. */
  enterprises: { enterpriseGlobalId: string; customers: KnownPlatformCustomer[] }[] | undefined;
  /** Why E3's answer says neither that there is an enterprise nor that there is none. */
  ambiguous?: string | undefined;
  members: ObservedMember[] | undefined;
  assets: ObservedAsset[] | undefined;
  /** Orders that may be on the platform already, whole or in part, and why they wait; by order. */
  unclearOrders?: ReadonlyMap<string, { code: string; reason: string; again: boolean }> | undefined;
}

/** Something that a service refused for a record, as the ledger keeps it while the record has not changed since. */
export interface Rejection {
  record: RecordReference;
  kind: OperationKind;
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

/** Everything one customer is planned from. */
export interface CustomerInput {
  customer: RecordKey;
  desiredCustomer: Desired<DesiredCustomer> | undefined;
  orders: Desired<DesiredOrder>[];
  staff: Desired<DesiredStaff>[];
  known: Known;
  observed: Observed;
  /** Clear private values of these records, by marker key; in memory only. */
  privateValues: ReadonlyMap<string, string>;
  /** The customer's own record was read, and could not be used yet. */
  customerInQuarantine?: boolean | undefined;
  /** Quarantined records that belong to this customer and block deletes in its scope. */
  quarantinedInScope: number;
  /** A source of this customer's people that gave a row of which nobody can tell whose it is: it blocks deletes wherever the source's people are. */
  sourceWithStrayRecord: { source: string; row: string } | undefined;
  /** What was refused for this customer and its records, and stands while nothing has changed. */
  rejections: readonly Rejection[];
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
