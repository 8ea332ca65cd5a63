import { describe, expect, it } from "vitest";
import { auditEntries } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { Browser, clockAt, guarded, signedIn, tokenIn, type Guarded } from "../../support/guarded.ts";

const html = { accept: "text/html" };
const publicUrl = "https://crm.example.com";

/** What a refusal writes into the audit log. */
async function refusals(w: World): Promise<Parsed[]> {
  const all = await auditEntries(w);
  return all.filter(({ kind }) => kind === "page-refused").map(({ body }) => JSON.parse(body));
}

/** A world with a ledger. */
async function withLedger(): Promise<World> {
  const w = await world();
  await w.run("status");
  return w;
}

describe("who has not signed in", () => {
  it.each([
    ["from this machine", {}, {}],
    ["through a reverse proxy that only passes on", { "x-forwarded-for": "203.0.113.9" }, {}],
    ["at an address that is meant for people outside", { host: "crm.example.com" }, { publicUrl }],
  ])("sees no page, %s", async (_how, headers, settings) => {
    const pages = await guarded(await withLedger(), settings);
    const answer = await pages.ask("/see?a=1", { headers: { ...html, ...headers } });
    expect([answer.status, answer.headers.location]).toEqual([303, "/login"]);
    const program = await pages.ask("/see", { headers });
    expect([program.status, JSON.parse(program.text).error]).toEqual([401, "signed-out"]);
  });

  it("is told at localhost how to sign in, and gets neither a cookie nor the own name there", async () => {
    const pages = await guarded(await withLedger());
    const [name = ""] = pages.host.split(":");
    const held = (await signedIn(pages)).cookies.get("crm-sync") ?? "";
    for (const host of ["localhost", `localhost:${pages.port}`, "127.0.0.1", "[::1]:80", "LOCALHOST"])
      for (const path of ["/", "/see", "/login", `/login/link/${"a".repeat(64)}`])
        for (const cookie of ["", `crm-sync=${held}`]) {
          const answer = await pages.ask(path, { headers: { ...html, host, cookie } });
          expect.soft([answer.status, answer.headers["set-cookie"]], `${host}${path}`).toEqual([401, undefined]);
          expect.soft(answer.text).toContain("crm-sync login");
          expect.soft(answer.text).not.toContain(name);
        }
  });
});

describe("the name that a request is for", () => {
  it("is that of this server, so that no other site reads the pages under its own name", async () => {
    const pages = await guarded(await withLedger(), { publicUrl });
    for (const host of [
      "evil.example",
      "evil.example:8787",
      "localhost.evil.example",
      "crm.example.com.evil.example",
      "127.0.0.1.evil.example",
      "[::2]",
      "10.0.0.1",
      "crm.example.com:444",
      "crm-sync-0123456789abcdef0123456789abcdef.localhost",
      "crm-sync.localhost",
      `a.${pages.host}`,
    ])
      expect.soft((await pages.ask("/see", { headers: { host } })).status, host).toBe(421);
    for (const host of [pages.host, pages.host.toUpperCase(), "crm.example.com"])
      expect.soft((await pages.ask("/login", { headers: { host } })).status, host).toBe(200);
  });

  it("stays the same over a new start of the program", async () => {
    const w = await withLedger();
    const first = await guarded(w);
    const { host } = first;
    await first.stop();
    expect((await guarded(w)).host.split(":")[0]).toBe(host.split(":")[0]);
    expect(host).toMatch(/^crm-sync-[0-9a-f]{32}\.localhost:/u);
  });
});

