import { Hono, type MiddlewareHandler } from "hono";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { messageOf } from "../base/errors.ts";
import type { Measured, MeasuredJob, MeasuredLedger } from "../operate/measured.ts";
import { endpointIds, endpoints } from "../contract/endpoints.ts";
import { metricList, processMetrics, type MetricFacts, type MetricName } from "./metric-list.ts";
import type { Access } from "./access/access.ts";
import { isLoopbackHost } from "../base/loopback.ts";
import { isListed } from "../config/access-settings.ts";
import { connectionOf, placeOf } from "./access/host.ts";
import { isSame } from "./access/session.ts";

/**
 * `/metrics` in the Prometheus format. Counters begin with the process; lasting values come from the ledger. If the
 * ledger is unreadable, `crm_sync_ledger_readable` is 0 and its metrics are missing: old values would look healthy.
 */
export function metricsRoutes(measured: Measured): Hono {
  const metrics = new Metrics();
  observe(metrics, measured);
  const app = new Hono();
  app.get("/metrics", async (context) => {
    try {
      gaugesOfNow(metrics, measured);
      await gaugesOfLedger(metrics, measured);
      return context.body(await metrics.text(), 200, {
        "content-type": metrics.contentType,
        "cache-control": "no-store",
      });
    } catch (error) {
      measured.logger.error({ event: "metrics.failed", reason: messageOf(error) }, "metrics could not be given");
      return context.text("# the metrics could not be gathered; the log says why\n", 503);
    }
  });
  return app;
}

class Metrics {
  readonly #registry = new Registry();
  readonly #counters = new Map<MetricName, Counter>();
  readonly #gauges = new Map<MetricName, Gauge>();
  readonly #histograms = new Map<MetricName, Histogram>();
  readonly #ofLedger: { gauge: Gauge; isPlain: boolean }[] = [];

