import { deliver } from "./deliver.ts";
import { pausedCode } from "../ledger/pause.ts";
import { formatKey } from "../crm/keys.ts";
import type { Delivery } from "./send.ts";
import { settleTimeLeft, settleTimeLeftOf } from "./settle-time.ts";
import type { StandingHold } from "../ledger/decisions/hold-rows.ts";
import type { Operation } from "./model/operation.ts";
import type { Effect } from "./model/operation-type.ts";
import { typeOf } from "./model/registry.ts";
import type { Observed, CustomerInput } from "./plan/input.ts";
import {
  type CustomerAttempt,
  type ReconcileDependencies,
  type StopReason,
  type Progress,
  type Why,
  serviceOf,
} from "./attempt.ts";
import { crmFacts, movedFacts, type Facts } from "./plan/facts.ts";
import { needsOf } from "./plan/blocks.ts";
import type { CustomerPlan } from "./plan/plan.ts";
import { toInstant } from "../base/clock.ts";
import { journalEntry, type JournalRow } from "../ledger/journal/journal-tables.ts";
import type { RecordReference } from "./model/resource.ts";
import { type EngineDependencies, CustomerState } from "./customer.ts";
import type { Snapshots } from "../platform/snapshot.ts";
import { evidenceWith, isShown } from "./evidence.ts";
import type { FixedNumber } from "./model/references.ts";

/** How often one run repeats a change that the platform each time showed as not done. */
const mostAgain = 3;

function unclearName({ kind, customer, subject }: Operation): string {
  return `${kind} ${formatKey(customer)} ${subject}`;
}

const earlierLands = {
  code: "settle-time",
  reason: "the outcome of an earlier change is not known, so this change waits for the settle time",
  again: true,
  dropped: "waits for the settle time of an earlier change",
};

export interface CarryOut {
  deps: ReconcileDependencies;
  attempt: CustomerAttempt;
  knows: CustomerState;
  progress: Progress;
  observed: Observed;
  approved: ReadonlyMap<string, StandingHold>;
  ahead?: boolean | undefined;
}

export async function carryOut(of: CarryOut, operation: Operation): Promise<StopReason | undefined> {
  const { deps, attempt, knows, progress } = of;
  if (progress.unreached.has(serviceOf(operation))) return await notSent(of, operation, notAttempted);
  if (knows.isConcluding(operation.subject)) await knows.settled();
  const isSetting = typeOf(operation).onUnknown.by === "resend";
  const early = isSetting && (await earlierMayStillLand(deps, operation)) ? earlierLands : undefined;
  const withheld = early ?? sentInVain(deps, operation) ?? turnedAway(deps, operation);
  const vain = deps.unclear.has(unclearName(operation)) ? "in-vain" : undefined;
  if (withheld !== undefined) return await putOff(of, operation, withheld, vain);
  const refused = refusedOrderOf(deps, operation);
  if (refused.rows.length > 0) {
    const after = await lookForRefused({ ...deps, knows }, refused, attempt.signal);
    if (after.kind === "parked") return "parked";
    // The order is not as it was planned, so this pass plans it again.
    if (after.kind === "recorded") return undefined;
    if (after.kind === "too-early")
      return await putOff(of, operation, { code: "settle-time", reason: refusedJustNow, again: true }, vain);
  }
  const delivery = await deliver(deps, deps.pool, operation, {
    runId: attempt.runId,
    state: knows,
    plannedId: progress.stored.get(operation.hash),
    plan: attempt.expected?.plan,
    ofUndo: attempt.expected?.undo !== undefined,
    hold: of.approved.get(operation.hash),
    shownBefore: of.observed.members,
    signal: attempt.signal,
    ahead: of.ahead,
  });
  if (["done", "unknown", "parked"].includes(delivery.kind)) deps.tally.effected(operation);
  if (delivery.kind !== "done") return await notDone(of, operation, delivery);
  progress.carriedOut(operation, delivery.refused);
  return undefined;
}

