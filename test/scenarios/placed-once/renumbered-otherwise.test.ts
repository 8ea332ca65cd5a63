import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ran } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { company, type Crm } from "../../support/world/crm.ts";
import { fileSource } from "../../support/world/crm-files.ts";
import { parse, stringify } from "yaml";
import { amend, placedOrders, removesAll } from "../../support/world/placed-orders.ts";
import { adds, renewal, runs } from "../../support/world/renewals.ts";

const doubted = ({ stdout }: { stdout: string }): string[] =>
  [...stdout.matchAll(/`crm-sync run \S+ (--accept-\S+ \S+)`/gu)].map(([, option = ""]) => option);

async function withCompany(records: Crm): Promise<World> {
  const w = await world({ records });
  Object.assign(w.environment, { CRM_SYNC__policies__assignments__revoked: "report" });
  expect((await ran(w)).exitCode).toBe(0);
  return w;
}

/** The same order under another id, with another date: no order says the same. */
const renumbered = (order: Crm["orders"][number]): Crm["orders"][number] => ({
  ...order,
  id: `N${order.id}`,
  placedAt: "2026-10-06T08:00:00Z",
});

it("one order that goes at the same time does not make new ids believed", { timeout: 60_000 }, async () => {
  const w = await withCompany(company(30, 1));
  w.orders = w.orders.slice(1).map((order, at) => (at < 10 ? renumbered(order) : order));
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls]).toEqual([7, {}]);
});

it("a read that is cut brings no orders under new ids", async () => {
  const w = await withCompany(company(8, 1));
  w.orders = w.orders.map(renumbered);
  w.write();
  const file = w.path("data/orders.ndjson");
  writeFileSync(file, `${readFileSync(file, "utf8")}{"id":`);
  const ended = await w.does("run", "everything");
  expect(ended.calls).toEqual({});
});

it("lines that get other ids and another date at once are not bought again", async () => {
  const w = await withCompany(company(8, 1));
  w.orders = w.orders.map((order) => ({
    ...order,
    assets: [`${order.id}-B1`],
    placedAt: "2026-10-05T09:00:00Z",
    products: [{ id: `${order.id}-B1-P`, parent: `${order.id}-B1`, name: `Product ${order.id}-A1-P`, nodes: 4 }],
  }));
  w.staff = w.staff.map((person) => ({ ...person, holds: [] }));
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls]).toEqual([7, {}]);
});

it("no second enterprise is made where ids change and names are written otherwise", async () => {
  const w = await withCompany(company(3, 1));
  w.customers = w.customers.map((row) =>
    row.id === "C3" ? row : { ...row, id: row.id.toLowerCase(), name: `${(row.name ?? "").toUpperCase()} ` },
  );
  w.write();
  const ended = await w.does("run", "everything");
  expect(ended.calls["E2"]).toBeUndefined();
});

it("another source that has the same orders under its own ids buys nothing again", async () => {
  const w = await withCompany(company(8, 1));
  const file = w.path("crm-sync.yaml");
  const configuration: Parsed = parse(readFileSync(file, "utf8"));
  const { crm, ...others } = configuration.sources;
  configuration.sources = { crm: fileSource("data", ["customers"]), shop: fileSource("data", ["orders"]), ...others };
  expect(crm).toBeDefined();
  writeFileSync(file, stringify(configuration));
  w.orders = w.orders.map((order) => ({ ...order, id: `N${order.id}` }));
  const text = readFileSync(file, "utf8");
  w.write();
  writeFileSync(file, text);
  const ended = await w.does("run", "everything");
  expect(ended.calls).toEqual({});
});

it("ids that go back to what they were are not taken in", async () => {
  const w = await withCompany(company(8, 1));
  removesAll(w);
  Object.assign(w.environment, {
    CRM_SYNC__policies__orders__deleted: "apply",
    CRM_SYNC__limits__absenceTime: "0s",
  });
  const before = w.orders;
  w.orders = w.orders.map((order) => ({ ...order, id: `N${order.id}` }));
  w.write();
  expect(doubted(await w.does("run", "everything"))).toEqual(["--accept-new-ids crm/orders=8"]);
  expect((await w.does("run", "everything", "--accept-new-ids", "crm/orders=8")).calls).toEqual({ E5: 8 });
  for (let run = 0; run < 4; run += 1) await w.does("run", "everything");
  w.orders = before;
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls]).toEqual([7, {}]);
});

it("a renewal and what it renews are not bought again under other ids", async () => {
  const w = await placedOrders();
  adds(w, renewal("3"));
  await runs(w, 0, { E5: 1 });
  amend(w, "1", { id: "N1" });
  amend(w, "3", { id: "N3", assets: [{ id: "B3", continues: { order: "N1", instance: "A1" } }] });
  for (let run = 0; run < 3; run += 1) {
    const ended = await w.does("run", "everything");
    expect(ended.calls, ended.stdout).toEqual({});
  }
});

it("believing that a source lost orders does not believe the new ids of others", { timeout: 60_000 }, async () => {
  const w = await withCompany(company(40, 1));
  w.orders = w.orders.slice(10);
  w.write();
  const lost = await w.does("run", "everything");
  expect(doubted(lost)).toEqual(["--accept-shrink crm/orders=10"]);
  // Until somebody has looked, eight more have other ids.
  w.orders = w.orders.map((order, at) => (at < 8 ? renumbered(order) : order));
  w.write();
  const ended = await w.does("run", "everything", "--accept-shrink", "crm/orders=10");
  expect([ended.exitCode, ended.calls]).toEqual([7, {}]);
});
