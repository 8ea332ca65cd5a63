import { describe, expect, it } from "vitest";
import { auditEntries } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import type { Parsed, World } from "../../support/cli.ts";
import { Browser, clockAt, guarded, tokenIn } from "../../support/guarded.ts";

const html = { accept: "text/html" };
const proxy = { header: "X-Remote-User", groups: "X-Remote-Groups", from: ["127.0.0.2"] };
const roles = { "anna.lee": "decide", finance: "report" };

/** What a refusal writes into the audit record. */
async function refusals(w: World): Promise<Parsed[]> {
  const all = await auditEntries(w);
  return all
    .filter(({ kind }) => kind === "page-refused" || kind === "sign-in-refused")
    .map(({ kind, body }) => ({ kind, body: JSON.parse(body) }));
}

/** A world with a ledger. */
async function withLedger(): Promise<World> {
  const w = await world();
  await w.run("status");
  return w;
}

describe("who comes from this machine", () => {
  it("sees, and gets neither private values nor the right to decide", async () => {
    const pages = await guarded(await withLedger());
    const seen = JSON.parse((await pages.ask("/see")).text);
    expect(seen.person).toEqual({ name: "this machine", role: "see", way: "loopback", mayAskForPrivate: false });
    expect((await pages.ask("/decide")).status).toBe(403);
  });

  it.each([
    ["a reverse proxy on this machine passed it on", { "x-forwarded-for": "203.0.113.9" }, {}],
    ["people are meant to come from outside", {}, { publicUrl: "https://crm.example.com" }],
    ["a way to sign in is configured", {}, { access: { proxy: { ...proxy, roles } } }],
    ["the configuration says so", {}, { access: { loopback: "none" } }],
  ])("is sent to sign in where %s", async (_why, headers, settings) => {
    const pages = await guarded(await withLedger(), settings);
    const answer = await pages.ask("/see?a=1", { headers: { ...html, ...headers } });
    expect([answer.status, answer.headers.location]).toEqual([303, "/login?to=%2Fsee%3Fa%3D1"]);
    const program = await pages.ask("/see", { headers });
    expect([program.status, JSON.parse(program.text).error]).toEqual([401, "signed-out"]);
  });
});

describe("the name that a request is for", () => {
  it("is that of this server, so that no other site reads the pages under its own name", async () => {
    const pages = await guarded(await withLedger(), {
      publicUrl: "https://crm.example.com",
      access: { loopback: "see" },
    });
    for (const host of [
      "evil.example",
      "evil.example:8787",
      "localhost.evil.example",
      "crm.example.com.evil.example",
      "127.0.0.1.evil.example",
      "[::2]",
      "10.0.0.1",
      "crm.example.com:444",
    ])
      expect.soft((await pages.ask("/see", { headers: { host } })).status, host).toBe(421);
    for (const host of ["localhost:9", "127.0.0.1", "[::1]:80", "LOCALHOST"])
      expect.soft((await pages.ask("/see", { headers: { host } })).status, host).toBe(200);
    expect((await pages.ask("/login", { headers: { host: "crm.example.com" } })).status).toBe(200);
  });
});

