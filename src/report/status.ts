import type { DriftClass } from "./reconciliation/case.ts";
import type { Stream } from "../crm/model.ts";
import type { AbsenceFacts } from "./absence.ts";
import { absenceTable } from "./absence.ts";
import type {
  AuditHeadFacts,
  CutReadFacts,
  DeliveryFacts,
  HeadPlaceFacts,
  HoldFacts,
  OperationFacts,
  ReadFacts,
  RunFacts,
  TakenFacts,
} from "./facts.ts";
import { troubleOf } from "./last-runs.ts";
import { nextForHold, nextForOperation } from "./next-steps.ts";
import type { OpenRecords } from "./open.ts";
import { nextForOpen, openCode, openSentence, requestOpen } from "./open.ts";
import { readsTable } from "./runs.ts";
import { renderTable } from "./table.ts";
import type { Lines, View } from "./text.ts";
import {
  ageOf,
  also,
  counted,
  instantText,
  plainView,
  printable,
  productsCounted,
  rejectedText,
  section,
  textOf,
} from "./text.ts";
import { holdsText } from "./waiting.ts";

/** The state of the ledger at a glance. */
export interface StatusFacts {
  path: string;
  identity: string | null;
  audit: AuditHeadFacts | null;
  /** Runs that have not ended; one whose process died stands here until the next run finds it. */
  running: RunFacts[];
  /** The newest run of each job. */
  lastRuns: RunFacts[];
  slots: { job: string; lastSlot: string; firedAt: string }[];
  /** The newest reading of each stream of each source. */
  reads: ReadFacts[];
  /** Readings that are in part done: one that is on, or was cut. */
  cutReads?: CutReadFacts[];
  /** For each configured stream: whether it is judged what is gone. */
  absence: AbsenceFacts[];
  /** Open, approved and then rejected. */
  holds: HoldFacts[];
  /** How many operations are sending, unknown, parked, planned or held. */
  operations: { state: string; count: number }[];
  /** The oldest operations that are sending, unknown or parked, at most 20. */
  openOperations: OperationFacts[];
  /** Every record that is not done, once, by how it stands and why. */
  open: OpenRecords[];
  /** Records that nothing stops and that the next run takes up. */
  nextRun: number;
  records: { stream: Stream; state: string; count: number; pending: number }[];
  /** `inUse`: of units that have not ended. */
  pool: { free: number; inUse: number };
  /** `orders`: placed ones of which something stands; `removed`: those of which everything was removed. */
  known: { enterprises: number; orders: number; removed: number; staff: number; assignments: number };
  /** What people asked for that is still to be sent, by its noun; `oldest` is when the first was asked for. */
  requests: { noun: string; due: number; oldest: string }[];
  /** Customers read back by verify; `oldest` is the reading that is the longest ago. */
  verified: { customers: number; incomplete: number; oldest: string | null; newest: string | null };
  /** What readings back showed otherwise than it was left, by class; `since` is when the first of it was seen. */
  differences: { class: DriftClass; count: number; since: string }[];
  /**
   * Open circuits of services. `probeAt` is when the process that opened it tries the service again, as long as that
   * process lives.
   */
  openCircuits: { service: string; since: string; reason: string; probeAt: string }[];
  notices: { key: string; since: string; summary: string }[];
  /** Records of which something was noted as done by hand and not read back; `oldest`: when the first note was made. */
  byHand?: { stream: Stream; count: number; oldest: string }[];
  /** Places outside the database, and the head of the audit record that each got last. */
  headPlaces?: HeadPlaceFacts[];
  /** Ways of telling people and dead man's switches. */
  deliveries?: DeliveryFacts[];
  /** Whose erased bytes may be left in the file of the ledger, as the audit record names a customer or a person. */
  erasedBytesOf?: string;
  /** What was taken away within 24 hours and 7 days, where something was. */
  taken?: TakenFacts[];
}

/** Something that waits for a person: what it is and what to type. */
interface Attention {
  what: string;
  next: string;
}

/** Places outside the database that do not get the head of the audit record. */
function failingPlaces({ headPlaces = [] }: StatusFacts, now: string): Attention[] {
  return headPlaces.flatMap(({ place, problem, failingSince }) => {
    if (problem === null) return [];
    const since = ageOf(failingSince ?? now, now);
    return [
      {
        what: `${place} has not got the head of the audit record for ${since}: ${printable(problem)}`,
        next: "look at the place; the next run of a job tries it again (`audit.heads`)",
      },
    ];
  });
}

