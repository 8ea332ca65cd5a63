import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import type { Browser, ElementHandle, Page } from "puppeteer-core";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { freePort } from "../support/free-port.ts";
import { startBrowser } from "../support/browser.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { World } from "../support/cli.ts";
import type { Running } from "../support/process.ts";
import { reverseProxy } from "../support/reverse-proxy.ts";
import { everythingWaits } from "../support/world/waiting.ts";

/** Made-up companies and people, as a person reads them. */
const companies = [
  "Halden Shipyards",
  "Brightwater Foods",
  "Meridian Optics",
  "Kestrel Analytics",
  "Larkspur Textiles",
  "Tamarind Robotics",
];
const firstNames = ["Ada", "Bruno", "Chloe", "Dario", "Esther", "Felix", "Greta", "Hugo", "Irina", "Jonas"];
const lastNames = ["Almeida", "Brandt", "Castel", "Dvorak", "Eriksen", "Fontaine", "Grasso"];
const products = ["Planner", "Ledger Studio", "Route Designer", "Signal Lab", "Stock Insight"];

export const nameOf = (index: number): string =>
  companies[index] ?? `${companies[index % companies.length]} ${Math.floor(index / companies.length)}`;
const personOf = (index: number): string =>
  `${firstNames[index % firstNames.length]} ${lastNames[index % lastNames.length]}`;

/** People who may sign in, with their roles. */
const people = { anna: "decide", otto: "decide", finn: "report", sam: "see" } as const;
type Name = keyof typeof people;

/** The reverse proxy that they sign in at. */
const proxy = reverseProxy();

/** A daemon of a world in which something of everything waits, and its pages. */
export interface ServedWorld {
  w: World;
  url: string;
  serving: Running;
  /** The run that is on waits at its first new enterprise until it is let go on. */
  goOn: () => void;
}

/** How the jobs are due: all at once, or only when somebody asks. */
export async function serveWorld({ running }: { running: boolean }): Promise<ServedWorld> {
  const w = await everythingWaits({
    customer: nameOf,
    person: personOf,
    suffix: "",
    product: (index) => products[index % products.length] ?? "",
    branch: (index) => ["North", "South", "Harbour"][index % 3] ?? "",
    login: (index) => `person${index}`,
    more: { contact: "Marta Keller", account: "marta.keller", email: "office@example.com", address: "Quay 7" },
  });
  writeFileSync(w.path(proxy.settings.keys), proxy.publicPem);
  const schedule = running ? `, schedule: "* * * * *"` : "";
  w.extra += `serve:
  port: ${await freePort()}
  access:
    proxy: ${JSON.stringify({ ...proxy.settings, claim: "email", roles: people })}
jobs:
  everything: { kind: sync, streams: [customers, orders, staff]${schedule} }
  customers-and-orders: { schedule: null }
  staff: { schedule: null }
`;
  if (running) intoTheMiddleOfARun(w);
  const stop = running ? w.stopsAt("E2") : undefined;
  w.write();
  // The program has the time of the machine, and so have the services.
  for (const service of ["order", "member"] as const) w.sandbox.dates.set(service, systemClock.now() - w.clock.at);
  const serving = w.start("serve");
  await serving.says(/health at \S+\/healthz/u);
  const url = new URL((await w.ask("login")).url).origin;
  await stop?.reached;
  return { w, url, serving, goOn: () => stop?.goOn() };
}

/** Many customers more, a platform that fails now and then, and a fire time that is due. */
function intoTheMiddleOfARun(w: World): void {
  for (let number = 0; number < 60; number += 1) {
    const [id, order] = [`C-${2001 + number}`, `SO-${60_001 + number}`];
    w.customers.push({ id, name: `Quarry Partners ${number + 1}`, branch: "East" });
    w.orders.push({ id: order, customer: id, assets: [`${order}-A1`] });
  }
  w.sandbox.faults.add({ operation: "reads", fault: "code500", probability: 0.1 });
  w.sandbox.faults.add({ operation: "E2", fault: "resetMidReply", probability: 0.1 });
  w.environment["CRM_SYNC__concurrency__customers"] = "2";
  w.tamper(
    "insert into last_fire_time (job, fire_time, fired_at) values ('everything', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')",
  );
}

