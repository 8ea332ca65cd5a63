import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { quarantined } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { readOrderBodies } from "../../support/platform-view.ts";
import { fileSource } from "../../support/world/crm-files.ts";
import { changeFile } from "../../support/world/start.ts";
import { company } from "../../support/world/crm.ts";

const product = {
  id: "line",
  parentId: { template: "A-{no}" },
  name: "product",
  gmsPid: "product",
  type: { value: "tool" },
  nodes: "quantity",
  timeUnit: { value: "YEAR" },
  timeUnitQuantity: { value: 1 },
  term: { value: "1-0-0" },
};

const orderMapping = {
  id: "no",
  customerId: { value: "C1" },
  placedAt: { date: "placed", format: "epoch_ms" },
  instances: [
    { kind: "asset", one: { id: { template: "A-{no}" }, licenseType: { value: "softkey" } } },
    { kind: "product", one: product },
  ],
};

const row = { no: "O1", placed: 1777716000000, line: "L1", product: "CAD", quantity: 2 };

/** A company with one customer, whose orders come from a source of their own, with other fields in its mapping. */
async function shop(
  source: object,
  files: Record<string, string>,
  { fields = {}, nodes = "quantity", ...more }: { fields?: object; nodes?: unknown } = {},
): Promise<World> {
  const w = await world({ records: { customers: company(1, 0).customers, orders: [], staff: [] } });
  const instances = [orderMapping.instances[0], { kind: "product", one: { ...product, nodes } }];
  const mapping = { ...orderMapping, instances, ...fields };
  const orders = { ...source, key: "no", ...more, mapping };
  const isFile = "files" in source;
  const shopSource = isFile
    ? { kind: "file", directory: ".", streams: { orders } }
    : { kind: "sql", connection: { kind: "sqlite", file: "shop.db" }, streams: { orders } };
  const sources = { crm: fileSource("data", ["customers"]), shop: shopSource };
  const jobs = { everything: { kind: "sync", streams: ["customers", "orders"] } };
  const ledger = { path: "ledger.db", sealKey: "env:SEAL_KEY" };
  writeFileSync(w.path("crm-sync.yaml"), stringify({ ledger, zone: "UTC", log: { level: "warn" }, sources, jobs }));
  for (const [name, text] of Object.entries(files)) writeFileSync(w.path(name), text);
  return w;
}

const rows = (...all: object[]): string => all.map((one) => `${JSON.stringify({ ...row, ...one })}\n`).join("");

/** What waits in quarantine after a run that placed so many orders. */
async function waitsAfter(w: World, placed: number): Promise<Parsed[]> {
  const { exitCode, calls, stderr } = await w.does("run", "everything");
  expect([exitCode, calls["E5"] ?? 0], stderr).toEqual([3, placed]);
  const waiting = await quarantined(w);
  return waiting.toSorted((one: Parsed, other: Parsed) => (one.key.id < other.key.id ? -1 : 1));
}

/** What was sent to buy an order. */
async function boughtOf(w: World, order: string): Promise<string> {
  return JSON.stringify(await readOrderBodies(w.sandbox.url, order));
}

describe("a date that no order can have", () => {
  it("is refused with its place, its value and the format that would fit; the other orders are placed", async () => {
    const lines = rows({ no: "E1" }, { no: "E3", placed: 1777716000 }, { no: "E5", placed: "1777716000000" });
    const w = await shop({ files: "orders.ndjson" }, { "orders.ndjson": lines });
    const [waiting, ...others] = await waitsAfter(w, 2);
    expect(others).toEqual([]);
    expect(waiting).toMatchObject({
      place: "orders.ndjson:2",
      key: { id: "E3" },
      field: "placedAt",
      code: "no-such-date",
    });
    expect(waiting.message).toContain("1970-01-21");
    expect(waiting.expected).toContain("from 1990 to 2100");
    expect(waiting.expected).toContain("`epoch_s` gives 2026-05-02");
    expect((await w.run("quarantine", "list")).stdout).toContain("1970-01-21");
  });

  it.each([
    ["an ISO date of the year 202", "0202-05-02", {}],
    ["an ISO date of the year 20026", "+020026-05-02", {}],
    ["an instant of the year 202", "0202-05-02T00:00:00Z", { date: "placed" }],
    ["a day of a pattern", "02.05.0226", { date: "placed", format: "dd.MM.yyyy", zone: "UTC" }],
    ["a day number", 80_000, { date: "placed", format: "excel", zone: "UTC" }],
    ["a time without a format", "0202-05-02T00:00:00Z", "placed"],
    ["an end", "2026-05-02", { plusTerm: { date: "placed", zone: "UTC" }, term: "300-0-0", zone: "UTC" }],
  ])("is refused as %s", async (_what, placed, placedAt) => {
    const expression = typeof placedAt === "object" && !("date" in placedAt) && !("plusTerm" in placedAt);
    const date = expression ? { date: "placed", zone: "UTC" } : placedAt;
    const w = await shop(
      { files: "orders.ndjson" },
      { "orders.ndjson": rows({ no: "E3", placed }) },
      { fields: { placedAt: date } },
    );
    expect(await waitsAfter(w, 0)).toMatchObject([{ key: { id: "E3" }, field: "placedAt", code: "no-such-date" }]);
  });

  it("is refused as the end of a licence, from a database too", async () => {
    const limitEnd = { date: "until", format: "epoch_ms" };
    const fields = { instances: [orderMapping.instances[0], { kind: "product", one: { ...product, limitEnd } }] };
    const w = await shop({ query: "select * from sold" }, {}, { fields });
    changeFile(
      w.path("shop.db"),
      `create table sold (no text, placed integer, line text, product text, quantity decimal(10,3), until integer);
       insert into sold values ('O1', 1777716000000, 'L1', 'CAD', 2, 4102441200000),
       ('O2', 1777716000000, 'L2', 'CAD', 2, 1809252000)`,
    );
    expect(await waitsAfter(w, 1)).toMatchObject([
      { place: "shop/orders, no O2", key: { id: "O2" }, field: "instances[1].limitEnd", code: "no-such-date" },
    ]);
  });
});

