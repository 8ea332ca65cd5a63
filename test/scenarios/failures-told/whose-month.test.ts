import { expect, it } from "vitest";
import type { Parsed, World } from "../../support/cli.ts";
import type { GivenOrder } from "../../support/world/crm.ts";
import { amend, line, placedOrders } from "../../support/world/placed-orders.ts";

/** An order that costs so much, placed at the beginning of November. */
async function costing(amount: string): Promise<{ w: World; changes: (amount: string) => Promise<string[]> }> {
  const priced = (price: string): Partial<GivenOrder> => ({ price, products: [line("P1", "A1", { price })] });
  const w = await placedOrders({ first: priced(amount), staff: [] });
  return {
    w,
    /** The orders whose amounts stand in the way of closing November, once the CRM has another amount. */
    async changes(next) {
      amend(w, "1", priced(next));
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const { blockers } = await w.ask("report", "blockers", "2026-11");
      return blockers.map(({ id }: Parsed) => id).filter((id: string) => id.startsWith("money:"));
    },
  };
}

it("an amount that changed after a month is over stands in the way of closing none but its own", async () => {
  const { w, changes } = await costing("20.00");
  w.later(24 * 40);
  expect(await changes("25.00")).toEqual([]);
  expect(await changes("26.00")).toEqual([]);
});

it("an amount that changed within a month stands in its way until the CRM takes it back", async () => {
  const { w, changes } = await costing("20.00");
  amend(w, "1", { price: "21.00" });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.later(24 * 40);
  expect(await changes("25.00")).toEqual(["money:crm/1"]);
  expect(await changes("20.00")).toEqual([]);
  expect(await changes("25.00")).toEqual([]);
});
