import { userInfo } from "node:os";
import { request } from "undici";
import { expect, it } from "vitest";
import type { StartWeb, WebServer } from "../../../src/operate/health.ts";
import { startWebServer } from "../../../src/web/server.ts";
import { world, type World } from "../../support/cli.ts";
import { freePort } from "../../support/free-port.ts";
import { Browser } from "../../support/guarded.ts";
import { crmSync } from "../../support/program.ts";

/** `serve` of a world until `work` is done; what it printed is answered. */
async function serving(w: World, work: (server: WebServer) => Promise<void>): Promise<string> {
  const stop = new AbortController();
  const up = Promise.withResolvers<WebServer>();
  const startWeb: StartWeb = async (dependencies) => {
    const server = await startWebServer(dependencies);
    up.resolve(server);
    return server;
  };
  let printed = "";
  const stdout = {
    isTTY: false,
    write: (text: string | Buffer, done?: () => void) => {
      printed += String(text);
      done?.();
      return true;
    },
  };
  const ended = crmSync({ ...w.place, signal: stop.signal, startWeb, stdout }, "serve");
  await work(await up.promise);
  stop.abort();
  const { stderr } = await ended;
  expect(stderr, "the link is in no log").not.toContain("/login/link/");
  return printed;
}

/** Signs in by a link as its browser does, and answers how the first page names the person. */
async function nameBy(url: string): Promise<string> {
  const { host, port, pathname } = new URL(url);
  const browser = new Browser({ host, port: Number(port) });
  expect((await browser.get("/today")).status).toBe(303);
  expect((await browser.fill(pathname, {})).status).toBe(303);
  const page = await browser.get("/today");
  expect(page.status, page.text).toBe(200);
  return /<div class="person">\s*(\S+ <span class="role">\(\w+\))/u.exec(page.text)?.[1] ?? page.text;
}

const me = `${userInfo().username} <span class="role">(decide)`;
const link = /^http:\/\/crm-sync-[0-9a-f]{32}\.localhost:\d+\/login\/link\/[0-9a-f]{64}$/u;

it("signs the user of the system in at the running program, with the right to decide", async () => {
  const w = await world({ isOnMachineTime: true });
  const port = await freePort();
  w.extra = `serve: { port: ${port} }\n`;
  w.write();
  const printed = await serving(w, async () => {
    const { url, person } = await w.ask("login");
    expect(person).toBe(userInfo().username);
    expect(url).toMatch(link);
    expect(new URL(url).port).toBe(String(port));
    expect(await nameBy(url)).toBe(me);
    const again = new URL((await w.ask("login")).url);
    expect(again.host, "the name stays").toBe(new URL(url).host);
  });
  expect(printed, "nobody watches").toBe("");
});

it("leads to the name of the network where there is a certificate", async () => {
  const w = await world();
  w.extra = "serve: { publicUrl: 'https://crm.example.com:8443', tls: { certificate: a, key: b } }\n";
  w.write();
  await w.run("status");
  expect((await w.ask("login")).url).toMatch(/^https:\/\/crm\.example\.com:8443\/login\/link\/[0-9a-f]{64}$/u);
});

it("probes are answered under any name, and health under a name of the program alone", async () => {
  const w = await world({ isOnMachineTime: true });
  w.extra = "serve: { port: 0, publicUrl: 'https://crm.example.com' }\n";
  w.write();
  await serving(w, async ({ url }) => {
    const ask = async (path: string, host: string) => {
      const { statusCode, body } = await request(`${url}${path}`, { headers: { host } });
      return { status: statusCode, text: await body.text() };
    };
    expect(await ask("/livez", "10.1.2.3:1")).toEqual({ status: 200, text: '{"alive":true}' });
    const statuses: number[] = [];
    for (const host of ["10.1.2.3:1", "evil.example", "localhost:8787", "127.0.0.1", "[::1]:1", "crm.example.com"])
      statuses.push((await ask("/healthz", host)).status);
    expect(statuses).toEqual([421, 421, 200, 200, 200, 200]);
    expect((await ask("/metrics", "localhost")).status).toBe(401);
  });
});

it.each(["serve: { port: 0 }\n", "serve: { pages: false }\n"])("makes no link with %j", async (extra) => {
  const w = await world();
  w.extra = extra;
  w.write();
  expect(await w.run("login")).toMatchObject({ exitCode: 78, stdout: "" });
});
