import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { request } from "undici";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../../src/base/project-folder.ts";
import { executeJob } from "../../src/app/execute-job.ts";
import { company } from "../support/world/crm.ts";
import { until, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { severalTroubles } from "../support/several-troubles.ts";
import { operator, showing } from "../support/showing.ts";
import type { Showing } from "../support/showing.ts";
import { hostile, hostileSql, textOnly } from "./hostile.ts";

const runsIn = (w: World): { id: string; job: string }[] =>
  w.rows("select id, job from run order by started_at desc, id desc");

/** Runs that are copies of the newest, a second apart. */
function manyRuns(w: World, count: number): void {
  w.tamper(`with recursive number (value) as (select 1 union all select value + 1 from number where value < ${count})
    insert into run select 'run_copy' || printf('%04d', value), 'copies', kind, trigger, scope,
      strftime('%Y-%m-%dT%H:%M:%S.000Z', started_at, '-' || value || ' seconds'), finished_at, state, exit_code, balance,
      summary, header
    from (select * from run order by started_at desc limit 1), number`);
}

interface Told {
  event: string;
  data: string;
}

/** The events of a run, until its stream ends. */
async function events(pages: Showing, run: string, heard: (told: Told) => void = () => {}): Promise<Told[]> {
  const answer = await request(`${pages.url}/run/${run}/events`);
  expect([answer.statusCode, answer.headers["content-type"]]).toEqual([200, "text/event-stream"]);
  const all: Told[] = [];
  let rest = "";
  for await (const chunk of answer.body) {
    const parts = (rest + String(chunk)).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const lines = part.split("\n");
      const of = (name: string): string =>
        lines
          .filter((line) => line.startsWith(`${name}: `))
          .map((line) => line.slice(name.length + 2))
          .join("\n");
      const told = { event: of("event"), data: of("data") };
      all.push(told);
      heard(told);
    }
  }
  return all;
}

describe("the runs", () => {
  it("are listed newest first, page by page, each once, of all jobs or of one", { tags: "long" }, async () => {
    const w = await severalTroubles();
    manyRuns(w, 70);
    const pages = await showing(w);
    const seen: string[] = [];
    let path: string | undefined = "/runs";
    for (let page = 0; path !== undefined && page < 9; page += 1) {
      const { status, text } = await pages.get(path);
      expect(status).toBe(200);
      seen.push(...[...text.matchAll(/<a href="\/run\/([^"]+)"/gu)].map(([, id]) => id ?? ""));
      path = /<a href="([^"]+)">Earlier runs</u.exec(text)?.[1]?.replaceAll("&amp;", "&");
    }
    expect(seen).toEqual(runsIn(w).map(({ id }) => id));
    const people = (await pages.get("/runs?job=people")).text;
    for (const { id, job } of runsIn(w)) expect(people.includes(id), id).toBe(job === "people");
  });

  it(
    "each show their balance, what they read, every operation, and what failed and why",
    { tags: "long" },
    async () => {
      const w = await severalTroubles();
      const pages = await showing(w);
      const [, failed] = runsIn(w);
      const { status, text } = await pages.get(`/run/${failed?.id}`);
      expect(status).toBe(200);
      expect(text).toContain("the outcome of some operations is not known (exit 5)");
      expect(text).toContain("adds up");
      const operations = w.rows<{ id: string; state: string }>(
        "select id, state from operation where run_id = ? and state = 'parked'",
        failed?.id,
      );
      expect(operations).toHaveLength(1);
      for (const { id } of operations) expect(text).toContain(`/settle/${id}`);
      expect(text).toContain("the platform does not show the order, which proves nothing");
      for (const { id } of w.rows<{ id: string }>("select id from operation where state = 'held'"))
        expect((await pages.get(`/run/${runsIn(w)[0]?.id}`)).text).toContain(id);
      expect(text).not.toMatch(/zqcanary|data-live/iu);
    },
  );

  it("show their operations page by page, each once", { tags: "long" }, async () => {
    const w = await world({ records: company(16, 4) });
    await w.run("run", "everything");
    const pages = await showing(w);
    const run = runsIn(w)[0]?.id ?? "";
    const seen: string[] = [];
    let path: string | undefined = `/run/${run}`;
    for (let page = 0; path !== undefined && page < 9; page += 1) {
      const { text } = await pages.get(path);
      seen.push(...[...text.matchAll(/\b(op_[0-9a-z]+)<\/span>/gu)].map(([, id]) => id ?? ""));
      path = /<a href="([^"]+)">Later operations</u.exec(text)?.[1];
    }
    const all = w.rows<{ id: string }>("select id from operation where run_id = ? order by rowid", run);
    expect(all.length).toBeGreaterThan(50);
    expect(seen).toEqual(all.map(({ id }) => id));
  });
});

