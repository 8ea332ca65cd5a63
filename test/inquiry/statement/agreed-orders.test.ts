import { describe, expect, it } from "vitest";
import { product } from "../../support/world/instances.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord } from "../../support/world/records.ts";
import { agreedWorld } from "../agreed-world.ts";
import { cells, october, stated } from "./stated.ts";

describe("the statement of orders", () => {
  it("has the first moment of a period in it, and not the one after its last", { tags: "long" }, async () => {
    const { world } = await agreedWorld();
    const ordersIn = async (from: string, to: string): Promise<unknown[]> => {
      const period = { label: "2026-09-28", zone: "UTC", from, to };
      const { lines = [] } = await stated(world.path, "orders", { period, by: "crm-date" });
      return [...new Set(lines.map((row) => row["crm_order"]))];
    };
    expect(await ordersIn("2026-09-28T10:00:00.000Z", "2026-09-28T10:00:00.001Z")).toEqual(["crm/O1"]);
    expect(await ordersIn("2026-09-28T09:59:59.000Z", "2026-09-28T10:00:00.000Z")).toEqual([]);
    expect(await ordersIn(october.from, october.to)).toEqual([]);
  });

  it("tells a revoke of ours from an assignment that was found gone, each with its entry in the audit log", async () => {
    const { world } = await agreedWorld();
    world.now += 86_400_000;
    const learned = { kind: "learned", subject: "customer:crm/C1", body: {} } as const;
    const gone = { type: "asset-revoked", assetNumber: "8000000001", operationId: null } as const;
    await world.ledger.state.record(key("C1"), [gone], learned);
    await world.ledger.state.record(key("C1"), [
      {
        type: "asset-granted",
        assetNumber: "8999",
        staff: key("S1"),
        customer: key("C1"),
        memberGlobalId: "M1",
        origin: "adopted",
        operationId: null,
      },
    ]);
    world.now += 86_400_000;
    await world.ledger.state.record(key("C1"), [{ type: "asset-revoked", assetNumber: "8999", operationId: "op_x" }]);
    const { licences = [] } = await stated(world.path, "orders");
    expect(
      licences.map((row) => [
        ...cells(row, "at", "event", "asset_number", "member_global_id", "operation"),
        row["audit_sequence"] !== null,
      ]),
    ).toEqual([
      ["2026-10-01T08:00:00.000Z", "granted", "8000000001", "M1", null, false],
      ["2026-10-02T08:00:00.000Z", "found-gone", "8000000001", "M1", null, true],
      ["2026-10-02T08:00:00.000Z", "grant-adopted", "8999", "M1", null, true],
      ["2026-10-03T08:00:00.000Z", "revoked", "8999", "M1", "op_x", false],
    ]);
  });

  it("says what an order costs once, and what its products cost where the CRM gives it", async () => {
    const world = await LedgerWorld.open();
    await world.read("customers", [{ customers: customerRecord("C1") }]);
    await world.link(key("C1"), "E1");
    const money = (minor: number) => ({ amount: { currency: "EUR", minor } });
    await world.read("orders", [
      {
        orders: orderRecord("O1", "C1", {
          instances: [
            { kind: "asset", id: "A-O1", licenseType: "cloud_account", assetNumbers: [], quantity: 1, extensions: [] },
            { kind: "asset", id: "B-O1", licenseType: "softkey", assetNumbers: ["77"], quantity: 1, extensions: [] },
            product("P1", "A-O1", money(100)),
            product("P2", "A-O1", money(250)),
            product("P3", "B-O1", money(50)),
            product("P4", "B-O1"),
          ],
        }),
      },
    ]);
    const operation = await world.orderOperation(key("C1"), key("O1"));
    const [desired] = world.ledger.state.load(key("C1")).orders;
    await world.done(operation, [
      {
        type: "order-placed",
        order: key("O1"),
        customer: key("C1"),
        channelOrderId: "CO-O1",
        bodyHash: desired?.bodyHash ?? "",
        version: 1,
        products: 1,
        operationId: null,
        origin: "placed",
        licenceOrders: [
          { sequence: 1, licenseType: "cloud_account", platformCustomerId: "d", licenseOrderId: "L1" },
          { sequence: 2, licenseType: "softkey", platformCustomerId: "d", licenseOrderId: "L2" },
        ],
      },
    ]);
    const { lines = [], orders = [] } = await stated(world.path, "orders");
    expect(lines.map((row) => cells(row, "license_order_id", "product_id", "amount"))).toEqual([
      ["L1", "P1", 100],
      ["L1", "P2", 250],
      ["L2", "P3", 50],
      ["L2", "P4", null],
    ]);
    expect(orders.map((row) => cells(row, "crm_order", "amount_after", "lines_amount", "verdict"))).toEqual([
      ["crm/O1", 12_300, null, "not given"],
    ]);
  });
});
