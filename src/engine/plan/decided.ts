import { removesNoMore, removesSomething } from "../model/taking.ts";
import type { Removes } from "../model/taking.ts";
import type { Taking } from "./limits.ts";

/** What a person was asked about one operation, and how it stands. */
export interface DecidedOn extends Pick<Taking, "kind" | "hash" | "policy" | "subject"> {
  state: "asked" | "approved" | "rejected";
  /** What the person was shown that it removes. */
  removes: Removes;
  /** A record that it is about is not the one that the person was shown. */
  changed: boolean;
}

/** How people's decisions stand on the operations of a plan, by hash. */
export interface Decided<Hold> {
  asked: ReadonlyMap<string, Hold>;
  approved: ReadonlyMap<string, Hold>;
  rejected: ReadonlyMap<string, Hold>;
  /**
   * What is still planned, but not as it was shown: other records, another policy, more that is removed, or the same
   * done to the same thing by another call.
   */
  outdated: ReadonlyMap<string, readonly Hold[]>;
}

/** Whether two operations do the same to the same thing, or remove something of it. */
export function isAlike(one: Alike, other: Alike): boolean {
  if (one.subject !== other.subject) return false;
  return one.kind === other.kind || (removesSomething(one.removes) && removesSomething(other.removes));
}

type Alike = Pick<Taking, "kind" | "subject" | "removes">;

/** Whether a decision is about what is planned now: the same records and policy, and nothing more is removed. */
export function isAsShown(hold: Omit<DecidedOn, "state">, taking: Pick<Taking, "policy" | "removes">): boolean {
  return !hold.changed && hold.policy === taking.policy && removesNoMore(taking.removes, hold.removes);
}

/** A decision covers exactly the operation that was shown: its records, its policy and no more than it removed. */
export function decidedOn<Hold extends DecidedOn>(holds: readonly Hold[], takings: readonly Taking[]): Decided<Hold> {
  const planned = new Map(takings.map((taking) => [taking.hash, taking]));
  const of = { asked: new Map<string, Hold>(), approved: new Map<string, Hold>(), rejected: new Map<string, Hold>() };
  const outdated = new Map<string, Hold[]>();
  const others: Hold[] = [];
  for (const hold of holds) {
    const taking = planned.get(hold.hash);
    if (taking === undefined) others.push(hold);
    else if (isAsShown(hold, taking)) of[hold.state].set(hold.hash, hold);
    else outdated.set(hold.hash, [hold]);
  }
  const known = new Set([...Object.values(of).flatMap((part) => [...part.keys()]), ...outdated.keys()]);
  for (const taking of takings) {
    const alike = known.has(taking.hash) ? [] : others.filter((hold) => isAlike(hold, taking));
    if (alike.length > 0) outdated.set(taking.hash, alike);
  }
  return { ...of, outdated };
}
