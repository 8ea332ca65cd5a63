import { endpoints } from "../contract/endpoints.ts";
import type { ServiceName } from "../contract/endpoints.ts";
import { destructionOf } from "../apply/customer-planning.ts";
import { settleTimeLeft } from "../apply/settle-time.ts";
import { kindOf } from "../operation/registry.ts";
import type { Logger } from "../base/logger.ts";
import type { ApplyDependencies } from "../apply/dependencies.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import type { NumberPool } from "../apply/pool.ts";
import type { Settling } from "../apply/settle.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Block } from "../plan/block.ts";
import type { Observed } from "../plan/input.ts";
import type { Operation } from "../operation/operation.ts";
import type { CustomerPlan } from "../plan/plan.ts";

/** What an attempt at one customer has to know about its run. */
export interface CustomerAttempt {
  runId: string;
  signal: AbortSignal | undefined;
  /** Read the staff and look at everything, also where nothing changed (resync). */
  thorough: boolean;
  /** Why nothing may be taken away in this run. */
  revokesBlocked: Block | undefined;
  /** Hashes of the revokes that the limits released in this run; undefined: not judged yet. */
  released: ReadonlySet<string> | undefined;
  /** The hold under which revokes, and grants that need them, are left alone. */
  hold: string | undefined;
  /**
   * Apply only this saved plan: when the customer's plan of now differs, nothing is done. Where this run has `begun` to
   * carry it out, what is left must be a part of it.
   */
  expected?: { fingerprint: string; hashes: readonly string[]; begun: boolean } | undefined;
  /** Called when nothing more is read or sent, and only the commit of what was done is waited for. */
  onlyCommits?: (() => void) | undefined;
}

/** How often a customer is planned anew within one attempt before it is left to the next run. */
export const mostRounds = 24;
export const restless = "what the platform shows kept changing while the customer was worked on";

export type CustomerAttemptResult =
  /**
   * `lacking`: the platform gave too little to do everything, such as no asset numbers; the rest waits for the next
   * run. `refused`: a service refused something of it; the record that it was for is rejected.
   */
  | { kind: "finished"; operations: number; lacking: boolean; refused: boolean }
  /** Something is taken away: the limits have to be judged over the whole run first. */
  | { kind: "destructive"; count: number; setHash: string; revokes: ReadonlySet<string> }
  | { kind: "waiting"; until: string }
  | { kind: "stopped"; reason: StopReason };

export type StopReason = "unknown" | "parked" | "rejected" | "not-sent" | "unreadable" | "aborted" | "stale";

export interface ReconcileDependencies extends ApplyDependencies {
  reader: SnapshotReader;
  settling: Settling;
  pool: NumberPool;
  /** Told of every operation as it is planned and as it ends, for the run's tally and progress. */
  tally: { planned(operation: Operation): void };
  logger: Logger;
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
  const kind = kindOf(operation);
  if (kind.whenUnknown !== "send-again") return false;
  const { journal, state } = deps.ledger;
  const requests = kind.requests(operation);
  const elsewhere = requests.length === 0 ? [] : await state.subjectsElsewhere(operation.customer, requests);
  for (const subject of [operation.subject, ...elsewhere]) {
    const since = await journal.lastUncertain(subject);
    if (since > 0 && (await settleTimeLeft(deps, subject, since)) > 0) return true;
  }
  return false;
}

/** Whether a customer's plan of now is another than the saved one, or, where that was begun, holds what it did not. */
export function isStale(plan: CustomerPlan, expected: CustomerAttempt["expected"]): boolean {
  if (expected === undefined) return false;
  if (expected.begun) return plan.operations.some((operation) => !expected.hashes.includes(operation.hash));
  const hashes = plan.operations.map((operation) => operation.hash).sort();
  return plan.fingerprint !== expected.fingerprint || hashes.join() !== [...expected.hashes].sort().join();
}

/**
 * A hold lapses where M6 was read, nothing waits for a reason, and nothing is to be taken away any more: it would ask a
 * person for nothing.
 */
export async function lapseNeedlessHold(ledger: Ledger, plan: CustomerPlan, observed: Observed): Promise<void> {
  if (observed.assets === undefined || destructionOf(plan.operations).count > 0) return;
  if (plan.waits === true || plan.records.some((record) => record.outcome !== "planned")) return;
  const hold = await ledger.approvals.of(plan.customer);
  if (hold !== undefined) await ledger.approvals.decide(hold.id, "lapsed", "nothing is to be taken away any more");
}

/** Why operations that were planned were not attempted, by what stopped the customer. */
export const stopReasons = {
  unknown: "an operation before it has an unknown outcome",
  parked: "an operation before it waits for a person",
  rejected: "the service refuses this application",
  "not-sent": "the service could not be reached",
  unreadable: "the platform could not be read",
  aborted: "the run was stopped",
  stale: "the saved plan no longer fits",
} as const;
