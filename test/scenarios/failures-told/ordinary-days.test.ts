import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { quarantined, ran } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { fileSource, filesOf, lines, writeFiles } from "../../support/world/crm-files.ts";
import { company, customerRow, type Crm } from "../../support/world/crm.ts";

const codes = async (w: World): Promise<string[]> =>
  (await quarantined(w)).map(({ code, key }: Parsed): string => `${key?.id ?? "?"} ${code}`).toSorted();

function configure(w: World, change: (configuration: Parsed) => void): void {
  const file = w.path("crm-sync.yaml");
  const configuration: Parsed = parse(readFileSync(file, "utf8"));
  change(configuration);
  writeFileSync(file, stringify(configuration));
}

it("one who leaves and one who is new are no doubt while others wait", { timeout: 60_000 }, async () => {
  const w = await world({ records: company(30, 0) });
  w.orders = [];
  w.write();
  expect((await ran(w)).exitCode).toBe(0);
  w.customers = w.customers.map((row, at) => (at < 4 ? { ...row, id: row.id.toLowerCase() } : row));
  w.write();
  expect((await w.does("run", "everything")).exitCode).toBe(3);
  w.customers = [...w.customers.slice(0, -1), { id: "C99", name: "Zqcanary Works 99" }];
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls], ended.stdout).toEqual([3, { E2: 1 }]);
});

it("a person with a password who looks like another is taken in when somebody says so", async () => {
  const records = company(1, 6);
  records.staff = records.staff.map((one, at) => ({ ...one, mobile: `+4917700700700${at}`, password: null }));
  const w = await world({ records });
  expect((await ran(w)).exitCode).toBe(0);
  w.staff = w.staff.map((one, at) =>
    at === 2 ? { ...one, id: "S9", login: "zqcanarynine", password: "zqcanary-password-1A" } : one,
  );
  w.write();
  await w.does("run", "everything");
  const [row] = await quarantined(w);
  expect(row).toMatchObject({ code: "looks-like-another", key: { id: "S9" } });
  expect((await w.run("quarantine", "retry", row.id)).exitCode).toBe(0);
  await w.does("run", "everything");
  expect(await codes(w)).toEqual([]);
});

it("a customer of another source who has the same name is nobody's other self", async () => {
  const w = await world({ records: company(8, 0) });
  w.orders = [];
  w.staff = [];
  w.write();
  configure(w, ({ sources }) => {
    sources.shop = { ...fileSource("shop", ["customers"]), namespace: "shop" };
  });
  const first = [customerRow({ id: "W1", name: "Zqcanary Works W1" }), customerRow({ id: "W2", name: "Zqcanary W2" })];
  writeFiles(w.path("shop"), { "customers.ndjson": lines(first) });
  const begun = await w.does("run", "everything");
  expect(begun.exitCode, begun.stdout + begun.stderr).toBe(0);
  // Another shop of a chain, whose name a customer of the other source has.
  const more = [...first, customerRow({ id: "W3", name: "Zqcanary Works 1", address: "Zqcanary Street 99" })];
  writeFiles(w.path("shop"), { "customers.ndjson": lines(more) });
  await w.does("run", "everything");
  expect(await codes(w)).toEqual([]);
});

it("a line that goes is no doubt where an unusable row has the same digit", async () => {
  const crm: Crm = { ...company(1, 1), staff: [] };
  crm.orders = [
    {
      id: "O1",
      customer: "C1",
      assets: ["1"],
      products: [
        { id: "2", parent: "1" },
        { id: "3", parent: "1" },
      ],
    },
  ];
  const w = await world({ records: crm });
  Object.assign(w, { staff: [] });
  w.write();
  configure(w, (configuration) => {
    configuration.sources.crm = fileSource("tables", ["customers", "orders"], "csv");
    configuration.policies = { orders: { ended: "apply" } };
  });
  const write = (change: (name: string, text: string) => string): void => {
    const files = Object.entries(filesOf("csv", crm, ["customers", "orders"]));
    writeFiles(w.path("tables"), Object.fromEntries(files.map(([name, text]) => [name, change(name, text)])));
  };
  write((_name, text) => text);
  expect((await ran(w)).exitCode).toBe(0);
  // An order that has nothing to do with it: its date cannot be read.
  write((name, text) => {
    if (name === "orders.csv") return `${text}O77,C1,false,2026-13-31\n`;
    return name === "products.csv" ? text.replace(/^O1,3,.*\n/mu, "") : text;
  });
  await w.does("run", "everything");
  expect((await codes(w)).filter((code) => code.startsWith("O1 "))).toEqual([]);
});

it.each([
  [
    "is cancelled and placed anew",
    (orders: Crm["orders"]): Crm["orders"] => [
      { ...orders[0], id: "O1", customer: "C1", assets: ["O1-A1"], cancelled: true },
      { ...orders[0], id: "O9", customer: "C1", assets: ["O9-A1"] },
      ...orders.slice(1),
    ],
  ],
])("an order that %s is placed", async (_what, change) => {
  const records = company(2, 1);
  records.staff = [];
  records.orders = records.orders.map((order) => ({
    ...order,
    products: [{ id: `${order.id}-A1-P`, parent: `${order.id}-A1`, name: "CAD" }],
  }));
  const w = await world({ records });
  expect((await ran(w)).exitCode).toBe(0);
  w.orders = change(w.orders).map((order) => ({
    ...order,
    products: [{ id: `${order.id}-A1-P`, parent: `${order.id}-A1`, name: "CAD" }],
  }));
  w.write();
  const ended = await w.does("run", "everything");
  expect(await codes(w)).toEqual([]);
  expect(ended.calls).toMatchObject({ E5: 1 });
});

it("more nodes in two orders of one customer are no doubt", async () => {
  const records = company(1, 1);
  records.staff = [];
  const order = (id: string, nodes: number): Crm["orders"][number] => ({
    id,
    customer: "C1",
    assets: [`${id}-A1`],
    products: [{ id: `${id}-A1-P`, parent: `${id}-A1`, name: "CAD", nodes }],
  });
  records.orders = [order("O1", 3), order("O2", 5)];
  const w = await world({ records });
  expect((await ran(w)).exitCode).toBe(0);
  w.orders = [order("O1", 5), order("O2", 8)];
  w.write();
  await w.does("run", "everything");
  expect(await codes(w)).toEqual([]);
});

it("two people who wait since yesterday and three of today do not stop everybody else", async () => {
  const records = company(1, 40);
  records.staff = records.staff.map((one, at) => ({ ...one, mobile: `+49177007007${100 + at}` }));
  const w = await world({ records });
  expect((await ran(w)).exitCode).toBe(0);
  const other = (from: number, to: number): void => {
    w.staff = w.staff.map((one, at) =>
      at >= from && at < to ? { ...one, name: `Zqcanary Other ${at}`, mobile: `+49177007008${100 + at}` } : one,
    );
    w.write();
  };
  other(0, 2);
  expect((await w.does("run", "everything")).exitCode).toBe(3);
  other(2, 5);
  w.staff = [...w.staff, { id: "S77", customer: "C1", login: "zqcanarynew", name: "Zqcanary New", holds: [] }];
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls], ended.stdout).toEqual([3, { M1: 1 }]);
});
