import { expect, it } from "vitest";
import { auditEntries, quarantined, ran } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { company, type Crm } from "../../support/world/crm.ts";

/** What the run says that it does not believe, with the option that believes it. */
const doubted = ({ stdout }: { stdout: string }): string[] =>
  [...stdout.matchAll(/`crm-sync run \S+ (--accept-\S+ \S+)`/gu)].map(([, option = ""]) => option);

async function withCompany(records: Crm): Promise<World> {
  const w = await world({ records });
  expect((await ran(w)).exitCode).toBe(0);
  return w;
}

/** An order with another product than before: no order looks like it. */
const otherOrder = (n: number): Crm["orders"][number] => ({
  id: `N${n}`,
  customer: `C${n}`,
  assets: [`N${n}-A1`],
  products: [{ id: `N${n}-P`, parent: `N${n}-A1`, name: `new ${n}` }],
});

it.each([
  ["loses its leading zeros", (id: string) => id.replace(/^O0*/u, "")],
  ["comes in another case", (id: string) => id.toLowerCase()],
])("nothing is bought again where the id of every order %s", async (_how, change) => {
  const records = company(8, 1);
  records.orders = records.orders.map((order) => ({ ...order, id: order.id.replace("O", "O0") }));
  const w = await withCompany(records);
  w.orders = w.orders.map((order) => ({ ...order, id: change(order.id) }));
  w.write();
  for (let run = 0; run < 4; run += 1) {
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls, doubted(ended)]).toEqual([7, {}, ["--accept-new-ids crm/orders=8"]]);
    expect(ended.stdout).toContain("8 of 8 records are missing, and 8 are new");
  }
  expect((await w.does("run", "everything", "--accept-new-ids", "crm/orders=7")).calls).toEqual({});
  const believed = await w.does("run", "everything", "--accept-new-ids", "crm/orders=8");
  expect(believed.calls).toMatchObject({ E5: 8 });
  const [entry] = (await auditEntries(w)).filter(({ kind }) => kind === "new-ids-accepted").slice(-1);
  expect(entry.subject).toBe("source:crm");
  expect(JSON.parse(entry.body)).toMatchObject({ stream: "orders", most: 8 });
});

it.each([
  [4, 0],
  [5, 7],
  [6, 7],
])("%i of 30 orders that are missing while as many are new end with %i", { timeout: 60_000 }, async (count, exit) => {
  const w = await withCompany(company(30, 1));
  w.orders = [...w.orders.slice(count), ...Array.from({ length: count }, (_, index) => otherOrder(index + 1))];
  w.staff = w.staff.map((person, at) => (at < count ? { ...person, holds: [] } : person));
  w.environment["CRM_SYNC__policies__assignments__revoked"] = "report";
  w.write();
  const ended = await w.does("run", "everything");
  expect(ended.calls).toEqual(exit === 0 ? { E5: count } : {});
  expect(ended.exitCode).toBe(exit);
});

it("no second enterprise is made where the ids of customers come in another case", async () => {
  const w = await withCompany(company(3, 1));
  w.customers = w.customers.map((row) => (row.id === "C3" ? row : { ...row, id: row.id.toLowerCase() }));
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls["E2"]]).toEqual([3, undefined]);
  const waiting: Parsed[] = await quarantined(w);
  expect(Object.fromEntries(waiting.map(({ code, key }): [string, string] => [key.id, code]))).toEqual({
    c1: "looks-like-another",
    c2: "looks-like-another",
  });
  for (let run = 0; run < 4; run += 1) expect((await w.does("run", "everything")).calls).toEqual({});
});

it("products are not bought again where lines get other ids, and a person may take each one", async () => {
  const w = await withCompany(company(4, 1));
  const lines = (id: string): void => {
    w.orders = w.orders.map((order) =>
      order.id === id
        ? { ...order, assets: [`${id}-B1`], products: [{ id: `${id}-B1-P`, parent: `${id}-B1` }] }
        : order,
    );
    w.staff = w.staff.map((person) => (person.holds?.[0]?.startsWith(id) === true ? { ...person, holds: [] } : person));
  };
  lines("O2");
  w.environment["CRM_SYNC__policies__assignments__revoked"] = "report";
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls]).toEqual([3, {}]);
  const [row] = await quarantined(w);
  expect(row).toMatchObject({ code: "lines-renumbered", key: { id: "O2" } });
  expect(row.message).toContain("crm/O2");
});

it("an order does not count as gone while one that looks like it waits", async () => {
  const w = await withCompany(company(8, 1));
  Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
  w.orders = w.orders.map((order) => (order.id === "O2" ? { ...order, id: "N2" } : order));
  w.write();
  for (let run = 0; run < 3; run += 1) expect((await w.does("run", "everything")).calls).toEqual({});
  expect((await w.ask("explain", "order", "O2")).record.state).toBe("current");
});
