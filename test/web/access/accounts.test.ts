import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { hashLineOf } from "../../../src/app/account-password.ts";
import { networkOf } from "../../../src/web/access/limited-address.ts";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { Browser, clockAt, guarded, tokenIn } from "../../support/guarded.ts";
import type { Guarded } from "../../support/guarded.ts";

const anna = "four words of anna";
const sam = "four other words of sam";
let lines: Record<"anna" | "sam" | "other", string>;
beforeAll(async () => {
  lines = { anna: await hashLineOf(anna), sam: await hashLineOf(sam), other: await hashLineOf("another password") };
});

const accounts = {
  "anna.lee": { role: "decide", password: "file:anna" },
  sam: { role: "see", password: "file:sam" },
};

/** A world with a ledger and two people who have passwords. */
async function withAccounts(): Promise<World> {
  const w = await world();
  writeFileSync(w.path("anna"), lines.anna);
  writeFileSync(w.path("sam"), `${lines.sam}\n`);
  await w.run("status");
  return w;
}

const start = Date.parse("2026-05-01T10:00:00Z");
const statusOf = async (browser: Browser, path: string): Promise<number> => (await browser.get(path)).status;

async function signedIn(pages: Guarded, name: string, password: string): Promise<Browser> {
  const browser = new Browser(pages);
  const answer = await browser.signIn(name, password);
  expect(answer.status, answer.text).toBe(303);
  return browser;
}

describe("people with passwords of their own", () => {
  it("sign in, each with their own right, and are led to where they wanted to go", { tags: "long" }, async () => {
    const pages = await guarded(await withAccounts(), { access: { accounts } });
    const one = new Browser(pages);
    const answer = await one.fill("/login", { name: "anna.lee", password: anna, to: "/decide?x=1" });
    expect([answer.status, answer.headers.location]).toEqual([303, "/decide?x=1"]);
    const two = await signedIn(pages, "sam", sam);
    expect([await statusOf(one, "/decide"), await statusOf(two, "/decide"), await statusOf(two, "/see")]).toEqual([
      200, 403, 200,
    ]);
    for (const to of [
      "//evil.example",
      "https://evil.example",
      "/\\evil.example",
      "javascript:alert(1)",
      "/a/..//evil.example",
    ]) {
      const led = await new Browser(pages).fill("/login", { name: "sam", password: sam, to });
      expect.soft(led.headers.location, to).toBe("/");
    }
  });

  it(
    "do not sign in with another's password, an empty one, the line itself, or a name that is none",
    { tags: "long" },
    async () => {
      const w = await withAccounts();
      const pages = await guarded(w, { access: { accounts } });
      for (const [name, password] of [
        ["anna.lee", sam],
        ["sam", ""],
        ["nobody", anna],
        ["constructor", anna],
        ["anna.lee", lines.anna],
      ] as const)
        expect.soft((await new Browser(pages).signIn(name, password)).status, name).toBe(403);
      const said = w.rows<{ body: string }>("select body from audit where kind = 'sign-in-refused' order by sequence");
      // Once a minute for each account, and for all names that are none together.
      expect(said.map(({ body }) => (JSON.parse(body) as { account: string }).account)).toEqual([
        "anna.lee",
        "sam",
        "unknown",
      ]);
    },
  );

  it(
    "are signed in under a token that no browser had before, and never by the form of another browser",
    { tags: "long" },
    async () => {
      const pages = await guarded(await withAccounts(), { access: { accounts } });
      const planted = "a".repeat(64);
      const browser = new Browser(pages);
      browser.cookies.set("crm-sync", planted);
      await browser.signIn("anna.lee", anna);
      expect(browser.cookies.get("crm-sync")).not.toBe(planted);
      const thief = new Browser(pages);
      thief.cookies.set("crm-sync", planted);
      expect(await statusOf(thief, "/see")).toBe(303);
      const foreign = tokenIn((await new Browser(pages).get("/login")).text);
      const victim = new Browser(pages);
      await victim.get("/login");
      expect((await victim.post("/login", { csrf: foreign, name: "sam", password: sam })).status).toBe(403);
    },
  );

  it("do nothing with the token of somebody else's session", { tags: "long" }, async () => {
    const pages = await guarded(await withAccounts(), { access: { accounts } });
    const [one, two] = [await signedIn(pages, "anna.lee", anna), await signedIn(pages, "sam", sam)];
    const stolen = tokenIn((await two.get("/see")).text);
    expect((await one.post("/decide", { csrf: stolen })).status).toBe(403);
    expect((await one.post("/decide", { csrf: tokenIn((await one.get("/see")).text) })).status).toBe(200);
    expect(pages.done).toEqual(["decide by anna.lee"]);
  });

  it(
    "get a cookie that only https sends and no other host sets where they come by https",
    { tags: "long" },
    async () => {
      const settings = { access: { accounts }, publicUrl: "https://crm.example.com" };
      const pages = await guarded(await withAccounts(), settings);
      const browser = new Browser(pages, { host: "crm.example.com" });
      const answer = await browser.signIn("sam", sam);
      expect(answer.headers["set-cookie"]?.[0]).toMatch(
        /^__Host-crm-sync=[0-9a-f]{64}; Path=\/; HttpOnly; Secure; SameSite=Lax$/u,
      );
    },
  );
});

