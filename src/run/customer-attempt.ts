import { endpoints } from "../contract/endpoints.ts";
import type { ServiceName } from "../contract/endpoints.ts";
import { settleTimeLeft } from "../apply/settle-time.ts";
import { typeOf } from "../engine/registry.ts";
import type { Logger } from "../base/logger.ts";
import type { RecordKey } from "../crm/model.ts";
import type { ApplyDependencies } from "../apply/dependencies.ts";
import type { Snapshots } from "../platform/snapshot.ts";
import type { NumberPool } from "../apply/pool.ts";
import type { Settling } from "../apply/settle.ts";
import type { Block } from "../engine/plan/block.ts";
import type { Taking } from "../engine/plan/limits.ts";
import type { Operation } from "../engine/operation.ts";
import type { StateChange } from "../engine/state.ts";
import type { Expected } from "./saved-plan.ts";

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

export interface ReconcileDependencies extends ApplyDependencies {
  reader: Snapshots;
  settling: Settling;
  pool: NumberPool;
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
