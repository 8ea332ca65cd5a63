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

  it("has no prefix that ends the header", () => {
    expect(issues({}, { auth })).toEqual([]);
    expect(issues({}, { auth: { ...auth, prefix: "Token\r\nX: " } })[0]).toMatch(/^auth\.prefix: /u);
  });
});
