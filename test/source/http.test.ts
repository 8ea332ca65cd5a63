import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { Problem } from "../../src/base/errors.ts";
import { systemClock } from "../../src/base/clock.ts";
import { startService, type Answer } from "./http-service.ts";
import type { Asked } from "../support/http-server.ts";
import { customersOver, ids, patientClock, people } from "./http-source.ts";
import { readAll } from "./support.ts";

const all = people(0, 5);
const allIds = all.map(({ id }) => id);

describe("a list in pages", () => {
  const byPage = (asked: Asked): Answer => {
    const page = Number(asked.query["page"]);
    return { body: { items: all.slice((page - 1) * 2, page * 2), total: all.length } };
  };

  it("is read page by page up to its total", async () => {
    const service = await startService(byPage);
    const source = customersOver(service.origin, {
      records: "items",
      total: "total",
      key: "id",
      paging: { kind: "page", sizeParameter: "size", size: 2, moving: "trust" },
      query: { active: true },
    });
    const reading = await readAll(source, "customers");
    expect(ids(reading)).toEqual(allIds);
    expect(reading.outcome).toEqual({ complete: true, full: true, rows: 5 });
    expect(service.asked.map(({ query }) => query)).toEqual([
      { active: "true", page: "1", size: "2" },
      { active: "true", page: "2", size: "2" },
      { active: "true", page: "3", size: "2" },
    ]);
    expect(reading.raws[3]).toMatchObject({ place: `${service.origin}/api/customers#page=2/items/1`, key: "C3" });
  });

  it("without a total ends at two empty pages and not at a short one, since services give fewer than they are asked for", async () => {
    const service = await startService(byPage);
    const source = customersOver(service.origin, {
      records: "items",
      paging: { kind: "page", size: 500, sizeParameter: "size", moving: "trust" },
    });
    expect(ids(await readAll(source, "customers"))).toEqual(allIds);
    expect(service.asked).toHaveLength(5);
  });

  it("ends at a short page where the settings say so", async () => {
    const service = await startService(byPage);
    const source = customersOver(service.origin, {
      records: "items",
      paging: { kind: "page", size: 2, lastPage: "short", moving: "trust" },
    });
    expect(ids(await readAll(source, "customers"))).toEqual(allIds);
    expect(service.asked).toHaveLength(3);
  });

  it("by offset goes on from the records that came, not from those that were asked for", async () => {
    const service = await startService(({ query }) => ({
      body: all.slice(Number(query["skip"]), Number(query["skip"]) + 2),
    }));
    const source = customersOver(service.origin, {
      paging: { kind: "offset", parameter: "skip", size: 100, sizeParameter: "take", moving: "trust" },
    });
    expect(ids(await readAll(source, "customers"))).toEqual(allIds);
    expect(service.asked.map(({ query }) => query["skip"])).toEqual(["0", "2", "4", "5"]);
  });

  it("by cursor in the body of a POST", async () => {
    const service = await startService(({ body }) => {
      const after = Number(JSON.parse(body).after ?? 0);
      return { body: { data: { rows: all.slice(after, after + 2), next: after + 2 < 5 ? after + 2 : null } } };
    });
    const source = customersOver(service.origin, {
      method: "POST",
      body: { filter: { type: "company" } },
      parametersIn: "body",
      records: "data.rows",
      paging: { kind: "cursor", parameter: "after", next: "data.next", moving: "trust" },
    });
    expect(ids(await readAll(source, "customers"))).toEqual(allIds);
    expect(service.asked.map(({ body }) => JSON.parse(body))).toEqual([
      { filter: { type: "company" } },
      { filter: { type: "company" }, after: 2 },
      { filter: { type: "company" }, after: 4 },
    ]);
  });

  it("by links in the answer, relative ones too", async () => {
    const service = await startService(({ query }) => {
      const from = Number(query["from"] ?? 0);
      return {
        body: { value: all.slice(from, from + 3), "@odata.nextLink": from === 0 ? "customers?from=3" : undefined },
      };
    });
    const source = customersOver(service.origin, {
      records: "value",
      paging: { kind: "nextLink", next: '["@odata.nextLink"]' },
    });
    expect(ids(await readAll(source, "customers"))).toEqual(allIds);
  });

  it("by Link headers with several relations", async () => {
    const service = await startService(({ query }) => {
      const from = Number(query["from"] ?? 0);
      const link = `<http://x/first>; rel="first", </api/customers?from=3>; title="a, b"; rel="last next"`;
      return { body: all.slice(from, from + 3), ...(from === 0 ? { headers: { link } } : {}) };
    });
    const source = customersOver(service.origin, { paging: { kind: "linkHeader" } });
    expect(ids(await readAll(source, "customers"))).toEqual(allIds);
  });
});

