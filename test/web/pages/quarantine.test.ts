import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { pagePath } from "../../../src/report/page-links.ts";
import { auditEntries, quarantined } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { operator, showing, type Showing } from "../../support/showing.ts";
import { canary, company } from "../../support/world/crm.ts";

const support = { ...operator, name: "sam.see", role: "see", mayAskForPrivate: false } as const;

/** What the CRM may say to whoever shows it: markup, a line turned around, a control. */
const hostile = `<script>alert(1)</script>\u202e\u0000"'&`;

/** Two sources, each with rows that cannot be used: two orders for one reason, two people for another. */
async function inQuarantine(): Promise<{ w: World; pages: Showing; ids: Map<string, string> }> {
  const w = await world({ records: company(2, 1) });
  for (const id of ["OX", "OY"]) w.orders.push({ id, customer: "C1", assets: [], placedAt: hostile });
  for (const id of ["SX", `SY"><b>`])
    w.staff.push({ id, customer: "C2", login: canary.login, name: canary.person, note: hostile });
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(3);
  const rows = await quarantined(w);
  expect(rows).toHaveLength(4);
  return { w, pages: await showing(w), ids: new Map(rows.map(({ id, key }: Parsed) => [key.id, id])) };
}

const shownEntries = async (w: World): Promise<Parsed[]> =>
  (await auditEntries(w)).filter(({ kind }) => kind === "private-shown");

