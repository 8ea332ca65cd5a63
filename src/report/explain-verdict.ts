import { boughtAgain, goneSince, type ExplainFacts, type PlacedFacts, type RecordFacts } from "./explain.ts";
import type { HoldFacts } from "./facts.ts";
import { nextForOperation } from "./waiting.ts";
import { nextForDeferral, nextForHold, nextForQuarantine, whenSourceDown } from "./next-steps.ts";
import { operationSettled } from "./open.ts";
import { type View, also, counted, explainCommand, instantText, plainView, recordName } from "./text.ts";

/** `next` is empty if there is nothing to do. */
interface Verdict {
  headline: string;
  because: string[];
  next: string[];
}

/** Says what happened to a record, or why nothing did. The first obstacle comes first. */
export function verdictOf(facts: ExplainFacts, view: View = plainView): Verdict {
  const because: string[] = [];
  const next: string[] = [];
  const name = recordName(facts.stream, facts.key);
  const waiting = facts.quarantine.filter((row) => row.state !== "resolved");
  const { record } = facts;

  if (record === null && waiting.length === 0) {
    for (const item of facts.similar) next.push(`${explainCommand(item.stream, item.key)}, if you meant that one`);
    next.push("crm-sync check tries the sources; the record may not be in them, or its id may be another one");
    because.push("no reading of a source held a record with this id");
    explainLeftOut(facts, because, next);
    const named = facts.dependents.reduce((sum, row) => sum + row.count, 0) + facts.unusable.length;
    if (named > 0)
      because.push(`${counted(named, "record")} of the CRM ${named === 1 ? "names" : "name"} it as the customer`);
    return { headline: `the CRM has not given ${name}`, because, next };
  }
  for (const row of waiting) {
    because.push(`it waits in quarantine since ${instantText(row.firstSeen, view)}: ${row.message} (${row.place})`);
    next.push(nextForQuarantine(row));
  }
  if (record === null) return { headline: `${name} was read and cannot be used`, because, next };

  explainOpen(facts, because, next, view);
  explainDeferral(facts, record, because, next, view);
  explainCustomer(facts, because, next);
  explainReading(facts, record, because, next);
  explainLeftOut(facts, because, next);
  if (because.length === 0 && record.pending)
    because.push("it was ingested and waits for the next run to decide on it");
  return {
    headline: headlineOf(facts, record, waiting.length > 0, view),
    because: unique(because),
    next: unique(next),
  };
}

function unique(lines: readonly string[]): string[] {
  return [...new Set(lines)];
}

/** The holds of a customer, or of the operations of an order or person. */
export function ownHolds({ stream, operations, customer }: ExplainFacts): readonly HoldFacts[] {
  const own = new Set(operations.newest.map(({ questionId }) => questionId));
  return customer?.holds.filter(({ id }) => stream === "customers" || own.has(id)) ?? [];
}

function explainOpen(facts: ExplainFacts, because: string[], next: string[], view: View): void {
  for (const row of facts.customer?.openOperations ?? []) {
    const what = `${row.endpoint} on ${row.subject} (${row.id}) is ${row.state}`;
    const why = row.outcomeMessage === null ? "" : `: ${row.outcomeMessage}`;
    because.push(`${what}${why}; nothing else is sent for this customer until it is settled`);
    next.push(nextForOperation(row));
  }
  for (const hold of ownHolds(facts)) {
    if (hold.state === "rejected") continue;
    because.push(`hold ${hold.id} (${hold.state}): ${hold.explanation}`);
    next.push(nextForHold(hold));
  }
  const [last] = facts.operations.newest;
  if (last?.state === "rejected") {
    const answer = `${also(" with ", last.outcomeCode)}${also(": ", last.outcomeMessage)}`;
    because.push(`${last.endpoint} was rejected on ${instantText(last.updatedAt, view)}${answer}`);
    // The deferral already gives the next step for this rejection.
    if (facts.record === null || facts.record.deferred === null) next.push(nextForOperation(last));
  }
}

