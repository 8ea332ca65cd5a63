import { describe, expect, it } from "vitest";
import { key, orderRecord } from "../../support/world/records.ts";
import { agreedWorld } from "../agreed-world.ts";
import { month, statementOf } from "./statement-world.ts";

describe("statements tell of a month what was so in it", () => {
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
