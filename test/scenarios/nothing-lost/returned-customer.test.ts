import { mkdirSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { waitsFor } from "../../support/asking.ts";
import { world, worldConfiguration, type World } from "../../support/cli.ts";
import { fileSource, lines } from "../../support/world/crm-files.ts";
import { company, customerRow } from "../../support/world/crm.ts";

/** The customer C2 is gone from the CRM, and an order and a person of it came meanwhile: both wait for it. */
async function customerGone(): Promise<World> {
  const w = await world({ records: { ...company(2, 1), staff: [] } });
  Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.customers = w.customers.filter(({ id }) => id !== "C2");
  w.write();
  await w.run("run", "everything");
  w.orders.push({ id: "N2", customer: "C2", assets: ["N2-A1"] });
  w.staff.push({ id: "P2", customer: "C2", holds: ["N2-A1"] });
  w.write();
  expect((await w.does("run", "everything")).calls).toEqual({});
  expect(await waitsFor(w, "N2")).toBe("customer.gone");
  return w;
}

const comesBack = [{ id: "C1" }, { id: "C2" }].map(({ id }) => ({ id, name: `Zqcanary Works ${id.slice(1)}` }));
const served = { E5: 1, M1: 1, M9: 1 };

it("what waited for a customer that was gone is done once the customer is back as it was", async () => {
  const w = await customerGone();
  w.customers = comesBack;
  w.write();
  const back = await w.does("run", "everything");
  expect([back.exitCode, back.calls], back.stdout).toEqual([0, served]);
});

it("the customer comes back in a row that cannot be used, which is cured later", async () => {
  const w = await customerGone();
  w.customers = comesBack;
  w.write();
  const rows = w.customers.map(customerRow).map((row) => (row.id === "C2" ? { ...row, name: undefined } : row));
  writeFileSync(w.path("data/customers.ndjson"), lines(rows));
  const bad = await w.does("run", "everything");
  expect([bad.exitCode, bad.calls], bad.stdout).toEqual([3, {}]);
  w.write();
  const cured = await w.does("run", "everything");
  expect([cured.exitCode, cured.calls], cured.stdout).toEqual([0, served]);
});

it("the customer comes back from another source", async () => {
  const w = await customerGone();
  mkdirSync(w.path("other"));
  writeFileSync(w.path("other/customers.ndjson"), lines(comesBack.slice(1).map(customerRow)));
  const other = stringify({ sources: { other: fileSource("other", ["customers"]) } });
  writeFileSync(
    w.path("crm-sync.yaml"),
    `${worldConfiguration.replace("sources:\n", other)}jobs:\n  everything: { kind: sync, streams: [customers, orders, staff] }\n`,
  );
  const back = await w.does("run", "everything");
  expect([back.exitCode, back.calls], back.stdout).toEqual([0, served]);
});

it("an order that is given to a customer that is there is placed, and one of a gone customer waits", async () => {
  const w = await customerGone();
  w.orders = w.orders.map((order) => (order.id === "N2" ? { ...order, customer: "C1" } : order));
  w.staff = w.staff.map((person) => ({ ...person, customer: "C1" }));
  w.write();
  const moved = await w.does("run", "everything");
  expect([moved.exitCode, moved.calls], moved.stdout).toEqual([0, served]);
});

it("a person who was gone and is back as before gets the asset of an order that came meanwhile", async () => {
  const w = await world({ records: company(2, 1) });
  Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
  const { staff } = w;
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.staff = staff.filter(({ customer }) => customer !== "C1");
  Object.assign(w.environment, { CRM_SYNC__limits__sourceShrink: "1" });
  w.write();
  expect((await w.does("run", "everything")).calls).toEqual({ M9: 1 });
  w.orders.push({ id: "N1", customer: "C1", assets: ["N1-A1"] });
  w.write();
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
  w.staff = staff;
  w.write();
  const back = await w.does("run", "everything");
  expect([back.exitCode, back.calls], back.stdout).toEqual([0, { M9: 1 }]);
});