async function notDone(
  of: CarryOut,
  operation: Operation,
  delivery: Exclude<Delivery, { kind: "done" }>,
): Promise<StopReason | undefined> {
  const { deps, progress } = of;
  switch (delivery.kind) {
    case "blocked": {
      const { code, reason, unreached } = delivery;
      if (code !== pausedCode)
        return await putOff(of, operation, { code, reason, again: true }, unreached && "no-numbers");
      progress.delivered.add(operation.hash);
      progress.outcomes.unsent([operation], { code, reason });
      await dropUnsent(of, operation, reason);
      return "paused";
    }
    case "rejected":
      refusedBy(of, operation, delivery);
      return undefined;
    case "unknown": {
      const name = unclearName(operation);
      deps.unclear.set(name, (deps.unclear.get(name) ?? 0) + 1);
      progress.delivered.add(operation.hash);
      return await settleAtOnce(of, operation, delivery.id);
    }
    case "parked":
      progress.delivered.add(operation.hash);
      return "parked";
    case "not-sent":
      return await notSent(of, operation, { reason: `not sent: ${delivery.reason}`, id: delivery.id });
    case "stopped":
      return "aborted";
  }
}

export const notAttempted = {
  code: "service.not-sent",
  reason: "not attempted: the service could not be reached",
};

/** This pass sends the service nothing more. The other service goes on. `id`: the intent exists already. */
async function notSent(
  of: CarryOut,
  operation: Operation,
  { reason, id }: { reason: string; id?: string | undefined },
): Promise<undefined> {
  of.progress.notReached(operation, { ...notAttempted, reason });
  if (id === undefined) await dropUnsent(of, operation, reason);
}

async function putOff(
  of: CarryOut,
  operation: Operation,
  why: Why & { dropped?: string },
  short?: Parameters<Progress["putOff"]>[2],
): Promise<undefined> {
  of.progress.putOff(operation, why, short);
  await dropUnsent(of, operation, why.dropped ?? why.reason);
}

/** Stops only what needs the rejected operation. People are sent in parts, to find the one at fault. */
function refusedBy(
  { deps, progress }: CarryOut,
  operation: Operation,
  { scope, shared, code, reason }: Extract<Delivery, { kind: "rejected" }>,
): void {
  if (scope !== "service") progress.refused(operation, { code, reason }, shared);
  else {
    deps.refusing.set(serviceOf(operation), reason);
    progress.putOff(operation, { code, reason, again: false }, "turned-away");
  }
}

/** After a lost answer the platform in most cases already shows the effect. */
async function settleAtOnce(
  { deps, attempt, knows, progress }: CarryOut,
  operation: Operation,
  id: string,
): Promise<StopReason | undefined> {
  const row = await deps.ledger.journal.byId(id);
  if (row === undefined || typeOf(row.operation).onUnknown.by === "resend") return "unknown";
  const { runId, signal } = attempt;
  const settled = await deps.settling.settle(row, { runId, signal, knows });
  if (settled.kind === "rejected") progress.refused(operation, settled, false);
  else if (settled.kind === "done") progress.carriedOut(operation);
  else return "unknown";
  return undefined;
}

/** An earlier change of the subject may take effect after this one. It may be of another customer if an order moved. */
async function earlierMayStillLand(deps: ReconcileDependencies, operation: Operation): Promise<boolean> {
  const { journal, requests: desk } = deps.ledger;
  const requests = typeOf(operation).can.answers?.(operation) ?? [];
  const elsewhere = requests.length === 0 ? [] : await desk.subjectsElsewhere(operation.customer, requests);
  for (const subject of [operation.subject, ...elsewhere]) {
    const since = await journal.lastUncertain(subject);
    if (since > 0 && (await settleTimeLeft(deps, subject, since)) > 0) return true;
  }
  return false;
}

