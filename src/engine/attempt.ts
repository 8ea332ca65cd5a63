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
import type { Block } from "./plan/records.ts";
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

/** The input that a run gives to a pass over one customer. */
export interface CustomerAttempt {
  runId: string;
  signal: AbortSignal | undefined;
  /** Read the staff and check everything, even if nothing changed (resync). */
  thorough: boolean;
  /** Why this run may remove nothing. */
  takingBlocked: Block | undefined;
  /** The operations that limits and policies released in this run, by hash; undefined: not judged yet. */
  released: ReadonlyMap<string, Taking> | undefined;
  /** Apply only the chosen operations of this saved plan; if the customer's plan differs now, do nothing. */
  expected?: Expected | undefined;
  /** Called once the pass reads and sends nothing more, and only waits for commits. */
  onlyCommits?: (() => void) | undefined;
}

/** How often one pass may plan a customer: in a row with nothing done (`idle`), and in all (`total`). */
export const maxRounds = { idle: 24, total: 1000 };
/** Why a customer waits after that many plans. */
export const restless = {
  code: "customer.restless",
  reason: "the platform kept changing during the work on the customer",
};
/** The code of a customer that has an operation without a known outcome. */
export const operationOpen = "operation.open";
/** The code of a customer for which E3 does not show all platform customers yet that its orders need. */
export const customersNotShown = "enterprise.customers-not-shown";

/**
 * Why a part of a customer was not done in a pass; the rest was done.
 * - `unread`: a reading gave nothing, so everything that depends on it waits.
 * - `unreached`: a service could not be reached for a call.
 * - `no-numbers`: the order service could not be reached for asset numbers.
 * - `turned-away`: a service refuses this application.
 * - `refused`: a service refused something because of a record.
 * - `in-vain`: something was sent, but the platform never showed its effect.
 * - `stuck`: something about this customer blocks it; its records say why.
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

/** How a customer counts after its pass, by the worst of its shortfalls. */
export function countedAs(short: ReadonlySet<Shortfall>): "unreadable" | "defects" | "rejected" | "finished" {
  const has = (...some: readonly Shortfall[]): boolean => some.some((one) => short.has(one));
  if (has("unread", "unreached", "no-numbers")) return "unreadable";
  if (has("defect")) return "defects";
  return has("refused", "turned-away") ? "rejected" : "finished";
}

/** Shortfalls that count against a canary share, with the text for each. */
export const toldOfShares: Partial<Record<Shortfall, string>> = {
  unreached: "the service could not be reached",
  "turned-away": "the service refuses this application",
  refused: "a service refused something of it",
  "in-vain": "an operation was sent, and its effect was never seen",
  stuck: "an operation cannot be done",
  defect: "crm-sync failed at it",
};

export type CustomerAttemptResult =
  /** `moving`: orders transferred to this customer in the CRM that still exist in part at their previous customer. */
  | { kind: "finished"; short: ReadonlySet<Shortfall>; moving?: readonly RecordKey[] }
  /**
   * Limits or policies may hold something new, so the run judges it first over its total. `ofUndo`: it undoes a run.
   */
  | { kind: "destructive"; takings: readonly Taking[]; ofUndo: boolean }
  | { kind: "waiting"; until: string; short?: ReadonlySet<Shortfall> }
  /** `moved`: why a saved plan no longer fits, as sentences for people. */
  | { kind: "stopped"; reason: StopReason; moved?: readonly string[] };

/** Why a pass ends before it tried everything of the customer. */
export type StopReason = "unknown" | "parked" | "aborted" | "stale" | "paused";

export interface ReconcileDependencies extends EngineDependencies {
  reader: Snapshots;
  settling: Settling;
  pool: AssetNumbers;
  /** Learns of every planned operation, of operations that may have changed the platform, and of recorded changes. */
  tally: {
    planned(operation: Operation): void;
    effected(operation: Operation): void;
    recorded(customer: RecordKey, changes: readonly StateChange[]): void;
  };
  logger: Logger;
  /** How often this run sent each change without a known outcome, by kind, customer and subject. */
  unclear: Map<string, number>;
  /** Services that refuse this application as a whole (70001), with the reason; this run sends them nothing more. */
  refusing: Map<ServiceName, string>;
}

