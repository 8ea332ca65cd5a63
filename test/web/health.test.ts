import { pino } from "pino";
import { request } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { startWebServer } from "../../src/web/server.ts";
import type { Health, WebServer } from "../../src/operate/health.ts";

/** As they are before any server was started. */
const untouched = { request: globalThis.Request, response: globalThis.Response };

const well: Health = {
  ledger: { reachable: true },
  jobs: [
    {
      job: "staff",
      nextSlot: "2026-01-01T00:05:00.000Z",
      lastSlot: undefined,
      running: false,
      lastRun: { id: "run_1", state: "done", exitCode: 3, startedAt: "2026-01-01T00:00:00.000Z", finishedAt: null },
    },
  ],
  open: { unknown: 0, holds: 0, quarantined: 0, records: [], streams: [], differences: [], runs: [] },
  breakers: { "order-service": "closed", "member-center": "half-open" },
};

let server: WebServer | undefined;
afterEach(() => server?.close());

async function serving(read: () => Promise<Health>, { port = 0, readTimeoutMs = 60_000 } = {}): Promise<WebServer> {
  server = await startWebServer({
    settings: { host: "127.0.0.1", port },
    clock: systemClock,
    logger: pino({ level: "silent" }),
    read,
    readTimeoutMs,
  });
  return server;
}

async function get(path: string, method: "GET" | "POST" = "GET") {
  const answer = await request(`${server?.url}${path}`, { method });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: (await answer.body.json()) as Record<string, unknown>,
  };
}

describe("health", () => {
  it("is good while the ledger can be read and the services are not left alone, whatever waits for a person", async () => {
    await serving(async () => well);
    const { status, body, headers } = await get("/healthz");
    expect(status).toBe(200);
    expect(body).toMatchObject({ healthy: true, wrong: [], open: well.open, breakers: well.breakers });
    expect((body["jobs"] as unknown[])[0]).toMatchObject({
      job: "staff",
      nextSlot: "2026-01-01T00:05:00.000Z",
      lastRun: { id: "run_1" },
    });
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["content-type"]).toContain("application/json");
  });

  it("says what is not done, which alone makes the program not ill", async () => {
    const row = { stream: "orders", owner: "configuration", since: "2026-01-01T00:00:00.000Z" } as const;
    const records: Health["open"]["records"] = [
      { ...row, standing: "deferred", code: "customer.blocked", cause: "assumption.missing", count: 414 },
      { ...row, standing: "quarantined", code: "missing", cause: "missing", count: 2 },
    ];
    const open = {
      unknown: 2,
      holds: 1,
      quarantined: 2,
      records,
      streams: ["crm/orders"],
      differences: [{ class: "missing", count: 1, since: "2026-10-01T08:00:00.000Z" }],
      runs: ["run.run-failed:staff:1"],
    };
    await serving(async () => ({ ...well, open }));
    const { status, body } = await get("/healthz");
    expect([status, body["healthy"]]).toEqual([200, false]);
    expect(body["wrong"]).toEqual([
      "operations.unknown:2",
      "holds.open:1",
      "run.run-failed:staff:1",
      "source.incomplete:crm/orders",
      "records.deferred:orders:customer.blocked:414",
      "records.quarantined:orders:missing:2",
    ]);
  });

  it("is bad, and says why, when a breaker is open", async () => {
    await serving(async () => ({ ...well, breakers: { "order-service": "open" } }));
    const { status, body } = await get("/healthz");
    expect(status).toBe(503);
    expect(body["wrong"]).toEqual(["breaker.open:order-service"]);
  });

  it.each([
    ["cannot be read", () => Promise.reject(new Error("SQLITE_CORRUPT: canary-of-a-message")), "ledger.unreachable"],
    ["does not answer in time", () => new Promise<Health>(() => {}), "ledger.slow"],
    [
      "says that it is not reachable",
      () => Promise.resolve({ ...well, ledger: { reachable: false } }),
      "ledger.unreachable",
    ],
  ])("is bad when the ledger %s, and the program is alive all the same", async (_name, read, code) => {
    await serving(read, { readTimeoutMs: code === "ledger.slow" ? 1 : 60_000 });
    const { status, body } = await get("/healthz");
    expect(status).toBe(503);
    expect(body["wrong"]).toEqual([code]);
    expect(JSON.stringify(body)).not.toContain("canary");
    expect(await get("/livez")).toMatchObject({ status: 200, body: { alive: true } });
  });

  it("reads the ledger once for all who ask within a second, and logs a failure once", async () => {
    let now = 0;
    let reads = 0;
    const log: string[] = [];
    server = await startWebServer({
      settings: { host: "127.0.0.1", port: 0 },
      clock: { ...systemClock, monotonic: () => now },
      logger: pino({ level: "error" }, { write: (line) => void log.push(line) }),
      read: () => {
        reads += 1;
        return reads === 1 ? Promise.resolve(well) : Promise.reject(new Error("SQLITE_IOERR"));
      },
    });
    const all = async (): Promise<number[]> =>
      (await Promise.all(Array.from({ length: 100 }, () => get("/healthz")))).map(({ status }) => status);
    expect(new Set(await all())).toEqual(new Set([200]));
    now = 999;
    expect(new Set(await all())).toEqual(new Set([200]));
    expect(reads).toBe(1);
    now = 1_000;
    expect(new Set([...(await all()), ...(await all())])).toEqual(new Set([503]));
    expect([reads, log.length]).toEqual([2, 1]);
  });

  it("answers nothing else, and leaves the global Response alone", async () => {
    await serving(async () => well);
    expect((await get("/")).status).toBe(404);
    expect((await get("/healthz", "POST")).status).toBe(404);
    expect({ request: globalThis.Request, response: globalThis.Response }).toEqual(untouched);
  });

  it("says so when the port is taken, and lets it go at the end", async () => {
    const first = await serving(async () => well);
    const port = Number(new URL(first.url).port);
    await expect(serving(async () => well, { port })).rejects.toMatchObject({ code: "web.cannot-listen" });
    await first.close();
    await serving(async () => well, { port });
    expect((await get("/livez")).status).toBe(200);
  });
});
