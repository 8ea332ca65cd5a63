import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { quarantined, ran } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { fileSource, mappingOf } from "../../support/world/crm-files.ts";
import { canary, company, customerRow } from "../../support/world/crm.ts";
import { outcome } from "../../support/world/members.ts";
import { changeFile } from "../../support/world/start.ts";

const columns = ["id", "name", "branch", "address", "contact", "account", "email", "mobile"] as const;

it("no second enterprise is made where ids come anew in a reading of changes", async () => {
  const w = await world({ records: company(8, 1) });
  const change = (sql: string): void => changeFile(w.path("erp.db"), sql);
  change(`pragma journal_mode = wal; create table customer (${columns.join(", ")}, changed_at timestamptz)`);
  for (const row of w.customers.map(customerRow))
    change(
      `insert into customer values (${columns.map((name) => `'${row[name]}'`).join(", ")}, '2026-11-20T08:00:00Z')`,
    );
  const since = { column: "changed_at", overlap: "0s" };
  const customers = { query: "select * from customer", key: "id", since, mapping: mappingOf("customers", "csv") };
  const sources = {
    crm: { kind: "sql", connection: { kind: "sqlite", file: "erp.db" }, streams: { customers } },
    orders: fileSource("data", ["orders"]),
  };
  const jobs = { everything: { kind: "sync", streams: ["customers", "orders"] } };
  const ledger = { path: "ledger.db", sealKey: "env:SEAL_KEY" };
  writeFileSync(w.path("crm-sync.yaml"), stringify({ ledger, zone: "UTC", sources, jobs }));
  expect((await ran(w)).exitCode).toBe(0);
  change("update customer set id = lower(id), changed_at = '2026-11-21 08:00:00'");
  const ended = await w.does("run", "everything");
  const { reads } = await w.ask("run", "show", "last");
  expect(reads.find(({ stream }: Parsed) => stream === "customers")).toMatchObject({ whole: false, rows: 8 });
  expect(ended.calls).toEqual({});
});

/** Eight orders of a database that is asked for changes. `O8` is the newest. */
async function ordersOfChanges(): Promise<{ w: World; change: (sql: string) => void }> {
  const w = await world({ records: { ...company(8, 1), staff: [] } });
  const change = (sql: string): void => changeFile(w.path("erp.db"), sql);
  change("pragma journal_mode = wal; create table orders (id, customer, placedAt, asset, changed_at timestamptz)");
  for (const { id, customer } of w.orders) {
    const at = id === "O8" ? "08:01" : "08:00";
    change(`insert into orders values ('${id}', '${customer}', '2026-10-05T08:00:00Z', '${id}-A1',
      '2026-11-20T${at}:00Z')`);
  }
  const product = {
    id: { template: "{asset}-P" },
    parentId: "asset",
    name: { value: "P" },
    gmsPid: { value: "PID-1" },
    type: { value: "tool" },
    nodes: { value: 1 },
    timeUnit: { value: "YEAR" },
    timeUnitQuantity: { value: 1 },
    term: { value: "1-0-0" },
  };
  const instances = [
    { kind: "asset", one: { id: "asset", licenseType: { value: "cloud_personal" } } },
    { kind: "product", one: product },
  ];
  const mapping = { id: "id", customerId: "customer", cancelled: { value: "false" }, placedAt: "placedAt", instances };
  const since = { column: "changed_at", overlap: "0s" };
  const orders = { query: "select * from orders", key: "id", since, mapping };
  const sources = {
    crm: fileSource("data", ["customers"]),
    erp: { kind: "sql", connection: { kind: "sqlite", file: "erp.db" }, streams: { orders } },
  };
  const jobs = { everything: { kind: "sync", streams: ["customers", "orders"] } };
  const ledger = { path: "ledger.db", sealKey: "env:SEAL_KEY" };
  writeFileSync(w.path("crm-sync.yaml"), stringify({ ledger, zone: "UTC", sources, jobs }));
  expect((await ran(w)).calls["E5"]).toBe(8);
  return { w, change };
}

it.each([1, 4])("%i orders that come under new ids in a read of changes are not bought again", async (count) => {
  const { w, change } = await ordersOfChanges();
  for (let n = 1; n <= count; n += 1)
    change(`update orders set id = 'N${n}', asset = 'NA${n}', changed_at = '2026-11-21T08:00:00Z' where id = 'O${n}'`);
  for (const code of ["twin-unclear", "looks-like-another", "looks-like-another"]) {
    expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    expect((await quarantined(w)).map((row: Parsed) => row.code)).toEqual(Array.from({ length: count }, () => code));
  }
});

it("a second order with the values of another is bought when a full read has shown both", async () => {
  const { w, change } = await ordersOfChanges();
  change("insert into orders values ('N1', 'C1', '2026-10-05T08:00:00Z', 'NA1', '2026-11-21T08:00:00Z')");
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
});

it("an order with a licence password that looks like another is placed when somebody says so", async () => {
  const records = company(1, 1);
  records.staff = [];
  records.orders = [1, 2].map((n) => ({
    id: `O${n}`,
    customer: "C1",
    assets: [`O${n}-A1`],
    products: [{ id: `P${n}`, parent: `O${n}-A1`, passwords: [canary.licence] }],
  }));
  const w = await world({ records });
  expect((await ran(w)).exitCode).toBe(0);
  w.orders = w.orders.map((order) => (order.id === "O2" ? { ...order, id: "O3" } : order));
  w.write();
  await w.does("run", "everything");
  const [row] = await quarantined(w);
  expect(row).toMatchObject({ code: "looks-like-another", key: { id: "O3" } });
  expect((await w.run("quarantine", "retry", row.id)).exitCode).toBe(0);
  const ended = await w.does("run", "everything");
  expect([ended.calls, await quarantined(w)]).toEqual([{ E5: 1 }, []]);
});

it("a new customer is taken in while others wait, and these are not", { timeout: 60_000 }, async () => {
  const w = await world({ records: company(30, 0) });
  w.orders = [];
  w.write();
  expect((await ran(w)).exitCode).toBe(0);
  w.customers = w.customers.map((row, at) => (at < 4 ? { ...row, id: row.id.toLowerCase() } : row));
  w.write();
  expect((await w.does("run", "everything")).exitCode).toBe(3);
  // One goes and five are new: the four who wait are neither missing nor new.
  const others = [95, 96, 97, 98, 99].map((n) => ({ id: `C${n}`, name: `Zqcanary Works ${n}` }));
  w.customers = [...w.customers.slice(0, -1), ...others];
  w.write();
  expect((await w.does("run", "everything")).calls).toEqual({ E2: 5 });
});

it.each([
  ["the same", {}],
  ["another", { branch: "South" }],
])("a run adds up where a customer who looks like another stands twice (%s content)", async (_what, other) => {
  const w = await world({ records: company(3, 0) });
  w.orders = [];
  w.write();
  expect((await ran(w)).exitCode).toBe(0);
  const [first = { id: "" }, ...rest] = w.customers;
  w.customers = [{ ...first, id: "c1" }, { ...first, id: "c1", ...other }, ...rest];
  w.write();
  for (let run = 0; run < 3; run += 1) {
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls], ended.stdout).toEqual([3, {}]);
    expect((await w.run("plan")).exitCode).not.toBe(6);
  }
  w.customers = [first, ...rest];
  w.write();
  expect((await ran(w)).exitCode).toBe(0);
  expect(await quarantined(w)).toEqual([]);
});
