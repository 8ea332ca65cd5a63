import { formatKey } from "../crm/keys.ts";
import { isJsonObject } from "../base/canonical-json.ts";
import type { Json } from "../base/canonical-json.ts";
import { claimedNumbers, leftThere, mostObservations, stepText } from "./explain.ts";
import type { ExplainFacts, FieldFacts, PlacedFacts, RequestFacts, VersionFacts } from "./explain.ts";
import { verdictOf } from "./explain-verdict.ts";
import type { HoldFacts, OperationFacts } from "./facts.ts";
import { valueText } from "./runs.ts";
import type { Lines, View } from "./text.ts";
import {
  ageOf,
  also,
  counted,
  explainCommand,
  instantText,
  plainView,
  printable,
  recordName,
  section,
  textOf,
  wrapped,
} from "./text.ts";
import { answerLine, attemptText, stateText } from "./waiting.ts";

const mostFields = 60;
const mostChanges = 20;

/**
 * The whole story of one record for people: how it stands, why, what to do, and then everything that is known. `now`
 * gives the ages.
 */
export function explainText(facts: ExplainFacts, now: string, view: View = plainView): string {
  const verdict = verdictOf(facts, view);
  const lines: Lines = [printable(verdict.headline)];
  lines.push(section("because", verdict.because.map(printable)));
  lines.push(section("next", verdict.next.map(printable)));
  for (const hold of facts.stream === "customers" ? (facts.customer?.holds ?? []) : [])
    lines.push(section(`hold ${hold.id} (${hold.state})`, heldLines(hold)));
  lines.push(section("in the CRM", recordLines(facts, now, view)));
  for (const [index, version] of facts.versions.entries())
    lines.push(section(versionHeading(version, view), versionLines(version, index === 0)));
  lines.push(
    section(
      "in quarantine",
      facts.quarantine.map((row) =>
        printable(
          `${row.id}  ${row.state}  ${instantText(row.firstSeen, view)}  ${row.place}  ${row.field}: ${row.message}`,
        ),
      ),
    ),
  );
  lines.push(section("known on the platform", knownLines(facts, view)));
  lines.push(section("candidates", candidateLines(facts, now)));
  lines.push(section(shownHeading(facts, now), shownLines(facts, now)));
  lines.push(section("orders and staff of this customer", dependentLines(facts)));
  lines.push(section("of this customer in quarantine", unusableLines(facts, view)));
  lines.push(
    section(
      `operations (${facts.operations.total})`,
      facts.operations.newest.flatMap((row) => operationLines(row, view)),
    ),
  );
  lines.push(
    section(
      `audit entries (${facts.audit.total})`,
      facts.audit.newest.map((row) =>
        printable(
          `${row.sequence}  ${instantText(row.at, view)}  ${row.kind}  ${row.subject}  ${row.hash.slice(0, 16)}…`,
        ),
      ),
    ),
  );
  return textOf(wrapped(lines.flat(), view));
}

function recordLines(facts: ExplainFacts, now: string, view: View): string[] {
  const { record, read, customer } = facts;
  if (record === null) return [];
  const changed = `${instantText(record.changedAt, view)} (${ageOf(record.changedAt, now)} ago)`;
  const lines = [
    `state     ${record.state}, version ${record.version}, from the source ${printable(record.source)}`,
    `seen      first ${instantText(record.firstSeen, view)}, changed ${changed}`,
  ];
  if (facts.stream !== "customers") {
    const stands = customer?.record?.state ?? "not in the CRM";
    lines.push(`customer  ${printable(`${record.customer.namespace}/${record.customer.id}`)} (${stands})`);
  }
  if (read !== null) {
    const how = read.finishedAt === null ? "not ended" : read.complete ? "complete" : "incomplete";
    lines.push(
      `read      reading ${read.number} of ${printable(read.source)}, ${instantText(read.startedAt, view)}: ${how}`,
    );
  }
  if (record.outcome !== null) lines.push(`decided   ${record.outcome.decision} by run ${record.outcome.run}`);
  if (record.changedRun !== null) lines.push(`ingested  by run ${record.changedRun}`);
  for (const claim of facts.claims) {
    const which = `${claim.numbers.length > 1 ? "one of its numbers " : ""}${claimedNumbers(claim)}`;
    lines.push(printable(`should hold ${claim.claim} (${which})`));
  }
  return lines;
}

/** What a hold is about, each operation with the id that `approve` takes. */
function heldLines({ first, count }: HoldFacts): string[] {
  const named = first.map(({ operation, reason }) => printable(`${operation}  ${reason}`));
  return count > first.length ? [...named, `and ${count - first.length} more`] : named;
}

function versionHeading(version: VersionFacts, view: View): string {
  const until = version.to === null ? "now" : instantText(version.to, view);
  return printable(`version ${version.version} (${instantText(version.from, view)} to ${until}) at ${version.place}`);
}

