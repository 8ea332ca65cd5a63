import { describe, expect, it } from "vitest";
import type { Json } from "../../src/base/canonical-json.ts";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { customersOver, ids, people } from "./http-source.ts";
import { startService } from "./http-service.ts";
import { customerMapping, readAll } from "./support.ts";

const all = people(0, 5);
const allIds = all.map(({ id }) => id);
const parsed = (body: string): { [key: string]: never } => JSON.parse(body) as { [key: string]: never };

describe("parameters at any place of a request", () => {
  it("page through a JSON-RPC list, whose parameters stand inside lists", async () => {
    const service = await startService(({ body }) => {
      const { params } = JSON.parse(body) as { params: [string, { offset: number; limit: number; fields: string[] }] };
      return { body: { jsonrpc: "2.0", result: all.slice(params[1].offset, params[1].offset + params[1].limit) } };
    });
    const source = customersOver(service.origin, {
      method: "POST",
      body: { jsonrpc: "2.0", method: "search_read", params: ["customers", { fields: ["id", "name"] }] },
      parametersIn: "body",
      records: "result",
      paging: {
        kind: "offset",
        parameter: "params[1].offset",
        sizeParameter: "params[1].limit",
        size: 2,
        moving: "trust",
      },
    });
    expect(ids(await readAll(source, "customers"))).toEqual(allIds);
    expect(service.asked.map(({ body }) => parsed(body)["params"])).toEqual(
      [0, 2, 4, 5].map((offset) => ["customers", { fields: ["id", "name"], offset, limit: 2 }]),
    );
  });

  it("page through GraphQL by variables, until it says that there is no next page although it names a cursor", async () => {
    const service = await startService(({ body }) => {
      const { variables } = JSON.parse(body) as { variables: { after?: string; first: number } };
      const from = Number(variables.after ?? 0);
      const nodes = all.slice(from, from + variables.first);
      const pageInfo = { hasNextPage: from + variables.first < all.length, endCursor: String(from + nodes.length) };
      return { body: { data: { customers: { nodes, pageInfo } } } };
    });
    const source = customersOver(service.origin, {
      method: "POST",
      body: { query: "query ($first: Int!, $after: String) { customers { nodes { id } } }", variables: {} },
      parametersIn: "body",
      records: "data.customers.nodes",
      paging: {
        kind: "cursor",
        parameter: "variables.after",
        next: "data.customers.pageInfo.endCursor",
        hasMore: "data.customers.pageInfo.hasNextPage",
        sizeParameter: "variables.first",
        size: 2,
        moving: "trust",
      },
    });
    expect((await readAll(source, "customers")).outcome).toMatchObject({ complete: true, rows: 5 });
    expect(service.asked).toHaveLength(3);
  });

  it("say that more pages follow and name none: the reading is incomplete, and not at its end", async () => {
    const service = await startService(() => ({ body: { items: all, more: true } }));
    const paging = { kind: "cursor", next: "next", hasMore: "more" };
    const { outcome } = await readAll(customersOver(service.origin, { records: "items", paging }), "customers");
    expect(outcome).toMatchObject({ complete: false, rows: 5, problem: { code: "source.wrong-shape" } });
  });

  it("carry a header and the time of the last reading", async () => {
    const service = await startService(() => ({ body: [] }));
    const source = customersOver(service.origin, {
      parametersIn: "header",
      paging: { kind: "page", parameter: "X-Page" },
      since: { parameter: "If-Modified-Since", in: "header" },
    });
    await readAll(source, "customers", { since: "2026-11-20T08:00:00Z" });
    expect(service.asked[0]?.headers).toMatchObject({ "x-page": "1", "if-modified-since": "2026-11-20T08:00:00.000Z" });
  });

  it("find the next page at the places at which vendors give it, relative links too", async () => {
    const salesforce = await startService(({ path }) =>
      path.endsWith("-2")
        ? { body: { totalSize: 5, done: true, records: all.slice(2) } }
        : { body: { totalSize: 5, done: false, records: all.slice(0, 2), nextRecordsUrl: "/services/query/01g-2" } },
    );
    const hubspot = await startService(({ query }) =>
      query["after"] === "2"
        ? { body: { results: all.slice(2) } }
        : { body: { results: all.slice(0, 2), paging: { next: { after: "2", link: "https://elsewhere.example" } } } },
    );
    const odata = await startService(({ query }, number) =>
      query["$skiptoken"] === "a b"
        ? { body: { value: all.slice(2) } }
        : { body: { value: all.slice(0, 2), "@odata.nextLink": `customers?$skiptoken=a%20b&n=${number}` } },
    );
    for (const [{ origin }, stream] of [
      [salesforce, { records: "records", total: "totalSize", paging: { kind: "nextLink", next: "nextRecordsUrl" } }],
      [hubspot, { records: "results", paging: { kind: "cursor", parameter: "after", next: "paging.next.after" } }],
      [odata, { records: "value", paging: { kind: "nextLink", next: '["@odata.nextLink"]' } }],
    ] as const) {
      const reading = await readAll(customersOver(origin, stream), "customers");
      expect(ids(reading)).toEqual(allIds);
      expect(reading.outcome.complete).toBe(true);
    }
  });

  it.each(["file:///etc/passwd", "http://127.0.0.2:1/customers", "//elsewhere.example/x"])(
    "never lead to %s",
    async (next) => {
      const service = await startService(() => ({ body: { items: all, next } }));
      const source = customersOver(service.origin, { records: "items", paging: { kind: "nextLink", next: "next" } });
      const { outcome } = await readAll(source, "customers");
      expect(outcome).toMatchObject({ complete: false, problem: { code: "source.refused" } });
      expect(service.asked).toHaveLength(1);
    },
  );

  it("are refused when they would begin another header", async () => {
    const service = await startService(() => ({ body: { items: all, next: "a\r\nX-Admin: 1" } }));
    const source = customersOver(service.origin, {
      records: "items",
      parametersIn: "header",
      paging: { kind: "cursor", parameter: "X-After", next: "next" },
    });
    const { outcome } = await readAll(source, "customers");
    expect(outcome.problem?.message).toContain("a header X-After with a line end");
    expect(service.asked).toHaveLength(1);
  });

  it.each([
    [{ headers: { "X-A": "a\r\nX-Admin: 1" } }, "holds characters that a header cannot hold"],
    [{ parametersIn: "body" }, "found body with the method GET"],
    [
      { method: "POST", parametersIn: "body", paging: { kind: "page", parameter: "a[" } },
      'the path "a[" cannot be read',
    ],
    [
      { method: "POST", parametersIn: "body", paging: { kind: "page", parameter: "a[99999999]" } },
      "has a position beyond",
    ],
    [{ paging: { kind: "keyset", parameter: "after" } }, "paging by keys needs the field of the key"],
    [{ answer: "xml" }, 'Unrecognized key: "answer"'],
    [{ paging: { kind: "offset", moving: "overlap" } }, 'Invalid option: expected one of "again"|"trust"'],
  ])("%j are refused before anything is read", (stream, message) => {
    const customers = { url: "https://crm.example.com/c", mapping: customerMapping, ...stream };
    const result = sourceSettingsSchema.safeParse({ kind: "http", streams: { customers } });
    expect(result.success ? "" : JSON.stringify(result.error.issues)).toContain(JSON.stringify(message).slice(1, -1));
  });
});