describe("a reverse proxy", () => {
  it("names two people, and each gets the pages of their own role", async () => {
    const w = await withLedger();
    const pages = await guarded(w, { access: { proxy: { ...proxy, roles, role: "see" } } });
    const as = (name: string, groups = "") => ({
      from: "127.0.0.2",
      headers: { "x-remote-user": name, ...(groups === "" ? {} : { "X-REMOTE-GROUPS": groups }) },
    });
    expect((await pages.ask("/decide", as("anna.lee"))).status).toBe(200);
    expect((await pages.ask("/decide", as("sam"))).status).toBe(403);
    expect((await pages.ask("/report", as("sam", "other, finance"))).status).toBe(200);
    expect((await pages.ask("/decide", as("sam", "other, finance"))).status).toBe(403);
    expect((await pages.ask("/see", as("sam"))).status).toBe(200);
    // The same page twice in a minute is one entry.
    expect(await refusals(w)).toEqual([
      { kind: "page-refused", body: { by: "sam", route: "/decide", role: "see", way: "proxy" } },
    ]);
  });

  it("is believed from its own addresses alone, whatever a header says of the way", async () => {
    const pages = await guarded(await withLedger(), { access: { proxy: { ...proxy, roles } } });
    const lie = { "x-remote-user": "anna.lee", "x-forwarded-for": "127.0.0.2" };
    for (const headers of [
      lie,
      { "X-REMOTE-USER": "anna.lee" },
      { x_remote_user: "anna.lee" },
      { "x-remote-groups": "finance" },
    ]) {
      const answer = await pages.ask("/see", { headers });
      expect.soft([answer.status, JSON.parse(answer.text).error]).toEqual([403, "proxy-refused"]);
    }
    expect((await pages.ask("/decide", { headers: lie, from: "127.0.0.2" })).status).toBe(200);
  });

  it("names one person, once; whom it does not name gets nothing, though loopback may see", async () => {
    const pages = await guarded(await withLedger(), { access: { loopback: "see", proxy: { ...proxy, roles } } });
    const from = "127.0.0.2";
    const twice = ["X-Remote-User", "sam", "x-remote-user", "anna.lee"];
    expect((await pages.ask("/see", { from, headers: twice })).status).toBe(403);
    expect((await pages.ask("/see", { from, headers: { "x-remote-user": " " } })).status).toBe(401);
    expect((await pages.ask("/see", { from })).status).toBe(401);
    expect((await pages.ask("/see", { from, headers: { "x-remote-user": "nobody" } })).status).toBe(403);
    expect((await pages.ask("/see", { from, headers: { "x-remote-user": "constructor" } })).status).toBe(403);
    expect((await pages.ask("/see", { from, headers: { "x-remote-user": "a".repeat(101) } })).status).toBe(403);
  });

  it.each([
    ["a group is added", { "x-remote-user": "sam", x_remote_groups: "finance" }],
    ["a person is named", { x_remote_user: "anna.lee" }],
    ["a person is named beside its own", { "x-remote-user": "sam", "x_remote-user": "anna.lee" }],
  ])("believes nothing that a browser sent through it in another spelling, where %s", async (_what, headers) => {
    const pages = await guarded(await withLedger(), { access: { proxy: { ...proxy, roles, role: "see" } } });
    const answer = await pages.ask("/report", { from: "127.0.0.2", headers });
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([403, "proxy-refused"]);
    expect((await pages.ask("/see", { from: "127.0.0.2", headers: { "x-remote-user": "sam" } })).status).toBe(200);
  });

  it("lets private values be asked for by the configured roles alone", async () => {
    const access = { private: ["decide"], proxy: { ...proxy, roles, role: "see" } };
    const pages = await guarded(await withLedger(), { access });
    const asks = async (name: string) =>
      JSON.parse((await pages.ask("/see", { from: "127.0.0.2", headers: { "x-remote-user": name } })).text).person
        .mayAskForPrivate;
    expect([await asks("anna.lee"), await asks("sam")]).toEqual([true, false]);
  });
});

