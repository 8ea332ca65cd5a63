import { describe, expect, it } from "vitest";
import type { Asked } from "../support/http-server.ts";
import { customersOver, ids, patientClock } from "./http-source.ts";
import { startService } from "./http-service.ts";
import type { Answer } from "./http-service.ts";
import { readAll } from "./support.ts";

const stream = {
  url: "jobs/query/{job}/results",
  answer: "csv",
  paging: { kind: "cursor", parameter: "locator", nextHeader: "Sforce-Locator", none: ["null"] },
  job: {
    start: { url: "jobs/query", method: "POST", body: { operation: "query", query: "SELECT Id, Name FROM Account" } },
    take: { job: "id" },
    status: "jobs/query/{job}",
    state: "state",
    done: ["JobComplete"],
    failed: ["Failed", "Aborted"],
    message: "errorMessage",
    every: "5s",
    atMost: "1m",
  },
};

/** A service that exports on request, as bulk interfaces do: each job is ready when it was asked for so often. */
function exporter(ready: number, ended: object = { state: "JobComplete" }): (asked: Asked) => Answer {
  const asked = new Map<string, number>();
  return ({ method, path, query }) => {
    if (method === "POST") {
      const id = `750${asked.size}`;
      asked.set(id, 0);
      return { body: { id, state: "UploadComplete" } };
    }
    const [, id = "", results] = /\/jobs\/query\/(\w+)(\/results)?$/u.exec(path) ?? [];
    const before = asked.get(id);
    if (before === undefined) return { status: 404, body: [{ errorCode: "NOT_FOUND", message: "no such job" }] };
    if (results === undefined) {
      asked.set(id, before + 1);
      return { body: { id, ...(before + 1 < ready ? { state: "InProgress" } : ended) } };
    }
    const isFirst = query["locator"] === undefined;
    const headers = { "content-type": "text/csv", "sforce-locator": isFirst ? "second" : "null" };
    return { headers, body: isFirst ? "id,name\na,A\nb,B\n" : "id,name\nc,C\n" };
  };
}

describe("an export that is made on request", () => {
  it("is begun, waited for and read page by page", async () => {
    const clock = patientClock();
    const service = await startService(exporter(3));
    const reading = await readAll(customersOver(service.origin, stream, {}, { clock }), "customers");
    expect(ids(reading)).toEqual(["a", "b", "c"]);
    expect(reading.outcome).toMatchObject({ complete: true, full: true, rows: 3 });
    expect(clock.waits).toEqual([5_000, 5_000]);
    expect(service.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /api/jobs/query",
      "GET /api/jobs/query/7500",
      "GET /api/jobs/query/7500",
      "GET /api/jobs/query/7500",
      "GET /api/jobs/query/7500/results",
      "GET /api/jobs/query/7500/results",
    ]);
  });

  it("asks for what changed in the request that begins it", async () => {
    const service = await startService(exporter(1));
    const since = { parameter: "query", in: "job", template: "SELECT Id FROM Account WHERE Changed >= {since}" };
    const source = customersOver(service.origin, { ...stream, since });
    const { outcome } = await readAll(source, "customers", { since: "2026-11-20T08:00:00Z" });
    expect(outcome).toMatchObject({ complete: true, full: false });
    expect(JSON.parse(service.asked[0]?.body ?? "")).toEqual({
      operation: "query",
      query: "SELECT Id FROM Account WHERE Changed >= 2026-11-20T08:00:00.000Z",
    });
  });

  it.each<[string, (asked: Asked) => Answer, string]>([
    [
      "fails",
      exporter(2, { state: "Failed", errorMessage: "No column Foo, ask ann@example.com" }),
      'ended as Failed: "No column Foo, ask [redacted]"',
    ],
    ["is never ready", exporter(Number.POSITIVE_INFINITY), "was not ready after 1m"],
    ["does not say how far it is", exporter(1, { status: "ok" }), "does not say at state how far"],
    ["gives no number", () => ({ body: { state: "JobComplete" } }), "gave nothing for {job}"],
    ["is refused", () => ({ body: { error: "limit of jobs reached" } }), "limit of jobs reached"],
  ])("that %s is an incomplete reading by name", async (_how, answer, words) => {
    const service = await startService(answer);
    const source = customersOver(service.origin, stream, {}, { clock: patientClock() });
    const { outcome } = await readAll(source, "customers");
    expect(outcome).toMatchObject({ complete: false, rows: 0 });
    expect(outcome.problem?.message).toContain(words);
    expect(service.asked.length).toBeLessThan(20);
  });

  it("may name the address of its file, on its own server only", async () => {
    const byUrl = { ...stream, url: "{file}", job: { ...stream.job, take: { job: "id", file: "url" } } };
    const there = await startService(({ method, path }): Answer => {
      if (method === "POST") return { body: { id: "1" } };
      if (path.startsWith("/files/")) return { headers: { "content-type": "text/csv" }, body: "id,name\na,A\n" };
      return { body: { state: "JobComplete", url: "/files/1.csv" } };
    });
    expect(ids(await readAll(customersOver(there.origin, byUrl), "customers"))).toEqual(["a"]);
    const elsewhere = await startService(({ method }) => ({
      body: method === "POST" ? { id: "1" } : { state: "JobComplete", url: "https://elsewhere.example/1.csv" },
    }));
    const { outcome } = await readAll(customersOver(elsewhere.origin, byUrl), "customers");
    expect(outcome.problem).toMatchObject({ code: "source.refused" });
  });

  it("that was cut while its pages were read goes on with the same export, or anew where that is gone", async () => {
    const service = await startService(exporter(1));
    const positions: string[] = [];
    const reading = customersOver(service.origin, stream).read("customers", {
      reached: (position) => positions.push(position),
    });
    while (positions.length === 0 && (await reading.next()).done !== true);
    await reading.return({ complete: false, full: false, rows: 0 });
    const [resume = ""] = positions;
    const rest = await readAll(customersOver(service.origin, stream), "customers", { resume });
    expect(ids(rest)).toEqual(["c"]);
    expect(rest.outcome).toMatchObject({ complete: true, full: false });
    expect(service.asked.filter(({ method }) => method === "POST")).toHaveLength(1);
    const gone = resume.replace("7500", "9999");
    const anew = await readAll(customersOver(service.origin, stream), "customers", { resume: gone });
    expect(ids(anew)).toEqual(["a", "b", "c"]);
    expect(anew.outcome.full).toBe(true);
  });
});
