import type { Stream } from "../crm/model.ts";
import type { AbsenceFacts } from "./absence.ts";
import type {
  AuditHeadFacts,
  CutReadFacts,
  DeliveryFacts,
  HeadPlaceFacts,
  HoldFacts,
  OperationFacts,
  ReadFacts,
  RunFacts,
  TakenFacts,
} from "./facts.ts";
import type { OpenRecords } from "./open.ts";
import type { DriftClass } from "./reconciliation/case.ts";

/** The state of the ledger at a glance. */
export interface StatusFacts {
  path: string;
  identity: string | null;
  audit: AuditHeadFacts | null;
  /** Runs that have not ended; one whose process died stands here until the next run finds it. */
  running: RunFacts[];
  /** The newest run of each job. */
  lastRuns: RunFacts[];
  slots: { job: string; lastSlot: string; firedAt: string }[];
  /** The newest reading of each stream of each source. */
  reads: ReadFacts[];
  /** Readings that are in part done: one that is on, or was cut. */
  cutReads?: CutReadFacts[];
  /** For each configured stream: whether it is judged what is gone. */
  absence: AbsenceFacts[];
  /** Open, approved and then rejected. */
  holds: HoldFacts[];
  /** How many operations are sending, unknown, parked, planned or held. */
  operations: { state: string; count: number }[];
  /** The oldest operations that are sending, unknown or parked, at most 20. */
  openOperations: OperationFacts[];
  /** Every record that is not done, once, by how it stands and why. */
  open: OpenRecords[];
  /** Records that nothing stops and that the next run takes up. */
  nextRun: number;
  records: { stream: Stream; state: string; count: number; pending: number }[];
  /** `inUse`: of units that have not ended. */
  pool: { free: number; inUse: number };
  /** `orders`: placed ones of which something stands; `removed`: those of which everything was removed. */
  known: { enterprises: number; orders: number; removed: number; staff: number; assignments: number };
  /** What people asked for that is still to be sent, by its noun; `oldest` is when the first was asked for. */
  requests: { noun: string; due: number; oldest: string }[];
  /** Customers read back by verify; `oldest` is the reading that is the longest ago. */
  verified: { customers: number; incomplete: number; oldest: string | null; newest: string | null };
  /** What readings back showed otherwise than it was left, by class; `since` is when the first of it was seen. */
  differences: { class: DriftClass; count: number; since: string }[];
  /**
   * Open circuits of services. `probeAt` is when the process that opened it tries the service again, as long as that
   * process lives.
   */
  openCircuits: { service: string; since: string; reason: string; probeAt: string }[];
  notices: { key: string; since: string; summary: string }[];
  /** Records of which something was noted as done by hand and not read back; `oldest`: when the first note was made. */
  byHand?: { stream: Stream; count: number; oldest: string }[];
  /** Places outside the database, and the head of the audit log that each got last. */
  headPlaces?: HeadPlaceFacts[];
  /** Ways of telling people and dead man's switches. */
  deliveries?: DeliveryFacts[];
  /** Whose erased bytes may be left in the file of the ledger, as the audit log names a customer or a person. */
  erasedBytesOf?: string;
  /** What was taken away within 24 hours and 7 days, where something was. */
  taken?: TakenFacts[];
}

/** How many operations that the CRM wants stay undone because a person rejected them. */
export function rejectedOf(holds: StatusFacts["holds"]): number {
  return holds
    .filter(({ state, ofUndo }) => state === "rejected" && !ofUndo)
    .reduce((sum, { count }) => sum + count, 0);
}
