import type { RecordKey, Stream } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import type { ByHandFacts } from "../explain.ts";
import type { HoldFacts, OperationFacts, QuarantineFacts, ReadFacts, RunFacts } from "../facts.ts";
import { nextForDeferral, nextForHold, nextForOperation, nextForQuarantine } from "../next-steps.ts";
import { recordName } from "../text.ts";
import type { Row } from "./shape.ts";

/** Something that did not go its way in a period, as the ledger tells it. */
export type ExceptionFacts =
  | { kind: "quarantined"; row: QuarantineFacts }
  | {
      kind: "deferred";
      stream: Stream;
      key: RecordKey;
      customer: RecordKey;
      code: string;
      reason: string;
      since: string;
    }
  | { kind: "rejected" | "unknown" | "settled" | "numbers-lost"; row: OperationFacts; count: number | null }
  | { kind: "by-hand"; stream: Stream; key: RecordKey; customer: RecordKey; row: ByHandFacts }
  | { kind: "held"; row: HoldFacts }
  | { kind: "source-incomplete"; row: ReadFacts }
  | { kind: "run"; row: RunFacts };

/** One exception as a row. An operation that waits for a person is `parked`, one that a run will settle `unknown`. */
export function exceptionRow(facts: ExceptionFacts): Row {
  switch (facts.kind) {
    case "quarantined":
      return quarantinedRow(facts.row);
    case "deferred":
      return {
        kind: "deferred",
        since: facts.since,
        customer: formatKey(facts.customer),
        record: recordName(facts.stream, facts.key),
        code: facts.code,
        reason: facts.reason,
        next: nextForDeferral(facts.code),
      };
    case "rejected":
    case "unknown":
    case "settled":
    case "numbers-lost":
      return operationRow(facts.kind, facts.row, facts.count);
    case "by-hand":
      return byHandRow(facts);
    case "held":
      return {
        kind: "held",
        since: facts.row.createdAt,
        until: facts.row.decidedAt,
        customer: formatKey(facts.row.customer),
        code: facts.row.state,
        reason:
          facts.row.reason === null ? facts.row.explanation : `${facts.row.explanation}; decided: ${facts.row.reason}`,
        count: facts.row.count,
        hold: facts.row.id,
        next: nextForHold(facts.row),
      };
    case "source-incomplete":
      return {
        kind: "source-incomplete",
        since: facts.row.startedAt,
        until: facts.row.finishedAt,
        record: facts.row.stream,
        source: facts.row.source,
        reason: facts.row.problem ?? "the reading did not come to its end",
        count: facts.row.rows,
        run: facts.row.runId,
        next: "crm-sync check tries the source",
      };
    case "run":
      return {
        kind: "run",
        since: facts.row.startedAt,
        until: facts.row.finishedAt,
        record: facts.row.job,
        code: facts.row.exitCode === null ? facts.row.state : `exit ${facts.row.exitCode}`,
        reason: facts.row.exitCode === 6 ? "the run does not balance" : `the run is ${facts.row.state}`,
        run: facts.row.id,
        next: `crm-sync run show ${facts.row.id}`,
      };
  }
}

function byHandRow({ stream, key, customer, row }: Extract<ExceptionFacts, { kind: "by-hand" }>): Row {
  return {
    kind: "by-hand",
    since: row.at,
    customer: formatKey(customer),
    record: recordName(stream, key),
    reason: `done by hand, not read back: ${row.unseen.join(", ")}; ${row.reason} (${row.by})`,
    count: row.unseen.length,
    next: "nothing: it counts by that person's word until the record changes",
  };
}

function quarantinedRow(row: QuarantineFacts): Row {
  return {
    kind: "quarantined",
    since: row.firstSeen,
    until: row.resolvedAt,
    customer: row.customer === null ? null : formatKey(row.customer),
    record: row.key === null ? `${row.stream} ${row.id} (id not readable)` : recordName(row.stream, row.key),
    source: row.source,
    place: row.place,
    field: row.field,
    code: row.code,
    reason: row.resolution === null ? row.message : `${row.message}; ${row.resolution}`,
    next: row.state === "resolved" ? "nothing: it is resolved" : nextForQuarantine(row),
  };
}

function operationRow(
  kind: "rejected" | "unknown" | "settled" | "numbers-lost",
  row: OperationFacts,
  count: number | null,
): Row {
  const words = [row.verdict, row.outcomeMessage].filter((text) => text !== null && text !== "");
  return {
    kind: kind === "unknown" && row.state === "parked" ? "parked" : kind,
    since: row.createdAt,
    until: kind === "unknown" ? null : row.updatedAt,
    customer: row.customer.id === "" ? null : formatKey(row.customer),
    record: row.subject,
    code: row.outcomeCode,
    reason: `${row.endpoint} ${row.kind}: ${words.length === 0 ? row.state : words.join(", ")}`,
    count,
    operation: row.id,
    attempts: row.attempts.length,
    run: row.runId,
    hold: row.holdId,
    next: nextForOperation(row),
  };
}
