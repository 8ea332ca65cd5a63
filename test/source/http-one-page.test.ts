import { describe, expect, it } from "vitest";
import { type Answer, startService } from "./http-service.ts";
import { customersOver, ids, people } from "./http-source.ts";
import { readAll, type WholeReading } from "./support.ts";

const rows = people(0, 2);

async function readOf(answer: Answer, stream: object = { records: "items" }): Promise<WholeReading> {
  const service = await startService(() => answer);
  return readAll(customersOver(service.origin, stream), "customers");
}

describe("one answer that is taken for all there is", () => {
  it.each<[string, Answer, string]>([
    ["says that there is more", { body: { items: rows, hasMore: true } }, "hasMore"],
    ["names a next page", { body: { items: rows, links: { next: "/customers?page=2" } } }, "links.next"],
    ["names a cursor", { body: { items: rows, meta: { nextCursor: "abc" } } }, "meta.nextCursor"],
    ["speaks of a larger total", { body: { items: rows, meta: { total: 3 } } }, "meta.total says 3"],
    [
      "has a next page in its Link header",
      { body: { items: rows }, headers: { link: '</customers?page=2>; rel="next"' } },
      "the header Link",
    ],
  ])("is incomplete where it %s, and its records are taken all the same", async (_what, answer, words) => {
    const reading = await readOf(answer);
    expect(ids(reading)).toEqual(["C0", "C1"]);
    expect(reading.outcome).toMatchObject({ complete: false, full: true, rows: 2 });
    const { problem } = reading.outcome;
    expect(problem).toMatchObject({ code: "source.more-beyond", exitCode: 7 });
    expect(problem?.message).toContain(words);
    expect(problem?.cure).toContain("`paging`");
    expect(problem?.cure).toContain("sure: true");
  });

  it.each<[string, Answer]>([
    ["says that there is no more", { body: { items: rows, hasMore: false, next: "/customers?page=2" } }],
    ["speaks of as many as it holds", { body: { items: rows, total: 2, next: null } }],
    ["has a total inside a record alone", { body: { items: [{ ...rows[0], total: 900 }, rows[1]] } }],
    ["links to other pages", { body: { items: rows }, headers: { link: '</customers?page=1>; rel="first"' } }],
  ])("is complete where it %s", async (_what, answer) => {
    expect((await readOf(answer)).outcome).toMatchObject({ complete: true, full: true, rows: 2 });
  });

  it("is complete where a person has said that it is, whatever looks like more", async () => {
    const stream = { records: "items", paging: { kind: "none", sure: true } };
    const reading = await readOf({ body: { items: rows, total: 900, hasMore: true } }, stream);
    expect(reading.outcome).toMatchObject({ complete: true, rows: 2 });
    const service = await startService(() => ({ body: { items: rows, total: 900 } }));
    expect(await customersOver(service.origin, stream).check()).toBeUndefined();
    expect((await customersOver(service.origin, { records: "items" }).check())?.code).toBe("source.more-beyond");
  });

  it("is incomplete for one record alone too, where what belongs to records is asked for one by one", async () => {
    const service = await startService(({ path }) =>
      path === "/api/customers" ? { body: rows } : { body: { seats: [{ id: 1 }], hasMore: path.includes("C1") } },
    );
    const details = { seats: { url: "customers/{id}/seats", records: "seats", each: {} } };
    const { outcome } = await readAll(customersOver(service.origin, { key: "id", details }), "customers");
    expect(outcome).toMatchObject({ complete: false, problem: { code: "source.more-beyond" } });
  });
});

const pagings: [string, object][] = [
  ["cursor", { kind: "cursor", next: "meta.nextCursor" }],
  ["link", { kind: "nextLink", next: "links.following" }],
  ["Link header", { kind: "linkHeader" }],
  ["number", { kind: "page", size: 10, lastPage: "short" }],
  ["offset", { kind: "offset", size: 10, lastPage: "short" }],
  ["key", { kind: "keyset", key: "id", parameter: "after", size: 10, lastPage: "short" }],
];

/** The service gives an answer once, and then the same one without records. */
async function readOnce(answer: Answer, paging: object): Promise<WholeReading> {
  const { body } = answer;
  const service = await startService((_asked, number) => (number === 1 ? answer : { ...answer, body: empty(body) }));
  return readAll(customersOver(service.origin, { records: "items", paging }), "customers");
}

