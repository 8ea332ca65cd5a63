import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { pagePath } from "../../src/report/page-links.ts";
import { until, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { operator, showing } from "../support/showing.ts";
import type { Showing } from "../support/showing.ts";
import { company, privateText } from "../support/world/crm.ts";

const support = { ...operator, name: "sam.see", role: "see", mayAskForPrivate: false } as const;

async function ran(): Promise<World> {
  const w = await world({ records: company(3, 2) });
  await w.run("run", "everything");
  return w;
}

/** Asks for a page until it says that what was asked for has ended. */
async function ended(pages: Showing, path: string): Promise<string> {
  let text = "";
  await until("it ends", () => pages.dashboard.longReads.current === undefined);
  for (let tries = 0; tries < 100; tries += 1) {
    ({ text } = await pages.get(path));
    if (!text.includes("Running</span>")) return text;
  }
  throw new Error(text);
}

describe("the page of the audit record", () => {
  it("has every entry once, page after page, and links to what each is about", { tags: "long" }, async () => {
    const w = await ran();
    const pages = await showing(w, support);
    const seen: number[] = [];
    for (let path: string | undefined = "/audit"; path !== undefined;) {
      const { text }: { text: string } = await pages.get(path);
      seen.push(...[...text.matchAll(/<a href="\/audit\/(\d+)">\d+<\/a><\/th>/gu)].map(([, number]) => Number(number)));
      path = /href="([^"]+)" rel="next"/u.exec(text)?.[1];
    }
    const all = w.rows<{ sequence: number }>("select sequence from audit order by sequence desc");
    expect(seen).toEqual(all.map(({ sequence }) => sequence));
    const placed = w.rows<{ sequence: number }>("select sequence from audit where subject = 'order:crm/O1'")[0];
    const one = await pages.get(pagePath.audit(placed?.sequence ?? 0));
    expect(one.text).toContain(`href="${pagePath.order("crm", "O1")}"`);
    expect((await pages.get("/audit/999999")).status).toBe(404);
    for (const wrong of ["/audit/x", "/audit?before=-1", "/audit/1e3"])
      expect((await pages.get(wrong)).status, wrong).toBe(400);
  });

  it(
    "has the whole record verified by another process, and says that somebody changed it",
    { tags: "long" },
    async () => {
      const w = await ran();
      const pages = await showing(w, support);
      expect((await pages.get("/audit")).text).toContain("Nobody asked for one");
      expect((await pages.post("/audit/verify", {})).text).toContain("Running");
      const good = await ended(pages, "/audit");
      expect(good).toContain("Nothing is known to be wrong");
      expect(good).toContain("sam.see");
      w.tamper("drop trigger audit_refuses_update; update audit set body = '{}' where sequence = 2");
      await pages.post("/audit/verify", {});
      const bad = await ended(pages, "/audit");
      expect(bad).toContain("Something is wrong");
      expect(bad).toContain("BAD at entry 2");
      expect(bad).not.toContain("Nothing is known to be wrong");
    },
  );

  it("says that a verification failed, and never that the record is good", { tags: "long" }, async () => {
    const w = await ran();
    const path = w.path("other.mjs");
    writeFileSync(path, `console.log('{"good": true'); console.error("killed <b>");`);
    const pages = await showing(w, support, undefined, () => [process.execPath, path]);
    await pages.post("/audit/verify", {});
    const text = await ended(pages, "/audit");
    expect(text).toContain("It failed");
    expect(text).toContain("killed &lt;b&gt;");
    expect(text).not.toContain("Nothing is known to be wrong");
  });

  it("begins nothing beside a daemon", async () => {
    const w = await ran();
    const pages = await showing(w, operator, "beside a daemon");
    expect((await pages.post("/audit/verify", {})).status).toBe(403);
    expect((await pages.get("/audit")).text).not.toContain("Verify now");
    expect(pages.dashboard.longReads.current).toBeUndefined();
  });
});

