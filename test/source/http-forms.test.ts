import { describe, expect, it } from "vitest";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { startService } from "./http-service.ts";
import { customersOver, ids, people } from "./http-source.ts";
import { customerMapping, readAll } from "./support.ts";

const issues = (stream: object, source: object = {}): string[] => {
  const parsed = sourceSettingsSchema.safeParse({
    kind: "http",
    baseUrl: "https://crm.example/api",
    streams: { customers: { url: "customers", mapping: customerMapping, ...stream } },
    ...source,
  });
  return (parsed.error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
};

describe("a status without content", () => {
  const since = { parameter: "since", overlapMs: 0 };

  it("means that nothing is there where that is said, and that the answer cannot be read where it is not", async () => {
    const service = await startService(() => ({ status: 204, body: "" }));
    const stream = { records: "items", total: "total" };
    const said = await readAll(customersOver(service.origin, { ...stream, nothing: [204] }), "customers");
    expect(said.outcome).toMatchObject({ complete: true, full: true, rows: 0 });
    const unsaid = await readAll(customersOver(service.origin, stream, { retries: 0 }), "customers");
    expect(unsaid.outcome).toMatchObject({ complete: false, problem: { code: "source.not-json" } });
  });

  it("ends a list after its last page, and does not hide that a total was not met", async () => {
    const all = people(0, 4);
    const service = await startService(({ query }) => {
      const items = all.slice((Number(query["page"]) - 1) * 2, Number(query["page"]) * 2);
      return items.length === 0 ? { status: 204, body: "" } : { body: { items, total: 5 } };
    });
    const stream = { records: "items", nothing: [204], paging: { kind: "page", size: 2, moving: "trust" } };
    const reading = await readAll(customersOver(service.origin, stream), "customers");
    expect([ids(reading).length, reading.outcome.complete]).toEqual([4, true]);
    const counted = await readAll(customersOver(service.origin, { ...stream, total: "total" }), "customers");
    expect(counted.outcome).toMatchObject({ complete: false, problem: { code: "source.count-differs" } });
  });

  it("that says that nothing changed is never a list of everything", async () => {
    const service = await startService(() => ({
      status: 304,
      headers: { date: "Sat, 21 Nov 2026 12:00:00 GMT" },
      body: "",
    }));
    const source = customersOver(service.origin, { nothing: [204, 304], since });
    const changes = await readAll(source, "customers", { since: "2026-11-20T12:00:00.000Z" });
    expect(changes.outcome).toMatchObject({ complete: true, full: false, rows: 0 });
    const { outcome } = await readAll(source, "customers");
    expect(outcome).toMatchObject({ complete: false, rows: 0, problem: { code: "source.wrong-shape" } });
    expect(outcome.problem?.message).toMatch(/HTTP 304 \(nothing changed\), although crm-sync requested everything/u);
  });
});

describe("a single object", () => {
  const one = { id: "C1", name: "Ann", total: 900, next: "x" };

  it.each([
    ["the answer itself", one, { single: true }],
    ["at a place in the answer", { data: { customer: one } }, { single: true, records: "data.customer" }],
  ])("is one record: %s", async (_where, body, stream) => {
    const service = await startService(() => ({ body }));
    const reading = await readAll(customersOver(service.origin, { key: "id", ...stream }), "customers");
    expect(reading.outcome).toMatchObject({ complete: true, rows: 1 });
    expect(reading.raws).toMatchObject([{ key: "C1", value: one }]);
  });

  it("is none where null stands, and something else is named", async () => {
    const read = async (body: unknown): Promise<unknown> => {
      const service = await startService(() => ({ body }));
      const stream = { single: true, records: "data" };
      const { outcome } = await readAll(customersOver(service.origin, stream), "customers");
      return outcome.complete ? outcome.rows : outcome.problem?.code;
    };
    expect(await read({ data: one })).toBe(1);
    expect(await read({ data: null })).toBe(0);
    for (const wrong of [{}, { data: [one] }, { data: "text" }]) expect(await read(wrong)).toBe("source.wrong-shape");
  });

  it("that names a member twice is a bad record and not one of two", async () => {
    const service = await startService(() => ({ body: '{"id":"C1","name":"Ann","id":"C2"}' }));
    const reading = await readAll(customersOver(service.origin, { single: true }), "customers");
    expect([reading.raws, reading.bads.length, reading.outcome.rows]).toEqual([[], 1, 1]);
  });

  it("is what belongs to a record, asked for one by one", async () => {
    const service = await startService(({ path }) =>
      path === "/api/customers" ? { body: people(0, 2) } : { body: { owner: path.split("/")[3] } },
    );
    const details = { account: { url: "customers/{id}/account", single: true, each: {} } };
    const reading = await readAll(customersOver(service.origin, { key: "id", details }), "customers");
    expect(reading.raws.map(({ value }) => value["account"])).toEqual([[{ owner: "C0" }], [{ owner: "C1" }]]);
  });

  it("has no pages, and is JSON", () => {
    expect(issues({ single: true, paging: { kind: "page" } })[0]).toMatch(/^streams\.customers\.single: /u);
    expect(issues({ single: true, answer: "csv" })[0]).toMatch(/^streams\.customers\.single: /u);
  });
});

describe("a key in a header", () => {
  const auth = { kind: "apiKey", header: "Authorization", prefix: "Token ", key: "env:KEY" };

  it("stands behind its prefix, and is shown in no message", async () => {
    const service = await startService(({ headers }) => ({
      status: headers.authorization === "Token secret of env:KEY" ? 403 : 200,
      body: { error: `no right for ${headers.authorization}` },
    }));
    const { outcome } = await readAll(customersOver(service.origin, {}, { auth }), "customers");
    expect(outcome.problem?.message).toMatch(/HTTP 403/u);
    expect(outcome.problem?.message).not.toContain("secret of env:KEY");
  });

  it("has no prefix in a query, and none that ends the header", () => {
    expect(issues({}, { auth })).toEqual([]);
    expect(issues({}, { auth: { kind: "apiKey", query: "key", prefix: "Token ", key: "env:KEY" } })[0]).toMatch(
      /^auth\.prefix: /u,
    );
    expect(issues({}, { auth: { ...auth, prefix: "Token\r\nX: " } })[0]).toMatch(/^auth\.prefix: /u);
  });
});
