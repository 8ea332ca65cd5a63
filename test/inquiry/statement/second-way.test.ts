import { expect, it } from "vitest";
import type { Order } from "../../../src/crm/model.ts";
import { asset, product } from "../../support/world/instances.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord } from "../../support/world/records.ts";
import { cells, month, placeOrder, statementOf } from "./statement-world.ts";

/** What a CRM has: order, customer, day, currency, licence type, units, product number, nodes, minor units. */
const source = [
  ["O1", "C1", 2, "EUR", "cloud_account", 3, "G-1", 5, 100_01],
  ["O2", "C2", 3, "JPY", "softkey", 2, "G-2", 1, 999],
  ["O3", "C1", 4, "KWD", "cloud_account", 1, "G-1", 2, 12_345],
  ["O4", "C2", 5, "EUR", "softkey", 4, "G-1", 7, 10_003],
  ["O5", "C1", 6, "EUR", "cloud_account", 2, "G-1", 3, 7],
] as const;

function orderOf([id, customer, day, currency, licenseType, quantity, gmsPid, nodes, minor]: (typeof source)[number]) {
  const amount = { currency, minor };
  const instances = [
    asset(`A-${id}`, { licenseType, quantity, limitEnd: "2027-09-30T10:00:00Z" }),
    product(`P-${id}`, `A-${id}`, { name: gmsPid, gmsPid, nodes, amount }),
  ];
  return { ...orderRecord(id, customer, { instances }), amount, placedAt: `2026-10-0${day}T08:00:00Z` } satisfies Order;
}

it("lines, orders, entitlements and the CRM's side are what the rows of the CRM add up to", async () => {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-07T10:00:00Z");
  await world.read("customers", [{ customers: customerRecord("C1") }, { customers: customerRecord("C2") }]);
  for (const id of ["C1", "C2"]) await world.link(key(id), `E-${id}`);
  for (const row of source)
    await placeOrder(world, orderOf(row), [{ assetId: `A-${row[0]}`, quantity: row[5], licenseType: row[4] }]);

  const { lines, orders } = await statementOf(world.path, "orders", month("2026-10"));
  const placing = [
    "crm_order",
    "crm_date",
    "customer",
    "channel_order_id",
    "license_order_id",
    "license_type",
  ] as const;
  const figures = ["gms_pid", "units", "nodes_per_unit", "nodes", "term_to", "amount", "currency"] as const;
  let last = 0;
  expect(cells(lines, ...placing, "enterprise_global_id", "asset_numbers", ...figures)).toEqual(
    source.map(([id, customer, day, currency, type, units, pid, nodes, minor]) => {
      const numbers = Array.from({ length: units }, () => `8${String((last += 1)).padStart(9, "0")}`);
      const named = [`crm/${id}`, `2026-10-0${day}`, `crm/${customer}`, `CO-${id}`, `L-${id}-1`, type];
      return [...named, `E-${customer}`, numbers, pid, units, nodes, units * nodes, "2027-09-30", minor, currency];
    }),
  );
  const sums = [
    "events",
    "amount_before",
    "amount_after",
    "currency",
    "lines",
    "lines_amount",
    "lines_currency",
  ] as const;
  expect(cells(orders, "crm_order", "crm_date", "channel_order_id", ...sums, "verdict")).toEqual(
    source.map(([id, , day, currency, , , , , minor]) => {
      const named = [`crm/${id}`, `2026-10-0${day}`, `CO-${id}`];
      return [...named, 1, null, minor, currency, 1, minor, currency, "agrees"];
    }),
  );

  const granted = new Map<string, [units: number, nodes: number]>();
  for (const [, customer, , , type, units, pid, nodes] of source) {
    const name = [`crm/${customer}`, type, pid].join(" ");
    const [before, nodesBefore] = granted.get(name) ?? [0, 0];
    granted.set(name, [before + units, nodesBefore + units * nodes]);
  }
  const { entitlements } = await statementOf(world.path, "entitlements", month("2026-10"));
  const of = (what: string): string[] =>
    ["opening", "granted", "revoked", "adjusted", "closing"].map((figure) => `${what}_${figure}`);
  const told = cells(
    entitlements,
    "customer",
    "license_type",
    "gms_pid",
    ...of("units"),
    ...of("nodes"),
    ...of("seats"),
  );
  expect(new Map(told.map(([customer, type, pid, ...rest]) => [[customer, type, pid].join(" "), rest]))).toEqual(
    new Map(
      [...granted].map(([name, [units, nodes]]) => [
        name,
        [0, units, 0, 0, units, 0, nodes, 0, 0, nodes, 0, 0, 0, 0, 0],
      ]),
    ),
  );

  const { summary } = await statementOf(world.path, "reconciliation", month("2026-10"));
  for (const currency of ["EUR", "JPY", "KWD"]) {
    const own = source.filter((row) => row[3] === currency);
    const amount = own.reduce((sum, row) => sum + row[8], 0);
    for (const level of ["order", "product"]) {
      const rows = (summary ?? []).filter((row) => row["level"] === level && row["currency"] === currency);
      const total = (name: string): number => rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0);
      const what = `${level} ${currency}`;
      expect([total("crm_amount"), total("sent_amount"), total("observed_amount")], what).toEqual([amount, amount, 0]);
      if (level === "order") continue;
      const [units, nodes] = [
        own.reduce((sum, row) => sum + row[5], 0),
        own.reduce((n, row) => n + row[5] * row[7], 0),
      ];
      expect([total("crm_units"), total("crm_nodes"), total("crm_count")], what).toEqual([units, nodes, units]);
      expect([total("sent_units"), total("sent_nodes"), total("units_crm_less_sent")], what).toEqual([units, nodes, 0]);
    }
  }
});
