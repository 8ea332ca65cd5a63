import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { startService, type Answer, type Service } from "./http-service.ts";
import { openSource, readAll, type WholeReading } from "./support.ts";

const mapping = {
  id: "id",
  customerId: "customer",
  instances: [{ kind: "asset", one: { id: "id", licenseType: { value: "softkey" } } }],
};
const fast = { retries: 1, retryBaseMs: 1, retryMaxMs: 1 };

type Answers = Record<string, unknown>;

/** A service with an answer for each path; a function is asked, an answer with a status is given as it is. */
function serviceOf(answers: Answers): Promise<Service> {
  return startService(async (asked) => {
    const found = answers[asked.path];
    const given: unknown = typeof found === "function" ? found(asked) : await found;
    if (given === undefined) return { status: 404 };
    return isAnswer(given) ? given : { body: given };
  });
}

const isAnswer = (given: unknown): given is Answer => typeof given === "object" && given !== null && "status" in given;

function read(origin: string, stream: object, options = {}, settings = {}): Promise<WholeReading> {
  const source = { kind: "http", baseUrl: origin, ...fast, ...settings, streams: { orders: { mapping, ...stream } } };
  return readAll(openSource(source, "."), "orders", options);
}

const orders = [
  { id: 2, customer: "B" },
  { id: 1, customer: "A" },
  { id: 3, customer: "C" },
];

describe("two endpoints joined by key", () => {
  const stream = { url: "orders", key: "id", details: { lines: { url: "lines", key: "order", rowKey: "line" } } };
  const lines = [
    { line: 7, order: 1 },
    { line: 8, order: 2 },
    { line: 9, order: 1 },
  ];

  it("become records with their lists, and a row without a record is named", async () => {
    const { origin } = await serviceOf({
      "/orders": orders,
      "/lines": [...lines, { line: 10, order: 9 }, { line: 11 }],
    });
    const { raws, bads, outcome } = await read(origin, stream);
    expect(raws.map(({ key, value }) => [key, value["lines"]])).toEqual([
      ["2", [{ line: 8, order: 2 }]],
      ["1", [lines[0], lines[2]]],
      ["3", []],
    ]);
    expect(bads.map(({ code }) => code)).toEqual(["no-key", "orphan-detail"]);
    expect(outcome).toMatchObject({ complete: true, full: true, details: { "#headers": 3, lines: 5 } });
  });

  it.each<[string, unknown]>([
    ["fails", { status: 500 }],
    ["is refused", { status: 403 }],
    ["is no list", { nothing: true }],
  ])("give no record where the list of details %s", async (_how, answer) => {
    const { origin } = await serviceOf({ "/orders": orders, "/lines": answer });
    const { raws, outcome } = await read(origin, stream);
    expect([raws, outcome.complete]).toEqual([[], false]);
    expect(outcome.problem?.message).toContain("details lines");
  });

  it("pass over the details of what did not change, where the records are those that did", async () => {
    const changed = { ...orders[1], at: "2026-11-01T00:00:00Z" };
    const { origin, asked } = await serviceOf({ "/orders": [changed], "/lines": lines });
    const since = { parameter: "since", changedAt: "at" };
    const judged: unknown[] = [];
    const distrust = (...given: unknown[]): undefined => void judged.push(given);
    const options = { since: "2026-10-01T00:00:00Z", distrust };
    const { raws, bads, outcome } = await read(origin, { ...stream, since }, options);
    expect(judged, "nobody knows which rows are of no record").toEqual([[{ lines: 3 }, true]]);
    expect(raws.map(({ key }) => key)).toEqual(["1"]);
    expect(bads).toEqual([]);
    expect(outcome).toMatchObject({ complete: true, full: false });
    expect(outcome.cursor).toBeDefined();
    expect(asked.map(({ path, query }) => [path, query["since"] !== undefined])).toEqual([
      ["/orders", true],
      ["/lines", false],
    ]);
  });
});