describe("the pages of the quarantine", () => {
  it("show rows by reason, and what came only to who asks and may, once it is written down", async () => {
    const { w, pages, ids } = await inQuarantine();
    const list = await pages.get("/quarantine");
    expect(list.status).toBe(200);
    const links = [...list.text.matchAll(/href="(\/quarantine\?[^"]+)"/gu)];
    expect(links).toHaveLength(2);
    const groups = [];
    for (const [, link = ""] of links) groups.push((await pages.get(link.replaceAll("&amp;", "&"))).text);
    const orders = groups.find((one) => one.includes("crm/OX")) ?? "";
    expect(orders).toContain("crm/OY");
    expect(orders).not.toContain("crm/SX");
    const id = ids.get("SX") ?? "";
    const page = await pages.get(pagePath.quarantine(id));
    expect(page.text).toContain("sources.hr.streams.staff.mapping.remark");
    for (const text of [list.text, ...groups, page.text]) expect(text).not.toContain(canary.person);
    const raw = `${pagePath.quarantine(id)}/raw`;
    expect((await (await showing(w, support)).post(raw, {})).status).toBe(403);
    expect(await shownEntries(w)).toEqual([]);
    const asked = await pages.post(raw, {});
    expect(asked.text).toContain(canary.person);
    expect(asked.text).toContain("&lt;script&gt;alert(1)");
    expect(asked.text).not.toContain("<script>alert");
    expect(asked.headers["cache-control"]).toBe("no-store");
    const [entry] = await shownEntries(w);
    expect(entry.subject).toBe(`quarantine:${id}`);
    expect(JSON.parse(entry.body)).toMatchObject({ by: "anna.lee", stream: "staff", record: "crm/SX" });
  });

  it("show nobody the salt of ids, by which names could be tried", async () => {
    const w = await world({ records: company(1, 1) });
    const salt = "d1f0c2b7a6954e38";
    w.staff.push({ id: "SX", customer: "C1", login: "" });
    w.write();
    const settings = parse(readFileSync(w.path("crm-sync.yaml"), "utf8"));
    settings.sources.hr.streams.staff.mapping.id = { hash: { lower: "login" }, salt };
    writeFileSync(w.path("crm-sync.yaml"), stringify(settings));
    await w.run("run", "everything");
    const [row] = (await quarantined(w)).filter(({ field }) => field === "id");
    const { text } = await (await showing(w, support)).get(pagePath.quarantine(row.id));
    expect(text).toContain("sources.hr.streams.staff.mapping.id");
    expect(text).not.toContain(salt);
  });

  it("map one row, one reason or all anew, for operators alone", { tags: "long" }, async () => {
    const { w, pages, ids } = await inQuarantine();
    const [one, two] = ["SX", "OX"].map((record) => ids.get(record) ?? "");
    const other = await showing(w, support);
    for (const path of [`/quarantine/${one}/retry`, "/quarantine/retry"])
      expect((await other.post(path, {})).status).toBe(403);
    expect((await pages.post(`/quarantine/${one}/retry`, {})).status).toBe(200);
    expect(await quarantined(w)).toHaveLength(4);
    // The mapping is corrected for one source alone: what waits for the other one stays.
    w.environment["CRM_SYNC__sources__hr__streams__staff__mapping__remark"] = "{value: corrected}";
    const corrected = await showing(w);
    const { code } = (await quarantined(w)).find(({ id }) => id === one) ?? {};
    expect((await corrected.post("/quarantine/retry", { source: "hr", stream: "staff", code })).status).toBe(200);
    expect((await quarantined(w)).map(({ source }) => source)).toEqual(["crm", "crm"]);
    expect((await corrected.post("/quarantine/retry", {})).status).toBe(200);
    expect((await corrected.get(pagePath.quarantine(two ?? ""))).status).toBe(200);
    expect(await quarantined(w)).toHaveLength(2);
  });

  it("do not touch the sources while a run goes on", { tags: "long" }, async () => {
    const { w, pages, ids } = await inQuarantine();
    const one = ids.get("SX") ?? "";
    w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
    w.write();
    const stop = w.stopsAt("E5");
    const running = w.run("run", "everything");
    await stop.reached;
    expect((await pages.post(`/quarantine/${one}/retry`, {})).text).toContain("because a run is on");
    stop.goOn();
    await running;
    pages.dashboard.application.sources = () => {
      throw new Error("x");
    };
    expect((await pages.post(`/quarantine/${ids.get("OX")}/retry`, {})).status).toBe(500);
    // A page lets go of the lock whatever became of what it asked for.
    expect((await w.run("run", "everything")).exitCode).toBe(3);
  });

  it("are as long as a page, however many rows wait and however long one of them is", { tags: "long" }, async () => {
    const w = await world({ records: company(1, 1) });
    for (let at = 0; at < 121; at += 1)
      w.orders.push({ id: `OX${at}`, customer: "C1", assets: [], placedAt: "x".repeat(at === 0 ? 5_000_000 : 1) });
    w.write();
    await w.run("run", "everything");
    const pages = await showing(w);
    const seen = new Set<string>();
    let link = (await pages.get("/quarantine")).text.match(/href="(\/quarantine\?source=crm[^"]+)"/u)?.[1];
    let count = 0;
    for (; link !== undefined; count += 1) {
      const { text } = await pages.get(link.replaceAll("&amp;", "&"));
      for (const [found] of text.matchAll(/\/quarantine\/q-[^"]+/gu)) seen.add(found);
      link = /href="([^"]+)" rel="next"/u.exec(text)?.[1];
    }
    expect([count, seen.size]).toEqual([3, 121]);
    const [long] = (await quarantined(w)).filter(({ key }) => key.id === "OX0");
    const raw = await pages.post(`${pagePath.quarantine(long.id)}/raw`, {});
    expect(raw.status).toBe(200);
    expect(raw.text.length).toBeLessThan(100_000);
  });

  it("answer what a request says wrongly with what can be done", { tags: "long" }, async () => {
    const { pages } = await inQuarantine();
    for (const wrong of ["/quarantine?source=crm", "/quarantine?source=crm&stream=__proto__&code=x"])
      expect((await pages.get(wrong)).status).toBe(400);
    expect((await pages.get("/quarantine/q-nowhere")).status).toBe(404);
    for (const what of ["raw", "retry"])
      expect((await pages.post(`/quarantine/q-nowhere/${what}`, {})).status).toBe(404);
  });
});
