import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { quarantined, ran } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { fileSource, mappingOf } from "../../support/world/crm-files.ts";
import { company, orderRow, staffRow, type Crm } from "../../support/world/crm.ts";
import { outcome } from "../../support/world/members.ts";
import { changeFile } from "../../support/world/start.ts";
import { removeFreely } from "../../support/world/undone.ts";

interface Database {
  w: World;
  change: (sql: string) => void;
}

type Streams = readonly ("customers" | "orders" | "staff")[];

/** A database that is asked for changes, and files for everything else. */
async function opened(records: Crm, given: { files: Streams; tables: string; streams: Parsed }): Promise<Database> {
  const w = await world({ records });
  const change = (sql: string): void => changeFile(w.path("erp.db"), sql);
  change(`pragma journal_mode = wal; ${given.tables}`);
  const sources = {
    crm: fileSource("data", given.files),
    erp: { kind: "sql", connection: { kind: "sqlite", file: "erp.db" }, streams: given.streams },
  };
  const jobs = { everything: { kind: "sync", streams: [...given.files, ...Object.keys(given.streams)] } };
  const ledger = { path: "ledger.db", sealKey: "env:SEAL_KEY" };
  writeFileSync(w.path("crm-sync.yaml"), stringify({ ledger, zone: "UTC", sources, jobs }));
  return { w, change };
}

const since = { column: "changed_at", overlap: "0s" };

/** Three orders with two lines each. `O3` is the newest. */
async function withLines(): Promise<Database> {
  const records = company(3, 1);
  records.orders = records.orders.map((order) => ({ ...order, assets: [`${order.id}-A1`, `${order.id}-A2`] }));
  const details = {
    assets: { query: "select * from assets", key: "order" },
    products: { query: "select * from products", key: "order" },
  };
  const orders = { query: "select * from orders", key: "id", since, details, mapping: mappingOf("orders", "csv") };
  const tables = `create table orders (id, customer, cancelled, placedAt, changed_at timestamptz);
    create table assets ("order", id, type); create table products ("order", id, parent, name, pid, nodes)`;
  const given = { files: ["customers"], tables, streams: { orders } } as const;
  const { w, change } = await opened({ ...records, staff: [] }, given);
  for (const { id, customer, cancelled, placedAt, assets, products } of w.orders.map(orderRow)) {
    const at = id === "O3" ? "08:01" : "08:00";
    change(`insert into orders values ('${id}', '${customer}', '${cancelled}', '${placedAt}', '2026-11-20T${at}:00Z')`);
    for (const asset of assets) change(`insert into assets values ('${id}', '${asset.id}', '${asset.type}')`);
    for (const one of products)
      change(
        `insert into products values ('${id}', '${one.id}', '${one.parent}', '${one.name}', '${one.pid}', ${one.nodes})`,
      );
  }
  removeFreely(w);
  expect((await ran(w)).calls["E5"]).toBe(3);
  return { w, change };
}

const lineOf = (order: string, asset: string): string =>
  `update assets set "order" = '${order}' where id = '${asset}';
    update products set "order" = '${order}' where parent = '${asset}'`;
const withoutLine = (asset: string): string =>
  `delete from assets where id = '${asset}'; delete from products where parent = '${asset}'`;
const touched = (order: string, at: string): string =>
  `; update orders set changed_at = '2026-11-${at}T08:00:00Z' where id = '${order}'`;

async function codes(w: World): Promise<Set<string>> {
  return new Set((await quarantined(w)).map(({ code }: Parsed): string => code));
}

it("an order that is read as a change keeps a line that names an order which does not exist", async () => {
  const { w, change } = await withLines();
  change(lineOf("O1x", "O1-A2") + touched("O1", "21"));
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  expect(await codes(w)).toEqual(new Set(["parts-unclear"]));
  // The next run reads all orders, which shows the row.
  for (let run = 0; run < 2; run += 1) {
    expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    expect(await codes(w)).toEqual(new Set(["line-may-have-moved", "orphan-detail"]));
  }
  change(lineOf("O1", "O1-A2"));
  expect(outcome(await w.does("resync", "--source", "erp"))).toEqual([0, {}]);
  expect(await quarantined(w)).toEqual([]);
});

it("a line that an order loses is deleted at once if each row of details has its order", async () => {
  const { w, change } = await withLines();
  change(withoutLine("O1-A2") + touched("O1", "21"));
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  const { reads } = await w.ask("run", "show", "last");
  expect(reads.find(({ stream }: Parsed) => stream === "orders")).toMatchObject({ whole: false });
});

it("a line that an order loses is deleted after a full read if another row of details has no order", async () => {
  const { w, change } = await withLines();
  change(`insert into assets values ('gone', 'other', 'softkey'); ${withoutLine("O1-A2")}${touched("O1", "21")}`);
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  expect(outcome(await w.does("run", "everything"))).toEqual([3, { E5: 1 }]);
  expect(await codes(w)).toEqual(new Set(["orphan-detail"]));
});

/** Three people with a seat each, and the policies as they are shipped. `S3-1` is the newest. */
async function withSeats(): Promise<Database> {
  const details = { holds: { query: "select * from holds", key: "person" } };
  const staff = { query: "select * from person", key: "id", since, details, mapping: mappingOf("staff", "joined") };
  const tables = `create table person (id, customer, login, name, mobile, changed_at timestamptz);
    create table holds (person, asset)`;
  const { w, change } = await opened(company(3, 1), { files: ["customers", "orders"], tables, streams: { staff } });
  for (const { id, customer, login, name, mobile, holds } of w.staff.map(staffRow)) {
    const number = mobile === null ? "null" : `'${mobile}'`;
    const at = id === "S3-1" ? "08:01" : "08:00";
    change(
      `insert into person values ('${id}', '${customer}', '${login}', '${name}', ${number}, '2026-11-20T${at}:00Z')`,
    );
    for (const one of holds) change(`insert into holds values ('${id}', '${one}')`);
  }
  expect((await ran(w)).calls["M9"]).toBe(3);
  return { w, change };
}

it("a person who is read as a change keeps a seat whose row names nobody", async () => {
  const { w, change } = await withSeats();
  change(`update holds set person = 'S1-1x' where person = 'S1-1';
    update person set changed_at = '2026-11-21T08:00:00Z' where id = 'S1-1'`);
  for (let run = 0; run < 2; run += 1) expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  change("update holds set person = 'S1-1' where person = 'S1-1x'");
  expect(outcome(await w.does("resync", "--source", "erp"))).toEqual([0, {}]);
});

it("people who are read as changes keep their seats while the table of seats is empty", async () => {
  const { w, change } = await withSeats();
  change(`create table kept as select * from holds; delete from holds;
    update person set changed_at = '2026-11-21T08:00:00Z' where id in ('S1-1', 'S2-1')`);
  const ended = await w.does("run", "everything");
  expect(outcome(ended)).toEqual([7, {}]);
  expect(ended.stdout).toContain("the source lost 3 of 3 rows of holds");
  change("insert into holds select * from kept");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});
