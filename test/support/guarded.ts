import { request as send, type IncomingHttpHeaders } from "node:http";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { expect, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { Access } from "../../src/web/access/access.ts";
import { openApplication } from "../../src/app/application.ts";
import { createDashboard } from "../../src/operate/dashboard.ts";
import type { Clock } from "../../src/base/clock.ts";
import type { JsonObject } from "../../src/base/canonical-json.ts";
import { mayReadMetrics } from "../../src/web/metrics.ts";
import { behindAccess } from "../../src/web/access/sign-in.ts";
import { needs } from "../../src/web/access/person.ts";
import type { WebEnvironment } from "../../src/web/page.ts";
import { runsPage } from "../../src/web/pages/runs.ts";
import { securityHeaders } from "../../src/web/dashboard.ts";
import { environmentAt } from "./program.ts";
import type { World } from "./cli.ts";

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface Sent {
  method?: string;
  /** By name, or name and value in turns, so that one may come twice. */
  headers?: Record<string, string> | readonly string[];
  body?: string | undefined;
  /** The address of this machine that the socket has. */
  from?: string;
}

/** Pages of each role behind the check of who asks, over real HTTP. */
export interface Guarded {
  port: number;
  /** The own name of the pages on this machine, with the port. */
  host: string;
  access: Access;
  ask(path: string, sent?: Sent): Promise<Answer>;
  /** The program is started again with these settings of `serve`. */
  startsAgain(serve: JsonObject): Promise<void>;
  /** What happened behind the check. */
  done: string[];
  stop(): Promise<void>;
}

/** A clock that a test moves; whoever waits goes on when it moves. */
export function clockAt(start: number): Clock & { move(ms: number, monotonic?: number): void } {
  let [now, monotonic] = [start, 0];
  let waiting: (() => void)[] = [];
  return {
    now: () => now,
    monotonic: () => monotonic,
    sleep: (_ms, signal) =>
      new Promise((resolve, reject) => {
        waiting.push(resolve);
        signal?.addEventListener("abort", () => reject(signal.reason));
      }),
    move(ms, alone = ms) {
      now += ms;
      monotonic += Math.max(0, alone);
      const over = waiting;
      waiting = [];
      for (const goOn of over) goOn();
    },
  };
}

export async function guarded(
  w: World,
  settings: JsonObject = {},
  { clock, log = [] }: { clock?: Clock; log?: string[] } = {},
): Promise<Guarded> {
  const write = (values: JsonObject): void => {
    w.extra = stringify({ serve: values, log: { level: "info" } }).replace(/^log:[^]*/mu, "");
    w.write();
  };
  write(settings);
  const { config, sandbox } = w.place;
  const face = { log: undefined, wholeLog: { write: (line: string) => void log.push(line) }, progress: () => {} };
  let current = await openApplication({ config, sandbox }, environmentAt(w.place), face);
  const ended = new AbortController();
  const dashboard = createDashboard({ application: current, fireTimes: async () => [], signal: ended.signal });
  Object.defineProperty(dashboard, "application", { get: () => current });
  const access = new Access(
    clock === undefined ? dashboard : Object.defineProperty(dashboard, "clock", { value: clock }),
  );
  const done: string[] = [];
  const routes = new Hono<WebEnvironment>();
  routes.use(securityHeaders());
  routes.get("/metrics", mayReadMetrics(access), (context) => context.text("figures"));
  routes.use(behindAccess(routes, access));
  for (const role of ["see", "report", "decide"] as const) {
    routes.get(`/${role}`, needs(role), (context) => {
      const { person, csrf } = context.var;
      return context.json({ person, csrf });
    });
    routes.post(`/${role}`, needs(role), async (context) => {
      expect(await context.req.parseBody()).toHaveProperty("csrf");
      done.push(`${role} by ${context.var.person.name}`);
      return context.text("done");
    });
  }
  runsPage(routes, dashboard);
  const server = serve({ fetch: routes.fetch, hostname: "0.0.0.0", port: 0, overrideGlobalObjects: false });
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const hostNow = (): string => `${access.own()?.name ?? "crm-sync-0.localhost"}:${port}`;
  let isOpen = true;
  const stop = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    ended.abort();
    access.sessions.close();
    await new Promise((resolve) => {
      server.close(resolve);
      if ("closeAllConnections" in server) server.closeAllConnections();
    });
    dashboard.close();
    await current.close();
  };
  onTestFinished(stop);
  return {
    port,
    get host() {
      return hostNow();
    },
    access,
    done,
    stop,
    ask: async (path, sent) => await ask({ port, host: hostNow() }, path, sent),
    startsAgain: async (values) => {
      write(values);
      await current.close();
      current = await openApplication({ config, sandbox }, environmentAt(w.place), face);
    },
  };
}

/** Where pages are, and under which name they are asked for. */
type Served = Pick<Guarded, "port" | "host">;

/** One request, with exactly the headers that are given and `host` where it is not among them. */
export async function ask({ port, host }: Served, path: string, sent: Sent = {}): Promise<Answer> {
  const { method = "GET", headers = {}, body, from = "127.0.0.1" } = sent;
  const given = Array.isArray(headers) ? [...headers] : Object.entries(headers).flat();
  const names = given.filter((_, at) => at % 2 === 0).map((name) => String(name).toLowerCase());
  if (!names.includes("host")) given.push("host", host);
  if (body !== undefined && !names.includes("content-length") && !names.includes("transfer-encoding"))
    given.push("content-length", String(Buffer.byteLength(body)));
  return await new Promise((resolve, reject) => {
    const asked = send(
      { host: "127.0.0.1", port, path, method, headers: given, localAddress: from, agent: false },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks).toString() }),
        );
      },
    );
    asked.on("error", reject);
    asked.end(body);
  });
}

/** What a browser keeps and says of itself. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly #served: Served;

  constructor(served: Served) {
    this.#served = served;
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return await this.#send(path, { headers });
  }

  async post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> {
    const form = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
    const body = new URLSearchParams(fields).toString();
    return await this.#send(path, { method: "POST", headers: { ...form, ...headers }, body });
  }

  /** Opens a page with a form and sends it with its token. */
  async fill(path: string, fields: Record<string, string>, to = path): Promise<Answer> {
    const { text } = await this.get(path);
    return await this.post(to, { csrf: tokenIn(text), ...fields });
  }

  async #send(path: string, sent: Omit<Sent, "headers"> & { headers: Record<string, string> }): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { accept: "text/html", ...(cookie === "" ? {} : { cookie }), ...sent.headers };
    const answer = await ask(this.#served, path, { ...sent, headers });
    for (const line of answer.headers["set-cookie"] ?? []) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/u.exec(line) ?? [];
      if (/max-age=0/iu.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
}

/** A browser whose user opened the link that `crm-sync login` printed. */
export async function signedIn(pages: Guarded, user = "otto"): Promise<Browser> {
  const browser = new Browser(pages);
  const answer = await browser.fill(`/login/link/${pages.access.sessions.makeLink(user)}`, {});
  expect(answer.status, answer.text).toBe(303);
  return browser;
}

/** The token in the form of a page, or in the JSON that the pages of these tests are. */
export function tokenIn(text: string): string {
  return (
    /name="csrf" value="([^"]*)"|"csrf":"([^"]*)"/u
      .exec(text)
      ?.slice(1)
      .find((found) => found !== undefined) ?? ""
  );
}
