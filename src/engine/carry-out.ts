import { deliver } from "./deliver.ts";
import { pausedCode } from "../ledger/pause.ts";
import { formatKey } from "../crm/keys.ts";
import type { CustomerState } from "./customer.ts";
import type { Delivery } from "./send.ts";
import { lookForRefusedOrder, refusedJustNow } from "./refused-orders.ts";
import type { StandingHold } from "../ledger/decisions/hold-rows.ts";
import type { Operation } from "./model/operation.ts";
import { typeOf } from "./model/registry.ts";
import type { Observed } from "./plan/input.ts";
import { advance, earlierMayStillLand, serviceOf } from "./attempt.ts";
import type { AttemptState, CustomerAttempt, ReconcileDependencies, StopReason } from "./attempt.ts";
import type { Why } from "./outcomes.ts";
import { crmFacts, movedFacts } from "./plan/facts.ts";
import { needsOf } from "./plan/needs-of-operations.ts";
import type { Facts } from "./plan/facts.ts";
import type { CustomerPlan } from "./plan/plan.ts";

/** So often at most one run sends a thing again that was found not to be done each time. */
const mostAgain = 3;

function unclearName({ kind, customer, subject }: Operation): string {
  return `${kind} ${formatKey(customer)} ${subject}`;
}

/** The attempt that an operation is carried out in. */
export interface CarryOut {
  deps: ReconcileDependencies;
  attempt: CustomerAttempt;
  knows: CustomerState;
  observed: Observed;
  /** What a person approved, by hash. */
  approved: ReadonlyMap<string, StandingHold>;
  /** What is done is committed with what is written next. */
  ahead?: boolean | undefined;
}

/** How far the attempt is after one operation, and why it stops there. */
interface CarriedOut {
  state: AttemptState;
  stopped?: StopReason;
}

/** Sends one operation, or puts it off, and says what it came to. */
export async function carryOut(of: CarryOut, before: AttemptState, operation: Operation): Promise<CarriedOut> {
  const { deps, attempt, knows, observed, ahead } = of;
  if (before.unreached.has(serviceOf(operation))) return await notSent(of, before, operation, notAttempted);
  const withheld = await withhold(of, operation);
  if (withheld === "parked") return { state: before, stopped: "parked" };
  if (withheld !== undefined) {
    const short = deps.unclear.has(unclearName(operation)) ? "in-vain" : undefined;
    const state = advance(before, { type: "put-off", operation, why: withheld, short });
    await dropUnsent(of, state, operation, withheld.dropped ?? withheld.reason);
    return { state };
  }
  const delivery = await deliver(deps, deps.pool, operation, {
    runId: attempt.runId,
    state: knows,
    plannedId: before.plannedIds.get(operation.hash),
    plan: attempt.expected?.plan,
    ofUndo: attempt.expected?.undo !== undefined,
    hold: of.approved.get(operation.hash),
    shownBefore: observed.members,
    signal: attempt.signal,
    ahead,
  });
  if (["done", "unknown", "parked"].includes(delivery.kind)) deps.tally.effected(operation);
  return await outcomeOf(of, before, operation, delivery);
}

async function outcomeOf(
  of: CarryOut,
  before: AttemptState,
  operation: Operation,
  delivery: Delivery,
): Promise<CarriedOut> {
  switch (delivery.kind) {
    case "done":
      return { state: advance(before, { type: "done", operation, refused: delivery.refused }) };
    case "blocked":
      if (delivery.code === pausedCode) return await paused(of, before, operation, delivery);
      return { state: await putOff(of, before, operation, delivery) };
    case "rejected":
      return refusedBy(of.deps, before, operation, delivery);
    case "unknown":
      of.deps.unclear.set(unclearName(operation), (of.deps.unclear.get(unclearName(operation)) ?? 0) + 1);
      return await settleAtOnce(of, advance(before, { type: "sent", operation }), operation, delivery.id);
    case "parked":
      return { state: advance(before, { type: "sent", operation }), stopped: "parked" };
    case "not-sent":
      return await notSent(of, before, operation, {
        reason: `not sent: ${delivery.reason}`,
        id: delivery.id,
      });
    case "stopped":
      return { state: before, stopped: "aborted" };
  }
}

