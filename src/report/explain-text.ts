import { handedIn } from "../engine/model/registry.ts";
import { formatKey } from "../crm/keys.ts";
import { isJsonObject, type Json } from "../base/canonical-json.ts";
import {
  changedLastAt,
  claimedNumbers,
  leftThere,
  mostObservations,
  type ExplainFacts,
  type FieldFacts,
  type PlacedFacts,
} from "./explain.ts";
import { verdictOf } from "./explain-verdict.ts";
import type { HoldFacts } from "./facts.ts";
import { valueText } from "./runs.ts";
import {
  ageOf,
  also,
  counted,
  explainCommand,
  instantText,
  painted,
  plainView,
  printable,
  recordName,
  section,
  textOf,
  withLocalInstants,
  wrapped,
  type Lines,
  type View,
} from "./text.ts";
import { tellers, timeLineOf } from "./time-line.ts";

const mostFields = 60;

export interface ExplainNames {
  own?: string | undefined;
  customer?: string | undefined;
  /** The record's present and earlier names, by commitment. */
  byMark?: ReadonlyMap<string, string>;
}

/** One record: its state, history (oldest first), present values, and next steps. `now` gives the ages. */
export function explainText(
  facts: ExplainFacts,
  now: string,
  view: View = plainView,
  names: ExplainNames = {},
): string {
  const { headline, because, next } = verdictOf(facts, view);
  const older = facts.operations.total - facts.operations.newest.length;
  const own = names.own === undefined ? "" : `${painted("title", printable(names.own), view)}, `;
  const lines: Lines = [`${own}${printable(headline)}`];
  lines.push(
    section("what happened", [
      ...(older === 0 ? [] : [`${counted(older, "older operation")}: --json has ${older === 1 ? "it" : "them"}`]),
      ...storyLines(facts, view, names),
    ]),
  );
  lines.push(section("because", because.map(printable)));
  lines.push(section("in the CRM", recordLines(facts, view, names)));
  lines.push(section("known on the platform", knownLines(facts, view)));
  lines.push(section("candidates", candidateLines(facts, now)));
  lines.push(section(shownHeading(facts, now), shownLines(facts, now)));
  lines.push(section("orders and staff of this customer", dependentLines(facts)));
  lines.push(section("of this customer in quarantine", unusableLines(facts, view)));
  for (const hold of facts.stream === "customers" ? (facts.customer?.holds ?? []) : [])
    lines.push(section(`hold ${hold.id} (${hold.state})`, heldLines(hold)));
  lines.push(section("next", next.map(printable)));
  return textOf(wrapped(lines.flat(), view));
}

function storyLines(facts: ExplainFacts, view: View, { byMark }: ExplainNames): string[] {
  // Later sections show the present observations and reasons.
  const past = { ...facts, record: null, observations: facts.observations.filter(({ to }) => to !== null) };
  return timeLineOf(past, byMark)
    .toReversed()
    .map(({ at, by, name, text, details, mood }) => {
      const shown = details.slice(0, mostDetails).map((detail) => withLocalInstants(printable(detail), view));
      const rest = details.length - shown.length;
      const more = [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join("; ");
      const what = painted(tones[mood ?? "none"], withLocalInstants(printable(text), view), view);
      return `${instantText(at, view)}  ${printable(name ?? tellers[by])}: ${what}${more === "" ? "" : `; ${more}`}`;
    });
}

const mostDetails = 5;
const tones = { good: "better", wait: "waits", bad: "worse", none: undefined } as const;

const toldAlready: readonly string[] = ["id", "namespace", "customerId", "customerNamespace"];

function recordLines(facts: ExplainFacts, view: View, names: ExplainNames): string[] {
  const { record, read, customer, versions } = facts;
  if (record === null) return [];
  const lines = [`state     ${record.state}, version ${record.version}, from the source ${printable(record.source)}`];
  if (facts.stream !== "customers") {
    const state = customer?.record?.state ?? "not in the CRM";
    const key = printable(formatKey(record.customer));
    const company = names.customer === undefined ? "" : `${printable(names.customer)}, `;
    lines.push(`customer  ${company}${key} (${state})`);
  }
  if (read !== null && !read.complete) {
    const how = read.finishedAt === null ? "not ended" : "incomplete";
    lines.push(`read      ${printable(read.source)}, ${instantText(read.startedAt, view)}: ${how}`);
  }
  for (const claim of facts.claims) {
    const which = `${claim.numbers.length > 1 ? "one of its numbers " : ""}${claimedNumbers(claim)}`;
    lines.push(printable(`should hold ${claim.claim} (${which})`));
  }
  const fields = fieldLines((versions[0]?.fields ?? []).filter(({ name }) => !toldAlready.includes(name)));
  const more = fields.length > mostFields ? [`… and ${fields.length - mostFields} more (--json shows all)`] : [];
  return [...lines, ...[...fields.slice(0, mostFields), ...more].map(printable)];
}

/** Each operation of a hold, with the id that `approve` takes. */
function heldLines({ first, count }: HoldFacts): string[] {
  const named = first.map(({ operation, reason }) => printable(`${operation}  ${reason}`));
  return count > first.length ? [...named, `and ${count - first.length} more`] : named;
}

/** One line for each field, for each element of a list, and for all private fields together. */
function fieldLines(fields: readonly FieldFacts[]): string[] {
  const lines = new Map<string, string[]>();
  const add = (name: string, value: string): void => void lines.set(name, [...(lines.get(name) ?? []), value]);
  for (const field of fields) {
    const [, element, rest] = /^(\w+\[[^\]]*\])\.(.+)$/.exec(field.name) ?? [];
    if ("private" in field) add(field.erased === true ? "(erased)" : "(private)", field.name);
    else if (element === undefined || rest === undefined) add(field.name, valueText(field.value));
    else if (rest !== "id") add(element, `${rest} ${valueText(field.value)}`);
  }
  return [...lines].map(([name, values]) => `${name}: ${values.join(", ")}`);
}

