import { expect, it } from "vitest";
import { KnownSecrets } from "../../src/base/known-secrets.ts";
import { noDataSchema } from "../../src/contract/answer-fields.ts";
import { ReadFailure } from "../../src/http/call.ts";
import { z } from "zod";
import { around, shownOf, spellings } from "../support/secret-spellings.ts";
import { refusal, startClient, startService, success, type Reply } from "./scripted-service.ts";

const token = "Tok3n-9f8E7d6C5b4A3zQw";
const secret = "sk_Live 7uVw<x>&%41-pass";

/** Where a service repeats a secret: its answer, given the spelled secret. */
const places: Record<string, (text: string) => Reply> = {
  "the words of a refusal": (text) => refusal("13004", `parameter ${text} is wrong`),
  "the data of a refusal": (text) => refusal("13004", "m", { [`field ${text}`]: [text] }),
  "the code": (text) => refusal(text.replaceAll(/[^A-Za-z0-9_.-]/gu, "-").toUpperCase()),
  "a field beside the data": (text) => ({
    json: { code: 0, message: text, data: { enterpriseGlobalId: "e1" }, [text]: 1 },
  }),
  "a web page": (text) => ({ status: 502, text: `<html><b>${text}</b></html>` }),
  "JSON with another status": (text) => ({ status: 500, json: { error: text } }),
  "the data": (text) => success({ enterpriseGlobalId: text }),
};

const cases = Object.keys(places).flatMap((place) => [token, secret].map((what) => ({ place, what })));

it.each(cases)("a service that repeats $what in $place is not repeated", async ({ place, what }) => {
  const known = new KnownSecrets();
  known.add(secret);
  for (const [name, text] of [...spellings(what), ...around(what)]) {
    const service = await startService(() => places[place]?.(text) ?? success());
    const tokens = { authorization: { fixed: token }, userToken: { fixed: "user-token-1" } };
    const client = startClient("order-service", service.url, { tokens, readAttempts: 1 }, { known });
    const schema = z.looseObject({ enterpriseGlobalId: z.string() });
    const nonce = "0123456789abcdef0123456789abcdef";
    const outcome = await client.write({ endpoint: "E2", target: {}, schema, nonce, body: { a: "b" } });
    const raw = "raw" in outcome ? outcome.raw : undefined;
    const read = await client.read({ endpoint: "E3", target: {}, schema: noDataSchema }).catch((thrown) => thrown);
    const failure = read instanceof ReadFailure ? [read.message, read.cure, read.serviceCode] : [];
    const circuit = client.state().circuit;
    const kept = JSON.stringify([outcome, raw, failure, circuit, client.log.lines]);
    expect.soft(shownOf(what, kept), name).toEqual([]);
  }
});

it("data that repeat a token are those of no success", async () => {
  const service = await startService(() => success({ enterpriseGlobalId: `e-${token}` }));
  const client = startClient("order-service", service.url, { tokens: { authorization: { fixed: token } } });
  const schema = z.looseObject({ enterpriseGlobalId: z.string() });
  const nonce = "0123456789abcdef0123456789abcdef";
  const outcome = await client.write({ endpoint: "E2", target: {}, schema, nonce, body: {} });
  expect(outcome).toMatchObject({ kind: "unknown", reason: "the data repeat a password, key or token of ours" });
});

it("a token that lives long is not repeated, however many tokens came since it was given", async () => {
  const known = new KnownSecrets();
  const service = await startService(() => refusal("13004", `you are ${token}`));
  const client = startClient("order-service", service.url, { tokens: { authorization: { fixed: token } } }, { known });
  const nonce = "0123456789abcdef0123456789abcdef";
  for (let time = 0; time < 2; time += 1) {
    const outcome = await client.write({ endpoint: "E4", target: {}, schema: noDataSchema, nonce, body: {} });
    const raw = "raw" in outcome ? outcome.raw : undefined;
    expect(shownOf(token, JSON.stringify([outcome, raw, client.log.lines]))).toEqual([]);
    for (let other = 0; other < 200; other += 1) known.addToken(`token-of-another-session-${other}`);
  }
});
