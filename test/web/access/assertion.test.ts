import { createHmac, generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import type { JsonObject } from "../../../src/base/canonical-json.ts";
import { auditEntries } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { clockAt, guarded, tokenIn, type Guarded } from "../../support/guarded.ts";
import { reverseProxy, type ReverseProxy } from "../../support/reverse-proxy.ts";

const start = Date.parse("2026-05-01T10:00:00Z");
const roles = { finance: "report", operators: "decide" };
const anna = { email: "anna.lee", groups: ["operators"] };
const sam = { email: "sam", groups: ["others"] };

/** Pages behind a proxy, at a time of their own. */
async function behind(more: JsonObject = {}, file: (proxy: ReverseProxy) => string = ({ publicPem }) => publicPem) {
  const w = await world();
  await w.run("status");
  const clock = clockAt(start);
  const proxy = reverseProxy("proxy.key", () => clock.now());
  writeFileSync(w.path("proxy.key"), file(proxy));
  const log: string[] = [];
  const pages = await guarded(w, { access: { proxy: { ...proxy.settings, roles, ...more } } }, { clock, log });
  return { w, clock, proxy, pages, log };
}

async function get(pages: Guarded, path: string, headers: Record<string, string> | readonly string[], from?: string) {
  const { status, text } = await pages.ask(path, { headers, ...(from === undefined ? {} : { from }) });
  return [status, status === 200 ? "" : JSON.parse(text).error];
}

describe("a reverse proxy", () => {
  it.each([
    ["a public key in PEM", ({ publicPem }: ReverseProxy) => publicPem],
    ["a list of keys", ({ publicJwk }: ReverseProxy) => JSON.stringify({ keys: [publicJwk] })],
  ])("names two people, and each gets the pages of their own role, by %s", async (_what, file) => {
    const { w, pages, proxy } = await behind({ role: "see" }, file);
    expect((await get(pages, "/decide", proxy.as(anna)))[0]).toBe(200);
    expect((await get(pages, "/decide", proxy.as(sam)))[0]).toBe(403);
    expect((await get(pages, "/decide", proxy.as(sam)))[0]).toBe(403);
    expect((await get(pages, "/see", proxy.as(sam)))[0]).toBe(200);
    expect((await get(pages, "/report", proxy.as({ ...sam, groups: "finance" })))[0]).toBe(200);
    const { person } = JSON.parse((await pages.ask("/see", { headers: proxy.as(anna) })).text);
    const { issuer } = proxy.settings;
    expect(person).toMatchObject({ name: "anna.lee", way: "proxy", issuer, subject: "id-anna.lee", role: "decide" });
    // The same page twice in a minute is one entry.
    const noted = (await auditEntries(w)).filter(({ kind }) => kind === "page-refused");
    expect(noted.map(({ body }) => JSON.parse(body))).toEqual([
      { by: "sam", who: { way: "proxy", issuer, subject: "id-sam" }, route: "/decide", role: "see" },
    ]);
  });

  it("is believed under any name of this machine, and gives no cookie", async () => {
    const { pages, proxy } = await behind();
    const answer = await pages.ask("/see", { headers: { ...proxy.as(anna), host: "localhost:8787" } });
    expect([answer.status, answer.headers["set-cookie"]]).toEqual([200, undefined]);
    expect((await get(pages, "/see", { ...proxy.as(anna), host: "evil.example" }))[0]).toBe(421);
  });

  it("gives nobody in whom it does not name, or who has no role", async () => {
    const { pages, proxy } = await behind();
    expect(await get(pages, "/see", {})).toEqual([401, "signed-out"]);
    expect(await get(pages, "/see", { "x-remote-user": "anna.lee" })).toEqual([401, "signed-out"]);
    expect(await get(pages, "/see", proxy.as(sam))).toEqual([403, "no-role"]);
    for (const groups of [undefined, ["constructor", "__proto__"], [7], { operators: true }])
      expect(await get(pages, "/see", proxy.as({ email: "zoe", groups }))).toEqual([403, "no-role"]);
  });

  it("may name the curve of its key as the algorithm", async () => {
    const { pages, proxy } = await behind();
    const token = proxy.token(anna, { header: { alg: "Ed25519" } });
    expect((await get(pages, "/see", { "x-assertion": token }))[0]).toBe(200);
  });

  it("asserts by a token that holds in every part", async () => {
    const { pages, proxy, log } = await behind();
    const now = Math.floor(start / 1_000);
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const secret = (signed: string) => createHmac("sha256", proxy.publicPem).update(signed).digest("base64url");
    const shared = proxy
      .token(anna, { header: { alg: "HS256" }, signature: "x" })
      .split(".")
      .slice(0, 2)
      .join(".");
    const token = proxy.token(anna);
    const [head = "", body = ""] = token.split(".");
    const lies: Record<string, string> = {
      "no signature": proxy.token(anna, { header: { alg: "none" }, signature: "" }),
      "a signature left out": `${head}.${body}.`,
      "only two parts": `${head}.${body}`,
      "the secret of a public key": `${shared}.${secret(shared)}`,
      "an algorithm that is not allowed": proxy.token(anna, { header: { alg: "RS512" }, key: rsa.privateKey }),
      "another key": proxy.token(anna, { key: generateKeyPairSync("ed25519").privateKey }),
      "another kind of key": proxy.token(anna, { header: { alg: "RS256" }, key: rsa.privateKey }),
      "other claims": `${head}.${Buffer.from('{"sub":"x"}').toString("base64url")}.${token.split(".")[2]}`,
      "another issuer": proxy.token({ ...anna, iss: "https://proxy.example/" }),
      "no issuer": proxy.token({ ...anna, iss: undefined }),
      "another audience": proxy.token({ ...anna, aud: "another" }),
      "no audience": proxy.token({ ...anna, aud: undefined }),
      expired: proxy.token({ ...anna, iat: now - 400, exp: now - 31 }),
      "no end": proxy.token({ ...anna, exp: undefined }),
      "not yet valid": proxy.token({ ...anna, nbf: now + 60 }),
      "made later": proxy.token({ ...anna, iat: now + 60 }),
      "made at no time": proxy.token({ ...anna, iat: undefined }),
      "made long ago": proxy.token({ ...anna, iat: now - 86_460 }),
      "no subject": proxy.token({ ...anna, sub: undefined }),
      "an empty subject": proxy.token({ ...anna, sub: "" }),
      "a subject that is no text": proxy.token({ ...anna, sub: 7 }),
      "a subject with a line end": proxy.token({ ...anna, sub: "a\nb" }),
      "no token at all": "anna.lee",
      nothing: "",
    };
    // Failures are counted by address.
    for (const [at, [what, lie]] of Object.entries(lies).entries())
      expect
        .soft(await get(pages, "/see", { "x-assertion": lie }, `127.0.1.${at + 1}`), what)
        .toEqual([403, "proxy-refused"]);
    const twice = ["X-Assertion", token, "x-assertion", token];
    expect(await get(pages, "/see", twice)).toEqual([403, "proxy-refused"]);
    expect((await get(pages, "/see", { "x-assertion": token }))[0]).toBe(200);
    expect(log.join("")).not.toContain(token.split(".")[1]);
  });

  it("is over when its time is", async () => {
    const { pages, proxy, clock } = await behind({ longest: "2m" });
    const headers = proxy.as(anna);
    clock.move(150_000);
    expect((await get(pages, "/see", headers))[0]).toBe(200);
    clock.move(1_000);
    expect((await get(pages, "/see", headers))[0]).toBe(403);
  });

  it("is believed from its own addresses alone, where these are configured", async () => {
    const { pages, proxy } = await behind({ from: ["127.0.0.2"] });
    const headers = { ...proxy.as(anna), "x-forwarded-for": "127.0.0.2" };
    expect(await get(pages, "/see", headers)).toEqual([403, "proxy-refused"]);
    expect((await get(pages, "/see", headers, "127.0.0.2"))[0]).toBe(200);
  });

  it("lets nobody in while its keys cannot be read", async () => {
    const { pages, proxy } = await behind({ keys: "http://127.0.0.1:1/keys" });
    expect(await get(pages, "/see", proxy.as(anna))).toEqual([503, "proxy-keys-unreachable"]);
    const missing = await behind({ keys: "missing.pem" });
    expect(await get(missing.pages, "/see", missing.proxy.as(anna))).toEqual([503, "proxy-keys-unreachable"]);
    const nonsense = await behind({}, () => "nonsense");
    expect(await get(nonsense.pages, "/see", nonsense.proxy.as(anna))).toEqual([503, "proxy-keys-unreachable"]);
  });

  it("has its keys asked for at its service, and answers that are none are no keys", async () => {
    const { pages: unasked, proxy, w } = await behind();
    await unasked.stop();
    let answer = "nonsense";
    const server = createServer((_incoming, outgoing) => outgoing.end(answer));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const keys = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
    const clock = clockAt(start);
    const pages = await guarded(w, { access: { proxy: { ...proxy.settings, keys, roles } } }, { clock });
    expect(await get(pages, "/see", proxy.as(anna))).toEqual([503, "proxy-keys-unreachable"]);
    answer = JSON.stringify({ keys: [proxy.publicJwk] });
    expect((await get(pages, "/see", proxy.as(anna)))[0]).toBe(200);
    expect((await get(pages, "/see", proxy.as(anna, { header: { kid: "two" } })))[0]).toBe(403);
  });

  it("has a form done with the token of its own person alone, who is known by the subject", async () => {
    const { pages, proxy } = await behind();
    const eve = { email: "anna.lee", sub: "id-eve", groups: ["operators"] };
    const tokenOf = async (claims: Record<string, unknown>) =>
      tokenIn((await pages.ask("/see", { headers: proxy.as(claims) })).text);
    const send = async (csrf: string) => {
      const headers = { "content-type": "application/x-www-form-urlencoded", ...proxy.as(anna) };
      return (await pages.ask("/decide", { method: "POST", headers, body: `csrf=${csrf}` })).status;
    };
    expect([await send(await tokenOf(eve)), pages.done]).toEqual([403, []]);
    expect([await send(await tokenOf(anna)), pages.done]).toEqual([200, ["decide by anna.lee"]]);
  });
});