describe("a list that does not add up is not read whole", () => {
  it("when it gives fewer records than its total", async () => {
    const service = await startService(({ query }) => ({
      body: { items: query["page"] === "1" ? all.slice(0, 2) : [], total: 5 },
    }));
    const source = customersOver(service.origin, { records: "items", total: "total", paging: { kind: "page" } });
    const { outcome } = await readAll(source, "customers");
    expect(outcome).toMatchObject({ complete: false, rows: 2, problem: { code: "source.count-differs", exitCode: 7 } });
  });

  it("when a record stands on two pages, because another may then stand on none", async () => {
    const service = await startService(({ query }) => ({
      body: query["page"] === "1" ? all.slice(0, 3) : query["page"] === "2" ? all.slice(2, 4) : [],
    }));
    const { outcome } = await readAll(
      customersOver(service.origin, { key: "id", paging: { kind: "page" } }),
      "customers",
    );
    expect(outcome.complete).toBe(false);
    expect(outcome.problem?.message).toContain("gave the record C2 2 times");
  });

  it("when the service does not know the page parameter and gives the same page again", async () => {
    const service = await startService(() => ({ body: all }));
    const { outcome } = await readAll(customersOver(service.origin, { paging: { kind: "page" } }), "customers");
    expect(outcome).toMatchObject({ complete: false, problem: { code: "source.page-loop" } });
    expect(service.asked).toHaveLength(2);
  });

  it("when its cursors lead in a circle", async () => {
    const service = await startService(({ query }, number) => ({
      body: { items: people(number, number + 1), next: query["cursor"] === "a" ? "b" : "a" },
    }));
    const { outcome } = await readAll(
      customersOver(service.origin, { records: "items", paging: { kind: "cursor", next: "next" } }),
      "customers",
    );
    expect(outcome).toMatchObject({ complete: false, problem: { code: "source.page-loop" } });
    expect(service.asked).toHaveLength(3);
  });

  it("when it has more pages than are allowed", async () => {
    const service = await startService((_, number) => ({ body: people(number, number + 1) }));
    const { outcome } = await readAll(
      customersOver(service.origin, { maxPages: 3, paging: { kind: "page" } }),
      "customers",
    );
    expect(outcome).toMatchObject({ complete: false, rows: 3, problem: { code: "source.too-many-pages" } });
    expect(service.asked).toHaveLength(3);
  });

  it("when a link leads to another server, which is not shown our credentials", async () => {
    const other = await startService(() => ({ body: [] }));
    const service = await startService(() => ({ body: { items: all, next: `${other.origin}/customers` } }));
    const source = customersOver(
      service.origin,
      { records: "items", paging: { kind: "nextLink", next: "next" } },
      { auth: { kind: "bearer", token: "env:T" } },
    );
    const { outcome } = await readAll(source, "customers");
    expect(outcome).toMatchObject({ complete: false, problem: { code: "source.refused" } });
    expect(other.asked).toHaveLength(0);
  });
});

