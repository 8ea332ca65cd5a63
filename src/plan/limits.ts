import type { RecordKey } from "../crm/model.ts";
import type { Operation } from "../operation/operation.ts";
import { kindOf } from "../operation/registry.ts";

/** How much may be taken away: the larger of `floor` things and `share` of the live things of the same kind. */
export interface DeletionLimit {
  floor: number;
  share: number;
}

export interface DeletionLimits {
  enterprise: DeletionLimit;
  run: DeletionLimit;
}

/** What one customer's plan takes away, and how many such things are live in the ledger. */
export interface Destruction {
  customer: RecordKey;
  count: number;
  live: number;
  /** A person approved exactly this set before. */
  approved: boolean;
}

export interface Verdict {
  customer: RecordKey;
  released: boolean;
  /** Why not, with the sum: which limit, how many of how many. */
  scope?: "enterprise" | "run";
  count: number;
  allowed: number;
  total: number;
  explanation?: string;
}

/**
 * Decimal places to which a share of a count is exact: far below one thing, far above the noise of a product such as
 * 0.29 × 100.
 */
const places = 6;

export function allowedBy(limit: DeletionLimit, live: number): number {
  return Math.max(limit.floor, Math.floor(Number((live * limit.share).toFixed(places))));
}

/**
 * Judges all destructive plans of a run at once, before the first one is carried out. An enterprise over its limit is
 * held; a sum over the limit of the run, in which the held ones count too, holds all of them. What a person approved is
 * not counted again.
 */
export function judgeLimits(items: readonly Destruction[], limits: DeletionLimits, liveInAll: number): Verdict[] {
  const counted = items.filter((item) => !item.approved);
  const sum = counted.reduce((total, item) => total + item.count, 0);
  const allowedInRun = allowedBy(limits.run, liveInAll);
  return items.map((item) => {
    if (item.approved)
      return { customer: item.customer, released: true, count: item.count, allowed: item.count, total: item.live };
    const allowed = allowedBy(limits.enterprise, item.live);
    if (item.count > allowed) {
      return {
        customer: item.customer,
        released: false,
        scope: "enterprise",
        count: item.count,
        allowed,
        total: item.live,
        explanation: sentence(item.count, item.live, allowed, limits.enterprise, "this enterprise"),
      };
    }
    if (sum > allowedInRun) {
      return {
        customer: item.customer,
        released: false,
        scope: "run",
        count: item.count,
        allowed: allowedInRun,
        total: liveInAll,
        explanation: sentence(sum, liveInAll, allowedInRun, limits.run, "the whole run"),
      };
    }
    return { customer: item.customer, released: true, count: item.count, allowed, total: item.live };
  });
}

function sentence(count: number, live: number, allowed: number, limit: DeletionLimit, where: string): string {
  const share = live === 0 ? "" : ` (${((count / live) * 100).toFixed(1)} %)`;
  return (
    `${count} of ${live}${share} assignments of ${where} would be taken away; ${allowed} are allowed: ` +
    `the larger of ${limit.floor} and ${Number((limit.share * 100).toFixed(places))} %`
  );
}

/**
 * What of a customer's plan goes on while its revokes are held: everything but the revokes and the grants of a number
 * that one of them would free, whether the grant names the number or the unit of an instance.
 */
export function withoutHeld(operations: readonly Operation[]): Operation[] {
  const held = new Set(
    operations
      .filter((operation) => operation.takesAway > 0)
      .flatMap((operation) => kindOf(operation).freed(operation)),
  );
  return operations.filter((operation) => {
    if (operation.takesAway > 0) return false;
    return !kindOf(operation)
      .granted(operation)
      .some((number) => held.has(number));
  });
}
