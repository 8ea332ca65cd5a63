/** @module-tag long */
import { describe, expect, it } from "vitest";
import { barriers, browserPath, lookAs, schemes, sideways, widths, type Width } from "../support/browser.ts";
import { waysOn } from "../support/intruders.ts";
import { openBrowser, serveWorld, Visitor } from "./browser-world.ts";

const path = browserPath();
/** Pages of the same kind are looked at once: what differs between two of them is their data. */
const kindOf = (link: string): string =>
  link
    .replace(/[?#].*$/u, "")
    .split("/")
    .map((part, at) => (at > 1 && /\d/u.test(part) ? "*" : part))
    .join("/");
const mostPages = 40;

/** Every kind of page that is reached by links from the navigation, once each; downloads are none. */
async function everyKind(visitor: Visitor): Promise<string[]> {
  const kinds = new Map<string, string>();
  const next = ["/today"];
  while (next.length > 0 && kinds.size < mostPages) {
    const link = next.shift() ?? "";
    const kind = kindOf(link);
    if (kinds.has(kind) || /^\/assets|[?&]format=|\/closing\//u.test(link)) continue;
    kinds.set(kind, link);
    expect(await visitor.open(link), link).toBe(200);
    next.push(...waysOn(await visitor.page.content(), link).links);
  }
  return [...kinds.values()];
}

describe("every page in a real browser", () => {
  if (path === undefined) {
    it("is NOT tried: browser (none is installed, CHROME_PATH names none, and the package has none for this machine)", () =>
      expect(path).toBeUndefined());
    return;
  }

  it("has no barrier that axe calls serious or critical, wide and narrow, light and dark, and is no wider than its screen", async ({
    annotate,
  }) => {
    const { url } = await serveWorld({ running: false });
    const visitor = await Visitor.come(await openBrowser(path), url);
    const wrong: string[] = [];
    const lookAtIt = async (link: string): Promise<void> => {
      for (const width of Object.keys(widths) as Width[])
        for (const scheme of schemes) {
          await lookAs(visitor.page, width, scheme);
          await visitor.open(link);
          wrong.push(...(await barriers(visitor.page)).map((what) => `${link}, ${width}, ${scheme}: ${what}`));
          const over = await sideways(visitor.page);
          if (over > 0) wrong.push(`${link}, ${width}, ${scheme}: ${over} pixels wider than its screen`);
        }
    };
    await lookAtIt("/login");
    await visitor.signIn("anna");
    const pages = await everyKind(visitor);
    for (const link of [...pages, "/search?q=nord", "/search?q=nobody", "/nowhere"]) await lookAtIt(link);
    await annotate(`${pages.length} kinds of pages: ${pages.join(" ")}`);
    expect(wrong).toEqual([]);
    expect(visitor.complaints).toEqual([]);
    expect(pages.length).toBeGreaterThan(5);
  });
});
