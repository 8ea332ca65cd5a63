import { createHash } from "node:crypto";
import { chmodSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { request } from "undici";
import { describe, expect, it } from "vitest";
import { bundled } from "../../support/bundle.ts";
import { world, type World } from "../../support/cli.ts";
import { operator, showing, type Showing } from "../../support/showing.ts";
import { privateText } from "../../support/world/crm.ts";

const finance = { ...operator, name: "fin.ance", role: "report", mayAskForPrivate: false } as const;
const statementOf = (more: string): string => `/reports/2026-11/statement?${more}`;
const orders = statementOf("kind=orders");

async function ran(): Promise<World> {
  const w = await world();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** The pages for finance; the program that reads what takes long has the time of the world. */
async function pagesOf(w: World): Promise<Showing> {
  w.environment["GOLDEN_NOW"] = new Date(w.clock.now()).toISOString();
  const clock = join(import.meta.dirname, "../../golden/clock.mjs");
  return await showing(w, finance, () => [process.execPath, "--import", clock, bundled()]);
}

/** A program in the place of this one, which does as the text says. */
async function pagesBy(w: World, text: string): Promise<Showing> {
  const path = w.path("other-program.mjs");
  writeFileSync(path, text);
  return await showing(w, finance, () => [process.execPath, path]);
}

const isFree = async (pages: Showing): Promise<void> =>
  await expect.poll(() => pages.dashboard.longReads.count).toBe(0);

describe("the pages of reports", () => {
  it("are for finance and operators, and say of a wrong request what can be done", async () => {
    const w = await ran();
    const support = await showing(w, { ...operator, role: "see" });
    for (const path of ["/reports", "/reports/2026-11", orders, "/reports/2026-11/blockers"])
      expect((await support.get(path)).status, path).toBe(403);
    const pages = await pagesBy(w, "process.exit(1)");
    expect((await pages.get("/reports")).text).toContain('href="/reports/2026-11"');
    expect((await pages.get("/reports/2026-11")).text).toContain(orders);
    expect((await pages.get("/reports?period=2026-Q4")).headers["location"]).toBe("/reports/2026-Q4");
    for (const path of [
      "/reports/nothing",
      "/reports?period=2026-13",
      "/reports/--out=x/statement?kind=orders",
      "/reports/2026-11/closing/9/..%2fledger.db",
      ...["kind=__proto__", "kind=bill", "kind=orders&format=exe", "kind=orders&part=--out"].map(statementOf),
    ])
      expect((await pages.get(path)).status, path).toBe(400);
    expect(pages.dashboard.longReads.count).toBe(0);
  });

  it("give a statement with the very bytes that the command writes", { tags: "long" }, async () => {
    const w = await ran();
    const pages = await pagesOf(w);
    const words = ["report", "entitlements", "--period", "2026-11", "--format", "csv"];
    expect((await w.run(...words, "--out", w.path("whole.csv"))).exitCode).toBe(0);
    const files = readdirSync(w.folder).filter((name) => name.startsWith("whole") && name.endsWith(".csv"));
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) {
      const part = /^whole\.(.+)\.csv$/u.exec(file)?.[1];
      const more = part === undefined ? "" : `&part=${part}`;
      const got = await pages.get(statementOf(`kind=entitlements&format=csv${more}`));
      expect(got.status, file).toBe(200);
      expect(got.headers["content-disposition"]).toContain("attachment");
      expect(got.text, file).toBe(readFileSync(w.path(file), "utf8"));
    }
    expect((await pages.get(statementOf("kind=orders&format=json"))).text).not.toMatch(privateText);
    // As HTML it is a page of its own, which may do nothing.
    const { headers, text } = await pages.get(statementOf("kind=orders&format=html&show=yes"));
    expect(headers["content-security-policy"]).toMatch(/^sandbox; default-src 'none'/u);
    expect(headers["content-disposition"]).toContain("inline");
    expect(text).toContain("<!doctype html>");
  });

  it("never give a part of a statement as if it were all", { tags: "long" }, async () => {
    const w = await ran();
    const early = `process.stdout.write("a,b\\n1,2\\n"); console.error("the <disk> is full"); process.exitCode = 1;`;
    const failed = await (await pagesBy(w, early)).get(orders);
    expect([failed.status, failed.text]).toEqual([503, expect.stringContaining("the &lt;disk&gt; is full")]);
    expect(failed.text).not.toContain("1,2");
    const late = `process.stdout.write("x".repeat(2_000_000), () => { process.exitCode = 1; });`;
    const pages = await pagesBy(w, late);
    await expect(pages.get(orders)).rejects.toThrow();
    await isFree(pages);
  });

  it("stop a statement when the browser goes away", { tags: "long" }, async () => {
    const w = await ran();
    const mark = w.path("began");
    const endless = `import { writeFileSync } from "node:fs";
      writeFileSync(${JSON.stringify(mark)}, String(process.pid)); setInterval(() => {}, 1000);`;
    const pages = await pagesBy(w, endless);
    const gone = new AbortController();
    const first = request(`${pages.url}${orders}`, { signal: gone.signal });
    const ended = first.then(
      () => "answered",
      () => "broken off",
    );
    await expect.poll(() => existsSync(mark) && readFileSync(mark, "utf8") !== "").toBe(true);
    gone.abort();
    expect(await ended).toBe("broken off");
    const pid = Number(readFileSync(mark, "utf8"));
    await expect.poll(() => isOn(pid)).toBe(false);
    await isFree(pages);
    const { longReads } = pages.dashboard;
    for (const read of ["text", "bytes"] as const)
      await expect(longReads[read]({ what: "this", words: [], by: operator, timeoutMs: 50 })).rejects.toThrow(
        "longer than 50 ms",
      );
  });

  it(
    "give the frozen files of a closed period with their digest, and none that was changed",
    { tags: "long" },
    async () => {
      const w = await ran();
      w.later(24 * 30);
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const pages = await pagesOf(w);
      const { blockers } = await w.ask("report", "blockers", "2026-11");
      const ids = blockers.map(({ id }: { id: string }) => id);
      expect((await pages.get("/reports/2026-11/blockers")).status).toBe(200);
      const whose = ["--by", "anna", "--reason", "read later"];
      if (ids.length > 0) expect((await w.run("report", "sign-off", "2026-11", ...ids, ...whose)).exitCode).toBe(0);
      expect((await w.run("report", "close", "2026-11", "--by", "anna")).exitCode).toBe(0);
      const { text } = await pages.get("/reports/2026-11");
      const links = [...text.matchAll(/href="(\/reports\/[^"]+\/closing\/1\/[^"]+)"/gu)].map(([, link = ""]) => link);
      expect(links.length).toBeGreaterThan(3);
      const [link = ""] = links;
      const got = await pages.get(link);
      const sha256 = createHash("sha256").update(got.text).digest();
      expect(got.headers["repr-digest"]).toBe(`sha-256=:${sha256.toString("base64")}:`);
      expect(text).toContain(sha256.toString("hex"));
      const frozen = w.path(`periods/${sha256.toString("hex")}`);
      chmodSync(frozen, 0o600);
      writeFileSync(frozen, `${got.text} `);
      expect((await pages.get(link)).status).toBe(400);
    },
  );
});

function isOn(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