/** Ways by which people are not told, and dead man's switches that are not called. */
function failingDeliveries({ deliveries = [] }: StatusFacts, now: string): Attention[] {
  return deliveries.flatMap(({ kind, name, problem, failingSince }) => {
    if (problem === null) return [];
    const since = `for ${ageOf(failingSince ?? now, now)}: ${printable(problem)}`;
    return kind === "way"
      ? [{ what: `${name} has not delivered alerts ${since}`, next: `crm-sync alerts test ${name}` }]
      : [{ what: `the dead man's switch ${name} was not called ${since}`, next: "look at its address" }];
  });
}

/** An erasure that ended before the file of the ledger was written anew. */
function bytesLeft({ erasedBytesOf: whose }: StatusFacts): Attention[] {
  if (whose === undefined) return [];
  const [kind, key] = [whose.slice(0, whose.indexOf(":")), whose.slice(whose.indexOf(":") + 1)];
  return [
    {
      what: `bytes of erased values of ${printable(whose)} may be left in the ledger file`,
      next: `crm-sync audit erase --${kind === "customer" ? "customer" : "person"} ${printable(key)} --reason TEXT`,
    },
  ];
}

/** What in the ledger waits for a person, the most urgent first. */
export function attentionOf(facts: StatusFacts, now: string, view: View = plainView): Attention[] {
  const items: Attention[] = [];
  for (const run of facts.lastRuns) {
    // Customers that a sync did not reach stand below with their records.
    for (const trouble of troubleOf(run))
      if (trouble.kind !== "service-down" || run.kind === "verify")
        items.push({ what: trouble.what, next: trouble.next });
  }
  const parked = facts.operations.find((item) => item.state === "parked")?.count ?? 0;
  if (parked > 0) {
    items.push({ what: `${counted(parked, "operation")} parked: a person decides`, next: "crm-sync settle list" });
  }
  for (const hold of facts.holds.filter((item) => item.state === "open")) {
    items.push({
      what: `hold ${hold.id} on ${hold.customer.namespace}/${hold.customer.id}: ${hold.explanation}`,
      next: nextForHold(hold),
    });
  }
  for (const read of facts.reads.filter(
    (item) => item.finishedAt !== null && (!item.complete || item.problem !== null),
  )) {
    items.push({
      what: `source ${read.source}, ${read.stream}: not read completely${also(" (", read.problem, ")")}`,
      next: read.doubted ? "export it again, or the command that is named" : "crm-sync check",
    });
  }
  for (const circuit of facts.openCircuits) {
    const since = instantText(circuit.since, view);
    items.push({
      what: `the circuit of ${circuit.service} is open since ${since}, because ${circuit.reason}`,
      next:
        "nothing for now: crm-sync tries again. If it goes on, run crm-sync check, " +
        "then the network and the operator of the service",
    });
  }
  items.push(...failingPlaces(facts, now), ...failingDeliveries(facts, now), ...bytesLeft(facts));
  for (const { noun, due, oldest } of facts.requests) {
    items.push({
      what: `${counted(due, noun)} asked for and not done, the first ${ageOf(oldest, now)} ago`,
      next: "the next run sends it, unless it was refused, or says why it does not",
    });
  }
  for (const group of facts.open.filter((item) => item.counts && item.code !== requestOpen))
    items.push({ what: openSentence(group, now), next: nextForOpen(group) });
  return items;
}

/** What is in part read, and what becomes of it. */
function cutReadLines({ cutReads = [] }: StatusFacts, now: string): string[] {
  return cutReads.map(
    ({ source, stream, rows, beganAt, reachedAt }) =>
      `${printable(source)}, ${stream}: ${counted(rows, "row")} so far, begun ${ageOf(beganAt, now)} ago, the last ` +
      `${ageOf(reachedAt, now)} ago; where it was cut, the next run goes on there (\`limits.resumeWithin\`)`,
  );
}