describe("an incremental reading", () => {
  const noon = Date.UTC(2026, 10, 20, 12);
  const served = (...changed: (string | number | null)[]): Answer => ({
    headers: { date: new Date(noon).toUTCString() },
    body: all.map((person, index) => ({ ...person, changed: changed[index] ?? changed[0] })),
  });
  const since = { parameter: "q", template: "updated>{since}", format: "epoch_s", overlapMs: 600_000 };

  it.each([
    ["an hour ahead", 3_600_000],
    ["an hour behind", -3_600_000],
  ])("begins where the clock of the service was, less the overlap, with our clock %s", async (_how, off) => {
    const clock = patientClock();
    clock.time = noon + off;
    const service = await startService(() => {
      clock.time += 60_000;
      return served();
    });
    const source = customersOver(service.origin, { since }, {}, { clock });
    const first = await readAll(source, "customers");
    expect(first.outcome).toEqual({ complete: true, full: true, rows: 5, cursor: "2026-11-20T11:50:00.000Z" });
    const second = await readAll(source, "customers", { since: first.outcome.cursor ?? "" });
    expect(second.outcome).toMatchObject({ complete: true, full: false });
    expect(service.asked.map(({ query }) => query["q"])).toEqual([undefined, `updated>${(noon - 600_000) / 1000}`]);
  });

  it.each<[string, Answer, string | undefined]>([
    ["the newest change", served(noon / 1000 - 7_200, noon / 1000 - 3_600), "2026-11-20T10:50:00.000Z"],
    [
      "the clock of the service, where a change is ahead of it",
      served(noon / 1000 + 7_200),
      "2026-11-20T11:50:00.000Z",
    ],
    ["the clock of the service, where no change can be read", served(null, "yesterday"), "2026-11-20T11:50:00.000Z"],
    ["where it began, where nothing changed", { ...served(), body: [] }, "2026-11-20T09:00:00.000Z"],
    ["a time in ISO form", served("2026-11-20T12:30:00+02:00"), "2026-11-20T10:20:00.000Z"],
    [
      "the first record of all, where the clock of the service went back",
      { headers: { date: "Fri, 20 Nov 2026 08:00:00 GMT" }, body: [] },
      undefined,
    ],
  ])("with a time of change in its records begins at %s", async (_what, answer, cursor) => {
    const service = await startService(() => answer);
    const at = { since: { ...since, changedAt: "changed" } };
    const source = customersOver(service.origin, at, {}, { clock: { ...systemClock, monotonic: () => 0 } });
    const { outcome } = await readAll(source, "customers", { since: "2026-11-20T09:00:00.000Z" });
    expect(outcome.cursor).toBe(cursor);
  });

  it("that fails hands out no cursor, so that nothing is passed over", async () => {
    const service = await startService(() => ({ status: 404 }));
    const { outcome } = await readAll(customersOver(service.origin, { since: { parameter: "since" } }), "customers");
    expect(outcome.complete).toBe(false);
    expect(outcome.cursor).toBeUndefined();
  });

  it("refuses a time that is none", async () => {
    const source = customersOver("http://127.0.0.1:9", { since: { parameter: "since" } });
    await expect(readAll(source, "customers", { since: "yesterday" })).rejects.toThrow(
      '"yesterday" is not a point in time',
    );
  });
});

describe("a service that fails for a while", () => {
  it.each([
    ["HTTP 503", { status: 503 }],
    ["HTTP 429", { status: 429, headers: { "retry-after": "7" } }],
    ["a broken connection", { breakOff: true }],
    ["JSON that is cut off", { body: '[{"id": 1}, {"i' }],
    ["an HTML page", { body: "<html>maintenance</html>" }],
  ] satisfies [string, Answer][])("is asked again after %s", async (_name, failure) => {
    const clock = patientClock();
    const service = await startService((_, number) => (number < 3 ? failure : { body: all }));
    const { outcome } = await readAll(customersOver(service.origin, {}, {}, { clock }), "customers");
    expect(outcome).toMatchObject({ complete: true, rows: 5 });
    expect(service.asked).toHaveLength(3);
    if ("status" in failure && failure.status === 429) expect(clock.waits).toEqual([7_000, 7_000]);
  });

  it("is asked again at the date that Retry-After names", async () => {
    const clock = patientClock();
    const retryAfter = new Date(clock.time + 90_000).toUTCString();
    const service = await startService((_, number) =>
      number === 1 ? { status: 503, headers: { "retry-after": retryAfter } } : { body: all },
    );
    expect((await readAll(customersOver(service.origin, {}, {}, { clock }), "customers")).outcome.complete).toBe(true);
    expect(clock.waits).toEqual([90_000]);
  });

  it("waits with full jitter between nothing and the doubled step", async () => {
    const clock = patientClock();
    const service = await startService(() => ({ status: 500 }));
    const random = { hex: () => "", fraction: () => 0.5 };
    const source = customersOver(
      service.origin,
      {},
      { retryBaseMs: 100, retryMaxMs: 250, retries: 4 },
      { clock, random },
    );
    const { outcome } = await readAll(source, "customers");
    expect(outcome).toMatchObject({ complete: false, rows: 0, problem: { code: "source.down" } });
    expect(clock.waits).toEqual([50, 100, 125, 125]);
  });

  it("is given up at once when it asks for a longer wait than is allowed", async () => {
    const service = await startService(() => ({ status: 503, headers: { "retry-after": "86400" } }));
    const { outcome } = await readAll(customersOver(service.origin, {}), "customers");
    expect(outcome.problem?.message).toContain("asks to wait 86400 s");
    expect(service.asked).toHaveLength(1);
  });

  it("in the middle of a list leaves the reading incomplete with what was read", async () => {
    const service = await startService(({ query }) => (query["page"] === "1" ? { body: all } : { status: 502 }));
    const reading = await readAll(
      customersOver(service.origin, { paging: { kind: "page" } }, { retries: 1 }),
      "customers",
    );
    expect(ids(reading)).toEqual(allIds);
    expect(reading.outcome).toMatchObject({ complete: false, rows: 5, problem: { code: "source.down" } });
  });

  it("and is not there at all, is named with source, stream and address", async () => {
    const source = customersOver("http://127.0.0.1:9", { query: { apikey: "hidden" } }, { retries: 0 });
    const { outcome } = await readAll(source, "customers");
    expect(outcome.problem).toBeInstanceOf(Problem);
    expect(outcome.problem?.message).toContain("source crm, stream customers cannot be reached");
    expect(outcome.problem?.place).toBe("http://127.0.0.1:9/api/customers");
    expect(await source.check()).toMatchObject({ code: "source.down" });
  });
});

