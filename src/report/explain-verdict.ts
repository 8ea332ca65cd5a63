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

/** Why something waits or needs somebody, and the next step; each only where there is one. */
type Obstacle = readonly [why: string | undefined, next?: string];

/** Says what happened to a record, or why nothing did. The first obstacle comes first. */
export function verdictOf(facts: ExplainFacts, view: View = plainView): Verdict {
  const { record } = facts;
  const name = recordName(facts.stream, facts.key);
  const waiting = facts.quarantine.filter((row) => row.state !== "resolved");
  if (record === null && waiting.length === 0) return verdict(`the CRM has not given ${name}`, notGiven(facts));
  const unusable = waiting.map((row): Obstacle => [
    `it waits in quarantine since ${instantText(row.firstSeen, view)}: ${row.message} (${row.place})`,
    nextForQuarantine(row),
  ]);
  if (record === null) return verdict(`${name} was read and cannot be used`, unusable);
  const obstacles = [
    ...unusable,
    ...openObstacles(facts, view),
    ...deferralObstacles(facts, record, view),
    ...customerObstacles(facts),
    ...differenceObstacles(facts, view),
    ...readingObstacles(facts, record),
    ...leftOutObstacles(facts),
  ];
  const isPending = record.pending && obstacles.every(([why]) => why === undefined);
  if (isPending) obstacles.push(["it was ingested and waits for the next run to decide on it"]);
  return verdict(headlineOf(facts, record, waiting.length > 0, view), obstacles);
}

function verdict(headline: string, obstacles: readonly Obstacle[]): Verdict {
  const because = new Set(obstacles.flatMap(([why]) => why ?? []));
  const next = new Set(obstacles.flatMap(([, step]) => step ?? []));
  return { headline, because: [...because], next: [...next] };
}

function notGiven(facts: ExplainFacts): Obstacle[] {
  const named = facts.dependents.reduce((sum, row) => sum + row.count, 0) + facts.unusable.length;
  return [
    ...facts.similar.map(({ stream, key }): Obstacle => [
      undefined,
      `${explainCommand(stream, key)}, if you meant that one`,
    ]),
    [
      "no reading of a source held a record with this id",
      "crm-sync check tries the sources; the record may not be in them, or its id may be another one",
    ],
    ...leftOutObstacles(facts),
    [
      named === 0
        ? undefined
        : `${counted(named, "record")} of the CRM ${named === 1 ? "names" : "name"} it as the customer`,
    ],
  ];
}

/** The holds of a customer, or of the operations of an order or person. */
export function ownHolds({ stream, operations, customer }: ExplainFacts): readonly HoldFacts[] {
  const own = new Set(operations.newest.map(({ questionId }) => questionId));
  return customer?.holds.filter(({ id }) => stream === "customers" || own.has(id)) ?? [];
}

function openObstacles(facts: ExplainFacts, view: View): Obstacle[] {
  const { customer, operations, record } = facts;
  const open = customer?.openOperations.map((row): Obstacle => {
    const what = `${row.endpoint} on ${row.subject} (${row.id}) is ${row.state}${also(": ", row.outcomeMessage)}`;
    return [`${what}; nothing else is sent for this customer until it is settled`, nextForOperation(row)];
  });
  const held = ownHolds(facts).flatMap((hold): Obstacle[] =>
    hold.state === "rejected" ? [] : [[`hold ${hold.id} (${hold.state}): ${hold.explanation}`, nextForHold(hold)]],
  );
  const [last] = operations.newest;
  if (last?.state !== "rejected") return [...(open ?? []), ...held];
  const answer = `${also(" with ", last.outcomeCode)}${also(": ", last.outcomeMessage)}`;
  const why = `${last.endpoint} was rejected on ${instantText(last.updatedAt, view)}${answer}`;
  // The deferral already gives the next step for this rejection.
  const isDeferred = record !== null && record.deferred !== null;
  return [...(open ?? []), ...held, isDeferred ? [why] : [why, nextForOperation(last)]];
}