function explainDeferral(
  facts: ExplainFacts,
  record: RecordFacts,
  because: string[],
  next: string[],
  view: View,
): void {
  if (record.deferred === null) return;
  const { code, reason, since } = record.deferred;
  if (code === "operation.open" && facts.customer !== null && facts.customer.openOperations.length === 0) {
    because.push(operationSettled);
    next.push(nextForDeferral("run.stopped"));
    return;
  }
  because.push(`it waits since ${instantText(since, view)}: ${reason} (${code})`);
  if (code === "operation.open" && (facts.customer?.openOperations.length ?? 0) > 0) return;
  const holds = ownHolds(facts);
  const ids = (state: string): string[] => holds.filter((hold) => hold.state === state).map(({ id }) => id);
  // The hold above already gives the next step.
  if (code === "order.moving" && ids("open").length > 0) return;
  const rejected = ids("rejected");
  const cause = code === "order.moving" && rejected.length > 0 ? "hold.rejected" : code;
  const about = { customer: record.customer, record: { stream: facts.stream, key: facts.key }, reason };
  next.push(nextForDeferral(cause, { ...about, holds: rejected }));
}

/** A record that `skip` leaves out keeps its last form. It is neither absent nor in quarantine. */
function explainLeftOut({ leftOut, stream, key, record }: ExplainFacts, because: string[], next: string[]): void {
  for (const { source, count } of leftOut) {
    const many = counted(count, "record");
    const stays = record === null ? "" : ", and what is left out stays as it was last";
    because.push(`the last reading of ${source}/${stream} left ${many} out by its skip, maybe this one${stays}`);
    next.push(`crm-sync map ${source} ${stream} --record ${key.id} shows whether it is left out`);
  }
}

/** A list is cut at 20 rows. */
function atLeast(listed: number): string {
  return listed === 20 ? "at least " : "";
}

/** A problem of the customer also stops its orders and staff. */
function explainCustomer(facts: ExplainFacts, because: string[], next: string[]): void {
  const { customer } = facts;
  if (customer === null || facts.stream === "customers") {
    const unusable = facts.unusable.length;
    if (unusable > 0) {
      const many = `${atLeast(unusable)}${counted(unusable, "record")} of this customer`;
      because.push(`${many} cannot be used and ${unusable === 1 ? "waits" : "wait"} in quarantine (listed below)`);
      next.push(nextForQuarantine(unusable === 1 ? facts.unusable[0] : undefined));
    }
    const waiting = facts.waiting.filter((item) => item.state !== "quarantined").length;
    if (waiting > 0) {
      const many = counted(waiting, "order or staff record", "orders and staff records");
      because.push(
        `${atLeast(facts.waiting.length)}${many} of this customer ${waiting === 1 ? "waits" : "wait"} (listed below)`,
      );
    }
    return;
  }
  if (customer.record === null) {
    const name = recordName("customers", customer.key);
    const { ownQuarantine: row } = customer;
    if (row !== null) {
      because.push(`its ${name} was read and waits in quarantine: ${row.message} (${row.place})`);
      next.push(nextForQuarantine(row));
    } else {
      because.push(`its ${name} has not come from the CRM: no reading of a source held it`);
      next.push("check that the source of the customers has this customer: crm-sync check");
    }
  } else if (customer.record.state !== "current") {
    because.push(`its ${recordName("customers", customer.key)} is ${customer.record.state}`);
    next.push(explainCommand("customers", customer.key));
  } else if (customer.record.deferred !== null) {
    because.push(`its ${recordName("customers", customer.key)} waits: ${customer.record.deferred.reason}`);
    next.push(explainCommand("customers", customer.key));
  }
}

function explainReading(facts: ExplainFacts, record: RecordFacts, because: string[], next: string[]): void {
  if (record.state === "absent") {
    because.push(
      `it is gone from the source ${record.source}: ${counted(record.missed, "complete reading")} in a row lacked it`,
    );
  } else if (record.missed > 0) {
    const reads = `${counted(record.missed, "complete reading")} of ${record.source}`;
    because.push(`the last ${reads} lacked it; it counts as gone only after more of them`);
  }
  const { read } = facts;
  if (read !== null && read.finishedAt !== null && (!read.complete || read.problem !== null)) {
    const how = `was not complete${also(": ", read.problem)}`;
    because.push(`the last reading of ${read.source} ${how}; a change after it is not known here`);
    next.push(whenSourceDown);
  }
}

function headlineOf(facts: ExplainFacts, record: RecordFacts, quarantined: boolean, view: View): string {
  const name = recordName(facts.stream, facts.key);
  const state =
    quarantined || record.state === "quarantined"
      ? "its newest form waits in quarantine"
      : record.state === "absent"
        ? "the CRM no longer has it"
        : undefined;
  const standing = standingOf(facts, view);
  const isHeld = ownHolds(facts).some((hold) => hold.state === "open");
  const pending = record.pending ? `waits for ${isHeld ? "a decision" : "the next run"}` : undefined;
  const waits = state ?? (record.deferred === null ? pending : "it waits");
  return waits === undefined ? `${name}: ${standing}` : `${name}: ${standing}; ${waits}`;
}

