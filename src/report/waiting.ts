import { canonicalJson } from "../base/canonical-json.ts";
import type { HoldFacts, OperationFacts, QuarantineFacts } from "./facts.ts";
import { nextForHold, nextForQuarantine } from "./next-steps.ts";
import { valueText } from "./runs.ts";
import {
  renderTable,
  also,
  instantText,
  plainView,
  printable,
  section,
  textOf,
  resyncCommand,
  type Lines,
  type View,
} from "./text.ts";
import { isListed } from "../contract/codes.ts";
import { serviceNameOf } from "../contract/endpoints.ts";

export function quarantineListText(rows: readonly QuarantineFacts[], view: View = plainView): string {
  if (rows.length === 0) return "nothing waits in quarantine";
  return renderTable(
    ["id", "stream", "record", "code", "field", "since", "place", "because"],
    rows.map((row) => [
      row.id,
      row.stream,
      row.key === null ? "" : `${row.key.namespace}/${row.key.id}`,
      row.state === "open" ? row.code : `${row.code} (${row.state})`,
      row.field,
      instantText(row.firstSeen, view),
      row.place,
      row.message,
    ]),
    view,
  );
}

/** One quarantined record. Give `rawForm` only if a person asked for it: it contains personal data. */
export function quarantineText(row: QuarantineFacts, rawForm?: string, view: View = plainView): string {
  const { key, resolvedAt, resolution } = row;
  const resolved = resolvedAt === null ? "" : ` ${instantText(resolvedAt, view)}: ${printable(resolution ?? "")}`;
  const name = key === null ? "its id could not be read" : printable(`${row.stream} ${key.namespace}/${key.id}`);
  const lines: Lines = [
    `quarantine  ${row.id} (${row.state}${resolved})`,
    `record      ${name}`,
    `source      ${printable(row.source)}, ${row.stream}`,
    `place       ${printable(row.place)}`,
    `field       ${row.field === "" ? "the whole record" : printable(row.field)}`,
    `because     ${printable(row.message)} (${row.code})`,
    ...(row.expected === null ? [] : [`expected    ${printable(row.expected)}`]),
    ...(row.customer === null ? [] : [`customer    ${printable(`${row.customer.namespace}/${row.customer.id}`)}`]),
    `seen        first ${instantText(row.firstSeen, view)}, last ${instantText(row.lastSeen, view)}`,
    `next        ${nextForQuarantine(row)}`,
  ];
  if (rawForm !== undefined)
    lines.push(section("raw form (secrets blanked, personal data not)", rawForm.split("\n").map(printable)));
  return textOf(lines);
}

export function unsettledText(rows: readonly OperationFacts[], view: View = plainView): string {
  if (rows.length === 0) return "every operation is settled";
  return renderTable(
    [
      "operation",
      "call",
      "what",
      "subject",
      "state",
      "since",
      { title: "attempts", align: "right" },
      "because",
      "next",
    ],
    rows.map((row) => [
      row.id,
      row.endpoint,
      row.kind,
      row.subject,
      row.state,
      instantText(row.createdAt, view),
      row.attempts.length,
      row.outcomeMessage ?? row.outcomeCode,
      nextForOperation(row),
    ]),
    view,
  );
}

export function operationText(row: OperationFacts, view: View = plainView): string {
  const lines: Lines = [
    `operation  ${row.id}`,
    `what       ${row.kind} (${row.endpoint}), ${printable(row.subject)}`,
    `customer   ${printable(`${row.customer.namespace}/${row.customer.id}`)}`,
    `because    ${printable(row.reason)}`,
    `state      ${stateText(row)}`,
    `planned    ${instantText(row.createdAt, view)}${also(", run ", row.runId)}${also(", hold ", row.questionId)}`,
    `changed    ${instantText(row.updatedAt, view)}`,
    ...(row.settleAfter === null ? [] : [`settle     not before ${instantText(row.settleAfter, view)}`]),
    ...lookForLines(row.lookFor),
    `next       ${nextForOperation(row)}`,
    `intent     ${row.hash}${row.wireHash === null ? "" : `, wire ${row.wireHash}`}`,
  ];
  lines.push(
    section(
      "attempts",
      row.attempts.map((attempt) => printable(attemptText(attempt, view))),
    ),
  );
  lines.push(
    section(
      "readings",
      row.evidence.map(
        (item) => `${instantText(item.at, view)}  ${item.seen ? "seen" : "not seen"}: ${valueText(item.detail)}`,
      ),
    ),
  );
  if (row.answerKept) lines.push("", answerLine(row));
  lines.push(section("target", [printable(canonicalJson(row.target))]));
  lines.push(section("payload, unbound", JSON.stringify(row.payload, null, 2).split("\n").map(printableLine)));
  return textOf(lines);
}

