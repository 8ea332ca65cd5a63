import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { expect, it } from "vitest";
import { hashLineOf } from "../../../src/app/account-password.ts";
import { until, world } from "../../support/cli.ts";
import { Browser, guarded } from "../../support/guarded.ts";
import type { Guarded } from "../../support/guarded.ts";

const password = "four words of anybody";

/** What comes of a run while it is on, for as long as it comes. */
async function watching({ port }: Guarded, browser: Browser, run: string) {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const { statusCode, body } = await request(`http://localhost:${port}/run/${run}/events`, { headers: { cookie } });
  const watched = { status: statusCode, text: "", isOver: false };
  void (async () => {
    for await (const chunk of body) watched.text += String(chunk);
  })()
    .catch(() => {})
    .finally(() => {
      watched.isOver = true;
    });
  return watched;
}

/** Whether it ends within some ten looks of the program. */
async function endsSoon(watched: { isOver: boolean }): Promise<boolean> {
  for (let tries = 0; tries < 100 && !watched.isOver; tries += 1) await sleep(100);
  return watched.isOver;
}

it(
  "who signs out, or whose role is taken away, is told no more of a run that is on; who stays is",
  { tags: "long" },
  async () => {
    const w = await world();
    const line = await hashLineOf(password);
    writeFileSync(w.path("line"), line);
    await w.run("run", "everything");
    const run = w.rows<{ id: string }>("select id from run")[0]?.id ?? "";
    w.tamper(`update run set state = 'running', finished_at = null where id = '${run}'`);
    const account = { role: "see", password: "file:line" };
    const accounts = { anna: account, ben: account, carl: account };
    const pages = await guarded(w, { access: { accounts, loopback: "none" } });
    const people = await Promise.all(
      Object.keys(accounts).map(async (name) => {
        const browser = new Browser(pages);
        expect((await browser.signIn(name, password)).status).toBe(303);
        return { browser, watched: await watching(pages, browser, run) };
      }),
    );
    const [anna, ben, carl] = people;
    if (anna === undefined || ben === undefined || carl === undefined) throw new Error("nobody is there");
    await until("everybody is told of the run", () => people.every(({ watched }) => watched.text.includes("It is on")));
    expect(people.map(({ watched }) => watched.status)).toEqual([200, 200, 200]);
    await anna.browser.post("/logout", { csrf: JSON.parse((await anna.browser.get("/see")).text).csrf });
    expect(await endsSoon(anna.watched)).toBe(true);
    expect([ben.watched.isOver, carl.watched.isOver]).toEqual([false, false]);
    const reloaded = await pages.reload({ access: { accounts: { ben: account }, loopback: "none" } });
    expect(reloaded.kind).toBe("taken-over");
    expect(await endsSoon(carl.watched)).toBe(true);
    expect(ben.watched.isOver).toBe(false);
    w.tamper(`update run set state = 'done', finished_at = started_at where id = '${run}'`);
    await until("the run has ended for ben", () => ben.watched.isOver);
    expect(ben.watched.text).toContain("event: ended");
    for (const { watched } of [anna, carl]) expect(watched.text).not.toContain("event: ended");
  },
);
