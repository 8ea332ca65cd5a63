import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { request } from "undici";
import { describe, expect, it } from "vitest";
import { executeJob } from "../../../src/app/execute-job.ts";
import { projectFolder } from "../../../src/base/program-version.ts";
import { operationsOf, runsOf } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { severalTroubles } from "../../support/several-troubles.ts";
import { nameHeader, operator, showing, type Showing } from "../../support/showing.ts";
import { company, privateText } from "../../support/world/crm.ts";

/** What comes of the events of a run, as it comes. */
class Watch {
  text = "";
  isOver = false;
  readonly status: number;
  readonly #gone: AbortController;

  private constructor(status: number, gone: AbortController) {
    this.status = status;
    this.#gone = gone;
  }

  static async of(pages: Showing, run: string, by = operator.name, method: "GET" | "HEAD" = "GET"): Promise<Watch> {
    const gone = new AbortController();
    const headers = { [nameHeader]: by };
    const answer = await request(`${pages.url}/run/${run}/events`, { method, headers, signal: gone.signal });
    const watch = new Watch(answer.statusCode, gone);
    void (async () => {
      for await (const chunk of answer.body) watch.text += String(chunk);
    })()
      .catch(() => {})
      .finally(() => (watch.isOver = true));
    return watch;
  }

  leave(): void {
    this.#gone.abort();
  }

  get shown(): number {
    return this.text.match(/^event: shown$/gmu)?.length ?? 0;
  }
}

const seen = async (text: () => string, what: string): Promise<void> => await expect.poll(text).toContain(what);

/** A run that stands still in the middle. */
async function underway(w: World): Promise<{ run: string; end: () => Promise<unknown> }> {
  const stop = w.stopsAt("E5", { nth: 2 });
  const running = w.run("run", "everything");
  await stop.reached;
  const [{ id }] = (await w.ask("status")).running;
  return {
    run: id,
    end: async () => {
      stop.goOn();
      return await running;
    },
  };
}

describe("the pages of runs", () => {
  it("list runs of all jobs or of one, and show of each what it did and what failed", async () => {
    const w = await severalTroubles();
    const pages = await showing(w);
    const runs = await runsOf(w);
    const { text: all } = await pages.get("/runs");
    expect([...all.matchAll(/<a href="\/run\/([^"]+)"/gu)].map(([, id]) => id)).toEqual(runs.map(({ id }) => id));
    const { text: people } = await pages.get("/runs?job=people");
    for (const { id, job } of runs) expect(people.includes(id), id).toBe(job === "people");
    const [last, failed] = runs;
    const [parked] = await operationsOf(w, "order", "O9");
    const { status, text } = await pages.get(`/run/${failed.id}`);
    expect(status).toBe(200);
    expect(text).toContain("exit 5");
    expect(text).toContain(`/settle/${parked.id}`);
    const [held] = await operationsOf(w, "staff", "S1-1");
    expect(text).toContain(held.id);
    expect(text).not.toMatch(privateText);
    expect(text).not.toContain("data-live");
    for (const [path, is] of [
      ["/run/none", 404],
      ["/run/%ff", 404],
      ["/run/none/events", 404],
      [`/run/${last.id}?after=x`, 400],
      ["/runs?job=x&at=x&before=x", 200],
    ] as const)
      expect((await pages.get(path)).status, path).toBe(is);
  });

  it("show many runs, and many operations of one, page by page, each once", { tags: "long" }, async () => {
    const w = await world({ records: company(16, 4) });
    await w.run("run", "everything");
    const [{ id: first }] = await runsOf(w);
    w.customers = [];
    w.orders = [];
    w.staff = [];
    w.write();
    for (let count = 0; count < 50; count += 1) await w.run("plan");
    const pages = await showing(w);
    const listed = async (path: string, next: RegExp, each: RegExp): Promise<string[]> => {
      const { text } = await pages.get(path);
      const found = [...text.matchAll(each)].map(([, id = ""]) => id);
      const [, more] = next.exec(text) ?? [];
      return more === undefined ? found : [...found, ...(await listed(more.replaceAll("&amp;", "&"), next, each))];
    };
    const runs = await listed("/runs", /<a href="([^"]+)" rel="next">Earlier runs</u, /<a href="\/run\/([^"]+)"/gu);
    expect(runs).toEqual((await runsOf(w)).map(({ id }) => id));
    expect(runs.length).toBeGreaterThan(50);
    const all = await listed(
      `/run/${first}`,
      /<a href="([^"]+)" rel="next">Later operations</u,
      /\b(op_[0-9a-z]+)<\/span>/gu,
    );
    const { balance } = (await w.ask("run", "show", first)).run;
    expect(new Set(all).size).toBe(balance.operations.planned);
    expect(all).toHaveLength(balance.operations.planned);
  });
});

