import { removesNoMore, removesSomething } from "../model/taking.ts";
import type { Removes } from "../model/taking.ts";
import type { Taking } from "./limits.ts";

/** A question to a person about one operation, with its state. */
export interface DecidedOn extends Pick<Taking, "kind" | "hash" | "policy" | "subject"> {
  state: "asked" | "approved" | "rejected";
  /** The removals of the operation, as shown to the person. */
  removes: Removes;
  /** A record of the operation changed since the person saw it. */
  changed: boolean;
}

/** The state of people's decisions about the operations of a plan, by hash. */
export interface Decided<Hold> {
  asked: ReadonlyMap<string, Hold>;
  approved: ReadonlyMap<string, Hold>;
  rejected: ReadonlyMap<string, Hold>;
  /**
   * Decisions about operations that are planned differently now. Records or policy changed, more is removed, or another
   * call does the same to the same subject.
   */
  outdated: ReadonlyMap<string, readonly Hold[]>;
}

/** Whether two operations on the same subject are of one type, or both remove something. */
export function isAlike(one: Alike, other: Alike): boolean {
  if (one.subject !== other.subject) return false;
  return one.kind === other.kind || (removesSomething(one.removes) && removesSomething(other.removes));
}

type Alike = Pick<Taking, "kind" | "subject" | "removes">;

/** Whether a decision fits the planned operation: same records, same policy, and nothing more removed. */
export function isAsShown(hold: Omit<DecidedOn, "state">, taking: Pick<Taking, "policy" | "removes">): boolean {
  return !hold.changed && hold.policy === taking.policy && removesNoMore(taking.removes, hold.removes);
}

/** A decision covers only the operation in its question: its records, its policy and at most its removals. */
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
