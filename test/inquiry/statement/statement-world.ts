import type { StatementKind } from "../../../src/inquiry/statement/statement.ts";
import type { Instance, Money, Order, RecordKey } from "../../../src/crm/model.ts";
import type { StateChange } from "../../../src/engine/model/state.ts";
import type { Period, Row, StatementRequest } from "../../../src/report/statement/shape.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { asset, bundle, product } from "../../support/world/instances.ts";
import { customerRecord, key, orderRecord, staffRecord } from "../../support/world/records.ts";
import { stated } from "./stated.ts";

export const zone = "Europe/Berlin";

/** A month in that zone. */
export function month(label: string): Period {
  const first = Temporal.PlainDate.from(`${label}-01`);
  const instant = (date: Temporal.PlainDate): string =>
    new Date(date.toZonedDateTime(zone).epochMilliseconds).toISOString();
  return { label, zone, from: instant(first), to: instant(first.add({ months: 1 })) };
}

/** The rows of a statement of a period by its parts, as the ledger at a path gives them. */
export async function statementOf(
  path: string,
  kind: StatementKind,
  period: Period,
  fields: Partial<StatementRequest> = {},
): Promise<Record<string, Row[]>> {
  return await stated(path, kind, { period, ...fields });
}

/** The cells of some columns of each row. */
export function cells(rows: readonly Row[] | undefined, ...columns: string[]): unknown[][] {
  return (rows ?? []).map((row) => columns.map((column) => row[column] ?? null));
}

export const eur = (minor: number): Money => ({ currency: "EUR", minor });
export const usd = (minor: number): Money => ({ currency: "USD", minor });

/** 2 units of Draw (5 nodes, 200.00) and, in a package in a package, Plot (1 node, 99.99), until 30 September. */
export function drawing(drawAmount = eur(200_00), quantity = 2): Instance[] {
  return [
    asset("A1", { licenseType: "cloud_account", quantity, limitEnd: "2027-09-30T21:59:59Z" }),
    product("P1", "A1", { name: "Draw", gmsPid: "G-DRAW", nodes: 5, amount: drawAmount }),
    bundle("K1", "A1", { number: "M-1", name: "Suite" }),
    bundle("K2", "K1", { number: "M-2", name: "Extras", parentNumber: "M-1" }),
    product("P2", "K2", {
      name: "Plot",
      gmsPid: "G-PLOT",
      nodes: 1,
      amount: eur(99_99),
      trial: true,
      trialEnd: "2027-09-30T22:00:00Z",
    }),
  ];
}

/** One unit of Cloud (10 nodes, 1,000.01 USD) and one, of another licence type, of Draw (1 node, 50.00 USD). */
function clouds(): Instance[] {
  return [
    asset("B1", { licenseType: "cloud_account" }),
    product("Q1", "B1", { name: "Cloud", gmsPid: undefined, appKey: "app-cloud", nodes: 10, amount: usd(1_000_01) }),
    asset("B2", { licenseType: "softkey" }),
    product("Q2", "B2", { name: "Draw", gmsPid: "G-DRAW", nodes: 1, amount: usd(50_00) }),
  ];
}

/** What happens in the world below, by its time. */
export const times = {
  placed: "2026-09-30T22:40:00.000Z",
  branch: "2026-10-15T10:00:00.000Z",
  amended: "2026-10-20T10:00:00.000Z",
  lost: "2026-10-31T23:30:00.000Z",
  ended: "2026-11-10T10:00:00.000Z",
  repriced: "2026-11-20T10:00:00.000Z",
} as const;

/**
 * Three months of two customers. C1 has O1 (euros; of 1 October 00:30 in Berlin, which is September in UTC) and O3,
 * which was found on the platform and of which the CRM gives no amounts; C2 has O2 (dollars). In October C1 moves to
 * another branch and buys a third unit for O1, whose Draw costs more for it and whose Plot does not; on 1 November the
 * platform does not show Plot of its first unit any more; in November the third unit ends and Draw costs less; a seat
 * is granted in October and revoked in November; one of C2 was found there and is found gone. `isOtherMoney`: O2 costs
 * more in the CRM since October.
 */
