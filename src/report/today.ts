import { formatKey, parseKey } from "../crm/keys.ts";
import type { AssumptionStanding } from "./assumptions.ts";
import { byHand, troublesOf } from "./last-runs.ts";
import { nextForOperation } from "./waiting.ts";
import { nextForHold, whenDown, whenSourceDown } from "./next-steps.ts";
import { nextForOpen, openWhat, ownerName, requestOpen, type OpenRecords } from "./open.ts";
import { pagePath, recordPath } from "./page-links.ts";
import { runVerdict } from "./runs.ts";
import { rejectedOf, type StatusFacts } from "./status.ts";
import { ageOf, counted, rejectedText } from "./text.ts";

export interface Waiting {
  what: string;
  /** It may contain text of the CRM or of a service. */
  why?: string;
  since: string;
  owner: string;
  cure: string;
  page: string;
  decision?: string;
  tone: "wait" | "bad";
}

/** `good` only if nothing known contradicts it. */
export interface StateSentence {
  tone: "good" | "wait" | "bad" | "on";
  text: string;
  notes: string[];
}

export interface TodayFacts {
  status: StatusFacts;
  assumptions: readonly Pick<AssumptionStanding, "id" | "contradicted" | "stops">[];
  jobs: readonly { job: string }[];
  notFired: readonly { job: string; since: string }[];
}

const mostOfEach = 10;
const mostNamed = 3;

/** Open issues, worst first, at most `most` of each sort. `more`: how many are left out. */
export function waitingOf(facts: TodayFacts, now: string, most = mostOfEach): { items: Waiting[]; more: number } {
  const sorts = [
    troubledRuns(facts.status),
    operationsInDoubt(facts.status, now),
    openHolds(facts.status),
    incompleteSources(facts.status),
    openCircuits(facts.status),
    untold(facts.status, now),
    requested(facts.status),
    contradicted(facts),
    openGroups(facts.status),
  ];
  const items = sorts.flatMap((sort) => sort.slice(0, most));
  const all = sorts.reduce((sum, sort) => sum + sort.length, 0);
  return { items: items.toSorted(worstFirst), more: all - items.length };
}

/** Problems for an operator first, then decisions, other problems, and the rest. Newest first within each. */
function worstFirst(one: Waiting, other: Waiting): number {
  return rankOf(one) - rankOf(other) || (one.since > other.since ? -1 : 1);
}

function rankOf({ tone, decision, owner }: Waiting): number {
  if (tone === "bad") return owner === "operator" ? 0 : 2;
  return decision === undefined ? 3 : 1;
}

function troubledRuns({ lastRuns }: StatusFacts): Waiting[] {
  return troublesOf(lastRuns).flatMap(({ run, troubles }) =>
    troubles.map(({ what, next }) => {
      const since = run.finishedAt ?? run.startedAt;
      return { what, since, owner: "operator", cure: next, page: pagePath.run(run.id), tone: "bad" as const };
    }),
  );
}

/** Parked operations first. `status` lists the oldest few; this counts the rest. */
function operationsInDoubt({ openOperations, operations, running }: StatusFacts, now: string): Waiting[] {
  // A run in progress may be sending them.
  const states = running.length === 0 ? ["unknown", "sending"] : ["unknown"];
  return [["parked"], states].flatMap((those) => {
    const isParked = those.includes("parked");
    const owner = isParked ? "operator" : "program";
    const tone = isParked ? "bad" : "wait";
    const listed = openOperations.filter(({ state }) => those.includes(state));
    const count = operations.filter(({ state }) => those.includes(state)).reduce((sum, row) => sum + row.count, 0);
    const what = `${counted(count - listed.length, "more operation")} ${isParked ? "parked" : "whose outcome is open"}`;
    const rest = { what, since: listed.at(-1)?.createdAt ?? now, owner, cure: "crm-sync settle list", page: "/settle" };
    return [
      ...(count > listed.length ? [{ ...rest, tone } satisfies Waiting] : []),
      ...listed.map((row): Waiting => ({
        what: `operation ${row.id} (${row.kind}) for ${formatKey(row.customer)} is ${row.state}`,
        why: row.outcomeMessage ?? row.reason,
        since: row.createdAt,
        owner,
        cure: nextForOperation(row),
        page: pagePath.settle(row.id),
        ...(isParked ? { decision: "Settle it" } : {}),
        tone,
      })),
    ];
  });
}

