import { userInfo } from "node:os";
import { request } from "undici";
import { expect, it } from "vitest";
import type { StartWeb } from "../../../src/app/health.ts";
import { startWebServer } from "../../../src/web/server.ts";
import { world } from "../../support/cli.ts";
import { freePort } from "../../support/free-port.ts";
import { Browser } from "../../support/guarded.ts";
import { crmSync } from "../../support/program.ts";

it("signs the user of the system in at the running program, with the right to decide", async () => {
  const w = await world({ isOnMachineTime: true });
  const port = await freePort();
  w.extra = `serve: { port: ${port} }\n`;
  w.write();
  const stop = new AbortController();
  const isUp = Promise.withResolvers<void>();
  const startWeb: StartWeb = async (dependencies) => {
    const server = await startWebServer(dependencies);
    isUp.resolve();
    return server;
  };
  const serving = crmSync({ ...w.place, signal: stop.signal, startWeb }, "serve");
  await isUp.promise;
  const { url, person } = await w.ask("login");
  expect(person).toBe(userInfo().username);
  expect(url).toMatch(new RegExp(`^http://localhost:${port}/login/link/[0-9a-f]{64}$`, "u"));
  const browser = new Browser({ port });
  expect((await browser.get("/today")).text).not.toContain("(decide)");
  expect((await browser.fill(new URL(url).pathname, {})).status).toBe(303);
  const page = await browser.get("/today");
  expect([page.status, page.text]).toEqual([200, expect.stringContaining("(decide)")]);
  const { statusCode } = await request(`http://127.0.0.1:${port}/livez`, { headers: { host: "10.1.2.3:1" } });
  expect(statusCode, "health is open under any name").toBe(200);
  stop.abort();
  await serving;
});

it.each(["serve: { port: 0 }\n", "serve: { pages: false }\n"])("makes no link with %j", async (extra) => {
  const w = await world();
  w.extra = extra;
  w.write();
  expect(await w.run("login")).toMatchObject({ exitCode: 78, stdout: "" });
});
