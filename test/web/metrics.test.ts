import { pino } from "pino";
import { expect, it } from "vitest";
import type { Measured, MeasuredLedger } from "../../src/operate/measured.ts";
import { createObserved } from "../../src/operate/application.ts";
import { systemClock } from "../../src/base/clock.ts";
import { Problem } from "../../src/base/errors.ts";
import type { ServiceState } from "../../src/http/client.ts";
import { metricList } from "../../src/web/metric-list.ts";
import { metricsRoutes } from "../../src/web/metrics.ts";
import { readScrape, valueOf, type Scrape } from "../support/exposition.ts";

const service: ServiceState = {
  circuit: { state: "closed" },
  pace: { callsPerSecond: null, pausedMs: 0 },
  callsInFlight: 2,
  callsAtOnce: 4,
  callsWaiting: 3,
};

const read: MeasuredLedger = {
  at: 1_700_000_000,
  isPaused: false,
  jobs: [
    {
      job: "staff",
      nextFire: undefined,
      fireInterval: undefined,
      lastExitCode: 0,
      lastSuccess: 2,
      lastEnd: 2,
    },
  ],
  open: [],
  operations: [{ state: "unknown", count: 1, oldest: "2026-01-01T00:00:00.000Z" }],
  holds: [],
  held: { seats: 0, products: 0, accounts: 0, locks: 0 },
  reads: [],
  alerts: [],
  failing: [],
  differences: [],
};

function measured(ledger: () => Promise<MeasuredLedger>): Measured {
  const failures: unknown[] = [];
  return {
    observed: createObserved((error) => failures.push(error)),
    version: "1.2.3",
    services: () => ({ "order-service": service, "member-center": service }),
    operationKinds: ["place-order"],
    ledgerBytes: () => ({ db: 4_096, wal: 0 }),
    ledger,
    clock: systemClock,
    logger: pino({ level: "silent" }),
  };
}

async function scraped(routes: ReturnType<typeof metricsRoutes>): Promise<Scrape> {
  const answer = await routes.request("/metrics");
  expect(answer.status).toBe(200);
  return readScrape(await answer.text());
}

it("a ledger that cannot be read any more leaves no figure of before standing, and the program answers on", async () => {
  let isGood = true;
  const routes = metricsRoutes(
    measured(async () => {
      if (isGood) return read;
      throw new Problem({ code: "ledger.damaged", message: "page 3 of /private/place", cure: "restore it" });
    }),
  );
  const good = await scraped(routes);
  expect(valueOf(good, "crm_sync_ledger_readable")).toBe(1);
  expect(valueOf(good, "crm_sync_settle_backlog")).toBe(1);
  isGood = false;
  const bad = await scraped(routes);
  expect(valueOf(bad, "crm_sync_ledger_readable")).toBe(0);
  const ofLedger = Object.values(metricList).filter(({ from }) => from === "ledger");
  expect(ofLedger.filter(({ name }) => valueOf(bad, name) !== undefined)).toEqual([]);
  expect(valueOf(bad, "crm_sync_calls_in_flight", { service: "member-center" })).toBe(2);
  expect(bad.text).not.toContain("private");
  isGood = true;
  expect(valueOf(await scraped(routes), "crm_sync_settle_backlog")).toBe(1);
});

it("what is asked while something else fails is answered with 503, and the next answer is good again", async () => {
  const of = measured(async () => read);
  let fails = true;
  const routes = metricsRoutes({
    ...of,
    ledgerBytes: () => {
      if (fails) throw new Error("EACCES /private/place");
      return { db: 1, wal: 1 };
    },
  });
  const answer = await routes.request("/metrics");
  expect([answer.status, await answer.text()]).toEqual([503, expect.not.stringContaining("private")]);
  fails = false;
  expect(valueOf(await scraped(routes), "crm_sync_ledger_size_bytes", { file: "wal" })).toBe(1);
});

it("scrapes at the same time, and again and again, count nothing twice", async () => {
  const of = measured(async () => read);
  const routes = metricsRoutes(of);
  of.observed.calls.tell({ service: "order-service", endpoint: "E5", outcome: "done", code: "0", ms: 40 });
  of.observed.commits.tell(2);
  const all = await Promise.all(Array.from({ length: 20 }, () => scraped(routes)));
  for (const one of [...all, await scraped(routes)]) {
    expect(valueOf(one, "crm_sync_calls_total", { endpoint: "E5", code: "0" })).toBe(1);
    expect(valueOf(one, "crm_sync_call_duration_seconds_sum", { endpoint: "E5" })).toBeCloseTo(0.04);
    expect(valueOf(one, "crm_sync_ledger_commit_duration_seconds_count")).toBe(1);
  }
});
