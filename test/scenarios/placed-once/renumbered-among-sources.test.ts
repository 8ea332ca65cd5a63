import { mkdirSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { quarantined, ran } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { fileSource, lines } from "../../support/world/crm-files.ts";
import { company, orderRow } from "../../support/world/crm.ts";

type Orders = World["orders"];

/** The same order under another id, with another date: no order says the same. */
const renumbered = (order: Orders[number]): Orders[number] => ({
  ...order,
  id: `N${order.id}`,
  placedAt: "2026-10-06T08:00:00Z",
});

interface Sources {
  w: World;
  /** These sources, and no others, have orders now: these. */
  has: (orders: Record<string, Orders>) => void;
}

async function opened(count: number): Promise<Sources> {
  const w = await world({ records: { ...company(count, 1), staff: [] } });
  const has = (orders: Record<string, Orders>): void => {
    const sources = Object.keys(orders).map((name): [string, unknown] => [name, fileSource(name, ["orders"])]);
    const configuration = {
      ledger: { path: "ledger.db", sealKey: "env:SEAL_KEY" },
      zone: "UTC",
      sources: { crm: fileSource("data", ["customers"]), ...Object.fromEntries(sources) },
      jobs: { everything: { kind: "sync", streams: ["customers", "orders"] } },
    };
    writeFileSync(w.path("crm-sync.yaml"), stringify(configuration));
    for (const [name, rows] of Object.entries(orders)) {
      mkdirSync(w.path(name), { recursive: true });
      writeFileSync(w.path(`${name}/orders.ndjson`), lines(rows.map(orderRow)));
    }
  };
  return { w, has };
}

async function expectNothingBought(w: World, exitCode: number): Promise<void> {
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls], ended.stdout).toEqual([exitCode, {}]);
}

describe("orders that pass from one source to another under other ids", () => {
  it("wait if they are few and say the same", async () => {
    const { w, has } = await opened(6);
    has({ aa: w.orders.slice(0, 4), bb: w.orders.slice(4) });
    expect((await ran(w)).exitCode).toBe(0);
    const moved = w.orders.slice(0, 1).map((order) => ({ ...order, id: "N1" }));
    has({ aa: w.orders.slice(1, 4), bb: [...w.orders.slice(4), ...moved] });
    await expectNothingBought(w, 3);
    expect((await quarantined(w)).map(({ code }) => code)).toEqual(["looks-like-another"]);
    await expectNothingBought(w, 3);
  });

  it("are not taken in if they are many", { timeout: 60_000 }, async () => {
    const { w, has } = await opened(32);
    has({ aa: w.orders.slice(0, 28), bb: w.orders.slice(28) });
    expect((await ran(w)).exitCode).toBe(0);
    has({ aa: w.orders.slice(5, 28), bb: [...w.orders.slice(28), ...w.orders.slice(0, 5).map(renumbered)] });
    await expectNothingBought(w, 7);
  });
});

describe("orders of a source that was removed", () => {
  it("are not bought again from the source that replaces it", async () => {
    const { w, has } = await opened(8);
    has({ aa: w.orders });
    expect((await ran(w)).exitCode).toBe(0);
    has({ bb: w.orders.map(renumbered) });
    await expectNothingBought(w, 7);
  });

  it("are not bought again from a source that had others before", async () => {
    const { w, has } = await opened(16);
    has({ aa: w.orders.slice(0, 8), bb: w.orders.slice(8) });
    expect((await ran(w)).exitCode).toBe(0);
    has({ bb: [...w.orders.slice(0, 8).map(renumbered), ...w.orders.slice(8)] });
    await expectNothingBought(w, 7);
  });

  it("do not make new orders doubted if another source has them under the same ids", async () => {
    const { w, has } = await opened(16);
    has({ aa: w.orders.slice(0, 10) });
    expect((await ran(w)).exitCode).toBe(0);
    has({ bb: w.orders });
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls["E5"]], ended.stdout).toEqual([0, 6]);
  });
});