describe("log-ins that fail", () => {
  it(
    "wait longer and longer, a thousand in a row, also after a new start, and the right password waits with them",
    { tags: "long" },
    async () => {
      const w = await withAccounts();
      const clock = clockAt(start);
      const pages = await guarded(w, { access: { accounts } }, { clock });
      const browser = new Browser(pages);
      const csrf = tokenIn((await browser.get("/login")).text);
      const counts = new Map<number, number>();
      for (let tries = 0; tries < 1_000; tries += 1) {
        const { status } = await browser.post("/login", { csrf, name: "anna.lee", password: `guess ${tries}` });
        counts.set(status, (counts.get(status) ?? 0) + 1);
      }
      expect(Object.fromEntries(counts)).toEqual({ 403: 5, 429: 995 });
      expect((await browser.post("/login", { csrf, name: "anna.lee", password: anna })).status).toBe(429);
      await pages.stop();
      const again = await guarded(w, { access: { accounts } }, { clock });
      expect((await new Browser(again).signIn("anna.lee", anna)).status).toBe(429);
      clock.move(1_000);
      expect((await new Browser(again).signIn("anna.lee", anna)).status).toBe(303);
    },
  );

  it("are counted by the name, wherever they come from, and others sign in meanwhile", { tags: "long" }, async () => {
    const pages = await guarded(await withAccounts(), { access: { accounts } }, { clock: clockAt(start) });
    const { failures } = pages.access.sessions;
    const waits = Array.from({ length: 6 }, (_, at) => failures.tryNow(`203.0.113.${at}`, "anna.lee").waitMs);
    expect(waits).toEqual([0, 0, 0, 0, 0, 1_000]);
    expect((await new Browser(pages).signIn("anna.lee", anna)).status).toBe(429);
    expect((await new Browser(pages).signIn("sam", sam)).status).toBe(303);
  });

  it("are let through five at a time however many come at the same moment", { tags: "long" }, async () => {
    const pages = await guarded(await withAccounts(), { access: { accounts } }, { clock: clockAt(start) });
    const browser = new Browser(pages);
    const csrf = tokenIn((await browser.get("/login")).text);
    const all = await Promise.all(
      Array.from(
        { length: 40 },
        async () => (await browser.post("/login", { csrf, name: "sam", password: "x" })).status,
      ),
    );
    expect(all.filter((status) => status === 403)).toHaveLength(5);
    expect(all.filter((status) => status === 429)).toHaveLength(35);
  });
});

it.each([
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["2001:DB8:0:0:ffff::", "2001:db8:0:0::/64"],
  ["2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::ffff:10.0.0.7", "::ffff:10.0.0.7"],
  ["10.0.0.7", "10.0.0.7"],
  ["", ""],
])("counts failed log-ins of %s for %j", (address, expected) => {
  expect(networkOf(address)).toBe(expected);
});

