import type { Json } from "../base/canonical-json.ts";
import { Problem } from "../base/errors.ts";
import type { AttemptEnd } from "../ledger/journal/journal.ts";
import type { WriteOutcome } from "../platform/call.ts";

/** The last row of an attempt: its outcome, and the service's own words only as a code. */
export function attemptEnd(outcome: WriteOutcome<unknown>): AttemptEnd {
  switch (outcome.kind) {
    case "done":
      return { outcome: "done", httpStatus: outcome.status };
    case "partial":
    case "already":
      return { outcome: "done", httpStatus: outcome.status, code: outcome.code };
    case "rejected":
      return { outcome: "rejected", httpStatus: outcome.status, code: outcome.code };
    case "not-sent":
      return { outcome: "not-sent", detail: outcome.reason };
    case "unknown":
      return unknownEnd(outcome);
  }
}

/** An answer that was cut off is none: its status stands with the reason only. */
function unknownEnd({ reason, status, code, raw }: Extract<WriteOutcome<unknown>, { kind: "unknown" }>): AttemptEnd {
  if (raw !== undefined || status === undefined)
    return { outcome: "unknown", httpStatus: status, code, detail: reason };
  return { outcome: "unknown", code, detail: `${reason}, after HTTP ${status}` };
}

/** The redacted answer as text, where it is worth keeping. */
export function keptAnswer(raw: Json | undefined): string | undefined {
  return raw === undefined ? undefined : JSON.stringify(raw);
}

/** Whether the ledger cannot hold what a proven operation brought: a person has to look at it. */
export function isContradiction(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "ledger.contradiction";
}
