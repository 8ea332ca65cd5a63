/** @module-tag long */
import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { startService } from "../../source/http-service.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { fileSource, mappingOf } from "../../support/world/crm-files.ts";
import { company, orderRow } from "../../support/world/crm.ts";

const size = 2;
const pages = 3;
const since = { parameter: "since", changedAt: "changed", overlapMs: 0 };

type Query = Record<string, string>;

/** How the pages of the orders are counted, and how many orders come before a page. */
const kinds = {
  page: { settings: { kind: "page" }, before: ({ page = "1" }: Query) => (Number(page) - 1) * size },
  offset: {
    settings: { kind: "offset", sizeParameter: "size", size },
    before: ({ offset = "0" }: Query) => Number(offset),
  },
};
type Kind = keyof typeof kinds;

/** Customers from a file and orders from a service of pages. */
function configurationOf(origin: string, kind: Kind, ofChanges: boolean): string {
  const orders = {
    url: `${origin}/orders`,
    key: "id",
    paging: kinds[kind].settings,
    ...(ofChanges ? { since } : {}),
    mapping: mappingOf("orders"),
  };
  return stringify({
    ledger: { path: "ledger.db", sealKey: "env:SEAL_KEY" },
    zone: "UTC",
    log: { level: "warn" },
    limits: { absenceReads: 1, absenceTime: "0s", sourceShrink: 1, removals: { enterprise: { floor: 9, share: 1 } } },
    policies: { orders: { deleted: "apply" } },
    sources: { crm: fileSource("data", ["customers"]), shop: { kind: "http", streams: { orders } } },
    jobs: { everything: { kind: "sync", streams: ["customers", "orders"] } },
  });
}

interface Shop {
  w: World;
  /** Changes the list just before this request of a reading is answered. */
  moveAt: (request: number, change: () => void) => void;
  editAll: () => void;
}

async function openShop(kind: Kind, ofChanges: boolean): Promise<Shop> {
  const w = await world({ records: { ...company(size * pages, 1), staff: [] } });
  let time = w.clock.now() - 86_400_000;
  const edited = new Map<string, number>();
  let move: { request: number; change: () => void } | undefined;
  let requests = 0;
  const service = await startService(({ query }) => {
    requests += 1;
    if (move?.request === requests) move.change();
    for (const { id } of w.orders) if (!edited.has(id)) edited.set(id, time);
    const from = Date.parse(query["since"] ?? "1970-01-01T00:00:00Z");
    const listed = w.orders.filter(({ id }) => (edited.get(id) ?? 0) >= from);
    const at = kinds[kind].before(query);
    const body = listed.slice(at, at + size).map((order) => ({
      ...orderRow(order),
      changed: new Date(edited.get(order.id) ?? 0).toISOString(),
    }));
    return { headers: { date: new Date(time).toUTCString() }, body };
  });
  writeFileSync(w.path("crm-sync.yaml"), configurationOf(service.origin, kind, ofChanges));
  return {
    w,
    moveAt: (request, change) => {
      requests = 0;
      move = { request, change };
    },
    editAll: () => {
      time += 3_600_000;
      for (const order of w.orders) {
        order.placedAt = new Date(time).toISOString();
        edited.set(order.id, time);
      }
    },
  };
}

/** When an order was placed, as the program has it. */
async function known(w: World, id: string): Promise<unknown> {
  const { versions } = await w.ask("explain", "order", id);
  const newest = versions.find(({ to }: Parsed) => to === null);
  return newest?.fields.find(({ name }: Parsed) => name === "placedAt")?.value;
}

const cells = (["page", "offset"] as const).flatMap((kind) =>
  [false, true].flatMap((ofChanges) => ["removed", "inserted"].map((how) => ({ kind, ofChanges, how }))),
);

it.each(cells)(
  "loses no order of a list by $kind (changes only: $ofChanges) when one is $how at a page boundary",
  async ({ kind, ofChanges, how }) => {
    const { w, moveAt, editAll } = await openShop(kind, ofChanges);
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E5: size * pages } });
    for (let boundary = 2; boundary <= pages; boundary += 1) {
      if (ofChanges) editAll();
      const before = new Set(w.orders.map(({ id }) => id));
      moveAt(boundary, () => {
        if (how === "removed") w.orders.shift();
        else
          w.orders.unshift({ ...orderRow(w.orders[0] ?? { id: "", customer: "", assets: [] }), ...newOrder(boundary) });
      });
      const moved = await w.does("run", "everything");
      const { reads } = await w.ask("status");
      const { complete } = reads.find(({ source }: Parsed) => source === "shop");
      expect(moved.exitCode, moved.stderr).toBe(complete ? 0 : 7);
      for (const { id } of w.orders.filter((order) => before.has(order.id)))
        expect(await known(w, id), "no order is lost").toBeDefined();
      expect((await w.does("run", "everything")).exitCode).toBe(0);
      for (const order of w.orders)
        expect(await known(w, order.id)).toBe(new Date(orderRow(order).placedAt).toISOString());
    }
    expect(w.sandbox.duplicates().orders).toEqual([]);
    const { orders } = w.sandbox.state();
    for (const { id } of w.orders) expect(orders[id]).toMatchObject({ calls: 1, licenseOrders: 1, assets: 1 });
  },
);

const newOrder = (number: number): Pick<World["orders"][number], "id" | "assets" | "products"> => ({
  id: `N${number}`,
  assets: [`N${number}-A1`],
  products: [{ id: `N${number}-P`, parent: `N${number}-A1` }],
});