export function serviceOf(operation: Pick<Operation, "endpoint">): ServiceName {
  return endpoints[operation.endpoint].service;
}

/**
 * For an operation that sets a state: whether an earlier change of the same subject with an unknown outcome may still land after one that is sent now. The
 * earlier change may belong to another customer, for example if an order was transferred.
 */
export async function earlierMayStillLand(deps: ReconcileDependencies, operation: Operation): Promise<boolean> {
  const { journal, requests: desk } = deps.ledger;
  const requests = typeOf(operation).can.answers?.(operation) ?? [];
  const elsewhere = requests.length === 0 ? [] : await desk.subjectsElsewhere(operation.customer, requests);
  for (const subject of [operation.subject, ...elsewhere]) {
    const since = await journal.lastUncertain(subject);
    if (since > 0 && (await settleTimeLeft(deps, subject, since)) > 0) return true;
  }
  return false;
}

/** Why planned operations were not attempted, by the reason that stopped the customer. */
export const stopReasons = {
  unknown: "the outcome of an earlier operation is not known",
  parked: "an earlier operation waits for a person",
  aborted: "the run was stopped",
  stale: "the saved plan no longer fits",
  paused: "crm-sync is paused",
} as const;

/** The progress of a pass over a customer. CustomerState has the facts about the customer. */
export interface AttemptState {
  /** Journal ids of operations that the journal already had as planned or held, by hash. */
  readonly plannedIds: ReadonlyMap<string, string>;
  /** Every operation that this pass planned, by hash. */
  readonly announced: GrowingMap<string, Operation>;
  /** Operations that were sent, put off or given up, by hash; the pass does not look at them again. */
  readonly delivered: GrowingMap<string, true>;
  /** Refused for one of several people: the next plan of this pass sends them in parts. */
  readonly inParts: readonly Operation[];
  /** The outcome of each record so far. */
  readonly outcomes: RecordOutcomes;
  /** How many operations were carried out. */
  readonly done: number;
  /** Why a part of the customer was not done. */
  readonly short: ReadonlySet<Shortfall>;
  /** Services that could not be reached; this pass sends them nothing more. */
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

export type AttemptEvent =
  | { type: "stored"; ids: ReadonlyMap<string, string> }
  | { type: "planned"; operations: readonly Operation[]; records: CustomerPlan["records"] }
  /** It is not sent now, so its records wait. */
  | { type: "put-off"; operation: Operation; why: Why; short?: Shortfall | undefined }
  | { type: "done"; operation: Operation; refused: readonly RefusedPerson[] }
  /** Refused because of its records; `shared`: because of one of several people, who are then sent in parts. */
  | { type: "refused"; operation: Operation; why: Omit<Why, "again">; shared: boolean }
  /** No byte left. `unreached`: the service that could not be reached. */
  | { type: "unsent"; operations: readonly Operation[]; why: Omit<Why, "again">; unreached?: ServiceName }
  /** It left, and its outcome is unknown or needs a person. */
  | { type: "sent"; operation: Operation }
  | { type: "records-wait"; records: readonly RecordReference[]; why: Why }
  /** The pass gives up planned operations that it did not carry out. */
  | { type: "given-up"; operations: readonly Operation[] };

/** Applies one event to the state of a pass. */
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

/** Adds one reason why the customer is not done as a whole. */
function shortOf(state: AttemptState, shortfall: Shortfall): AttemptState {
  return { ...state, short: new Set([...state.short, shortfall]) };
}

/** Subjects of operations that this pass sent, put off or gave up. */
export function triedIn({ announced, delivered }: AttemptState): Set<string> {
  return new Set(
    announced
      .values()
      .filter(({ hash }) => delivered.has(hash))
      .map(({ subject }) => subject),
  );
}

/** Planned operations that were neither sent, put off nor given up. */
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
