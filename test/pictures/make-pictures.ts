import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { browserPath, lookAs, schemes, widths, type Width } from "../support/browser.ts";
import { openBrowser, serveWorld, Visitor } from "../faults/browser-world.ts";

/*
 * `npm run pictures`: each page, wide and narrow, light and dark, of a made-up company in which something of everything
 * waits, into `pictures/`; and the three that the README shows, into `docs/pictures/`.
 */

const project = join(import.meta.dirname, "../..");
const everything = join(project, "pictures");
const shown = join(project, "docs/pictures");
const mostBytes = 200_000;

const pages: Readonly<Record<string, (ids: { hold: string; run: string; operation: string; bad: string }) => string>> =
  {
    today: () => "/today",
    customer: () => "/customer/crm/C-1002",
    order: () => "/order/crm/SO-50002",
    person: () => "/person/crm/E-70011",
    search: () => "/search?q=nord",
    runs: () => "/runs",
    run: ({ run }) => `/run/${run}`,
    plan: () => "/plan",
    hold: ({ hold }) => `/hold/${hold}`,
    quarantine: () => "/quarantine",
    "quarantined-row": ({ bad }) => `/quarantine/${bad}`,
    settle: () => "/settle",
    operation: ({ operation }) => `/settle/${operation}`,
    reports: () => "/reports",
    assumptions: () => "/assumptions",
    audit: () => "/audit",
    alerts: () => "/alerts",
  };

/** What the README shows: the page, and how. */
const inReadme: readonly { name: string; page: keyof typeof pages; width: Width; scheme: (typeof schemes)[number] }[] =
  [
    { name: "today", page: "today", width: "wide", scheme: "light" },
    { name: "customer", page: "customer", width: "wide", scheme: "dark" },
    { name: "hold", page: "hold", width: "narrow", scheme: "light" },
  ];

it("makes a picture of each page, wide and narrow, light and dark", async () => {
  const path = browserPath();
  if (path === undefined) throw new Error("no browser: install Chromium, or name one in CHROME_PATH");
  const { w, url } = await serveWorld({ running: false });
  const one = (sql: string): string => w.rows<{ id: string }>(sql)[0]?.id ?? "";
  const ids = {
    hold: one("select id from question"),
    run: one("select id from run order by started_at desc"),
    operation: one("select id from operation where state = 'parked'"),
    bad: one("select id from quarantine"),
  };
  const visitor = await Visitor.come(await openBrowser(path), url);
  const { page } = visitor;
  await visitor.signIn("anna");
  for (const folder of [everything, shown]) mkdirSync(folder, { recursive: true });
  for (const [name, linkOf] of Object.entries(pages))
    for (const width of Object.keys(widths) as Width[])
      for (const scheme of schemes) {
        await lookAs(page, width, scheme);
        expect(await visitor.open(linkOf(ids)), name).toBe(200);
        await page.screenshot({ path: join(everything, `${name}-${width}-${scheme}.png`), fullPage: true });
      }
  for (const { name, page: of, width, scheme } of inReadme) {
    await lookAs(page, width, scheme);
    await visitor.open(pages[of]?.(ids) ?? "");
    const file = join(shown, `${name}.png`);
    await page.screenshot({ path: file });
    expect(statSync(file).size, name).toBeLessThan(mostBytes);
  }
  expect(visitor.complaints).toEqual([]);
});
