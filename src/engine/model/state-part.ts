import type { RecordKey } from "../../crm/model.ts";
import type { RecordReference } from "./shape.ts";
import type { PlatformCustomer } from "../../platform/snapshot.ts";

export interface EnterpriseFacts {
  platformCustomers: PlatformCustomer[];
  enterpriseCode: string | undefined;
  protectedMembers: readonly string[];
}

export interface LinkedEnterprise {
  link: { enterpriseGlobalId: string } | undefined;
}

export interface ChangeContext {
  customer: RecordKey;
  at: string;
  enterprise?: EnterpriseFacts | undefined;
}

export interface StatePart<Part, Change> {
  /** No other change reads or writes this state, so its changes can be collected and applied together. */
  isApart: boolean;
  /** No payload depends on this state, and it may be long. It is applied only when the whole state is needed. */
  isForLater?: true;
  /** Whether only the ledger knows the result. `bodyHashes`: the current CRM form of each order. */
  isReadAnew?: (change: Change, bodyHashes: ReadonlyMap<string, string>) => boolean;
  apply: <Whole extends Part>(known: Whole, changes: readonly Change[], context: ChangeContext) => Whole;
}

export function oneByOne<Part, Change>(
  one: <Whole extends Part>(known: Whole, change: Change, context: ChangeContext) => Whole,
): StatePart<Part, Change> {
  return {
    isApart: false,
    apply: (known, changes, context) => changes.reduce((before, change) => one(before, change, context), known),
  };
}

export function together<Part, Change>(apply: StatePart<Part, Change>["apply"]): StatePart<Part, Change> {
  return { isApart: true, apply };
}

export const notOfCustomers: StatePart<object, unknown> = oneByOne((known) => known);

/** The order of rows in the ledger. A fingerprint depends on it. */
export function compareBytes(one: string, other: string): number {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at += 1) {
    const difference = utf8Rank(one.charCodeAt(at)) - utf8Rank(other.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** UTF-8 sorts the characters that UTF-16 writes as surrogates after all others. */
function utf8Rank(unit: number): number {
  return unit >= 0xd8_00 && unit <= 0xdf_ff ? unit + 0x1_00_00 : unit;
}

export function inKeyOrder<Item extends { key: RecordKey }>(all: ReadonlyMap<string, Item>): Map<string, Item> {
  return new Map([...all].toSorted(([, one], [, other]) => byKey(one.key, other.key)));
}

function byKey(one: RecordKey, other: RecordKey): number {
  return compareBytes(one.namespace, other.namespace) || compareBytes(one.id, other.id);
}

export function isSameKey(one: RecordKey, other: RecordKey): boolean {
  return one.namespace === other.namespace && one.id === other.id;
}

export function isSameRecord(one: RecordReference, other: RecordReference): boolean {
  return one.stream === other.stream && isSameKey(one, other);
}
