import { expect, it } from "vitest";
import { amend, line, openHold, placedOrders, rule, standing } from "./placed-orders.ts";

it(
  "a line that the CRM took out waits for a person, then goes by the licence order that granted it, and once",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    amend(w, "1", { products: [line("P1", "A1")] });
    const planned = await w.run("plan", "--customer", "C1");
    expect(planned.stdout, planned.stderr).toContain("delete_product");
    const held = await w.does("run", "everything");
    expect(held.exitCode, held.stdout).toBe(4);
    expect(held.calls).toEqual({});
    const before = standing(w);
    const approved = await w.run("approve", openHold(w), "--reason", "asked the customer");
    expect(approved.exitCode, approved.stderr).toBe(0);
    const run = await w.does("run", "everything");
    expect(run.exitCode, run.stdout).toBe(0);
    expect(run.calls).toEqual({ E5: 1 });
    expect(standing(w)).toEqual({ ...before, products: 3 });
    for (const _ of [2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});
    expect(w.rows("select kind, origin from order_step")).toEqual([{ kind: "removed", origin: "sent" }]);
    expect(w.rows("select products from placed_order order by order_id")).toEqual([{ products: 1 }, { products: 2 }]);
  },
);

it("a line that the CRM took out goes at once where the policy says so", async () => {
  const w = await placedOrders();
  rule(w, "orders.ended", "apply");
  amend(w, "1", { products: [line("P1", "A1")] });
  const run = await w.does("run", "everything");
  expect(run.exitCode, run.stdout).toBe(0);
  expect(run.calls).toEqual({ E5: 1 });
  expect(standing(w)).toMatchObject({ products: 3, assets: 2, assignments: 2 });
});

it(
  "two deletions of one order in one approved hold both go, in one run, one after the other",
  { tags: "long" },
  async () => {
    const products = [line("P1", "A1"), line("Q1", "A1"), line("R1", "K1")];
    const w = await placedOrders({ first: { packages: [{ id: "K1", parent: "A1" }], products } });
    amend(w, "1", { packages: [], products: [line("P1", "A1")] });
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    const held = w.rows<{ id: string }>("select id from operation where state = 'held'");
    expect(held).toHaveLength(2);
    for (const { id } of held) expect((await w.run("approve", id, "--reason", "asked the customer")).exitCode).toBe(0);
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 2 }]);
    expect(standing(w)).toMatchObject({ products: 3 });
    expect((await w.does("run", "everything")).calls).toEqual({});
  },
);
