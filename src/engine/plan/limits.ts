import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import {
  type HoldScope,
  type Removes,
  type RemovedThing,
  type Weight,
  countRemoved,
  grouped,
  removesSomething,
  removedThings,
  type Operation,
} from "../model/operation.ts";
import type { PolicyName, PolicyWord } from "../model/policy-settings.ts";
import type { OperationName, RecordReference } from "../model/resource.ts";
import { freedBy, grantedBy } from "../model/registry.ts";
import { goingWithout } from "./blocks.ts";

/** Allows the larger of `floor` things and `share` of the live things of one kind. */
export interface DeletionLimit {
  floor: number;
  share: number;
}

export interface RemovalLimits {
  enterprise: DeletionLimit;
  run: DeletionLimit;
  day: DeletionLimit;
  week: DeletionLimit;
}

export interface Holdable {
  customer: RecordKey;
  hash: string;
  kind: OperationName;
  subject: string;
  policy: PolicyName | undefined;
  thing: RemovedThing | undefined;
  removes: Removes;
  weight: Weight;
  reason: string;
  /** Only a person's approval of exactly this operation releases it. */
  alone: boolean;
  flips: string | undefined;
  records: readonly RecordReference[];
  /** It creates something, and the ledger was rebuilt: earlier decisions of people are unknown. */
  rebuilt: boolean;
  /** Earlier questions about it. It has changed since and needs a new decision. */
  askedBefore?: readonly AskedBefore[] | undefined;
}

export interface AskedBefore {
  id: number;
  state: "asked" | "approved" | "rejected";
}

export type Counts = Readonly<Record<RemovedThing, number>>;

export interface Live {
  of(customer: RecordKey): Counts;
  all: Counts;
}

export interface Windows {
  day: Counts;
  week: Counts;
}

/** Held removals that nobody has decided. They count together with later ones. */
export interface Asked {
  all: readonly Removes[];
  of(customer: RecordKey): readonly Removes[];
}

export interface HoldRule {
  word(policy: PolicyName): PolicyWord;
  earned(policy: PolicyName): number;
  toEarn: number;
}

export interface Sums {
  live: Live;
  windows: Windows;
  asked: Asked;
  /** What this run released already. It counts, and is no longer held. */
  released: readonly Holdable[];
}

export interface HeldFor {
  scope: HoldScope;
  policy?: PolicyName;
  toEarn?: number;
  explanation: string;
  count: number;
  allowed: number;
  total: number;
}

const places = 6;

/** The floor of a limit over all enterprises is never cut below this. */
const fewThings = 5;

export function allowedBy(limit: DeletionLimit, live: number): number {
  return Math.max(limit.floor, Math.floor(Number((live * limit.share).toFixed(places))));
}

/** Within all enterprises. The floor is at most half of the live things: else a small ledger could lose everything. */
export function allowedOfAll(limit: DeletionLimit, live: number): number {
  const most = Math.max(fewThings, Math.floor(live / 2));
  return allowedBy({ ...limit, floor: Math.min(limit.floor, most) }, live);
}

/**
 * Returns the held operations by hash, before any is carried out. Operations that a policy holds or a person decided on
 * do not count. Over an enterprise's limit, all its removals are held. Over a limit of the run, the day or the week,
 * all removals of the run are held. Undecided (`sums.asked`) and released ones count too.
 */
export function judgeHoldables(
  items: readonly Holdable[],
  limits: RemovalLimits,
  sums: Sums,
  rule: HoldRule,
): ReadonlyMap<string, HeldFor> {
  const { live, asked, released } = sums;
  const held = new Map<string, HeldFor>();
  const counted: Holdable[] = [];
  for (const item of items) {
    const why = ruledOut(item, rule);
    if (why !== undefined) held.set(item.hash, { ...why, ...policyOf(item), ...countOf(item, live) });
    else if (isCounted(item)) counted.push(item);
  }
  const before = Map.groupBy(released, ({ customer }) => formatKey(customer));
  for (const [key, own] of Map.groupBy(counted, ({ customer }) => formatKey(customer))) {
    const [first] = own;
    if (first === undefined) continue;
    const { customer } = first;
    const together = [...(before.get(key) ?? []), ...own];
    const over = overLimit(together, asked.of(customer), limits.enterprise, {
      live: live.of(customer),
      allows: allowedBy,
    });
    if (over === undefined) continue;
    const why = {
      ...over,
      scope: "enterprise",
      explanation: `${sum(over)} of this enterprise ${taken(over)}`,
    } as const;
    for (const { hash } of own) held.set(hash, why);
  }
  const all = [...released, ...counted];
  const wider = overAll(all, limits, sums);
  if (wider !== undefined) for (const { hash } of counted) if (!held.has(hash)) held.set(hash, wider);
  return held;
}

function isCounted({ removes }: Holdable): boolean {
  return removesSomething(removes);
}

function countOf({ customer, thing, removes }: Holdable, live: Live): Pick<HeldFor, "count" | "allowed" | "total"> {
  if (thing === undefined) return { count: 0, allowed: 0, total: 0 };
  return { count: countRemoved([removes])[thing], allowed: 0, total: live.of(customer)[thing] };
}

function policyOf({ policy }: Holdable): Pick<HeldFor, "policy"> {
  return policy === undefined ? {} : { policy };
}

