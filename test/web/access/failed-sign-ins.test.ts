import { readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { auditEntries } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { clockAt, guarded, signedIn } from "../../support/guarded.ts";

const wrongLink = `/login/link/${"b".repeat(64)}`;

describe("sign-ins that fail", () => {
  it("are told from each other by their reason, which the log has once a minute, and lock nobody out", async () => {
    const clock = clockAt(Date.parse("2026-05-01T10:00:00Z"));
    const log: string[] = [];
    const w = await world();
    await w.run("status");
    const proxy = { header: "X-Assertion", issuer: "https://proxy.example", audience: "crm-sync", keys: "proxy.jwks" };
    const pages = await guarded(w, { access: { proxy } }, { clock, log });
    const tries = async (headers: readonly string[]): Promise<Set<number>> =>
      new Set(await Promise.all(Array.from({ length: 50 }, async () => (await pages.ask("/see", { headers })).status)));
    const told = (): number => log.filter((line) => line.includes("access.assertion")).length;
    expect(await tries(["x-assertion", "a"])).toEqual(new Set([403]));
    expect(told()).toBe(1);
    expect(await tries(["x-assertion", "a", "x-assertion", "b"])).toEqual(new Set([403]));
    expect(told()).toBe(2);
    clock.move(60_000);
    expect(await tries(["x-assertion", "a"])).toEqual(new Set([403]));
    expect(told()).toBe(3);
    for (let at = 0; at < 30; at += 1)
      expect((await pages.ask(wrongLink, { method: "POST", body: "csrf=x" })).status).toBe(403);
    expect((await (await signedIn(pages)).get("/decide")).status).toBe(200);
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