describe("a session", () => {
  it("lasts over a new start of the program", { tags: "long" }, async () => {
    const w = await withAccounts();
    const pages = await guarded(w, { access: { accounts } });
    const browser = await signedIn(pages, "sam", sam);
    await pages.stop();
    const again = await guarded(w, { access: { accounts } });
    const same = new Browser(again);
    for (const [name, value] of browser.cookies) same.cookies.set(name, value);
    expect(await statusOf(same, "/see")).toBe(200);
  });

  it("ends by idleness, by age, and when a clock is set back behind its beginning", { tags: "long" }, async () => {
    const clock = clockAt(start);
    const sessions = { idle: "10m", longest: "1h" };
    const pages = await guarded(await withAccounts(), { access: { accounts, sessions } }, { clock });
    const idle = await signedIn(pages, "sam", sam);
    clock.move(600_000);
    expect(await statusOf(idle, "/see")).toBe(200);
    clock.move(600_001);
    expect(await statusOf(idle, "/see")).toBe(303);
    const busy = await signedIn(pages, "sam", sam);
    for (let times = 0; times < 12; times += 1) {
      expect(await statusOf(busy, "/see")).toBe(200);
      clock.move(300_001);
    }
    expect(await statusOf(busy, "/see")).toBe(303);
    // A browser that watches a run asks again by itself, and nobody sits before it for that.
    const watching = await signedIn(pages, "sam", sam);
    clock.move(300_001);
    expect((await watching.get("/see", { accept: "text/event-stream" })).status).toBe(200);
    clock.move(300_001);
    expect(await statusOf(watching, "/see")).toBe(303);
    const early = await signedIn(pages, "sam", sam);
    clock.move(-120_000, 0);
    expect(await statusOf(early, "/see")).toBe(303);
    clock.move(120_000, 0);
    expect(await statusOf(early, "/see")).toBe(303);
  });

  it.each([
    ["the role is another one", { ...accounts, "anna.lee": { ...accounts["anna.lee"], role: "see" } }, undefined],
    ["the account is gone", { sam: accounts.sam }, undefined],
    ["the password is another one", accounts, "other"],
  ] as const)(
    "ends at once where %s in a configuration that was taken over",
    { tags: "long" },
    async (_what, changed, line) => {
      const w = await withAccounts();
      const pages = await guarded(w, { access: { accounts } });
      const [one, two] = [await signedIn(pages, "anna.lee", anna), await signedIn(pages, "sam", sam)];
      if (line !== undefined) writeFileSync(w.path("anna"), lines[line]);
      expect((await pages.reload({ access: { accounts: changed } })).kind).toBe("taken-over");
      expect([await statusOf(one, "/see"), await statusOf(two, "/see")]).toEqual([303, 200]);
    },
  );

  it.each(["deleted", "damaged", "replaced by nonsense"])(
    "ends where its file is %s, which is made anew and said",
    { tags: "long" },
    async (how) => {
      const w = await withAccounts();
      const log: string[] = [];
      const pages = await guarded(w, { access: { accounts } }, { log });
      const browser = await signedIn(pages, "sam", sam);
      const file = w.path("ledger.db.sessions");
      expect(statSync(file).mode & 0o777).toBe(0o600);
      if (how !== "damaged") rmSync(file);
      if (how === "damaged") writeFileSync(file, Buffer.alloc(20_000, 1));
      if (how === "replaced by nonsense") writeFileSync(file, "nonsense");
      expect(await statusOf(browser, "/see")).toBe(303);
      expect(log.join("")).toContain("sessions.anew");
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const again = await signedIn(pages, "sam", sam);
      expect(await statusOf(again, "/see")).toBe(200);
    },
  );

  it("is a page that says so, and no failure, where its file cannot be", async () => {
    const w = await withAccounts();
    mkdirSync(w.path("ledger.db.sessions"));
    const pages = await guarded(w, { access: { accounts } });
    expect((await new Browser(pages).get("/login")).status).toBe(503);
    const browser = new Browser(pages);
    browser.cookies.set("crm-sync", "a".repeat(64));
    expect(await statusOf(browser, "/see")).toBe(303);
  });
});