describe("a run that is on", () => {
  it(
    "tells how far it is, in the process in which it is on and beside it, until it has ended",
    { tags: "long" },
    async () => {
      const w = await world({ records: company(12, 2), sandbox: { latencyMs: 120 } });
      await w.run("runs");
      const here = await showing(w);
      const beside = await showing(w, { ...operator, role: "see" }, "beside a daemon");
      const { application } = here.dashboard;
      const job = application.jobs().find(({ id }) => id === "everything");
      if (job === undefined) throw new Error("the job is missing");
      const ended = executeJob(application, job, { trigger: "hand", signal: new AbortController().signal });
      await until("the run is on", () => w.rows("select 1 from run where state = 'running'").length === 1);
      const run = runsIn(w)[0]?.id ?? "";
      expect((await here.get(`/run/${run}`)).text).toContain(`data-live="/run/${run}/events"`);
      expect((await here.get("/today")).text).toContain("it is on");
      const told = await Promise.all([events(here, run), events(beside, run)]);
      expect(await ended).toBe(0);
      for (const all of told) {
        expect(all.filter(({ event }) => event === "shown").length).toBeGreaterThan(1);
        expect(all.at(-1)).toEqual({ event: "ended", data: "done" });
        expect(all.some(({ data }) => /[0-9]+ done/u.test(data))).toBe(true);
      }
      expect(
        told[0].some(({ data }) => /customers<\/bdi>: \d+ of 12 /u.test(data)),
        told[0].map(({ data }) => data).join(),
      ).toBe(true);
      expect(told[1].some(({ data }) => data.includes("<progress"))).toBe(false);
      expect((await here.get(`/run/${run}`)).text).not.toContain("data-live");
    },
  );

  it("is told to so many at once and no more, and whoever leaves makes room", { tags: "long" }, async () => {
    const w = await severalTroubles();
    const run = runsIn(w)[0]?.id ?? "";
    w.tamper(`update run set state = 'running', finished_at = null where id = '${run}'`);
    const pages = await showing(w);
    const leave = new AbortController();
    const open = Array.from({ length: 20 }, async (_, index) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const signal = index === 0 ? leave.signal : new AbortController().signal;
      const answer = await request(`${pages.url}/run/${run}/events`, { signal });
      const all = (async () => {
        let text = "";
        for await (const chunk of answer.body) {
          text += String(chunk);
          resolve();
        }
        return text;
      })();
      await promise;
      return { status: answer.statusCode, all };
    });
    const streams = await Promise.all(open);
    expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect((await pages.get(`/run/${run}/events`)).status).toBe(503);
    leave.abort();
    await expect(streams[0]?.all).rejects.toThrow();
    const freed = async (): Promise<number> => {
      const answer = await request(`${pages.url}/run/${run}/events`);
      const { statusCode } = answer;
      answer.body.destroy();
      answer.body.on("error", () => {});
      return statusCode;
    };
    let status = 0;
    for (let tries = 0; status !== 200 && tries < 500; tries += 1) status = await freed();
    expect(status).toBe(200);
    w.tamper(`update run set state = 'interrupted' where id = '${run}'`);
    for (const { all } of streams.slice(1)) expect(await all).toContain("event: ended\ndata: interrupted");
  });
});

describe("text from elsewhere", () => {
  it(
    "is text on the pages of runs and sources, and what is asked for wrongly is no failure of the program",
    { tags: "long" },
    async () => {
      const w = await severalTroubles();
      w.tamper(`update operation set reason = ${hostileSql}, outcome_message = ${hostileSql}`);
      w.tamper(`update source_read set problem = ${hostileSql}, complete = 0`);
      w.tamper(`update run set job = ${hostileSql}, scope = ${hostileSql}, summary = json_object('x', ${hostileSql})`);
      const pages = await showing(w);
      const run = runsIn(w)[0]?.id ?? "";
      const at = encodeURIComponent(hostile.slice(0, 200));
      for (const [path, status] of [
        ["/runs", 200],
        [`/run/${run}`, 200],
        ["/today", 200],
        ["/source/crm", 200],
        [`/run/${run}?after=${at}`, 400],
        [`/runs?job=${at}&at=${at}&before=${at}`, 200],
        [`/run/${at}`, 404],
        ["/run/%ff", 404],
        [`/run/${at}/events`, 404],
        [`/source/${at}`, 404],
        ["/source/constructor", 404],
      ] as const) {
        const answer = await pages.get(path);
        expect(answer.status, path).toBe(status);
        textOnly(answer.text);
      }
    },
  );
});

it("whoever asks for the head of the events of a run takes nobody's place", { tags: "long" }, async () => {
  const w = await severalTroubles();
  const pages = await showing(w);
  const run = runsIn(w)[0]?.id ?? "";
  w.tamper(`update run set state = 'running', finished_at = null where id = '${run}'`);
  for (let asked = 0; asked < 25; asked += 1) {
    const { statusCode } = await request(`${pages.url}/run/${run}/events`, { method: "HEAD" });
    expect(statusCode).toBe(200);
  }
  w.tamper(`update run set state = 'done', finished_at = started_at where id = '${run}'`);
  expect((await events(pages, run)).map(({ event }) => event)).toContain("ended");
});

it("a page whose news do not come any more says so, until they come again", () => {
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
  expect(place.innerHTML).toContain("3 of 9");
  expect(place.innerHTML).toContain("older");
  listeners.get("error")?.({ data: "" });
  expect(place.innerHTML.split("older")).toHaveLength(2);
  listeners.get("shown")?.({ data: "4 of 9" });
  expect(place.innerHTML).toBe("4 of 9");
});