/** The newest version whole, older ones by what changed in them. */
function versionLines(version: VersionFacts, newest: boolean): string[] {
  const named = version.changed.slice(0, mostChanges).join(", ");
  const unnamed = version.changed.length - mostChanges;
  const changed = named === "" ? [] : [`changed: ${named}${unnamed > 0 ? ` and ${unnamed} more` : ""}`];
  if (!newest) return changed.length === 0 ? [counted(version.fields.length, "field")] : changed.map(printable);
  const lines = fieldLines(version.fields);
  const more = lines.length > mostFields ? [`… and ${lines.length - mostFields} more (--json shows all)`] : [];
  return [...changed, ...lines.slice(0, mostFields), ...more].map(printable);
}

/** One line for each field, and one for all fields of one element of a list. */
function fieldLines(fields: readonly FieldFacts[]): string[] {
  const lines = new Map<string, string[]>();
  for (const field of fields) {
    const value = "private" in field ? privateWord(field) : valueText(field.value);
    const [, element, rest] = /^(\w+\[[^\]]*\])\.(.+)$/.exec(field.name) ?? [];
    if (element === undefined || rest === undefined) lines.set(field.name, [value]);
    else if (rest !== "id") lines.set(element, [...(lines.get(element) ?? []), `${rest} ${value}`]);
  }
  return [...lines].map(([name, values]) => `${name}: ${values.join(", ")}`);
}

function privateWord({ erased }: Extract<FieldFacts, { private: true }>): string {
  return erased === true ? "(erased)" : "(private)";
}

function until(to: string | null, view: View): string {
  return to === null ? "" : ` until ${instantText(to, view)}`;
}

function time({ from, to }: { from: string; to: string | null }, view: View): string {
  return `${instantText(from, view)}${until(to, view)}`;
}

/** Where else than for its customer an order stood, and may stand still. */
function movedLines(placed: PlacedFacts, view: View): string[] {
  const { customer, products, movedFrom } = placed;
  if (movedFrom.length === 0) return [];
  const left = movedFrom.map((move) => {
    const { what, since } = leftThere(placed, move);
    const earlier = formatKey(move.customer);
    const there =
      move.endedAt === null
        ? `${what}: crm-sync explain customer ${earlier}`
        : `${what}${since === undefined ? "" : ` since ${instantText(since, view)}`}`;
    return `  moved away from ${earlier} in the CRM ${instantText(move.since, view)}; ${there}`;
  });
  const now = products === 0 ? "; nothing of it stands anywhere now" : "";
  return [`  stands for ${formatKey(customer)}${now}`, ...left];
}

/** What happened to a placed order since. */
function stepLine(step: PlacedFacts["steps"][number], moved: boolean, view: View): string {
  const operation = also(", operation ", step.operationId);
  const whose = also(" for ", moved ? formatKey(step.customer) : null);
  return `  ${instantText(step.at, view)}: ${stepText(step)}${whose}${operation}`;
}

function knownLines(facts: ExplainFacts, view: View): string[] {
  const lines: string[] = [];
  if (facts.stream !== "staff" || facts.staffLinks.length === 0) {
    for (const link of facts.links) {
      const channel = `${link.channelCode}/${link.channelCustomerId}`;
      lines.push(`enterprise ${link.enterpriseGlobalId}, ${link.origin} ${time(link, view)}, channel ${channel}`);
    }
  }
  for (const item of facts.platformCustomers) {
    lines.push(
      `platform customer ${item.customerId}${item.isDefault ? " (default)" : ""}, channel ${item.channelCode}`,
    );
  }
  for (const item of facts.acknowledged) {
    lines.push(`acknowledged ${time(item, view)}: ${item.fields.join(", ")} (nothing reads them back)`);
  }
  for (const placed of facts.placed) {
    const made = `from version ${placed.version}${also(", operation ", placed.operationId)}`;
    lines.push(`${placed.origin} ${time(placed, view)} as ${placed.channelOrderId}, ${made}`);
    for (const { licenseOrderId, licenseType, sequence } of placed.licenceOrders) {
      const name = licenseOrderId === "" ? "(not named)" : licenseOrderId;
      lines.push(`  licence order ${name}, ${licenseType}, sequence ${sequence}`);
    }
    lines.push(...movedLines(placed, view));
    lines.push(...placed.steps.map((step) => stepLine(step, placed.movedFrom.length > 0, view)));
  }
  const hasMoved = facts.placed.some(({ movedFrom }) => movedFrom.length > 0);
  for (const number of facts.numbers) {
    const whose = hasMoved ? also(" of ", number.customer === null ? null : formatKey(number.customer)) : "";
    const where = `${number.instanceId}${number.slot === 0 ? "" : `, slot ${number.slot}`}`;
    const origin = number.origin === "crm" ? "the CRM" : "the pool";
    const ended = number.endedAt === null ? "" : `, ended ${instantText(number.endedAt, view)}`;
    lines.push(`asset number ${number.number}${whose} for instance ${where} (from ${origin})${ended}`);
  }
  for (const link of facts.staffLinks) {
    const member = `member ${link.memberGlobalId} of enterprise ${link.enterpriseGlobalId}`;
    lines.push(`${member}, ${link.origin} ${time(link, view)}`);
  }
  for (const item of facts.assignments) {
    const whose = facts.stream === "staff" ? "" : ` to staff ${item.staff.namespace}/${item.staff.id}`;
    const by = also(", operation ", item.operationId);
    const how = item.endedBy === null ? " (found gone)" : `, operation ${item.endedBy}`;
    const ended = item.to === null ? "" : `${until(item.to, view)}${how}`;
    lines.push(`asset ${item.assetNumber} ${item.origin}${whose} ${instantText(item.from, view)}${by}${ended}`);
  }
  for (const request of facts.requests) lines.push(requestText(request, view));
  if (facts.byHand !== null) {
    const { at, by, reason, unseen } = facts.byHand;
    const marked = unseen.length === 0 ? "read back" : `not read back: ${unseen.join(", ")}`;
    lines.push(`done by hand ${instantText(at, view)} (noted by ${by}: ${reason}); ${marked}`);
  }
  return lines.map(printable);
}

