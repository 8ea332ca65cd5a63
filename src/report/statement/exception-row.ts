import type { RecordKey, Stream } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import type { ByHandFacts } from "../explain.ts";
import type { HoldFacts, OperationFacts, QuarantineFacts, ReadFacts, RunFacts } from "../facts.ts";
import { nextForOperation } from "../next-for-operation.ts";
import { nextForDeferral, nextForHold, nextForQuarantine } from "../next-steps.ts";
import { recordName } from "../text.ts";
import { closedCode, closedDeferral, closedVerdict } from "./closed-words.ts";
import { readingProblem } from "./run.ts";
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
      /** The code of what kept it from being done then. */
      cause: string;
      /** The hold on what it waited for, that a person had to decide or had rejected. */
      holds: readonly string[];
    }
  | { kind: "rejected" | "settled" | "numbers-lost"; row: OperationFacts; count: number | null }
  /** `stood`: its state at the end of the period. */
  | { kind: "unknown"; row: OperationFacts; count: number | null; stood: OperationFacts["state"] }
  | { kind: "by-hand"; stream: Stream; key: RecordKey; customer: RecordKey; row: ByHandFacts }
  /** `stood`: what it was about at the end of the period. */
  | { kind: "held"; row: HoldFacts; stood: Pick<HoldFacts, "count" | "explanation"> }
  | { kind: "source-incomplete"; row: ReadFacts }
  | { kind: "run"; row: RunFacts };

/** An exception, with when and how it ended, be it after the period. */
export interface FoundException {
  facts: ExceptionFacts;
  ended: { at: string; how: string | null } | null;
}

/** One exception as a row, for readers who run no commands themselves. */
export function exceptionRow(facts: ExceptionFacts): Row {
  const row = rowOf(facts);
  const { next } = row;
  const isCommand = typeof next === "string" && /\bcrm-sync [a-z]/u.test(next);
  return isCommand ? { ...row, next: `${next} (the operator runs crm-sync)` } : row;
}

/** An operation that waits for a person is `parked`, one that a run will settle `unknown`. */
function rowOf(facts: ExceptionFacts): Row {
  switch (facts.kind) {
    case "quarantined":
      return quarantinedRow(facts.row);
    case "deferred":
      return deferredRow(facts);
    case "unknown":
      return operationRow(facts.stood === "parked" ? "parked" : "unknown", asItStood(facts), facts.count);
    case "rejected":
    case "settled":
    case "numbers-lost":
      return operationRow(facts.kind, facts.row, facts.count);
    case "by-hand":
      return byHandRow(facts);
    case "held":
      return {
        kind: "held",
        since: facts.row.createdAt,
        customer: formatKey(facts.row.customer),
        code: facts.row.state,
        reason: facts.stood.explanation,
        count: facts.stood.count,
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
        code: readingProblem(facts.row),
        reason: "the statement `run` has the reading and what went wrong",
        count: facts.row.rows,
        run: facts.row.runId,
        next: "crm-sync check tries the source",
      };
    case "run":
      return runRow(facts.row);
  }
}

function deferredRow(facts: Extract<ExceptionFacts, { kind: "deferred" }>): Row {
  return {
    kind: "deferred",
    since: facts.since,
    customer: formatKey(facts.customer),
    record: recordName(facts.stream, facts.key),
    code: closedDeferral(facts.code),
    reason: "the record waits for what its code names",
    next: nextForDeferral(facts.cause, {
      customer: facts.customer,
      record: { stream: facts.stream, key: facts.key },
      reason: facts.reason,
      holds: facts.holds,
    }),
  };
}

function runRow(row: RunFacts): Row {
  return {
    kind: "run",
    since: row.startedAt,
    until: row.finishedAt,
    record: row.job,
    code: row.exitCode === null ? row.state : `exit ${row.exitCode}`,
    reason: row.exitCode === 6 ? "the run does not balance" : `the run is ${row.state}`,
    run: row.id,
    next: `crm-sync run show ${row.id}`,
  };
}

function byHandRow({ stream, key, customer, row }: Extract<ExceptionFacts, { kind: "by-hand" }>): Row {
  return {
    kind: "by-hand",
    since: row.at,
    customer: formatKey(customer),
    record: recordName(stream, key),
    reason: `${row.by} said that it was done on the platform; it was not read back`,
    count: row.unseen.length,
    next: "nothing: it counts by that person's word until the record changes",
  };
}

function quarantinedRow(row: QuarantineFacts): Row {
  return {
    kind: "quarantined",
    since: row.firstSeen,
    customer: row.customer === null ? null : formatKey(row.customer),
    record: row.key === null ? `${row.stream} ${row.id} (id not readable)` : recordName(row.stream, row.key),
    source: row.source,
    place: row.place,
    field: row.field,
    code: row.code,
    reason: "the row cannot be used",
    next: nextForQuarantine(row),
  };
}

/** An operation at the end of the period: what was found out of it since was not known then. */
function asItStood({ row, stood }: Extract<ExceptionFacts, { kind: "unknown" }>): OperationFacts {
  return row.state === stood ? row : { ...row, state: stood, verdict: null, outcomeCode: null };
}

function operationRow(
  kind: "rejected" | "unknown" | "parked" | "settled" | "numbers-lost",
  row: OperationFacts,
  count: number | null,
): Row {
  return {
    kind,
    since: row.createdAt,
    customer: row.customer.id === "" ? null : formatKey(row.customer),
    record: row.subject,
    code: closedCode(row.outcomeCode),
    reason: `${row.endpoint} ${row.kind}: ${closedVerdict(row.verdict) ?? row.state}`,
    count,
    operation: row.id,
    attempts: row.attempts.length,
    run: row.runId,
    hold: row.questionId,
    next: nextForOperation(row),
  };
}
