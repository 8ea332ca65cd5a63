import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { startServer } from "../support/http-server.ts";
import { customersOver, people } from "./http-source.ts";
import { startService } from "./http-service.ts";
import { readAll } from "./support.ts";

const all = people(0, 5);

describe("an error inside HTTP 200", () => {
  it.each<[string, object, unknown, string]>([
    [
      "of JSON-RPC",
      {},
      { jsonrpc: "2.0", error: { code: 200, message: "Server Error", data: { message: "No right" } } },
      '"Server Error" (200)',
    ],
    [
      "of GraphQL beside an empty list",
      {},
      { errors: [{ message: "Field x", extensions: { code: "BAD" } }], items: [] },
      '"Field …" (BAD)',
    ],
    ["that is a text", {}, { error: "invalid_query", items: [] }, '"invalid_query"'],
    [
      "where the settings say it",
      { errors: { at: "fault", message: "fault.why", code: "fault.no" } },
      { fault: { why: "closed", no: 7 }, items: [] },
      '"closed" (7)',
    ],
    [
      "where all is well with true only",
      { errors: { at: "success", ok: [true], message: "why" } },
      { success: false, why: "no", items: [] },
      '"no"',
    ],
    [
      "where the sign that all is well is missing",
      { errors: { at: "success", ok: [true] } },
      { items: [] },
      "with an error.",
    ],
  ])("%s is told in its own words and never read as an empty list", async (_what, settings, body, words) => {
    const service = await startService(() => ({ body }));
    const { outcome } = await readAll(customersOver(service.origin, { records: "items", ...settings }), "customers");
    expect(outcome).toMatchObject({ complete: false, rows: 0, problem: { code: "source.error-answer", exitCode: 7 } });
    expect(outcome.problem?.message).toContain(words);
    expect(service.asked).toHaveLength(1);
  });

  it("is told without addresses, numbers, tags and secrets", async () => {
    const message = `<b>No</b> ann@example.com\n+49 170 1234567 tok-3n-value \u001b[31m${"x".repeat(5_000)}`;
    const service = await startService(() => ({ body: { error: { message } } }));
    const auth = { kind: "bearer", token: "env:T" };
    const source = customersOver(service.origin, {}, { auth }, { secrets: () => "tok-3n-value" });
    const said = (await readAll(source, "customers")).outcome.problem?.message ?? "";
    expect(said).toContain("No [redacted] [redacted] [secret hidden]");
    expect(said).not.toMatch(/ann@|1234567|tok-3n|\p{Cc}|<b>/u);
    expect(said.length).toBeLessThan(400);
  });

  it("that may work later is asked for again", async () => {
    const throttled = { body: { errors: [{ message: "slow down", extensions: { code: "THROTTLED" } }] } };
    const service = await startService((_, number) => (number < 3 ? throttled : { body: { items: all } }));
    const errors = { at: "errors", code: "errors[0].extensions.code", retry: ["THROTTLED"] };
    const { outcome } = await readAll(customersOver(service.origin, { records: "items", errors }), "customers");
    expect(outcome).toMatchObject({ complete: true, rows: 5 });
    expect(service.asked).toHaveLength(3);
  });

  it("on a later page leaves the reading incomplete, with what came before it", async () => {
    const service = await startService(({ query }) =>
      query["page"] === "1" ? { body: { items: all } } : { body: { error: "down for maintenance", items: [] } },
    );
    const { outcome } = await readAll(
      customersOver(service.origin, { records: "items", paging: { kind: "page" } }),
      "customers",
    );
    expect(outcome).toMatchObject({ complete: false, rows: 5, problem: { code: "source.error-answer" } });
  });

  it("is none where a service has other things there, and the settings say so", async () => {
    const service = await startService(() => ({ body: { errors: ["last week"], items: all } }));
    const source = customersOver(service.origin, { records: "items", errors: "none" });
    expect((await readAll(source, "customers")).outcome).toMatchObject({ complete: true, rows: 5 });
  });

  it("and one beside an HTTP status is told in its own words, too", async () => {
    const service = await startService(() => ({
      status: 400,
      body: [{ message: "No such column 'Foo'", errorCode: "INVALID_FIELD" }],
    }));
    const { outcome } = await readAll(customersOver(service.origin, {}), "customers");
    expect(outcome.problem?.message).toContain(`answers HTTP 400: "No such column …" (INVALID_FIELD).`);
  });
});

describe("a web page in place of data", () => {
  it("is named by its title", async () => {
    const page = "<!DOCTYPE html><html><head><title>Log in, ann@example.com</title></head><body></body></html>";
    const service = await startService(() => ({ headers: { "content-type": "text/html" }, body: page }));
    const { outcome } = await readAll(customersOver(service.origin, {}, { retries: 1 }), "customers");
    expect(outcome).toMatchObject({ complete: false, rows: 0, problem: { code: "source.not-json" } });
    expect(outcome.problem?.message).toContain('a web page titled "Log in, [redacted]" and no data');
    expect(service.asked).toHaveLength(2);
  });
});

describe("a list whose total is in a header", () => {
  it.each([
    [{ "x-total-count": "6" }, "source.count-differs"],
    [{}, "source.wrong-shape"],
  ])("is counted against it: %j", async (headers, code) => {
    const service = await startService(() => ({ headers, body: all }));
    const { outcome } = await readAll(customersOver(service.origin, { totalHeader: "X-Total-Count" }), "customers");
    expect(outcome).toMatchObject({ complete: false, problem: { code } });
  });
});

describe("an answer that never ends", () => {
  it("is given up when it trickles in", { tags: "long" }, async () => {
    const origin = await startServer((_asked, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const drip = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(drip));
    });
    const source = customersOver(origin, {}, { answerTimeoutMs: 300, retries: 1 });
    const { outcome } = await readAll(source, "customers");
    expect(outcome.problem?.message).toContain("took too long to answer");
  });

  it("of 100 MB is not taken in, compressed or not", { tags: "long" }, async () => {
    const big = Buffer.alloc(100_000_000, 0x20);
    const zipped = gzipSync(big);
    const service = await startService(({ query }) =>
      query["zip"] === "true" ? { body: zipped, headers: { "content-encoding": "gzip" } } : { body: big },
    );
    for (const zip of [true, false]) {
      const { outcome } = await readAll(customersOver(service.origin, { query: { zip } }), "customers");
      expect(outcome.problem?.code).toBe("source.too-large");
    }
  });
});
