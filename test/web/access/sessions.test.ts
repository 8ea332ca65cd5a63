import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { request } from "undici";
import { world, type World } from "../../support/cli.ts";
import { Browser, clockAt, guarded, signedIn, tokenIn } from "../../support/guarded.ts";

const start = Date.parse("2026-05-01T10:00:00Z");
const statusOf = async (browser: Browser, path = "/see"): Promise<number> => (await browser.get(path)).status;

async function withLedger(): Promise<World> {
  const w = await world();
  await w.run("status");
  return w;
}

describe("a session", () => {
  it("ends by idleness, by age, and when the clock is set back behind its beginning", async () => {
    const clock = clockAt(start);
    const access = { sessions: { idle: "10m", longest: "1h" } };
    const pages = await guarded(await withLedger(), { access }, { clock });
    const idle = await signedIn(pages);
    clock.move(600_000);
    expect(await statusOf(idle)).toBe(200);
    clock.move(600_001);
    expect(await statusOf(idle)).toBe(303);
    const busy = await signedIn(pages);
    for (let times = 0; times < 12; times += 1) {
      expect(await statusOf(busy)).toBe(200);
      clock.move(300_001);
    }
    expect(await statusOf(busy)).toBe(303);
    // A browser that watches a run asks again by itself, and nobody sits before it for that.
    const watching = await signedIn(pages);
    clock.move(300_001);
    expect((await watching.get("/see", { accept: "text/event-stream" })).status).toBe(200);
    clock.move(300_001);
    expect(await statusOf(watching)).toBe(303);
    const early = await signedIn(pages);
    clock.move(-120_000, 0);
    expect(await statusOf(early)).toBe(303);
    clock.move(120_000, 0);
    expect(await statusOf(early)).toBe(303);
  });

  it("lasts over a new start of the program", { tags: "long" }, async () => {
    const w = await withLedger();
    const pages = await guarded(w);
    const browser = await signedIn(pages);
    await pages.stop();
    const same = new Browser(await guarded(w));
    for (const [name, value] of browser.cookies) same.cookies.set(name, value);
    expect(await statusOf(same)).toBe(200);
  });

  it("does nothing with the token of somebody else's session", { tags: "long" }, async () => {
    const pages = await guarded(await withLedger());
    const [one, two] = [await signedIn(pages, "otto"), await signedIn(pages, "anna")];
    expect((await one.post("/decide", { csrf: tokenIn((await two.get("/see")).text) })).status).toBe(403);
    expect((await one.post("/decide", { csrf: tokenIn((await one.get("/see")).text) })).status).toBe(200);
    expect(pages.done).toEqual(["decide by otto"]);
  });

  it.each([
    ["deleted", (file: string) => rmSync(file)],
    ["damaged", (file: string) => writeFileSync(file, Buffer.alloc(20_000, 1))],
    ["nonsense", (file: string) => writeFileSync(file, "nonsense")],
  ])("ends where its file is %s, which is made anew and said", { tags: "long" }, async (_how, spoil) => {
    const w = await withLedger();
    const log: string[] = [];
    const pages = await guarded(w, {}, { log });
    const browser = await signedIn(pages);
    const file = w.path("ledger.db.sessions");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { host } = pages;
    spoil(file);
    expect((await pages.ask("/see", { headers: { host } })).status, "the name is another one").toBe(421);
    expect(await statusOf(browser)).toBe(303);
    expect(log.join("")).toContain("sessions.anew");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await statusOf(await signedIn(pages))).toBe(200);
  });

  it("is a page that says so, and no failure, where its file cannot be", { tags: "long" }, async () => {
    const w = await withLedger();
    mkdirSync(w.path("ledger.db.sessions"));
    const pages = await guarded(w);
    expect(await statusOf(new Browser(pages), `/login/link/${"a".repeat(64)}`)).toBe(503);
    const browser = new Browser(pages);
    browser.cookies.set("crm-sync", "a".repeat(64));
    expect(await statusOf(browser)).toBe(503);
  });
});

it("whoever signs out is told no more of a run that goes on; who stays is", { tags: "long" }, async () => {
  const w = await withLedger();
  const clock = clockAt(start);
  const pages = await guarded(w, {}, { clock });
  const stop = w.stopsAt("E5");
  const running = w.run("run", "everything");
  await stop.reached;
  const [{ id }] = (await w.ask("status")).running;
  const watching = async (browser: Browser) => {
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const { body } = await request(`http://127.0.0.1:${pages.port}/run/${id}/events`, {
      headers: { cookie, host: pages.host },
    });
    const watched = { text: "", isOver: false };
    void (async () => {
      for await (const chunk of body) watched.text += String(chunk);
    })()
      .catch(() => {})
      .finally(() => (watched.isOver = true));
    await expect.poll(() => watched.text).toContain("event: shown");
    return watched;
  };
  const [leaving, staying] = [await signedIn(pages, "otto"), await signedIn(pages, "anna")];
  const [left, stayed] = [await watching(leaving), await watching(staying)];
  await leaving.post("/logout", { csrf: tokenIn((await leaving.get("/see")).text) });
  clock.move(1_000);
  await expect.poll(() => left.isOver).toBe(true);
  expect(stayed.isOver).toBe(false);
  stop.goOn();
  await running;
  clock.move(1_000);
  await expect.poll(() => stayed.isOver).toBe(true);
  expect([left.text.includes("event: ended"), stayed.text.includes("event: ended")]).toEqual([false, true]);
});
