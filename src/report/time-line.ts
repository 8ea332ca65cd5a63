import { isJsonObject } from "../base/canonical-json.ts";
import type { JsonObject } from "../base/canonical-json.ts";
import { leftThere, stepText } from "./explain.ts";
import type { ExplainFacts, FieldFacts, VersionFacts } from "./explain.ts";
import type { AttemptFacts, AuditFacts, OperationFacts } from "./facts.ts";
import { pagePath } from "./page-links.ts";
import { valueText } from "./runs.ts";
import { also, counted, recordName } from "./text.ts";

/** Who did something, or of whom it is known. */
export const tellers = {
  crm: "CRM said",
  planned: "We planned",
  sent: "We sent",
  answered: "Was answered",
  known: "We noted",
  platform: "Platform shows",
  person: "A person decided",
} as const;
export type Teller = keyof typeof tellers;

/** Something that happened to a record. Texts are as they came: whoever shows them makes them safe. */
export interface TimeLineEntry {
  at: string;
  by: Teller;
  text: string;
  details: readonly string[];
  links: readonly { path: string; text: string }[];
  /** Whether it went well, waits, or did not. */
  mood?: "good" | "wait" | "bad" | undefined;
}

const mostDetails = 30;
/** Under this name stands in the ledger what no person asked for. */
const theCrm = "the CRM";

/** Everything that is known to have happened to a record, newest first; what happened at once stands as it went. */
export function timeLineOf(facts: ExplainFacts): TimeLineEntry[] {
  const entries = [
    ...facts.versions.toReversed().map((version, index, all) => versionEntry(version, all[index - 1])),
    ...quarantineEntries(facts),
    ...deferralEntries(facts),
    ...facts.operations.newest.toReversed().flatMap(operationEntries),
    ...standingEntries(facts),
    ...facts.observations.map(observationEntry),
    ...facts.audit.newest.toReversed().flatMap(decisionEntry),
  ];
  const ordered = entries.map((entry, index) => ({ entry, index }));
  ordered.sort((one, other) => compared(other.entry.at, one.entry.at) || other.index - one.index);
  return ordered.map(({ entry }) => entry);
}

function compared(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function entry(at: string, by: Teller, text: string, more: Partial<TimeLineEntry> = {}): TimeLineEntry {
  const { details = [], links = [], mood } = more;
  const rest = details.length - mostDetails;
  const cut = rest > 0 ? [...details.slice(0, mostDetails), `… and ${rest} more`] : details;
  return { at, by, text, details: cut, links, mood };
}

function versionEntry(version: VersionFacts, before: VersionFacts | undefined): TimeLineEntry {
  const where = `${version.source}, ${version.place}`;
  if (before === undefined) {
    const text = `version ${version.version} (${where}) with ${counted(version.fields.length, "field")}`;
    const details = version.changed.length === 0 ? [] : [`changed: ${version.changed.slice(0, 20).join(", ")}`];
    return entry(version.from, "crm", text, { details });
  }
  const earlier = new Map(before.fields.map((field) => [field.name, field]));
  const now = new Map(version.fields.map((field) => [field.name, field]));
  const details = version.changed.map(
    (name) => `${name}: ${fieldText(earlier.get(name))} → ${fieldText(now.get(name))}`,
  );
  return entry(version.from, "crm", `version ${version.version} (${where})`, { details });
}

function fieldText(field: FieldFacts | undefined): string {
  if (field === undefined) return "nothing";
  if ("private" in field) return field.erased === true ? "(erased)" : "(hidden)";
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
    return [came, entry(row.resolvedAt, "known", `quarantine resolved${also(": ", row.resolution)}`, { links })];
  });
}

