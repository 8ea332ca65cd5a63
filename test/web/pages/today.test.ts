import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../support/asking.ts";
import { promptRetries, world, type World } from "../../support/cli.ts";
import { severalTroubles } from "../../support/several-troubles.ts";
import { operator, showing, type Showing } from "../../support/showing.ts";
import { company, privateText } from "../../support/world/crm.ts";

/** How the page says that all is: good, wait or bad. */
async function toneOf(pages: Showing): Promise<string | undefined> {
  return /<p class="lead state (\w+)">/u.exec((await pages.get("/today")).text)?.[1];
}

async function good(): Promise<World> {
  const w = await world({ records: company(3, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** What goes wrong in the next run. */
const troubles: Record<string, (w: World) => void> = {
  "something is held": (w) => {
    w.extra = "policies: { assignments: { revoked: ask } }\n";
    Object.assign(w.staff[0] ?? {}, { holds: [] });
    w.write();
  },
  "a row is in quarantine": (w) => {
    Object.assign(w.staff[0] ?? {}, { login: "not a login!" });
    w.write();
  },
  "the file of a source is gone": (w) => rmSync(w.path("data/staff.ndjson")),
  "a service is down": (w) => {
    Object.assign(w.environment, promptRetries);
    w.customers.push({ id: "C4" });
    w.write();
    w.sandbox.faults.add({ operation: "E3", fault: "http503" });
  },
  "nobody is told": (w) => {
    w.extra = "alerts: { channels: [{ kind: webhook, url: 'http://127.0.0.1:1/' }] }\n";
    Object.assign(w.staff[0] ?? {}, { login: "not a login!" });
    w.write();
  },
};

describe("today", () => {
  it("names what waits and leads to where it is decided, shows each job with its runs, and nothing private", async () => {
    const w = await severalTroubles();
    const pages = await showing(w);
    const { status, text } = await pages.get("/today");
    expect(status).toBe(200);
    expect(await toneOf(pages)).toBe("bad");
    expect(text).toContain("What waits, the worst first");
    const { holds, openOperations } = await w.ask("status");
    for (const { id } of holds) expect(text).toContain(`href="/hold/${id}"`);
    for (const { id } of openOperations) expect(text).toContain(`href="/settle/${id}"`);
    for (const record of ["crm/O8", "crm/O9"]) expect(text).toContain(record);
    const items = text.slice(text.indexOf('<ol class="waiting">'), text.indexOf("</ol>"));
    for (const [part, count] of [
      [/<li /gu, 5],
      [/owner: (?:CRM|operator|platform|program|configuration)/gu, 5],
      [/class="cure"/gu, 5],
      [/class="button"/gu, 4],
    ] as const)
      expect(items.match(part), String(part)).toHaveLength(count);
    const runs = await runsOf(w);
    expect(runs).toHaveLength(4);
    for (const { id } of runs) expect(text).toContain(`<a href="/run/${id}" aria-label=`);
    expect(text).not.toMatch(privateText);
    const looking = await showing(w, { ...operator, role: "see" });
    expect((await looking.get("/today")).text, "who may not decide").not.toContain('class="button"');
  });

  it("is good only where nothing is known to be wrong", { tags: "long" }, async () => {
    const fresh = await world();
    await fresh.run("map", "hr", "staff");
    expect(await toneOf(await showing(fresh))).toBe("wait");
    expect(await toneOf(await showing(await good()))).toBe("good");
  });

  it.each(Object.entries(troubles))("is not good where %s", { tags: "long" }, async (_what, trouble) => {
    const w = await good();
    trouble(w);
    await w.run("run", "everything");
    for (const pages of [await showing(w), await showing(w, { ...operator, role: "see" })])
      expect(["wait", "bad"]).toContain(await toneOf(pages));
  });
});