/** The status for people. `now` gives the ages. */
export function statusText(facts: StatusFacts, now: string, view: View = plainView): string {
  const lines: Lines = [];
  lines.push(`ledger    ${printable(facts.path)}${facts.identity === null ? "" : ` (${facts.identity})`}`);
  lines.push(
    facts.audit === null
      ? "audit     no entries yet"
      : `audit     ${counted(facts.audit.sequence, "entry", "entries")}, head ${facts.audit.hash}`,
  );
  for (const { place, sequence, keptAt } of facts.headPlaces ?? [])
    if (sequence !== null && keptAt !== null)
      lines.push(`heads     ${place} has that of entry ${sequence} (${ageOf(keptAt, now)})`);
  const { enterprises, orders, removed, staff, assignments } = facts.known;
  const gone = removed === 0 ? "" : ` (${removed} more removed again)`;
  const placed = `${counted(enterprises, "enterprise")}, ${counted(orders, "order")} placed${gone}`;
  lines.push(`known     ${placed}, ${counted(staff, "staff member")}, ${counted(assignments, "assignment")}`);
  lines.push(`pool      ${counted(facts.pool.free, "asset number")} free, ${facts.pool.inUse} in use`);
  for (const line of takenLines(facts.taken ?? [])) lines.push(line);
  lines.push(verifiedLine(facts, now));
  if (facts.differences.length > 0) lines.push(differsLine(facts, now));
  if ((facts.byHand ?? []).length > 0) lines.push(byHandLine(facts.byHand ?? [], now));
  for (const line of openCircuitLines(facts, now, view)) lines.push(line);
  for (const run of facts.running) {
    const since = instantText(run.startedAt, view);
    lines.push(`running   ${run.job} (${run.id}) since ${since}; where its process died, the next run ends it`);
  }
  lines.push(section("last runs", tableLines(lastRunsTable(facts, now, view))));
  lines.push(section("sources", tableLines(readsTable(facts.reads, now, view))));
  lines.push(section("read in part", cutReadLines(facts, now)));
  lines.push(section("missing in the sources", tableLines(absenceTable(facts.absence, now, view))));
  lines.push(section("records", tableLines(recordsTable(facts, view))));
  for (const standing of ["quarantined", "rejected", "deferred"] as const)
    lines.push(
      section(standing === "quarantined" ? "waits in quarantine" : standing, openLines(facts, standing, now, view)),
    );
  lines.push(section("operations", operationLines(facts, now, view)));
  const { rejected = [], held = [] } = Object.groupBy(facts.holds, ({ state }) =>
    state === "rejected" ? "rejected" : "held",
  );
  if (held.length > 0) lines.push(section("held for a person", holdsText(held, view).split("\n")));
  if (rejected.length > 0)
    lines.push(section("rejected by a person, so not done", holdsText(rejected, view).split("\n")));
  const attention = attentionOf(facts, now, view);
  const { nextRun } = facts;
  if (nextRun > 0) lines.push("", `${counted(nextRun, "record")} ${nextRun === 1 ? "waits" : "wait"} for the next run`);
  const undone = rejectedOf(facts.holds);
  if (attention.length === 0)
    lines.push("", `nothing waits for a person${undone === 0 ? "" : `; ${rejectedText(undone)}`}`);
  else
    lines.push(
      section(
        "waits for a person",
        attention.flatMap((item) => [printable(item.what), `  → ${printable(item.next)}`]),
      ),
    );
  return textOf(lines);
}

/** How many operations that the CRM wants stay undone because a person rejected them. */
export function rejectedOf(holds: StatusFacts["holds"]): number {
  return holds
    .filter(({ state, ofUndo }) => state === "rejected" && !ofUndo)
    .reduce((sum, { count }) => sum + count, 0);
}

function tableLines(table: string | undefined): string[] {
  return table === undefined ? [] : table.split("\n");
}

/** What was taken away without a person's approval, beside what the limits of days allow. */
function takenLines(taken: readonly TakenFacts[]): string[] {
  return taken.map(
    ({ thing, within, count, allowed }) =>
      `taken     ${counted(count, thing.slice(0, -1))} within ${within === "day" ? "24 hours" : "7 days"}, of ${allowed} that need no approval` +
      (thing === "products" ? ` (${productsCounted})` : ""),
  );
}