/** Enterprises of which one has to be chosen, each with the command that chooses it. */
function candidateLines({ key, candidates }: ExplainFacts, now: string): string[] {
  return candidates.map(({ enterprise, customers, seenAt }) => {
    const shown = customers.map(({ customerId, isDefault }) => `${customerId}${isDefault ? " (default)" : ""}`);
    const choose = `crm-sync link ${key.namespace}/${key.id} ${enterprise} --reason TEXT`;
    return printable(`enterprise ${enterprise}: customers ${shown.join(", ")} (${ageOf(seenAt, now)} ago) → ${choose}`);
  });
}

/** How something stands that a person asked for. */
function requestText({ text, answeredAt, askedAt, by, reason, operationId }: RequestFacts, view: View): string {
  const at = answeredAt === null ? "" : ` ${instantText(answeredAt, view)}`;
  const sent = operationId === null ? "" : `, operation ${operationId}`;
  return `${text}${at}${sent} (asked by ${by}: ${reason}, ${instantText(askedAt, view)})`;
}

function shownHeading(facts: ExplainFacts, now: string): string {
  const read = facts.observationRead;
  if (read === null) return "shown by the platform (never read back: crm-sync run verify)";
  return `shown by the platform (last reading ${ageOf(read.seenAt, now)} ago${read.complete ? "" : ", and it failed"})`;
}

function shownLines(facts: ExplainFacts, now: string): string[] {
  if (facts.observations.length === 0) return facts.observationRead === null ? [] : ["nothing of this record"];
  const shown = facts.observations.map((item) =>
    printable(`${item.kind} ${item.subject}: ${shownText(item.body)} (${ageOf(item.seenAt, now)} ago)`),
  );
  if (shown.length < mostObservations) return shown;
  return [...shown, `… no more than ${mostObservations} are listed: crm-sync report reconciliation has all of them`];
}

/** What was shown, without what was not: members that are null are left out. */
function shownText(body: Json): string {
  if (!isJsonObject(body)) return valueText(body);
  return valueText(Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)));
}

function dependentLines(facts: ExplainFacts): string[] {
  const lines = facts.dependents.map(
    (row) => `${row.stream}: ${row.count} ${row.state}${row.code === null ? "" : `, deferred: ${row.code}`}`,
  );
  for (const record of facts.waiting) {
    const why = record.deferred?.reason ?? "waits in quarantine";
    lines.push(`  ${recordName(record.stream, record.key)}: ${why} → ${explainCommand(record.stream, record.key)}`);
  }
  return lines.map((line) => `${/^ */.exec(line)?.[0] ?? ""}${printable(line.trimStart())}`);
}

function unusableLines(facts: ExplainFacts, view: View): string[] {
  return facts.unusable.map((row) => {
    const name = row.key === null ? `a row of ${row.stream}` : recordName(row.stream, row.key);
    const since = instantText(row.firstSeen, view);
    return printable(`${name}: ${row.message} (${row.place}), since ${since} → crm-sync quarantine show ${row.id}`);
  });
}

function operationLines(row: OperationFacts, view: View): string[] {
  const planned = `${instantText(row.createdAt, view)}${also(", run ", row.runId)}`;
  return [
    printable(`${row.id}  ${row.endpoint} ${row.kind}, ${planned}`),
    `  ${stateText(row)}`,
    `  ${printable(row.reason)}`,
    ...row.attempts.map((attempt) => `  ${printable(attemptText(attempt, view))}`),
    ...(row.answerKept ? [`  ${answerLine(row)}`] : []),
  ];
}
