import type { RecordKey } from "../../crm/model.ts";
import type { PlatformCustomer } from "../../platform/snapshot.ts";

/** What is known of an enterprise, whoever is linked with it. */
export interface EnterpriseFacts {
  platformCustomers: PlatformCustomer[];
  enterpriseCode: string | undefined;
  protectedMembers: readonly string[];
}

/** With which enterprise a customer is linked. */
export interface LinkedEnterprise {
  link: { enterpriseGlobalId: string } | undefined;
}

/** When a change was written, for whom it is applied, and what was known of an enterprise that it links. */
export interface ChangeContext {
  customer: RecordKey;
  at: string;
  enterprise?: EnterpriseFacts | undefined;
}

/** How the changes of one thing that is known of a customer are applied, in their order, to what is known. */
export interface StatePart<Part, Change> {
  /** No change of another thing reads or writes it: many changes wait for each other and are applied at once. */
  isApart: boolean;
  /** No payload is bound to it, and it may be long: an attempt applies its changes when the whole is asked for. */
  isForLater?: true;
  /** Whether only the ledger knows what a change leaves. `bodyHashes`: what the CRM says of each order now. */
  isReadAnew?: (change: Change, bodyHashes: ReadonlyMap<string, string>) => boolean;
  apply: <Whole extends Part>(known: Whole, changes: readonly Change[], context: ChangeContext) => Whole;
}

/** A thing whose changes are applied each by itself: what another change says may count for it. */
export function oneByOne<Part, Change>(
  one: <Whole extends Part>(known: Whole, change: Change, context: ChangeContext) => Whole,
): StatePart<Part, Change> {
  return {
    isApart: false,
    apply: (known, changes, context) => changes.reduce((before, change) => one(before, change, context), known),
  };
}

/** A list that may be long: it is copied and sorted once for all of its changes. */
export function together<Part, Change>(apply: StatePart<Part, Change>["apply"]): StatePart<Part, Change> {
  return { isApart: true, apply };
}

/** What the ledger keeps and no plan of a customer is made from. */
export const notOfCustomers: StatePart<object, unknown> = oneByOne((known) => known);

/** In the order in which the ledger gives its rows, which a fingerprint depends on. */
export function compareBytes(one: string, other: string): number {
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

/** The same items, in the order of their keys. */
export function inKeyOrder<Item extends { key: RecordKey }>(all: ReadonlyMap<string, Item>): Map<string, Item> {
  return new Map([...all].toSorted(([, one], [, other]) => byKey(one.key, other.key)));
}

function byKey(one: RecordKey, other: RecordKey): number {
  return compareBytes(one.namespace, other.namespace) || compareBytes(one.id, other.id);
}

/** Whether two keys name the same record. */
export function isSameKey(one: RecordKey, other: RecordKey): boolean {
  return one.namespace === other.namespace && one.id === other.id;
}
