import { lockStatuses } from "../contract/vocabulary.ts";
import type { LockStatus } from "../contract/vocabulary.ts";
import type { Json } from "../base/canonical-json.ts";
import { idFault } from "../contract/answer-fields.ts";
import { formatKey } from "../crm/keys.ts";
import type { LicenseType, RecordKey } from "../crm/model.ts";
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
  unit: number;
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
  profile: StaffProfile;
}

export interface Assignment {
  assetNumber: string;
  staff: RecordKey;
  memberGlobalId: string;
  origin: "granted" | "adopted";
}

/** What a person asked for of one lock, and what the service said last of it. */
export interface LockWish {
  assetNumber: string;
  wanted: "locked" | "unlocked";
  licenseType: LicenseType;
  /** The person says that it is a large-customer lock; no field shows it. */
  largeCustomer: boolean;
  by: string;
  reason: string;
  askedAt: string;
  status: LockStatus | null;
  operationId: string | null;
}

/** Whether it is still to be sent: it was not answered, or it failed and is tried again (A26). */
export function isDue({ status }: Pick<LockWish, "status">): boolean {
  return status === null || status === lockStatuses.failed;
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
  /** By number: the locks that people asked for, until they take it back. */
  locks: LockWish[];
}

/** What is known of an enterprise, whoever is linked with it. */
export interface EnterpriseFacts {
  platformCustomers: PlatformCustomer[];
  enterpriseCode: string | undefined;
  protectedMembers: readonly string[];
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
      profile: StaffProfile;
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
  | { type: "lock-asked"; customer: RecordKey; wish: Omit<LockWish, "askedAt" | "status" | "operationId"> }
  | {
      type: "lock-answered";
      assetNumber: string;
      wanted: LockWish["wanted"];
      status: LockStatus;
      operationId: string;
    }
  | { type: "lock-withdrawn"; customer: RecordKey; assetNumber: string }
  | { type: "observed"; customer: RecordKey; kind: string; subject: string; body: Json }
  | { type: "observed-gone"; customer: RecordKey; kind: string; subjects: string[] }
  | { type: "observation-read"; customer: RecordKey; complete: boolean }
  | { type: "secrets-wiped"; ref: string; version: number };

/** An id that an earlier version believed although it cannot be used counts as not known. */
export function usable(id: string): boolean {
  return idFault(id) === undefined;
}

/** When a change was written, for whom it is applied, and what was known of an enterprise that it links. */
export interface ChangeContext {
  customer: RecordKey;
  at: string;
  enterprise?: EnterpriseFacts | undefined;
}

/**
 * What is known of a customer once a change is written: the same as is read back from the rows that the ledger writes
 * for it. What a change says of others leaves this customer as it is.
 */
export function applyChange(known: Known, change: StateChange, context: ChangeContext): Known {
  const { customer } = context;
  switch (change.type) {
    case "linked":
      return isSame(change.customer, customer) ? linkedWith(known, change.link, context) : known;
    case "examined":
      if (known.link === undefined || !isSame(change.customer, customer)) return known;
      return { ...known, link: { ...known.link, examined: true } };
    case "platform-customers":
      if (known.link?.enterpriseGlobalId !== change.enterpriseGlobalId) return known;
      return { ...known, platformCustomers: mergedCustomers(known.platformCustomers, change.customers) };
    case "acknowledged":
      return isSame(change.customer, customer) ? { ...known, acknowledged: change.fields } : known;
    case "members-protected":
      if (known.link?.enterpriseGlobalId !== change.enterpriseGlobalId) return known;
      return { ...known, protectedMembers: new Set([...known.protectedMembers, ...change.memberGlobalIds]) };
    case "order-placed":
      return ordersPlaced(known, [change], customer);
    case "staff-linked":
      return { ...known, staffLinks: staffLinked(known.staffLinks, [change], customer) };
    case "enterprise-code":
      if (known.link?.enterpriseGlobalId !== change.enterpriseGlobalId) return known;
      return { ...known, enterpriseCode: known.enterpriseCode ?? change.code };
    case "asset-granted":
    case "asset-revoked":
      return { ...known, assignments: assigned(known.assignments, [change], customer) };
    case "lock-asked":
      return { ...known, locks: lockAsked(known.locks, change, context) };
    case "lock-answered":
      return { ...known, locks: known.locks.map((lock) => lockAnswered(lock, change)) };
    case "lock-withdrawn":
      if (!isSame(change.customer, customer)) return known;
      return { ...known, locks: known.locks.filter((lock) => lock.assetNumber !== change.assetNumber) };
    case "numbers-taken":
    case "licence-types-shown":
    case "observed":
    case "observed-gone":
    case "observation-read":
    case "secrets-wiped":
      return known;
  }
}

type OrderPlaced = Extract<StateChange, { type: "order-placed" }>;
type StaffLinked = Extract<StateChange, { type: "staff-linked" }>;
type Assigned = Extract<StateChange, { type: "asset-granted" | "asset-revoked" }>;

/**
 * The same for many changes, one after the other. A list that may be long is copied and sorted once for all of them: no
 * other change reads or writes it.
 */
export function applyChanges(known: Known, changes: readonly StateChange[], context: ChangeContext): Known {
  const { customer } = context;
  const placed: OrderPlaced[] = [];
  const linked: StaffLinked[] = [];
  const moved: Assigned[] = [];
  let after = known;
  for (const change of changes) {
    if (change.type === "order-placed") placed.push(change);
    else if (change.type === "staff-linked") linked.push(change);
    else if (isOfAssignment(change)) moved.push(change);
    else after = applyChange(after, change, context);
  }
  if (placed.length > 0) after = ordersPlaced(after, placed, customer);
  if (linked.length > 0) after = { ...after, staffLinks: staffLinked(after.staffLinks, linked, customer) };
  if (moved.length > 0) after = { ...after, assignments: assigned(after.assignments, moved, customer) };
  return after;
}

/** Whether a change is of who holds an asset. */
export function isOfAssignment(change: StateChange): change is Assigned {
  return change.type === "asset-granted" || change.type === "asset-revoked";
}

/** The same once the ledger has chosen numbers for units of an order's assets, which belong to them for good. */
export function withNumbers(known: Known, fixed: readonly FixedNumber[]): Known {
  return fixed.length === 0 ? known : { ...known, numbers: [...known.numbers, ...fixed].toSorted(byUnit) };
}

/** Of another enterprise than the one before, only what the ledger held of it is known. */
function linkedWith(known: Known, link: Link, { at, enterprise }: ChangeContext): Known {
  const isNew = known.link?.enterpriseGlobalId !== link.enterpriseGlobalId;
  const isUsable = usable(link.enterpriseGlobalId);
  const facts = isNew ? { platformCustomers: [], enterpriseCode: undefined, ...(isUsable ? enterprise : {}) } : known;
  return {
    ...known,
    link: isUsable ? { ...link, since: at } : undefined,
    linkUnusable: !isUsable,
    platformCustomers: facts.platformCustomers,
    enterpriseCode: facts.enterpriseCode,
    protectedMembers: new Set([...known.protectedMembers, ...(enterprise?.protectedMembers ?? [])]),
  };
}

function mergedCustomers(before: readonly PlatformCustomer[], shown: readonly PlatformCustomer[]): PlatformCustomer[] {
  const all = new Map([...before, ...shown].map((item) => [item.customerId, item]));
  return [...all.values()]
    .filter((item) => usable(item.customerId))
    .toSorted((one, other) => compareBytes(one.customerId, other.customerId));
}

function lockAsked(
  locks: readonly LockWish[],
  { customer, wish }: Extract<StateChange, { type: "lock-asked" }>,
  { customer: ours, at: askedAt }: ChangeContext,
): LockWish[] {
  const others = locks.filter((lock) => lock.assetNumber !== wish.assetNumber);
  if (!isSame(customer, ours)) return others;
  return [...others, { ...wish, askedAt, status: null, operationId: null }].toSorted((one, other) =>
    compareBytes(one.assetNumber, other.assetNumber),
  );
}

/** An answer to what was asked for before says nothing of what is asked for now. */
function lockAnswered(lock: LockWish, change: Extract<StateChange, { type: "lock-answered" }>): LockWish {
  const { assetNumber, wanted, status, operationId } = change;
  return lock.assetNumber === assetNumber && lock.wanted === wanted ? { ...lock, status, operationId } : lock;
}

function ordersPlaced(known: Known, changes: readonly OrderPlaced[], ours: RecordKey): Known {
  const placed = changes.filter(({ customer }) => isSame(customer, ours));
  if (placed.length === 0) return known;
  const all = new Map(known.placedOrders);
  for (const { order: key, customer, channelOrderId, bodyHash, version, origin } of placed)
    all.set(formatKey(key), { key, customer, channelOrderId, bodyHash, version, origin });
  return { ...known, placedOrders: sorted(all) };
}

function staffLinked(
  links: Known["staffLinks"],
  changes: readonly StaffLinked[],
  ours: RecordKey,
): Known["staffLinks"] {
  const all = new Map(links);
  for (const { staff: key, customer, memberGlobalId, origin, profile } of changes) {
    if (isSame(customer, ours) && usable(memberGlobalId))
      all.set(formatKey(key), { key, memberGlobalId, origin, profile });
    else all.delete(formatKey(key));
  }
  return sorted(all);
}

function assigned(before: readonly Assignment[], changes: readonly Assigned[], ours: RecordKey): Assignment[] {
  const all = new Map(before.map((item) => [item.assetNumber, item]));
  for (const change of changes) {
    const { assetNumber } = change;
    if (change.type === "asset-revoked" || !isSame(change.customer, ours) || !usable(change.memberGlobalId))
      all.delete(assetNumber);
    else {
      const { staff, memberGlobalId, origin } = change;
      all.set(assetNumber, { assetNumber, staff, memberGlobalId, origin });
    }
  }
  return [...all.values()].toSorted((one, other) => compareBytes(one.assetNumber, other.assetNumber));
}

function sorted<Item extends { key: RecordKey }>(all: ReadonlyMap<string, Item>): Map<string, Item> {
  return new Map([...all].toSorted(([, one], [, other]) => byKey(one.key, other.key)));
}

function isSame(one: RecordKey, other: RecordKey): boolean {
  return one.namespace === other.namespace && one.id === other.id;
}

/** In the order in which the ledger gives its rows, which a fingerprint depends on. */
function compareBytes(one: string, other: string): number {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at += 1) {
    const difference = utf8Rank(one.charCodeAt(at)) - utf8Rank(other.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** What UTF-16 writes with a surrogate stands behind everything else in UTF-8. */
function utf8Rank(unit: number): number {
  return unit >= 0xd8_00 && unit <= 0xdf_ff ? unit + 0x1_00_00 : unit;
}

function byKey(one: RecordKey, other: RecordKey): number {
  return compareBytes(one.namespace, other.namespace) || compareBytes(one.id, other.id);
}

function byUnit(one: FixedNumber, other: FixedNumber): number {
  return (
    compareBytes(one.namespace, other.namespace) ||
    compareBytes(one.orderId, other.orderId) ||
    compareBytes(one.instanceId, other.instanceId) ||
    one.unit - other.unit
  );
}