function openHolds({ holds }: StatusFacts): Waiting[] {
  return holds
    .filter(({ state }) => state === "open")
    .map((hold) => ({
      what: `hold ${hold.id} on ${formatKey(hold.customer)}`,
      why: hold.explanation,
      since: hold.createdAt,
      owner: "operator",
      cure: nextForHold(hold),
      page: pagePath.hold(hold.id),
      decision: "Approve or reject",
      tone: "wait",
    }));
}

function incompleteSources({ reads }: StatusFacts): Waiting[] {
  return reads
    .filter((read) => read.finishedAt !== null && (!read.complete || read.problem !== null))
    .map((read) => ({
      what: read.doubted
        ? `the read of ${read.source}/${read.stream} is not believed`
        : `${read.source}/${read.stream} was not read completely`,
      ...(read.problem === null ? {} : { why: read.problem }),
      since: read.startedAt,
      owner: "CRM",
      cure: read.doubted
        ? "correct the export or the mapping; the next run reads again. Use the command only if the read is right"
        : whenSourceDown,
      page: pagePath.source(read.source),
      tone: "bad",
    }));
}

function openCircuits(facts: StatusFacts): Waiting[] {
  return facts.openCircuits.map(({ service, since, reason }) => ({
    what: `the circuit of ${service} is open: nothing is sent to it`,
    why: reason,
    since,
    owner: "platform",
    cure: whenDown,
    page: pagePath.today(),
    tone: "bad",
  }));
}

function untold({ deliveries, headPlaces, erasedBytesOf }: StatusFacts, now: string): Waiting[] {
  const places = [
    ...deliveries.map(({ kind, name, ...state }) =>
      kind === "channel"
        ? {
            what: `${name} does not deliver alerts`,
            cure: `crm-sync alerts test ${name}`,
            page: "/configuration",
            ...state,
          }
        : {
            what: `the dead man's switch ${name} is not called`,
            cure: "look at its address",
            page: "/configuration",
            ...state,
          },
    ),
    ...headPlaces.map(({ place, ...state }) => {
      return {
        what: `${place} does not get the head of the audit log`,
        cure: "look at the place",
        page: "/audit",
        ...state,
      };
    }),
  ];
  const own = { owner: "configuration", tone: "bad" } as const;
  const items = places.flatMap(({ what, problem: why, failingSince, cure, page }): Waiting[] =>
    why === null ? [] : [{ what, why, since: failingSince ?? now, cure, page, ...own }],
  );
  if (erasedBytesOf === undefined) return items;
  const colon = erasedBytesOf.indexOf(":");
  const option = erasedBytesOf.slice(0, colon) === "customer" ? "customer" : "person";
  const erased = {
    what: `bytes of erased values of ${erasedBytesOf} may be left in the ledger file`,
    why: "an erasure ended before the file was written anew",
    since: now,
    cure: `crm-sync audit erase --${option} ${erasedBytesOf.slice(colon + 1)} --reason TEXT`,
    page: "/audit",
  };
  return [...items, { ...erased, ...own }];
}

function requested({ requests }: StatusFacts): Waiting[] {
  return requests.map(({ noun, due, oldest }) => ({
    what: `${counted(due, noun)} asked for and not done`,
    since: oldest,
    owner: "program",
    cure: "the next run sends it, unless it was refused",
    page: "/plan",
    tone: "wait",
  }));
}

function contradicted({ assumptions }: TodayFacts): Waiting[] {
  return assumptions.flatMap(({ id, contradicted: against, stops }) =>
    against === null
      ? []
      : {
          what: `${against.evidence} (${id})`,
          why: `this contradicts an assumption of crm-sync; it stops ${stops}`,
          since: against.since,
          owner: "configuration",
          cure:
            `ask the provider of the service what ${id === "A2" ? "the code means" : "is true, and correct the setting"}. ` +
            `Then crm-sync assumptions accept ${id} --reason TEXT`,
          page: "/assumptions",
          tone: "bad" as const,
        },
  );
}