const empty = (body: unknown): object => Object.assign({}, body, { items: [] });

describe.each(pagings)("a list that is paged by %s and ends with its first page", (kind, paging) => {
  const header = kind === "Link header" ? [] : [{ link: '</customers?page=2>; rel="next"' }];

  it.each<[string, Answer]>([
    ["says that there is more", { body: { items: rows, hasMore: true } }],
    ["names a next page", { body: { items: rows, page: { next: "/customers?page=2" } } }],
    ["names the number of one", { body: { items: rows, page: { next_page: 3 } } }],
    ["names a cursor", { body: { items: rows, page: { next_cursor: "abc" } } }],
    ["speaks of a larger total", { body: { items: rows, page: { total: 3 } } }],
    ...header.map((headers): [string, Answer] => ["has a Link header", { body: { items: rows }, headers }]),
  ])("is incomplete where it %s, unless a person is sure", async (_what, answer) => {
    const { outcome } = await readOnce(answer, paging);
    expect(outcome).toMatchObject({ complete: false, rows: 2, problem: { code: "source.more-beyond", exitCode: 7 } });
    expect(outcome.problem?.cure).toMatch(
      /^Correct `paging`.*: (?:hasMore|page\.next|page\.next_page|page\.next_cursor|page\.total|the header Link) shows more records/u,
    );
    expect(outcome.problem?.cure).toContain("`sure: true`");
    const sure = await readOnce(answer, { ...paging, sure: true });
    expect(sure.outcome).toMatchObject({ complete: true, rows: 2 });
    const service = await startService(() => answer);
    expect((await customersOver(service.origin, { records: "items", paging }).check())?.code).toBe(
      "source.more-beyond",
    );
  });

  it.each<[string, object]>([
    ["says that there is no more", { hasMore: false, page: { next: "/customers?page=2", total: 900 } }],
    ["holds no cursor, in whatever words", { page: { next: null, nextCursor: "", cursor: "null", next_page: 0 } }],
    ["speaks of as many as were read", { total: 2, page: { pages: 1, size: 100 } }],
  ])("is complete where its answer %s", async (_what, around) => {
    const { outcome } = await readOnce({ body: { items: rows, ...around } }, paging);
    expect(outcome).toMatchObject({ complete: true, rows: 2 });
  });
});

describe("a list of several pages", () => {
  it("is complete where each answer repeats what it was asked with, and how many in all", async () => {
    const service = await startService(({ query: { cursor } }) => {
      const meta = { cursor, count: 100, total: 4, next: cursor === undefined ? "k2" : null };
      return { body: { items: cursor === undefined ? people(0, 2) : people(2, 4), meta } };
    });
    const paging = { kind: "cursor", next: "meta.next", sizeParameter: "count", size: 100 };
    const reading = await readAll(customersOver(service.origin, { records: "items", paging }), "customers");
    expect(reading.outcome).toMatchObject({ complete: true, rows: 4 });
  });

  it("is complete where the last page has a cursor and says where it is asked to that it is the last", async () => {
    const service = await startService(({ query }) => {
      const isSecond = query["cursor"] === "k2";
      const body = { items: isSecond ? people(2, 4) : people(0, 2), more: !isSecond, cursor: isSecond ? "k4" : "k2" };
      return { body };
    });
    const paging = { kind: "cursor", next: "cursor", hasMore: "more" };
    const reading = await readAll(customersOver(service.origin, { records: "items", paging }), "customers");
    expect(reading.outcome).toMatchObject({ complete: true, rows: 4 });
  });

  it("is incomplete where its offset counts something else and an empty page ends it too early", async () => {
    const service = await startService(({ query }) => ({
      body: { items: query["offset"] === "0" ? people(0, 2) : [], meta: { total: 6 } },
    }));
    const paging = { kind: "offset", moving: "trust", size: 2 };
    const reading = await readAll(customersOver(service.origin, { records: "items", paging }), "customers");
    expect(reading.outcome).toMatchObject({ complete: false, rows: 2, problem: { code: "source.more-beyond" } });
  });
});
