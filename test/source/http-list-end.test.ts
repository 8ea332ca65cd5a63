import { describe, expect, it } from "vitest";
import { type Answer, startService } from "./http-service.ts";
import { customersOver, ids, people } from "./http-source.ts";
import { readAll, type WholeReading } from "./support.ts";

const all = people(0, 6);
const allIds = all.map(({ id }) => id);

/** Where a page begins that is asked for by number, offset, key, cursor or link. */
function startOf(query: Record<string, string>): number {
  const { page, offset, after, cursor } = query;
  if (page !== undefined) return (Number(page) - 1) * 2;
  if (after !== undefined) return allIds.indexOf(after) + 1;
  return Number(offset ?? cursor ?? 0);
}

interface Served {
  total?: number;
  /** Numbers of pages, from 1, that are empty. */
  emptied?: number[];
  /** What comes behind the last page. */
  beyond?: Answer;
  /** The page on which the next one is not named any more. */
  forgets?: number;
  header?: boolean;
}

/** Reads a list of six records, two to a page, of a service that behaves so. */
async function read(
  paging: object,
  { total, emptied = [], beyond, forgets, header }: Served,
): Promise<WholeReading & { requests: number }> {
  const service = await startService(({ query }) => {
    const from = startOf(query);
    if (from >= all.length && beyond !== undefined) return beyond;
    const items = emptied.includes(from / 2 + 1) ? [] : all.slice(from, from + 2);
    const next = from + 2 < all.length && forgets !== from / 2 + 1 ? from + 2 : null;
    const link = next === null ? null : `customers?cursor=${next}`;
    return {
      body: { items, total, next, link },
      ...(header === true && link !== null ? { headers: { link: `<${link}>; rel="next"` } } : {}),
    };
  });
  const stream = { key: "id", records: "items", paging, ...(total === undefined ? {} : { total: "total" }) };
  const reading = await readAll(customersOver(service.origin, stream), "customers");
  return { ...reading, requests: service.asked.length };
}

const byPage = { kind: "page", size: 2, moving: "trust" };
const counted: [string, object][] = [
  ["page", byPage],
  ["page, read again", { kind: "page", size: 2 }],
  ["offset, read again", { kind: "offset", size: 2 }],
  ["offset", { kind: "offset", size: 2, moving: "trust" }],
  ["key", { kind: "keyset", parameter: "after", size: 2 }],
];
const linked: [string, object][] = [
  ["cursor", { kind: "cursor", next: "next" }],
  ["link", { kind: "nextLink", next: "link" }],
  ["Link header", { kind: "linkHeader" }],
];

describe.each([...counted, ...linked])("a list by %s whose total is too small", (name, paging) => {
  it.each([2, 3, 4, 5])(
    "(%i) is read to its end and is incomplete, since the service contradicts itself",
    async (total) => {
      const reading = await read(paging, { total, header: name === "Link header" });
      expect(new Set(ids(reading))).toEqual(new Set(allIds));
      expect(reading.outcome).toMatchObject({ complete: false, problem: { code: "source.count-differs" } });
    },
  );
});

describe.each(counted)("a list by %s whose total is right", (_name, paging) => {
  it.each<[string, Answer | undefined]>([
    ["an empty page", undefined],
    ["HTTP 404", { status: 404, body: { detail: "Invalid page." } }],
    ["HTTP 400", { status: 400 }],
    ["its last page again", { body: { items: all.slice(4), total: 6, at: 3 } }],
    ["its first page again", { body: { items: all.slice(0, 2), total: 6, at: 1 } }],
  ])("is complete where %s is behind it", async (what, beyond) => {
    const isKey = "parameter" in paging;
    if (isKey && what !== "an empty page") return;
    const reading = await read(paging, { total: 6, ...(beyond === undefined ? {} : { beyond }) });
    expect(ids(reading)).toEqual(allIds);
    expect(reading.outcome).toMatchObject({ complete: true, rows: 6 });
  });
});

it("a list is incomplete where the service is away when it is asked for what may be behind the total", async () => {
  for (const status of [401, 403, 500]) {
    const { outcome } = await read(byPage, { total: 6, beyond: { status } });
    expect(outcome).toMatchObject({ complete: false, rows: 6 });
  }
});

