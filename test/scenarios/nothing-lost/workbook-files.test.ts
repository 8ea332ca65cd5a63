import { rmSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { rowsOfCsv, workbook } from "../../support/xlsx.ts";

const job = ["run", "customers-and-orders"];

/** Rows of so many customers, one with a number that begins with zeros. */
const customersOf = (count: number): string[][] => [
  ...rowsOfCsv("number,company,street,zip,city,email,mobile"),
  ...Array.from({ length: count }, (_, n) =>
    `00${n},Bau ${n} GmbH,Weg ${n},0100${n},Bonn,k${n}@example.com,+4915100000001`.split(","),
  ),
];
const ordersOf = (count: number): string[][] => [
  ["order number", "customer number", "order date", "total"],
  ...Array.from({ length: count }, (_, n) => [
    `A${n}`,
    `00${n}`,
    `<c s="1"><v>${46_000 + n}</v></c>`,
    "<c><v>9.5</v></c>",
  ]),
];

it("workbooks are connected by init, ordered by a run, and judged as other files are", async () => {
  const w = await world({ isNew: true });
  const exports = (customers: string[][], orders: string[][]): void => {
    writeFileSync(w.path("customers.xlsx"), workbook({ Customers: customers }));
    writeFileSync(w.path("orders.xlsx"), workbook({ Orders: orders }, { formats: ["dd.mm.yyyy"] }));
  };
  exports(customersOf(20), ordersOf(20));
  rmSync(w.path("crm-sync.yaml"));
  const made = await w.plain("init", "--from", w.path("customers.xlsx"), "--from", w.path("orders.xlsx"));
  expect(made.exitCode, made.stderr).toBe(0);
  const first = await w.does(...job);
  expect([first.exitCode, first.calls], first.stdout).toEqual([0, { E2: 20, E5: 20, E9: expect.any(Number) }]);
  const { customer } = await w.ask("explain", "customer", "001");
  expect(JSON.stringify(customer)).toContain("001");

  exports(customersOf(10), ordersOf(20));
  const shrunk = await w.does(...job);
  expect([shrunk.exitCode, shrunk.calls]).toEqual([7, {}]);

  const orders = ordersOf(20);
  orders[3]?.splice(3, 1, '<c t="e"><v>#N/A</v></c>');
  exports(customersOf(20), orders);
  const broken = await w.does(...job);
  expect([broken.exitCode, broken.calls]).toEqual([3, {}]);
  const { stdout } = await w.run("quarantine", "list");
  expect(stdout).toContain("orders.xlsx[Orders]:4");
  expect(stdout).toContain("the cell D4 holds the error of a formula");

  writeFileSync(w.path("orders.xlsx"), "no workbook");
  const none = await w.does(...job);
  expect([none.exitCode, none.calls]).toEqual([7, {}]);
  expect(none.stderr).toContain("orders.xlsx is no readable XLSX workbook");
});
