/** @module-tag long */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { browserPath } from "../support/browser.ts";
import { until, type World } from "../support/cli.ts";
import { folder } from "../support/world/start.ts";
import { places } from "../support/world/waiting.ts";
import { nameOf, openBrowser, serveWorld, Visitor } from "./browser-world.ts";

const path = browserPath();

/** How an operation and a hold stand, and who decided. */
function decided(w: World): { operations: string[]; holds: string[]; by: string[] } {
  return {
    operations: w
      .rows<{ state: string }>("select state from operation where subject = 'order:crm/SO-50101' order by created_at")
      .map(({ state }) => state),
    holds: w.rows<{ state: string }>("select state from question order by number").map(({ state }) => state),
    by: w
      .rows<{ body: string }>("select body from audit where kind in ('not-applied', 'hold-approved', 'approve')")
      .map(({ body }) => String((JSON.parse(body) as { by?: unknown }).by)),
  };
}

describe("a person with a browser, while a run is on and its platform fails,", () => {
  if (path === undefined) {
    it("is NOT tried: browser (none is installed, CHROME_PATH names none, and the package has none for this machine)", () =>
      expect(path).toBeUndefined());
    return;
  }

  it("finds a stuck customer by name, reads why, settles its order, approves a hold and takes a report home", async () => {
    const { w, url, goOn } = await serveWorld({ running: true });
    const anna = await Visitor.come(await openBrowser(path), url);
    await anna.signIn("anna");
    const today = await anna.text();
    expect(today).toMatch(/parked|outcome/iu);
    expect(today, "who waits is not called by name").not.toContain(nameOf(places.parked));

    await anna.page.type("#search", nameOf(places.parked));
    await anna.follow(async () => await anna.page.keyboard.press("Enter"));
    if (anna.path === "/search") await anna.click(/C-1003/u);
    expect(anna.path).toBe("/customer/crm/C-1003");
    const story = await anna.text();
    expect(story).toMatch(/waits until the outcome of E5/u);

    await anna.click("Settle");
    await anna.click(/place-order/u);
    expect(await anna.text()).toContain("SO-50101");
    await anna.page.type("textarea[name=reason]", "the desk of the platform has no such order");
    await anna.click("It was not applied");
    expect(await anna.text()).toMatch(/not applied|plans? .*anew|next run/iu);
    await until("the order is settled", () => !decided(w).operations.includes("parked"));

    await anna.click("Plan");
    await anna.click(/Look at it and decide/u);
    expect(await anna.text()).toContain("6 of 8 (75.0 %) seats");
    await anna.page.type("textarea[name=reason]", "the customer asked for it on the phone");
    await anna.click("Approve all of it");
    expect(await anna.text()).toMatch(/approved/iu);
    expect(decided(w).holds).not.toContain("open");
    expect(new Set(decided(w).by)).toEqual(new Set(["anna"]));

    await anna.click("Reports");
    const [placed] = w.rows<{ at: string }>("select from_at as at from placed_order where order_id = 'SO-50001'");
    await anna.click(new RegExp(`^${placed?.at.slice(0, 7)}$`, "u"));
    const home = folder();
    const session = await anna.page.createCDPSession();
    await session.send("Browser.setDownloadBehavior", {
      behavior: "allow",
      browserContextId: anna.page.browserContext().id ?? "",
      downloadPath: home,
    });
    const link = await anna.page.$("a[href*='kind=orders'][href*='format=csv']");
    expect(link, await anna.text()).not.toBeNull();
    await link?.click();
    await until("the report is there", () => reportIn(home) !== undefined);
    expect(readFileSync(reportIn(home) ?? "", "utf8")).toContain("SO-50001");
    expect(anna.complaints).toEqual([]);

    w.sandbox.faults.clear();
    goOn();
    await until("what was decided is carried out", () => w.sandbox.state().orders["SO-50101"] !== undefined);
    expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
  });

  it("does all of that with the keyboard alone, and sees where it is at each step", async () => {
    const { w, url } = await serveWorld({ running: false });
    const anna = await Visitor.come(await openBrowser(path), url);
    const { page } = anna;
    await anna.signIn("anna");

    await anna.tabTo("Skip to the content");
    await page.keyboard.press("Enter");
    expect((await anna.focused()).id).toBe("content");
    await anna.open("/today");
    await anna.tabTo("search");
    await page.keyboard.type(nameOf(places.parked));
    await anna.enter();
    if (anna.path === "/search") {
      await anna.tabTo(/^(?:crm\/)?C-1003$/u);
      await anna.enter();
    }
    expect(await anna.text()).toMatch(/waits until the outcome of E5/u);

    await anna.tabTo("Settle");
    await anna.enter();
    await anna.tabTo(/^place-order \(E5\)$/u);
    await anna.enter();
    await anna.tabTo("settle-reason");
    await page.keyboard.type("the desk has no such order");
    await anna.tabTo("It was not applied");
    await anna.enter();
    await until("the order is settled", () => !decided(w).operations.includes("parked"));

    await anna.tabTo("Plan");
    await anna.enter();
    await anna.tabTo(/^Look at it and decide/u);
    await anna.enter();
    await anna.tabTo("decision-reason");
    await page.keyboard.type("the customer asked for it");
    await anna.tabTo("Approve all of it");
    await anna.enter();
    expect(decided(w).holds).not.toContain("open");
    expect(anna.complaints).toEqual([]);
  });

  it("decides where another may only see, and not twice where two decide at the same time", async () => {
    const { w, url } = await serveWorld({ running: false });
    const browser = await openBrowser(path);
    const [anna, otto, sam] = [
      await Visitor.come(browser, url),
      await Visitor.come(browser, url),
      await Visitor.come(browser, url),
    ];
    await anna.signIn("anna");
    await otto.signIn("otto");
    await sam.signIn("sam");
    const [hold] = w.rows<{ id: string }>("select id from question");
    const page = `/hold/${hold?.id ?? ""}`;

    expect(await sam.open(page)).toBe(200);
    expect(await sam.text()).toContain("6 of 8 (75.0 %) seats");
    expect(await sam.named(/approve/iu), "who may only see has no button").toBeUndefined();
    expect(await sam.named("Reports")).toBeUndefined();
    expect(await sam.open("/reports")).toBe(403);
    await otto.open(page);
    const token = await otto.page.evaluate("document.querySelector('input[name=csrf]').value");
    await sam.open(page);
    const sent = `fetch(${JSON.stringify(page)}, { method: "POST", headers: { "content-type":
      "application/x-www-form-urlencoded" }, body: "decision=approve&reason=x&csrf=" + ${JSON.stringify(token)} })
      .then((answer) => answer.status)`;
    expect(await sam.page.evaluate(sent)).toBe(403);
    await sam.open("/audit");
    const own = sent.replace(JSON.stringify(token), "document.querySelector('input[name=csrf]').value");
    expect(await sam.page.evaluate(own), "with the right token and without the right").toBe(403);
    expect(decided(w).holds).toEqual(["open"]);

    for (const one of [anna, otto]) {
      await one.open(page);
      await one.page.type("textarea[name=reason]", "agreed with the customer");
    }
    await anna.click("Approve all of it");
    await otto.click("Approve all of it");
    expect(await otto.text()).toMatch(/hold \S+ is approved|already|was decided|is decided/iu);
    expect(w.rows<{ by: string }>("select decided_by as by from question")).toEqual([{ by: "anna" }]);
    expect(decided(w).holds).toEqual(["approved"]);
    const refused = w.rows<{ body: string }>("select body from audit where kind = 'page-refused'");
    expect(refused.map(({ body }) => (JSON.parse(body) as { by: string }).by)).toContain("sam");
  });
});

function reportIn(home: string): string | undefined {
  const done = readdirSync(home).find((name) => !name.endsWith(".crdownload"));
  return done === undefined ? undefined : join(home, done);
}
