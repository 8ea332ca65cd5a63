import type { Stream } from "../crm/model.ts";
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
import { renderTable, ageOf, instantText, printable, counted, type View } from "./text.ts";

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

/** Whether what a stream of a source no longer has is judged to be gone, and why not. */
export interface AbsenceFacts {
  source: string;
  stream: Stream;
  judged: boolean;
  /** Why it is not judged; null where it is. */
  why: string | null;
  /** When the newest whole read of a run ended. */
  lastWhole: string | null;
  /** Records that the last whole reads lack and that do not count as gone yet; `since` is the first of them. */
  missing: number;
  since: string | null;
}

/** A read as far as absence depends on it. */
interface AbsenceRead {
  finishedAt: string | null;
  complete: boolean;
  doubted: boolean;
  absence: string | null;
}

/** What two reads say: the newest one of all, and the newest whole and complete one of a run. */
export function judgementOf(
  last: AbsenceRead | undefined,
  whole: AbsenceRead | undefined,
): Pick<AbsenceFacts, "judged" | "why"> {
  const not = (why: string): Pick<AbsenceFacts, "judged" | "why"> => ({ judged: false, why });
  if (last === undefined) return not("it was never read");
  if (last.finishedAt === null) return not("the last read was cut off");
  if (last.doubted) return not("the last read is not believed: it lost too many records");
  if (!last.complete) return not("the last read was not complete");
  if (whole === undefined) return not("no run has read it whole yet");
  return whole.absence === null || whole.absence === "judged" ? { judged: true, why: null } : not(whole.absence);
}

/** A line for each stream: whether its missing records come to count as deleted. */
export function absenceTable(rows: readonly AbsenceFacts[], now: string, view: View): string | undefined {
  if (rows.length === 0) return undefined;
  return renderTable(
    [
      "source",
      "stream",
      { title: "missing now", align: "right" },
      "since",
      "counts as deleted",
      "read whole",
      "because",
    ],
    rows.map((row) => [
      row.source,
      row.stream,
      row.missing,
      row.since === null ? null : `${ageOf(row.since, now)} ago`,
      row.judged ? "after enough full reads" : "no",
      row.lastWhole === null ? "never" : `${ageOf(row.lastWhole, now)} ago`,
      row.why,
    ]),
    view,
  );
}

/** Since when a person has it that nothing is written to the services, who, and why. */
export interface Paused {
  /** ISO instant. */
  since: string;
  by: string;
  reason: string;
}

/** The one sentence that every output and every page shows as long as it is paused. */
export function pausedText({ since, by, reason }: Paused, view: View): string {
  return printable(
    `Paused since ${instantText(since, view)} by ${by} (${reason}): nothing is written to either service. ` +
      "`crm-sync resume` ends it.",
  );
}

/** What a person is told who resumes; `word`: the last word on it, by this person where it `isNew`. */
export function resumedText(word: (Paused & { isNew: boolean }) | undefined, view: View): string {
  if (word?.isNew === true) return "Resumed: the next run sends what waited.";
  const last = word === undefined ? "" : ` It was resumed ${instantText(word.since, view)} by ${word.by}.`;
  return printable(`It is not paused, and nothing changed.${last}`);
}

/** How many calls go on that had begun before. */
export function callsGoingOnText(calls: number): string {
  const those = calls === 1 ? "1 call that began before is" : `${calls} calls that began before are`;
  return `${those} still in progress; what becomes of each is recorded as ever.`;
}

/**
 * How many customers are linked and how many were read whole `within` a time, how many should have been and were not
 * (`behind`: they were linked all that time), and when the oldest reading was.
 */
export interface Coverage {
  linked: number;
  read: number;
  behind: number;
  /** As `durationSchema` has it. */
  within: string;
  oldest: string | null;
  at: string;
}

/** `1,200 of 4,000 customers read back within 7d, the oldest reading is 6d old`. */
export function coverageText({ linked, read, within, oldest, at }: Coverage): string {
  const age = oldest === null ? "nothing was read yet" : `the oldest reading is ${ageOf(oldest, at)} old`;
  return `${read.toLocaleString("en")} of ${counted(linked, "customer")} read back within ${within}, ${age}`;
}

/** What is wrong where a budget is too small for the time within which all are to be read. */
export function behindText({ behind, within }: Coverage): string {
  return (
    `${counted(behind, "customer")} linked for longer than ${within} and not read back within it, so nobody knows ` +
    "how they stand: the budget is too small (`jobs: budget: calls`, or run the job more often)"
  );
}
