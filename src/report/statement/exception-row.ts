import type { RecordKey, Stream } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import type { ByHandFacts } from "../explain.ts";
import type { HoldFacts, OperationFacts, QuarantineFacts, ReadFacts, RunFacts } from "../facts.ts";
import { nextForOperation } from "../waiting.ts";
import { nextForDeferral, nextForHold, nextForQuarantine } from "../next-steps.ts";
import { nextForRemoved, sourceRemoved } from "../open.ts";
import { recordName, also } from "../text.ts";
import { closedCode, closedDeferral, closedVerdict } from "./closed-words.ts";
import type { Row } from "./shape.ts";
import { decimalText } from "../../crm/currency.ts";
import { holdBlocker, outcomeBlocker, signableOf, type Signable } from "../books.ts";
import { plus, type Exact } from "./cells.ts";
import type { StatedException } from "./exceptions.ts";

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
      cause: string;
      holds: readonly string[];
    }
  | { kind: "rejected" | "settled" | "numbers-lost"; row: OperationFacts; count: number | null }
  /** `stood`: its state at the end of the period. */
  | { kind: "unknown"; row: OperationFacts; count: number | null; stood: OperationFacts["state"] }
  | { kind: "by-hand"; stream: Stream; key: RecordKey; customer: RecordKey; row: ByHandFacts }
  /** `stood`: its content at the end of the period. */
  | { kind: "held"; row: HoldFacts; stood: Pick<HoldFacts, "count" | "explanation"> }
  | { kind: "source-incomplete"; row: ReadFacts }
  | { kind: "run"; row: RunFacts };

export interface FoundException {
  facts: ExceptionFacts;
  ended: { at: string; how: string | null } | null;
}

/** For readers who run no commands. */
export function exceptionRow(facts: ExceptionFacts): Row {
  const row = rowOf(facts);
  const { next } = row;
  const isCommand = typeof next === "string" && /\bcrm-sync [a-z]/u.test(next);
  return isCommand ? { ...row, next: `${next} (the operator runs crm-sync)` } : row;
}

/** `parked`: an operation waits for a person; `unknown`: a run will settle it. */
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
    next:
      facts.code === sourceRemoved
        ? nextForRemoved(facts.cause)
        : nextForDeferral(facts.cause, {
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

/** Without results learned after the period. */
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

/**
 * The facts that a sign-off covers. For unknown outcomes and holds: the blocker now, and at the end of the period.
 * For other exceptions: the exception with its stake.
 */
export function signedAs(exception: StatedException): Signable[] {
  const { facts } = exception;
  if (facts.kind === "unknown")
    return [outcomeBlocker(facts.row), outcomeBlocker({ ...facts.row, state: facts.stood })];
  if (facts.kind === "held")
    return [holdBlocker(facts.row), holdBlocker({ ...facts.row, ...facts.stood, state: "open" })];
  const accepted = acceptedAs(exception);
  return accepted === undefined ? [] : [accepted];
}

/** Null if nothing can be signed off. */
export function signOffId(exception: StatedException): string | null {
  const { facts, ended } = exception;
  const [signable] = signedAs(exception);
  const isOpen =
    facts.kind === "unknown"
      ? ended === null
      : facts.kind === "held"
        ? facts.row.state === "open" || facts.row.state === "approved"
        : exception.open;
  return isOpen ? (signable?.id ?? null) : null;
}

/** A non-blocking exception as accepted. Its facts have no words of the CRM or services: these may be erased. */
export function acceptedAs({ facts, orders }: StatedException): Signable | undefined {
  const stakes = stakesOf({ orders }).map(({ currency, minor }) => `${decimalText(minor, currency)} ${currency}`);
  const stake = orders.map(({ key, amount }) => [
    formatKey(key),
    amount?.currency ?? null,
    String(amount?.minor ?? ""),
  ]);
  const { record, customer } = exceptionRow(facts);
  const whose = typeof customer === "string" ? { customer } : {};
  const made = (id: string, what: string, reason: Record<string, string | number | null>): Signable => ({
    ...signableOf(id, `${what}${also("; at stake: ", stakes.join(", ") || null)}`, { ...reason, stake }),
    ...whose,
  });
  switch (facts.kind) {
    case "quarantined": {
      const { id, code, field } = facts.row;
      const where = also(" in ", field || null);
      return made(`quarantined:${id}`, `${String(record)} is in quarantine: ${code}${where}`, { code, field });
    }
    case "deferred": {
      const { stream, key, since } = facts;
      const code = closedDeferral(facts.code);
      const of = [stream, key.namespace, key.id].map(plain).join("/");
      return made(`deferred:${of}:${plain(code)}`, `${String(record)} waits: ${code}`, { code, since });
    }
    case "rejected": {
      const { id, kind, endpoint, subject, outcomeCode } = facts.row;
      const code = closedCode(outcomeCode);
      const what = `${kind} (${endpoint}) of ${subject} was refused${also(": ", code)}`;
      return made(`rejected:${id}`, what, { code, count: facts.count });
    }
    default:
      return undefined;
  }
}

function plain(text: string): string {
  const coded = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text.toWellFormed()).replaceAll(/[!'()*~]/gu, coded);
}

export function stakesOf({ orders }: Pick<StatedException, "orders">): { currency: string; minor: Exact }[] {
  const sums = new Map<string, Exact>();
  for (const { amount } of orders) {
    if (amount !== undefined) sums.set(amount.currency, plus(sums.get(amount.currency) ?? 0, amount.minor));
  }
  return [...sums]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, minor]) => ({ currency, minor }));
}

/** A code for the problem of a read. A source's own words may name people. */
export function readingProblem(read: {
  finishedAt: string | null;
  complete: boolean;
  doubted: boolean;
  problem: string | null;
}): string | null {
  if (read.finishedAt === null) return "unfinished";
  if (read.doubted) return "lost-too-much";
  if (!read.complete) return read.problem === null ? "incomplete" : "broken-off";
  return read.problem === null ? null : "noted";
}