function ruledOut(item: Holdable, rule: HoldRule): Pick<HeldFor, "scope" | "toEarn" | "explanation"> | undefined {
  if (item.flips !== undefined) return { scope: "flips", explanation: item.flips };
  if (item.rebuilt) return { scope: "rebuilt", explanation: forgotten };
  if (item.alone)
    return { scope: "operation", explanation: `each operation of this kind (${item.kind}) is approved alone` };
  const [before] = item.askedBefore ?? [];
  const again =
    before === undefined ? undefined : ({ scope: "operation", explanation: askedBeforeTexts[before.state] } as const);
  if (item.policy === undefined) return again;
  const word = rule.word(item.policy);
  const { toEarn } = rule;
  const isEarned = word === "apply-after-approvals" && rule.earned(item.policy) >= toEarn;
  if (isEarned || (word !== "ask" && word !== "apply-after-approvals")) return again;
  const explanation = `policies.${item.policy} is ${word}`;
  return { scope: "policy", ...(word === "apply-after-approvals" && { toEarn }), explanation };
}

const askedBeforeTexts = {
  asked: "a person was asked about it before, and it has changed since",
  approved: "a person approved it before, and it has changed since",
  rejected: "a person rejected it before, and it has changed since",
} as const;

const forgotten =
  "the ledger was built anew, and what people decided before is not known: whether they unlinked the customer, " +
  "rejected this, undid it, had it returned, or ordered it for a customer that is no longer in the CRM";

interface Over {
  thing: RemovedThing;
  count: number;
  allowed: number;
  total: number;
  limit: DeletionLimit;
  waiting: number;
}

function overLimit(
  items: readonly Holdable[],
  asked: readonly Removes[],
  limit: DeletionLimit,
  { live, allows = allowedOfAll, before }: { live: Counts; allows?: typeof allowedBy; before?: Counts | undefined },
): Over | undefined {
  const own = items.map(({ removes }) => removes);
  const now = countRemoved(own);
  const all = countRemoved([...own, ...asked]);
  for (const thing of removedThings) {
    const earlier = before?.[thing] ?? 0;
    const count = all[thing] + earlier;
    const total = live[thing] + earlier;
    const allowed = allows(limit, total);
    if (now[thing] > 0 && count > allowed)
      return { thing, count, allowed, total, limit, waiting: all[thing] - now[thing] };
  }
  return undefined;
}

function overAll(
  counted: readonly Holdable[],
  limits: RemovalLimits,
  { live, asked, windows }: Sums,
): HeldFor | undefined {
  for (const [scope, span] of [["run"], ["day", " within 24 hours"], ["week", " within 7 days"]] as const) {
    const before = scope === "run" ? undefined : windows[scope];
    const over = overLimit(counted, asked.all, limits[scope], { live: live.all, before });
    if (over === undefined) continue;
    const earlier = before?.[over.thing] ?? 0;
    const when =
      span === undefined ? "" : `${span}${earlier === 0 ? "" : `, ${grouped(earlier)} of them before this run`}`;
    const whole = span === undefined ? " of the whole run" : "";
    return { ...over, scope, explanation: `${sum(over)}${whole} ${taken(over, when)}` };
  }
  return undefined;
}

function sum({ thing, count, total }: Over): string {
  const share = total === 0 ? "" : ` (${((count / total) * 100).toFixed(1)} %)`;
  return `${grouped(count)} of ${grouped(total)}${share} ${thing}`;
}

function taken({ allowed, limit, waiting }: Over, when = ""): string {
  const asked = waiting === 0 ? "" : ` (${grouped(waiting)} of them waited for a person already)`;
  const share = `${Number((limit.share * 100).toFixed(places))} %`;
  const isHalf = allowed < limit.floor;
  const why = isHalf ? `at most half of so few, or ${share}` : `the larger of ${limit.floor} and ${share}`;
  return `would have been removed${when}${asked}; ${grouped(allowed)} are allowed: ${why}`;
}

export interface HeldTogether extends Omit<HeldFor, "explanation"> {
  holdables: readonly { holdable: Holdable; reason: string }[];
}

export function questionsOf(holdables: readonly Holdable[], held: ReadonlyMap<string, HeldFor>): HeldTogether[] {
  const all = holdables.flatMap((holdable) => {
    const why = held.get(holdable.hash);
    return why === undefined ? [] : [{ holdable, why }];
  });
  const groups = Map.groupBy(all, ({ holdable, why }) =>
    holdable.alone ? holdable.hash : `${why.scope} ${why.policy ?? ""}`,
  );
  return [...groups.values()].map((group) => questionOf(group));
}

function questionOf(group: readonly { holdable: Holdable; why: HeldFor }[]): HeldTogether {
  const [first] = group;
  if (first === undefined) throw new Error("a question is about something");
  const { explanation: _, ...why } = first.why;
  return { ...why, holdables: group.map((one) => ({ holdable: one.holdable, reason: one.why.explanation })) };
}

/** Without held operations, what needs them, and what gives a number that they would free. */
export function withoutHeld(operations: readonly Operation[], held: ReadonlySet<string>): Operation[] {
  const stopped = operations.filter(({ hash }) => held.has(hash));
  const kept = new Set(stopped.flatMap(freedBy));
  const isLeft = (operation: Operation): boolean =>
    held.has(operation.hash) || grantedBy(operation).some((number) => kept.has(number));
  const { left = [], others = [] } = Object.groupBy(operations, (one) => (isLeft(one) ? "left" : "others"));
  return goingWithout(others, left);
}
