import { describe, expect, it } from "vitest";
import { auditEntries, quarantined } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { operator, showing } from "../../support/showing.ts";
import { canary, company, privateText } from "../../support/world/crm.ts";

const shownEntries = async (w: World): Promise<Parsed[]> =>
  (await auditEntries(w))
    .filter(({ kind }) => kind === "private-shown")
    .map(({ subject, body }) => ({ subject, ...JSON.parse(body) }));

async function ran(): Promise<World> {
  const w = await world();
  await w.run("run", "everything");
  return w;
}

/** Two customers; the order of the second waits as it has no address, and somebody of the first one is unusable. */
async function stuckBesideGood(): Promise<World> {
  const w = await world({ records: company(2, 2) });
  Object.assign(w.customers[1] ?? {}, { address: "" });
  w.write();
  await w.run("run", "everything");
  w.staff = w.staff.map((row) => (row.id === "S1-2" ? { ...row, name: "Zqcanary ".repeat(60) } : row));
  w.write();
  await w.run("run", "everything");
  return w;
}

describe("the pages of customers, orders and people", () => {
  it("say of each whether it is as meant, lead to what is decided, and show nothing private", async () => {
    const w = await stuckBesideGood();
    const pages = await showing(w);
    const get = async (path: string): Promise<string> => {
      const { status, text } = await pages.get(path);
      expect(status, path).toBe(200);
      expect(text, path).not.toMatch(privateText);
      return text;
    };
    for (const good of ["/order/crm/O1", "/person/crm/S1-1"]) expect(await get(good)).toContain("As meant:");
    for (const stuck of ["/order/crm/O2", "/person/crm/S1-2"]) expect(await get(stuck)).toContain("Needs somebody:");
    expect(await get("/order/crm/O2")).toContain('href="/customer/crm/C2"');
    const [row] = (await quarantined(w)).filter(({ key }) => key.id === "S1-2");
    const customer = await get("/customer/crm/C1");
    for (const text of [customer, await get("/person/crm/S1-2")]) expect(text).toContain(`/quarantine/${row.id}"`);
    for (const link of ["/person/crm/S1-2", "/order/crm/O1"]) expect(customer).toContain(`href="${link}"`);
    expect(await get("/person/crm/S1-1")).toMatch(/href="\/run\/run_[^"]+"/u);
    const { status, text } = await pages.get("/customer/crm/O1");
    expect([status, text]).toEqual([404, expect.stringContaining('href="/order/crm/O1"')]);
    expect((await pages.get("/order/none/..%2f")).status).toBe(404);
  });

  it("show what an order has, what was added to it, and to whom it moved", { tags: "long" }, async () => {
    const w = await ran();
    await w.run("run", "verify");
    const pages = await showing(w);
    expect((await pages.get("/order/crm/O1")).text).toMatch(/O1-A1-P[\s\S]*?state good">equal/u);
    w.orders = w.orders.map((row) =>
      row.id === "O1"
        ? {
            ...row,
            products: [
              { id: "O1-A1-P", parent: "O1-A1" },
              { id: "O1-A2-P", parent: "O1-A2" },
              { id: "NEW-P", parent: "O1-A1" },
            ],
          }
        : { ...row, customer: "C1" },
    );
    w.write();
    await w.run("run", "everything");
    const amended = (await pages.get("/order/crm/O1")).text;
    expect(amended).toContain("NEW-P");
    expect(amended).not.toMatch(privateText);
    expect((await pages.get("/order/crm/O2")).text).toContain("C2 → C1");
    expect((await pages.get("/customer/crm/C1")).text).toContain('href="/order/crm/O2"');
  });
});

it("the page of an order leads to its own holds, and knows what the platform shows of other customers", async () => {
  const w = await world({ records: company(2, 1) });
  w.orders.push({ id: "O3", customer: "C1", assets: ["O3-A1"] });
  w.write();
  await w.run("run", "everything");
  await w.run("run", "verify");
  w.tamper("update observation set to_at = seen_at where customer_id = 'C2' and kind in ('asset', 'product')");
  const pages = await showing(w);
  expect((await pages.get("/order/crm/O2")).text).toContain('state bad">missing');
  Object.assign(w.orders[0] ?? {}, { cancelled: true });
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  const holds = async (order: string): Promise<boolean> =>
    (await pages.get(`/order/crm/${order}`)).text.includes('href="/hold/');
  expect([await holds("O1"), await holds("O3")]).toEqual([true, false]);
});

describe("private values on a page", () => {
  it("are shown to who asks and may, once that is written down, and to nobody else", async () => {
    const w = await ran();
    const pages = await showing(w);
    const refused = await showing(w, { ...operator, role: "report", mayAskForPrivate: false });
    expect((await refused.post("/customer/crm/C1/private", {})).text).not.toMatch(privateText);
    expect((await refused.get("/customer/crm/C1")).text).not.toContain("/customer/crm/C1/private");
    expect(await shownEntries(w)).toEqual([]);
    const shown = await pages.post("/customer/crm/C1/private", {});
    expect([shown.status, shown.headers["cache-control"]]).toEqual([200, "no-store"]);
    expect(shown.text).toContain(`${canary.name} 1`);
    expect(shown.text).not.toContain(`${canary.name} 2`);
    expect((await pages.post("/person/crm/S2-1/private", {})).text).toContain(canary.mobile);
    expect((await pages.post("/order/crm/O1/private", {})).text).not.toMatch(privateText);
    const entries = await shownEntries(w);
    expect(entries).toMatchObject([
      { subject: "customer:crm/C1", by: "anna.lee", stream: "customers", record: "crm/C1" },
      { subject: "staff:crm/S2-1", by: "anna.lee", stream: "staff", record: "crm/S2-1" },
    ]);
    expect(JSON.stringify(entries)).not.toMatch(privateText);
    expect((await pages.get("/customer/crm/C1")).text).not.toMatch(privateText);
  });

  it("are not shown where it cannot be written down who asked", { tags: "long" }, async () => {
    const w = await ran();
    w.tamper("create trigger no_more before insert on audit begin select raise(abort, 'no room'); end");
    const { status, text } = await (await showing(w)).post("/customer/crm/C1/private", {});
    expect([status, privateText.exec(text)]).toEqual([503, null]);
  });
});
