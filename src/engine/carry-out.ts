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

/** How often at most one run sends a change again after the platform showed each time that it was not done. */
const mostAgain = 3;

function unclearName({ kind, customer, subject }: Operation): string {
  return `${kind} ${formatKey(customer)} ${subject}`;
}

/** The pass in which an operation is carried out. */
export interface CarryOut {
  deps: ReconcileDependencies;
  attempt: CustomerAttempt;
  knows: CustomerState;
  observed: Observed;
  /** The holds that a person approved, by hash. */
  approved: ReadonlyMap<string, StandingHold>;
  /** The outcome of a done operation is committed with the next write. */
  ahead?: boolean | undefined;
}

/** The state of the pass after one operation, and why it stops there, if it does. */
interface CarriedOut {
  state: AttemptState;
  stopped?: StopReason;
}

/** Sends one operation or puts it off, and answers with the new state of the pass. */
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

/** Sends nothing of the customer while crm-sync is paused. The first run after the pause continues with it. */
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

/** Why operations for a service that could not be reached are left to the next run. */
export const notAttempted = {
  code: "service.not-sent",
  reason: "not attempted: the service could not be reached",
};

/** Sends the service nothing more in this pass; the other service goes on. `id`: the intent exists already. */
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
 * A rejection stops only the operations that need the rejected one: the next plan of this pass leaves them out. People
 * who were refused together are sent in parts, to find the person at fault. If the service refuses this application, no
 * record is at fault, and this run sends it nothing more.
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

/** Settles a lost answer at once: in most cases the platform already shows the effect. */
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
 * Why an operation is not sent now. An earlier value may still land, or this run sent it often enough. Or its service
 * refuses this application, or the effect of a rejected E5 is unknown.
 */
async function withhold(
  { deps, attempt, knows }: CarryOut,
  operation: Operation,
): Promise<"parked" | (Why & { dropped?: string }) | undefined> {
  if (knows.isConcluding(operation.subject)) await knows.settled();
  if (typeOf(operation).onUnknown.by === "resend" && (await earlierMayStillLand(deps, operation))) {
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

/** Records an operation that is not sent as dropped in the journal, with the reason. */
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

/** A saved plan of one customer to carry out unchanged, as a whole or in part. */
export interface Expected {
  /** The id of the saved plan that it belongs to. */
  plan: string;
  facts: Facts;
  /** The run that it undoes; undefined: it follows the CRM. */
  undo?: string | undefined;
  /** The name of every saved operation for people, by hash. */
  operations: ReadonlyMap<string, string>;
  /** Hashes of the operations to carry out. */
  chosen: ReadonlySet<string>;
  /** An earlier run applied some of it, so the changes of that run are no reason against the rest. */
  applied: boolean;
  /** This run has begun to carry it out, so all remaining operations must be part of it. */
  begun: boolean;
}

/** Why a saved plan cannot be carried out now, as sentences for people; empty if it is still the plan. */
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

/** For a partly applied plan, only changes in the CRM count: its done operations wait for nothing any more. */
function movedInCrm(saved: Facts, now: Facts): string[] {
  const left = crmFacts(now);
  return movedFacts(Object.fromEntries(Object.entries(saved).filter(([name]) => name in left)), left);
}

/** Why operations of a saved plan that were not chosen are left to the next run. */
export const notChosen: Why = {
  code: "plan.not-chosen",
  reason: "the change is in the saved plan but was not chosen; the next run carries it out",
  again: true,
};

/** Why the records of an undone run wait. */
export function takenBack(run: string): Why {
  return {
    code: "undo.taken-back",
    reason: `an undo was applied to the changes of ${run}; the next run makes them again unless the CRM changes`,
    again: true,
  };
}

/** The name of an operation for people: `1a2b3c4d E5 order:crm/10248`. */
export function nameOf({ hash, endpoint, subject }: { hash: string; endpoint: string; subject: string }): string {
  return `${hash.slice(0, 8)} ${endpoint} ${subject}`;
}

/** Splits a plan: `left` has the operations that were not chosen, and those that need one of them. */
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
