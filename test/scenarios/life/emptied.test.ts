import { expect, it } from "vitest";
import { until } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { amend, line, numberOf, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";

/** Who holds what by our doing. */
function seats(w: World): unknown[] {
  return w.rows("select staff_id as person from assignment where to_at is null order by 1");
}

/** An order of two assets, of which the first is wanted with nothing in it any more. */
async function emptied(): Promise<World> {
  const w = await placedOrders({ first: { assets: ["A1", "A5"], products: [line("P1", "A1"), line("Q5", "A5")] } });
  rule(w, "orders.ended", "apply");
  rule(w, "orders.cancelled", "apply");
  amend(w, "1", { products: [line("Q5", "A5")] });
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
  expect(standing(w)).toEqual({ products: 3, assets: 3, assignments: 2 });
  return w;
}

it(
  "an asset with nothing in it stays with its holder as long as the order has it, and its seat is freed with the order",
  { tags: "long" },
  async () => {
    const w = await emptied();
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(seats(w)).toEqual([{ person: "S1" }, { person: "S2" }]);
    amend(w, "1", { cancelled: true });
    const run = await w.does("run", "everything");
    expect(run.calls, run.stdout).toEqual({ E5: 1, M9: 1 });
    expect(seats(w)).toEqual([{ person: "S2" }]);
    expect(standing(w)).toMatchObject({ products: 2, assignments: 1 });
    expect((await w.does("run", "everything")).calls).toEqual({});
  },
);

it(
  "a line with nothing in it that ends frees its seat, and comes back under a number of its own",
  { tags: "long" },
  async () => {
    const w = await emptied();
    const first = numberOf(w, "A1");
    amend(w, "1", { assets: ["A5"] });
    expect((await w.does("run", "everything")).calls).toEqual({ M9: 1 });
    expect(seats(w)).toEqual([{ person: "S2" }]);
    amend(w, "1", { assets: ["A1", "A5"], products: [line("P1", "A1"), line("Q5", "A5")] });
    expect((await w.does("run", "everything")).calls).toMatchObject({ E5: 1, M9: 1 });
    expect(numberOf(w, "A1")).not.toBe(first);
    expect(seats(w)).toEqual([{ person: "S1" }, { person: "S2" }]);
  },
);

it("a line with nothing in it that ends is only told of where the policy says so, and keeps its seat", async () => {
  const w = await emptied();
  rule(w, "orders.ended", "report");
  amend(w, "1", { assets: ["A5"] });
  expect((await w.does("run", "everything")).calls).toEqual({});
  expect([waitsFor(w, "1"), seats(w)]).toEqual(["policy.reported", [{ person: "S1" }, { person: "S2" }]]);
});

it(
  "a seat is freed also where the process ended after its order was taken out of an asset that stays",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    rule(w, "orders.cancelled", "apply");
    const fields = { crmProductId: "R1", productUri: "PID-R1", gmsPid: "PID-R1" };
    w.sandbox.hand({ action: "add-product", like: "Q1", assetNum: numberOf(w, "A1"), fields });
    amend(w, "1", { cancelled: true });
    w.sandbox.faults.add({ operation: "M6", fault: "silence", nth: [3, 4, 5, 6, 7, 8, 9] });
    const running = w.start("run", "everything");
    const isGone = (): boolean => w.rows("select 1 from order_step where kind = 'removed'").length > 0;
    await until("the order is taken out of the asset", isGone);
    running.child.kill("SIGKILL");
    await running.ended;
    w.sandbox.faults.clear();
    expect(seats(w)).toEqual([{ person: "S1" }, { person: "S2" }]);
    const run = await w.does("run", "everything");
    expect(run.calls, run.stdout).toEqual({ M9: 1 });
    expect(seats(w)).toEqual([{ person: "S2" }]);
  },
);
