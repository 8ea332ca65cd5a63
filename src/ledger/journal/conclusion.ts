import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { StateChange } from "../../engine/model/state.ts";
import type { NewRejections } from "./rejections.ts";
import type { OperationState } from "./tables.ts";

/** How an attempt ended, for the journal. */
export interface AttemptEnd {
  outcome: "done" | "rejected" | "not-sent" | "unknown";
  httpStatus?: number | undefined;
  code?: string | undefined;
  detail?: string | undefined;
}

/** What became of an operation: its new state, what is known by it, and its audit entry. Committed together. */
export interface Conclusion {
  state: OperationState;
  /** The operation as it was read before; when it has moved on since, nothing is concluded. */
  expected?: { state: OperationState; attempts: number } | undefined;
  attempt?: AttemptEnd | undefined;
  /** For how long from now on it may still land, milliseconds. */
  settleMs?: number | undefined;
  /** The end of an earlier settle time, which still stands. */
  settleAfter?: string | undefined;
  verdict?: string | undefined;
  evidence?: Json | undefined;
  code?: string | undefined;
  message?: string | undefined;
  /** The redacted answer, kept where the outcome has to be looked into. */
  answer?: string | undefined;
  changes: readonly StateChange[];
  /** What was refused of it, so that it is not sent again as it was. */
  rejections?: NewRejections | undefined;
  audit: { kind: string; body: JsonObject };
}
