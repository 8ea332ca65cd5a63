import { isJsonObject, type JsonObject } from "../base/canonical-json.ts";
import {
  leftThere,
  resourceEvents,
  stepText,
  type ExplainFacts,
  type FieldFacts,
  type VersionFacts,
} from "./explain.ts";
import type { AttemptFacts, AuditFacts, OperationFacts } from "./facts.ts";
import { pagePath } from "./page-links.ts";
import { valueText } from "./runs.ts";
import { also, counted, recordName } from "./text.ts";
import { answerLine } from "./waiting.ts";

export const tellers = {
  crm: "CRM",
  sent: "crm-sync",
  platform: "platform",
  person: "person",
} as const;
type Teller = keyof typeof tellers;

/** One event of a record. Texts are unsafe: call `printable` before showing them. */
export interface TimeLineEntry {
  at: string;
  by: Teller;
  name?: string | undefined;
  text: string;
  details: readonly string[];
  links: readonly { path: string; text: string }[];
  mood?: "good" | "wait" | "bad" | undefined;
}

const mostDetails = 30;
/** The ledger has this name for requests that no person made. */
const theCrm = "the CRM";

/**
 * All known events of a record, newest first; events of the same time in their order. `named`: private values by
 * commitment, if the reader may see them.
 */
export function timeLineOf(facts: ExplainFacts, named: ReadonlyMap<string, string> = new Map()): TimeLineEntry[] {
  const results = resultsOf(facts);
  const entries = [
    ...facts.versions.toReversed().map((version, index, all) => versionEntry(version, all[index - 1], named)),
    ...quarantineEntries(facts),
    ...deferralEntries(facts),
    ...facts.operations.newest.toReversed().flatMap((row) => operationEntries(row, results)),
    ...standingEntries(facts),
    ...facts.observations.map(observationEntry),
    ...facts.audit.newest.toReversed().flatMap(decisionEntry),
  ];
  return entries.toSorted((one, other) => compared(one.at, other.at)).toReversed();
}

