import { describe, expect, it } from "vitest";
import type { Row, StatementRequest } from "../../../src/report/statement/shape.ts";
import type { LedgerWorld } from "../../support/world/ledger-world.ts";
import { key } from "../../support/world/records.ts";
import { cells, month, statementOf, threeMonths } from "./statement-world.ts";

const of = ["customer", "license_type", "gms_pid", "app_key", "product"] as const;

/** A column added up by customer and product, without what comes to 0. */
function added(rows: readonly Row[] | undefined, column: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const row of rows ?? []) {
    const name = of.map((one) => row[one] ?? "").join(" ");
    sums.set(name, (sums.get(name) ?? 0) + Number(row[column] ?? 0));
  }
  return new Map([...sums].filter(([, sum]) => sum !== 0));
}

/**
 * The world of three months, in which Plot of the first unit, which was found gone, is bought again on 5 December, and
 * the number is granted the day after.
 */
async function boughtAgain(): Promise<LedgerWorld> {
  const world = await threeMonths();
  world.now = Date.parse("2026-12-05T10:00:00Z");
  const unit = { instanceId: "A1", unit: 0, number: "8000000001" };
  await world.ledger.state.record(
    key("C1"),
    [
      {
        type: "order-bought",
        order: key("O1"),
        customer: key("C1"),
        channelOrderId: "CO-O1-again",
        version: 1,
        items: [{ ...unit, products: ["P2"], packages: ["K1"] }],
        licenceOrders: [],
        operationId: null,
        origin: "sent",
        products: 1,
      },
    ],
    { kind: "learned", subject: "customer:crm/C1", body: {} },
  );
  world.now = Date.parse("2026-12-06T10:00:00Z");
  await granted(world, "8000000001", "S1");
  return world;
}

async function granted(world: LedgerWorld, assetNumber: string, staff: string): Promise<void> {
  const customer = key("C1");
  await world.ledger.state.record(customer, [
    {
      type: "asset-granted",
      assetNumber,
      staff: key(staff),
      customer,
      memberGlobalId: `M-${staff}`,
      origin: "granted",
      operationId: "op_again",
    },
  ]);
}

describe("the seats of an order's lines", () => {
  it("are the numbers that an event brought and members of staff hold when the period ends", async () => {
    const { path } = await threeMonths();
    const columns = ["crm_order", "event", "product", "units", "seats"] as const;
    const { lines } = await statementOf(path, "orders", month("2026-10"));
    expect(cells(lines, ...columns)).toEqual([
      ["crm/O1", "placed", "Draw", 2, 1],
      ["crm/O1", "placed", "Plot", 2, 1],
      ["crm/O2", "placed", "Cloud", 1, 1],
      ["crm/O2", "placed", "Draw", 1, 0],
      // Of what was found on the platform no number is known.
      ["crm/O3", "adopted", "Old", 1, 0],
      ["crm/O1", "amended", "Draw", 1, 0],
      ["crm/O1", "amended", "Plot", 1, 0],
      ["crm/O1", "amended", "Plot", 0, 0],
    ]);
    // The members lost them on 10 November.
    const { lines: ended } = await statementOf(path, "orders", { ...month("2026-10"), to: month("2026-12").from });
    expect(new Set(cells(ended, "seats").flat())).toEqual(new Set([0]));
  });

  it.each<[string, Partial<StatementRequest>]>([
    ["2026-10-05T10:00:00.000Z", {}],
    ["2026-10-05T10:00:00.001Z", {}],
    ["2026-10-31T23:00:00.000Z", {}],
    ["2026-11-05T00:00:00.000Z", {}],
    ["2026-11-30T23:00:00.000Z", {}],
    ["2026-12-31T23:00:00.000Z", {}],
    ["2026-12-31T23:00:00.000Z", { filters: { product: "G-PLOT" } }],
    ["2026-10-31T23:00:00.000Z", { filters: { customer: "crm/C2" } }],
    ["2026-10-31T23:00:00.000Z", { by: "crm-date" }],
  ])("add up, from the beginning until %s, to the closing seats of entitlements: %j", async (to, fields) => {
    const { path } = await boughtAgain();
    const period = { label: "2026-09-01..2026-10-31", zone: "Europe/Berlin", from: "2026-08-31T22:00:00.000Z", to };
    const { lines } = await statementOf(path, "orders", period, fields);
    const { entitlements } = await statementOf(path, "entitlements", period, fields);
    expect(added(lines, "seats")).toEqual(added(entitlements, "seats_closing"));
    expect(added(lines, "nodes")).toEqual(added(entitlements, "nodes_closing"));
  });

  it("are counted once where a unit went and came again", async () => {
    const { path } = await boughtAgain();
    const all = { ...month("2026-10"), to: month("2027-01").from };
    const { lines, licences } = await statementOf(path, "orders", all);
    const plot = lines?.filter((row) => row["product"] === "Plot" && row["seats"] !== 0) ?? [];
    expect(cells(plot, "event", "units", "seats")).toEqual([["amended", 1, 1]]);
    expect(licences?.filter(({ event }) => event === "granted")).toHaveLength(2);
  });
});
