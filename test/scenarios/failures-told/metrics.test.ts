import { execFileSync } from "node:child_process";
import { renameSync } from "node:fs";
import { expect, it } from "vitest";
import { endpointIds, endpoints } from "../../../src/contract/endpoints.ts";
import { metricList, processMetrics } from "../../../src/web/metric-list.ts";
import { ran, runsOf } from "../../support/asking.ts";
import { promptRetries, world, type Parsed, type World } from "../../support/cli.ts";
import { readScrape, valueOf, type Scrape } from "../../support/exposition.ts";
import { promtool } from "../../support/promtool.ts";
import { hasMissedAll, serves, type Serving } from "../../support/serving.ts";
import { company, privateText } from "../../support/world/crm.ts";

/** What a service may answer with instead of a code. */
const hostileCodes = ['Mallory Works"} 1', 'evil{job="x"}\n# HELP crm_sync_calls_total \u202e60002'] as const;

const jobs = (schedule: string): string => `jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
  customers-and-orders: { schedule: ${schedule} }
  staff: { schedule: ${schedule} }
  verify: { schedule: null }
  monthly-report: { schedule: null }
`;

const figures = async (serving: Serving): Promise<Scrape> => readScrape((await serving.get("/metrics")).text);

/** One order cancelled and held, one refused, one whose outcome is not known, one placed, and no member-center. */
async function troubled(): Promise<World> {
  const w = await world({ records: company(1, 1) });
  Object.assign(w.environment, promptRetries);
  w.extra = jobs('"0 5 1 1 *"');
  w.write();
  await hasMissedAll(w);
  expect((await ran(w)).exitCode).toBe(0);
  w.orders = w.orders.map((order) => ({ ...order, cancelled: true }));
  w.write();
  expect((await ran(w)).exitCode).toBe(4);
  const five = company(5, 1);
  Object.assign(w, five, { orders: five.orders.map((order) => ({ ...order, cancelled: order.id === "O1" })) });
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", times: 1 });
  w.sandbox.faults.add({ operation: "E5", fault: "oddCode", code: hostileCodes[0], times: 1 });
  w.sandbox.faults.add({ operation: "E3", fault: "oddCode", code: hostileCodes[1], times: 1 });
  w.sandbox.faults.add({ operation: "member", fault: "http502" });
  return w;
}

