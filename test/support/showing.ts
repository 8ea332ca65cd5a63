import { request } from "undici";
import { onTestFinished } from "vitest";
import { openApplication } from "../../src/app/application.ts";
import { createDashboard, type Dashboard } from "../../src/operate/dashboard.ts";
import { actingAs } from "../../src/base/who.ts";
import { createLongReads } from "../../src/operate/long-reads.ts";
import type { Person } from "../../src/web/access/person.ts";
import type { PageContext } from "../../src/web/page.ts";
import { startWebServer } from "../../src/web/server.ts";
import { bundled } from "./bundle.ts";
import { environmentAt } from "./program.ts";
import type { World } from "./cli.ts";

/** Pages of a world's ledger, as one person gets them over HTTP. */
export interface Showing {
  url: string;
  dashboard: Dashboard;
  get(path: string): Promise<Shown>;
  /** Sends a form as the page has it, with its token. */
  post(path: string, fields: Readonly<Record<string, string>>): Promise<Shown>;
  /** What somebody else with the same rights gets. */
  as(name: string): Pick<Showing, "get" | "post">;
  /** Pages that wait before they look again (a run that is watched) look now. */
  tick(): void;
}

export interface Shown {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export const operator: Person = {
  name: "anna.lee",
  way: "proxy",
  issuer: "proxy.example",
  subject: "id-anna",
  role: "decide",
  mayAskForPrivate: true,
};

/**
 * Serves the pages of a world to a person who is signed in already, on a free port, until the test ends.
 * `reader`: the program that reads what takes long.
 */
export async function showing(
  w: World,
  person: Person = operator,
  reader: () => readonly [string, ...string[]] = () => [process.execPath, bundled()],
): Promise<Showing> {
  const face = { log: undefined, wholeLog: { write: () => {} }, progress: () => {}, clock: w.clock };
  const { config, sandbox } = w.place;
  const application = await openApplication({ config, sandbox }, environmentAt(w.place), face);
  const ended = new AbortController();
  const longReads = createLongReads(application, reader);
  const { clock, logger } = application;
  const waiting = new Set<() => void>();
  const tick = (): void => {
    for (const goOn of waiting) goOn();
    waiting.clear();
  };
  ended.signal.addEventListener("abort", tick);
  const dashboard = Object.defineProperty(
    createDashboard({ application, fireTimes: async () => [], signal: ended.signal, longReads }),
    "clock",
    {
      value: {
        now: () => clock.now(),
        monotonic: () => clock.monotonic(),
        sleep: () => new Promise<void>((done) => waiting.add(done)),
      },
    },
  );
  const server = await startWebServer({
    settings: { host: "127.0.0.1", port: 0 },
    clock,
    logger,
    dashboard,
    whoAsks: async (context: PageContext, next) => {
      const name = context.req.header(nameHeader) ?? person.name;
      const asking = name === person.name ? person : { ...person, name, subject: `id-${name}` };
      context.set("person", asking);
      context.set("csrf", "token");
      context.set("isStillIn", async () => true);
      context.set("refuse", (needed) => Promise.resolve(context.text(`needs ${needed}`, 403)));
      await actingAs(asking, next);
    },
  });
  onTestFinished(async () => {
    ended.abort();
    await server.close();
    dashboard.close();
    await application.close();
  });
  const as = (name: string): Pick<Showing, "get" | "post"> => ({
    get: async (path) => await asked(name, server.url + path),
    post: async (path, fields) =>
      await asked(name, server.url + path, new URLSearchParams({ csrf: "token", ...fields }).toString()),
  });
  return { url: server.url, dashboard, tick, as, ...as(person.name) };
}

/** Names who asks, where that is somebody else. */
export const nameHeader = "x-name-in-test";

async function asked(name: string, url: string, form?: string): Promise<Shown> {
  const headers = {
    [nameHeader]: name,
    "content-type": "application/x-www-form-urlencoded",
    "sec-fetch-site": "same-origin",
  };
  const answer = await request(url, form === undefined ? { headers } : { method: "POST", headers, body: form });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}
