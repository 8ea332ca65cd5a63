import { lockStatuses } from "../../contract/vocabulary.ts";
import type { LockStatus } from "../../contract/vocabulary.ts";
import type { LicenseType, RecordKey } from "../../crm/model.ts";
import { oneByOne } from "./part.ts";
import type { ChangeContext } from "./part.ts";
import { compareBytes } from "./row-order.ts";
import { isSameKey } from "./same-key.ts";

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

export interface KnownLocks {
  /** By number: the locks that people asked for, until they take it back. */
  locks: LockWish[];
}

export type LockChange =
  | { type: "lock-asked"; customer: RecordKey; wish: Omit<LockWish, "askedAt" | "status" | "operationId"> }
  | {
      type: "lock-answered";
      assetNumber: string;
      wanted: LockWish["wanted"];
      status: LockStatus;
      operationId: string;
    }
  | { type: "lock-withdrawn"; customer: RecordKey; assetNumber: string };

const locks = oneByOne<KnownLocks, LockChange>((known, change, context) => {
  if (change.type === "lock-asked") return { ...known, locks: lockAsked(known.locks, change, context) };
  if (change.type === "lock-answered")
    return { ...known, locks: known.locks.map((lock) => lockAnswered(lock, change)) };
  if (!isSameKey(change.customer, context.customer)) return known;
  return { ...known, locks: known.locks.filter((lock) => lock.assetNumber !== change.assetNumber) };
});

export const locksParts = { "lock-asked": locks, "lock-answered": locks, "lock-withdrawn": locks };

function lockAsked(
  locks: readonly LockWish[],
  { customer, wish }: Extract<LockChange, { type: "lock-asked" }>,
  { customer: ours, at: askedAt }: ChangeContext,
): LockWish[] {
  const others = locks.filter((lock) => lock.assetNumber !== wish.assetNumber);
  if (!isSameKey(customer, ours)) return others;
  return [...others, { ...wish, askedAt, status: null, operationId: null }].toSorted((one, other) =>
    compareBytes(one.assetNumber, other.assetNumber),
  );
}

/** An answer to what was asked for before says nothing of what is asked for now. */
function lockAnswered(lock: LockWish, change: Extract<LockChange, { type: "lock-answered" }>): LockWish {
  const { assetNumber, wanted, status, operationId } = change;
  return lock.assetNumber === assetNumber && lock.wanted === wanted ? { ...lock, status, operationId } : lock;
}
