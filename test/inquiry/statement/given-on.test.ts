import { expect, it } from "vitest";
import type { Order } from "../../../src/crm/model.ts";
import { asset, product } from "../../support/world/instances.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord, staffRecord } from "../../support/world/records.ts";
import { cells, eur, month, placeOrder, statementOf } from "./statement-world.ts";

const number = "555";

const order = (id: string, gmsPid: string): Order => ({
  ...orderRecord(id, "C1", {
    instances: [
      asset(`A-${id}`, { licenseType: "cloud_account", quantity: 1, assetNumbers: [number] }),
      product(`P-${id}`, `A-${id}`, { name: gmsPid, gmsPid, amount: eur(100) }),
    ],
  }),
  amount: eur(100),
  placedAt: "2026-10-02T08:00:00Z",
});

const grant = (operationId: string) =>
  ({
    type: "asset-granted",
    assetNumber: number,
    staff: key("S1"),
    customer: key("C1"),
    memberGlobalId: "M1",
    origin: "granted",
    operationId,
  }) as const;

const october = { at: "2026-10-02T10:00:00.000Z", asOf: "2026-10-31T22:00:00.000Z" };

/** In October a seat of an order with a number that the CRM gave it. */
async function seatOf(id: string): Promise<LedgerWorld> {
  const world = await LedgerWorld.open();
  world.now = Date.parse(october.at);
  await world.read("customers", [{ customers: customerRecord("C1") }]);
  await world.link(key("C1"), "E1");
  await give(world, id, "G-OLD");
  await world.read("staff", [{ staff: staffRecord("S1", "C1", { assets: [] }) }]);
  await world.ledger.state.record(key("C1"), [grant("op_g")]);
  return world;
}

async function give(world: LedgerWorld, id: string, gmsPid: string): Promise<void> {
  await world.read("orders", [{ orders: order(id, gmsPid) }]);
  await world.ledger.state.write((rows, at) =>
    rows.order.numbers.fixNumbers(
      key(id),
      key("C1"),
      [{ instanceId: `A-${id}`, quantity: 1, given: [number], wireNumber: (digits) => digits }],
      at,
    ),
  );
  await placeOrder(world, order(id, gmsPid), []);
}

/** In November it ends, and the CRM gives the number to another order. */
async function giveOn(world: LedgerWorld, from: string, to: string): Promise<void> {
  world.now = Date.parse("2026-11-02T10:00:00Z");
  const item = { instanceId: `A-${from}`, unit: 0, number, product: null, channelOrderId: null, licenseOrderId: null };
  const of = { order: key(from), customer: key("C1"), operationId: "op_e", origin: "sent", products: 1 } as const;
  await world.ledger.state.record(key("C1"), [
    { type: "asset-revoked", assetNumber: number, operationId: "op_r" },
    { type: "order-removed", ...of, items: [item] },
    { type: "numbers-ended", numbers: [number] },
  ]);
  world.now = Date.parse("2026-11-03T10:00:00Z");
  await give(world, to, "G-NEW");
  await world.ledger.state.record(key("C1"), [grant("op_g2")]);
}

async function told(path: string, label: string, asOf?: string): Promise<unknown> {
  const { lines, licences } = await statementOf(path, "orders", month(label), { asOf });
  const { entitlements, check } = await statementOf(path, "entitlements", month(label), { asOf });
  const seats = ["seats_opening", "seats_granted", "seats_revoked", "seats_closing"];
  return {
    lines: cells(lines, "event", "crm_order", "units", "asset_numbers"),
    licences: cells(licences, "event", "asset_number", "crm_order", "channel_order_id"),
    seats: cells(entitlements, "product", ...seats, "verdict"),
    check: cells(check, "verdict").filter(([verdict]) => verdict !== "agrees"),
  };
}

it("a number that the CRM gives to another order later leaves the months before as they were", async () => {
  const world = await seatOf("O1");
  const before = await told(world.path, "2026-10");
  expect(before).toEqual({
    lines: [["placed", "crm/O1", 1, [number]]],
    licences: [["granted", number, "crm/O1", "CO-O1"]],
    seats: [["G-OLD", 0, 1, 0, 1, "agrees"]],
    check: [],
  });
  await giveOn(world, "O1", "O2");
  expect(await told(world.path, "2026-10")).toEqual(before);
  expect(await told(world.path, "2026-11")).toEqual({
    lines: [
      ["ended", "crm/O1", -1, [number]],
      ["placed", "crm/O2", 1, [number]],
    ],
    licences: [
      ["revoked", number, "crm/O1", "CO-O1"],
      ["granted", number, "crm/O2", "CO-O2"],
    ],
    seats: [
      ["G-NEW", 0, 1, 0, 1, "agrees"],
      ["G-OLD", 1, 0, 1, 0, "agrees"],
    ],
    check: [],
  });
  expect(await told(world.path, "2026-10", october.asOf), "as of the end of October").toEqual(before);
});

it("a seat counts for the product of the order that it was of, where a statement is limited to one", async () => {
  const world = await seatOf("O1");
  await giveOn(world, "O1", "O2");
  const of = async (product: string, label: string): Promise<unknown> =>
    cells((await statementOf(world.path, "orders", month(label), { filters: { product } }))["licences"], "event");
  expect(await of("G-OLD", "2026-10")).toEqual([["granted"]]);
  expect(await of("G-NEW", "2026-10")).toEqual([]);
  expect(await of("G-OLD", "2026-11")).toEqual([["revoked"]]);
  expect(await of("G-NEW", "2026-11")).toEqual([["granted"]]);
});