describe("a run that goes on", () => {
  it("tells how far it is, in its own process and in another, until it has ended", { tags: "long" }, async () => {
    const w = await world({ records: company(3, 1) });
    await w.run("status");
    const here = await showing(w);
    const beside = await showing(w, { ...operator, role: "see" });
    const { application } = here.dashboard;
    const job = application.jobs().find(({ id }) => id === "everything");
    if (job === undefined) throw new Error("the job is missing");
    const [one, two] = [w.stopsAt("E5"), w.stopsAt("M1")];
    const ended = executeJob(application, job, { trigger: "hand", signal: new AbortController().signal });
    await one.reached;
    const [{ id: run }] = (await w.ask("status")).running;
    expect((await here.get(`/run/${run}`)).text).toContain(`data-live="/run/${run}/events"`);
    expect((await here.get("/today")).text).toContain(`/run/${run}`);
    const watches = [await Watch.of(here, run), await Watch.of(beside, run)];
    for (const watch of watches) await seen(() => watch.text, "event: shown");
    one.goOn();
    await two.reached;
    for (const pages of [here, beside]) pages.tick();
    for (const watch of watches) await expect.poll(() => watch.shown).toBe(2);
    two.goOn();
    expect(await ended).toBe(0);
    for (const pages of [here, beside]) pages.tick();
    for (const watch of watches) await seen(() => watch.text, "event: ended\ndata: done");
    expect(watches[0]?.text).toMatch(/customers<\/bdi>: \d+ of 3 /u);
    expect((await here.get(`/run/${run}`)).text).not.toContain("data-live");
  });

  it("is told to so many at once and no more, and whoever leaves makes room", { tags: "long" }, async () => {
    const w = await world({ records: company(3, 1) });
    await w.run("status");
    const pages = await showing(w);
    const { run, end } = await underway(w);
    // Who asks for the head alone takes nobody's place.
    for (let asked = 0; asked < 25; asked += 1) expect((await Watch.of(pages, run, "eve", "HEAD")).status).toBe(200);
    const watches = [];
    for (const by of ["anna", "ben", "cleo", "dan"]) {
      for (let asked = 0; asked < 5; asked += 1) watches.push(await Watch.of(pages, run, by));
      expect((await Watch.of(pages, run, by)).status, "a person takes not all the room").toBe(503);
    }
    expect(new Set(watches.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await Watch.of(pages, run, "eve")).status).toBe(503);
    const [first, ...others] = watches;
    first?.leave();
    const again = async (): Promise<number> => {
      pages.tick();
      return (await Watch.of(pages, run, "eve")).status;
    };
    await expect.poll(again).toBe(200);
    await end();
    pages.tick();
    for (const watch of others) await seen(() => watch.text, "event: ended\ndata: done");
  });
});

it("a page that gets no events any more says that it is older, until they come again", () => {
  const place = { dataset: { live: "/run/r/events" }, innerHTML: "3 of 9" };
  const listeners = new Map<string, (event: { data: string }) => void>();
  runInNewContext(readFileSync(join(projectFolder, "assets", "live.js"), "utf8"), {
    document: { querySelectorAll: () => [place] },
    EventSource: class {
      addEventListener(name: string, listener: (event: { data: string }) => void): void {
        listeners.set(name, listener);
      }
    },
  });
  listeners.get("error")?.({ data: "" });
  listeners.get("error")?.({ data: "" });
  expect(place.innerHTML).toContain("3 of 9");
  expect(place.innerHTML.split("older")).toHaveLength(2);
  listeners.get("shown")?.({ data: "4 of 9" });
  expect(place.innerHTML).toBe("4 of 9");
});
