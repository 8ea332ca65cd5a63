import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import type { Period } from "../../src/report/statement/shape.ts";
import { cells, statementOf } from "../inquiry/statement/statement-world.ts";
import { northwindConfig, northwindDirectory, northwindIsMissing, northwindIsThere } from "../support/northwind.ts";
import { crmSync } from "../support/program.ts";
import { folder, openSandbox } from "../support/world/start.ts";

/** Neither file quotes anything that is looked at here; what stands before the address has no commas. */
function rowsOf(directory: string, file: string): string[][] {
  const [, ...lines] = readFileSync(join(directory, file), "utf8").trim().split(/\r?\n/u);
  return lines.map((line) => line.split(","));
}

const digits = (text: string, decimals: number): number => Math.round(Number(text) * 10 ** decimals);

/**
 * The orders with what their lines cost (price times quantity, less the discount, to the cent), and with what they cost
 * in all, freight included.
 */
function withMoney(directory: string): void {
  const totals = new Map<string, number>();
  const [heading = "", ...details] = readFileSync(join(directory, "order-details.csv"), "utf8").trim().split(/\r?\n/u);
  const lines = details.map((line) => {
    const [order = "", , price = "", quantity = "", discount = ""] = line.split(",");
    const cents = Math.round((digits(price, 2) * Number(quantity) * (100 - digits(discount, 2))) / 100);
    totals.set(order, (totals.get(order) ?? 0) + cents);
    return `${line},${(cents / 100).toFixed(2)}`;
  });
  writeFileSync(join(directory, "order-details.csv"), `${[`${heading},amount`, ...lines].join("\n")}\n`);
  const [columns = "", ...orders] = readFileSync(join(directory, "orders.csv"), "utf8").trim().split(/\r?\n/u);
  const priced = orders.map((line) => {
    const [order = "", , , , , , , freight = ""] = line.split(",");
    return `${(((totals.get(order) ?? 0) + digits(freight, 2)) / 100).toFixed(2)},${line}`;
  });
  writeFileSync(join(directory, "orders.csv"), `${[`total,${columns}`, ...priced].join("\n")}\n`);
}

/** The configuration of Northwind, with the money of orders and lines. */
function configured(path: string): string {
  const text = readFileSync(northwindConfig, "utf8")
    .replace(
      "nodes: quantity\n",
      "nodes: quantity\n                amount: { money: amount, currency: USD, decimals: 2 }\n",
    )
    .replace("instances:\n", "amount: { money: total, currency: USD, decimals: 2 }\n          instances:\n");
  writeFileSync(path, text);
  return path;
}

interface Month {
  month: string;
  lines: number;
  cents: number;
  freight: number;
  nodes: number;
  orders: number;
}

/** What was sold in each month, by SQL over the files as they are. */
function months(): Month[] {
  const database = new Database(":memory:");
  database.exec(`create table line (order_id text, price real, quantity integer, discount real);
    create table ordered (order_id text, date text, freight real)`);
  const line = database.prepare("insert into line values (?, ?, ?, ?)");
  for (const [order, , price, quantity, discount] of rowsOf(northwindDirectory, "order-details.csv"))
    line.run(order, Number(price), Number(quantity), Number(discount));
  const ordered = database.prepare("insert into ordered values (?, ?, ?)");
  for (const row of rowsOf(northwindDirectory, "orders.csv")) ordered.run(row[0], row[3], Number(row[7]));
  const found = database
    .prepare<[], Month>(
      `with sold as (
         select order_id, count(*) as lines, sum(quantity) as nodes,
           sum((cast(round(price * 100) as integer) * quantity * (100 - cast(round(discount * 100) as integer)) + 50)
             / 100) as cents
         from line group by order_id)
       select substr(date, 1, 7) as month, sum(lines) as lines, sum(cents) as cents, sum(nodes) as nodes,
         sum(cast(round(freight * 100) as integer)) as freight, count(*) as orders
       from ordered join sold using (order_id) group by 1 order by 1`,
    )
    .all();
  database.close();
  return found;
}

function periodOf(month: string): Period {
  const first = Temporal.PlainDate.from(`${month}-01`);
  const instant = (date: Temporal.PlainDate): string => `${date.toString()}T00:00:00.000Z`;
  return { label: month, zone: "UTC", from: instant(first), to: instant(first.add({ months: 1 })) };
}

const sum = (values: readonly unknown[]): number => values.reduce<number>((total, value) => total + Number(value), 0);

describe.runIf(northwindIsThere)("Northwind's money", () => {
  it("comes, month by month of the CRM's dates, to what its files come to by SQL", { tags: "long" }, async () => {
    const here = folder();
    const data = join(here, "data");
    cpSync(northwindDirectory, data, { recursive: true });
    withMoney(data);
    const sandbox = await openSandbox({});
    const ledger = join(here, "ledger.db");
    const environment = { CRM_SYNC__sources__northwind__directory: data };
    const place = { config: configured(join(here, "northwind.yaml")), sandbox: sandbox.url, ledger, environment };
    const run = await crmSync(place, "--json", "run", "customers-and-orders");
    expect(run.exitCode, run.stdout.slice(-2000) + run.stderr.slice(-2000)).toBe(0);
    const all = months();
    expect([all.length, sum(all.map(({ orders }) => orders)), sum(all.map(({ lines }) => lines))]).toEqual([
      23, 830, 2155,
    ]);
    for (const { month, ...expected } of all) {
      const { lines, orders } = await statementOf(ledger, "orders", periodOf(month), { by: "crm-date" });
      const [amounts, nodes] = [cells(lines, "amount").flat(), cells(lines, "nodes").flat()];
      const [totals, ofLines] = [cells(orders, "amount_after").flat(), cells(orders, "lines_amount").flat()];
      expect(
        {
          lines: lines?.length,
          cents: sum(amounts),
          nodes: sum(nodes),
          freight: sum(totals) - sum(ofLines),
          orders: orders?.length,
        },
        month,
      ).toEqual(expected);
      expect(new Set(cells(lines, "currency").flat())).toEqual(new Set(["USD"]));
    }
    const until = periodOf("1998-06");
    const { by_customer: customers, check } = await statementOf(ledger, "entitlements", until, { by: "crm-date" });
    expect(sum(cells(customers, "nodes_opening").flat())).toBe(sum(all.map(({ nodes }) => nodes)));
    expect(cells(check, "verdict").flat()).toEqual(Array.from({ length: 6 }, () => "agrees"));
  });
});

describe.skipIf(northwindIsThere)("Northwind's money", () => {
  it(northwindIsMissing, () => expect(northwindIsThere).toBe(false));
});
