import { describe, expect, it } from "vitest";
import { asset, product } from "../../support/world/instances.ts";
import type { LedgerWorld } from "../../support/world/ledger-world.ts";
import { cells, eur, month, placeLate, placeOrder, statementOf, threeMonths } from "./statement-world.ts";
import { trusted } from "../../support/trusted.ts";

/** The three months, October closed at their end, and an order of 31 October (dollars) that comes after that. */
async function lateWorld(): Promise<LedgerWorld> {
  const world = await threeMonths();
  world.now = Date.parse("2026-11-25T10:00:00.000Z");
  await close(world, "2026-10");
  const late = await placeLate(world);
  const next = { ...late, id: "O10", placedAt: "2026-12-01T10:00:00Z", amount: eur(5_00) };
  next.instances = [asset("N1"), product("N2", "N1", { name: "Next", gmsPid: "G-NEXT", amount: eur(5_00) })];
  await placeOrder(world, next, [{ assetId: "N1", quantity: 1, licenseType: "cloud_account" }]);
  return world;
}

async function close(world: LedgerWorld, label: string): Promise<void> {
  const head = await (await world.inquiry()).auditHead();
  if (head === undefined) throw new Error("nothing was written");
  await world.ledger.books.close(
    {
      period: month(label),
      asOf: new Date(world.now - 1).toISOString(),
      head,
      program: "0.1.0",
      configuration: "c".repeat(64),
      files: [],
      signedOff: [],
    },
    { by: "anna", reason: undefined },
    trusted,
  );
}

describe("what comes late to a closed period", () => {
  it("stands in the open one, tied to what it adjusts", async () => {
    const world = await lateWorld();
    const { lines = [] } = await statementOf(world.path, "orders", month("2026-11"));
    const proof = [...world.ledger.audit.rows()].find(
      ({ kind, subject }) => kind === "place-order" && subject === "order:crm/O1",
    );
    expect(cells(lines, "date", "event", "crm_order", "amount", "adjusts", "adjusts_audit_sequence")).toEqual([
      ["2026-11-01", "found-gone", "crm/O1", -33_33, "2026-10", proof?.sequence],
      ["2026-11-10", "ended", "crm/O1", -100_00, "2026-10", proof?.sequence],
      ["2026-11-10", "ended", "crm/O1", -33_33, "2026-10", proof?.sequence],
      ["2026-11-10", "ended", "crm/O1", 16_66, "2026-10", proof?.sequence],
      ["2026-11-20", "repriced", "crm/O1", 40_01, "2026-10", proof?.sequence],
      ["2026-11-25", "placed", "crm/O10", 5_00, null, null],
      // Dated on the last second of October in Berlin, and of no placing in it.
      ["2026-11-25", "placed", "crm/O9", 7_00, "2026-10", null],
    ]);
    const october = await statementOf(world.path, "orders", month("2026-10"));
    expect(new Set(october["lines"]?.map((row) => row["adjusts"]))).toEqual(new Set([undefined]));
  });

  it("adjusts nothing once the period was opened again", async () => {
    const world = await lateWorld();
    await world.ledger.books.reopen("2026-10", { by: "ben", reason: "an order came late" });
    const { lines = [] } = await statementOf(world.path, "orders", month("2026-11"));
    expect(new Set(lines.map((row) => row["adjusts"]))).toEqual(new Set([undefined]));
  });
});
