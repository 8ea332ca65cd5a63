import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { HoldScope } from "../operation/hold-scope.ts";
import type { Operation } from "../operation/operation.ts";
import { policyText } from "../operation/policy.ts";
import type { PolicyName, PolicyWord } from "../operation/policy.ts";
import type { OperationKind } from "../operation/registry.ts";
import { kindOf } from "../operation/registry.ts";
import type { RecordReference } from "../operation/shape.ts";
import { grouped, takenThings, weightText } from "../operation/taking.ts";
import type { TakenThing, Weight } from "../operation/taking.ts";
import { goingWithout } from "./needs-of-operations.ts";

/** How much may be taken away: the larger of `floor` things and `share` of the live things of the same kind. */
export interface DeletionLimit {
  floor: number;
  share: number;
}

/** The limits within one enterprise, one run, 24 hours and 7 days. */
export interface TakingLimits {
  enterprise: DeletionLimit;
  run: DeletionLimit;
  day: DeletionLimit;
  week: DeletionLimit;
}

/** An operation that a limit or a policy may hold. */
export interface Taking {
  customer: RecordKey;
  hash: string;
  kind: OperationKind;
  /** What rules it; undefined where nothing does. */
  policy: PolicyName | undefined;
  /** What it takes away, and how many; undefined where it takes nothing. */
  thing: TakenThing | undefined;
  count: number;
  weight: Weight;
  /** Why it is planned, for the message of a policy. */
  reason: string;
  /** A person approved exactly this operation before. */
  approved: boolean;
  /** No policy and no limit releases it: only the approval of this very operation does. */
  alone: boolean;
  /** Of a record that the CRM turns to and fro: what a person is told of it. */
  flips: string | undefined;
  /** The records that it is about. */
  records: readonly RecordReference[];
  /** The limit that held it before, which no person has released since. */
  stands: HeldFor | undefined;
  /** It makes something, and what people decided of the customer is not known: the ledger was built anew. */
  rebuilt: boolean;
}

export type Counts = Readonly<Record<TakenThing, number>>;

/** The live things of each kind, of one customer and of all. */
export interface Live {
  of(customer: RecordKey): Counts;
  all: Counts;
}

/** What was taken away without a person's approval in the last 24 hours and 7 days, before this run. */
export interface Windows {
  day: Counts;
  week: Counts;
}

/** What the configuration and the ledger say of a kind. */
export interface TakingRule {
  word(policy: PolicyName): PolicyWord;
  /** Different operations of the kind that people approved in this ledger. */
  earned(kind: OperationKind): number;
  toEarn: number;
}

/** From the widest sum to a single record: the scope of a hold is the first of what it holds. */
const holdScopes: readonly HoldScope[] = [
  "enterprise",
  "run",
  "day",
  "week",
  "policy",
  "operation",
  "flips",
  "rebuilt",
];

/** Why an operation is held. */
export interface HeldFor {
  scope: HoldScope;
  explanation: string;
  count: number;
  allowed: number;
  total: number;
}

/**
 * Decimal places to which a share of a count is exact: far below one thing, far above the noise of a product such as
 * 0.29 × 100.
 */
const places = 6;

/** How many things a limit allows of so many. */
export function allowedBy(limit: DeletionLimit, live: number): number {
  return Math.max(limit.floor, Math.floor(Number((live * limit.share).toFixed(places))));
}

/**
 * Judges everything of a run that a limit or a policy may hold, before the first of it is carried out; by hash, what is
 * not among them is released. What a policy holds is not counted, nor what a person approved. Over the limit of an
 * enterprise all that takes away there is held; over one of the run, of 24 hours or of 7 days all that takes away in
 * the run is, what enterprises are held for counted too. What a limit held before stays held until a person approves
 * it: that a part of it was approved, or is wanted again, releases nothing of the rest.
 */
export function judgeTakings(
  items: readonly Taking[],
  limits: TakingLimits,
  live: Live,
  windows: Windows,
  rule: TakingRule,
): ReadonlyMap<string, HeldFor> {
  const held = new Map<string, HeldFor>();
  const counted: Taking[] = [];
  for (const item of items) {
    if (item.approved) continue;
    const why = ruledOut(item, rule);
    if (why !== undefined) held.set(item.hash, { ...why, count: item.count, allowed: 0, total: totalOf(item, live) });
    else if (isCounted(item)) counted.push(item);
  }
  for (const own of Map.groupBy(counted, ({ customer }) => formatKey(customer)).values()) {
    const [first] = own;
    const over = first === undefined ? undefined : overLimit(own, limits.enterprise, live.of(first.customer));
    if (over === undefined) continue;
    const why = {
      ...over,
      scope: "enterprise",
      explanation: `${sum(over)} of this enterprise ${taken(over)}`,
    } as const;
    for (const { hash } of own) held.set(hash, why);
  }
  const wider = overRun(counted, limits, live.all) ?? overWindows(counted, limits, live.all, windows);
  for (const { hash, stands } of counted) {
    const why = wider ?? stands;
    if (why !== undefined && !held.has(hash)) held.set(hash, why);
  }
  return held;
}

/**
 * How many of a thing an operation takes away: what its kind counts, and what goes along, as seats do with an asset
 * that is deleted.
 */
function amountOf({ thing: own, count, weight }: Taking, thing: TakenThing): number {
  return own === thing ? count : weight[thing];
}

function isCounted(item: Taking): boolean {
  return takenThings.some((thing) => amountOf(item, thing) > 0);
}

function totalOf({ customer, thing }: Taking, live: Live): number {
  return thing === undefined ? 0 : live.of(customer)[thing];
}

