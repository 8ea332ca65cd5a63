import { createHash } from "node:crypto";
import { chmodSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { request } from "undici";
import { describe, expect, it } from "vitest";
import { until, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { beganLastMonth, lastMonth } from "../support/last-month.ts";
import { operator, showing } from "../support/showing.ts";
import { company, privateText } from "../support/world/crm.ts";

const finance = { ...operator, name: "fin.ance", role: "report", mayAskForPrivate: false } as const;
const thisMonth = new Date().toISOString().slice(0, 7);
const statementOf = (period: string, more: string): string => `/reports/${period}/statement?${more}`;

async function ran(): Promise<World> {
  const w = await world({ records: company(3, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** A program in the place of this one, which does as the text says. */
function program(w: World, text: string): () => [string, ...string[]] {
  const path = w.path("other-program.mjs");
  writeFileSync(path, text);
  return () => [process.execPath, path];
}

describe("the pages of reports", () => {
  it("are for finance and operators, and for nobody with less", async () => {
    const w = await ran();
    const support = await showing(w, { ...operator, role: "see" }, undefined, program(w, "process.exit(0)"));
    for (const path of [
      "/reports",
      `/reports/${thisMonth}`,
      statementOf(thisMonth, "kind=orders"),
      `/reports/${thisMonth}/blockers`,
    ])
      expect((await support.get(path)).status, path).toBe(403);
    const pages = await showing(w, finance);
    const { text } = await pages.get("/reports");
    expect(text).toContain(`href="/reports/${thisMonth}"`);
    expect((await pages.get(`/reports/${thisMonth}`)).text).toContain("orders");
    expect((await pages.get("/reports?period=2026-Q4")).headers["location"]).toBe("/reports/2026-Q4");
  });

  it(
    "give a statement with the very bytes that the command writes, each part of it too",
    { tags: "long" },
    async () => {
      const w = await ran();
      const pages = await showing(w, finance);
      const words = ["report", "entitlements", "--period", thisMonth, "--format", "csv"];
      expect((await w.run(...words, "--out", w.path("whole.csv"))).exitCode).toBe(0);
      const files = readdirSync(w.folder).filter((name) => name.startsWith("whole") && name.endsWith(".csv"));
      expect(files.length).toBeGreaterThan(1);
      for (const file of files) {
        const part = /^whole\.(.+)\.csv$/u.exec(file)?.[1];
        const more = part === undefined ? "" : `&part=${part}`;
        const got = await pages.get(statementOf(thisMonth, `kind=entitlements&format=csv${more}`));
        expect(got.status, file).toBe(200);
        expect(got.headers["content-disposition"]).toContain("attachment");
        expect(got.text, file).toBe(readFileSync(w.path(file), "utf8"));
      }
      expect(privateText.exec((await pages.get(statementOf(thisMonth, "kind=orders&format=json"))).text)).toBeNull();
    },
  );

  it("show a statement with charts in a page of its own that may do nothing", { tags: "long" }, async () => {
    const w = await ran();
    const pages = await showing(w, finance);
    const { status, headers, text } = await pages.get(statementOf(thisMonth, "kind=orders&format=html&show=yes"));
    expect(status).toBe(200);
    expect(headers["content-security-policy"]).toMatch(/^sandbox; default-src 'none'/u);
    expect(headers["content-disposition"]).toContain("inline");
    expect(text).toContain("<!doctype html>");
    expect((await pages.get("/reports")).headers["content-security-policy"]).not.toContain("sandbox");
  });

  it(
    "say clearly that a statement could not be made, and never give a part of it as if it were all",
    { tags: "long" },
    async () => {
      const w = await ran();
      const early = program(
        w,
        `process.stdout.write("a,b\\n1,2\\n"); console.error("the <disk> is full"); process.exitCode = 1;`,
      );
      const failed = await (await showing(w, finance, undefined, early)).get(statementOf(thisMonth, "kind=orders"));
      expect([failed.status, failed.headers["content-type"]]).toEqual([503, "text/html; charset=UTF-8"]);
      expect(failed.text).toContain("the &lt;disk&gt; is full");
      expect(failed.text).not.toContain("1,2");
      const late = program(w, `process.stdout.write("x".repeat(2_000_000), () => { process.exitCode = 1; });`);
      const pages = await showing(w, finance, undefined, late);
      await expect(pages.get(statementOf(thisMonth, "kind=orders"))).rejects.toThrow();
      await until("it lets the next one in", () => pages.dashboard.longReads.current === undefined);
    },
  );

  it("make one statement at a time, and stop it when the browser goes away", { tags: "long" }, async () => {
    const w = await ran();
    const mark = w.path("began");
    const slow = program(
      w,
      `import { writeFileSync } from "node:fs";
      writeFileSync(${JSON.stringify(mark)}, String(process.pid)); setInterval(() => {}, 1000);`,
    );
    const pages = await showing(w, finance, undefined, slow);
    const gone = new AbortController();
    const first = request(`${pages.url}${statementOf(thisMonth, "kind=orders")}`, { signal: gone.signal });
    const ended = first.then(
      () => "answered",
      () => "broken off",
    );
    await until("it began", () => existsSync(mark) && readFileSync(mark, "utf8") !== "");
    const second = await pages.get(statementOf(thisMonth, "kind=orders"));
    expect([second.status, second.text]).toEqual([503, expect.stringContaining("one is made at a time")]);
    gone.abort();
    expect(await ended).toBe("broken off");
    const pid = Number(readFileSync(mark, "utf8"));
    await until("it was ended", () => !isOn(pid));
    await until("the next is let in", () => pages.dashboard.longReads.current === undefined);
  });

  it("end what takes too long, and say so", { tags: "long" }, async () => {
    const w = await ran();
    const { longReads } = (await showing(w, finance, undefined, program(w, "setInterval(() => {}, 1000)"))).dashboard;
    await expect(longReads.text({ what: "this", words: [], timeoutMs: 50 })).rejects.toThrow(
      "it took longer than 50 ms",
    );
    await expect(longReads.bytes({ what: "this", words: [], timeoutMs: 50 })).rejects.toThrow("longer than 50 ms");
  });

  it(
    "give the frozen files of a closed period byte for byte with their digest, and none that was changed",
    { tags: "long" },
    async () => {
      const w = await world();
      await beganLastMonth(w);
      expect((await w.run("run", "customers-and-orders")).exitCode).toBe(0);
      const pages = await showing(w, finance);
      const open = await pages.get(`/reports/${lastMonth}/blockers`);
      const ids = [...open.text.matchAll(/<code><bdi>([^<]+)<\/bdi><\/code>/gu)].map(([, id = ""]) => id);
      expect(ids.length).toBeGreaterThan(0);
      const whose = ["--by", "anna", "--reason", "read later"];
      expect((await w.run("report", "sign-off", lastMonth, ...ids, ...whose)).exitCode).toBe(0);
      expect((await pages.get(`/reports/${lastMonth}/blockers`)).text).toContain("0 things stand in the way");
      expect((await w.run("report", "close", lastMonth, "--by", "anna")).exitCode).toBe(0);
      expect((await pages.get("/reports")).text).toMatch(/closed<\/span>/u);
      const { text } = await pages.get(`/reports/${lastMonth}`);
      const links = [...text.matchAll(/href="(\/reports\/[^"]+\/closing\/1\/[^"]+)"/gu)].map(([, link = ""]) => link);
      expect(links.length).toBeGreaterThan(3);
      const [link = ""] = links;
      const got = await pages.get(link);
      const sha256 = createHash("sha256").update(got.text).digest();
      expect(got.headers["repr-digest"]).toBe(`sha-256=:${sha256.toString("base64")}:`);
      expect(text).toContain(sha256.toString("hex"));
      const frozen = w.path(`books/${sha256.toString("hex")}`);
      chmodSync(frozen, 0o600);
      writeFileSync(frozen, `${got.text} `);
      const changed = await pages.get(link);
      expect(changed.status).toBe(400);
      expect(changed.text).toContain("is not what was frozen");
    },
  );

  it("answer what a request says wrongly with what can be done", { tags: "long" }, async () => {
    const w = await ran();
    const pages = await showing(w, finance, undefined, program(w, "process.exit(1)"));
    for (const path of [
      "/reports/nothing",
      "/reports?period=2026-13",
      statementOf(thisMonth, "kind=__proto__"),
      statementOf(thisMonth, "kind=cover"),
      statementOf(thisMonth, "kind=orders&format=exe"),
      statementOf(thisMonth, "kind=orders&part=--out"),
      statementOf("--out=x", "kind=orders"),
      `/reports/${thisMonth}/closing/9/..%2fledger.db`,
    ])
      expect((await pages.get(path)).status, path).toBe(400);
    expect(pages.dashboard.longReads.current).toBeUndefined();
  });
});

function isOn(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
