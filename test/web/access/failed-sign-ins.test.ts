import { readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { networkOf, RateLimit } from "../../../src/web/access/rate-limit.ts";
import { auditEntries } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { Browser, clockAt, guarded, type Guarded } from "../../support/guarded.ts";

const wrongLink = `/login/link/${"b".repeat(64)}`;

/** Tries so many links that nobody made, and gives how they were answered. */
async function tries(pages: Guarded, count: number, from = "127.0.0.1"): Promise<number[]> {
  const statuses: number[] = [];
  for (let at = 0; at < count; at += 1)
    statuses.push((await pages.ask(wrongLink, { method: "POST", from, body: "csrf=x" })).status);
  return statuses;
}

describe("sign-ins that fail", () => {
  it("are limited by address and for ten minutes, and lock nobody out", async () => {
    const clock = clockAt(Date.parse("2026-05-01T10:00:00Z"));
    const w = await world();
    await w.run("status");
    const pages = await guarded(w, {}, { clock });
    const link = (): string => `/login/link/${pages.access.sessions.makeLink("otto")}`;
    const before = new Browser(pages);
    expect((await before.fill(link(), {})).status).toBe(303);
    expect(new Set(await tries(pages, 20))).toEqual(new Set([403]));
    const refused = await pages.ask(wrongLink, { method: "POST", body: "csrf=x" });
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "600"]);
    expect(JSON.parse(refused.text).error).toBe("too-many-failed");
    // The link of the owner, and who is signed in, from the same address.
    const owner = new Browser(pages);
    expect((await owner.fill(link(), {})).status).toBe(303);
    for (const browser of [owner, before]) expect((await browser.get("/decide")).status).toBe(200);
    expect((await pages.ask("/login")).status).toBe(200);
    // Another address, and another time.
    expect(await tries(pages, 1, "127.0.0.2")).toEqual([403]);
    expect(await tries(pages, 1)).toEqual([429]);
    clock.move(600_000);
    expect(await tries(pages, 1)).toEqual([403]);
  });

  it("by assertions and by an OpenID provider are limited together, and the log tells of no more", async () => {
    const log: string[] = [];
    const w = await world();
    await w.run("status");
    const issuer = "http://127.0.0.1:1";
    const proxy = { header: "X-Assertion", issuer: "https://proxy.example", audience: "crm-sync", keys: "proxy.jwks" };
    const settings = {
      publicUrl: "https://crm.example.com",
      access: { proxy, oidc: { issuer, clientId: "crm-sync", roles: {} } },
    };
    const pages = await guarded(w, settings, { log });
    const headers = { "x-assertion": "a", host: "crm.example.com" };
    const statuses = async (path: string, sent: Record<string, string>): Promise<number[]> =>
      await Promise.all(Array.from({ length: 50 }, async () => (await pages.ask(path, { headers: sent })).status));
    const asserted = await statuses("/see", headers);
    expect(asserted.filter((status) => status === 403)).toHaveLength(20);
    expect(asserted.filter((status) => status === 429)).toHaveLength(30);
    for (const path of ["/login/oidc", "/login/oidc/callback?state=x&code=y"])
      expect(new Set(await statuses(path, { host: "crm.example.com" })), path).toEqual(new Set([429]));
    expect(log.filter((line) => line.includes("access."))).toHaveLength(20);
  });

  it("write nothing, neither to the audit log nor to the file of who is signed in", async () => {
    const w = await world();
    await w.run("status");
    const pages = await guarded(w);
    const entries = (await auditEntries(w)).length;
    const file = w.path("ledger.db.sessions");
    expect(pages.host).toContain("localhost");
    const before = [readFileSync(file), statSync(file).mtimeMs];
    const cookie = `crm-sync=${"a".repeat(64)}; crm-sync-sign-in=${"d".repeat(64)}`;
    for (const path of ["/login", "/see", wrongLink, "/login/link/x", "/metrics", "/logout"])
      for (const method of ["GET", "POST"])
        await Promise.all(
          Array.from({ length: 20 }, () => pages.ask(path, { method, headers: { cookie, accept: "text/html" } })),
        );
    expect([readFileSync(file), statSync(file).mtimeMs]).toEqual(before);
    expect(await auditEntries(w)).toHaveLength(entries);
  });
});

it("an address of version 6 counts as its network, one of version 4 as itself", () => {
  for (const [address, network] of [
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:0db8:0001:0002::9", "2001:db8:1:2"],
    ["2001:db8::9", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["203.0.113.9", "203.0.113.9"],
    ["", ""],
  ] as const)
    expect(networkOf(address), address).toBe(network);
});

it("a limit keeps no more than ten thousand keys, and what is beyond shares one count", async () => {
  const clock = clockAt(0);
  const limit = new RateLimit({ clock, most: 2, windowMs: 60_000 });
  const count = async (key: string): Promise<number | undefined> => await limit.count(key);
  for (let at = 0; at < 10_000; at += 1) expect(await count(`address ${at}`)).toBeUndefined();
  expect([await count("new 1"), await count("new 2"), await count("new 3")]).toEqual([undefined, undefined, 60]);
  expect([await count("address 1"), await count("address 1")]).toEqual([undefined, 60]);
  clock.move(59_999);
  expect(await count("new 4")).toBe(1);
  clock.move(1);
  expect(await count("new 4")).toBeUndefined();
});