function compared(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function entry(at: string, by: Teller, text: string, more: Partial<TimeLineEntry> = {}): TimeLineEntry {
  const { details = [], links = [], mood, name } = more;
  const rest = details.length - mostDetails;
  const cut = rest > 0 ? [...details.slice(0, mostDetails), `… and ${rest} more`] : details;
  return { at, by, name, text, details: cut, links, mood };
}

function versionEntry(
  version: VersionFacts,
  before: VersionFacts | undefined,
  named: ReadonlyMap<string, string>,
): TimeLineEntry {
  const where = `${version.source}, ${version.place}`;
  if (before === undefined) {
    const text = `version ${version.version}, ${counted(version.fields.length, "field")} (${where})`;
    const details = version.changed.length === 0 ? [] : [`changed: ${version.changed.slice(0, 20).join(", ")}`];
    return entry(version.from, "crm", text, { details });
  }
  const earlier = new Map(before.fields.map((field) => [field.name, field]));
  const now = new Map(version.fields.map((field) => [field.name, field]));
  const details = version.changed.map(
    (name) => `${name}: ${fieldText(earlier.get(name), named)} → ${fieldText(now.get(name), named)}`,
  );
  return entry(version.from, "crm", `version ${version.version}`, { details });
}

function fieldText(field: FieldFacts | undefined, named: ReadonlyMap<string, string>): string {
  if (field === undefined) return "nothing";
  if ("private" in field) return field.erased === true ? "(erased)" : (named.get(field.mark) ?? "(hidden)");
  return valueText(field.value);
}

function quarantineEntries({ quarantine }: ExplainFacts): TimeLineEntry[] {
  return quarantine.toReversed().flatMap((row) => {
    const links = [{ path: pagePath.quarantine(row.id), text: `quarantine ${row.id}` }];
    const mood = row.state === "resolved" ? undefined : ("bad" as const);
    const came = entry(row.firstSeen, "crm", `a form that cannot be used: ${row.message}`, {
      details: [`${row.source}, ${row.place}, ${row.field === "" ? "the whole record" : row.field} (${row.code})`],
      links,
      mood,
    });
    if (row.resolvedAt === null) return [came];
    return [came, entry(row.resolvedAt, "sent", `quarantine resolved${also(": ", row.resolution)}`, { links })];
  });
}

function deferralEntries({ record }: ExplainFacts): TimeLineEntry[] {
  if (record === null || record.deferred === null) return [];
  const { since, reason, code } = record.deferred;
  return [entry(since, "sent", `waits: ${reason} (${code})`, { mood: "wait" })];
}

const moods: Readonly<Record<string, TimeLineEntry["mood"]>> = {
  done: "good",
  rejected: "bad",
  parked: "bad",
  unknown: "wait",
  sending: "wait",
  held: "wait",
  planned: "wait",
};

/** One entry with the outcome; readings that settled it follow. */
function operationEntries(row: OperationFacts, results: ReadonlyMap<string, string[]>): TimeLineEntry[] {
  const links = [
    ...(row.runId === null ? [] : [{ path: pagePath.run(row.runId), text: `run ${row.runId}` }]),
    ...(row.questionId === null ? [] : [{ path: pagePath.hold(row.questionId), text: `hold ${row.questionId}` }]),
    ...(row.state === "parked" || row.state === "unknown"
      ? [{ path: pagePath.settle(row.id), text: "settle it" }]
      : row.answerKept
        ? [{ path: pagePath.settle(row.id), text: "what the service answered" }]
        : []),
  ];
  const [first] = row.attempts;
  const words = [row.verdict, row.outcomeCode, row.outcomeMessage].filter((word) => word !== null && word !== "");
  const became = [...words, ...(results.get(row.id) ?? [])].join(", ");
  const text = `${row.kind} (${row.endpoint}) ${row.state}${also(": ", became === "" ? null : became)}`;
  return [
    entry(first?.startedAt ?? row.createdAt, "sent", `${text}, operation ${row.id}`, {
      details: [
        row.reason,
        ...(row.state === "done" && row.attempts.length === 1 ? [] : row.attempts.map(attemptWords)),
        ...(row.answerKept ? [answerLine(row)] : []),
      ],
      links,
      mood: moods[row.state],
    }),
    ...row.evidence.map(({ at, seen, detail }) =>
      entry(at, "platform", `${seen ? "shows" : "does not show"} ${row.kind}, as its outcome was looked for`, {
        details: [valueText(detail)],
      }),
    ),
  ];
}

function attemptWords({ number, startedAt, nonce, outcome, httpStatus, code, detail }: AttemptFacts): string {
  const answer =
    outcome === null ? "no answer is known" : `${outcome}${also(", HTTP ", httpStatus)}${also(", code ", code)}`;
  return `attempt ${number} at ${startedAt}, nonce ${nonce}: ${answer}${also(", ", detail)}`;
}

function resultsOf(facts: ExplainFacts): Map<string, string[]> {
  const all: (readonly [operation: string | null, text: string])[] = [
    ...facts.placed.flatMap((order) => [
      [order.operationId, `placed as ${order.channelOrderId}`] as const,
      ...order.steps.map((step) => [step.operationId, stepText(step)] as const),
    ]),
    ...resourceEvents(facts).map(({ operationId, text }) => [operationId, text] as const),
    ...facts.requests.map((request) => [request.operationId, request.text] as const),
  ];
  const told = all.flatMap(([operation, text]) => (operation === null ? [] : [{ operation, text }]));
  const byOperation = Map.groupBy(told, ({ operation }) => operation);
  return new Map([...byOperation].map(([operation, rows]) => [operation, rows.map(({ text }) => text)]));
}

/** Facts on the platform that no listed operation caused. */
function standingEntries(facts: ExplainFacts): TimeLineEntry[] {
  const listed = new Set(facts.operations.newest.map(({ id }) => id));
  const isTold = (operation: string | null): boolean => operation !== null && listed.has(operation);
  const known = (at: string | null, operation: string | null, text: string): TimeLineEntry[] =>
    at === null || isTold(operation) ? [] : [entry(at, "sent", text)];
  const made = facts.operations.newest.some(({ kind, state }) => state === "done" && makesAccount.includes(kind));
  const span = ({ from, to, origin }: { from: string; to: string | null; origin: string }, text: string) => [
    ...(made && origin !== "adopted" ? [] : known(from, null, text)),
    ...known(to, null, `ended: ${text}`),
  ];
  const links = facts.stream === "customers" ? facts.links : [];
  return [
    ...links.flatMap((link) => span(link, `enterprise ${link.enterpriseGlobalId} ${link.origin}`)),
    ...facts.staffLinks.flatMap((link) => span(link, `member ${link.memberGlobalId} ${link.origin}`)),
    ...facts.placed.flatMap((order) => [
      ...known(order.from, order.operationId, `${order.origin} as ${order.channelOrderId}`),
      ...known(order.to, null, `ended: ${order.origin} as ${order.channelOrderId}`),
      ...order.movedFrom.map((move) =>
        entry(move.since, "crm", `the order moved away from ${recordName("customers", move.customer)}`, {
          details: [leftThere(order, move).what],
          links: [{ path: pagePath.customer(move.customer.namespace, move.customer.id), text: "that customer" }],
        }),
      ),
      ...order.steps.flatMap((step) => known(step.at, step.operationId, stepText(step))),
    ]),
    ...resourceEvents(facts).flatMap(({ at, operationId, text }) => known(at, operationId, text)),
    ...byHandEntries(facts),
    ...facts.requests.map(({ text, by, reason, askedAt }) =>
      entry(askedAt, by === theCrm ? "crm" : "person", `asked: ${text}${also(": ", reason === "" ? null : reason)}`, {
        name: by,
      }),
    ),
  ];
}

/** Operations that make the accounts of links. */
const makesAccount: readonly string[] = ["create-enterprise", "bind-enterprise", "add-staff"];

function byHandEntries({ byHand }: ExplainFacts): TimeLineEntry[] {
  if (byHand === null) return [];
  return [entry(byHand.at, "person", `did it on the platform: ${byHand.reason}`, { name: byHand.by })];
}

function observationEntry({ kind, subject, from, seenAt, body }: ExplainFacts["observations"][number]): TimeLineEntry {
  const shown = isJsonObject(body)
    ? Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
    : body;
  return entry(from, "platform", `${kind} ${subject}`, {
    details: [valueText(shown), ...(seenAt > from ? [`seen so until ${seenAt}`] : [])],
  });
}

function decisionEntry({ at, kind, body, sequence }: AuditFacts): TimeLineEntry[] {
  const by = textIn(body, "by");
  if (by === undefined || by === theCrm) return [];
  const reason = textIn(body, "reason");
  const fields = body["fields"];
  const endpoint = kind === "not-applied" ? also(" ", textIn(body, "endpoint") ?? null) : "";
  return [
    entry(at, "person", `${kind.replaceAll("-", " ")}${endpoint}${also(": ", reason ?? null)}`, {
      name: by,
      details: [
        ...(kind === "private-shown" && Array.isArray(fields) ? [`shown: ${fields.map(String).join(", ")}`] : []),
        `audit entry ${sequence}`,
      ],
    }),
  ];
}

function textIn(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
