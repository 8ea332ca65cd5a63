import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blockersOf, closeBooks, printBooks, signOff } from "../../src/books/books.ts";
import { customerRecord, key, orderRecord } from "../support/world/records.ts";
import { folder } from "../support/world/start.ts";
import { anna, placeOf, readyWorld } from "./book-world.ts";
import type { LedgerWorld } from "../support/world/ledger-world.ts";
import {
  cells,
  drawing,
  eur,
  month,
  placeLate,
  statementOf,
  threeMonths,
} from "../inquiry/statement/statement-world.ts";

/** The bytes of the files in a folder, by name. */
function filesIn(path: string): Record<string, string> {
  return Object.fromEntries(readdirSync(path).map((name) => [name, readFileSync(join(path, name), "latin1")]));
}

/** What comes after October was closed: an order that the CRM dates in it, and an amount of it that was wrong. */
async function lateData(world: LedgerWorld): Promise<void> {
  world.now += 3_600_000;
  await world.startRun();
  await placeLate(world);
  await world.read("orders", [
    { orders: { ...orderRecord("O1", "C1", { instances: drawing(eur(999_99), 2) }), amount: eur(1_099_98) } },
  ]);
  await world.read("customers", [{ customers: customerRecord("C1", { branchCode: "B7" }) }]);
  await world.ledger.state.record(key("C1"), [
    {
      type: "order-priced",
      order: key("O1"),
      customer: key("C1"),
      version: 4,
      items: [{ product: "P1", from: eur(240_01), to: eur(999_99) }],
    },
  ]);
  world.now += 1_000;
}

describe("closed periods", () => {
  it(
    "are printed again byte for byte after late data and a corrected amount, which the next period shows",
    { tags: "long" },
    async () => {
      const { world, place } = await readyWorld();
      const closed = await closeBooks(place, "2026-10", anna);
      expect(closed).toMatchObject({ closed: { period: "2026-10", closing: 1 } });
      const first = folder();
      expect(await printBooks(place, "2026-10", { folder: first })).toMatchObject({ different: [] });
      await lateData(world);
      const again = folder();
      const printed = await printBooks(place, "2026-10", { folder: again });
      expect(printed.different).toEqual([]);
      expect(filesIn(again)).toEqual(filesIn(first));
      expect(Object.keys(filesIn(again))).toContain("orders-2026-10.csv");
      const { lines } = await statementOf(world.path, "orders", month("2026-11"));
      expect(cells(lines, "event", "crm_order", "amount", "adjusts").slice(-2)).toEqual([
        ["repriced", "crm/O1", 759_98, "2026-10"],
        ["placed", "crm/O9", 7_00, "2026-10"],
      ]);
    },
  );

  it("print each closing of a period that was opened again", { tags: "long" }, async () => {
    const { world, place } = await readyWorld();
    await closeBooks(place, "2026-10", anna);
    const first = folder();
    await printBooks(place, "2026-10", { folder: first });
    await lateData(world);
    await world.ledger.books.reopen("2026-10", { by: "ben", reason: "an amount was wrong" });
    const open = await blockersOf(place, "2026-10");
    await signOff(
      place,
      "2026-10",
      open.map(({ id }) => id),
      { by: "ben", reason: "known" },
    );
    world.now += 1_000;
    expect(await closeBooks(place, "2026-10", anna)).toMatchObject({ closed: { closing: 2 } });
    const second = folder();
    expect(await printBooks(place, "2026-10", { folder: second })).toMatchObject({ closing: { closing: 2 } });
    const third = folder();
    expect(await printBooks(place, "2026-10", { folder: third, closing: 1 })).toMatchObject({ different: [] });
    expect(filesIn(third)).toEqual(filesIn(first));
    expect(filesIn(second)["reconciliation-2026-10.csv"]).not.toBe(filesIn(first)["reconciliation-2026-10.csv"]);
    await expect(printBooks(place, "2026-10", { folder: third, closing: 3 })).rejects.toMatchObject({
      code: "periods.not-closed",
    });
  });

  it("are not closed while something stands in the way that nobody signed off", async () => {
    const world = await threeMonths({ isOtherMoney: true });
    world.now = Date.parse("2026-11-25T10:00:00.000Z");
    const place = placeOf(world);
    const made = await closeBooks(place, "2026-10", anna);
    expect(made).toMatchObject({ closed: undefined });
    expect(await (await world.inquiry()).closings()).toEqual([]);
    await expect(signOff(place, "2026-10", ["hold:none"], { by: "anna", reason: "x" })).rejects.toMatchObject({
      code: "periods.no-blocker",
    });
    const ids = (await blockersOf(place, "2026-10")).map(({ id }) => id);
    expect(ids).toContain(`run:${world.run}`);
    // The CRM has 1,070.01 since October for what was placed for 1,060.01.
    expect(ids).toContain("money:crm/O2");
  });
});
