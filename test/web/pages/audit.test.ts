import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { pagePath } from "../../../src/report/page-links.ts";
import { auditEntries } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { operator, showing, type Showing } from "../../support/showing.ts";

const support = { ...operator, name: "sam.see", role: "see", mayAskForPrivate: false } as const;

async function ran(): Promise<World> {
  const w = await world();
  await w.run("run", "everything");
  return w;
}

/** Has the record verified, and gives the page once that has ended. */
async function verified(pages: Showing): Promise<string> {
  await pages.post("/audit/verify", {});
  await expect.poll(() => pages.dashboard.longReads.count).toBe(0);
  return (await pages.get("/audit")).text;
}

it("the page of the audit log has every entry once, page after page, and links to what each is about", async () => {
  const w = await ran();
  const pages = await showing(w, support);
  const seen: number[] = [];
  for (let path: string | undefined = "/audit"; path !== undefined;) {
    const { text }: { text: string } = await pages.get(path);
    seen.push(...[...text.matchAll(/<a href="\/audit\/(\d+)">\d+<\/a><\/th>/gu)].map(([, number]) => Number(number)));
    path = /href="([^"]+)" rel="next"/u.exec(text)?.[1];
  }
  const all = await auditEntries(w);
  expect(seen.toReversed()).toEqual(all.map(({ sequence }) => sequence));
  const placed = all.find(({ subject }) => subject === "order:crm/O1");
  const one = await pages.get(pagePath.audit(placed.sequence));
  expect(one.text).toContain(`href="${pagePath.order("crm", "O1")}"`);
  expect((await pages.get("/audit/999999")).status).toBe(404);
  for (const wrong of ["/audit/x", "/audit?before=-1", "/audit/1e3"])
    expect((await pages.get(wrong)).status, wrong).toBe(400);
});

it("the page has the whole record verified, and says that somebody changed it", { tags: "long" }, async () => {
  const w = await ran();
  const pages = await showing(w, support);
  const good = await verified(pages);
  expect(good).toContain("Nothing is known to be wrong");
  expect(good).toContain("sam.see");
  w.tamper("drop trigger audit_refuses_update; update audit set body = '{}' where sequence = 2");
  const bad = await verified(pages);
  expect(bad).toContain("BAD at entry 2");
  expect(bad).not.toContain("Nothing is known to be wrong");
});

it("a verification that failed is never shown as a good record", { tags: "long" }, async () => {
  const w = await ran();
  writeFileSync(w.path("other.mjs"), `console.log('{"good": true'); console.error("killed <b>");`);
  const text = await verified(await showing(w, support, () => [process.execPath, w.path("other.mjs")]));
  expect(text).toContain("killed &lt;b&gt;");
  expect(text).not.toContain("Nothing is known to be wrong");
});
