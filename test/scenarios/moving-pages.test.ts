/** @module-tag long */
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { startService } from "../source/http-service.ts";
import { company, orderRow } from "../support/world/crm.ts";
import { fileSource, mappingOf } from "../support/world/crm-files.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

const size = 3;
const pages = 4;
const kinds = ["page", "offset"] as const;
type Kind = (typeof kinds)[number];
const asked = ["everything", "changes"] as const;
type Asks = (typeof asked)[number];

/** How the pages of the orders are counted, and how many of them come before a page that is asked for. */
const pagings: Record<Kind, { settings: object; before: (query: Record<string, string>) => number }> = {
  page: { settings: { kind: "page" }, before: ({ page = "1" }) => (Number(page) - 1) * size },
  offset: {
    settings: { kind: "offset", sizeParameter: "size", size },
    before: ({ offset = "0" }) => Number(offset),
  },
};

const changes = {
  "is removed before": (w: World) => w.orders.shift(),
  "is inserted before": (w: World) => {
    const [first] = w.orders;
    if (first !== undefined) w.orders.unshift({ ...first, ...nextOrder() });
  },
};

let inserted = 0;
function nextOrder(): Pick<World["orders"][number], "id" | "assets"> {
  inserted += 1;
  return { id: `N${inserted}`, assets: [{ id: `N${inserted}-A1` }] };
}

/** Customers from a file and orders from a service of pages; one whole reading is enough for what is gone. */
function configurationOf(origin: string, kind: Kind, asks: Asks): string {
  const orders = {
    url: `${origin}/orders`,
    key: "id",
    paging: pagings[kind].settings,
    ...(asks === "changes" ? { since: { parameter: "since", changedAt: "changed", overlapMs: 0 } } : {}),
    mapping: mappingOf("orders"),
  };
  return stringify({
    ledger: { path: "ledger.db", sealKey: "env:SEAL_KEY" },
    zone: "UTC",
    log: { level: "warn" },
    limits: { absenceReads: 1, absenceTime: "0s", sourceShrink: 1, taking: { enterprise: { floor: 9, share: 1 } } },
    policies: { orders: { gone: "apply" } },
    sources: { crm: fileSource("data", ["customers"]), shop: { kind: "http", streams: { orders } } },
    jobs: { everything: { kind: "sync", streams: ["customers", "orders"] } },
  });
}

interface Shop {
  w: World;
  /** Moves the list just before this request of a reading is answered. */
  moveAt: (request: number, change: () => void) => void;
  /** Edits every order. */
  editAll: () => void;
}

/** A company whose orders are in a service of pages. */
async function openShop(kind: Kind, asks: Asks): Promise<Shop> {
  const w = await world({ records: { ...company(size * pages, 1), staff: [] } });
  const { before } = pagings[kind];
  let time = Math.floor(Date.now() / 1_000) * 1_000 - 86_400_000;
  const edited = new Map<string, number>();
  let move: { request: number; change: () => void } | undefined;
  let requests = 0;
  const service = await startService(({ query }) => {
    requests += 1;
    if (move?.request === requests) {
      move.change();
      move = undefined;
    }
    for (const { id } of w.orders) if (!edited.has(id)) edited.set(id, time);
    const since = Date.parse(query["since"] ?? "1970-01-01T00:00:00Z");
    const listed = w.orders.filter(({ id }) => (edited.get(id) ?? 0) >= since);
    const at = before(query);
    const rows = listed.slice(at, at + size);
    const body = rows.map((order) => ({
      ...orderRow(order),
      changed: new Date(edited.get(order.id) ?? 0).toISOString(),
    }));
    return { headers: { date: new Date(time).toUTCString() }, body };
  });
  writeFileSync(w.path("crm-sync.yaml"), configurationOf(service.origin, kind, asks));
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

/** The orders that stand in the ledger, with when they were placed. */
function known(w: World): Map<string, string> {
  const rows = w.rows<{ id: string; placedAt: string }>(
    `select r.id, v.body ->> '$.placedAt' as placedAt from record r join record_version v on v.stream = r.stream
       and v.namespace = r.namespace and v.id = r.id and v.version = r.version
     where r.stream = 'orders' and r.state = 'current'`,
  );
  return new Map(rows.map(({ id, placedAt }) => [id, placedAt]));
}

const listed = (w: World): Map<string, string> =>
  new Map(w.orders.map((order) => [order.id, new Date(orderRow(order).placedAt ?? "").toISOString()]));

function wasComplete(w: World): boolean {
  const [read] = w.rows<{ complete: number }>(
    "select complete from source_read where source = 'shop' order by number desc limit 1",
  );
  return read?.complete === 1;
}

const all = kinds.flatMap((kind) =>
  asked.flatMap((asks) => Object.entries(changes).map(([how, change]) => ({ kind, asks, how, change }))),
);

describe("an order that was seen and whose page moved", () => {
  it.each(all)(
    "is never lost where one $how any page boundary of a list by $kind that is asked for $asks, and what was not read " +
      "whole is said",
    async ({ kind, asks, change }) => {
      const { w, moveAt, editAll } = await openShop(kind, asks);
      expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E5: size * pages } });
      let incomplete = 0;
      for (let boundary = 2; boundary <= pages; boundary += 1) {
        if (asks === "changes") editAll();
        const before = listed(w);
        moveAt(boundary, () => void change(w));
        const moved =
          boundary % 2 === 0
            ? await w.does("run", "everything")
            : await w.does(
                "resync",
                "--source",
                "shop",
                ...(asks === "changes" ? ["--since", "2026-01-01T00:00:00Z"] : []),
              );
        const stayed = [...listed(w).keys()].filter((id) => before.has(id));
        const isComplete = wasComplete(w);
        const told = `boundary ${boundary}: ${moved.stderr}`;
        expect(moved.exitCode, told).toBe(isComplete ? 0 : 7);
        if (!isComplete) incomplete += 1;
        if (!isComplete) expect(moved.stderr + moved.stdout, told).toContain("moved while it was read");
        const afterMove = known(w);
        expect(
          stayed.filter((id) => !afterMove.has(id)),
          told,
        ).toEqual([]);
        if (isComplete) for (const id of stayed) expect(afterMove.get(id), told).toBe(listed(w).get(id));

        const still = await w.does("run", "everything");
        expect(still.exitCode, `after boundary ${boundary}: ${still.stderr}`).toBe(0);
        const afterwards = known(w);
        for (const [id, placedAt] of listed(w)) expect(afterwards.get(id), `${id}, ${told}`).toBe(placedAt);
      }
      // Everything was bought once, and what stayed stands.
      // Pages that overlap show that they moved; those that are read again have what moved in the second pass.
      if (kind === "offset") expect(incomplete).toBeGreaterThan(0);
      expect(w.sandbox.duplicates().orders).toEqual([]);
      const { orders } = w.sandbox.state();
      for (const id of listed(w).keys())
        expect(orders[id], id).toMatchObject({ calls: 1, licenseOrders: 1, assets: 1 });
    },
  );
});
