import { describe, expect, it } from "vitest";
import type { Instance, Order } from "../../../src/crm/model.ts";
import type { StateChange } from "../../../src/engine/model/state.ts";
import { asset, product } from "../../support/world/instances.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord } from "../../support/world/records.ts";
import { cells, eur, month, placeOrder, statementOf } from "./statement-world.ts";

const draw = (quantity: number, minor: number): Instance[] => [
  asset("A1", { licenseType: "cloud_account", quantity }),
  product("P1", "A1", { name: "Draw", gmsPid: "G-DRAW", amount: eur(minor) }),
];
const plot = (minor: number): Instance[] => [
  asset("A2", { licenseType: "cloud_account", quantity: 1 }),
  product("P2", "A2", { name: "Plot", gmsPid: "G-PLOT", amount: eur(minor) }),
];
const order = (instances: Instance[], whole: number): Order => ({
  ...orderRecord("O1", "C1", { instances }),
  amount: eur(whole),
  placedAt: "2026-10-02T08:00:00Z",
});
const of = { order: key("O1"), customer: key("C1") };
const learned = { kind: "learned", subject: "customer:crm/C1", body: {} } as const;

async function placed(quantity: number, minor: number): Promise<LedgerWorld> {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-02T10:00:00Z");
  await world.read("customers", [{ customers: customerRecord("C1") }]);
  await world.link(key("C1"), "E1");
  await placeOrder(world, order(draw(quantity, minor), minor), [
    { assetId: "A1", quantity, licenseType: "cloud_account" },
  ]);
  return world;
}
const bought = (fields: Partial<Extract<StateChange, { type: "order-bought" }>>): StateChange => ({
  ...of,
  type: "order-bought",
  channelOrderId: "CO-O1-2",
  version: 2,
  items: [],
  licenceOrders: [],
  operationId: "op_a",
  origin: "sent",
  products: 1,
  ...fields,
});

describe("the shares of units in what a line costs", () => {
  it("charge nothing tenfold where the CRM wants 1 unit of 10 for the same money and another product", async () => {
    const world = await placed(10, 1_000_00);
    world.now = Date.parse("2026-10-20T10:00:00Z");
    await world.read("orders", [{ orders: order([...draw(1, 1_000_00), ...plot(50_00)], 1_050_00) }]);
    await world.ledger.state.record(key("C1"), [
      { ...of, type: "order-priced", version: 2, items: [{ product: null, from: eur(1_000_00), to: eur(1_050_00) }] },
      bought({ items: [{ instanceId: "A2", unit: 0, number: "8000000099", products: ["P2"], packages: [] }] }),
    ]);
    // Holdable 9 units away is held by a limit until November.
    const { lines } = await statementOf(world.path, "orders", month("2026-10"));
    expect((lines ?? []).reduce((sum, row) => sum + Number(row["amount"] ?? 0), 0)).toBe(1_050_00);
  });

  it("a unit is found gone while a smaller quantity that the CRM wants is held", async () => {
    const world = await placed(10, 1_000_00);
    world.now = Date.parse("2026-10-20T10:00:00Z");
    await world.read("orders", [{ orders: order(draw(2, 1_000_00), 1_000_00) }]);
    await world.ledger.state.record(
      key("C1"),
      [
        {
          ...of,
          type: "order-removed",
          operationId: null,
          origin: "found",
          products: 1,
          items: [
            {
              instanceId: "A1",
              unit: 9,
              number: "8000000010",
              product: "P1",
              channelOrderId: "CO-O1",
              licenseOrderId: "L-O1-1",
            },
          ],
        },
      ],
      learned,
    );
    const { orders } = await statementOf(world.path, "orders", month("2026-10"));
    expect(Number(orders?.[0]?.["lines_amount"])).toBeLessThanOrEqual(1_000_00);
  });

  it("a smaller quantity for less money is priced before the units go", async () => {
    const world = await placed(10, 1_000_00);
    world.now = Date.parse("2026-10-20T10:00:00Z");
    await world.read("orders", [{ orders: order(draw(1, 150_00), 150_00) }]);
    await world.ledger.state.record(key("C1"), [
      {
        ...of,
        type: "order-priced",
        version: 2,
        items: [
          { product: "P1", from: eur(1_000_00), to: eur(150_00) },
          { product: null, from: eur(1_000_00), to: eur(150_00) },
        ],
      },
    ]);
    const { orders } = await statementOf(world.path, "orders", month("2026-10"));
    expect(cells(orders, "amount_after", "lines_amount", "verdict")).toEqual([[150_00, 150_00, "agrees"]]);
  });

  it("what is lost and bought again costs what the CRM says, to the cent", async () => {
    const world = await placed(4, 85);
    world.now = Date.parse("2026-10-20T10:00:00Z");
    await world.ledger.state.record(
      key("C1"),
      [
        {
          ...of,
          type: "order-removed",
          operationId: null,
          origin: "found",
          products: 1,
          items: [
            {
              instanceId: "A1",
              unit: 0,
              number: "8000000001",
              product: null,
              channelOrderId: null,
              licenseOrderId: null,
            },
          ],
        },
      ],
      learned,
    );
    await world.ledger.state.record(key("C1"), [
      bought({
        version: 1,
        items: [{ instanceId: "A1", unit: 4, number: "8000000099", products: ["P1"], packages: [] }],
      }),
    ]);
    const { orders } = await statementOf(world.path, "orders", month("2026-10"));
    expect(cells(orders, "amount_after", "lines_amount", "verdict")).toEqual([[85, 85, "agrees"]]);
  });
});
