import { expect, it } from "vitest";
import { readWithOtherDecimals } from "../../../src/crm/currency.ts";
import type { Money, Order } from "../../../src/crm/model.ts";
import { asset, product } from "../../support/world/instances.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord } from "../../support/world/records.ts";
import { cells, month, placeOrder, statementOf } from "./statement-world.ts";

it.each([
  // As it was read once, as it is read now, and what is said.
  ["JPY", 50_000, 500, "JPY has 0 decimals: read with 2, as once, 500 is 50000"],
  ["KWD", 1_250, 12_500, "KWD has 3 decimals: read with 2, as once, 12.500 is 1.250"],
  ["JPY", 50_000, 501, undefined],
  ["JPY", 500, 50_000, undefined],
  ["EUR", 50_000, 500, undefined],
  ["JPY", 0, 0, undefined],
] as const)("an amount in %s of %d and then of %d", (currency, before, after, said) => {
  expect(readWithOtherDecimals(currency, before, after)).toBe(said);
});

const order = (id: string, amount: Money): Order => ({
  ...orderRecord(id, "C1", {
    instances: [
      asset(`A-${id}`, { licenseType: "cloud_account" }),
      product(`P-${id}`, `A-${id}`, { gmsPid: "G-1", amount }),
    ],
  }),
  amount,
  placedAt: "2026-10-02T08:00:00Z",
});

it("an amount that was read with two decimals once is told as changed, and as what it may be", async () => {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-02T10:00:00Z");
  await world.read("customers", [{ customers: customerRecord("C1") }]);
  await world.link(key("C1"), "E1");
  const yen = (minor: number): Money => ({ currency: "JPY", minor });
  for (const id of ["O1", "O2"])
    await placeOrder(world, order(id, yen(50_000)), [
      { assetId: `A-${id}`, quantity: 1, licenseType: "cloud_account" },
    ]);
  world.now = Date.parse("2026-10-05T10:00:00Z");
  // The first one is read anew, and the second one costs something else.
  await world.read("orders", [{ orders: order("O1", yen(500)) }, { orders: order("O2", yen(499)) }]);
  const said = "JPY has 0 decimals: read with 2, as once, 500 is 50000";
  const { corrections } = await statementOf(world.path, "corrections", month("2026-10"));
  expect(new Set(cells(corrections, "crm_order", "reason").map((row) => row.join(" ")))).toEqual(
    new Set([`crm/O1 ${said}`, "crm/O2 "]),
  );
  const { items } = await statementOf(world.path, "reconciliation", month("2026-10"));
  const told = (items ?? []).filter((row) => ["order", "product"].includes(String(row["level"])));
  for (const row of told) {
    expect(row["verdict"], "nothing is hidden").not.toBe("matched");
    const isTold = Array.isArray(row["details"]) && row["details"].includes(said);
    expect(isTold).toBe(row["crm_order"] === "crm/O1" && row["sent"] === true);
  }
  expect(told.length).toBeGreaterThan(3);
});
