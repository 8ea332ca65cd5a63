import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { KnownSecrets } from "../../src/base/known-secrets.ts";
import { around, shownOf, spellings } from "../support/secret-spellings.ts";
import { startService, type Answer } from "./http-service.ts";
import { customersOver, patientClock, people } from "./http-source.ts";
import { customerMapping, directoryWith, openSource, readAll } from "./support.ts";

const key = "sk_Live-9f8E7d6C5b4A 3z<q>&%41";
const auth = { kind: "apiKey", header: "X-Key", key: "env:CRM_KEY" };

/** Where a service repeats our secret: its answer to the first page, given the spelled secret. */
const places: Record<string, (text: string) => Answer> = {
  "the words of an error": (text) => ({ status: 403, body: { error: { message: `no key ${text} here` } } }),
  "the end of long words": (text) => ({ status: 500, body: { error: { message: `${"x ".repeat(90)}${text}` } } }),
  "words behind 4,096 characters": (text) => ({
    status: 400,
    body: { error: { message: `${"<i>y</i>".repeat(511)}ab ${text}` } },
  }),
  "an error in HTTP 200": (text) => ({ body: { error: { message: `wrong ${text}`, code: "no-key" } } }),
  "the code of an error": (text) => ({ status: 400, body: { error: { message: "no", code: text } } }),
  "the title of a page": (text) => ({ body: `<!doctype html><title>Key ${text}</title>` }),
  "the content-encoding": (text) => ({ headers: { "content-encoding": header(text) }, body: people(0, 1) }),
  "a record": (text) => ({ body: [{ id: "C1", name: "N1", self: `https://crm/${text}`, [`x${text}`]: [{ text }] }] }),
  "an id": (text) => ({ body: [{ id: `C-${text}`, name: "N1" }] }),
  "a record that is none": (text) => ({ body: [`row ${text}`] }),
  "the next link": (text) => ({
    headers: { link: `<http://127.0.0.1:1/next?at=%&key=${encodeURIComponent(text)}>; rel="next"` },
    body: people(0, 2),
  }),
  "the host of a next link": (text) => ({
    headers: { link: `<http://${text.replaceAll(/[^a-z0-9-]/giu, "")}.invalid/next>; rel="next"` },
    body: people(0, 2),
  }),
};

function header(text: string): string {
  return text.replaceAll(/[^!-~]/gu, "");
}

const texts = [...spellings(key), ...around(key)];

describe.each(Object.entries(places))("a secret that a source repeats in %s", (_place, answer) => {
  it.each(texts)("is not shown (%s)", async (_, text) => {
    const service = await startService(() => answer(text));
    const stream = { paging: { kind: "linkHeader" } };
    const deps = { secrets: () => key, clock: patientClock() };
    const source = customersOver(service.origin, stream, { auth, retries: 0 }, deps);
    const positions: string[] = [];
    const reading = await readAll(source, "customers", { reached: (position) => positions.push(position) });
    const { problem } = reading.outcome;
    const mapping = await source.mapping("customers");
    const mapped = reading.raws.map(({ value }) => mapping.map(value));
    const checked = await source.check().then(
      (found) => found,
      (thrown: unknown) => thrown,
    );
    const told = [problem, checked].map((one) =>
      one instanceof Error
        ? [one.message, "cure" in one && one.cure, "place" in one && one.place, String(one.cause)]
        : "",
    );
    expect(shownOf(key, JSON.stringify([reading, positions, told, mapped]))).toEqual([]);
  });
});

describe("a record that repeats a secret of ours", () => {
  const reads = async (record: object) => {
    const service = await startService(() => ({ body: [record] }));
    const source = customersOver(service.origin, {}, { auth }, { secrets: () => key });
    const { raws } = await readAll(source, "customers");
    const mapping = await source.mapping("customers");
    return mapping.map(raws[0]?.value ?? {});
  };

  it("where nothing is mapped is used as it is", async () => {
    const mapped = await reads({ id: "C1", name: "Smith & Co 100%", self: `https://crm/c/1?key=${key}` });
    expect(mapped).toMatchObject({ ok: true, value: { record: { id: "C1", name: "Smith & Co 100%" } } });
  });

  it("in a field that is mapped is of no use, and the reason says which field", async () => {
    const mapped = await reads({ id: "C1", name: `Smith ${key}` });
    expect(mapped).toMatchObject({ ok: false, error: { id: "C1", field: "name", code: "secret" } });
    expect(await reads({ id: key, name: "Smith" })).toMatchObject({
      ok: false,
      error: { field: "id", code: "secret" },
    });
  });
});

it("a token endpoint that repeats a secret as its error is not repeated", async () => {
  const secret = "invalid_client_9f8E7d6C5b4A3z";
  const service = await startService(() => ({ status: 400, body: { error: secret } }));
  const oauth = {
    kind: "oauth2",
    tokenUrl: `${service.origin}/token`,
    clientId: "crm",
    clientSecret: "env:CRM_SECRET",
  };
  const source = customersOver(service.origin, {}, { auth: oauth }, { secrets: () => secret });
  const { problem } = (await readAll(source, "customers")).outcome;
  expect(problem?.message).toContain("refused our credentials");
  expect(shownOf(secret, JSON.stringify([problem?.message, problem?.cure, problem?.place]))).toEqual([]);
});

it("a database that repeats a secret in its words is not repeated", async () => {
  const secret = "Passw0rd_9f8E7d6C5b4A3z";
  const known = new KnownSecrets();
  known.add(secret);
  const directory = directoryWith({});
  new Database(join(directory, "crm.db")).close();
  const settings = {
    kind: "sql",
    connection: { kind: "sqlite", file: join(directory, "crm.db") },
    streams: { customers: { query: `select ${secret} from nowhere`, key: "id", mapping: customerMapping } },
  };
  const source = openSource(settings, directory, { known });
  const { problem } = (await readAll(source, "customers")).outcome;
  expect(problem?.code).toBe("source.wrong-query");
  expect(shownOf(secret, JSON.stringify([problem?.message, problem?.cure, problem?.place]))).toEqual([]);
});