export async function threeMonths({ isOtherMoney = false } = {}): Promise<LedgerWorld> {
  const world = await LedgerWorld.open();
  const at = (instant: string): void => void (world.now = Date.parse(instant));
  at("2026-09-20T10:00:00Z");
  await world.read("customers", [{ customers: customerRecord("C1") }, { customers: customerRecord("C2") }]);
  await world.link(key("C1"), "E1");
  await world.link(key("C2"), "E2");
  at(times.placed);
  await placeOrder(world, orderOf("O1", "C1", drawing(), eur(299_99), "2026-09-30T22:30:00Z"), [
    { assetId: "A1", quantity: 2, licenseType: "cloud_account" },
  ]);
  at("2026-10-05T10:00:00Z");
  await placeOrder(world, orderOf("O2", "C2", clouds(), usd(1_060_01), "2026-10-02T08:00:00Z"), [
    { assetId: "B1", quantity: 1, licenseType: "cloud_account" },
    { assetId: "B2", quantity: 1, licenseType: "softkey" },
  ]);
  await adopt(world, orderOf("O3", "C1", [asset("D1"), product("R1", "D1", { name: "Old" })], undefined, undefined));
  await world.read("staff", [
    { staff: staffRecord("S1", "C1", { assets: [{ instanceId: "A1" }] }) },
    { staff: staffRecord("S2", "C2", { assets: [] }) },
  ]);
  await grant(world, { assetNumber: "8000000001", staff: "S1", customer: "C1", operationId: "op_grant" });
  await grant(world, { assetNumber: "8000000003", staff: "S2", customer: "C2", operationId: null });
  at(times.branch);
  await world.read("customers", [
    { customers: customerRecord("C1", { branchCode: "B2" }) },
    { customers: customerRecord("C2") },
  ]);
  at(times.amended);
  if (isOtherMoney)
    await world.read("orders", [{ orders: orderOf("O2", "C2", clouds(), usd(1_070_01), "2026-10-02T08:00:00Z") }]);
  await amendAndEnd(world, at);
  return world;
}

async function amendAndEnd(world: LedgerWorld, at: (instant: string) => void): Promise<void> {
  const changed = orderOf("O1", "C1", drawing(eur(300_00), 3), eur(399_99), "2026-09-30T22:30:00Z");
  await world.read("orders", [{ orders: changed }]);
  await world.ledger.state.record(key("C1"), [{ type: "numbers-taken", numbers: ["8000000009"], operationId: "op_p" }]);
  await world.ledger.state.write((rows, at) =>
    rows.order.numbers.fixNumbers(
      key("O1"),
      key("C1"),
      [{ instanceId: "A1", quantity: 3, given: [], wireNumber: (digits) => digits }],
      at,
    ),
  );
  const of = { order: key("O1"), customer: key("C1") };
  const third = { instanceId: "A1", unit: 2, number: "8000000009" };
  await world.ledger.state.record(key("C1"), [
    priced(of, 2, [
      ["P1", eur(200_00), eur(300_00)],
      [null, eur(299_99), eur(399_99)],
    ]),
    {
      ...of,
      type: "order-bought",
      channelOrderId: "CO-O1-2",
      version: 2,
      items: [{ ...third, products: ["P1"], packages: ["K1"] }],
      licenceOrders: [licence(1, "cloud_account", "L-O1-2")],
      operationId: "op_amend",
      origin: "sent",
      products: 2,
    },
  ]);
  at(times.lost);
  const plot = { instanceId: "A1", unit: 0, number: "8000000001", product: "P2", channelOrderId: "CO-O1" };
  await world.ledger.state.record(
    key("C1"),
    [
      {
        ...of,
        type: "order-removed",
        items: [{ ...plot, licenseOrderId: "L-O1-1" }],
        operationId: null,
        origin: "found",
        products: 1,
      },
    ],
    { kind: "learned", subject: "customer:crm/C1", body: {} },
  );
  at(times.ended);
  await world.read("orders", [
    { orders: orderOf("O1", "C1", drawing(eur(240_01), 2), eur(399_99), "2026-09-30T22:30:00Z") },
  ]);
  await world.ledger.state.record(key("C1"), [
    { type: "asset-revoked", assetNumber: "8000000001", operationId: "op_revoke" },
    {
      ...of,
      type: "order-removed",
      items: [{ ...third, product: null, channelOrderId: null, licenseOrderId: null }],
      operationId: "op_end",
      origin: "sent",
      products: 2,
    },
  ]);
  await world.ledger.state.record(key("C2"), [{ type: "asset-revoked", assetNumber: "8000000003", operationId: null }]);
  at(times.repriced);
  await world.ledger.state.record(key("C1"), [priced(of, 3, [["P1", eur(300_00), eur(240_01)]])]);
}

