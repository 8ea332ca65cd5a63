import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { quarantined, ran } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { fileSource, filesOf, writeFiles } from "../../support/world/crm-files.ts";
import { company, type Crm } from "../../support/world/crm.ts";

const streams = ["customers", "orders"] as const;

/** A CRM whose orders have their lines in files of their own, and in which everything that is cancelled is removed. */
async function withLines(): Promise<{ w: World; crm: Crm }> {
  const crm: Crm = { ...company(1, 1), staff: [] };
  crm.orders = [
    {
      id: "O1",
      customer: "C1",
      assets: ["O1-A1"],
      products: [
        { id: "CAD", parent: "O1-A1" },
        { id: "PLOT", parent: "O1-A1" },
      ],
    },
  ];
  const w = await world({ records: crm });
  Object.assign(w, { staff: [] });
  w.write();
  const file = w.path("crm-sync.yaml");
  const configuration: Parsed = parse(readFileSync(file, "utf8"));
  configuration.sources.crm = fileSource("tables", streams, "csv");
  writeFileSync(file, stringify({ ...configuration, policies: { orders: { ended: "apply" } } }));
  return { w, crm };
}

it("a line is not deleted while a row that no order has may be it", async () => {
  const { w, crm } = await withLines();
  const write = (change: (name: string, text: string) => string): void => {
    const files = Object.entries(filesOf("csv", crm, streams));
    writeFiles(w.path("tables"), Object.fromEntries(files.map(([name, text]) => [name, change(name, text)])));
  };
  write((_name, text) => text);
  expect((await ran(w)).exitCode).toBe(0);
  const moved = (name: string, text: string): string =>
    name === "products.csv" ? text.replace("O1,PLOT,", "O1B,PLOT,") : text;
  write(moved);
  for (let run = 0; run < 3; run += 1) {
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls], ended.stdout).toEqual([3, {}]);
  }
  const waiting = await quarantined(w);
  const codes = waiting.map(({ code }: Parsed): string => code);
  expect(new Set(codes)).toEqual(new Set(["line-may-have-moved", "orphan-detail"]));
  const of = (code: string): Parsed => waiting.find((row: Parsed) => row.code === code);
  const [order, row] = [of("line-may-have-moved"), of("orphan-detail")];
  expect(order.message).toBe(
    `crm/O1 no longer has the line PLOT; the row at ${row.place}, which cannot be used, may be that line`,
  );
  const { stdout } = await w.run("explain", "order", "O1");
  expect(stdout).toContain(`correct in the CRM the row that crm-sync quarantine show ${order.id} names`);
  expect(stdout).not.toContain("correct the id");
  // Nobody has the line any more: now it is deleted.
  write((name, text) => (name === "products.csv" ? text.replace(/^O1,PLOT,.*\n/mu, "") : text));
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls]).toEqual([0, { E5: 1 }]);
  expect(await quarantined(w)).toEqual([]);
});

it("a line whose id is made of two columns is not deleted while a row that no order has may be it", async () => {
  const { w, crm } = await withLines();
  const file = w.path("crm-sync.yaml");
  const configuration: Parsed = parse(readFileSync(file, "utf8"));
  const lists: Parsed[] = configuration.sources.crm.streams.orders.mapping.instances;
  for (const { kind, fields } of lists) if (kind === "product") fields.id = { template: "{order}/{id}" };
  writeFileSync(file, stringify(configuration));
  const write = (change: (name: string, text: string) => string): void => {
    const files = Object.entries(filesOf("csv", crm, streams));
    writeFiles(w.path("tables"), Object.fromEntries(files.map(([name, text]) => [name, change(name, text)])));
  };
  write((_name, text) => text);
  const first = await w.does("run", "everything");
  expect(first.exitCode, first.stdout).toBe(0);
  write((name, text) => (name === "products.csv" ? text.replace("O1,PLOT,", "O1B,PLOT,") : text));
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls]).toEqual([3, {}]);
});

it("believing new ids of orders does not delete a line that may have moved", async () => {
  const { w, crm } = await withLines();
  const write = (change: (name: string, text: string) => string): void => {
    const files = Object.entries(filesOf("csv", crm, streams));
    writeFiles(w.path("tables"), Object.fromEntries(files.map(([name, text]) => [name, change(name, text)])));
  };
  const other = (n: number, id: string, placedAt: string): Crm["orders"][number] => ({
    id,
    customer: "C1",
    assets: [`L${n}-A1`],
    placedAt,
  });
  const numbers = [1, 2, 3, 4, 5, 6];
  const [first = other(0, "O1", "")] = crm.orders;
  crm.orders = [first, ...numbers.map((n) => other(n, `L${n}`, "2026-10-05T08:00:00Z"))];
  write((_name, text) => text);
  expect((await ran(w)).exitCode).toBe(0);
  crm.orders = [first, ...numbers.map((n) => other(n, `N${n}`, "2026-10-06T08:00:00Z"))];
  write((name, text) => (name === "products.csv" ? text.replace("O1,PLOT,", "O1B,PLOT,") : text));
  const doubt = await w.does("run", "everything");
  expect([doubt.exitCode, doubt.calls]).toEqual([7, {}]);
  const [text = "", option = "", what = ""] =
    /[^\n]*\n[^\n]*`crm-sync run \S+ (--accept-\S+) (\S+)`/u.exec(doubt.stdout) ?? [];
  const believed = await w.does("run", "everything", option, what);
  const waiting = (await quarantined(w)).map(({ code }: Parsed): string => code);
  expect([believed.calls["E5"], waiting], text).toEqual([6, expect.arrayContaining(["line-may-have-moved"])]);
});
