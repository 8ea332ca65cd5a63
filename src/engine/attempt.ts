import { endpoints } from "../contract/endpoints.ts";
import type { ServiceName } from "../contract/endpoints.ts";
import { settleTimeLeft } from "./settle-time.ts";
import { typeOf } from "./model/registry.ts";
import type { Logger } from "../base/logger.ts";
import type { RecordKey } from "../crm/model.ts";
import type { EngineDependencies } from "./customer.ts";
import type { Snapshots } from "../platform/snapshot.ts";
import type { AssetNumbers } from "./deliver.ts";
import type { Settling } from "./settle.ts";
import type { Block } from "./plan/block.ts";
import type { Taking } from "./plan/limits.ts";
import type { Operation } from "./model/operation.ts";
import type { StateChange } from "./model/state.ts";
import type { Expected } from "./carry-out.ts";
import { refusedPersonReason } from "./refusal.ts";
import { GrowingMap } from "../base/growing-map.ts";
import type { RefusedPerson } from "./model/operation-type.ts";
import type { RecordReference } from "./model/shape.ts";
import type { CustomerPlan } from "./plan/plan.ts";
import { deferred, deferredRecords, deferredUnsent, noOutcomes, noted, rejected, rejectedRecords } from "./outcomes.ts";
import type { RecordOutcomes, Why } from "./outcomes.ts";

/** What an attempt at one customer has to know about its run. */
export interface CustomerAttempt {
  runId: string;
  signal: AbortSignal | undefined;
  /** Read the staff and look at everything, also where nothing changed (resync). */
  thorough: boolean;
  /** Why nothing may be taken away in this run. */
  takingBlocked: Block | undefined;
  /** What limits and policies released in this run, by hash; undefined: not judged yet. */
  released: ReadonlyMap<string, Taking> | undefined;
  /** Apply only what was chosen of this saved plan: when the customer's plan of now differs, nothing is done. */
  expected?: Expected | undefined;
  /** Called when nothing more is read or sent, and only the commit of what was done is waited for. */
  onlyCommits?: (() => void) | undefined;
}

/** How often a customer is planned anew within one attempt, in a row with nothing done and in all. */
export const maxRounds = { idle: 24, total: 1000 };
/** Why a customer waits who was planned anew that often. */
export const restless = {
  code: "customer.restless",
  reason: "the platform kept changing during the work on the customer",
};
/** The code of customers of whom an operation has no known outcome. */
export const operationOpen = "operation.open";
/** The code of customers of whom E3 does not show all yet that their orders need. */
export const customersNotShown = "enterprise.customers-not-shown";

/**
 * What kept a part of a customer from being done in an attempt; all else of the customer was done.
 * - `unread`: a reading gave nothing; what rests on it waits.
 * - `unreached`: a service could not be reached for a call.
 * - `no-numbers`: the order service could not be reached for asset numbers.
 * - `turned-away`: a service refuses this application.
 * - `refused`: a service refused something for a record's sake.
 * - `in-vain`: something was sent, and was never seen done.
 * - `stuck`: something of the customer's own stands against it, which its records say.
 * - `defect`: this program failed.
 */
export type Shortfall =
  | "unread"
  | "unreached"
  | "no-numbers"
  | "turned-away"
  | "refused"
  | "in-vain"
  | "stuck"
  | "defect";

/** How a customer is counted whose attempt came to its end, by the worst of what fell short of it. */
export function countedAs(short: ReadonlySet<Shortfall>): "unreadable" | "defects" | "rejected" | "finished" {
  const has = (...some: readonly Shortfall[]): boolean => some.some((one) => short.has(one));
  if (has("unread", "unreached", "no-numbers")) return "unreadable";
  if (has("defect")) return "defects";
  return has("refused", "turned-away") ? "rejected" : "finished";
}

/** Shortfalls that a share of customers which goes first is judged by, with what is told of each. */
export const toldOfShares: Partial<Record<Shortfall, string>> = {
  unreached: "the service could not be reached",
  "turned-away": "the service refuses this application",
  refused: "a service refused something of it",
  "in-vain": "an operation was sent, and its effect was never seen",
  stuck: "an operation cannot be done",
  defect: "crm-sync failed at it",
};