function verifiedLine(facts: StatusFacts, now: string): string {
  const { customers, incomplete, oldest, newest } = facts.verified;
  if (oldest === null || newest === null) return "verified  no customer was read back yet: crm-sync run verify";
  const doubt = incomplete === 0 ? "" : `; ${counted(incomplete, "reading")} failed last`;
  const ages = `the last ${ageOf(newest, now)} ago, the oldest ${ageOf(oldest, now)} ago`;
  return `verified  ${counted(customers, "customer")} read back, ${ages}${doubt}`;
}

function differsLine({ differences }: StatusFacts, now: string): string {
  const parts = differences.map(({ class: named, count, since }) => `${count} ${named} (${ageOf(since, now)})`);
  return `differs   ${parts.join(", ")}: crm-sync report reconciliation has each of them`;
}

function byHandLine(byHand: NonNullable<StatusFacts["byHand"]>, now: string): string {
  const parts = byHand.map(({ stream, count, oldest }) => `${count} in ${stream} (${ageOf(oldest, now)})`);
  const what = `unproven  a person said it is done, not read back yet: ${parts.join(", ")}`;
  return `${what}; crm-sync report exceptions names each`;
}

/**
 * Calls are made by runs alone, so an open circuit is tried again by the run that is on, or else by the next one: also
 * where the process that opened it is gone.
 */
function openCircuitLines(facts: StatusFacts, now: string, view: View): string[] {
  return facts.openCircuits.map((circuit) => {
    const when =
      facts.running.length === 0
        ? "the next run tries it again"
        : circuit.probeAt > now
          ? `a probe at about ${instantText(circuit.probeAt, view)}`
          : "the next call is a probe; where the process of the run died, the next run tries it again";
    const since = `${instantText(circuit.since, view)} (${ageOf(circuit.since, now)})`;
    return `circuit   ${circuit.service}: open since ${since}, because ${printable(circuit.reason)}; ${when}`;
  });
}

function lastRunsTable(facts: StatusFacts, now: string, view: View): string | undefined {
  if (facts.lastRuns.length === 0) return undefined;
  const slots = new Map(facts.slots.map((slot) => [slot.job, slot.lastSlot]));
  const lastFired = (job: string): string => {
    const slot = slots.get(job);
    return slot === undefined ? "" : instantText(slot, view);
  };
  return renderTable(
    [
      { title: "job" },
      { title: "run" },
      { title: "state" },
      { title: "exit", align: "right" },
      { title: "started" },
      { title: "ago" },
      { title: "last fire time" },
    ],
    facts.lastRuns.map((run) => [
      run.job,
      run.id,
      run.state,
      run.exitCode,
      instantText(run.startedAt, view),
      ageOf(run.startedAt, now),
      lastFired(run.job),
    ]),
    view,
  );
}

function recordsTable(facts: StatusFacts, view: View): string | undefined {
  if (facts.records.length === 0) return undefined;
  return renderTable(
    [
      { title: "stream" },
      { title: "state" },
      { title: "records", align: "right" },
      { title: "for the next run", align: "right" },
    ],
    facts.records.map((row) => [row.stream, row.state, row.count, row.pending]),
    view,
  );
}

function openLines(facts: StatusFacts, standing: OpenRecords["standing"], now: string, view: View): string[] {
  const groups = facts.open.filter((group) => group.standing === standing);
  if (groups.length === 0) return [];
  const table = renderTable(
    [
      { title: "stream" },
      { title: "code" },
      { title: "records", align: "right" },
      { title: "oldest" },
      { title: "owner" },
      { title: "such as" },
      { title: "because" },
    ],
    groups.map((row) => [
      row.stream,
      openCode(row),
      row.count,
      ageOf(row.since, now),
      row.owner,
      row.examples[0]?.record,
      row.examples[0]?.reason,
    ]),
    view,
  );
  return table.split("\n");
}

function operationLines(facts: StatusFacts, now: string, view: View): string[] {
  const counts = facts.operations.map((item) => `${item.count} ${item.state}`).join(", ");
  if (facts.openOperations.length === 0) return counts === "" ? [] : [counts];
  const table = renderTable(
    [
      { title: "operation" },
      { title: "call" },
      { title: "subject" },
      { title: "state" },
      { title: "age" },
      { title: "next" },
    ],
    facts.openOperations.map((row) => [
      row.id,
      row.endpoint,
      row.subject,
      row.state,
      ageOf(row.createdAt, now),
      nextForOperation(row),
    ]),
    view,
  );
  return [counts, ...table.split("\n")];
}
