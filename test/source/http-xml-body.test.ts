import { describe, expect, it } from "vitest";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { startService } from "./http-service.ts";
import { customersOver, ids } from "./http-source.ts";
import { customerMapping, readAll } from "./support.ts";

const envelope = (inside: string): string =>
  `<?xml version="1.0"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">` +
  `<soap:Body>${inside}</soap:Body></soap:Envelope>`;
const soap = {
  method: "POST",
  bodyAs: "xml",
  answer: "xml",
  records: "reply.customer",
  xml: { lists: ["customer"], emptyBeside: true },
};
const xml = { "content-type": "text/xml" };
const reply = (names: readonly string[], next = ""): string =>
  `<reply>${names.map((name) => `<customer><id>${name}</id><name>N</name></customer>`).join("")}<next>${next}</next></reply>`;
const inside = (body: string, name: string): string | undefined =>
  new RegExp(`<${name}>(.*?)</${name}>`, "su").exec(body)?.[1];

const issues = (stream: object, source: object = {}): string[] => {
  const parsed = sourceSettingsSchema.safeParse({
    kind: "http",
    baseUrl: "https://crm.example/api",
    streams: { customers: { url: "customers", mapping: customerMapping, ...soap, ...stream } },
    ...source,
  });
  return (parsed.error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
};

describe("a request whose body is XML", () => {
  it("has its parameters where their names stand in braces, escaped, and nothing where there is none yet", async () => {
    const service = await startService(({ body }) => ({
      headers: xml,
      body: inside(body, "after") === "" ? reply(["C0", "C1"], "a&amp;b&lt;c&gt;&quot;&apos;{size}") : reply(["C2"]),
    }));
    const stream = {
      ...soap,
      headers: { SOAPAction: "list" },
      body: envelope("<list><after>{after}</after><most>{size}</most><id>{not-ours}</id></list>"),
      parametersIn: "body",
      paging: { kind: "cursor", parameter: "after", next: "reply.next", sizeParameter: "size", size: 2 },
    };
    const reading = await readAll(customersOver(service.origin, stream), "customers");
    expect(reading.outcome).toMatchObject({ complete: true, rows: 3 });
    expect(ids(reading)).toEqual(["C0", "C1", "C2"]);
    const [first, second] = service.asked;
    expect(first?.headers).toMatchObject({ "content-type": "text/xml; charset=utf-8", soapaction: "list" });
    expect(first?.body).toBe(envelope("<list><after></after><most>2</most><id>{not-ours}</id></list>"));
    const sent = inside(second?.body ?? "", "after");
    expect(sent).toBe("a&amp;b&lt;c&gt;&quot;&apos;&#123;size&#125;");
    expect(sent?.replaceAll(/&(amp|lt|gt|quot|apos|#123|#125);/gu, "")).not.toMatch(/[<>"'&{}]/u);
  });

  it("is made for each record with its value, which cannot end the text around it", async () => {
    const evil = `C1</id><delete>all</delete>`;
    const service = await startService(({ path, body }) =>
      path === "/api/customers"
        ? { body: [{ id: evil, name: "N" }] }
        : { headers: xml, body: `<reply><seat><of>${inside(body, "id")}</of></seat></reply>` },
    );
    const seats = {
      url: "seats",
      ...soap,
      records: "reply.seat",
      body: envelope("<seats><id>{id}</id></seats>"),
      each: { put: [{ in: "body", parameter: "id", value: "id" }] },
    };
    const reading = await readAll(customersOver(service.origin, { key: "id", details: { seats } }), "customers");
    expect(service.asked.at(-1)?.body).not.toContain("<delete>");
    expect(reading.raws.map(({ value }) => value["seats"])).toEqual([[{ of: evil }]]);
  });

  it("is refused with a character that XML does not have, and the reading is incomplete", async () => {
    const service = await startService(({ path }) =>
      path === "/api/customers" ? { body: [{ id: "C\u0001", name: "N" }] } : { headers: xml, body: "<reply/>" },
    );
    const each = { put: [{ in: "body", parameter: "id", value: "id" }] };
    const seats = { url: "seats", ...soap, body: envelope("<id>{id}</id>"), each };
    const { outcome } = await readAll(customersOver(service.origin, { key: "id", details: { seats } }), "customers");
    expect(outcome).toMatchObject({ complete: false, problem: { code: "source.wrong-shape" } });
    expect(outcome.problem?.message).toMatch(/a character which XML does not have/u);
    expect(service.asked).toHaveLength(1);
  });

  it("is checked: it is a text, with a place for everything that goes into it", () => {
    const paging = { kind: "page", parameter: "page" };
    expect(issues({ body: "<list>{page}</list>", parametersIn: "body", paging })).toEqual([]);
    expect(issues({ body: { list: 1 } })[0]).toMatch(/^streams\.customers\.body: expected a text/u);
    expect(issues({ body: "<list/>", parametersIn: "body", paging })).toEqual([
      "streams.customers.paging.parameter: has no place in `body`, which holds no {page}",
    ]);
    const each = { put: [{ in: "body", parameter: "id", value: "id" }], batch: 10 };
    const found = issues({
      key: "id",
      details: { seats: { url: "seats", key: "of", ...soap, body: "<x/>", each } },
      body: "<x/>",
    });
    expect(found.map((issue) => issue.split(":")[0])).toEqual([
      "streams.customers.details.seats.each.batch",
      "streams.customers.details.seats.each.put.0.parameter",
    ]);
    const auth = {
      kind: "session",
      login: { url: "login" },
      take: { token: { at: "token" } },
      put: [{ in: "body", parameter: "session", value: "{token}" }],
    };
    expect(issues({ body: "<x/>" }, { auth })[0]).toMatch(
      /^streams\.customers\.body: `auth\.put`: session has no place/u,
    );
    expect(issues({ body: "<x>{session}</x>" }, { auth })).toEqual([]);
  });
});
