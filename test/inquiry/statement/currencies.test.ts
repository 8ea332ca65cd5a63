import { expect, it } from "vitest";
import type { Instance, Money, Order } from "../../../src/crm/model.ts";
import type { OrderPriced } from "../../../src/resources/order/state/changes.ts";
import { asset, product } from "../../support/world/instances.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord } from "../../support/world/records.ts";
import { cells, eur, month, placeOrder, statementOf, usd } from "./statement-world.ts";

/** An order whose asset has a product for each of these amounts. */
function order(id: string, customer: string, amount: Money, ...products: readonly (Money | undefined)[]): Order {
  const instances: Instance[] = [asset(`A-${id}`)];
  for (const [index, one] of products.entries())
    instances.push(
      product(`P${index + 1}-${id}`, `A-${id}`, { name: `Draw ${index + 1}`, gmsPid: `G-${index + 1}`, amount: one }),
    );
  return { ...orderRecord(id, customer, { instances }), amount, placedAt: "2026-10-02T08:00:00Z" };
}

/** Two customers whose orders are placed on 2 October. */
async function placed(...orders: readonly Order[]): Promise<LedgerWorld> {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-02T10:00:00Z");
  await world.read("customers", [{ customers: customerRecord("C1") }, { customers: customerRecord("C2") }]);
  await world.link(key("C1"), "E1");
  await world.link(key("C2"), "E2");
  for (const one of orders)
    await placeOrder(world, one, [{ assetId: `A-${one.id}`, quantity: 1, licenseType: "cloud_account" }]);
  return world;
}

const priced = (
  version: number,
  ...items: readonly (readonly [product: string | null, from: Money, to: Money])[]
): OrderPriced => ({
  type: "order-priced",
  order: key("O1"),
  customer: key("C1"),
  version,
  items: items.map(([product, from, to]) => ({ product, from, to })),
});

it(
  "lines in two currencies, or in another one than their order, are not what the order costs",
  { tags: "long" },
  async () => {
    const { path } = await placed(
      order("O1", "C1", eur(200_00), eur(100_00), usd(100_00)),
      order("O2", "C1", usd(50_00), eur(50_00)),
      order("O3", "C2", eur(50_00), eur(50_00), undefined),
      order("O4", "C2", eur(70_00), eur(50_00), eur(20_00)),
    );
    const { orders } = await statementOf(path, "orders", month("2026-10"));
    expect(cells(orders, "crm_order", "amount_after", "currency", "lines_amount", "lines_currency", "verdict")).toEqual(
      [
        ["crm/O1", 200_00, "EUR", null, null, "differs"],
        ["crm/O2", 50_00, "USD", 50_00, "EUR", "differs"],
        ["crm/O3", 50_00, "EUR", null, null, "not given"],
        ["crm/O4", 70_00, "EUR", 70_00, "EUR", "agrees"],
      ],
    );
  },
);

it("a price in another currency takes off what was paid in the one before", async () => {
  const world = await placed(order("O1", "C1", eur(100_00), eur(100_00)), order("O2", "C2", usd(1_00), usd(1_00)));
  world.now = Date.parse("2026-10-20T10:00:00Z");
  await world.read("orders", [{ orders: order("O1", "C1", usd(100_00), usd(100_00)) }]);
  await world.ledger.state.record(key("C1"), [
    priced(2, ["P1-O1", eur(100_00), usd(100_00)], [null, eur(100_00), usd(100_00)]),
  ]);
  const { lines, orders } = await statementOf(world.path, "orders", month("2026-10"));
  const ofFirst = (lines ?? []).filter((row) => row["crm_order"] === "crm/O1");
  expect(cells(ofFirst, "event", "units", "amount", "currency")).toEqual([
    ["placed", 1, 100_00, "EUR"],
    ["repriced", 0, -100_00, "EUR"],
    ["repriced", 0, 100_00, "USD"],
  ]);
  expect(cells(orders, "crm_order", "amount_after", "currency", "lines_amount", "lines_currency", "verdict")).toEqual([
    ["crm/O1", 100_00, "USD", 100_00, "USD", "agrees"],
    ["crm/O2", 1_00, "USD", 1_00, "USD", "agrees"],
  ]);
});

it("an order for which the CRM has as many of another currency stands in the way of closing its month", async () => {
  const world = await placed(order("O1", "C1", eur(100_00), eur(100_00)), order("O2", "C2", usd(1_00), usd(1_00)));
  await world.read("orders", [
    { orders: order("O1", "C1", usd(100_00), usd(100_00)) },
    { orders: order("O2", "C2", usd(1_00), usd(1_00)) },
  ]);
  const found = (await (await world.inquiry()).blockers(month("2026-10"))).filter(({ kind }) => kind === "money");
  expect(found.map(({ id, what }) => [id, what])).toEqual([
    ["money:crm/O1", "the CRM has 100.00 USD for it, and 100.00 EUR was sent"],
  ]);
});