describe("an answer that is not a list", () => {
  it.each([
    ["source.wrong-shape", { body: { rows: [] } }],
    ["source.wrong-shape", { body: { items: {} } }],
    ["source.refused", { status: 302, headers: { location: "http://elsewhere/" } }],
    ["source.refused", { status: 404 }],
    ["source.wrong-password", { status: 403 }],
  ] satisfies [string, Answer][])("is a problem %s and asked for once", async (code, answer) => {
    const service = await startService(() => answer);
    const { outcome } = await readAll(customersOver(service.origin, { records: "items" }), "customers");
    expect(outcome).toMatchObject({ complete: false, rows: 0, problem: { code } });
    expect(service.asked).toHaveLength(1);
  });

  it("is not read beyond the largest page, also when it is compressed", async () => {
    const big = JSON.stringify([{ id: "x".repeat(3_000_000) }]);
    const service = await startService((_, number) =>
      number === 1 ? { body: big } : { body: gzipSync(big), headers: { "content-encoding": "gzip" } },
    );
    for (const attempt of [1, 2]) {
      const { outcome } = await readAll(customersOver(service.origin, {}, { maxPageBytes: 1_000_000 }), "customers");
      expect(outcome.problem?.code, `attempt ${attempt}`).toBe("source.too-large");
    }
  });

  it("is taken when it is compressed", async () => {
    const service = await startService(() => ({
      body: gzipSync(JSON.stringify(all)),
      headers: { "content-encoding": "gzip" },
    }));
    expect(ids(await readAll(customersOver(service.origin, {}), "customers"))).toEqual(allIds);
  });

  it("has one bad record, which does not spoil the others", async () => {
    const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
    const service = await startService(() => ({
      body: `[{"id":"a"},{"id":"b","id":"c"},{"id":9007199254740993},{"id":"d","deep":${deep}},7,{"id":"e"}]`,
    }));
    const { raws, bads, outcome } = await readAll(customersOver(service.origin, {}), "customers");
    expect(raws.map(({ value }) => value["id"])).toEqual(["a", "9007199254740993", "e"]);
    expect(bads.map(({ place, code }) => [place.split("#")[1], code])).toEqual([
      ["page=1/1", "duplicate-member"],
      ["page=1/3", "too-deep"],
      ["page=1/4", "not-an-object"],
    ]);
    expect(outcome).toMatchObject({ complete: true, rows: 6 });
  });
});

describe("a reading that is aborted", () => {
  it("throws the reason and asks for nothing more", async () => {
    const stop = new AbortController();
    const service = await startService((_, number) => ({ body: people(number, number + 1) }));
    const source = customersOver(service.origin, { paging: { kind: "page" } });
    const reading = source.read("customers", { signal: stop.signal });
    await reading.next();
    stop.abort(new Error("SIGTERM"));
    await expect(reading.next()).rejects.toThrow("SIGTERM");
  });
});

describe("the clock of the system", () => {
  it("serves a reading as well", async () => {
    const service = await startService((_, number) => (number === 1 ? { status: 503 } : { body: all }));
    expect(
      (await readAll(customersOver(service.origin, {}, {}, { clock: systemClock }), "customers")).outcome.complete,
    ).toBe(true);
  });
});