/** Nothing of the customer is sent while somebody pauses it: the first run after that takes it up. */
async function paused(
  of: CarryOut,
  before: AttemptState,
  operation: Operation,
  { code, reason }: Extract<Delivery, { kind: "blocked" }>,
): Promise<CarriedOut> {
  const sent = advance(before, { type: "sent", operation });
  const state = advance(sent, { type: "unsent", operations: [operation], why: { code, reason } });
  await dropUnsent(of, state, operation, reason);
  return { state, stopped: "paused" };
}

/** Why what a service that could not be reached would have to do is left to the next run. */
export const notAttempted = {
  code: "service.not-sent",
  reason: "not attempted: the service could not be reached",
};

/** Nothing more goes to the service in this attempt; what goes to the other one does. `id`: the intent stood already. */
async function notSent(
  of: CarryOut,
  before: AttemptState,
  operation: Operation,
  { reason, id }: { reason: string; id?: string | undefined },
): Promise<CarriedOut> {
  const why = { ...notAttempted, reason };
  const state = advance(before, { type: "unsent", operations: [operation], why, unreached: serviceOf(operation) });
  if (id === undefined) await dropUnsent(of, state, operation, reason);
  return { state };
}

async function putOff(
  of: CarryOut,
  before: AttemptState,
  operation: Operation,
  { code, reason, unreached }: Extract<Delivery, { kind: "blocked" }>,
): Promise<AttemptState> {
  const short = unreached === true ? "no-numbers" : undefined;
  const state = advance(before, { type: "put-off", operation, why: { code, reason, again: true }, short });
  await dropUnsent(of, state, operation, reason);
  return state;
}

/**
 * A refusal stops only what needs what was refused: the next plan of this attempt leaves it out. People who were
 * refused together are not at fault yet: they are sent in parts. Where the service refuses this application, no record
 * is at fault, and this run sends it nothing more.
 */
function refusedBy(
  { refusing }: ReconcileDependencies,
  before: AttemptState,
  operation: Operation,
  { scope, shared, code, reason }: Extract<Delivery, { kind: "rejected" }>,
): CarriedOut {
  if (scope !== "service")
    return { state: advance(before, { type: "refused", operation, why: { code, reason }, shared }) };
  refusing.set(serviceOf(operation), reason);
  const why = { code, reason, again: false };
  return { state: advance(before, { type: "put-off", operation, why, short: "turned-away" }) };
}

/** A lost answer is looked into at once: in most cases the platform shows the effect already. */
async function settleAtOnce(
  { deps, attempt, knows }: CarryOut,
  state: AttemptState,
  operation: Operation,
  id: string,
): Promise<CarriedOut> {
  const row = await deps.ledger.journal.byId(id);
  if (row === undefined || typeOf(row.operation).onUnknown.by === "resend") return { state, stopped: "unknown" };
  const { runId, signal } = attempt;
  const settled = await deps.settling.settle(row, { runId, signal, knows });
  if (settled.kind === "rejected")
    return { state: advance(state, { type: "refused", operation, why: settled, shared: false }) };
  if (settled.kind !== "done") return { state, stopped: "unknown" };
  return { state: advance(state, { type: "done", operation, refused: [] }) };
}

/**
 * Why an operation is not sent now: an earlier value may still land, it was sent often enough in this run, its service
 * refuses this application, or what a refused E5 did is not known.
 */
async function withhold(
  { deps, attempt, knows }: CarryOut,
  operation: Operation,
): Promise<"parked" | (Why & { dropped?: string }) | undefined> {
  await knows.settledOf(operation.subject);
  if (await earlierMayStillLand(deps, operation)) {
    const reason = "the outcome of an earlier change is not known, so this change waits for the settle time";
    const dropped = "waits for the settle time of an earlier change";
    return { code: "settle-time", reason, again: true, dropped };
  }
  const sent = deps.unclear.get(unclearName(operation)) ?? 0;
  if (sent > mostAgain) return { code: "service.unclear", reason: sentInVain(sent, operation), again: true };
  const refusing = deps.refusing.get(serviceOf(operation));
  if (refusing !== undefined) return { code: "service.refused", reason: refusing, again: true };
  if (typeOf(operation).can.afterRefusal === undefined) return undefined;
  const after = await lookForRefusedOrder({ ...deps, knows }, operation, attempt.signal);
  if (after.kind === "clear") return undefined;
  return after.kind === "parked" ? "parked" : { code: "settle-time", reason: refusedJustNow, again: true };
}

