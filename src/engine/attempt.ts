import type { ServiceName } from "../contract/endpoints.ts";
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
  /** Something new that limits or policies may hold: the run judges it first over its total. */
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
  /** How often this run sent each change without a known outcome, by kind, customer and subject. */
  unclear: Map<string, number>;
  /** Services that refuse this application as a whole (70001), with the reason; this run sends them nothing more. */
  refusing: Map<ServiceName, string>;
}

/** Why planned operations were not attempted, by the reason that stopped the customer. */
export const stopReasons = {
  unknown: "the outcome of an earlier operation is not known",
  parked: "an earlier operation waits for a person",
  aborted: "the run was stopped",
  stale: "the saved plan no longer fits",
  paused: "crm-sync is paused",
} as const;