function deferralEntries({ record }: ExplainFacts): TimeLineEntry[] {
  if (record === null) return [];
  const entries: TimeLineEntry[] = [];
  if (record.deferred !== null)
    entries.push(
      entry(record.deferred.since, "planned", `nothing: ${record.deferred.reason} (${record.deferred.code})`, {
        mood: "wait",
      }),
    );
  return entries;
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

function operationEntries(row: OperationFacts): TimeLineEntry[] {
  const links = [
    ...(row.runId === null ? [] : [{ path: pagePath.run(row.runId), text: `run ${row.runId}` }]),
    ...(row.questionId === null ? [] : [{ path: pagePath.hold(row.questionId), text: `hold ${row.questionId}` }]),
    ...(row.state === "parked" || row.state === "unknown"
      ? [{ path: pagePath.settle(row.id), text: "settle it" }]
      : row.answerKept
        ? [{ path: pagePath.settle(row.id), text: "what the service answered" }]
        : []),
  ];
  const words = [row.verdict, row.outcomeCode, row.outcomeMessage].filter((text) => text !== null && text !== "");
  const planned = entry(row.createdAt, "planned", `${row.kind} (${row.endpoint}): ${row.reason}`, {
    details: [`operation ${row.id} is ${row.state}${words.length === 0 ? "" : `: ${words.join(", ")}`}`],
    links,
    mood: moods[row.state],
  });
  return [
    planned,
    ...row.attempts.flatMap((attempt) => attemptEntries(row, attempt)),
    ...row.evidence.map(({ at, seen, detail }) =>
      entry(at, "platform", `${seen ? "seen" : "not seen"} of ${row.kind}, as its outcome was looked for`, {
        details: [valueText(detail)],
      }),
    ),
  ];
}

function attemptEntries({ kind, endpoint }: OperationFacts, attempt: AttemptFacts): TimeLineEntry[] {
  const sent = entry(attempt.startedAt, "sent", `${endpoint} for ${kind}, attempt ${attempt.number}`, {
    details: [`nonce ${attempt.nonce}`],
  });
  if (attempt.outcome === null) return [{ ...sent, details: [...sent.details, "no answer is known"], mood: "wait" }];
  const http = attempt.httpStatus === null ? "" : `, HTTP ${attempt.httpStatus}`;
  const text = `${attempt.outcome}${http}${also(", code ", attempt.code)}`;
  const details = attempt.detail === null ? [] : [attempt.detail];
  return [sent, entry(attempt.finishedAt ?? attempt.startedAt, "answered", `${endpoint}: ${text}`, { details })];
}

/** Since when what is known of it on the platform stands, and stood. */
function standingEntries(facts: ExplainFacts): TimeLineEntry[] {
  const { stream } = facts;
  const links = facts.links
    .filter(() => stream === "customers")
    .flatMap(({ enterpriseGlobalId: id, origin, from, to }) => span({ from, to }, `the enterprise ${id} (${origin})`));
  const accounts = facts.staffLinks.flatMap(({ memberGlobalId: id, origin, from, to }) =>
    span({ from, to }, `the member ${id} (${origin})`),
  );
  const placed = facts.placed.flatMap((order) => [
    ...span(order, `the order is ${order.origin} as ${order.channelOrderId}`),
    ...order.movedFrom.map((move) =>
      entry(move.since, "crm", `the order moved away from ${recordName("customers", move.customer)}`, {
        details: [leftThere(order, move).what],
        links: [{ path: pagePath.customer(move.customer.namespace, move.customer.id), text: "that customer" }],
      }),
    ),
    ...order.steps.map((step) => entry(step.at, "known", stepText(step))),
  ]);
  const held = facts.assignments.flatMap(({ assetNumber, staff, origin, from, to }) =>
    span(
      { from, to },
      `asset ${assetNumber} ${origin}${stream === "staff" ? "" : ` to ${recordName("staff", staff)}`}`,
    ),
  );
  const byHand =
    facts.byHand === null
      ? []
      : [
          entry(
            facts.byHand.at,
            "person",
            `${facts.byHand.by} said that it was done on the platform: ${facts.byHand.reason}`,
          ),
        ];
  const asked = facts.requests.map(({ text, by, reason, askedAt }) =>
    entry(askedAt, by === theCrm ? "crm" : "person", `${by} asked: ${text}`, {
      details: reason === "" ? [] : [reason],
    }),
  );
  return [...links, ...accounts, ...placed, ...held, ...byHand, ...asked];
}

function span({ from, to }: { from: string; to: string | null }, text: string): TimeLineEntry[] {
  const began = entry(from, "known", text);
  return to === null ? [began] : [began, entry(to, "known", `ended: ${text}`)];
}

function observationEntry({ kind, subject, from, seenAt, body }: ExplainFacts["observations"][number]): TimeLineEntry {
  const shown = isJsonObject(body)
    ? Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
    : body;
  return entry(from, "platform", `${kind} ${subject}`, {
    details: [valueText(shown), ...(seenAt > from ? [`seen so until ${seenAt}`] : [])],
  });
}

/** An entry of the audit record that bears a person's name. */
function decisionEntry({ at, kind, body, sequence }: AuditFacts): TimeLineEntry[] {
  const by = textIn(body, "by");
  if (by === undefined || by === theCrm) return [];
  const reason = textIn(body, "reason");
  const fields = body["fields"];
  return [
    entry(at, "person", `${by}: ${kind}${also(", ", reason ?? null)}`, {
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