it("metrics say of two jobs and two services what status and the services say", { tags: "long" }, async () => {
  const w = await troubled();
  const { calls: before } = w.sandbox.counts();
  const serving = await serves(w);
  await serving.says('"msg":"run ended"', 2);
  const shown = await figures(serving);
  const value = (name: string, labels: Record<string, string> = {}) => valueOf(shown, `crm_sync_${name}`, labels);
  const { calls } = w.sandbox.counts();
  for (const endpoint of endpointIds) {
    const sent =
      (value("calls_total", { endpoint }) ?? 0) - (value("calls_total", { endpoint, outcome: "not-sent" }) ?? 0);
    expect(sent, endpoint).toBe((calls[endpoint] ?? 0) - (before[endpoint] ?? 0));
    expect(value("call_duration_seconds_count", { endpoint }) ?? 0, endpoint).toBe(sent);
  }
  expect(value("calls_total", { endpoint: "E5", outcome: "refused", code: "13004" })).toBe(1);
  expect(value("calls_total", { endpoint: "E5", outcome: "failed", code: "other" })).toBe(1);
  expect(value("circuit_state", { service: "member-center", state: "open" })).toBe(1);
  expect(value("circuit_state", { service: "order-service", state: "closed" })).toBe(1);

  const scheduled = (await runsOf(w)).filter(({ trigger }) => trigger === "schedule");
  expect(new Set(scheduled.map(({ job }) => job))).toEqual(new Set(["customers-and-orders", "staff"]));
  for (const { job, exitCode } of scheduled) {
    expect(value("job_last_exit_code", { job_name: job }), job).toBe(exitCode);
    expect(exitCode).not.toBe(0);
  }
  const status = await w.ask("status");
  for (const standing of ["deferred", "rejected", "quarantined"]) {
    const groups = status.open.filter((group: Parsed) => group.counts && group.standing === standing);
    const count = groups.reduce((sum: number, group: Parsed) => sum + group.count, 0);
    expect(value("records_open", { standing }) ?? 0, standing).toBe(count);
  }
  expect(value("settle_backlog")).toBe(1);
  expect(value("settle_backlog_oldest_age_seconds")).toBeGreaterThan(0);
  expect(value("holds", { state: "open" })).toBe(1);
  expect(value("operations_total", { kind: "place-order", state: "rejected" })).toBe(1);
  expect(value("operations_total", { kind: "place-order", state: "done" })).toBe(2);
  expect(value("alerts", { kind: "breaker" })).toBe(1);

  expect(shown.text).not.toMatch(privateText);
  expect(shown.text).not.toMatch(/evil|Mallory|\u202e/u);
  const known = endpointIds.flatMap((endpoint) => endpoints[endpoint].codes.map(String));
  const codes = new Set(["0", "none", "other", "circuit-open", "no-turn", "token", "aborted", ...known]);
  const named = shown.samples.filter(({ name }) => name === "crm_sync_calls_total").map(({ labels }) => labels["code"]);
  expect(named.filter((code) => !codes.has(code ?? ""))).toEqual([]);
  const listed = Object.values(metricList);
  expect([...shown.metrics.keys()].toSorted()).toEqual(
    [...listed.map(({ name }) => name), ...processMetrics].toSorted(),
  );
  for (const { name, kind, help } of listed) expect(shown.metrics.get(name)).toEqual({ help, type: kind });
  if (promtool !== undefined) execFileSync(promtool, ["check", "metrics"], { input: shown.text });
});

it("metrics say what the ledger says of runs of other programs", { tags: "long" }, async () => {
  const w = await world({ records: company(3, 2) });
  w.extra = jobs("null");
  w.write();
  const run = async (exitCode: number, ...words: string[]): Promise<void> =>
    expect((await w.run(...words)).exitCode, words.join(" ")).toBe(exitCode);
  await run(0, "run", "customers-and-orders");
  const serving = await serves(w);
  const job = { job_name: "customers-and-orders" };
  const first = await figures(serving);
  expect(valueOf(first, "crm_sync_job_last_success_timestamp_seconds", { job_name: "staff" })).toBeUndefined();
  w.orders = w.orders.map((order) => ({ ...order, cancelled: order.id === "O1" }));
  w.write();
  await run(0, "run", "staff");
  await run(4, "run", "customers-and-orders");
  await run(4, "resync", "--customer", "C2");
  const then = await figures(serving);
  const value = (name: string, labels: Record<string, string> = {}) => valueOf(then, `crm_sync_${name}`, labels);
  expect(value("job_last_exit_code", { job_name: "staff" })).toBe(0);
  expect(value("job_last_exit_code", job)).toBe(4);
  expect(value("calls_total")).toBe(0);
  const success = "job_last_success_timestamp_seconds";
  expect(value(success, job)).toBe(valueOf(first, `crm_sync_${success}`, job));
  expect(value("held_things", { thing: "products" })).toBe(2);
  expect(value("held_things", { thing: "seats" })).toBe(2);
  expect(value("holds_oldest_age_seconds", { state: "open" })).toBeGreaterThan(0);
  renameSync(w.path("data/staff.ndjson"), w.path("data/nobody.ndjson"));
  await run(4, "run", "staff");
  const after = await figures(serving);
  expect(valueOf(after, "crm_sync_source_read_complete", { source: "hr", stream: "staff" })).toBe(0);
  expect(valueOf(after, "crm_sync_source_read_complete", { source: "crm", stream: "orders" })).toBe(1);
});
