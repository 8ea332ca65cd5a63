import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Platform } from "../platform/platform.ts";
import type { RunFacts } from "../report/facts.ts";
import { isOfJobs, troublesOf } from "../report/last-runs.ts";
import type { OpenRecords } from "../report/open.ts";
import { alertsOf } from "./alerts.ts";
import type { Certificate } from "./certificate.ts";
import type { Dashboard } from "./dashboard.ts";
import type { Measured } from "./measured.ts";
import { severityOf, type AlertKind } from "./notify/alert.ts";
import type { Schedule } from "./schedule.ts";

type OpenCount = Pick<OpenRecords, "standing" | "stream" | "code" | "cause" | "owner" | "count" | "since">;

/** Content of `/healthz`. Only ids, counts and times, because anybody who reaches this server can read it. */
export interface Health {
  ledger: { reachable: boolean };
  paused?: { since: string };
  jobs: {
    job: string;
    nextSlot: string | undefined;
    lastSlot: string | undefined;
    running: boolean;
    lastRun:
      | { id: string; state: string; exitCode: number | null; startedAt: string; finishedAt: string | null }
      | undefined;
  }[];
  open: {
    unknown: number;
    holds: number;
    quarantined: number;
    records: OpenCount[];
    streams: string[];
    differences: { class: string; count: number; since: string }[];
    runs: string[];
    deliveries?: string[];
    /** Critical alerts that no other field shows. */
    alerts?: string[];
  };
  breakers: Record<string, "closed" | "open" | "half-open">;
}

export interface WebDependencies {
  settings: { host: string; port: number };
  /** Throws a Problem if the certificate is unusable. Undefined: plain http. */
  certificate?: (() => Certificate) | undefined;
  /** If it cannot listen, it retries while the program continues. */
  goesOn?: boolean;
  clock: Clock;
  logger: Logger;
  /** Rejects if the ledger is not reachable. Undefined: only the pages, no `/healthz`. */
  read?: (() => Promise<Health>) | undefined;
  measured?: Measured | undefined;
  /** Longest time for `read` before the program counts as unhealthy. Default 5 s. */
  readTimeoutMs?: number;
  dashboard?: Dashboard | undefined;
}

export interface WebServer {
  readonly url: string;
  close(): Promise<void>;
}

export type StartWeb = (deps: WebDependencies) => Promise<WebServer>;

const alreadyShown: readonly AlertKind[] = ["does-not-balance", "unknown", "channel-down", "switch-not-called"];

function lastRunOf(run: RunFacts | undefined): Health["jobs"][number]["lastRun"] {
  if (run === undefined) return undefined;
  const { id, state, exitCode, startedAt, finishedAt } = run;
  return { id, state, exitCode, startedAt, finishedAt };
}

interface Seen {
  last: ReadonlyMap<string, RunFacts>;
  breakers: Health["breakers"];
  jobs: readonly string[];
}

async function runsAndAlerts(
  ledger: Ledger,
  { last, breakers, jobs }: Seen,
): Promise<Pick<Health["open"], "runs" | "alerts">> {
  const shown = new Set<string>(alreadyShown);
  for (const [service, now] of Object.entries(breakers)) if (now === "open") shown.add(`breaker:${service}`);
  const runs: string[] = [];
  for (const { run, troubles } of troublesOf([...last.values()].filter(isOfJobs(jobs))))
    for (const { kind, count } of troubles) {
      shown.add(`${kind}:${run.job}`);
      runs.push(`run.${kind}:${run.job}:${count}`);
    }
  const alerts = (await alertsOf(ledger, undefined, jobs)).filter(
    ({ kind, key }) => severityOf(kind) === "critical" && !shown.has(kind) && !shown.has(key),
  );
  // The name of a place says where its file is.
  return { runs, alerts: [...new Set(alerts.map(({ kind, key }) => (kind === "head-not-kept" ? kind : key)))] };
}

/** Throws if the ledger can no longer be written. */
export async function readHealth(platform: Platform, ledger: Ledger, schedule: Schedule): Promise<Health> {
  if (ledger.broken !== undefined) throw ledger.broken;
  const state = await schedule.state();
  const last = await ledger.runs.lastByJob();
  const circuit = (name: "orderService" | "memberCenter"): "closed" | "open" | "half-open" =>
    platform.state()[name].circuit.state;
  const breakers = { "order-service": circuit("orderService"), "member-center": circuit("memberCenter") };
  const open = await ledger.journal.open();
  const holds = await ledger.decisions.questions();
  const records = (await ledger.records.open())
    .filter((group) => group.counts)
    .map(({ standing, stream, code, cause, owner, count, since }) => ({
      standing,
      stream,
      code,
      cause,
      owner,
      count,
      since,
    }));
  const paused = ledger.pause.now();
  return {
    ledger: { reachable: true },
    ...(paused !== undefined && { paused: { since: paused.since } }),
    jobs: state.map(({ job, nextFireTime, lastFireTime, running }) => ({
      job,
      nextSlot: nextFireTime,
      lastSlot: lastFireTime,
      running,
      lastRun: lastRunOf(last.get(job)),
    })),
    open: {
      unknown: open.length,
      holds: holds.filter((hold) => hold.state === "open").length,
      quarantined: records.filter((row) => row.standing === "quarantined").reduce((sum, row) => sum + row.count, 0),
      records,
      ...(await runsAndAlerts(ledger, { last, breakers, jobs: state.map(({ job }) => job) })),
      differences: (await ledger.state.differences(0)).counts.map(({ class: named, count, since }) => ({
        class: named,
        count,
        since,
      })),
      deliveries: (await ledger.schedule.deliveries())
        .filter(({ problem }) => problem !== null)
        .map(({ kind, name }) => `${kind === "channel" ? "alerts.not-delivered" : "switch.not-called"}:${name}`),
      streams: (await ledger.records.troubledReads()).map((read) => `${read.source}/${read.stream}`),
    },
    breakers,
  };
}