describe("a count whose mark could be one of thousands", () => {
  const csv = (quantity: string): string =>
    `no,placed,line,product,quantity\nO1,1777716000000,L1,CAD,2\nO2,1777716000000,L2,CAD,${quantity}\n`;

  it("is refused, and read as the mapping says", async () => {
    const w = await shop({ files: "orders.csv" }, { "orders.csv": csv("2.000") });
    const [waiting] = await waitsAfter(w, 1);
    expect(waiting).toMatchObject({
      place: "orders.csv:3",
      key: { id: "O2" },
      field: "instances[1].nodes",
      code: "not-a-whole-number",
    });
    expect(waiting.expected).toContain('decimalMark: ","');
  });

  it.each([
    ["thousands", { decimalMark: ",", groupMark: "." }, 2_000],
    ["decimals", { decimalMark: "." }, 2],
  ])("is read as one with a mark of %s", async (_what, marks, nodes) => {
    const w = await shop(
      { files: "orders.csv" },
      { "orders.csv": csv("2.000") },
      { nodes: { number: "quantity", ...marks } },
    );
    const { exitCode, calls } = await w.does("run", "everything");
    expect([exitCode, calls["E5"]]).toEqual([0, 2]);
    expect(await boughtOf(w, "O2")).toContain(`"limitConcurrent":${nodes},`);
  });

  it.each([
    ["number", { number: "quantity" }],
    ["multiply", { multiply: ["quantity", 2] }],
  ])("is refused by the operator %s too", async (_name, nodes) => {
    const w = await shop({ files: "orders.csv" }, { "orders.csv": csv("2.000") }, { nodes });
    expect(await waitsAfter(w, 1)).toMatchObject([{ key: { id: "O2" }, code: "not-a-number" }]);
  });

  it("is refused as an amount, and is none where the number is one of JSON", async () => {
    const fields = { amount: { money: "price", currency: "EUR" } };
    const lines =
      rows({ no: "O1", price: "1.230" }) +
      rows({ no: "O2" }).replace('"quantity":2', '"quantity":2.000,"price":1.230') +
      rows({ no: "O3", price: "1.23" });
    const w = await shop({ files: "orders.ndjson" }, { "orders.ndjson": lines }, { fields });
    expect(await waitsAfter(w, 2)).toMatchObject([{ key: { id: "O1" }, field: "amount", code: "not-an-amount" }]);
  });
});

describe("digits", () => {
  it("of a database are kept: what does not fit is refused, and nothing is rounded", async () => {
    const fields = { amount: { money: "price", currency: "EUR" } };
    const w = await shop({ query: "select * from sold" }, {}, { fields });
    changeFile(
      w.path("shop.db"),
      `create table sold (no text, placed integer, line text, product text, quantity decimal(10,0), price decimal(10,2),
       parts decimal(10,3));
       insert into sold values ('O1', 1777716000000, 'L1', 'CAD', 2, 19.9, 1), ('O2', 1777716000000, 'L2', 'CAD', 2, 19.999, 1),
       ('O3', 1777716000000, 'L3', 'CAD', 2.5, 19.9, 1)`,
    );
    expect(await waitsAfter(w, 1)).toMatchObject([
      { key: { id: "O2" }, field: "amount", code: "not-an-amount" },
      { key: { id: "O3" }, field: "instances[1].nodes", code: "not-a-whole-number" },
    ]);
  });

  it("of a number of JSON are kept where it becomes text", async () => {
    const given = rows({ no: "O1" }).replace('"CAD"', "1.10").replace('"L1"', "12345678901234567890");
    const w = await shop({ files: "orders.ndjson" }, { "orders.ndjson": given });
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    const bought = await boughtOf(w, "O1");
    expect(bought).toContain('"1.10"');
    expect(bought).toContain('"12345678901234567890"');
  });
});
