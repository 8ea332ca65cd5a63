import { refusedPersonReason } from "../apply/refusal.ts";
import { GrowingMap } from "../base/growing-map.ts";
import type { ServiceName } from "../contract/endpoints.ts";
import type { RefusedPerson } from "../engine/operation-type.ts";
import type { Operation } from "../engine/operation.ts";
import type { RecordReference } from "../engine/shape.ts";
import type { CustomerPlan } from "../engine/plan/plan.ts";
import {
  deferred,
  deferredRecords,
  deferredUnsent,
  noOutcomes,
  noted,
  rejected,
  rejectedRecords,
} from "./record-outcomes.ts";
import type { RecordOutcomes, Why } from "./record-outcomes.ts";
import type { Shortfall } from "./customer-attempt.ts";

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