describe("details that are asked for record by record", () => {
  const stream = { url: "orders", key: "id", details: { lines: { url: "orders/{id}/lines", each: {} } } };

  it.each([
    ["some are there", [{ n: 1 }], false],
    ["none is there", [], true],
  ])("are unclear in a read of changes only if none is there: %s", async (_what, given, isUnclear) => {
    const changed = ["1", "2"].map((id) => ({ id, customer: "A", at: "2026-11-01T00:00:00Z" }));
    const { origin } = await serviceOf({ "/orders": changed, "/orders/1/lines": given, "/orders/2/lines": [] });
    const judged: unknown[] = [];
    const distrust = (...asked: unknown[]): undefined => void judged.push(asked);
    const since = { parameter: "since", changedAt: "at" };
    await read(origin, { ...stream, since }, { since: "2026-10-01T00:00:00Z", distrust });
    expect(judged).toEqual([[{}, isUnclear]]);
  });

  it("go into the record that they were asked for by, in the order of the records", async () => {
    const { origin, asked } = await serviceOf({
      "/orders": orders,
      "/orders/1/lines": [{ n: 1 }, { n: 2 }],
      "/orders/2/lines": [{ n: 3 }],
      "/orders/3/lines": [],
    });
    const { raws, bads, outcome } = await read(origin, stream);
    expect(raws.map(({ key, value }) => [key, value["lines"]])).toEqual([
      ["2", [{ n: 3 }]],
      ["1", [{ n: 1 }, { n: 2 }]],
      ["3", []],
    ]);
    expect([bads, outcome.complete, asked.length]).toEqual([[], true, 4]);
  });

  it("end at once where the service refuses, whatever it still owes", async () => {
    const { origin } = await serviceOf({
      "/orders": orders,
      "/orders/2/lines": { status: 401 },
      "/orders/1/lines": new Promise(() => undefined),
      "/orders/3/lines": { status: 503, headers: { "retry-after": "200" } },
    });
    const { outcome } = await read(origin, stream);
    expect(outcome.problem?.code).toBe("source.wrong-password");
  });

  it("put values into addresses as what they are, and name a record that has none", async () => {
    const odd = ["a/b", "ä ?#&", "..", "", "x"].map((id, index) => ({ id: index + 1, code: id }));
    const paths: string[] = [];
    const service = await startService(({ path }) => {
      if (path === "/orders") return { body: odd };
      paths.push(path);
      return { body: [{ path }] };
    });
    const { raws, bads, outcome } = await read(service.origin, {
      ...stream,
      details: { lines: { url: "orders/{code}/lines", each: {} } },
    });
    expect(paths.toSorted()).toEqual(["/orders/%C3%A4%20%3F%23%26/lines", "/orders/a%2Fb/lines", "/orders/x/lines"]);
    expect(raws.map(({ key }) => key)).toEqual(["1", "2", "5"]);
    expect(bads.map(({ key, code }) => [key, code])).toEqual([
      ["3", "no-value"],
      ["4", "no-value"],
    ]);
    expect(bads[0]?.message).toContain("no usable value in code");
    expect(outcome.complete).toBe(true);
  });

  it("are never none because a request failed, and a 404 means none only where that is said", async () => {
    const answers: Answers = { "/orders": orders, "/orders/1/lines": [{ n: 1 }], "/orders/2/lines": [{ n: 2 }] };
    const { origin } = await serviceOf(answers);
    const lost = await read(origin, stream);
    expect([lost.raws, lost.outcome.complete]).toEqual([[], false]);
    expect(lost.outcome.problem?.message).toMatch(/details lines answers HTTP 404/u);

    const lines = { url: "orders/{id}/lines", each: { notFound: "none" } };
    const none = await read(origin, { ...stream, details: { lines } });
    expect(none.raws.map(({ key, value }) => [key, value["lines"]])).toEqual([
      ["2", [{ n: 2 }]],
      ["1", [{ n: 1 }]],
      ["3", []],
    ]);
    expect(none.outcome.complete).toBe(true);

    for (const status of [400, 403, 410, 500]) {
      answers["/orders/3/lines"] = { status };
      const failed = await read(origin, { ...stream, details: { lines } });
      expect([failed.raws, failed.outcome.complete], String(status)).toEqual([[], false]);
    }
    // Where each needs one, none is named.
    delete answers["/orders/3/lines"];
    const needed = await read(origin, { ...stream, details: { lines: { ...lines, required: true } } });
    expect(needed.raws.map(({ key }) => key)).toEqual(["2", "1"]);
    expect(needed.bads).toMatchObject([{ key: "3", code: "no-details" }]);
  });

  it("are asked for a few at a time, and a 404 on a later page is no sign of none", { tags: "long" }, async () => {
    const many = [...Array(30).keys()].map((id) => ({ id }));
    let open = 0;
    let most = 0;
    const three = Promise.withResolvers<void>();
    const service = await startService(async ({ path, query }) => {
      if (path === "/orders") return { body: many };
      open += 1;
      most = Math.max(most, open);
      if (open === 3) three.resolve();
      await three.promise;
      await turn();
      open -= 1;
      const page = Number(query["page"]);
      if (path === "/orders/9/lines" && page === 2) return { status: 404 };
      return { body: page === 1 ? [{ n: path }] : [] };
    });
    const lines = { url: "orders/{id}/lines", each: { notFound: "none" }, paging: { kind: "page" } };
    const { raws, outcome } = await read(service.origin, { ...stream, details: { lines } }, {}, { requestsAtOnce: 3 });
    expect([raws, outcome.complete]).toEqual([[], false]);
    expect(most).toBe(3);
  });

  it("are asked for in batches by a POST with the ids of many, as associations are", async () => {
    const bodies: unknown[] = [];
    const service = await startService(({ path, body }) => {
      if (path === "/orders") return { body: orders };
      const asked: { inputs: { id: number }[]; properties: string[] } = JSON.parse(body);
      bodies.push(asked);
      return {
        body: { results: asked.inputs.filter(({ id }) => id !== 3).map(({ id }) => ({ from: { id }, to: [id * 10] })) },
      };
    });
    const lines = {
      url: "associations/batch/read",
      method: "POST",
      body: { properties: ["type"] },
      records: "results",
      key: "from.id",
      each: { batch: 2, put: [{ in: "body", parameter: "inputs", value: "id", member: "id" }] },
    };
    const { raws, outcome } = await read(service.origin, { ...stream, details: { lines } });
    expect(bodies).toEqual([
      { inputs: [{ id: 2 }, { id: 1 }], properties: ["type"] },
      { inputs: [{ id: 3 }], properties: ["type"] },
    ]);
    expect(raws.map(({ key, value }) => [key, value["lines"]])).toEqual([
      ["2", [{ from: { id: 2 }, to: [20] }]],
      ["1", [{ from: { id: 1 }, to: [10] }]],
      ["3", []],
    ]);
    expect(outcome.complete).toBe(true);
  });

  it("are not asked for as those of another record, whatever a key holds", async () => {
    const ids = ["b,c", "x' or 'a' eq 'a", "7"];
    const service = await startService(({ path, query }) => {
      if (path === "/orders") return { body: ids.map((id) => ({ id })) };
      const asked = path === "/of" ? (query["ids"] ?? "").split(",") : (query["q"] ?? "").split("'").slice(1, -1);
      return { body: asked.map((order) => ({ order })) };
    });
    const batch = { url: "of", key: "order", each: { batch: 5, put: [{ parameter: "ids", value: "id" }] } };
    const batched = await read(service.origin, { ...stream, details: { lines: batch } });
    expect(batched.bads.map(({ key, code }) => [key, code])).toEqual([["b,c", "no-value"]]);
    const quoted = { url: "lines?q=order eq '{id}'", each: {} };
    const single = await read(service.origin, { ...stream, details: { lines: quoted } });
    expect(single.bads.map(({ key, code }) => [key, code])).toEqual([[ids[1], "no-value"]]);
    expect(service.asked.some(({ query }) => query["q"]?.includes(" or ") === true)).toBe(false);
    expect(single.raws.map(({ value }) => value["lines"])).toEqual([[{ order: "b,c" }], [{ order: "7" }]]);
  });

  it.each([
    ["in an address", { url: "lines?q=order eq {id}", each: {} }],
    [
      "in a text of the query",
      {
        url: "lines",
        query: { q: "order eq {value}" },
        each: { put: [{ in: "query", parameter: "q", value: "id" }] },
      },
    ],
  ])("take no key for an expression, where no quotes stand %s", async (_, lines) => {
    const ids = ["1 or 1", "7", "1=1"];
    const service = await startService(({ path, query }) =>
      path === "/orders"
        ? { body: ids.map((id) => ({ id })) }
        : { body: [{ order: (query["q"] ?? "").replace("order eq ", "") }] },
    );
    const { raws, outcome, bads } = await read(service.origin, { ...stream, details: { lines } });
    expect(service.asked.flatMap(({ query }) => query["q"] ?? []).every((q) => /^order eq 7$/u.test(q))).toBe(true);
    expect(raws.every(({ value }) => value["id"] === "7")).toBe(true);
    expect(!outcome.complete || bads.length === 2).toBe(true);
  });

  it("show no value of a record in a place or a problem", async () => {
    const people = [{ id: 1, mail: "zq@example.com" }];
    const { origin } = await serviceOf({
      "/orders": people,
      "/by/zq%40example.com": [{ n: 1 }, 7],
    });
    const by = { ...stream, details: { lines: { url: "by/{mail}", each: {} } } };
    const found = await read(origin, by);
    expect(found.bads).toMatchObject([{ code: "not-an-object" }]);
    expect(found.bads[0]?.place).toContain("/by/{mail} for ");
    const other = await serviceOf({ "/orders": people, "/by/zq%40example.com": { status: 400 } });
    const failed = await read(other.origin, by);
    expect(failed.outcome.complete).toBe(false);
    expect(
      JSON.stringify([found, failed.outcome, failed.outcome.problem?.place]).replaceAll(
        JSON.stringify(people[0]).slice(1, -1),
        "",
      ),
    ).not.toContain("zq%40");
    expect(failed.outcome.problem?.place).toContain("/by/{mail} for ");
  });
});

