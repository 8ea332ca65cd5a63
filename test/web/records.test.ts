import { describe, expect, it } from "vitest";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { eraseGone, gone, livedWithGone, nothingWaits } from "../support/gone-customer.ts";
import { operator, showing } from "../support/showing.ts";
import { canary, company, privateText } from "../support/world/crm.ts";
import { textOnly } from "./hostile.ts";

const product = (id: string, parent: string): { id: string; parent: string }[] => [{ id, parent }];

const shownEntries = (w: World): { subject: string; body: Record<string, unknown> }[] =>
  w
    .rows<{ subject: string; body: string }>(
      "select subject, body from audit where kind = 'private-shown' order by sequence",
    )
    .map(({ subject, body }) => ({ subject, body: JSON.parse(body) }));

/** Two customers; the second has no address, so that its order waits, and somebody of the first one is unusable. */
async function stuckBesideGood(): Promise<World> {
  const records = company(2, 2);
  const [first, second] = records.customers;
  if (first === undefined || second === undefined) throw new Error("nobody is there");
  records.customers = [
    { ...first, name: "Zqcanary ACME GmbH" },
    { ...second, name: "Zqcanary  Übersee\tAG", address: "" },
  ];
  const w = await world({ records });
  await w.run("run", "everything");
  w.staff = w.staff.map((row) => (row.id === "S1-2" ? { ...row, name: "Zqcanary ".repeat(60) } : row));
  w.write();
  await w.run("run", "everything");
  return w;
}

