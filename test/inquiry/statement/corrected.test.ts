import { describe, expect, it } from "vitest";
import type { Money, Order } from "../../../src/crm/model.ts";
import type { Row } from "../../../src/report/statement/shape.ts";
import { customerRecord, key, orderRecord } from "../../support/world/records.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { sqlite } from "../../support/world/start.ts";
import { month } from "./statement-world.ts";
import { cells, october, stated } from "./stated.ts";

const eur = (minor: number): { amount: Money } => ({ amount: { currency: "EUR", minor } });
const usd = (minor: number): { amount: Money } => ({ amount: { currency: "USD", minor } });

/** The order with fields of one of its instances changed. */
function withInstance(order: Order, id: string, fields: object): Order {
  const instances = order.instances.map((item) => ("id" in item && item.id === id ? { ...item, ...fields } : item));
  return { ...order, instances };
}

/** Two customers with a placed order each, in two currencies and two branches. */
async function placedWorld(): Promise<{ world: LedgerWorld; first: Order; second: Order }> {
  const world = await LedgerWorld.open();
  await world.read("customers", [
    { customers: customerRecord("C1") },
    { customers: customerRecord("C2", { branchCode: "B2" }) },
  ]);
  await world.link(key("C1"), "E1");
  await world.link(key("C2"), "E2");
  const first = orderRecord("O1", "C1", eur(594));
  const second = orderRecord("O2", "C2", usd(10_000));
  await world.read("orders", [{ orders: first }, { orders: second }]);
  const placed = [await world.place(key("C1"), key("O1")), await world.place(key("C2"), key("O2"))];
  expect(placed).toHaveLength(2);
  return { world, first, second };
}

const fields = ["crm_order", "level", "item", "field", "before", "after"];
const amounts = ["before_amount", "before_amount_currency", "after_amount", "after_amount_currency", "amount_change"];

/** What the CRM has otherwise than the orders were placed with. */
async function corrected(world: LedgerWorld, more: Parameters<typeof stated>[2] = {}): Promise<Row[]> {
  return (await stated(world.path, "reconciliation", more))["corrected"] ?? [];
}