it("chains refuse what cannot be asked for", () => {
  const issues = (stream: object, more: object = {}): string[] => {
    const base = { url: "orders", key: "id", mapping };
    const settings = {
      kind: "http",
      baseUrl: "https://crm.example.com",
      streams: { orders: { ...base, ...stream } },
      ...more,
    };
    return (sourceSettingsSchema.safeParse(settings).error?.issues ?? []).map(
      ({ path, message }) => `${path.slice(2).join(".")}: ${message}`,
    );
  };
  const lines = (settings: object): object => ({ details: { lines: { url: "lines", key: "id", ...settings } } });
  expect(issues(lines({}))).toEqual([]);
  expect(issues({ ...lines({}), key: undefined })).toEqual([
    "key: missing; detail rows are joined by the key of their record",
  ]);
  expect(issues(lines({ key: undefined }))).toEqual([
    "details.lines.key: missing; detail rows are joined by the key of their record",
  ]);
  expect(issues(lines({ each: {} }))).toEqual([
    "details.lines.each: needs a {field} in `url`, or `put`: every request would be the same",
  ]);
  expect(issues(lines({ url: "https://{host}/x", each: {} }))).toEqual([
    "details.lines.url: has a value of a record in the name of its server",
  ]);
  expect(issues(lines({ url: "a/{id}", each: { batch: 2 } }))).toEqual([
    "details.lines.each.batch: found with a {field} in `url`, which holds one value; use `put`",
  ]);
  expect(issues({}, { baseUrl: "crm" })).toHaveLength(1);
  const put = [{ parameter: "ids", value: "id" }];
  expect(issues(lines({ each: { batch: 2, notFound: "none", put } }))[0]).toContain("details.lines.each.notFound: ");
  expect(issues(lines({ url: "a/{i[}", each: {} }))[0]).toContain("details.lines.url: ");
  const auth = { kind: "bearer", token: "env:T" };
  expect(issues(lines({ url: "http://elsewhere.example.com/lines" }), { auth })[0]).toContain(
    "details.lines.url: must be https",
  );
});
