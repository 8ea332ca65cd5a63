import { setTimeout as sleep } from "node:timers/promises";
import { execFileSync } from "node:child_process";
import { renameSync } from "node:fs";
import { request } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { endpointIds, endpoints } from "../../src/contract/endpoints.ts";
import { metricList, processMetrics } from "../../src/web/metric-list.ts";
import { document, promptRetries, until, world } from "../support/cli.ts";
import type { Parsed, World } from "../support/cli.ts";
import { readScrape, valueOf } from "../support/exposition.ts";
import type { Scrape } from "../support/exposition.ts";
import type { Running } from "../support/process.ts";
import { promtool } from "../support/promtool.ts";
import { company, privateText } from "../support/world/crm.ts";

/** What a service may answer with in the place of a code. */
const hostileCodes = ['Mallory Works"} 1', 'evil{job="x"}\n# HELP crm_sync_calls_total \u202e60002'] as const;

const twoJobs = `serve: { port: 0 }
jobs:
  customers-and-orders: { schedule: "0 5 1 * *" }
  staff: { schedule: "0 5 1 * *" }
  verify: { enabled: false }
  monthly-report: { enabled: false }
`;

/** A program that serves, with these jobs due at once. */
async function serving(w: World, due: readonly string[]): Promise<Running> {
  for (const job of due)
    w.tamper(`insert into last_fire_time (job, fire_time, fired_at) values
      ('${job}', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')
      on conflict (job) do update set fire_time = excluded.fire_time, fired_at = excluded.fired_at`);
  const running = w.start("serve");
  onTestFinished(() => void running.child.kill("SIGKILL"));
  await running.says(/health at \S+\/healthz/u);
  return running;
}

async function scrape(running: Running): Promise<Scrape> {
  const [, url = ""] = /health at (\S+)\/healthz/u.exec(running.stderr()) ?? [];
  const answer = await request(`${url}/metrics`);
  const text = await answer.body.text();
  expect(answer.statusCode, text).toBe(200);
  expect(answer.headers["content-type"]).toContain("text/plain; version=0.0.4");
  return readScrape(text);
}

const ended = (w: World): { job: string; state: string; code: number }[] =>
  w.rows("select job, state, exit_code as code from run where trigger = 'schedule' and state <> 'running' order by id");

/** One order cancelled and held, one refused, one whose outcome nobody knows, one placed, and no member-center. */
async function troubled(): Promise<World> {
  const w = await world({ isOnMachineTime: true, records: company(1, 1) });
  Object.assign(w.environment, promptRetries);
  w.extra = twoJobs;
  w.write();
  for (const job of ["customers-and-orders", "staff"]) {
    const ran = await w.run("run", job);
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
  }
  w.orders = w.orders.map((order) => ({ ...order, cancelled: true }));
  w.write();
  expect((await w.run("run", "customers-and-orders")).exitCode, "what is taken away is held").toBe(4);
  const five = company(5, 1);
  w.customers.push(...five.customers.slice(1));
  w.orders = five.orders.map((order) => (order.id === "O1" ? { ...order, cancelled: true } : order));
  w.staff = five.staff;
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", times: 1 });
  w.sandbox.faults.add({ operation: "E5", fault: "oddCode", code: hostileCodes[0], times: 1 });
  w.sandbox.faults.add({ operation: "E3", fault: "oddCode", code: hostileCodes[1], times: 1 });
  w.sandbox.faults.add({ operation: "member", fault: "http502" });
  return w;
}

/** The figures of the ledger as it is now: those of a moment ago may be told again for a while. */
async function scrapeOfNow(running: Parameters<typeof scrape>[0]): ReturnType<typeof scrape> {
  const since = Date.now() / 1_000;
  for (;;) {
    const found = await scrape(running);
    if ((valueOf(found, "crm_sync_ledger_read_timestamp_seconds") ?? 0) >= since) return found;
    await sleep(50);
  }
}