/** How to see the service's own words, which may name people. */
export function answerLine({ id }: Pick<OperationFacts, "id">): string {
  return `the service's last answer is kept: crm-sync audit answer ${id}`;
}

function printableLine(line: string): string {
  const indent = /^ */.exec(line)?.[0] ?? "";
  return `${indent}${printable(line.slice(indent.length))}`;
}

export function stateText(row: OperationFacts): string {
  const more = [row.verdict, row.outcomeCode, row.outcomeMessage].filter((text) => text !== null && text !== "");
  return printable(more.length === 0 ? row.state : `${row.state}: ${more.join(", ")}`);
}

export function attemptText(attempt: OperationFacts["attempts"][number], view: View): string {
  const answer = [
    attempt.httpStatus === null ? undefined : `HTTP ${attempt.httpStatus}`,
    attempt.code === null ? undefined : `code ${attempt.code}`,
    attempt.detail ?? undefined,
  ].filter((text) => text !== undefined);
  const ended = attempt.outcome ?? "no outcome";
  const answered = answer.length === 0 ? "" : ` (${answer.join(", ")})`;
  return `${attempt.number}. ${instantText(attempt.startedAt, view)}  nonce ${attempt.nonce}  ${ended}${answered}`;
}

export function holdsText(rows: readonly HoldFacts[], view: View = plainView): string {
  if (rows.length === 0) return "nothing is held";
  return renderTable(
    ["hold", "customer", "state", "since", "because", "next"],
    rows.map((row) => [
      row.id,
      `${row.customer.namespace}/${row.customer.id}`,
      row.state,
      instantText(row.createdAt, view),
      row.explanation,
      nextForHold(row),
    ]),
    view,
  );
}

function lookForLines(found: OperationFacts["lookFor"]): string[] {
  if (found === null) return [];
  return [`look for   ${printable(found.what)}`, `where      ${printable(found.where)}`, `ask        ${found.whom}`];
}

const whenUnknown: Record<OperationFacts["whenUnknown"], string> = {
  read: "settles it by reading the platform",
  "send-again": "sends it again with the same values",
  lost: "records that its effect is lost",
  ask: "asks a person: no reading shows the result, and crm-sync does not send the operation twice",
};

export function settleCommands({ id, endpoint, outcomeCode: code }: ParkedOperation): string {
  const isKnown = code === null || isListed(code, endpoint);
  const ask = isKnown ? "" : `ask the provider of the ${serviceNameOf(endpoint)} what ${code} means, and `;
  const cause = isKnown ? "" : ". If you answer --not-applied before the cause is removed, the next run sends it again";
  return (
    `${ask}look on the platform. If it was done: crm-sync settle ${id} --applied --reason TEXT. If it was not done: ` +
    `crm-sync settle ${id} --not-applied --reason TEXT${cause}`
  );
}

type ParkedOperation = Pick<OperationFacts, "id" | "endpoint" | "outcomeCode">;

export function nextForOperation(
  row: ParkedOperation & Pick<OperationFacts, "state" | "settleAfter" | "questionId" | "whenUnknown" | "customer">,
): string {
  switch (row.state) {
    case "parked":
      return settleCommands(row);
    case "sending":
    case "unknown":
      return row.settleAfter === null
        ? `nothing: the next run ${whenUnknown[row.whenUnknown]}`
        : `nothing: a run ${whenUnknown[row.whenUnknown]}, not before ${row.settleAfter}`;
    case "held":
      return row.questionId === null
        ? "crm-sync status --all shows the hold"
        : `crm-sync approve ${row.id} --reason TEXT for this operation, or crm-sync approve ${row.questionId} ` +
            "--reason TEXT for all operations of its hold; or reject instead of approve";
    case "planned":
      return "nothing: the next run carries it out or plans again";
    case "rejected":
      return (
        "correct the field that the service names. crm-sync tries again when the record changes, or with " +
        resyncCommand(row.customer)
      );
    case "done":
    case "dropped":
      return "nothing";
  }
}