describe("what the CRM corrected", () => {
  it("is nothing where nothing was changed, and nothing of what came before the order was placed", async () => {
    const world = await LedgerWorld.open();
    await world.read("customers", [{ customers: customerRecord("C1") }]);
    await world.link(key("C1"), "E1");
    await world.read("orders", [{ orders: orderRecord("O1", "C1", eur(1)) }]);
    await world.read("orders", [{ orders: orderRecord("O1", "C1", eur(594)) }]);
    await world.place(key("C1"), key("O1"));
    expect(await corrected(world)).toEqual([]);
  });

  it("is the last amount beside the one that the order was placed with, and where it came from", async () => {
    const { world, first } = await placedWorld();
    for (const minor of [99_999, 700]) {
      world.now += 3_600_000;
      await world.read("orders", [{ orders: { ...first, ...eur(minor) } }]);
    }
    const rows = await corrected(world);
    expect(rows.map((row) => cells(row, ...fields))).toEqual([["crm/O1", "order", null, "amount", null, null]]);
    expect(rows.map((row) => cells(row, ...amounts))).toEqual([[594, "EUR", 700, "EUR", 106]]);
    // The same from the rows of the ledger.
    const form = sqlite(world.path)
      .prepare<[], { source: string; place: string; at: string }>(
        `select source, place, from_at as at from record_version
         where stream = 'orders' and id = 'O1' order by version desc limit 1`,
      )
      .get();
    expect(cells(rows[0] ?? {}, "source", "place", "changed_at")).toEqual([form?.source, form?.place, form?.at]);
    expect(cells(rows[0] ?? {}, "customer", "branch", "crm_date", "channel_order_id")).toEqual([
      "crm/C1",
      "B1",
      "2026-09-28",
      "CO-O1",
    ]);
  });

  it("is a quantity, nodes, a term or a product, too", async () => {
    const { world, first, second } = await placedWorld();
    let changed = withInstance(first, "A-O1", { quantity: 3 });
    changed = withInstance(changed, "P1-O1", { nodes: 9, ...eur(250) });
    changed = withInstance(changed, "P2-O1", { limitEnd: "2028-10-01T00:00:00Z", term: "2-0-0", timeUnitQuantity: 2 });
    const without = second.instances.filter((item) => !("id" in item && item.id === "P1-O2"));
    await world.read("orders", [{ orders: changed }, { orders: { ...second, instances: without, ...eur(10_000) } }]);
    const rows = await corrected(world);
    expect(rows.map((row) => cells(row, ...fields))).toEqual([
      ["crm/O1", "asset", "A-O1", "quantity", "1", "3"],
      ["crm/O1", "product", "P1-O1", "amount", null, null],
      ["crm/O1", "product", "P1-O1", "nodes", "5", "9"],
      ["crm/O1", "product", "P2-O1", "term", "1-0-0", "2-0-0"],
      ["crm/O1", "product", "P2-O1", "term_end", "2027-10-01", "2028-10-01"],
      ["crm/O2", "order", null, "amount", null, null],
      ["crm/O2", "product", "P1-O2", "product", "pid-P1-O2", null],
    ]);
    expect(rows.map((row) => row["count_change"])).toEqual([2, null, 4, null, null, null, -1]);
    // Two currencies are never taken from each other.
    expect(cells(rows[5] ?? {}, ...amounts)).toEqual([10_000, "USD", 10_000, "EUR", null]);
  });

  it("has dates as they are in the zone of the statement, and times where a date stays the same", async () => {
    const { world, first } = await placedWorld();
    const period = { ...month("2026-09"), to: "2100" };
    const told = async (): Promise<unknown> =>
      (await corrected(world, { period })).map((row) => cells(row, "item", "field", "before", "after"));
    // Both are a first of October in Berlin, and the last of September in UTC.
    let changed = withInstance(first, "P1-O1", { trialEnd: "2027-09-30T22:00:00Z", limitEnd: "2028-09-30T22:30:00Z" });
    changed = withInstance(changed, "A-O1", { limitStart: "2026-09-30T22:00:00Z" });
    await world.read("orders", [{ orders: changed }]);
    expect(await told()).toEqual([
      ["A-O1", "term_start", null, "2026-10-01"],
      ["P1-O1", "term_end", null, "2028-10-01"],
      ["P1-O1", "trial_end", null, "2027-10-01"],
    ]);
  });

  it("leaves out what is not asked for: another period, customer, branch, source or product", async () => {
    const { world, first, second } = await placedWorld();
    await world.read("orders", [
      { orders: withInstance({ ...first, ...eur(600) }, "P1-O1", { nodes: 6 }) },
      { orders: { ...second, ...usd(600) } },
    ]);
    const of = async (more: Parameters<typeof stated>[2]): Promise<unknown[]> =>
      (await corrected(world, more)).map((row) => row["crm_order"]);
    expect(await of({})).toEqual(["crm/O1", "crm/O1", "crm/O2"]);
    expect(await of({ filters: { customer: "crm/C2" } })).toEqual(["crm/O2"]);
    expect(await of({ filters: { branch: "B2" } })).toEqual(["crm/O2"]);
    expect(await of({ filters: { source: "none" } })).toEqual([]);
    expect(await of({ filters: { source: "erp", product: "pid-P2-O1" } })).toEqual(["crm/O1"]);
    const november = { ...october, from: october.to, to: "2026-12-01T00:00:00.000Z" };
    expect(await of({ period: november })).toEqual([]);
    const september = { ...october, from: "2026-09-01T00:00:00.000Z", to: october.from };
    expect(await of({ period: september })).toEqual([]);
    expect(await of({ period: september, by: "crm-date" })).toEqual(["crm/O1", "crm/O1", "crm/O2"]);
  });
});
