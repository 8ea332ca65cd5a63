import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { waitsFor } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { lines } from "../../support/world/crm-files.ts";
import { company, customerRow } from "../../support/world/crm.ts";

it("an order that comes before its customer is placed once the customer is there", async () => {
  const w = await world({ records: { ...company(1, 1), staff: [] } });
  const { customers } = w;
  w.customers = [];
  w.write();
  const early = await w.does("run", "everything");
  expect([early.exitCode, early.calls], early.stdout).toEqual([3, {}]);
  expect(await waitsFor(w, "O1")).toBe("customer.blocked");
  w.customers = customers;
  w.write();
  const placed = await w.does("run", "everything");
  expect([placed.exitCode, placed.calls], placed.stdout).toEqual([0, { E2: 1, E5: 1, E9: 1 }]);
});

it("a person whose asset is not ordered yet is added, and gets it when it is", { tags: "long" }, async () => {
  const { orders, ...records } = company(1, 1);
  const w = await world({ records: { ...records, orders: [] } });
  const early = await w.does("run", "everything");
  expect([early.exitCode, early.calls], early.stdout).toEqual([3, { E2: 1, M1: 1 }]);
  w.orders = orders;
  w.write();
  const given = await w.does("run", "everything");
  expect([given.exitCode, given.calls], given.stdout).toEqual([0, { E5: 1, E9: 1, M9: 1 }]);
});

it("nothing is done for a customer whose row cannot be used, and all of it once it can", { tags: "long" }, async () => {
  const w = await world({ records: company(2, 1) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const n of [1, 2]) w.orders.push({ id: `N${n}`, customer: `C${n}`, assets: [`N${n}-A1`] });
  w.write();
  const rows = w.customers.map(customerRow).map((row) => (row.id === "C1" ? { ...row, name: undefined } : row));
  writeFileSync(w.path("data/customers.ndjson"), lines(rows));
  const half = await w.does("run", "everything");
  expect([half.exitCode, half.calls], half.stdout).toEqual([3, { E5: 1 }]);
  expect(await waitsFor(w, "N1")).toBe("customer.blocked");
  w.write();
  const whole = await w.does("run", "everything");
  expect([whole.exitCode, whole.calls], whole.stdout).toEqual([0, { E5: 1 }]);
});