describe("a list that is read by its keys", () => {
  const keyed = { key: "id", paging: { kind: "keyset", parameter: "after", size: 2, sizeParameter: "limit" } };
  const numbered = [7, 9, 10, 11, 100].map((id) => ({ id, name: `N${id}` }));

  it("passes over no record while records before it go away, and is complete", async () => {
    const there = [...numbered];
    const service = await startService(({ query }, number) => {
      if (number === 2) there.shift();
      return { body: there.filter(({ id }) => id > Number(query["after"] ?? 0)).slice(0, 2) };
    });
    const reading = await readAll(customersOver(service.origin, keyed), "customers");
    expect(ids(reading)).toEqual([7, 9, 10, 11, 100]);
    expect(reading.outcome).toMatchObject({ complete: true, full: true });
    expect(service.asked.map(({ query }) => query["after"])).toEqual([undefined, "9", "11", "100"]);
  });

  it.each<[string, { id: string | number }[][]]>([
    ["goes back", [[{ id: 7 }, { id: 9 }], [{ id: 8 }]]],
    [
      "comes again, since the service does not heed the parameter",
      [
        [{ id: 7 }, { id: 9 }],
        [{ id: 7 }, { id: 9 }],
      ],
    ],
    ["goes back on one page", [[{ id: 9 }, { id: 7 }]]],
    ["is ordered as text where numbers are compared", [[{ id: "10" }, { id: "9" }]]],
  ])("is incomplete by name when a key %s", async (_how, pages) => {
    const service = await startService((_, number) => ({ body: pages[number - 1] ?? [] }));
    const { outcome } = await readAll(customersOver(service.origin, keyed), "customers");
    expect(outcome).toMatchObject({ complete: false, problem: { code: "source.order-went-back" } });
    expect(JSON.stringify(outcome.problem?.message)).toContain("is not in the order of its keys");
  });

  it("is complete where its total is of all records, and where it is of those behind each key", async () => {
    for (const isBehind of [false, true]) {
      const { origin } = await startService(({ query }) => {
        const left = numbered.filter(({ id }) => id > Number(query["after"] ?? 0));
        return { body: { items: left.slice(0, 2), total: (isBehind ? left : numbered).length } };
      });
      const reading = await readAll(customersOver(origin, { ...keyed, records: "items", total: "total" }), "customers");
      expect(ids(reading)).toEqual([7, 9, 10, 11, 100]);
      expect(reading.outcome).toMatchObject({ complete: true, full: true });
    }
  });

  it("does not end at its total where a record came meanwhile: that one is read, too", async () => {
    const there = [...numbered];
    const { origin } = await startService(({ query }, number) => {
      if (number === 4) there.push({ id: 101, name: "N101" });
      const left = there.filter(({ id }) => id > Number(query["after"] ?? 0));
      return { body: { items: left.slice(0, 2), total: 5 } };
    });
    const reading = await readAll(customersOver(origin, { ...keyed, records: "items", total: "total" }), "customers");
    expect(ids(reading)).toEqual([7, 9, 10, 11, 100, 101]);
  });

  it("is incomplete when it ends before its first total, whatever a later one says of what is behind a key", async () => {
    const pages = [{ items: numbered.slice(0, 2), total: 5 }, { items: numbered.slice(2, 3), total: 3 }, { items: [] }];
    const { origin } = await startService((_asked, number) => ({ body: pages[number - 1] }));
    const stream = { ...keyed, records: "items", total: "total" };
    const { outcome } = await readAll(customersOver(origin, stream), "customers");
    expect(outcome).toMatchObject({ complete: false, problem: { code: "source.count-differs" } });
  });

  it("is incomplete when a record has no key to go on from", async () => {
    const service = await startService(() => ({ body: [{ id: 1 }, { name: "nobody" }] }));
    const { outcome } = await readAll(customersOver(service.origin, keyed), "customers");
    expect(outcome.problem?.message).toContain("a record without a key at id");
  });

  it("compares long numbers as numbers", async () => {
    const pages = [[{ id: "9" }, { id: "90071992547409930" }], [{ id: "90071992547409931" }], []];
    const service = await startService((_, number) => ({ body: pages[number - 1] ?? [] }));
    const { outcome } = await readAll(customersOver(service.origin, { key: "id", paging: keyed.paging }), "customers");
    expect(outcome).toMatchObject({ complete: true, rows: 3 });
  });

  it("puts the key into a query text and a filter inside a body, beside the time of the last reading", async () => {
    const soql = await startService(({ query }) => ({
      body: { records: all.filter(({ id }) => id > (/Id > '(\w*)'/u.exec(query["q"] ?? "")?.[1] ?? "")).slice(0, 2) },
    }));
    const source = customersOver(soql.origin, {
      query: { q: "SELECT Id FROM Account WHERE Id > '{value}' ORDER BY Id" },
      records: "records",
      since: {
        parameter: "q",
        template: "SELECT Id FROM Account WHERE Changed >= {since} AND Id > '{value}' ORDER BY Id",
      },
      paging: { kind: "keyset", parameter: "q", key: "id", first: "" },
    });
    expect(ids(await readAll(source, "customers"))).toEqual(allIds);
    expect(soql.asked.map(({ query }) => query["q"])).toEqual(
      ["", "C1", "C3", "C4"].map((id) => `SELECT Id FROM Account WHERE Id > '${id}' ORDER BY Id`),
    );
    await readAll(source, "customers", { since: "2026-11-20T08:00:00Z" });
    expect(soql.asked.at(-1)?.query["q"]).toBe(
      "SELECT Id FROM Account WHERE Changed >= 2026-11-20T08:00:00.000Z AND Id > 'C4' ORDER BY Id",
    );
    const domain = await startService(({ body }) => {
      const filter = (JSON.parse(body) as { params: [string, [string, string, string][]] }).params[1][0];
      return { body: { result: all.filter(({ id }) => id > String(filter?.[2])) } };
    });
    const odoo = customersOver(domain.origin, {
      method: "POST",
      body: { params: ["res.partner", [["id", ">", ""]]] },
      parametersIn: "body",
      records: "result",
      paging: { kind: "keyset", parameter: "params[1][0][2]", key: "id", first: "" },
    });
    expect(ids(await readAll(odoo, "customers"))).toEqual(allIds);
  });

  it("never lets a key end the text that it is put into", async () => {
    const service = await startService(() => ({ body: [{ id: "x' OR Id > '" }] }));
    const source = customersOver(service.origin, {
      query: { q: "WHERE Id > '{value}'" },
      paging: { kind: "keyset", parameter: "q", key: "id", first: "" },
    });
    const { outcome } = await readAll(source, "customers");
    expect(outcome.problem?.message).toContain("quotes or other marks");
    expect(service.asked).toHaveLength(1);
  });
});