it("a list whose last page is short and whose total agrees is not asked for more", async () => {
  const service = await startService(({ query }) => {
    const from = startOf(query);
    return { body: { items: all.slice(from, Math.min(from + 2, 5)), total: 5 } };
  });
  const stream = { records: "items", total: "total", paging: byPage };
  const reading = await readAll(customersOver(service.origin, stream), "customers");
  expect(reading.outcome).toMatchObject({ complete: true, rows: 5 });
  expect(service.asked).toHaveLength(3);
});

describe.each(counted)("a list by %s whose pages are cut short by the service", (_name, paging) => {
  it.each(["empty", "short"])("is read whole, whatever ends it (%s)", async (lastPage) => {
    const reading = await read({ ...paging, size: 5, sizeParameter: "size", lastPage }, {});
    expect(ids(reading)).toEqual(allIds);
    expect(reading.outcome).toMatchObject({ complete: true, rows: 6 });
  });
});

it("a first page that is short is the last one where the service has no other", async () => {
  for (const [beyond, complete] of [
    [{ status: 404 }, true],
    [{ status: 400 }, false],
    [{ body: { items: all } }, false],
  ] as const) {
    const service = await startService((_asked, number) => (number === 1 ? { body: { items: all } } : beyond));
    const stream = { key: "id", records: "items", paging: { ...byPage, size: 50, lastPage: "short" } };
    const { outcome } = await readAll(customersOver(service.origin, stream), "customers");
    expect(outcome.complete).toBe(complete);
  }
});

describe("an empty page in the middle", () => {
  it.each([...counted.slice(0, 2), ...linked])("ends no list by %s that goes on", async (name, paging) => {
    const reading = await read(paging, { emptied: [2], header: name === "Link header" });
    const isCounted = name.startsWith("page");
    expect(ids(reading)).toEqual(isCounted ? ["C0", "C1"] : ["C0", "C1", "C4", "C5"]);
    expect(reading.outcome).toMatchObject(
      isCounted ? { complete: false, problem: { code: "source.moved" } } : { complete: true },
    );
  });

  it.each(counted)("ends a list by %s as incomplete, where its total speaks of more", async (_name, paging) => {
    const { outcome } = await read(paging, { emptied: [2], total: 6 });
    expect(outcome.complete).toBe(false);
    expect(["source.count-differs", "source.moved"]).toContain(outcome.problem?.code);
  });

  it("is passed over where the service says that more pages follow", async () => {
    const service = await startService(({ query }) => {
      const from = startOf(query);
      return { body: { items: from === 2 ? [] : all.slice(from, from + 2), more: from < 4 } };
    });
    const stream = { records: "items", paging: { ...byPage, hasMore: "more" } };
    const reading = await readAll(customersOver(service.origin, stream), "customers");
    expect(ids(reading)).toEqual(["C0", "C1", "C4", "C5"]);
    expect(reading.outcome.complete).toBe(true);
  });
});

it.each(linked)(
  "a list by %s is incomplete where the way to the next page is missing and the total speaks of more",
  async (name, paging) => {
    const reading = await read(paging, { forgets: 2, total: 6, header: name === "Link header" });
    expect(ids(reading)).toEqual(["C0", "C1", "C2", "C3"]);
    expect(reading.outcome).toMatchObject({ complete: false, problem: { code: "source.count-differs" } });
  },
);

it.each([...counted, ...linked])(
  "a list by %s is incomplete where one of its pages comes again and again",
  async (_name, paging) => {
    const service = await startService(() => ({
      body: { items: all.slice(0, 2), next: "x", link: "customers?cursor=x" },
      headers: { link: '<customers?cursor=x>; rel="next"' },
    }));
    const stream = { key: "id", records: "items", paging, maxPages: 20 };
    const { outcome } = await readAll(customersOver(service.origin, stream), "customers");
    expect(outcome.complete).toBe(false);
    expect(["source.page-loop", "source.moved", "source.order-went-back"]).toContain(outcome.problem?.code);
  },
);
