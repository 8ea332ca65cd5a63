import { absenceTable, type StatusFacts } from "./status.ts";
import type { TakenFacts } from "./facts.ts";
import { holdsText, nextForOperation } from "./waiting.ts";
import { type OpenRecords, openCode } from "./open.ts";
import { readsTable, signs } from "./runs.ts";
import {
  ageOf,
  counted,
  instantText,
  numberText,
  painted,
  plainView,
  printable,
  productsCounted,
  renderTable,
  section,
  textOf,
  type Lines,
  type View,
} from "./text.ts";
import { stateSentence, waitingOf, type TodayFacts, type Waiting } from "./today.ts";

const mostLines = 40;
const colourOf = { bad: "worse", wait: "waits", on: "waits", good: "better" } as const;

/** The status for people: one sentence, then the open issues, worst first. `all`: every issue, and the figures. */
export function statusText(
  facts: TodayFacts,
  now: string,
  { all = false, view = plainView }: { all?: boolean; view?: View } = {},
): string {
  const { text, notes, tone } = stateSentence(facts, now);
  const { items } = waitingOf(facts, now, Infinity);
  const lines = [painted(colourOf[tone], text, view), ...notes.map(printable)];
  let left = items.length;
  for (const [next, those] of Map.groupBy(items, ({ cure }) => cure)) {
    // Three lines stay free: the next step, the number of further issues, and the command that shows them.
    const room = all ? Infinity : mostLines - lines.length - 3;
    if (room < 1) break;
    const shown = those.slice(0, room);
    lines.push(...shown.map((item) => itemLine(item, now, view)), `  → ${printable(next)}`);
    left -= shown.length;
  }
  if (left > 0) lines.push(`and ${left} more`);
  if (all) return textOf([...lines, "", ...detailLines(facts.status, now, view)]);
  return textOf([...lines, "crm-sync status --all shows everything"]);
}

function itemLine({ what, why = "", since, owner, tone }: Waiting, now: string, view: View): string {
  const because = why === "" ? "" : `: ${printable(why)}`;
  return `${painted(colourOf[tone], signs[tone], view)} ${printable(what)} (${ageOf(since, now)}, ${owner})${because}`;
}

function cutReadLines({ cutReads }: StatusFacts, now: string): string[] {
  return cutReads.map(
    ({ source, stream, rows, beganAt, reachedAt }) =>
      `${printable(source)}, ${stream}: ${counted(rows, "row")} so far, begun ${ageOf(beganAt, now)} ago, the last ` +
      `${ageOf(reachedAt, now)} ago; where it was cut, the next run goes on there (\`limits.resumeWithin\`)`,
  );
}

function detailLines(facts: StatusFacts, now: string, view: View): Lines {
  const lines: Lines = [];
  lines.push(`ledger    ${printable(facts.path)}${facts.identity === null ? "" : ` (${facts.identity})`}`);
  lines.push(
    facts.audit === null
      ? "audit     no entries yet"
      : `audit     ${counted(facts.audit.sequence, "entry", "entries")}, head ${facts.audit.hash}`,
  );
  for (const { place, sequence, keptAt } of facts.headPlaces)
    if (sequence !== null && keptAt !== null)
      lines.push(`heads     ${place} has that of entry ${sequence} (${ageOf(keptAt, now)})`);
  const { enterprises, orders, removed, staff, assignments } = facts.known;
  const gone = removed === 0 ? "" : ` (${removed} more removed again)`;
  const placed = `${counted(enterprises, "enterprise")}, ${counted(orders, "order")} placed${gone}`;
  lines.push(`recorded  ${placed}, ${counted(staff, "staff member")}, ${counted(assignments, "assignment")}`);
  lines.push(`pool      ${counted(facts.pool.free, "asset number")} free, ${facts.pool.inUse} in use`);
  for (const line of takenLines(facts.taken ?? [])) lines.push(line);
  lines.push(verifiedLine(facts, now));
  if (facts.differences.length > 0) lines.push(differsLine(facts, now));
  if (facts.byHand.length > 0) lines.push(byHandLine(facts.byHand, now));
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
  return lines;
}

function tableLines(table: string | undefined): string[] {
  return table === undefined ? [] : table.split("\n");
}

function takenLines(taken: readonly TakenFacts[]): string[] {
  return taken.map(
    ({ thing, within, count, allowed }) =>
      `removed   in ${within === "day" ? "24 hours" : "7 days"}: ${numberText(count)} of ${numberText(allowed)} ${thing} allowed without approval` +
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

function byHandLine(byHand: StatusFacts["byHand"], now: string): string {
  const parts = byHand.map(({ stream, count, oldest }) => `${count} in ${stream} (${ageOf(oldest, now)})`);
  const what = `unproven  a person said it is done, not read back yet: ${parts.join(", ")}`;
  return `${what}; crm-sync report exceptions names each`;
}

/** Only runs make calls. So a run tries an open circuit again, also if the process that opened it has died. */
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
    ["job", "run", "state", { title: "exit", align: "right" }, "started", "ago", "last fire time"],
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
    ["stream", "state", { title: "records", align: "right" }, { title: "for the next run", align: "right" }],
    facts.records.map((row) => [row.stream, row.state, row.count, row.pending]),
    view,
  );
}

function openLines(facts: StatusFacts, standing: OpenRecords["standing"], now: string, view: View): string[] {
  const groups = facts.open.filter((group) => group.standing === standing);
  if (groups.length === 0) return [];
  const table = renderTable(
    ["stream", "code", { title: "records", align: "right" }, "oldest", "owner", "such as", "because"],
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
    ["operation", "call", "subject", "state", "age", "next"],
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