export type CustomerAttemptResult =
  /** `moving`: orders that moved here in the CRM and of which something exists at their old customer still. */
  | { kind: "finished"; short: ReadonlySet<Shortfall>; moving?: readonly RecordKey[] }
  /**
   * Something is new that limits or policies may hold: it has to be judged over the whole run first. `ofUndo`: it takes
   * a run back.
   */
  | { kind: "destructive"; takings: readonly Taking[]; ofUndo: boolean }
  | { kind: "waiting"; until: string; short?: ReadonlySet<Shortfall> }
  /** `moved`: why a saved plan no longer fits, as sentences for people. */
  | { kind: "stopped"; reason: StopReason; moved?: readonly string[] };

/** What ends an attempt before everything of the customer was tried. */
export type StopReason = "unknown" | "parked" | "aborted" | "stale" | "paused";

export interface ReconcileDependencies extends EngineDependencies {
  reader: Snapshots;
  settling: Settling;
  pool: AssetNumbers;
  /** Told of every operation as it is planned, of what may have had an effect on the platform, and of what was learned. */
  tally: {
    planned(operation: Operation): void;
    effected(operation: Operation): void;
    recorded(customer: RecordKey, changes: readonly StateChange[]): void;
  };
  logger: Logger;
  /** How often each thing was sent in this run without a known outcome, by kind and subject. */
  unclear: Map<string, number>;
  /** Services that refuse this application as a whole (70001), with the reason: this run sends them nothing more. */
  refusing: Map<ServiceName, string>;
}

/** The service that takes an operation. */
export function serviceOf(operation: Pick<Operation, "endpoint">): ServiceName {
  return endpoints[operation.endpoint].service;
}

/**
 * Whether an earlier change of the same thing, whose outcome was unknown, may still land after one that is sent now. It
 * may have been asked for of another customer, as when an order moved between them.
 */
export async function earlierMayStillLand(deps: ReconcileDependencies, operation: Operation): Promise<boolean> {
  const { onUnknown, can } = typeOf(operation);
  if (onUnknown.by !== "resend") return false;
  const { journal, requests: desk } = deps.ledger;
  const requests = can.answers?.(operation) ?? [];
  const elsewhere = requests.length === 0 ? [] : await desk.subjectsElsewhere(operation.customer, requests);
  for (const subject of [operation.subject, ...elsewhere]) {
    const since = await journal.lastUncertain(subject);
    if (since > 0 && (await settleTimeLeft(deps, subject, since)) > 0) return true;
  }
  return false;
}

/** Why operations that were planned were not attempted, by what stopped the customer. */
export const stopReasons = {
  unknown: "the outcome of an earlier operation is not known",
  parked: "an earlier operation waits for a person",
  aborted: "the run was stopped",
  stale: "the saved plan no longer fits",
  paused: "crm-sync is paused",
} as const;

/** How far an attempt at a customer has come. What is known of the customer stands in its CustomerState. */
export interface AttemptState {
  /** The journal's ids of operations that stood in it as planned or held before, by hash. */
  readonly plannedIds: ReadonlyMap<string, string>;
  /** Everything that was planned in this attempt, by hash. */
  readonly announced: GrowingMap<string, Operation>;
  /** What was sent, or put off, by hash: it is not looked at again. */
  readonly delivered: GrowingMap<string, true>;
  /** Refused for one of several people: the next plan of this attempt sends them in parts. */
  readonly inParts: readonly Operation[];
  /** What it came to so far for each record. */
  readonly outcomes: RecordOutcomes;
  /** Operations that were carried out. */
  readonly done: number;
  /** What kept a part of the customer from being done. */
  readonly short: ReadonlySet<Shortfall>;
  /** Services that could not be reached: nothing more is sent to them in this attempt. */
  readonly unreached: ReadonlySet<ServiceName>;
}

export const newAttempt: AttemptState = {
  plannedIds: new Map(),
  announced: GrowingMap.empty(),
  delivered: GrowingMap.empty(),
  inParts: [],
  outcomes: noOutcomes,
  done: 0,
  short: new Set(),
  unreached: new Set(),
};

