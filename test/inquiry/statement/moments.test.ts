import { describe, expect, it } from "vitest";
import type { Order } from "../../../src/crm/model.ts";
import { asset, product } from "../../support/world/instances.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord } from "../../support/world/records.ts";
import { agreedWorld } from "../agreed-world.ts";
import { cells, eur, month, placeOrder, statementOf } from "./statement-world.ts";

const order = (minor: number, customer = "C1"): Order => ({
  ...orderRecord("O1", customer, {
    instances: [asset("A1"), product("P1", "A1", { name: "Draw", gmsPid: "G-1", amount: eur(minor) })],
  }),
  amount: eur(minor),
  placedAt: "2026-10-02T08:00:00Z",
});

/** C1's order of 1.00, corrected to 999.99 in October. */
async function corrected(): Promise<LedgerWorld> {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-02T10:00:00Z");
  await world.read("customers", [{ customers: customerRecord("C1") }, { customers: customerRecord("C2") }]);
  await world.link(key("C1"), "E1");
  await placeOrder(world, order(1_00), [{ assetId: "A1", quantity: 1, licenseType: "cloud_account" }]);
  world.now = Date.parse("2026-10-10T10:00:00Z");
  await world.read("orders", [{ orders: order(999_99) }]);
  return world;
}

describe("statements tell of a month what was so in it", () => {
  it("a correction is of the customer and the branch that the order had when it came", async () => {
    const world = await corrected();
    const branch = customerRecord("C1").branchCode;
    const told = async (filters: object) =>
      cells(
        (await statementOf(world.path, "corrections", month("2026-10"), { filters }))["corrections"],
        "customer",
        "branch",
      );
    const before = [await told({ customer: "crm/C1" }), await told({ branch })];
    expect(before[0]).toEqual([
      ["crm/C1", branch],
      ["crm/C1", branch],
    ]);
    world.now = Date.parse("2026-11-10T10:00:00Z");
    await world.read("customers", [
      { customers: customerRecord("C1", { branchCode: "B9" }) },
      { customers: customerRecord("C2") },
    ]);
    await world.read("orders", [{ orders: order(999_99, "C2") }]);
    expect([await told({ customer: "crm/C1" }), await told({ branch })]).toEqual(before);
    expect(await told({ customer: "crm/C2" })).toEqual([]);
  });

  it("what was sent after the last reading is not observable, and not missing", async () => {
    const { world } = await agreedWorld();
    world.now += 3_600_000;
    await world.read("orders", [{ orders: orderRecord("O1", "C1") }, { orders: orderRecord("O2", "C1") }]);
    await world.ledger.state.record(key("C1"), [{ type: "numbers-taken", numbers: ["91"], operationId: "op_pool" }]);
    await world.ledger.state.write((rows, at) =>
      rows.order.numbers.fixNumbers(
        key("O2"),
        key("C1"),
        [{ instanceId: "A-O2", quantity: 1, given: [], wireNumber: (digits) => digits }],
        at,
      ),
    );
    await world.place(key("C1"), key("O2"));
    const items = async () =>
      (await statementOf(world.path, "reconciliation", month("2026-10")))["items"]?.filter(
        (row) => row["crm_order"] === "crm/O2",
      ) ?? [];
    expect(new Set((await items()).map((row) => row["verdict"]))).toEqual(new Set(["not-observable"]));
    // Read again, and it is not there: now it is missing.
    world.now += 3_600_000;
    await world.observe(key("C1"), []);
    expect((await items()).map((row) => row["verdict"])).toContain("missing");
  });
});