/** A browser until the test ends. */
export async function openBrowser(path: string): Promise<Browser> {
  const browser = await startBrowser(path);
  onTestFinished(async () => await browser.close());
  return browser;
}

/** Somebody at a window of their own, who complains of every script and answer that fails. */
export class Visitor {
  readonly page: Page;
  readonly complaints: string[] = [];
  readonly #url: string;

  private constructor(page: Page, url: string) {
    this.page = page;
    this.#url = url;
    page.on("pageerror", (error) => this.complaints.push(`a script failed: ${String(error)}`));
    page.on("console", (message) => {
      // A refusal that is meant is told there too, as the status of a page.
      if (message.type() === "error" && !/status of 4\d\d/u.test(message.text())) this.complaints.push(message.text());
    });
    page.on("response", (answer) => {
      if (answer.status() >= 500) this.complaints.push(`${answer.status()} for ${answer.url()}`);
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(url)) this.complaints.push(`something elsewhere was asked for: ${request.url()}`);
    });
  }

  static async come(browser: Browser, url: string): Promise<Visitor> {
    const context = await browser.createBrowserContext();
    return new Visitor(await context.newPage(), url);
  }

  async open(path: string): Promise<number> {
    const answer = await this.page.goto(`${this.#url}${path}`);
    return answer?.status() ?? 0;
  }

  /** Signs in as the reverse proxy before the pages does. */
  async signIn(name: Name): Promise<void> {
    await this.open("/today");
    assert.equal(this.path, "/login");
    const inAnHour = Math.floor(systemClock.now() / 1_000) + 3_600;
    await this.page.setExtraHTTPHeaders(proxy.as({ email: name, exp: inAnHour }));
    assert.equal(await this.open("/today"), 200);
  }

  get path(): string {
    return new URL(this.page.url()).pathname;
  }

  /** What a person can read on the page. */
  async text(): Promise<string> {
    return z.string().parse(await this.page.evaluate("document.body.innerText"));
  }

  /** Does something that leads to another page, and waits for it. */
  async follow(does: () => Promise<void>): Promise<void> {
    await Promise.all([this.page.waitForNavigation(), does()]);
  }

  /** Clicks a link or a button by what stands on it. */
  async click(name: string | RegExp): Promise<void> {
    const found = await this.named(name);
    assert(found !== undefined, `${String(name)} is not on ${this.page.url()}:\n${await this.text()}`);
    await this.follow(async () => await found.click());
  }

  async named(name: string | RegExp): Promise<ElementHandle | undefined> {
    const all = "a, button, summary";
    const texts = z
      .array(z.string())
      .parse(await this.page.evaluate(`[...document.querySelectorAll("${all}")].map((one) => one.innerText.trim())`));
    const at = texts.findIndex((text) => (typeof name === "string" ? text === name : name.test(text)));
    return (await this.page.$$(all))[at];
  }

  /** What the keyboard is at, in words. */
  async focused(): Promise<{ text: string; id: string; outlined: boolean }> {
    const described = `(() => {
      const at = document.activeElement;
      const style = getComputedStyle(at);
      const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
      return { text: (at.innerText || at.value || "").trim(), id: at.id || at.name || at.tagName, outlined };
    })()`;
    return z
      .object({ text: z.string(), id: z.string(), outlined: z.boolean() })
      .parse(await this.page.evaluate(described));
  }

  /** Presses Tab until the keyboard is at something; each stop on the way has to be seen. */
  async tabTo(what: string | RegExp, most = 150): Promise<void> {
    const stops: string[] = [];
    for (let presses = 0; presses < most; presses += 1) {
      await this.page.keyboard.press("Tab");
      const { text, id, outlined } = await this.focused();
      stops.push(text === "" ? id : text);
      assert(outlined || id === "BODY", `the focus at ${text} (${id}) of ${this.path} is not seen`);
      if (typeof what === "string" ? text === what || id === what : what.test(text)) return;
    }
    throw new Error(
      `the keyboard does not come to ${String(what)} on ${this.path}: ${stops.join(" | ").slice(0, 2_000)}`,
    );
  }

  /** Goes on by Enter. */
  async enter(): Promise<void> {
    await this.follow(async () => await this.page.keyboard.press("Enter"));
  }
}