/** What happens in an attempt. */
export type AttemptEvent =
  | { type: "stored"; ids: ReadonlyMap<string, string> }
  | { type: "planned"; operations: readonly Operation[]; records: CustomerPlan["records"] }
  /** It is not sent now: its records wait. */
  | { type: "put-off"; operation: Operation; why: Why; short?: Shortfall | undefined }
  | { type: "done"; operation: Operation; refused: readonly RefusedPerson[] }
  /** Refused for its records; `shared`: for one of several people, who go in parts. */
  | { type: "refused"; operation: Operation; why: Omit<Why, "again">; shared: boolean }
  /** Not one byte left. `unreached`: the service that could not be reached for it. */
  | { type: "unsent"; operations: readonly Operation[]; why: Omit<Why, "again">; unreached?: ServiceName }
  /** It left, and what became of it is not known, or is for a person to say. */
  | { type: "sent"; operation: Operation }
  | { type: "records-wait"; records: readonly RecordReference[]; why: Why }
  /** What was planned and not carried out is given up. */
  | { type: "given-up"; operations: readonly Operation[] };

/** One step of an attempt. */
export function advance(state: AttemptState, event: AttemptEvent): AttemptState {
  const { outcomes } = state;
  switch (event.type) {
    case "stored":
      return { ...state, plannedIds: event.ids };
    case "planned": {
      const isNew = ({ hash }: Operation): boolean => !state.announced.has(hash);
      const announced = state.announced.with(event.operations.filter(isNew).map((item) => [item.hash, item] as const));
      return { ...state, announced, inParts: [], outcomes: noted(outcomes, event.records) };
    }
    case "put-off":
      return {
        ...delivered(event.short === undefined ? state : shortOf(state, event.short), [event.operation]),
        outcomes: deferred(outcomes, event.operation, event.why),
      };
    case "done":
      return doneWith(state, event);
    case "refused":
      if (event.shared) return { ...delivered(state, [event.operation]), inParts: [...state.inParts, event.operation] };
      return {
        ...delivered(shortOf(state, "refused"), [event.operation]),
        outcomes: rejected(outcomes, event.operation, event.why),
      };
    case "unsent": {
      const after = { ...state, outcomes: deferredUnsent(outcomes, event.operations, event.why) };
      if (event.unreached === undefined) return after;
      const unreached = new Set([...state.unreached, event.unreached]);
      return { ...delivered(shortOf(after, "unreached"), event.operations), unreached };
    }
    case "sent":
      return delivered(state, [event.operation]);
    case "records-wait":
      return { ...state, outcomes: deferredRecords(outcomes, event.records, event.why) };
    case "given-up":
      return delivered(state, event.operations);
  }
}

/** With one more reason why the customer is not done as a whole. */
function shortOf(state: AttemptState, shortfall: Shortfall): AttemptState {
  return { ...state, short: new Set([...state.short, shortfall]) };
}

/** Subjects of what was sent or put off in this attempt. */
export function triedIn({ announced, delivered }: AttemptState): Set<string> {
  return new Set(
    announced
      .values()
      .filter(({ hash }) => delivered.has(hash))
      .map(({ subject }) => subject),
  );
}

/** What was planned and neither sent nor put off. */
export function leftIn(state: AttemptState): Operation[] {
  return state.announced.values().filter((operation) => !state.delivered.has(operation.hash));
}

function delivered(state: AttemptState, operations: readonly Operation[]): AttemptState {
  return { ...state, delivered: state.delivered.with(operations.map(({ hash }) => [hash, true] as const)) };
}

function doneWith(state: AttemptState, event: Extract<AttemptEvent, { type: "done" }>): AttemptState {
  const after = event.refused.reduce((outcomes, { key, message }) => {
    const why = { code: "staff.refused", reason: refusedPersonReason(message) };
    return rejectedRecords(outcomes, [{ stream: "staff", ...key }], why);
  }, state.outcomes);
  const told = event.refused.length > 0 ? shortOf(state, "refused") : state;
  return { ...delivered(told, [event.operation]), done: state.done + 1, outcomes: after };
}