  constructor() {
    for (const name of namesOf(metricList)) this.#make(name, metricList[name]);
    collectDefaultMetrics({ register: this.#registry });
    for (const { name } of this.#registry.getMetricsAsArray())
      if (!name.startsWith("crm_sync_") && !processMetrics.includes(name)) this.#registry.removeSingleMetric(name);
  }

  #make(name: MetricName, { name: called, kind, help, labels, buckets, from }: MetricFacts): void {
    const settings = { name: called, help, labelNames: labels, registers: [this.#registry] };
    if (kind === "counter") this.#counters.set(name, new Counter(settings));
    else if (kind === "histogram")
      this.#histograms.set(
        name,
        new Histogram(buckets === undefined ? settings : { ...settings, buckets: [...buckets] }),
      );
    else {
      const gauge = new Gauge(settings);
      this.#gauges.set(name, gauge);
      if (from === "ledger") this.#ofLedger.push({ gauge, isPlain: labels.length === 0 });
    }
  }

  add(name: MetricName, labels: Record<string, string>, count = 1): void {
    this.#counters.get(name)?.inc(labels, count);
  }

  took(name: MetricName, labels: Record<string, string>, ms: number): void {
    this.#histograms.get(name)?.observe(labels, ms / 1_000);
  }

  set(name: MetricName, value: number, labels: Record<string, string> = {}): void {
    this.#gauges.get(name)?.set(labels, value);
  }

  forgetLedger(): void {
    for (const { gauge, isPlain } of this.#ofLedger) {
      gauge.reset();
      // A gauge without labels would become 0.
      if (isPlain) gauge.remove();
    }
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}

function namesOf<Key extends string>(list: Readonly<Record<Key, unknown>>): Key[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a constant of ours
  return Object.keys(list) as Key[];
}

/** Counts from now on. Possible label values begin with 0. */
function observe(metrics: Metrics, { observed, operationKinds, version }: Measured): void {
  metrics.set("info", 1, { version });
  for (const endpoint of endpointIds)
    metrics.add("calls", { service: endpoints[endpoint].service, endpoint, outcome: "done", code: "0" }, 0);
  for (const kind of operationKinds)
    for (const state of ["done", "rejected", "unknown", "parked"]) metrics.add("operations", { kind, state }, 0);
  observed.calls.subscribe(({ service, endpoint, outcome, code, ms }) => {
    metrics.add("calls", { service, endpoint, outcome, code });
    if (outcome !== "not-sent") metrics.took("callSeconds", { service, endpoint }, ms);
  });
  observed.requests.subscribe(({ source, outcome, ms }) => {
    metrics.add("requests", { source, outcome });
    metrics.took("requestSeconds", { source }, ms);
  });
  observed.commits.subscribe((ms) => metrics.took("commitSeconds", {}, ms));
  observed.conclusions.subscribe(({ kind, state }) => metrics.add("operations", { kind, state }));
}

const circuitStates = ["closed", "open", "half-open"] as const;

function gaugesOfNow(metrics: Metrics, measured: Measured): void {
  for (const [service, { circuit, callsInFlight, callsWaiting }] of Object.entries(measured.services())) {
    metrics.set("callsInFlight", callsInFlight, { service });
    metrics.set("callsWaiting", callsWaiting, { service });
    for (const state of circuitStates) metrics.set("circuit", circuit.state === state ? 1 : 0, { service, state });
  }
  for (const [file, bytes] of Object.entries(measured.ledgerBytes())) metrics.set("ledgerBytes", bytes, { file });
}

async function gaugesOfLedger(metrics: Metrics, measured: Measured): Promise<void> {
  let read: MeasuredLedger | undefined;
  try {
    read = await measured.ledger();
  } catch (error) {
    measured.logger.error(
      { event: "metrics.ledger-unreadable", reason: messageOf(error) },
      "metrics are given without those that come from the ledger",
    );
  }
  metrics.forgetLedger();
  metrics.set("ledgerReadable", read === undefined ? 0 : 1);
  if (read === undefined) return;
  const now = measured.clock.now() / 1_000;
  metrics.set("ledgerLookedAt", read.at);
  metrics.set("paused", read.isPaused ? 1 : 0);
  for (const job of read.jobs) jobGauges(metrics, job);
  recordGauges(metrics, read, now);
  workGauges(metrics, read, now);
  for (const { source, stream, complete, rows, finishedAt } of read.reads) {
    metrics.set("sourceComplete", complete ? 1 : 0, { source, stream });
    metrics.set("sourceRows", rows, { source, stream });
    if (finishedAt !== null) metrics.set("sourceRead", Date.parse(finishedAt) / 1_000, { source, stream });
  }
  for (const { class: named, count } of read.differences) metrics.set("differences", count, { class: named });
  for (const { kind, count } of read.alerts) metrics.set("alerts", count, { kind });
  for (const { kind, count } of read.failing) metrics.set("deliveriesFailing", count, { kind });
}

function jobGauges(metrics: Metrics, of: MeasuredJob): void {
  const labels = { job_name: of.job };
  const told: readonly [MetricName, number | undefined][] = [
    ["jobLastExit", of.lastExitCode],
    ["jobLastSuccess", of.lastSuccess],
    ["jobLastEnd", of.lastEnd],
    ["jobNextFire", of.nextFire],
    ["jobFireInterval", of.fireInterval],
  ];
  for (const [name, value] of told) if (value !== undefined) metrics.set(name, value, labels);
}

function recordGauges(metrics: Metrics, { open }: MeasuredLedger, now: number): void {
  for (const { stream, standing, code, count, since } of open) {
    metrics.set("recordsOpen", count, { stream, standing, code });
    metrics.set("recordsOldest", ageOf(since, now), { stream, standing, code });
  }
}

function workGauges(metrics: Metrics, { operations, holds, held }: MeasuredLedger, now: number): void {
  metrics.set(
    "settleBacklog",
    operations.reduce((sum, { count }) => sum + count, 0),
  );
  metrics.set("settleOldest", Math.max(0, ...operations.map(({ oldest }) => ageOf(oldest, now))));
  for (const state of ["open", "approved"] as const) {
    const stands = holds.find((hold) => hold.state === state);
    metrics.set("holds", stands?.count ?? 0, { state });
    metrics.set("holdsOldest", stands === undefined ? 0 : ageOf(stands.oldest, now), { state });
  }
  for (const [thing, sum] of Object.entries(held)) metrics.set("held", sum, { thing });
}

/** Never below 0, because the clock may have been set back. */
function ageOf(instant: string, now: number): number {
  return Math.max(0, now - Date.parse(instant) / 1_000);
}

/**
 * Admits the configured token or address, or everybody if `open`. Local requests must also name this server: a browser
 * here could run a foreign page whose name points here.
 */
export function mayReadMetrics(deps: Access): MiddlewareHandler {
  return async (context, next) => {
    const { token, from, open } = deps.settings.metrics;
    const { address } = connectionOf(context);
    const isNamed = !isLoopbackHost(address) || typeof placeOf(context.req.header("host"), deps) === "object";
    const isListedAddress = isListed(address, from) && isNamed;
    if (open || isListedAddress || isToken(context.req.header("authorization"), token, deps)) return await next();
    context.header("www-authenticate", 'Bearer realm="crm-sync"');
    const cure = "Send the token of serve.metrics.token as a bearer token, or name your address in serve.metrics.from.";
    return context.json({ error: "not permitted", cure }, 401);
  };
}

function isToken(header: string | undefined, reference: string | undefined, deps: Access): boolean {
  const [, given] = /^Bearer ([\x21-\x7e]{1,1000})$/iu.exec(header ?? "") ?? [];
  if (given === undefined || reference === undefined) return false;
  try {
    return isSame(given, deps.secret(reference).trim());
  } catch (error) {
    deps.logger.error(
      { event: "metrics.no-token", reason: messageOf(error) },
      "the token of the metrics cannot be read",
    );
    return false;
  }
}
