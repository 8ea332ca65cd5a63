import type { OperationName } from "../engine/model/resource.ts";
import type { OperationState } from "./journal/tables.ts";

/** Who is told of the ledger's work, such as metrics. Nothing here ever throws. */
export interface LedgerObserver {
  /** A group of commits was on the disk after so many milliseconds. */
  committed(ms: number): void;
  /** An operation came to this state, and that is committed. */
  concluded(conclusion: { kind: OperationName; state: OperationState }): void;
}