function openGroups({ open }: StatusFacts): Waiting[] {
  return open
    .filter((group) => group.counts && group.code !== requestOpen)
    .map((group) => ({
      what: `${openWhat(group)}: ${named(group)}`,
      ...(group.examples[0] === undefined ? {} : { why: group.examples[0].reason }),
      since: group.since,
      owner: ownerName(group.owner),
      cure: nextForOpen(group),
      page: pageOf(group),
      ...(group.standing === "quarantined" ? { decision: "Look at the rows" } : {}),
      tone: group.standing === "deferred" ? "wait" : "bad",
    }));
}

function named({ examples, count }: OpenRecords): string {
  const shown = examples.slice(0, mostNamed).map(({ record }) => record);
  return shown.join(", ") + (count > shown.length ? ` and ${count - shown.length} more` : "");
}

function pageOf({ standing, stream, examples }: OpenRecords): string {
  const record = examples[0]?.record;
  if (standing === "quarantined" || record?.includes("/") !== true) return "/quarantine";
  return recordPath(stream, parseKey(record));
}

/** The state in one sentence. It is never good if `status`, `/healthz` or an exit code reports a problem. */
export function stateSentence(facts: TodayFacts, now: string): StateSentence {
  const { status } = facts;
  const { items } = waitingOf(facts, now, Infinity);
  const count = items.length;
  const wrong = wrongBeside(facts, count, now);
  const notes = [...wrong, ...hintsOf(facts)];
  if (count > 0) {
    const oldest = ageOf(
      items.reduce((least, { since }) => (since < least ? since : least), now),
      now,
    );
    const what = counted(count, "open issue");
    const tone = items.some((item) => item.tone === "bad") ? "bad" : "wait";
    return { tone, text: `${what}, the oldest for ${oldest}.`, notes };
  }
  if (wrong.length > 0) return { tone: "wait", text: "Nothing needs a person, but not everything is in order.", notes };
  if (status.lastRuns.length === 0) return { tone: "wait", text: "No job has run yet, so nothing is known.", notes };
  if (status.running.length > 0) {
    const on = status.running.map(({ job, startedAt }) => `${job} has been on for ${ageOf(startedAt, now)}`);
    return { tone: "on", text: `Nothing waits for a person; ${on.join(", ")}.`, notes };
  }
  const newest = status.lastRuns.map((run) => run.finishedAt ?? run.startedAt).reduce((a, b) => (a > b ? a : b));
  const text = `Nothing waits for a person; the last run of each job ended well, the newest ${ageOf(newest, now)} ago.`;
  return { tone: "good", text, notes };
}

function wrongBeside({ status, notFired }: TodayFacts, waiting: number, now: string): string[] {
  const notes: string[] = [];
  for (const run of status.lastRuns) {
    const { tone, words } = runVerdict(run);
    if (!byHand(run) && tone !== "good" && tone !== "on") notes.push(`The last run of ${run.job}: ${words}.`);
  }
  // While a run is in progress, other jobs wait for their turn.
  if (status.running.length === 0)
    for (const { job, since } of notFired)
      notes.push(
        `${job} should have fired ${ageOf(since, now)} ago and did not: look whether crm-sync serve is running.`,
      );
  const differing = status.differences.reduce((sum, { count }) => sum + count, 0);
  if (differing > 0) notes.push(`The platform shows ${counted(differing, "thing")} otherwise than it was left.`);
  const alerts = waiting === 0 ? status.notices.length : 0;
  if (alerts > 0) notes.push(`${counted(alerts, "alert")} ${alerts === 1 ? "stands" : "stand"}.`);
  return notes;
}

function hintsOf({ status, jobs }: TodayFacts): string[] {
  const undone = rejectedOf(status.holds);
  const unrun = jobs.filter(({ job }) => !status.lastRuns.some((run) => run.job === job)).map(({ job }) => job);
  return [
    ...(unrun.length === 0 ? [] : [`Not run yet: ${unrun.join(", ")}.`]),
    ...(undone === 0 ? [] : [`${rejectedText(undone)}.`]),
    ...(status.nextRun === 0 ? [] : [`The next run takes up ${counted(status.nextRun, "record")}.`]),
    ...status.cutReads.map(({ source, stream }) => `${source}, ${stream} is read in part.`),
  ];
}
