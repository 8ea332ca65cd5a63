import { recordName } from "./blocks.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import {
  type Operation,
  isRemoval,
  removesOf,
  removesNoMore,
  removesSomething,
  type Removes,
} from "../model/operation.ts";
import { freedBy, grantedBy, needsApproval, removedBy } from "../model/registry.ts";
import type { Known } from "../model/state.ts";
import { policyOf, type Policies } from "../model/policy-settings.ts";
import type { LoadedCustomer } from "./input.ts";
import type { Holdable } from "./limits.ts";

const replacing: ReadonlySet<Operation["policy"]> = new Set(["orders.replaced", "orders.assetChanged"]);

/** Does not count seats of people who keep or get the replacement. */
export function withoutReplacedSeats(
  operations: readonly Operation[],
  { numbers, assignments }: Pick<Known, "numbers" | "assignments">,
): Operation[] {
  if (!operations.some(({ policy }) => replacing.has(policy))) return [...operations];
  const orders = new Map(numbers.map((one) => [one.number, formatKey({ namespace: one.namespace, id: one.orderId })]));
  const freed = new Set(operations.flatMap(freedBy));
  const seat = (staff: RecordKey, number: string): string => `${formatKey(staff)} ${orders.get(number) ?? ""}`;
  const stay = assignments.filter(({ assetNumber }) => !freed.has(assetNumber));
  const given = operations.flatMap((operation) =>
    operation.records.flatMap((staff) => grantedBy(operation).map((number) => seat(staff, number))),
  );
  const kept = new Set([...stay.map((one) => seat(one.staff, one.assetNumber)), ...given]);
  const replaced = new Set(
    assignments
      .filter((one) => orders.has(one.assetNumber) && kept.has(seat(one.staff, one.assetNumber)))
      .map(({ assetNumber }) => assetNumber),
  );
  return operations.map((operation) => {
    if (!replacing.has(operation.policy)) return operation;
    const gone = freedBy(operation).filter((number) => replaced.has(number)).length;
    return { ...operation, weight: { ...operation.weight, seats: Math.max(0, operation.weight.seats - gone) } };
  });
}

const mostFlips = 5;

type Judged = Pick<LoadedCustomer, "desiredCustomer" | "orders" | "staff" | "rebuilt">;

/**
 * Operations that a limit or policy may hold, and those that have a hold already: a hold outlives its policy. The run
 * judges them first.
 */
export function holdablesOf(
  policies: Policies,
  records: Judged,
  operations: readonly Operation[],
  holds: readonly Pick<DecidedOn, "hash">[] = [],
): Holdable[] {
  const told = flipsOf(records);
  const shown = new Set(holds.map(({ hash }) => hash));
  return operations.flatMap((operation) => {
    const { customer, hash, kind, subject, policy, weight, reason } = operation;
    const flips = flipsText(operation, told);
    const rebuilt = records.rebuilt === true && makes(operation);
    const alone = needsApproval(operation);
    const word = policy === undefined ? undefined : policyOf(policies, policy);
    const isAsked = word === "ask" || word === "apply-after-approvals";
    const isShown = shown.has(hash) && !isManual(operation);
    if (!isRemoval(operation) && !alone && flips === undefined && !rebuilt && !isAsked && !isShown) return [];
    const thing = removedBy(operation);
    const removes = removesOf(operation, thing, freedBy(operation));
    const { records: own } = operation;
    return [
      { customer, hash, kind, subject, policy, thing, removes, weight, reason, alone, flips, records: own, rebuilt },
    ];
  });
}

/** A person requested it. It waits for no other person, except if each of its kind is approved alone. */
export function isManual({ stage, policy }: Pick<Operation, "stage" | "policy">): boolean {
  return stage === "requests" && policy === undefined;
}

/** A CRM request flaps if its order or person does. */
function flipsText(operation: Operation, told: ReadonlyMap<string, string>): string | undefined {
  if (told.size === 0 || isManual(operation)) return undefined;
  for (const record of operation.records) {
    if (operation.stage === "requests" && record.stream === "customers") continue;
    const text = told.get(recordName(record.stream, record));
    if (text !== undefined) return text;
  }
  return undefined;
}

const making: ReadonlySet<Operation["endpoint"]> = new Set(["E1", "E2", "E5", "M1", "M10"]);

/** Creates something that no call can undo. A rebuilt ledger holds such operations. */
export function makes({ endpoint, takesAway }: Pick<Operation, "endpoint" | "takesAway">): boolean {
  return making.has(endpoint) && takesAway === 0;
}

function flipsOf({ desiredCustomer, orders, staff }: Judged): ReadonlyMap<string, string> {
  const told = new Map<string, string>();
  const look = (stream: Stream, word: string, record: { key: RecordKey; flips?: number | undefined }): void => {
    const { key, flips = 0 } = record;
    if (flips < mostFlips) return;
    told.set(
      recordName(stream, key),
      `the CRM changed ${word} ${formatKey(key)} back and forth ${flips} times in a row`,
    );
  };
  if (desiredCustomer !== undefined) look("customers", "customer", desiredCustomer);
  for (const order of orders) look("orders", "order", order);
  for (const person of staff) look("staff", "person", person);
  return told;
}

export interface DecidedOn extends Pick<Holdable, "kind" | "hash" | "policy" | "subject"> {
  state: "asked" | "approved" | "rejected";
  removes: Removes;
  changed: boolean;
}

export interface Decided<Hold> {
  asked: ReadonlyMap<string, Hold>;
  approved: ReadonlyMap<string, Hold>;
  rejected: ReadonlyMap<string, Hold>;
  outdated: ReadonlyMap<string, readonly Hold[]>;
}

export function isAlike(one: Alike, other: Alike): boolean {
  if (one.subject !== other.subject) return false;
  return one.kind === other.kind || (removesSomething(one.removes) && removesSomething(other.removes));
}

type Alike = Pick<Holdable, "kind" | "subject" | "removes">;

export function isAsShown(hold: Omit<DecidedOn, "state">, holdable: Pick<Holdable, "policy" | "removes">): boolean {
  return !hold.changed && hold.policy === holdable.policy && removesNoMore(holdable.removes, hold.removes);
}

/** A decision covers only the operation in its question: its records, its policy and at most its removals. */
export function decidedOn<Hold extends DecidedOn>(
  holds: readonly Hold[],
  holdables: readonly Holdable[],
): Decided<Hold> {
  const planned = new Map(holdables.map((holdable) => [holdable.hash, holdable]));
  const of = { asked: new Map<string, Hold>(), approved: new Map<string, Hold>(), rejected: new Map<string, Hold>() };
  const outdated = new Map<string, Hold[]>();
  const others: Hold[] = [];
  for (const hold of holds) {
    const holdable = planned.get(hold.hash);
    if (holdable === undefined) others.push(hold);
    else if (isAsShown(hold, holdable)) of[hold.state].set(hold.hash, hold);
    else outdated.set(hold.hash, [hold]);
  }
  const known = new Set([...Object.values(of).flatMap((part) => [...part.keys()]), ...outdated.keys()]);
  for (const holdable of holdables) {
    const alike = known.has(holdable.hash) ? [] : others.filter((hold) => isAlike(hold, holdable));
    if (alike.length > 0) outdated.set(holdable.hash, alike);
  }
  return { ...of, outdated };
}