/** Why an operation waits for a person whatever the limits say. */
function ruledOut(item: Taking, rule: TakingRule): Pick<HeldFor, "scope" | "explanation"> | undefined {
  const weighs = weightText(item.weight);
  const what = weighs === "" ? item.reason : `${item.reason}: ${weighs}`;
  if (item.flips !== undefined) return { scope: "flips", explanation: `${item.flips}; ${what}` };
  if (item.rebuilt) return { scope: "rebuilt", explanation: `${what}; ${forgotten}` };
  if (item.alone)
    return { scope: "operation", explanation: `${what}; each operation of this kind (${item.kind}) is approved alone` };
  if (item.policy === undefined) return undefined;
  const word = rule.word(item.policy);
  if (word === "hold") return { scope: "policy", explanation: `${what}; ${policyText(item.policy, word)}` };
  const earned = rule.earned(item.kind);
  if (word !== "earn" || earned >= rule.toEarn) return undefined;
  return {
    scope: "policy",
    explanation:
      `${what}; ${policyText(item.policy, word)}, and ${earned} of ${rule.toEarn} operations of this kind ` +
      `(${item.kind}) were approved in this ledger`,
  };
}

const forgotten =
  "the ledger was built anew, and what people decided before is not known: whether they unlinked the customer, " +
  "rejected this, took it back by hand, or had it bought for a customer that the CRM gives no more";

interface Over {
  thing: TakenThing;
  count: number;
  allowed: number;
  total: number;
  limit: DeletionLimit;
}

/** The first kind of thing of which more would be taken away than a limit allows. */
function overLimit(items: readonly Taking[], limit: DeletionLimit, live: Counts, before?: Counts): Over | undefined {
  for (const thing of takenThings) {
    const now = items.reduce((total, item) => total + amountOf(item, thing), 0);
    const earlier = before?.[thing] ?? 0;
    const count = now + earlier;
    const total = live[thing] + earlier;
    const allowed = allowedBy(limit, total);
    if (now > 0 && count > allowed) return { thing, count, allowed, total, limit };
  }
  return undefined;
}

function overRun(counted: readonly Taking[], limits: TakingLimits, live: Counts): HeldFor | undefined {
  const over = overLimit(counted, limits.run, live);
  if (over === undefined) return undefined;
  return { ...over, scope: "run", explanation: `${sum(over)} of the whole run ${taken(over)}` };
}

function overWindows(
  counted: readonly Taking[],
  limits: TakingLimits,
  live: Counts,
  windows: Windows,
): HeldFor | undefined {
  for (const [scope, span] of [
    ["day", "24 hours"],
    ["week", "7 days"],
  ] as const) {
    const over = overLimit(counted, limits[scope], live, windows[scope]);
    if (over === undefined) continue;
    const before = windows[scope][over.thing];
    const earlier = before === 0 ? "" : `, ${grouped(before)} of them before this run`;
    return { ...over, scope, explanation: `${sum(over)} ${taken(over, ` within ${span}${earlier}`)}` };
  }
  return undefined;
}

/** `43 of 2,011 (2.1 %) seats`. */
function sum({ thing, count, total }: Over): string {
  const share = total === 0 ? "" : ` (${((count / total) * 100).toFixed(1)} %)`;
  return `${grouped(count)} of ${grouped(total)}${share} ${thing}`;
}

function taken({ allowed, limit }: Over, when = ""): string {
  return (
    `would be taken away${when}; ${grouped(allowed)} are allowed: ` +
    `the larger of ${limit.floor} and ${Number((limit.share * 100).toFixed(places))} %`
  );
}

/** What one hold of a customer says: its widest scope, each reason once, and what it holds in units of the business. */
export function holdOf(reasons: readonly HeldFor[], weight: Weight): HeldFor {
  const ordered = reasons.toSorted((one, other) => holdScopes.indexOf(one.scope) - holdScopes.indexOf(other.scope));
  const [first] = ordered;
  if (first === undefined) throw new Error("a hold holds something");
  const explanations = [...new Set(ordered.map(({ explanation }) => explanation))];
  const more = explanations.length - mostReasons;
  const told = [...explanations.slice(0, mostReasons), ...(more > 0 ? [`${more} more for reasons of this kind`] : [])];
  const weighs = isLimit(first.scope) ? weightText(weight) : "";
  return { ...first, explanation: [...told, ...(weighs === "" ? [] : [`held here: ${weighs}`])].join("; ") };
}

/** So many reasons a hold spells out. */
const mostReasons = 3;

/** Whether a limit holds it, so that it is a matter of a sum; else it is held for what it is itself. */
export function isLimit(scope: HoldScope): boolean {
  return scope === "enterprise" || scope === "run" || scope === "day" || scope === "week";
}

/**
 * What of a customer's plan goes on while some of it is held: everything but that, the grants of a number that one of
 * the held ones would free, whether the grant names the number or the unit of an instance, and what needs one of those.
 */
export function withoutHeld(operations: readonly Operation[], held: ReadonlySet<string>): Operation[] {
  const stopped = operations.filter(({ hash }) => held.has(hash));
  const kept = new Set(stopped.flatMap((operation) => kindOf(operation).freed(operation)));
  const isLeft = (operation: Operation): boolean =>
    held.has(operation.hash) ||
    kindOf(operation)
      .granted(operation)
      .some((number) => kept.has(number));
  const left = operations.filter(isLeft);
  return goingWithout(
    operations.filter((operation) => !left.includes(operation)),
    left,
  );
}
