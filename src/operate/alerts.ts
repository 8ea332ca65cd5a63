import { stopsSomething } from "../contract/assumptions.ts";
import type { RunSummary } from "../engine/run/run.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { pausedCode } from "../ledger/pause.ts";
import { isOfJobs, troublesOf, type RunTrouble } from "../report/last-runs.ts";
import { settleCommands } from "../report/waiting.ts";
import { nextForHold } from "../report/next-steps.ts";
import { nextForOpen, openNamed, unreachedCodes } from "../report/open.ts";
import { pagePath } from "../report/page-links.ts";
import { fromBody, type Alert, channelDownKey } from "./notify/alert.ts";
import { notifyChanges, type NotifyDependencies } from "./notify/tell.ts";

/** `jobs`: those of the configuration. Default: all that ran. */
export async function alertsOf(
  ledger: Ledger,
  summary: RunSummary | undefined,
  jobs?: readonly string[],
): Promise<Alert[]> {
  const alerts: Alert[] = [];
  for (const read of await ledger.records.troubledReads()) {
    alerts.push({
      key: `source-down:${read.source}/${read.stream}`,
      kind: "source-down",
      summary: `${read.source}/${read.stream}: ${read.problem ?? "was not read completely"}`,
      cure: "`crm-sync check` looks into the source; a complete read clears this",
      page: pagePath.source(read.source),
    });
  }
  for (const hold of await ledger.decisions.questions()) {
    if (hold.state !== "open") continue;
    alerts.push({
      key: `hold:${hold.id}`,
      kind: "hold",
      summary: `${hold.customer.namespace}/${hold.customer.id}: ${hold.explanation}`,
      cure: nextForHold({ ...hold, count: 1 }),
      page: pagePath.hold(hold.id),
    });
  }
  for (const row of await ledger.journal.open()) {
    alerts.push({
      key: `unknown:${row.id}`,
      kind: "unknown",
      summary: `${row.operation.endpoint} on ${row.operation.subject} is ${row.state}`,
      cure:
        row.state === "parked"
          ? settleCommands({ id: row.id, endpoint: row.operation.endpoint, outcomeCode: row.outcomeCode })
          : "the next run settles it; `crm-sync settle list` shows the details",
      page: pagePath.settle(row.id),
    });
  }
  for (const [row, { evidence, since }] of ledger.assumptions.standing()) {
    if (!stopsSomething(row)) continue;
    alerts.push({
      key: `assumption:${row}`,
      kind: "assumption",
      summary: `the assumption ${row} was contradicted at ${since}: ${evidence}`,
      cure: `\`crm-sync assumptions\` shows the waiting work; then crm-sync assumptions accept ${row} --reason TEXT`,
    });
  }
  alerts.push(...pausedAlerts(ledger), ...placeAlerts(ledger));
  alerts.push(...(await deliveryAlerts(ledger)));
  alerts.push(...(await circuitAlerts(ledger)));
  const told = new Map([...(await ledger.schedule.alerts())].map(([key, { body }]) => [key, fromBody(key, body)]));
  alerts.push(...(await runAlerts(ledger, told, jobs)));
  const records = await recordAlerts(ledger, new Set(alerts.map((alert) => alert.kind)));
  alerts.push(...(summary?.state === "stopped" ? asTold(records, told) : records));
  return alerts;
}

async function circuitAlerts(ledger: Ledger): Promise<Alert[]> {
  const cure =
    "it is tried again by itself; where it lasts, crm-sync check, then the network and the provider of the service";
  return (await ledger.schedule.openCircuits()).map(({ service, since, reason }) => ({
    key: `breaker:${service}`,
    kind: "breaker",
    summary: `the circuit of ${service} is open since ${since}, because ${reason}`,
    cure,
  }));
}

/** Without its reason, because an alert may reach people that its author did not expect. `status` shows the reason. */
function pausedAlerts(ledger: Ledger): Alert[] {
  const paused = ledger.pause.now();
  if (paused === undefined) return [];
  const summary = `crm-sync is paused since ${paused.since} by ${paused.by}: nothing is written to either service`;
  const cure = "crm-sync resume --reason TEXT; `crm-sync status` says why it is paused";
  return [{ key: "paused:services", kind: "paused", summary, cure, page: pagePath.pause() }];
}

function placeAlerts(ledger: Ledger): Alert[] {
  return ledger.audit.places().flatMap(({ place, problem, sequence }): Alert[] => {
    if (problem === null) return [];
    const last = sequence === null ? "it has none yet" : `the last one it has is of entry ${sequence}`;
    const summary = `${place} did not get the head of the audit log: ${problem}; ${last}`;
    const cure = "look at the place; the next run of a job tries it again (`audit.heads`)";
    return [{ key: `head-not-kept:${place}`, kind: "head-not-kept", summary, cure }];
  });
}

