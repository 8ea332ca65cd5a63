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

export interface StatusFacts {
  path: string;
  identity: string | null;
  audit: AuditHeadFacts | null;
  /** A run whose process died stays here until the next run finds it. */
  running: RunFacts[];
  lastRuns: RunFacts[];
  slots: { job: string; lastSlot: string; firedAt: string }[];
  reads: ReadFacts[];
  /** Reads in progress, and interrupted reads. */
  cutReads: CutReadFacts[];
  absence: AbsenceFacts[];
  holds: HoldFacts[];
  operations: { state: string; count: number }[];
  /** The oldest sending, unknown or parked operations, at most 20. */
  openOperations: OperationFacts[];
  open: OpenRecords[];
  /** Records that the next run takes up and that nothing blocks. */
  nextRun: number;
  records: { stream: Stream; state: string; count: number; pending: number }[];
  /** `inUse`: numbers of units that have not ended. */
  pool: { free: number; inUse: number };
  /** `orders`: placed orders that still exist in part; `removed`: fully removed orders. */
  known: { enterprises: number; orders: number; removed: number; staff: number; assignments: number };
  requests: { noun: string; due: number; oldest: string }[];
  verified: { customers: number; incomplete: number; oldest: string | null; newest: string | null };
  differences: { class: DriftClass; count: number; since: string }[];
  /** `probeAt`: when the process that opened the circuit tries the service again, if that process still lives. */
  openCircuits: { service: string; since: string; reason: string; probeAt: string }[];
  notices: { key: string; since: string; summary: string }[];
  /** Records that a person reported as done manually, not read back yet. `oldest`: time of the first report. */
  byHand: { stream: Stream; count: number; oldest: string }[];
  headPlaces: HeadPlaceFacts[];
  deliveries: DeliveryFacts[];
  /** The customer or person (as in the audit log) whose erased bytes may still be in the ledger file. */
  erasedBytesOf?: string;
  taken?: TakenFacts[];
}

export function rejectedOf(holds: StatusFacts["holds"]): number {
  return holds
    .filter(({ state, ofUndo }) => state === "rejected" && !ofUndo)
    .reduce((sum, { count }) => sum + count, 0);
}

/** Whether missing records of a stream can count as deleted. */
export interface AbsenceFacts {
  source: string;
  stream: Stream;
  judged: boolean;
  why: string | null;
  /** When a run last ended a full read. */
  lastWhole: string | null;
  /** Records missing from the last full reads that do not count as deleted yet. `since`: the first of them. */
  missing: number;
  since: string | null;
}

interface AbsenceRead {
  finishedAt: string | null;
  complete: boolean;
  doubted: boolean;
  absence: string | null;
}

/** Judges by two reads: the newest of all, and a run's newest full and complete read. */
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

export interface Paused {
  since: string;
  by: string;
  reason: string;
}

export function pausedText({ since, by, reason }: Paused, view: View): string {
  return printable(
    `Paused since ${instantText(since, view)} by ${by} (${reason}): nothing is written to either service. ` +
      "`crm-sync resume` ends it.",
  );
}

/** The answer to `resume`. `word`: the last resume; `isNew`: this person just made it. */
export function resumedText(word: (Paused & { isNew: boolean }) | undefined, view: View): string {
  if (word?.isNew === true) return "Resumed: the next run sends what waited.";
  const last = word === undefined ? "" : ` It was resumed ${instantText(word.since, view)} by ${word.by}.`;
  return printable(`It is not paused, and nothing changed.${last}`);
}

export function callsGoingOnText(calls: number): string {
  const those = calls === 1 ? "1 call that began before is" : `${calls} calls that began before are`;
  return `${those} still in progress; what becomes of each is recorded as ever.`;
}

/** Coverage by verify. `read`: customers read completely in the time. `behind`: linked all that time and not read. */
export interface Coverage {
  linked: number;
  read: number;
  behind: number;
  /** A text that `durationSchema` accepts. */
  within: string;
  oldest: string | null;
  at: string;
}

export function coverageText({ linked, read, within, oldest, at }: Coverage): string {
  const age = oldest === null ? "nothing was read yet" : `the oldest reading is ${ageOf(oldest, at)} old`;
  return `${read.toLocaleString("en")} of ${counted(linked, "customer")} read back within ${within}, ${age}`;
}

export function behindText({ behind, within }: Coverage): string {
  return (
    `${counted(behind, "customer")} linked for longer than ${within} and not read back within it, so nobody knows ` +
    "how they stand: the budget is too small (`jobs: budget: calls`, or run the job more often)"
  );
}
