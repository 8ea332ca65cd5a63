import { expect, it } from "vitest";
import { telling, told } from "../../support/telling.ts";
import { company } from "../../support/world/crm.ts";

const jobs =
  "jobs: { everything: { kind: sync, streams: [customers, orders, staff] }, customers-and-orders: { schedule: null }, staff: { schedule: null }, verify: { schedule: null }, monthly-report: { schedule: null } }\n";

it("a verify that finds six differences where two were told is told", async () => {
  const w = await telling({ records: company(3, 1) });
  w.extra += jobs;
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.sandbox.dropOrders("O2");
  expect((await w.run("run", "verify")).exitCode).toBe(3);
  expect(told(w)).toMatchObject([{ event: "started", kind: "not-as-placed" }]);
  w.sandbox.dropOrders("O1");
  w.sandbox.dropOrders("O3");
  expect((await w.run("run", "verify")).exitCode).toBe(3);
  expect((await w.run("alerts")).stdout).toContain("the ledger and the platform: 6");
  expect(told(w)).toMatchObject([{ event: "grew", kind: "not-as-placed" }]);
});

it("another order that waits for the same reason, in place of one that is done, is told", async () => {
  const w = await telling({ records: company(2, 1) });
  w.extra += jobs;
  w.customers = w.customers.map((row) => (row.id === "C1" ? { ...row, address: null } : row));
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(3);
  expect(JSON.stringify(told(w))).toContain("crm/O1");
  w.customers = w.customers.map((row) => (row.id === "C1" ? { ...row, address: "Zqcanary Road 1" } : row));
  w.customers.push({ id: "C3", address: null });
  w.orders.push({ id: "O3", customer: "C3", assets: ["O3-A1"] });
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(3);
  expect(JSON.stringify(told(w))).toContain("crm/O3");
});
