import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { amend, numberOf, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";
import { adds, numbersSent, renewal } from "./renewals.ts";

/** Two customers whose enterprises, orders and people somebody else has made: the ledger begins anew. */
async function adopted(given: Parameters<typeof placedOrders>[0] = {}): Promise<{ w: World; numbers: string[] }> {
  const w = await placedOrders(given);
  for (const name of ["orders.cancelled", "orders.added"]) rule(w, name, "apply");
  const rows = w.rows<{ number: string }>(
    "select wire_number as number from asset_number where instance_id = 'A1' order by unit",
  );
  w.losesItsLedger();
  expect((await w.does("run", "everything")).calls).not.toHaveProperty("E5");
  expect(numberOf(w, "A1")).toBe("");
  return { w, numbers: rows.map(({ number }) => number) };
}

/** Runs until one calls nothing; says how many E5 there were. */
async function purchases(w: World): Promise<number> {
  let sum = 0;
  for (let run = 0; run < 6; run += 1) {
    const { calls } = await w.does("run", "everything");
    if (Object.keys(calls).length === 0) return sum;
    sum += calls["E5"] ?? 0;
  }
  return expect.fail("no run was quiet");
}

it(
  "what an adopted order has is renewed under the number that M7 shows it under, and goes with the last of both",
  { tags: "long" },
  async () => {
    const { w, numbers } = await adopted();
    adds(w, renewal("3"));
    expect(await purchases(w)).toBe(1);
    expect(numbersSent(w, "3")).toEqual([[numbers]]);
    expect(standing(w)).toEqual({ products: 5, assets: 2, assignments: 2 });
    expect(numberOf(w, "A1")).toBe(numbers[0]);
    // Who holds what an adopted order has waits for its number; of the first customer that is known now.
    expect(w.rows("select id from record where stream = 'staff' and deferred_code is not null")).toEqual([
      { id: "S2" },
    ]);
    amend(w, "1", { cancelled: true });
    expect(await purchases(w)).toBe(1);
    expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 2 });
    amend(w, "3", { cancelled: true });
    await purchases(w);
    expect(standing(w)).toMatchObject({ products: 2, assets: 1 });
  },
);

it(
  "of the units of an adopted order the one that somebody holds is renewed first, and each of them once",
  { tags: "long" },
  async () => {
    const { w, numbers } = await adopted({ first: { assets: [{ id: "A1", quantity: 2 }] } });
    adds(w, renewal("3"));
    expect(await purchases(w)).toBe(1);
    const first = (numbersSent(w, "3") as string[][][]).flat(2);
    expect(numbers).toContain(first[0]);
    expect(standing(w)).toMatchObject({ assets: 3, assignments: 2 });
    adds(w, renewal("4"));
    expect(await purchases(w)).toBe(1);
    const both = [...first, ...(numbersSent(w, "4") as string[][][]).flat(2)];
    expect(both.toSorted()).toEqual(numbers.toSorted());
  },
);

it("an adopted order that M7 shows under more numbers than it has units is not renewed, and the reason says so", async () => {
  const { w, numbers } = await adopted();
  const other = "8111111111";
  w.sandbox.hand({ action: "add-asset", like: numbers[0] ?? "", assetNum: other, channelOrderId: "1" });
  adds(w, renewal("3"));
  for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
  expect(waitsFor(w, "3")).toBe("order.earlier-unknown");
  expect((await w.run("explain", "order", "3")).stdout.replaceAll(/\s+/gu, " ")).toContain(
    "1 unit(s) stand, and M7 shows all of one under 2 asset number(s)",
  );
  w.sandbox.hand({ action: "drop-asset", assetNum: other });
  expect(await purchases(w)).toBe(1);
  expect(numbersSent(w, "3")).toEqual([[numbers]]);
});