describe("the pages of records", () => {
  it(
    "say of a stuck customer, found by its name, why it is stuck and what to do, and of the good one beside it nothing",
    { tags: "long" },
    async () => {
      const w = await stuckBesideGood();
      const pages = await showing(w);
      const found = await pages.get(`/search?q=${encodeURIComponent("zqcanary übersee ag")}`);
      expect([found.status, found.headers["location"]]).toEqual([303, "/customer/crm/C2"]);
      const stuck = await pages.get("/customer/crm/C2");
      expect(stuck.status).toBe(200);
      const order = await pages.get("/order/crm/O2");
      expect(order.text).toContain("Needs somebody:");
      expect(order.text).toMatch(/fields? named in the CRM|in the CRM/u);
      expect(order.text).toContain("is not placed");
      expect(order.text).toContain('href="/customer/crm/C2"');
      const good = await pages.get("/order/crm/O1");
      expect(good.text).toContain("As meant:");
      expect(good.text).toContain("there is nothing to do");
      for (const { text } of [stuck, order, good, found]) expect(text).not.toMatch(privateText);
    },
  );

  it("say of two people which of them is at fault, and lead to what is decided", { tags: "long" }, async () => {
    const w = await stuckBesideGood();
    const pages = await showing(w);
    const [well, bad, customer] = [
      await pages.get("/person/crm/S1-1"),
      await pages.get("/person/crm/S1-2"),
      await pages.get("/customer/crm/C1"),
    ];
    expect(well.text).toContain("As meant:");
    expect(bad.text).toContain("Needs somebody:");
    const [row] = w.rows<{ id: string }>("select id from quarantine where record_id = 'S1-2'");
    for (const { text } of [bad, customer]) expect(text).toContain(`href="/quarantine/${row?.id}"`);
    expect(customer.text).toContain('href="/person/crm/S1-2"');
    expect(well.text).toMatch(/href="\/run\/run_[^"]+"/u);
    for (const { text } of [well, bad, customer]) expect(text).not.toMatch(privateText);
  });

  it(
    "show an order thing by thing: what is new is wanted and not sent, what stands is equal",
    { tags: "long" },
    async () => {
      const w = await world();
      await w.run("run", "everything");
      await w.run("run", "verify");
      const pages = await showing(w);
      expect((await pages.get("/order/crm/O1")).text).toMatch(/O1-A1-P[\s\S]*?state good">equal/u);
      w.orders = w.orders.map((row) =>
        row.id === "O1"
          ? {
              ...row,
              products: [...product("O1-A1-P", "O1-A1"), ...product("O1-A2-P", "O1-A2"), ...product("NEW-P", "O1-A1")],
            }
          : row,
      );
      w.write();
      await w.run("plan");
      await w.run("run", "everything");
      const amended = await pages.get("/order/crm/O1");
      expect(amended.text).toContain("NEW-P");
      expect(amended.text).toMatch(/version 2 \(crm/u);
      expect(amended.text).not.toMatch(privateText);
    },
  );

  it(
    "tell of an order that moved where it stands and whom it left, on the page of each customer",
    { tags: "long" },
    async () => {
      const w = await world();
      await w.run("run", "everything");
      w.orders = w.orders.map((row) => (row.id === "O1" ? { ...row, customer: "C2" } : row));
      w.write();
      await w.run("run", "everything");
      const pages = await showing(w);
      const order = await pages.get("/order/crm/O1");
      expect(order.text).toContain("customerId: C1 → C2");
      expect(order.text).toContain('href="/customer/crm/C2"');
      expect((await pages.get("/customer/crm/C2")).text).toContain('href="/order/crm/O1"');
    },
  );

  it("say what is not there with 404, and lead to what may have been meant", async () => {
    const w = await world();
    await w.run("run", "everything");
    const pages = await showing(w);
    const { status, text } = await pages.get("/customer/crm/O1");
    expect(status).toBe(404);
    expect(text).toContain('href="/order/crm/O1"');
    expect((await pages.get("/order/none/..%2f")).status).toBe(404);
  });
});

describe("the search", () => {
  it(
    "finds by id, number, login and the beginning of a name, lists several, and says what it looked for",
    { tags: "long" },
    async () => {
      const w = await stuckBesideGood();
      const pages = await showing(w);
      const [link] = w.rows<{ enterprise_global_id: string; channel_customer_id: string }>("select * from link");
      const [member] = w.rows<{ member_global_id: string; staff_id: string }>("select * from staff_link");
      const [licence] = w.rows<{ license_order_id: string }>(
        "select * from licence_order where license_order_id <> ''",
      );
      const [asset] = w.rows<{ wire_number: string }>("select * from asset_number where order_id = 'O1'");
      const leads = async (text: string): Promise<unknown> => {
        const { status, headers } = await pages.get(`/search?q=${encodeURIComponent(text)}`);
        return status === 303 ? headers["location"] : status;
      };
      expect(await leads("S1-1")).toBe("/person/crm/S1-1");
      expect(await leads("crm/O2")).toBe("/order/crm/O2");
      expect(await leads(link?.enterprise_global_id ?? "")).toBe("/customer/crm/C1");
      expect(await leads(member?.member_global_id ?? "")).toBe(`/person/crm/${member?.staff_id}`);
      expect(await leads(licence?.license_order_id ?? "")).toBe("/order/crm/O1");
      expect(await leads(`${canary.login}2x1`)).toBe("/person/crm/S2-1");
      expect(await leads("ZQCANARY acme")).toBe("/customer/crm/C1");
      const several = await pages.get("/search?q=zqcanary");
      expect(several.status).toBe(200);
      for (const path of ["/customer/crm/C1", "/customer/crm/C2", "/person/crm/S1-1"])
        expect(several.text).toContain(`href="${path}"`);
      expect(several.text).toContain("beginning of its name");
      const ofAsset = await pages.get(`/search?q=${asset?.wire_number}`);
      expect(ofAsset.text).toContain("its asset number");
      const none = await pages.get(`/search?q=${encodeURIComponent("no <b>such</b>")}`);
      expect([none.status, none.text]).toEqual([404, expect.stringContaining("no &lt;b&gt;such&lt;/b&gt;")]);
      for (const bad of ["", "x".repeat(201), "a\0b"]) expect(await leads(bad)).toBe(400);
      for (const { text } of [several, ofAsset])
        expect(text.replaceAll('value="zqcanary"', "")).not.toMatch(privateText);
    },
  );

  it("finds nobody by a name that was erased, and no byte of the name is left", { tags: "long" }, async () => {
    const w = await livedWithGone();
    const leads = async (): Promise<number> =>
      (await (await showing(w)).get(`/search?q=${encodeURIComponent("zqcanary gone works")}`)).status;
    expect(await leads()).toBe(303);
    await gone(w);
    await nothingWaits(w);
    expect((await w.run(...eraseGone)).exitCode).toBe(0);
    expect(await leads()).toBe(404);
    expect(w.rows("select 1 from private_value where name_key like '%zqcanary gone%'")).toEqual([]);
    const pages = await showing(w);
    const page = await pages.get("/customer/crm/C1");
    expect(page.text).toContain("They were erased");
    const asked = await pages.post("/customer/crm/C1/private", {});
    expect(asked.text).toContain("They were erased");
    expect(asked.text).not.toMatch(privateText);
  });
});

describe("private values on a page", () => {
  it("are shown to who asks and may, once that is written down, and to nobody else", { tags: "long" }, async () => {
    const w = await world();
    await w.run("run", "everything");
    const pages = await showing(w);
    const before = await pages.get("/customer/crm/C1");
    expect(before.text).not.toMatch(privateText);
    expect(before.text).toContain("hidden");
    const shown = await pages.post("/customer/crm/C1/private", {});
    expect(shown.status).toBe(200);
    expect(shown.headers["cache-control"]).toBe("no-store");
    expect(shown.text).toContain(`${canary.name} 1`);
    expect(shown.text).not.toContain(`${canary.name} 2`);
    expect((await pages.post("/person/crm/S2-1/private", {})).text).toContain(canary.mobile);
    expect(shownEntries(w)).toEqual([
      {
        subject: "customer:crm/C1",
        body: expect.objectContaining({ by: "anna.lee", stream: "customers", record: "crm/C1" }),
      },
      {
        subject: "staff:crm/S2-1",
        body: expect.objectContaining({ by: "anna.lee", stream: "staff", record: "crm/S2-1" }),
      },
    ]);
    expect(JSON.stringify(shownEntries(w))).not.toMatch(privateText);
    expect((await pages.get("/customer/crm/C1")).text).not.toMatch(privateText);
    expect((await pages.post("/order/crm/O1/private", {})).text).not.toMatch(privateText);
    expect(shownEntries(w)).toHaveLength(2);
  });

  it("are not shown to a role that may not, and no entry says that they were", async () => {
    const w = await world();
    await w.run("run", "everything");
    const pages = await showing(w, { ...operator, role: "report", mayAskForPrivate: false });
    const { status, text } = await pages.post("/customer/crm/C1/private", {});
    expect(status).toBe(403);
    expect(text).not.toMatch(privateText);
    expect((await pages.get("/customer/crm/C1")).text).not.toContain("Show private values");
    expect(shownEntries(w)).toEqual([]);
  });

  it("are not shown beside a daemon, where the page says where they are", async () => {
    const w = await world();
    await w.run("run", "everything");
    const pages = await showing(w, operator, "beside a daemon");
    const page = await pages.get("/person/crm/S1-1");
    expect(page.text).toContain("crm-sync serve");
    expect(page.text).not.toContain("Show private values");
    expect((await pages.post("/person/crm/S1-1/private", {})).text).not.toMatch(privateText);
    expect(shownEntries(w)).toEqual([]);
  });

  it("are not shown where the entry cannot be written", async () => {
    const w = await world();
    await w.run("run", "everything");
    w.tamper(
      `create trigger no_more before insert on audit when new.kind = 'private-shown'
         begin select raise(abort, 'no room'); end`,
    );
    const { status, text } = await (await showing(w)).post("/customer/crm/C1/private", {});
    expect(status).toBe(503);
    expect(text).toContain("nothing is shown");
    expect(text).not.toMatch(privateText);
    expect(shownEntries(w)).toEqual([]);
  });
});

describe("hostile text from the CRM", () => {
  it("is text on every page, and links to hostile ids lead to their records", async () => {
    const ids = ["a/b", "..", "~x", "q?#%41", "<i>x</i>", "\u202Eevil"];
    const records = company(1, 1);
    const [first] = records.customers;
    if (first === undefined) throw new Error("nobody is there");
    records.customers = [
      { ...first, branch: "<script>alert(1)</script>\u202E", name: `Zqcanary ${"x".repeat(150)}` },
      ...ids.map((id) => ({ ...first, id, name: `Zqcanary ${id}` })),
    ];
    records.staff = ids.map((id, n) => ({ id, customer: "C1", login: `${canary.login}h${n}`, name: "Zqcanary <b>" }));
    const w = await world({ records });
    await w.run("run", "everything");
    const pages = await showing(w);
    const customer = await pages.get("/customer/crm/C1");
    expect(customer.text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(customer.text).not.toMatch(/<script>|\u202E|<i>x/u);
    const kept = w.rows<{ id: string }>("select id from record where stream = 'staff'").map(({ id }) => id);
    const links = [...customer.text.matchAll(/href="(\/person\/[^"]+)"/gu)].map(([, path]) => path ?? "");
    const reached = new Set<string>();
    for (const link of links) {
      const { status, text } = await pages.get(link.replaceAll("&amp;", "&"));
      expect(status, link).toBe(200);
      expect(text).not.toMatch(/<script>|\u202E|<i>x/u);
      reached.add(link);
    }
    expect(reached.size).toBeGreaterThanOrEqual(kept.length);
    for (const id of w.rows<{ id: string }>("select id from record where stream = 'customers'").map((row) => row.id)) {
      const found = await pages.get(`/search?q=${encodeURIComponent(id)}`);
      expect([200, 303], id).toContain(found.status);
    }
  });

  it(
    "of 10 MB with markup, bidi marks and a NUL is text on every page that leads to it, and no page is as long",
    { tags: "long" },
    async () => {
      const records = company(2, 1);
      const large = `Zqcanary <script>alert(1)</script>\u202Eevil\u0000"'&${"x".repeat(10_000_000)}`;
      records.customers = records.customers.map((row) =>
        row.id === "C1" ? { ...row, name: large, branch: large } : row,
      );
      records.orders = records.orders.map((row) => (row.id === "O1" ? { ...row, note: large } : row));
      const short = "Zqcanary <script>alert(3)";
      records.staff = records.staff.map((row) => ({ ...row, name: row.customer === "C1" ? large : short }));
      const w = await world({ records });
      await w.run("run", "everything");
      await w.run("run", "verify");
      const pages = await showing(w);
      const places = [
        ..."today runs quarantine plan settle audit search?q=zqcanary".split(" ").map((page) => `/${page}`),
        ..."customer/crm/C1 customer/crm/C2 order/crm/O1 person/crm/S1-1".split(" ").map((page) => `/${page}`),
        ...w.rows<{ id: string }>("select id from quarantine").map(({ id }) => `/quarantine/${id}`),
        ...w.rows<{ id: string }>("select id from run").map(({ id }) => `/run/${id}`),
      ];
      expect(places.some((place) => place.startsWith("/quarantine/"))).toBe(true);
      for (const place of places) {
        const { status, text } = await pages.get(place);
        expect([200, 303, 404], `${place}: ${text.slice(0, 300)}`).toContain(status);
        textOnly(text);
      }
      const asked = await pages.post("/person/crm/S2-1/private", {});
      expect(asked.text).toContain("Zqcanary &lt;script&gt;alert(3)");
      expect(asked.text).not.toMatch(/<script>alert/u);
      // The customer beside it is served.
      expect((await pages.get("/order/crm/O2")).text).toContain("As meant:");
    },
  );
});
