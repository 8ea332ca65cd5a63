/** @module-tag long */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { browserPath } from "../support/browser.ts";
import { world } from "../support/cli.ts";
import { guarded } from "../support/guarded.ts";
import { openBrowser } from "./browser-world.ts";

const path = browserPath();

/** Another program on this machine, which keeps the cookies that come to it. */
async function otherProgram(): Promise<{ port: number; cookies: string[] }> {
  const cookies: string[] = [];
  const server = createServer(({ headers }, answer) => {
    if (headers.cookie !== undefined) cookies.push(headers.cookie);
    answer.setHeader("content-type", "text/html");
    answer.end("<p>another program");
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, cookies };
}

it.skipIf(path === undefined)("a browser shows its session to no other program of this machine", async () => {
  const w = await world();
  await w.run("status");
  const pages = await guarded(w);
  const browser = await openBrowser(path ?? "");
  const page = await browser.newPage();
  await page.goto(`http://${pages.host}/login/link/${pages.access.sessions.makeLink("otto")}`);
  await Promise.all([page.waitForNavigation(), page.click("button")]);
  const see = await page.goto(`http://${pages.host}/decide`);
  expect([see?.status(), await see?.text()]).toEqual([200, expect.stringContaining('"otto"')]);

  const other = await otherProgram();
  for (const name of ["localhost", "127.0.0.1", "[::1]", "crm-sync.localhost"]) {
    const answer = await page.goto(`http://${name}:${other.port}/`).catch(() => undefined);
    if (name !== "[::1]") expect(answer?.status(), name).toBe(200);
  }
  const elsewhere = await page.goto(`http://localhost:${pages.port}/decide`);
  expect([elsewhere?.status(), other.cookies]).toEqual([401, []]);

  // Only who learns the name of the pages could be sent their cookie.
  await page.goto(`http://${pages.host.split(":")[0]}:${other.port}/`);
  expect(other.cookies.join()).toMatch(/^(?:crm-sync=[0-9a-f]{64},?)+$/u);
});