describe("a request that changes something", () => {
  const access = { proxy: { ...proxy, roles: { ...roles, eve: "decide" } } };
  const from = "127.0.0.2";
  const form = { "content-type": "application/x-www-form-urlencoded" };

  it("is done with the token of its own person, and not with that of another, an old one, or none", async () => {
    const pages = await guarded(await withLedger(), { access });
    const tokenOf = async (name: string): Promise<string> =>
      tokenIn((await pages.ask("/see", { from, headers: { "x-remote-user": name } })).text);
    const [anna, eve] = [await tokenOf("anna.lee"), await tokenOf("eve")];
    const send = async (token: string) =>
      (
        await pages.ask("/decide", {
          method: "POST",
          from,
          headers: { ...form, "x-remote-user": "anna.lee" },
          body: `csrf=${token}`,
        })
      ).status;
    for (const token of [eve, "", "0".repeat(64), `${anna}0`, anna.slice(1)])
      expect.soft(await send(token), token).toBe(403);
    expect(pages.done).toEqual([]);
    expect(await send(anna)).toBe(200);
    expect(pages.done).toEqual(["decide by anna.lee"]);
  });

  it("is not done from the page of another site, even with the token", async () => {
    const pages = await guarded(await withLedger(), { access, publicUrl: "https://crm.example.com" });
    const headers = { ...form, "x-remote-user": "anna.lee" };
    const csrf = tokenIn((await pages.ask("/see", { from, headers })).text);
    const send = async (more: Record<string, string>) =>
      (await pages.ask("/decide", { method: "POST", from, headers: { ...headers, ...more }, body: `csrf=${csrf}` }))
        .status;
    for (const more of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: "https://crm.example.com.evil.example" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
    ])
      expect.soft(await send(more), JSON.stringify(more)).toBe(403);
    expect(await send({ origin: "https://crm.example.com", "sec-fetch-site": "same-origin" })).toBe(200);
  });

  it("is not looked at beyond 64 kB, in one piece or in many", async () => {
    const pages = await guarded(await withLedger(), { access });
    const headers = { ...form, "x-remote-user": "anna.lee" };
    const csrf = tokenIn((await pages.ask("/see", { from, headers })).text);
    const body = `csrf=${csrf}&x=${"a".repeat(70_000)}`;
    const whole = await pages.ask("/decide", { method: "POST", from, headers, body });
    const chunked = await pages.ask("/decide", {
      method: "POST",
      from,
      headers: { ...headers, "transfer-encoding": "chunked" },
      body,
    });
    expect([whole.status, chunked.status, pages.done]).toEqual([413, 413, []]);
    const small = await pages.ask("/decide", {
      method: "POST",
      from,
      headers: { ...headers, "transfer-encoding": "chunked" },
      body: `csrf=${csrf}`,
    });
    expect([small.status, pages.done]).toEqual([200, ["decide by anna.lee"]]);
  });
});

describe("a link that signs in", () => {
  it("signs in once and within a minute, and only when its button is pressed", async () => {
    const clock = clockAt(Date.parse("2026-05-01T10:00:00Z"));
    const pages = await guarded(await withLedger(), {}, { clock });
    const link = `/login/link/${pages.access.sessions.makeLink("otto")}`;
    const browser = new Browser(pages);
    expect((await browser.get(link)).status).toBe(200);
    expect((await browser.post(link, { csrf: "" })).status).toBe(403);
    const signedIn = await browser.fill(link, {});
    expect([signedIn.status, signedIn.headers.location]).toEqual([303, "/"]);
    expect(signedIn.headers["set-cookie"]?.[0]).toMatch(/^crm-sync=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax$/u);
    const { person } = JSON.parse((await browser.get("/decide")).text);
    expect(person).toEqual({ name: "otto", role: "decide", way: "link", mayAskForPrivate: true });
    expect((await new Browser(pages).fill(link, {})).status).toBe(403);

    const late = `/login/link/${pages.access.sessions.makeLink("otto")}`;
    clock.move(60_001);
    expect((await new Browser(pages).fill(late, {})).status).toBe(403);
    const back = `/login/link/${pages.access.sessions.makeLink("otto")}`;
    clock.move(-3_600_000);
    expect((await new Browser(pages).fill(back, {})).status).toBe(403);
  });

  it("ends by a button, and by no link of another site", async () => {
    const pages = await guarded(await withLedger());
    const browser = new Browser(pages);
    await browser.fill(`/login/link/${pages.access.sessions.makeLink("otto")}`, {});
    const csrf = tokenIn((await browser.get("/decide")).text);
    expect((await browser.get("/logout")).status).not.toBe(303);
    expect((await browser.post("/logout", { csrf: "x" })).status).toBe(403);
    const kept = new Map(browser.cookies);
    expect((await browser.post("/logout", { csrf })).status).toBe(303);
    for (const [name, value] of kept) browser.cookies.set(name, value);
    expect((await browser.get("/decide")).status).toBe(403);
  });
});