describe("the page of assumptions", () => {
  it(
    "shows each with its evidence, and lets an operator alone accept a contradiction, with a reason",
    { tags: "long" },
    async () => {
      const w = await ran();
      const writing = await showing(w);
      const ledger = await writing.dashboard.application.existingLedger();
      await ledger.assumptions.met([
        { row: "A12", verdict: "contradicted", evidence: "two <customers>" },
        { row: "A17", verdict: "contradicted", evidence: "counted from 0" },
      ]);
      await ledger.assumptions.flush();
      const reader = await showing(w, support);
      const seen = await reader.get("/assumptions");
      expect(seen.text).toContain("A12 is contradicted");
      expect(seen.text).toContain("two &lt;customers&gt;");
      expect(seen.text).not.toContain('name="decision"');
      const path = "/assumptions/A12/accept";
      expect((await reader.post(path, { reason: "x" })).status).toBe(403);
      expect((await writing.post(path, { reason: "" })).status).toBe(400);
      const standing =
        "select row from assumption_met where verdict = 'contradicted' and accepted_at is null order by row";
      expect(w.rows(standing)).toEqual([{ row: "A12" }, { row: "A17" }]);
      const shownNow = async (): Promise<string> => {
        const form = (await writing.get("/assumptions")).text.split("<form").find((part) => part.includes(path)) ?? "";
        return /name="shown" value="([0-9a-f]*)"/u.exec(form)?.[1] ?? "";
      };
      const shown = await shownNow();
      await ledger.assumptions.met([{ row: "A12", verdict: "contradicted", evidence: "three customers" }]);
      for (const said of [{ shown }, {}]) {
        const stale = await writing.post(path, { reason: "the desk corrected it", ...said });
        expect([stale.status, stale.text]).toEqual([409, expect.stringContaining("is not what the page showed")]);
      }
      expect(w.rows(standing)).toEqual([{ row: "A12" }, { row: "A17" }]);
      const accepted = await writing.post(path, { reason: "the desk corrected it", shown: await shownNow() });
      expect([accepted.status, accepted.text]).toEqual([200, expect.stringContaining("A12 is accepted")]);
      expect(w.rows(standing)).toEqual([{ row: "A17" }]);
      for (const other of ["A12", "A99", "__proto__"])
        expect((await writing.post(`/assumptions/${other}/accept`, { reason: "again" })).status, other).toBe(400);
    },
  );
});

describe("the pages of configuration and alerts", () => {
  it(
    "say where each setting comes from, and show a secret by its reference alone, on every page",
    { tags: "long" },
    async () => {
      const w = await ran();
      const hook = "https://hooks.example.com/services/T0/B0/hook-secret-value";
      w.environment["HOOK"] = hook;
      w.environment["CRM_KEY"] = "key-of-the-crm-0815";
      writeFileSync(w.path("password.txt"), "password-of-the-database\n");
      w.extra = `alerts:
  ways: [{ kind: slack, name: chat, url: env:HOOK }]
audit: { heads: [] }
mail: { host: mail.example.com, from: sync@example.com, user: sync, password: file:password.txt }
`;
      w.write();
      appendFileSync(
        w.path("data/staff.ndjson"),
        `${JSON.stringify({ id: "SX", customer: "C2", login: "x", name: "A", note: "\u202e\u0000" })}\n`,
      );
      const run = await w.run("run", "everything");
      expect(run.exitCode, run.stderr).toBe(3);
      const pages = await showing(w);
      const { text } = await pages.get("/configuration");
      expect(text).toContain("env:HOOK");
      expect(text).toContain("env:SEAL_KEY");
      expect(text).toContain("file:password.txt");
      expect(text).toMatch(/settle\.timeMs<\/bdi><\/code>[\s\S]{0,300}?environment CRM_SYNC__settle__timeMs/u);
      expect(text).toMatch(/ledger\.path<\/bdi><\/code>[\s\S]{0,300}?crm-sync\.yaml:\d+:\d+/u);
      expect(text).toMatch(/log\.level/u);
      const values = [hook, "hook-secret-value", "key-of-the-crm-0815", "password-of-the-database"];
      values.push(w.environment["SEAL_KEY"] ?? "", "sandbox-app-token", "sandbox-user-token");
      const id = w.rows<{ id: string }>("select id from quarantine")[0]?.id ?? "";
      const paths = [
        "/configuration",
        "/alerts",
        "/audit",
        "/assumptions",
        "/quarantine",
        `/quarantine/${id}`,
        "/settle",
        "/reports",
      ];
      const numbers = w
        .rows<{ sequence: number }>("select sequence from audit")
        .map(({ sequence }) => pagePath.audit(sequence));
      for (const path of [...paths, ...numbers]) {
        const page = await pages.get(path);
        expect(page.status, path).toBe(200);
        for (const value of values) expect(page.text.includes(value), `${path} shows a secret`).toBe(false);
        expect(privateText.exec(page.text)?.[0], path).toBeUndefined();
        expect(page.text, path).not.toMatch(/\son[a-z]+=|\sstyle=|<script>/u);
      }
      expect((await pages.get("/alerts")).text).toContain("chat");
    },
  );

  it("look at sources and services in another process, when an operator asks for it", { tags: "long" }, async () => {
    const w = await ran();
    const reader = await showing(w, support);
    expect((await reader.get("/configuration")).text).not.toContain("/configuration/check");
    expect((await reader.post("/configuration/check", {})).status).toBe(403);
    const pages = await showing(w);
    expect((await pages.post("/configuration/check", {})).text).toContain("Running");
    const text = await ended(pages, "/configuration");
    expect(text).toContain("source hr");
    expect(readFileSync(w.path("crm-sync.yaml"), "utf8")).toContain("sources");
  });

  it("link from an alert to the page of what it is about", { tags: "long" }, async () => {
    const w = await world({ records: { ...company(2, 1), staff: [] } });
    w.extra = "orders: { unseen: ask }\n";
    w.write();
    w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
    expect((await w.run("run", "everything")).exitCode).toBe(5);
    const { text } = await (await showing(w, support)).get("/alerts");
    for (const { id } of w.rows<{ id: string }>("select id from operation where state = 'parked'"))
      expect(text).toContain(`href="${pagePath.settle(id)}"`);
  });
});