function sentInVain(sent: number, { endpoint }: Operation): string {
  return (
    `${endpoint} was sent ${sent} times in this run. No answer said whether it was done, and the platform showed ` +
    "each time that it was not"
  );
}

/** What is not sent stands in the journal as dropped, with the reason. */
export async function dropUnsent(
  { deps, attempt, knows }: Omit<CarryOut, "observed" | "approved">,
  state: AttemptState,
  operation: Operation,
  why: string,
): Promise<void> {
  const { journal } = deps.ledger;
  if (!state.plannedIds.has(operation.hash)) await journal.plan({ runId: attempt.runId, operations: [operation] });
  await journal.drop(knows.customer, why, operation.hash);
}

/** A saved plan of one customer that is to be carried out as it is, or in part. */
export interface Expected {
  /** The plan that it is a part of. */
  plan: string;
  facts: Facts;
  /** The run that it takes back; undefined: it does what the CRM wants. */
  undo?: string | undefined;
  /** Every operation that was saved, by hash, as people are told of it. */
  operations: ReadonlyMap<string, string>;
  /** Those that are to be carried out. */
  chosen: ReadonlySet<string>;
  /** Something of it was applied by an earlier run: what that changed is no reason against the rest. */
  applied: boolean;
  /** This run has begun to carry it out: what is left must be a part of it. */
  begun: boolean;
}

/** What stands against carrying a saved plan out now, as sentences for people; nothing where it is still the plan. */
export function movedSince(plan: CustomerPlan, expected: Expected): string[] {
  const now = new Map(plan.operations.map((operation) => [operation.hash, nameOf(operation)]));
  const others = [...now]
    .filter(([hash]) => !expected.operations.has(hash))
    .map(([, name]) => `${name} is to be done too`);
  if (expected.begun) return others;
  const lost = [...expected.operations]
    .filter(([hash]) => !now.has(hash) && (!expected.applied || expected.chosen.has(hash)))
    .map(([, name]) => `${name} is no longer needed as planned`);
  const moved = expected.applied ? movedInCrm(expected.facts, plan.facts) : movedFacts(expected.facts, plan.facts);
  return moved.length > 0 ? moved : [...lost, ...others];
}

/** Of a plan that was begun: what the CRM changed meanwhile; what is done by now waits for nothing any more. */
function movedInCrm(saved: Facts, now: Facts): string[] {
  const left = crmFacts(now);
  return movedFacts(Object.fromEntries(Object.entries(saved).filter(([name]) => name in left)), left);
}

/** Why what was not chosen of a saved plan is left to the next run. */
export const notChosen: Why = {
  code: "plan.not-chosen",
  reason: "the change is in the saved plan but was not chosen; the next run carries it out",
  again: true,
};

/** Why the records of what a run did wait, once that is taken back. */
export function takenBack(run: string): Why {
  return {
    code: "undo.taken-back",
    reason: `an undo was applied to the changes of ${run}; the next run makes them again unless the CRM changes`,
    again: true,
  };
}

/** An operation as people are told of it: `1a2b3c4d E5 order:crm/10248`. */
export function nameOf({ hash, endpoint, subject }: { hash: string; endpoint: string; subject: string }): string {
  return `${hash.slice(0, 8)} ${endpoint} ${subject}`;
}

/** A plan with what was chosen of it, and what was not, or needs something that is still to be done and was not. */
export function chosenOf(
  plan: CustomerPlan,
  expected: Expected | undefined,
): { plan: CustomerPlan; left: readonly Operation[] } {
  if (expected === undefined) return { plan, left: [] };
  const left = new Set(plan.operations.filter(({ hash }) => !expected.chosen.has(hash)));
  if (left.size === 0) return { plan, left: [] };
  const needs = needsOf(plan.operations);
  for (let before = 0; before < left.size;) {
    before = left.size;
    const hashes = new Set([...left].map(({ hash }) => hash));
    for (const operation of plan.operations)
      if (needs.get(operation.hash)?.some((hash) => hashes.has(hash)) === true) left.add(operation);
  }
  return { plan: { ...plan, operations: plan.operations.filter((one) => !left.has(one)) }, left: [...left] };
}