function sentInVain({ unclear }: ReconcileDependencies, operation: Operation): Why | undefined {
  const sent = unclear.get(unclearName(operation)) ?? 0;
  if (sent <= mostAgain) return undefined;
  const reason =
    `${operation.endpoint} was sent ${sent} times in this run. No answer said whether it was done, and the platform ` +
    "showed each time that it was not";
  return { code: "service.unclear", reason, again: true };
}

function turnedAway({ refusing }: ReconcileDependencies, operation: Operation): Why | undefined {
  const reason = refusing.get(serviceOf(operation));
  return reason === undefined ? undefined : { code: "service.refused", reason, again: true };
}

export async function dropUnsent(
  { deps, attempt, knows, progress }: Omit<CarryOut, "observed" | "approved">,
  operation: Operation,
  why: string,
): Promise<void> {
  const { journal } = deps.ledger;
  if (!progress.stored.has(operation.hash)) await journal.plan({ runId: attempt.runId, operations: [operation] });
  await journal.drop(knows.customer, why, operation.hash);
}

/** A saved plan of one customer to carry out unchanged, as a whole or in part. */
export interface Expected {
  plan: string;
  facts: Facts;
  /** The run that it undoes. Undefined: it follows the CRM. */
  undo?: string | undefined;
  operations: ReadonlyMap<string, string>;
  chosen: ReadonlySet<string>;
  /** An earlier run applied a part, so the changes of that run do not outdate the rest. */
  applied: boolean;
  /** This run has applied a part, so nothing outside the saved plan may remain. */
  begun: boolean;
}

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

/** If a part was applied, only changes in the CRM count. */
function movedInCrm(saved: Facts, now: Facts): string[] {
  const left = crmFacts(now);
  return movedFacts(Object.fromEntries(Object.entries(saved).filter(([name]) => name in left)), left);
}

export const notChosen: Why = {
  code: "plan.not-chosen",
  reason: "the change is in the saved plan but was not chosen; the next run carries it out",
  again: true,
};

export function takenBack(run: string): Why {
  return {
    code: "undo.taken-back",
    reason: `an undo was applied to the changes of ${run}; the next run makes them again unless the CRM changes`,
    again: true,
  };
}

/** For display: `1a2b3c4d E5 order:crm/10248`. */
export function nameOf({ hash, endpoint, subject }: { hash: string; endpoint: string; subject: string }): string {
  return `${hash.slice(0, 8)} ${endpoint} ${subject}`;
}

/** `left`: operations that were not chosen, and those that need one of them. */
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

type AfterRefusal =
  | { kind: "clear" }
  /** The effect of the rejected call may still appear. */
  | { kind: "too-early" }
  | { kind: "recorded" }
  | { kind: "parked"; id: string; reason: string };

type LookDependencies = EngineDependencies & { reader: Snapshots; knows: CustomerState };

interface RefusedOrder {
  rows: readonly JournalRow[];
  channelOrderId?: string | undefined;
}

export function refusedOrderOf({ ledger }: Pick<EngineDependencies, "ledger">, operation: Operation): RefusedOrder {
  const { claims, expects } = typeOf(operation).can;
  const claim = claims?.of(operation);
  const claimed = claim?.what === "order" ? claim : undefined;
  const order = claimed?.order ?? expects?.(operation)?.order;
  if (order === undefined) return { rows: [] };
  return { rows: ledger.journal.refusedOrders(order), channelOrderId: claimed?.number };
}

export const refusedJustNow =
  "an earlier E5 of this order was rejected a moment ago; crm-sync looks for its effect after the settle time";

/** Pending orders that are placed, cancelled or removed. Sending looks for the traces of all others. */
export function unsentOrders({ orders, known }: Pick<CustomerInput, "orders" | "known">): RecordReference[] {
  return orders.flatMap(({ key, state, body, pending }) => {
    const isSent = state === "current" && !body.cancelled && !known.placedOrders.has(formatKey(key));
    return pending && state !== "quarantined" && !isSent ? [{ stream: "orders", ...key }] : [];
  });
}