async function deliveryAlerts(ledger: Ledger): Promise<Alert[]> {
  return (await ledger.schedule.deliveries()).flatMap(({ kind, name, problem }): Alert[] => {
    if (problem === null) return [];
    if (kind === "switch") {
      const summary = `the dead man's switch ${name} could not be called after a good run: ${problem}`;
      const cure = "look at its address and at whoever answers there; the next good run calls it again";
      return [{ key: `switch-not-called:${name}`, kind: "switch-not-called", summary, cure }];
    }
    const summary = `${name} does not deliver alerts: ${problem}`;
    const cure = `\`crm-sync alerts test ${name}\` shows its answers; the next run tries again`;
    return [{ key: channelDownKey(name), kind: "channel-down", summary, cure }];
  });
}

const recordKinds: readonly Alert["kind"][] = ["deferred", "rejected", "quarantine", "canary"];

/** A stopped run did not reach all records. Earlier alerts about records stay; only higher counts change them. */
function asTold(records: readonly Alert[], told: ReadonlyMap<string, Alert>): Alert[] {
  const kept = new Map(records.map((alert) => [alert.key, alert]));
  for (const [key, alert] of told) {
    if (recordKinds.includes(alert.kind) && (alert.count ?? 1) > (kept.get(key)?.count ?? 0)) kept.set(key, alert);
  }
  return [...kept.values()];
}

const inDoubt: readonly string[] = ["operation.open"];

/** Left out: records that wait for an open operation, a pause or an unavailable service, if that has its own alert. */
async function recordAlerts(ledger: Ledger, told: ReadonlySet<Alert["kind"]>): Promise<Alert[]> {
  const alerts: Alert[] = [];
  for (const group of (await ledger.records.openNewest()).filter((item) => item.counts)) {
    if (inDoubt.includes(group.cause) && told.has("unknown")) continue;
    if (group.cause === pausedCode && told.has("paused")) continue;
    if (unreachedCodes.includes(group.cause) && (told.has("service-down") || told.has("breaker"))) continue;
    const standing = group.standing === "quarantined" ? "quarantine" : group.standing;
    const kind = group.code === "run.canary" ? "canary" : standing;
    alerts.push({
      key: `${kind}:${group.stream}:${group.code === group.cause ? group.code : `${group.code}:${group.cause}`}`,
      kind,
      summary: openNamed(group),
      // The reason may contain values that must not be in an alert.
      cure: kind === "quarantine" ? nextForOpen(group) : `${nextForOpen(group)}; \`crm-sync status\` has the reason`,
      count: group.count,
      newest: group.newest,
    });
  }
  return alerts;
}

/** Only a complete run of the job can end these: one that is on, or was cut off, did not look. */
const endedByWholeRun: readonly RunTrouble["kind"][] = ["run-failed", "not-as-placed", "service-down", "clock"];

/** Earlier alerts stay for everything that the run did not look at. */
async function runAlerts(
  ledger: Ledger,
  told: ReadonlyMap<string, Alert>,
  jobs: readonly string[] | undefined,
): Promise<Alert[]> {
  const alerts: Alert[] = [];
  const runs = [...(await ledger.runs.lastByJob()).values()];
  const lastRuns = jobs === undefined ? runs : runs.filter(isOfJobs(jobs));
  for (const { run, troubles, clockEnded } of troublesOf(lastRuns)) {
    const { job } = run;
    for (const { kind, what: summary, next: cure, count } of troubles) {
      const key = kind === "does-not-balance" ? `${kind}:${run.id}` : `${kind}:${job}`;
      alerts.push({ key, kind, summary, cure, count, page: pagePath.run(run.id) });
    }
    if (run.state === "done") continue;
    for (const kind of endedByWholeRun) {
      if (kind === "clock" && clockEnded) continue;
      const known = told.get(`${kind}:${job}`);
      if (known !== undefined && !troubles.some((trouble) => trouble.kind === kind)) alerts.push(known);
    }
  }
  return alerts;
}

export async function tellPeople(
  deps: NotifyDependencies & { ledger: Ledger; jobs?: readonly string[] },
  summary: RunSummary | undefined,
): Promise<void> {
  await deps.store.onlyDeliveries(
    deps.channels.map(({ name }) => name),
    deps.switches,
  );
  const alerts = await alertsOf(deps.ledger, summary, deps.jobs);
  await notifyChanges(alerts, deps);
  const others = alerts.filter(({ kind }) => kind !== "channel-down" && kind !== "switch-not-called");
  const now = await deliveryAlerts(deps.ledger);
  const isSame = JSON.stringify(now) === JSON.stringify(alerts.filter((alert) => !others.includes(alert)));
  if (isSame) return;
  // Working channels report the failing ones, which try again at the next run.
  const failing = new Set(now.map(({ key }) => key));
  await notifyChanges(
    [...others, ...now],
    deps,
    deps.channels.filter(({ name }) => !failing.has(channelDownKey(name))),
  );
}
