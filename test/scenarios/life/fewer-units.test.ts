import { expect, it } from "vitest";
import { amend, numberOf, placedOrders, rule, standing } from "./placed-orders.ts";

it("of fewer units the one goes that nobody holds, and nobody's seat moves", async () => {
  const w = await placedOrders({ first: { assets: [{ id: "A1", quantity: 2 }] } });
  rule(w, "orders.ended", "apply");
  const [held] = w.rows<{ number: string }>("select asset_number as number from assignment where staff_id = 'S1'");
  amend(w, "1", { assets: [{ id: "A1", quantity: 1 }] });
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 1 }]);
  expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
  expect(w.rows("select asset_number as number from assignment where staff_id = 'S1' and to_at is null")).toEqual([
    held,
  ]);
  expect(numberOf(w, "A1")).toBe(held?.number);
  for (const _ of [2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});
});

it(
  "who holds the unit that goes is given another one first, and the asset goes after that",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ first: { assets: [{ id: "A1", quantity: 2 }] } });
    rule(w, "orders.ended", "apply");
    const numbers = [0, 1].map((unit) => numberOf(w, "A1", unit));
    const [held] = w.rows<{ number: string }>("select asset_number as number from assignment where staff_id = 'S1'");
    const other = numbers.find((number) => number !== held?.number) ?? "";
    amend(w, "1", { assets: [{ id: "A1", quantity: 1, numbers: [other] }] });
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 1, M9: 1 }]);
    expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
    expect(w.rows("select asset_number as number from assignment where staff_id = 'S1' and to_at is null")).toEqual([
      { number: other },
    ]);
    for (const _ of [2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});
  },
);
