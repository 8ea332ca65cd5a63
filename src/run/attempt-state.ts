import { refusedPersonReason } from "../apply/refusal.ts";
import { GrowingMap } from "../base/growing-map.ts";
import type { RefusedPerson } from "../operation/kind.ts";
import type { Operation } from "../operation/operation.ts";
import type { RecordReference } from "../operation/shape.ts";
import type { CustomerPlan } from "../plan/plan.ts";
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
  /** The platform gave too little to do everything, such as no asset numbers. */
  readonly lacking: boolean;
  /** Something was refused in this attempt, for a record's sake. */
  readonly refused: boolean;
  /** Something was sent in this run without an answer, was not shown as done, and is put off now. */
  readonly inVain: boolean;
}

export const newAttempt: AttemptState = {
  plannedIds: new Map(),
  announced: GrowingMap.empty(),
  delivered: GrowingMap.empty(),
  inParts: [],
  outcomes: noOutcomes,
  done: 0,
  lacking: false,
  refused: false,
  inVain: false,
};

/** What happens in an attempt. */
export type AttemptEvent =
  | { type: "stored"; ids: ReadonlyMap<string, string> }
  | { type: "planned"; operations: readonly Operation[]; records: CustomerPlan["records"] }
  /** It is not sent now: its records wait. `inVain`: it was sent in this run, and nobody saw it done. */
  | { type: "put-off"; operation: Operation; why: Why; inVain?: boolean }
  | { type: "lacking" }
  | { type: "done"; operation: Operation; refused: readonly RefusedPerson[] }
  /** Refused for its records; `shared`: for one of several people, who go in parts. */
  | { type: "refused"; operation: Operation; why: Omit<Why, "again">; shared: boolean }
  /** Not one byte left. */
  | { type: "unsent"; operations: readonly Operation[]; why: Omit<Why, "again"> }
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
        ...delivered(state, event.operation),
        inVain: state.inVain || event.inVain === true,
        outcomes: deferred(outcomes, event.operation, event.why),
      };
    case "lacking":
      return { ...state, lacking: true };
    case "done":
      return doneWith(state, event);
    case "refused":
      if (event.shared) return { ...delivered(state, event.operation), inParts: [...state.inParts, event.operation] };
      return {
        ...delivered(state, event.operation),
        refused: true,
        outcomes: rejected(outcomes, event.operation, event.why),
      };
    case "unsent":
      return { ...state, outcomes: deferredUnsent(outcomes, event.operations, event.why) };
    case "sent":
      return delivered(state, event.operation);
    case "records-wait":
      return { ...state, outcomes: deferredRecords(outcomes, event.records, event.why) };
    case "given-up":
      return delivered(state, ...event.operations);
  }
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

function delivered(state: AttemptState, ...operations: readonly Operation[]): AttemptState {
  return { ...state, delivered: state.delivered.with(operations.map(({ hash }) => [hash, true] as const)) };
}

function doneWith(state: AttemptState, event: Extract<AttemptEvent, { type: "done" }>): AttemptState {
  const after = event.refused.reduce((outcomes, { key, message }) => {
    const why = { code: "staff.refused", reason: refusedPersonReason(message) };
    return rejectedRecords(outcomes, [{ stream: "staff", ...key }], why);
  }, state.outcomes);
  return {
    ...delivered(state, event.operation),
    done: state.done + 1,
    refused: state.refused || event.refused.length > 0,
    outcomes: after,
  };
}
