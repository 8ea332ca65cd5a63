import { describe, expect, it } from "vitest";
import type { Answer } from "./http-service.ts";
import { startService } from "./http-service.ts";
import { customersOver, ids, people } from "./http-source.ts";
import { readAll } from "./support.ts";
import type { WholeReading } from "./support.ts";

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
