import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { amend, line, orderOf, placedOrders, rule, waitsFor } from "./placed-orders.ts";

const secret = { passwords: ["zqcanary-licence-1"] };

/** Licence passwords that are kept of an order. */
function kept(w: World): unknown[] {
  return w.rows("select version from private_value where ref = 'orders/crm/1' and sealed is not null");
}

it("an order whose next amendment number is another order's gets the one after it", { tags: "long" }, async () => {
  const w = await placedOrders();
  w.orders = [...w.orders, orderOf("1-1", "C2")];
  w.write();
  await w.does("run", "everything");
  amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 1 }]);
  expect(w.rows("select channel_order_id as number from order_step")).toEqual([{ number: "1-2" }]);
});

it("a price that changes while an amendment is refused is kept at once, and once", async () => {
  const w = await placedOrders({ first: { products: [line("P1", "A1", { price: "10.00" }), line("Q1", "A1")] } });
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
  amend(w, "1", { products: [line("P1", "A1", { price: "12.00" }), line("Q1", "A1"), line("R1", "A1")] });
  for (const calls of [{ E5: 1 }, {}, {}]) expect((await w.does("run", "everything")).calls).toEqual(calls);
  expect(waitsFor(w, "1")).toBe("rejected.13004");
  const steps = w.rows<{ kind: string; items: string }>("select kind, items from order_step");
  expect(steps.map(({ kind }) => kind)).toEqual(["priced"]);
  expect(steps[0]?.items).toContain("1200");
});

it(
  "licence passwords of a form that was never bought are wiped once nothing needs them",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
    amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1", secret)] });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    expect(kept(w)).toHaveLength(1);
    w.sandbox.faults.clear();
    amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1")] });
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([0, {}]);
    expect(kept(w)).toEqual([]);
  },
);

it(
  "licence passwords are wiped also where only a name changed, or something ends that waits for a person",
  { tags: "long" },
  async () => {
    const products = [line("P1", "A1", secret), line("Q1", "A1")];
    const w = await placedOrders({ first: { products } });
    amend(w, "1", { products: [line("P1", "A1", { ...secret, name: "Another" }), line("Q1", "A1")] });
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(kept(w)).toEqual([]);
    rule(w, "orders.ended", "hold");
    amend(w, "1", { products: [line("P1", "A1", secret)] });
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    expect(kept(w)).toEqual([]);
  },
);