describe("a reading that was cut", () => {
  /** Reads until so many positions were told, and leaves the reading there. */
  async function cutAfter(source: ReturnType<typeof customersOver>, count: number, since?: string): Promise<string[]> {
    const positions: string[] = [];
    const reading = source.read("customers", {
      reached: (position) => positions.push(position),
      ...(since === undefined ? {} : { since }),
    });
    while (positions.length < count && (await reading.next()).done !== true);
    await reading.return({ complete: false, full: false, rows: 0 });
    return positions;
  }
  const served = (query: Record<string, string>): Json[] =>
    all.filter(({ id }) => id > (query["after"] ?? "")).slice(0, 2);
  const since = { parameter: "since", changedAt: "changed", overlapMs: 1_000 };

  it("by keys goes on behind the last record that was taken, and is full, with the cursor of its first part", async () => {
    const service = await startService(({ query }) => ({
      headers: { date: "Fri, 20 Nov 2026 12:00:00 GMT" },
      body: served(query).map((row, index) => ({
        ...(row as object),
        changed: `2026-11-2${query["after"] === undefined ? 0 : 1}T0${index}:00:00Z`,
      })),
    }));
    const stream = { key: "id", since, paging: { kind: "keyset", parameter: "after" } };
    const [resume = ""] = await cutAfter(customersOver(service.origin, stream), 1);
    const before = service.asked.length;
    const rest = await readAll(customersOver(service.origin, stream), "customers", { resume });
    expect(ids(rest)).toEqual(["C2", "C3", "C4"]);
    expect(rest.outcome).toEqual({
      complete: true,
      full: true,
      rows: 3,
      cursor: expect.stringMatching(/^2026-11-20T00:5/u),
    });
    expect(service.asked.slice(before).map(({ query }) => query["after"])).not.toContain(undefined);
  });

  it.each([
    ["pages", { kind: "page", size: 2 }],
    ["offsets", { kind: "offset", size: 2, parameter: "offset", moving: "trust" }],
    ["cursors", { kind: "cursor", next: "next", parameter: "offset" }],
    ["links", { kind: "nextLink", next: "link" }],
  ])("by %s goes on, and is not full and has no cursor, since records may have moved meanwhile", async (_, paging) => {
    const service = await startService(({ query }) => {
      const from = query["page"] === undefined ? Number(query["offset"] ?? 0) : (Number(query["page"]) - 1) * 2;
      const next = from + 2 < all.length ? from + 2 : null;
      const link = next === null ? null : `customers?offset=${next}`;
      return { body: { items: all.slice(from, from + 2), next, link, total: all.length } };
    });
    const stream = { key: "id", records: "items", total: "total", since, paging };
    const [, resume = ""] = await cutAfter(customersOver(service.origin, stream), 2);
    const rest = await readAll(customersOver(service.origin, stream), "customers", { resume });
    expect(ids(rest)).toEqual(["C4"]);
    expect(rest.outcome).toEqual({ complete: true, full: false, rows: 1 });
    const other = await readAll(customersOver(service.origin, stream), "customers", {
      resume,
      since: "2026-11-20T08:00:00Z",
    });
    expect(other.raws).toHaveLength(5);
  });

  it.each([
    ["HTTP 410", { status: 410 }],
    ["an error inside HTTP 200", { body: { error: { message: "the cursor has expired" } } }],
  ])("begins anew where the service answers its cursor with %s", async (_how, forgotten) => {
    let isGone = false;
    const service = await startService(({ query }) => {
      const after = query["cursor"];
      if (isGone && after === "2") return forgotten;
      const from = Number(after ?? 0);
      const next = from + 2 < all.length ? `${from + 2}` : null;
      return { body: { items: all.slice(from, from + 2), next: isGone && next === "2" ? "2b" : next } };
    });
    const stream = { records: "items", paging: { kind: "cursor", next: "next" } };
    const [resume = ""] = await cutAfter(customersOver(service.origin, stream), 1);
    isGone = true;
    const anew = customersOver(service.origin, { records: "items", paging: { kind: "none" } });
    expect((await readAll(anew, "customers")).raws).toHaveLength(2);
    const rest = await readAll(customersOver(service.origin, stream), "customers", { resume });
    expect(ids(rest).slice(0, 2)).toEqual(["C0", "C1"]);
    expect(rest.outcome.full).toBe(true);
  });

  it("is told of no position that holds a secret of ours or an address of somebody", async () => {
    const service = await startService(({ query }) => ({
      body: { items: all, link: query["n"] === "1" ? null : `customers?n=1&key=${encodeURIComponent("s3cret/key")}` },
    }));
    const deps = { secrets: () => "s3cret/key" };
    const auth = { kind: "apiKey", header: "X-Key", key: "env:K" };
    const linked = { records: "items", paging: { kind: "nextLink", next: "link" } };
    expect(await cutAfter(customersOver(service.origin, linked, { auth }, deps), 1)).toEqual([]);
    const mail = await startService(({ query }) => ({
      body: query["after"] === undefined ? [{ id: "ann@example.com" }] : [],
    }));
    const keyset = { key: "id", paging: { kind: "keyset", parameter: "after" } };
    expect(await cutAfter(customersOver(mail.origin, keyset), 1)).toEqual([]);
    const packed = Buffer.from(JSON.stringify({ last_value: "ann@example.com" })).toString("base64url");
    const within = await startService(({ query }) => ({
      body: { items: all, next: query["c"] === packed ? null : packed },
    }));
    const cursor = { records: "items", paging: { kind: "cursor", parameter: "c", next: "next" } };
    expect(await cutAfter(customersOver(within.origin, cursor), 1)).toEqual([]);
  });

  it.each(["", "{}", "nonsense", '{"form":1,"page":9}'])("begins anew with the position %j", async (resume) => {
    const service = await startService(() => ({ body: all }));
    const reading = await readAll(customersOver(service.origin, {}), "customers", { resume });
    expect(reading.outcome).toMatchObject({ complete: true, full: true, rows: 5 });
  });
});