function until(to: string | null, view: View): string {
  return to === null ? "" : ` until ${instantText(to, view)}`;
}

function time({ from, to }: { from: string; to: string | null }, view: View): string {
  return `${instantText(from, view)}${until(to, view)}`;
}

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

function knownLines(facts: ExplainFacts, view: View): string[] {
  const lines: string[] = [];
  if (facts.stream !== "staff" || facts.staffLinks.length === 0) {
    for (const link of facts.links.filter(({ to }) => to === null)) {
      const channel = `${link.channelCode}/${link.channelCustomerId}`;
      lines.push(`enterprise ${link.enterpriseGlobalId}, ${link.origin}, channel ${channel}`);
    }
  }
  for (const item of facts.platformCustomers) {
    lines.push(
      `platform customer ${item.customerId}${item.isDefault ? " (default)" : ""}, channel ${item.channelCode}`,
    );
  }
  for (const item of facts.acknowledged) {
    lines.push(`acknowledged ${time(item, view)}: ${item.fields.join(", ")} (no call shows them)`);
  }
  for (const placed of facts.placed) {
    lines.push(`${placed.origin}${until(placed.to, view)} as ${placed.channelOrderId}, from version ${placed.version}`);
    for (const { licenseOrderId, licenseType, sequence } of placed.licenceOrders) {
      const name = licenseOrderId === "" ? "(not named)" : licenseOrderId;
      lines.push(`  licence order ${name}, ${licenseType}, sequence ${sequence}`);
    }
    lines.push(...movedLines(placed, view));
  }
  const hasMoved = facts.placed.some(({ movedFrom }) => movedFrom.length > 0);
  for (const number of facts.numbers) {
    const whose = hasMoved ? also(" of ", number.customer === null ? null : formatKey(number.customer)) : "";
    const where = `${number.instanceId}${number.slot === 0 ? "" : `, slot ${number.slot}`}`;
    const origin = number.origin === "crm" ? "the CRM" : "the pool";
    const ended = number.endedAt === null ? "" : `, ended ${instantText(number.endedAt, view)}`;
    lines.push(`asset number ${number.number}${whose} for instance ${where} (from ${origin})${ended}`);
  }
  for (const link of facts.staffLinks.filter(({ to }) => to === null))
    lines.push(`member ${link.memberGlobalId} of enterprise ${link.enterpriseGlobalId}, ${link.origin}`);
  for (const { explain } of handedIn().resources) lines.push(...(explain?.lines(facts) ?? []));
  for (const { text, answeredAt } of facts.requests) lines.push(`${text}${at(answeredAt, view)}`);
  if (facts.byHand !== null) {
    const { at, by, reason, unseen } = facts.byHand;
    const marked = unseen.length === 0 ? "read back" : `not read back: ${unseen.join(", ")}`;
    lines.push(`done by hand ${instantText(at, view)} (noted by ${by}: ${reason}); ${marked}`);
  }
  return lines.map(printable);
}

function candidateLines({ key, candidates }: ExplainFacts, now: string): string[] {
  return candidates.map(({ enterprise, customers, seenAt }) => {
    const shown = customers.map(({ customerId, isDefault }) => `${customerId}${isDefault ? " (default)" : ""}`);
    const choose = `crm-sync link ${key.namespace}/${key.id} ${enterprise} --reason TEXT`;
    return printable(`enterprise ${enterprise}: customers ${shown.join(", ")} (${ageOf(seenAt, now)} ago) → ${choose}`);
  });
}

function at(instant: string | null, view: View): string {
  return instant === null ? "" : ` ${instantText(instant, view)}`;
}

function shownHeading(facts: ExplainFacts, now: string): string {
  const read = facts.observationRead;
  if (read === null) return "shown by the platform (never read back: crm-sync run verify)";
  const last = `last reading ${ageOf(read.seenAt, now)} ago${read.complete ? "" : ", and it failed"}`;
  if (read.seenAt >= changedLastAt(facts)) return `shown by the platform (${last})`;
  return `shown by the platform before the last change (${last}; crm-sync run verify reads it again)`;
}

function shownLines(facts: ExplainFacts, now: string): string[] {
  const present = facts.observations.filter(({ to }) => to === null);
  if (present.length === 0) return facts.observationRead === null ? [] : ["nothing of this record"];
  const shown = present.map((item) =>
    printable(`${item.kind} ${item.subject}: ${shownText(item.body)} (${ageOf(item.seenAt, now)} ago)`),
  );
  if (shown.length < mostObservations) return shown;
  return [...shown, `… no more than ${mostObservations} are listed: crm-sync report reconciliation has all of them`];
}

/** Members without a value are left out. */
function shownText(body: Json): string {
  if (!isJsonObject(body)) return valueText(body);
  return valueText(Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== "")));
}

function dependentLines(facts: ExplainFacts): string[] {
  const lines = facts.dependents.map(
    (row) => `${row.stream}: ${row.count} ${row.state}${row.code === null ? "" : `, waiting: ${row.code}`}`,
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