/** This pass sends nothing of these orders, so nothing else looks for what a rejected E5 did. */
export async function lookForUnsent(
  deps: LookDependencies,
  orders: readonly RecordReference[],
  signal?: AbortSignal,
): Promise<{ found?: "parked" | "recorded"; tooEarly: RecordReference[] }> {
  const tooEarly: RecordReference[] = [];
  for (const order of orders) {
    if (deps.ledger.journal.refusedOrders(order).length === 0) continue;
    // A successful call that explains them may be committed only now.
    await deps.knows.settled();
    const after = await lookForRefused(deps, { rows: deps.ledger.journal.refusedOrders(order) }, signal);
    if (after.kind === "parked" || after.kind === "recorded") return { found: after.kind, tooEarly };
    if (after.kind === "too-early") tooEarly.push(order);
  }
  return { tooEarly };
}

/**
 * A rejected batch may still have done something (A16). This looks for its asset numbers and channel order number in
 * M6, E8 and M7: before more of the order is sent, and if the CRM wants nothing more of it. A person must look at what
 * is found. The removals of a rejected deletion are recorded.
 */
export async function lookForRefused(
  deps: LookDependencies,
  { rows, channelOrderId }: RefusedOrder,
  signal?: AbortSignal,
): Promise<AfterRefusal> {
  for (const row of rows) {
    if ((await settleTimeLeftOf(deps, row)) > 0) return { kind: "too-early" };
    // The customer when the order was sent. The CRM may name another one now.
    const { customer } = row.operation;
    const isSame = formatKey(customer) === formatKey(deps.knows.customer);
    const knows = isSame ? deps.knows : new CustomerState(deps, customer);
    const found = await shownOf({ ...deps, knows }, row, channelOrderId, signal);
    if (found === undefined) continue;
    if (typeof found !== "string") {
      if (!isSame) await deps.ledger.records.markPending({ customer });
      await knows.conclude(row.operation, row.id, {
        state: "done",
        reopened: true,
        verdict: "applied, as far as the platform shows",
        changes: found.changes,
        audit: { kind: row.operation.kind, body: { ...found.audit, rejected: row.outcomeCode } },
      });
      return { kind: "recorded" };
    }
    const refusal = row.outcomeCode === null ? "" : ` with ${row.outcomeCode}`;
    const reason =
      `${row.operation.endpoint} of this order was rejected${refusal}, and yet ${found}; ` +
      "nothing of the order is sent again until a person has looked";
    const reading = { at: toInstant(deps.clock.now()), seen: true, detail: { call: "(M6 ∪ E8) → M7", found } };
    await deps.ledger.journal.reopenRefused(row.id, reason, evidenceWith(row, reading));
    deps.logger.error(
      { operation: row.id, endpoint: row.operation.endpoint, subject: row.operation.subject, reason },
      "operation parked",
    );
    return { kind: "parked", id: row.id, reason };
  }
  return { kind: "clear" };
}

async function shownOf(
  deps: LookDependencies,
  row: JournalRow,
  channelOrderId: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Effect | string | undefined> {
  const { knows } = deps;
  const facts = {
    channelOrderId,
    placedNumbers: () => {
      const { numbers, placedOrders } = knows.held.known;
      const isPlaced = ({ namespace, orderId }: FixedNumber): boolean =>
        placedOrders.has(formatKey({ namespace, id: orderId }));
      return numbers.filter(isPlaced).map(({ number }) => number);
    },
    isShown: (licenseType: string) => isShown(deps, licenseType),
  };
  const snapshot = deps.reader.of(knows.customer, signal);
  return await typeOf(row.operation).can.afterRefusal?.(journalEntry(row), snapshot, facts);
}