describe("a request that changes something", () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const cookieOf = (browser: Browser): string => [...browser.cookies].map((pair) => pair.join("=")).join("; ");

  it("is done with the token of its own person, and not with that of another, an old one, or none", async () => {
    const pages = await guarded(await withLedger());
    const [anna, eve] = [await signedIn(pages, "anna.lee"), await signedIn(pages, "eve")];
    const [own, other] = [tokenIn((await anna.get("/see")).text), tokenIn((await eve.get("/see")).text)];
    for (const csrf of [other, "", "0".repeat(64), `${own}0`, own.slice(1)])
      expect.soft((await anna.post("/decide", { csrf })).status, csrf).toBe(403);
    expect(pages.done).toEqual([]);
    expect((await anna.post("/decide", { csrf: own })).status).toBe(200);
    expect(pages.done).toEqual(["decide by anna.lee"]);
  });

  it("is not done from the page of another site, even with the token", async () => {
    const pages = await guarded(await withLedger(), { publicUrl });
    const browser = await signedIn(pages);
    const csrf = tokenIn((await browser.get("/see")).text);
    for (const more of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: "https://crm.example.com.evil.example" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
    ])
      expect.soft((await browser.post("/decide", { csrf }, more)).status, JSON.stringify(more)).toBe(403);
    expect((await browser.post("/decide", { csrf }, { origin: publicUrl })).status).toBe(200);
  });

  it("is not looked at beyond 64 kB, in one piece or in many", async () => {
    const pages = await guarded(await withLedger());
    const browser = await signedIn(pages);
    const csrf = tokenIn((await browser.get("/see")).text);
    const send = async (body: string, more: Record<string, string> = {}) =>
      (await pages.ask("/decide", { method: "POST", headers: { ...form, ...more, cookie: cookieOf(browser) }, body }))
        .status;
    const chunked = { "transfer-encoding": "chunked" };
    const large = `csrf=${csrf}&x=${"a".repeat(70_000)}`;
    expect([await send(large), await send(large, chunked), pages.done]).toEqual([413, 413, []]);
    expect([await send(`csrf=${csrf}`, chunked), pages.done]).toEqual([200, ["decide by otto"]]);
  });
});

describe("a link that signs in", () => {
  const linkOf = (pages: Guarded): string => `/login/link/${pages.access.sessions.makeLink("otto")}`;

  it("signs in once and within a minute, and only when its button is pressed", async () => {
    const clock = clockAt(Date.parse("2026-05-01T10:00:00Z"));
    const pages = await guarded(await withLedger(), {}, { clock });
    const link = linkOf(pages);
    const browser = new Browser(pages);
    expect((await browser.get(link)).status).toBe(200);
    expect((await browser.post(link, { csrf: "" })).status).toBe(403);
    const answer = await browser.fill(link, {});
    expect([answer.status, answer.headers.location]).toEqual([303, "/"]);
    expect(answer.headers["set-cookie"]?.[0]).toMatch(/^crm-sync=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax$/u);
    const { person } = JSON.parse((await browser.get("/decide")).text);
    const known = { way: "link", issuer: "this machine", subject: "otto" };
    expect(person).toEqual({ name: "otto", ...known, role: "decide", mayAskForPrivate: true });
    expect((await new Browser(pages).fill(link, {})).status).toBe(403);

    const late = linkOf(pages);
    clock.move(60_001);
    expect((await new Browser(pages).fill(late, {})).status).toBe(403);
    const back = linkOf(pages);
    clock.move(-3_600_000);
    expect((await new Browser(pages).fill(back, {})).status).toBe(403);
  });

  it("signs in with a cookie of one host over https", async () => {
    const pages = await guarded(await withLedger(), { publicUrl });
    const browser = new Browser({ ...pages, host: "crm.example.com" });
    const cookie = (await browser.fill(linkOf(pages), {})).headers["set-cookie"]?.[0];
    expect(cookie).toMatch(/^__Host-crm-sync=[0-9a-f]{64}; Path=\/; HttpOnly; Secure; SameSite=Lax$/u);
    expect((await browser.get("/see")).status).toBe(200);
  });

  it("ends by a button, and by no link of another site", async () => {
    const pages = await guarded(await withLedger());
    const browser = await signedIn(pages);
    const csrf = tokenIn((await browser.get("/decide")).text);
    expect((await browser.get("/logout")).status).not.toBe(303);
    expect((await browser.post("/logout", { csrf: "x" })).status).toBe(403);
    const kept = new Map(browser.cookies);
    expect((await browser.post("/logout", { csrf })).status).toBe(303);
    for (const [name, value] of kept) browser.cookies.set(name, value);
    expect((await browser.get("/decide")).headers.location).toBe("/login");
  });
});

it("private values are asked for by the configured roles alone", async () => {
  const pages = await guarded(await withLedger(), { access: { private: ["see"] } });
  const { person } = JSON.parse((await (await signedIn(pages)).get("/see")).text);
  expect(person).toMatchObject({ role: "decide", mayAskForPrivate: false });
});

it("nothing is written down of who only has no right to be here", async () => {
  const w = await withLedger();
  const pages = await guarded(w);
  await pages.ask("/decide");
  expect(await refusals(w)).toEqual([]);
});