describe("the metrics of a program that runs", () => {
  it(
    "say of two jobs and two services, one of which is down, what the ledger and the services count",
    { tags: "long" },
    async () => {
      const w = await troubled();
      const before = { ...w.sandbox.counts().calls };
      const running = await serving(w, ["customers-and-orders", "staff"]);
      await until("both jobs have run", () => new Set(ended(w).map(({ job }) => job)).size === 2);
      await until("no run is on", () => w.rows("select id from run where state = 'running'").length === 0);
      const shown = await scrape(running);
      const status: Parsed = document(await w.run("--json", "status"));

      for (const endpoint of endpointIds) {
        const { service } = endpoints[endpoint];
        const sent = shown.samples.filter(
          ({ name, labels }) =>
            name === "crm_sync_calls_total" && labels["endpoint"] === endpoint && labels["outcome"] !== "not-sent",
        );
        const count = sent.reduce((sum, { value }) => sum + value, 0);
        expect(count, endpoint).toBe((w.sandbox.counts().calls[endpoint] ?? 0) - (before[endpoint] ?? 0));
        if (count > 0)
          expect(valueOf(shown, "crm_sync_call_duration_seconds_count", { endpoint, service }), endpoint).toBe(count);
      }
      expect(valueOf(shown, "crm_sync_calls_total", { endpoint: "E5", outcome: "refused", code: "13004" })).toBe(1);
      expect(valueOf(shown, "crm_sync_calls_total", { endpoint: "E5", outcome: "failed", code: "other" })).toBe(1);
      expect(valueOf(shown, "crm_sync_calls_total", { service: "member-center", outcome: "done" })).toBe(0);
      expect(valueOf(shown, "crm_sync_circuit_state", { service: "member-center", state: "open" })).toBe(1);
      expect(valueOf(shown, "crm_sync_circuit_state", { service: "order-service", state: "closed" })).toBe(1);

      for (const { job, state, code } of ended(w)) {
        const labels = { job_name: job, state, exit_code: String(code) };
        const count = ended(w).filter((run) => run.job === job && run.state === state && run.code === code).length;
        expect(valueOf(shown, "crm_sync_runs_total", labels), JSON.stringify(labels)).toBe(count);
        expect(valueOf(shown, "crm_sync_job_last_exit_code", { job_name: job })).toBe(
          ended(w).findLast((run) => run.job === job)?.code,
        );
      }
      expect(ended(w).map(({ code }) => code)).not.toContain(0);

      const open = status.open.filter((group: { counts: boolean }) => group.counts);
      expect(open.length).toBeGreaterThan(2);
      for (const standing of ["deferred", "rejected", "quarantined"]) {
        const count = open
          .filter((group: { standing: string }) => group.standing === standing)
          .reduce((sum: number, group: { count: number }) => sum + group.count, 0);
        expect(valueOf(shown, "crm_sync_records_open", { standing }) ?? 0, standing).toBe(count);
      }
      for (const { state, count } of status.operations)
        expect(valueOf(shown, "crm_sync_operations_open", { state })).toBe(count);
      for (const { stream, state, count } of status.records)
        expect(valueOf(shown, "crm_sync_records", { stream, state })).toBe(count);
      expect(valueOf(shown, "crm_sync_settle_backlog")).toBe(1);
      expect(valueOf(shown, "crm_sync_settle_backlog_oldest_age_seconds")).toBeGreaterThan(0);
      expect(valueOf(shown, "crm_sync_holds", { state: "open" })).toBe(status.holds.length);
      expect(status.holds).toHaveLength(1);
      expect(valueOf(shown, "crm_sync_operations_total", { kind: "place-order", state: "rejected" })).toBe(1);
      expect(valueOf(shown, "crm_sync_operations_total", { kind: "place-order", state: "done" })).toBe(1);
      expect(valueOf(shown, "crm_sync_ledger_commit_duration_seconds_count")).toBeGreaterThan(5);
      expect(valueOf(shown, "crm_sync_alerts", { kind: "breaker" })).toBe(1);
      for (const job of ["customers-and-orders", "staff"]) {
        const now = Date.now() / 1_000;
        expect(valueOf(shown, "crm_sync_job_last_success_timestamp_seconds", { job_name: job }), job).toBeLessThan(now);
        expect(valueOf(shown, "crm_sync_job_next_fire_timestamp_seconds", { job_name: job }), job).toBeGreaterThan(
          now - 60,
        );
        const success = valueOf(shown, "crm_sync_job_last_success_timestamp_seconds", { job_name: job }) ?? 0;
        expect(valueOf(shown, "crm_sync_job_last_run_timestamp_seconds", { job_name: job }), job).toBeGreaterThan(
          success,
        );
      }

      expect(shown.text).not.toMatch(privateText);
      expect(shown.text).not.toMatch(/evil|Mallory|\u202e|x{20}/u);
      const codes = new Set<string>(["0", "none", "other", "circuit-open", "no-turn", "token", "aborted"]);
      for (const endpoint of endpointIds) for (const code of endpoints[endpoint].codes) codes.add(code);
      const named = shown.samples
        .filter(({ name }) => name === "crm_sync_calls_total")
        .map(({ labels }) => labels["code"]);
      expect(named.filter((code) => !codes.has(code ?? ""))).toEqual([]);

      const listed = [...Object.values(metricList).map(({ name }) => name), ...processMetrics];
      expect([...shown.metrics.keys()].toSorted()).toEqual(listed.toSorted());
      for (const { name, kind, help } of Object.values(metricList))
        expect(shown.metrics.get(name)).toEqual({ help, type: kind });
      if (promtool !== undefined) execFileSync(promtool, ["check", "metrics"], { input: shown.text });
    },
  );

  it(
    "say what the ledger says of runs of other processes, which no counter of this one knows",
    { tags: "long" },
    async () => {
      const w = await world({ isOnMachineTime: true, records: company(3, 2) });
      w.extra = twoJobs.replaceAll('"0 5 1 * *"', "null");
      w.write();
      expect((await w.run("run", "customers-and-orders")).exitCode).toBe(0);
      const running = await serving(w, []);
      const first = await scrape(running);
      expect(valueOf(first, "crm_sync_runs_total")).toBe(0);
      expect(valueOf(first, "crm_sync_job_last_success_timestamp_seconds", { job_name: "staff" })).toBeUndefined();
      w.orders = w.orders.map((order) => (order.id === "O1" ? { ...order, cancelled: true } : order));
      w.write();
      expect((await w.run("run", "staff")).exitCode).toBe(0);
      expect((await w.run("run", "customers-and-orders")).exitCode).toBe(4);
      expect((await w.run("resync", "--customer", "C2")).exitCode).toBe(4);
      const then = await scrapeOfNow(running);
      const runs = (job: string, exit: string) =>
        valueOf(then, "crm_sync_runs_total", { job_name: job, exit_code: exit });
      expect([runs("staff", "0"), runs("customers-and-orders", "4"), runs("customers-and-orders", "0")]).toEqual([
        1, 1, 0,
      ]);
      expect(runs("resync", "4")).toBe(1);
      expect(valueOf(then, "crm_sync_calls_total")).toBe(0);
      const job = "customers-and-orders";
      const [success, completion, last] = ["last_success", "last_completion", "last_run"].map(
        (name) => valueOf(then, `crm_sync_job_${name}_timestamp_seconds`, { job_name: job }) ?? 0,
      );
      expect(success).toBe(valueOf(first, "crm_sync_job_last_success_timestamp_seconds", { job_name: job }));
      expect(last).toBeGreaterThan(success ?? 0);
      expect(completion).toBeGreaterThan(last ?? 0);
      const [held] = w.rows<{ operations: number; seats: number; products: number }>(
        `select count(*) as operations, sum(weight ->> '$.seats') as seats, sum(weight ->> '$.products') as products
        from operation where state = 'held'`,
      );
      expect(held?.products).toBeGreaterThan(0);
      expect(valueOf(then, "crm_sync_held_operations")).toBe(held?.operations);
      expect(valueOf(then, "crm_sync_held_things", { thing: "seats" })).toBe(held?.seats);
      expect(valueOf(then, "crm_sync_held_things", { thing: "products" })).toBe(held?.products);
      expect(valueOf(then, "crm_sync_holds", { state: "open" })).toBe(1);
      expect(valueOf(then, "crm_sync_holds_oldest_age_seconds", { state: "open" })).toBeGreaterThan(0);
      renameSync(w.path("data/staff.ndjson"), w.path("data/nobody.ndjson"));
      expect((await w.run("run", "staff")).exitCode, "the hold outranks the source").toBe(4);
      const after = await scrapeOfNow(running);
      expect(valueOf(after, "crm_sync_source_read_complete", { source: "hr", stream: "staff" })).toBe(0);
      expect(valueOf(after, "crm_sync_source_read_complete", { source: "crm", stream: "orders" })).toBe(1);
    },
  );
});
