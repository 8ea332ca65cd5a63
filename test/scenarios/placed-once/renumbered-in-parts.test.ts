import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { startService } from "../../source/http-service.ts";
import { quarantined, ran } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { fileSource, mappingOf } from "../../support/world/crm-files.ts";
import { company, orderRow, type Crm } from "../../support/world/crm.ts";

/** The same order under another id, with another date: no order says the same. */
const renumbered = (order: Crm["orders"][number]): Crm["orders"][number] => ({
  ...order,
  id: `N${order.id}`,
  placedAt: "2026-10-06T08:00:00Z",
});

async function withCompany(records: Crm): Promise<World> {
  const w = await world({ records });
  Object.assign(w.environment, { CRM_SYNC__policies__assignments__revoked: "report" });
  expect((await ran(w)).exitCode).toBe(0);
  return w;
}

/** Eight of 30 orders get other ids. A run reads as many rows as named, all in this order, the next one all of them. */
async function cutAfter(rows: number, order: (one: Crm["orders"]) => Crm["orders"]): Promise<unknown[]> {
  const w = await withCompany(company(30, 1));
  w.orders = order(w.orders.map((one, at) => (at < 8 ? renumbered(one) : one)));
  w.write();
  const file = w.path("data/orders.ndjson");
  const whole = readFileSync(file, "utf8");
  writeFileSync(file, `${whole.split("\n").slice(0, rows).join("\n")}\n{"id":`);
  const cut = await w.does("run", "everything");
  writeFileSync(file, whole);
  const ended = await w.does("run", "everything");
  return [cut.calls, ended.exitCode, ended.calls];
}

it("a read that is cut buys nothing if all orders before the cut have new ids", { timeout: 60_000 }, async () => {
  expect(await cutAfter(4, (orders) => orders)).toEqual([{}, 7, {}]);
});

it("orders with new ids count together with those of an earlier read that was cut", { timeout: 60_000 }, async () => {
  const known = (orders: Crm["orders"]): Crm["orders"] => [...orders.slice(4), ...orders.slice(0, 4)].toReversed();
  expect(await cutAfter(6, known)).toEqual([{ E5: 4 }, 7, {}]);
});

it("orders that one read misses are not bought if the next one has as many new ids", { timeout: 60_000 }, async () => {
  const w = await withCompany(company(30, 1));
  const before = w.orders;
  w.orders = before.slice(5);
  w.write();
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
  w.orders = [...before.slice(0, 5).map(renumbered), ...before.slice(5)];
  w.write();
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 7, calls: {} });
});

/** Orders by id from a service that is down after the first page, as long as `isDown`. */
async function byPages(count: number, size: number): Promise<{ w: World; shop: { isDown: boolean } }> {
  const w = await world({ records: { ...company(count, 1), staff: [] } });
  const shop = { isDown: false };
  const service = await startService(({ query }) => {
    const after = query["after"] ?? "";
    if (shop.isDown && after !== "") return { status: 503, body: "" };
    const rows = w.orders.map(orderRow).toSorted((one, other) => (one.id < other.id ? -1 : 1));
    return { body: rows.filter(({ id }) => id > after).slice(0, size) };
  });
  const orders = {
    url: `${service.origin}/orders`,
    key: "id",
    paging: { kind: "keyset", parameter: "after", sizeParameter: "size", size },
    mapping: mappingOf("orders"),
  };
  writeFileSync(
    w.path("crm-sync.yaml"),
    stringify({
      ledger: { path: "ledger.db", sealKey: "env:SEAL_KEY" },
      zone: "UTC",
      sources: { crm: fileSource("data", ["customers"]), shop: { kind: "http", retries: 0, streams: { orders } } },
      jobs: { everything: { kind: "sync", streams: ["customers", "orders"] } },
    }),
  );
  const first = await ran(w);
  expect([first.exitCode, first.calls["E5"]], JSON.stringify(first.said)).toEqual([0, count]);
  return { w, shop };
}

async function readsFirstPage({ w, shop }: Awaited<ReturnType<typeof byPages>>): Promise<void> {
  shop.isDown = true;
  const cut = await w.does("run", "everything");
  expect([cut.exitCode, cut.calls], cut.stdout).toEqual([7, {}]);
  shop.isDown = false;
}

describe("a read that continues after a cut", () => {
  it("has one order under another id, which waits although the first part met it under its earlier id", async () => {
    const { w, shop } = await byPages(6, 2);
    await readsFirstPage({ w, shop });
    w.orders = w.orders.map((order) => (order.id === "O2" ? { ...order, id: "O9" } : order));
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls], ended.stdout).toEqual([3, {}]);
    const [row, ...others] = await quarantined(w);
    expect([row.code, others]).toEqual(["looks-like-another", []]);
    expect(row.message).toContain("crm/O2 is missing in this part of the read");
  });

  it("buys nothing if as many orders as the first part met have new ids", async () => {
    const { w, shop } = await byPages(12, 6);
    await readsFirstPage({ w, shop });
    const first = new Set(
      w.orders
        .map(({ id }) => id)
        .toSorted()
        .slice(0, 6),
    );
    w.orders = w.orders.map((order) =>
      first.has(order.id) ? { ...order, id: `P${order.id}`, placedAt: "2026-10-06T08:00:00Z" } : order,
    );
    for (let run = 0; run < 2; run += 1) {
      const ended = await w.does("run", "everything");
      expect([ended.exitCode, ended.calls], ended.stdout).toEqual([7, {}]);
    }
  });

  it("leaves many new orders to a read of the whole list, which shows that none is missing", async () => {
    const { w, shop } = await byPages(12, 6);
    await readsFirstPage({ w, shop });
    const more = w.orders
      .slice(0, 6)
      .map((order) => ({ ...order, id: `P${order.id}`, placedAt: "2026-10-06T08:00:00Z" }));
    w.orders = [
      ...w.orders,
      ...more.map((order) => ({
        ...order,
        assets: [`${order.id}-A1`],
        products: [{ id: `${order.id}-P`, parent: `${order.id}-A1` }],
      })),
    ];
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls], ended.stdout).toEqual([7, {}]);
    const next = await w.does("run", "everything");
    expect([next.exitCode, next.calls], next.stdout).toEqual([0, { E5: 6 }]);
  });
});
