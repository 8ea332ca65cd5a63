import { appendFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { pagePath } from "../../src/report/page-links.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { operator, showing } from "../support/showing.ts";
import type { Showing } from "../support/showing.ts";
import { canary, company } from "../support/world/crm.ts";

const support = { ...operator, name: "sam.see", role: "see", mayAskForPrivate: false } as const;

/** What the CRM may say to whoever shows it: markup, a line turned around, a control. */
const hostile = `<script>alert(1)</script>\u202e\u0000"'&`;

/** Two sources, each with rows that cannot be used: two orders for one reason, two people for another. */
async function inQuarantine(): Promise<{ w: World; pages: Showing; ids: Map<string, string> }> {
  const w = await world({ records: company(3, 1) });
  w.write();
  for (const id of ["OX", "OY"])
    appendFileSync(w.path("data/orders.ndjson"), `${JSON.stringify({ id, customer: "C1", assets: hostile })}\n`);
  for (const id of ["SX", `SY"><b>`])
    appendFileSync(
      w.path("data/staff.ndjson"),
      `${JSON.stringify({ id, customer: "C2", login: canary.login, name: canary.person, note: hostile })}\n`,
    );
  expect((await w.run("run", "everything")).exitCode).toBe(3);
  const rows = w.rows<{ id: string; record: string }>("select id, record_id as record from quarantine");
  expect(rows).toHaveLength(4);
  return { w, pages: await showing(w), ids: new Map(rows.map(({ id, record }) => [record, id])) };
}

function audited(w: World, kind: string): { subject: string; body: Record<string, unknown> }[] {
  return w
    .rows<{ subject: string; body: string }>("select subject, body from audit where kind = ? order by sequence", kind)
    .map(({ subject, body }) => ({ subject, body: JSON.parse(body) }));
}

describe("the pages of the quarantine", () => {
  it("show what waits by reason, and the rows of one reason alone", { tags: "long" }, async () => {
    const { w, pages } = await inQuarantine();
    const { status, text } = await pages.get("/quarantine");
    expect(status).toBe(200);
    const links = [...text.matchAll(/href="(\/quarantine\?[^"]+)"/gu)].map(([, link = ""]) =>
      link.replaceAll("&amp;", "&"),
    );
    expect(links).toHaveLength(2);
    expect(text).toContain("4 rows by reason");
    const groups = await Promise.all(links.map(async (link) => (await pages.get(link)).text));
    const orders = groups.find((one) => one.includes("order crm/OX")) ?? "";
    expect(orders).toContain("order crm/OY");
    expect(orders).not.toContain("crm/SX");
    for (const page of [text, ...groups]) {
      expect(page).not.toContain("<script>alert");
      for (const sign of ["\u202e", "\u0000"]) expect(page.includes(sign)).toBe(false);
      expect(page).not.toContain(canary.person);
    }
    expect(w.rows("select id from quarantine where state <> 'open'")).toEqual([]);
  });

  it(
    "show a row beside the mapping that it failed at, and what came only to who asks and may, once it is written down",
    { tags: "long" },
    async () => {
      const { w, pages, ids } = await inQuarantine();
      const id = ids.get("SX") ?? "";
      const page = await pages.get(pagePath.quarantine(id));
      expect(page.text).toContain("sources.hr.streams.staff.mapping.remark");
      expect(page.text).toContain("staff.ndjson");
      expect(page.text).not.toContain(canary.person);
      const raw = `${pagePath.quarantine(id)}/raw`;
      const other = await showing(w, support);
      expect((await other.post(raw, {})).status).toBe(403);
      const reading = await showing(w, operator, "beside a daemon");
      expect((await reading.post(raw, {})).status).toBe(403);
      expect(audited(w, "private-shown")).toEqual([]);
      const asked = await pages.post(raw, {});
      expect(asked.text).toContain(canary.person);
      expect(asked.text).toContain("&lt;script&gt;alert(1)");
      expect(asked.text).not.toContain("<script>alert");
      expect(asked.headers["cache-control"]).toBe("no-store");
      expect(audited(w, "private-shown")).toMatchObject([
        { subject: `quarantine:${id}`, body: { by: "anna.lee", stream: "staff", record: "crm/SX" } },
      ]);
      expect((await pages.get(pagePath.quarantine(id))).text).not.toContain(canary.person);
    },
  );

  it("show nothing that came where it cannot be written down who asked", { tags: "long" }, async () => {
    const { w, pages, ids } = await inQuarantine();
    w.tamper("create trigger no_more before insert on audit begin select raise(abort, 'no more'); end");
    const asked = await pages.post(`${pagePath.quarantine(ids.get("SX") ?? "")}/raw`, {});
    expect(asked.status).not.toBe(200);
    expect(asked.text).not.toContain(canary.person);
  });

  it(
    "map one row, one reason or all anew, for operators alone, and say what became of each",
    { tags: "long" },
    async () => {
      const { w, pages, ids } = await inQuarantine();
      const [one, two] = ["SX", "OX"].map((record) => ids.get(record) ?? "");
      const other = await showing(w, support);
      const seen = await other.get(pagePath.quarantine(one ?? ""));
      expect(seen.text).not.toContain("<form class");
      for (const path of [`/quarantine/${one}/retry`, "/quarantine/retry"])
        expect((await other.post(path, {})).status).toBe(403);
      expect(w.rows("select id from quarantine where state <> 'open'")).toEqual([]);

      expect((await pages.post(`/quarantine/${one}/retry`, {})).text).toContain("Still not usable");
      // The mapping is corrected for one source alone: what waits for the other one stays.
      w.environment["CRM_SYNC__sources__hr__streams__staff__mapping__remark"] = "{value: corrected}";
      const corrected = await showing(w);
      const { code } = w.rows<{ code: string }>("select code from quarantine where id = ?", one)[0] ?? { code: "" };
      const group = await corrected.post("/quarantine/retry", { source: "hr", stream: "staff", code });
      expect(group.text).toContain("2 usable now");
      expect(w.rows("select source from quarantine where state = 'open'")).toEqual([
        { source: "crm" },
        { source: "crm" },
      ]);
      expect((await corrected.post("/quarantine/retry", {})).text).toContain("2 rows: 2 still not usable");
      // Rows that stay as they are keep no later ones from being tried: a later page begins at its own rows.
      const [first] = w.rows<{ since: string; after: string; source: string; code: string }>(
        `select first_seen as since, id as after, source, code from quarantine where stream = 'orders'
       and state <> 'resolved' order by first_seen, id`,
      );
      const later = { ...first, stream: "orders" };
      expect((await corrected.get(`/quarantine?${new URLSearchParams(later).toString()}`)).text).toContain(
        "Map the rows of this reason from here on anew",
      );
      expect((await corrected.post("/quarantine/retry", later)).text).toContain("1 row: 1 still not usable");
      expect((await corrected.get(pagePath.quarantine(two ?? ""))).text).toContain("State");
    },
  );

  it("do not touch the sources while a run is on, and let go of the run lock", { tags: "long" }, async () => {
    const { w, pages, ids } = await inQuarantine();
    const one = ids.get("SX") ?? "";
    const ledger = await pages.dashboard.application.ledger();
    ledger.runs.takeLock();
    const busy = await pages.post(`/quarantine/${one}/retry`, {});
    expect(busy.text).toContain("because a run is on");
    ledger.runs.releaseLock();
    await pages.post(`/quarantine/${one}/retry`, {});
    expect(() => ledger.runs.takeLock()).not.toThrow();
    ledger.runs.releaseLock();
    expect(w.rows("select id from quarantine")).toHaveLength(4);
  });

  it("let go of the run lock also where a source cannot end its reading", { tags: "long" }, async () => {
    const { pages, ids } = await inQuarantine();
    const { application } = pages.dashboard;
    for (const source of application.sources()) source.endReading = () => Promise.reject(new Error("gone"));
    expect((await pages.post(`/quarantine/${ids.get("SX")}/retry`, {})).status).toBe(500);
    const ledger = await application.ledger();
    expect(() => ledger.runs.takeLock()).not.toThrow();
    ledger.runs.releaseLock();
  });

  it("are as long as a page, however many rows wait and however long one of them is", { tags: "long" }, async () => {
    const { w, pages, ids } = await inQuarantine();
    const id = ids.get("OX") ?? "";
    w.tamper(`with recursive more (value) as (select 1 union all select value + 1 from more where value < 120)
      insert into quarantine select 'q-' || value, source, stream, namespace, 'O' || value, customer_namespace,
      customer_id, place, field, code, message, expected, raw_ref, raw_hash || value, first_seen, last_seen, last_read,
      state, resolved_at, resolution, of_stored_form from quarantine, more where id = '${id}'`);
    w.tamper(`update private_value set body = '{"long": "' || hex(zeroblob(5000000)) || '"}'
      where ref = (select raw_ref from quarantine where id = '${id}')`);
    const seen = new Set<string>();
    let link = (await pages.get("/quarantine")).text.match(/href="(\/quarantine\?source=crm[^"]+)"/u)?.[1];
    let count = 0;
    for (; link !== undefined; count += 1) {
      const { text } = await pages.get(link.replaceAll("&amp;", "&"));
      for (const [found] of text.matchAll(/\/quarantine\/q-[^"]+/gu)) seen.add(found);
      link = /href="([^"]+)" rel="next"/u.exec(text)?.[1];
    }
    expect([count, seen.size]).toEqual([3, 122]);
    const long = await pages.post(`${pagePath.quarantine(id)}/raw`, {});
    expect(long.status).toBe(200);
    expect(long.text).toContain("more characters");
    expect(long.text.length).toBeLessThan(100_000);
  });

  it("answer what a request says wrongly with what can be done", async () => {
    const { pages } = await inQuarantine();
    expect((await pages.get("/quarantine?source=crm")).status).toBe(400);
    expect((await pages.get("/quarantine?source=crm&stream=__proto__&code=x")).status).toBe(400);
    expect((await pages.get("/quarantine/q-nowhere")).status).toBe(404);
    for (const what of ["raw", "retry"])
      expect((await pages.post(`/quarantine/q-nowhere/${what}`, {})).status).toBe(404);
  });
});