function isCancelled({ versions }: ExplainFacts): boolean {
  return (
    versions[0]?.fields.some((field) => field.name === "cancelled" && "value" in field && field.value === true) === true
  );
}

const mostAmended = 3;

function amendedAs({ channelOrderId, steps }: PlacedFacts): string {
  const numbers = new Set(steps.flatMap(({ kind, ...step }) => (kind === "bought" ? (step.channelOrderId ?? []) : [])));
  numbers.delete(channelOrderId);
  const more = numbers.size > mostAmended ? ` and ${numbers.size - mostAmended} more` : "";
  return numbers.size === 0 ? "" : `; amended as ${[...numbers].slice(0, mostAmended).join(", ")}${more}`;
}

function standingOf(facts: ExplainFacts, view: View): string {
  if (facts.stream === "customers") {
    const link = facts.links.find((item) => item.to === null);
    return link === undefined
      ? "has no enterprise on the platform"
      : `is the enterprise ${link.enterpriseGlobalId} on the platform (${link.origin} ${instantText(link.from, view)})`;
  }
  if (facts.stream === "orders") {
    const placed = facts.placed.find((item) => item.to === null);
    if (placed === undefined)
      return isCancelled(facts) ? "is cancelled in the CRM, and was not placed" : "is not placed";
    const how = `${placed.origin} as ${placed.channelOrderId}`;
    const [at, gone] = [instantText(placed.from, view), goneSince(placed)];
    if (gone !== undefined) return `was ${how} on ${at}, and all of it was removed by ${instantText(gone, view)}`;
    const again = boughtAgain(placed, facts.numbers);
    if (again === undefined) return `is ${how} since ${at}${amendedAs(placed)}`;
    const by = `placed${also(" as ", again.channelOrderId)} since ${instantText(again.at, view)}`;
    return `is ${by}; it was ${how} on ${at}, and all of that was removed`;
  }
  const link = facts.staffLinks.find((item) => item.to === null);
  if (link === undefined) return "is not on the platform";
  const live = (facts.assignments ?? []).filter((item) => item.to === null).length;
  const since = `${link.origin} ${instantText(link.from, view)}`;
  return `is the member ${link.memberGlobalId} on the platform (${since}) with ${counted(live, "asset")}`;
}

type Mood = "good" | "wait" | "bad";

/** Who must act next, by the words of the next step. */
export function whoseTurn({ because, next }: Verdict): string {
  const due = next.find((step) => !step.startsWith("nothing"));
  if (due === undefined)
    return because.length === 0 ? "nobody's: there is nothing to do" : "nobody's: the next run looks at it by itself";
  if (/\bin the CRM\b|\bfrom the CRM\b|the source of/u.test(due)) return "that of whoever keeps the CRM";
  if (/\bon the platform\b/u.test(due)) return "that of a provider of the platform";
  return "that of an operator of crm-sync";
}

/** `bad`: a person must act; `wait`: the program continues alone. */
export function moodOf(facts: ExplainFacts, { because, next }: Verdict): Mood {
  if (because.length === 0) return facts.record === null ? "bad" : "good";
  return next.some((step) => !step.startsWith("nothing")) ? "bad" : "wait";
}

/** Since when the oldest obstacle exists; without one, since when the present state exists. */
export function sinceWhen(facts: ExplainFacts): string | null {
  const { record, customer } = facts;
  const stops = [
    ...facts.quarantine.filter(({ state }) => state !== "resolved").map(({ firstSeen }) => firstSeen),
    ...(record?.deferred === null || record === null ? [] : [record.deferred.since]),
    ...(customer?.openOperations ?? []).map(({ createdAt }) => createdAt),
    ...ownHolds(facts)
      .filter(({ state }) => state === "open")
      .map(({ createdAt }) => createdAt),
    ...facts.unusable.map(({ firstSeen }) => firstSeen),
  ].sort();
  if (stops[0] !== undefined) return stops[0];
  const stands = [...facts.placed, ...facts.staffLinks, ...(facts.stream === "customers" ? facts.links : [])];
  return stands.find(({ to }) => to === null)?.from ?? record?.changedAt ?? null;
}