function deferralObstacles(facts: ExplainFacts, record: RecordFacts, view: View): Obstacle[] {
  if (record.deferred === null) return [];
  const { code, reason, since } = record.deferred;
  const open = facts.customer?.openOperations.length;
  if (code === "operation.open" && open === 0) return [[operationSettled, nextForDeferral("run.stopped")]];
  const why = `it waits since ${instantText(since, view)}: ${reason} (${code})`;
  const holds = ownHolds(facts);
  const isHeld = code === "order.moving" && holds.some(({ state }) => state === "open");
  // The open operation or the hold above already gives the next step.
  if (isHeld || (code === "operation.open" && open !== undefined)) return [[why]];
  const rejected = holds.flatMap(({ id, state }) => (state === "rejected" ? [id] : []));
  const cause = code === "order.moving" && rejected.length > 0 ? "hold.rejected" : code;
  const about = { customer: record.customer, record: { stream: facts.stream, key: facts.key }, reason };
  return [[why, nextForDeferral(cause, { ...about, holds: rejected })]];
}

/** A record that `skip` leaves out keeps its last form. It is neither absent nor in quarantine. */
function leftOutObstacles({ leftOut, stream, key, record }: ExplainFacts): Obstacle[] {
  const stays = record === null ? "" : ", and what is left out stays as it was last";
  return leftOut.map(({ source, count }) => [
    `the last reading of ${source}/${stream} left ${counted(count, "record")} out by its skip, maybe this one${stays}`,
    `crm-sync map ${source} ${stream} --record ${key.id} shows whether it is left out`,
  ]);
}

/** A list is cut at 20 rows. */
function atLeast(listed: number): string {
  return listed === 20 ? "at least " : "";
}

/** A problem of the customer also stops its orders and staff. */
function customerObstacles({ stream, customer, unusable, waiting: listed }: ExplainFacts): Obstacle[] {
  if (customer === null || stream === "customers") {
    const bad = unusable.length;
    const waiting = listed.filter((item) => item.state !== "quarantined").length;
    const badOnes = `${atLeast(bad)}${counted(bad, "record")} of this customer cannot be used`;
    const waitingOnes = `${atLeast(listed.length)}${counted(waiting, "order or staff record", "orders and staff records")}`;
    return [
      bad === 0
        ? [undefined]
        : [
            `${badOnes} and ${bad === 1 ? "waits" : "wait"} in quarantine (listed below)`,
            nextForQuarantine(bad === 1 ? unusable[0] : undefined),
          ],
      [
        waiting === 0
          ? undefined
          : `${waitingOnes} of this customer ${waiting === 1 ? "waits" : "wait"} (listed below)`,
      ],
    ];
  }
  const { record, ownQuarantine: row } = customer;
  const name = `its ${recordName("customers", customer.key)}`;
  const explained = explainCommand("customers", customer.key);
  if (record !== null && record.state !== "current") return [[`${name} is ${record.state}`, explained]];
  if (record !== null) return record.deferred === null ? [] : [[`${name} waits: ${record.deferred.reason}`, explained]];
  if (row !== null)
    return [[`${name} was read and waits in quarantine: ${row.message} (${row.place})`, nextForQuarantine(row)]];
  return [
    [
      `${name} has not come from the CRM: no reading of a source held it`,
      "check that the source of the customers has this customer: crm-sync check",
    ],
  ];
}

const mostDifferences = 5;

function differenceObstacles({ differences }: ExplainFacts, view: View): Obstacle[] {
  const next = "crm-sync report reconciliation has each difference; nothing is sent again by itself";
  const more = differences.length - mostDifferences;
  return [
    ...differences.slice(0, mostDifferences).map(({ level, subject, detail, since }): Obstacle => {
      const what = subject === "" ? level : `${level} ${subject}`;
      return [`the platform differs since ${instantText(since, view)}: ${what}: ${detail}`, next];
    }),
    [more > 0 ? `the platform differs in ${counted(more, "more thing")}` : undefined],
  ];
}

function readingObstacles({ read }: ExplainFacts, { state, source, missed }: RecordFacts): Obstacle[] {
  const reads = counted(missed, "complete reading");
  const lacked =
    state === "absent"
      ? `it is gone from the source ${source}: ${reads} in a row lacked it`
      : missed > 0
        ? `the last ${reads} of ${source} lacked it; it counts as gone only after more of them`
        : undefined;
  if (read === null || read.finishedAt === null || (read.complete && read.problem === null)) return [[lacked]];
  const how = `was not complete${also(": ", read.problem)}`;
  return [[lacked], [`the last reading of ${read.source} ${how}; a change after it is not known here`, whenSourceDown]];
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
    ...facts.differences.map(({ since }) => since),
  ].sort();
  if (stops[0] !== undefined) return stops[0];
  const stands = [...facts.placed, ...facts.staffLinks, ...(facts.stream === "customers" ? facts.links : [])];
  return stands.find(({ to }) => to === null)?.from ?? record?.changedAt ?? null;
}