function priced(
  of: { order: RecordKey; customer: RecordKey },
  version: number,
  amounts: readonly (readonly [product: string | null, from: Money, to: Money])[],
): StateChange {
  return { ...of, type: "order-priced", version, items: amounts.map(([product, from, to]) => ({ product, from, to })) };
}

function orderOf(
  id: string,
  customer: string,
  instances: Instance[],
  amount: Money | undefined,
  placedAt: string | undefined,
): Order {
  return { ...orderRecord(id, customer, { instances }), amount, placedAt };
}

function licence(sequence: number, licenseType: string, licenseOrderId: string) {
  return { sequence, licenseType, platformCustomerId: "d", licenseOrderId };
}

/** Reads an order and places it, with numbers of the pool and a licence order for each asset. */
export async function placeOrder(
  world: LedgerWorld,
  order: Order,
  assets: readonly { assetId: string; quantity: number; licenseType: string }[],
): Promise<string> {
  const { id } = order;
  const customer = key(order.customerId);
  await world.read("orders", [{ orders: order }]);
  for (const { assetId, quantity } of assets) {
    const taken = holdable(world, quantity);
    await world.ledger.state.record(customer, [{ type: "numbers-taken", numbers: taken, operationId: "op_pool" }]);
    await world.ledger.state.write((rows, at) =>
      rows.order.numbers.fixNumbers(
        key(id),
        customer,
        [{ instanceId: assetId, quantity, given: [], wireNumber: (digits) => digits }],
        at,
      ),
    );
  }
  const operation = (await world.plan(customer)).find(({ subject }) => subject === `order:crm/${id}`);
  const desired = world.ledger.state.load(customer).orders.find((item) => item.key.id === id);
  if (operation === undefined || desired === undefined) throw new Error(`nothing places ${id}`);
  return await world.done(operation, [
    {
      type: "order-placed",
      order: key(id),
      customer,
      channelOrderId: `CO-${id}`,
      bodyHash: desired.bodyHash,
      version: 1,
      products: 1,
      operationId: null,
      origin: "placed",
      licenceOrders: assets.map(({ licenseType }, index) => licence(index + 1, licenseType, `L-${id}-${index + 1}`)),
    },
  ]);
}

const lastNumber = new WeakMap<LedgerWorld, number>();

function holdable(world: LedgerWorld, count: number): string[] {
  const last = lastNumber.get(world) ?? 0;
  lastNumber.set(world, last + count);
  return Array.from({ length: count }, (_, index) => `8${String(last + index + 1).padStart(9, "0")}`);
}

async function adopt(world: LedgerWorld, order: Order): Promise<void> {
  await world.read("orders", [{ orders: order }]);
  const change: StateChange = {
    type: "order-placed",
    order: key(order.id),
    customer: key(order.customerId),
    channelOrderId: `CO-${order.id}`,
    bodyHash: "h",
    version: 1,
    products: 1,
    operationId: null,
    origin: "adopted",
    licenceOrders: [licence(1, "softkey", `L-${order.id}`)],
  };
  await world.ledger.state.record(key(order.customerId), [change], {
    kind: "learned",
    subject: `customer:crm/${order.customerId}`,
    body: {},
  });
}

async function grant(
  world: LedgerWorld,
  of: { assetNumber: string; staff: string; customer: string; operationId: string | null },
): Promise<void> {
  await world.ledger.state.record(key(of.customer), [
    {
      type: "asset-granted",
      assetNumber: of.assetNumber,
      staff: key(of.staff),
      customer: key(of.customer),
      memberGlobalId: `M-${of.staff}`,
      origin: of.operationId === null ? "adopted" : "granted",
      operationId: of.operationId,
    },
  ]);
}

/** An order of C2 that the CRM dates on the last second of October in Berlin, placed whenever this is called. */
export async function placeLate(world: LedgerWorld): Promise<Order> {
  const late = {
    ...orderRecord("O9", "C2", {
      instances: [asset("L1"), product("L2", "L1", { name: "Late", gmsPid: "G-LATE", amount: usd(7_00) })],
    }),
    amount: usd(7_00),
    placedAt: "2026-10-31T22:59:59Z",
  };
  await placeOrder(world, late, [{ assetId: "L1", quantity: 1, licenseType: "cloud_account" }]);
  return late;
}
