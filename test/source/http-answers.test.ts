import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { startServer } from "../support/http-server.ts";
import { customersOver, ids, people } from "./http-source.ts";
import { startService } from "./http-service.ts";
import { readAll } from "./support.ts";

const all = people(0, 5);
const xml = { "content-type": "application/xml" };

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
  it.each(["json", "xml"])("is named by its title where %s was asked for", async (answer) => {
    const page = "<!DOCTYPE html><html><head><title>Log in, ann@example.com</title></head><body></body></html>";
    const service = await startService(() => ({ headers: { "content-type": "text/html" }, body: page }));
    const stream = { answer, ...(answer === "xml" ? { records: "a.b" } : {}) };
    const { outcome } = await readAll(customersOver(service.origin, stream, { retries: 1 }), "customers");
    expect(outcome).toMatchObject({ complete: false, rows: 0, problem: { code: "source.not-json" } });
    expect(outcome.problem?.message).toContain('a web page titled "Log in, [redacted]" and no data');
    expect(service.asked).toHaveLength(2);
  });
});

describe("an answer in XML", () => {
  const stream = { answer: "xml", records: "list.customer" };
  const read = async (body: string | Buffer, more: object = {}, headers: Record<string, string> = xml) => {
    const service = await startService(() => ({ headers, body }));
    return readAll(customersOver(service.origin, { ...stream, ...more }, { retries: 0 }), "customers");
  };

  it("becomes records of its elements, attributes and texts", async () => {
    const body =
      '<?xml version="1.0"?><list total="2"><customer id="a"><name>M&#252;ller &amp; Co</name><line>1</line>' +
      '<line>2</line></customer><customer id="b"><name><![CDATA[<x>]]></name><line n="1">y</line><empty/></customer></list>';
    const reading = await read(body, { total: 'list["@total"]', xml: { lists: ["line"] } });
    expect(reading.outcome).toMatchObject({ complete: true, rows: 2 });
    expect(reading.raws.map(({ value }) => value)).toEqual([
      { "@id": "a", name: "Müller & Co", line: ["1", "2"] },
      { "@id": "b", name: "<x>", line: [{ "@n": "1", "#text": "y" }], empty: "" },
    ]);
    expect(reading.raws[1]?.place).toMatch(/#page=1\/list\/customer\/1$/);
  });

  it("is one record where one element stands alone, and none where the element around it is empty", async () => {
    expect(ids(await read("<list><customer><id>1</id></customer></list>"))).toEqual(["1"]);
    expect((await read('<list page="1"/>')).outcome).toMatchObject({ complete: true, rows: 0 });
  });

  it("is no empty list where other elements stand in its place, unless the settings say so", async () => {
    const renamed = "<list><client><id>1</id></client></list>";
    expect((await read(renamed)).outcome).toMatchObject({ complete: false, problem: { code: "source.wrong-shape" } });
    expect((await read(renamed, { xml: { emptyBeside: true } })).outcome).toMatchObject({ complete: true, rows: 0 });
    expect((await read("<other/>")).outcome.complete).toBe(false);
  });

  it("is read in the encoding that it declares", async () => {
    const bytes = Buffer.from(
      '<?xml version="1.0" encoding="ISO-8859-1"?><list><customer><id>\u00e4</id></customer></list>',
      "latin1",
    );
    expect(ids(await read(bytes))).toEqual(["\u00e4"]);
    expect((await read(bytes, {}, { "content-type": "text/xml; charset=utf-8" })).outcome.complete).toBe(false);
  });

  it("holds an error in its own words", async () => {
    const more = { errors: { at: "fault", message: "fault.text" } };
    expect((await read("<fault><text>no such list</text></fault>", more)).outcome.problem?.message).toContain(
      "no such list",
    );
  });

  const laughs = `<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "${"&a;".repeat(10)}"><!ENTITY c "${"&b;".repeat(10)}">]>`;
  it.each([
    ["entities that grow", `${laughs}<list><customer>&c;</customer></list>`],
    ["an entity that reads a file", '<!DOCTYPE l [<!ENTITY f SYSTEM "file:///etc/passwd">]><list>&f;</list>'],
    ["an entity that nobody declared", "<list><customer>&x;</customer></list>"],
    ["200,000 elements in each other", `${"<a>".repeat(200_000)}${"</a>".repeat(200_000)}`],
    ["its second half missing", "<list><customer><id>1</id></cust"],
    ["no end", "<list><customer><id>1</id></customer>"],
    ["two roots", "<list><customer/></list><list/>"],
  ])("with %s is refused whole", async (_what, body) => {
    expect((await read(body)).outcome).toMatchObject({ complete: false, rows: 0 });
  });

  it("with an element __proto__ changes nothing else", async () => {
    const reading = await read(
      "<list><customer><__proto__><isAdmin>1</isAdmin></__proto__><id>1</id></customer></list>",
    );
    expect(ids(reading)).toEqual(["1"]);
    expect(Object.hasOwn(Object.prototype, "isAdmin")).toBe(false);
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

  it("of 100 MB is not taken in, compressed or not, in any form", { tags: "long" }, async () => {
    const big = Buffer.alloc(100_000_000, 0x20);
    const zipped = gzipSync(big);
    for (const answer of ["json", "xml"]) {
      const service = await startService(({ query }) =>
        query["zip"] === "true" ? { body: zipped, headers: { "content-encoding": "gzip" } } : { body: big },
      );
      for (const zip of [true, false]) {
        const { outcome } = await readAll(
          customersOver(service.origin, { answer, records: "list", query: { zip } }),
          "customers",
        );
        expect(outcome.problem?.code).toBe("source.too-large");
      }
    }
  });
});
