import type { JournalRow } from "../ledger/journal/journal-tables.ts";
import type { CustomerState } from "./customer-state.ts";

/** What settling an operation came to. */
export type Settled =
  | { kind: "done"; id: string }
  /** Proven or decided not to be applied; the customer is planned anew. */
  | { kind: "dropped"; id: string }
  /** The service had said no, and the platform shows nothing of it: not sent again as it was. */
  | { kind: "rejected"; id: string; code: string; reason: string }
  | { kind: "waiting"; id: string; until: string }
  | { kind: "parked"; id: string; reason: string }
  | { kind: "unreadable"; id: string; reason: string }
  /** It is to be sent again, and nothing is sent for now. */
  | { kind: "paused"; id: string };

/** An operation whose outcome is open, and who asks. */
export interface Open {
  row: JournalRow;
  runId: string | null;
  signal: AbortSignal | undefined;
  knows: CustomerState;
}

export function stillParked(row: JournalRow): Settled {
  return { kind: "parked", id: row.id, reason: row.outcomeMessage ?? "waits for a person" };
}

/** An operation as a log line names it. */
export function named(row: JournalRow): { operation: string; endpoint: string; subject: string } {
  return { operation: row.id, endpoint: row.operation.endpoint, subject: row.operation.subject };
}
