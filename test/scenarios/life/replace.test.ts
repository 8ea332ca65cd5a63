import { expect, it } from "vitest";
import { amend, line, openHold, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";

const more = { products: [line("P1", "A1", { nodes: 9 }), line("Q1", "A1")] };

it(
  "other terms are bought beside the old ones, which go only once a person approved it: nobody is without",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    amend(w, "1", more);
    const planned = await w.run("plan");
    expect(planned.stdout).toContain("then: E5 delete_product of the old form of 1 product(s), once M7 shows");
    const first = await w.does("run", "everything");
    expect([first.exitCode, first.calls], first.stdout).toEqual([4, { E5: 1 }]);
    expect(standing(w)).toEqual({ products: 5, assets: 2, assignments: 2 });
    await w.run("approve", openHold(w), "--reason", "asked the customer");
    const second = await w.does("run", "everything");
    expect([second.exitCode, second.calls], second.stdout).toEqual([0, { E5: 1 }]);
    expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
    expect(w.rows("select kind, channel_order_id as bought from order_step order by number")).toMatchObject([
      { kind: "bought", bought: "1-1" },
      { kind: "removed" },
    ]);
    for (const _ of [2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});
  },
);

it("an old form that M7 shows no new one beside stays", { tags: "long" }, async () => {
  const w = await placedOrders();
  rule(w, "orders.replaced", "apply");
  amend(w, "1", more);
  // What was bought shows under no channel order number yet.
  w.sandbox.faults.add({ operation: "M7", fault: "oddField", field: "channelOrderId", value: "later" });
  const first = await w.does("run", "everything");
  expect(first.calls, first.stdout).toEqual({ E5: 1 });
  expect(standing(w)).toMatchObject({ products: 5 });
  w.sandbox.faults.clear();
  const second = await w.does("run", "everything");
  expect([second.exitCode, second.calls], second.stdout).toEqual([0, { E5: 1 }]);
  expect(standing(w)).toMatchObject({ products: 4 });
});

it("with a gap the old form goes first, and a held deletion holds the purchase with it", { tags: "long" }, async () => {
  const w = await placedOrders();
  w.environment["CRM_SYNC__policies__replacement"] = "gap";
  amend(w, "1", more);
  const held = await w.does("run", "everything");
  expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
  expect(standing(w)).toMatchObject({ products: 4 });
  await w.run("approve", openHold(w), "--reason", "asked the customer");
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 2 }]);
  expect(standing(w)).toMatchObject({ products: 4 });
  expect(w.rows("select kind from order_step order by number")).toEqual([{ kind: "removed" }, { kind: "bought" }]);
});

it("with a gap nothing goes while what takes its place cannot be bought", async () => {
  const w = await placedOrders();
  w.environment["CRM_SYNC__policies__replacement"] = "gap";
  rule(w, "orders.replaced", "apply");
  w.customers = w.customers.map((item) => (item.id === "C1" ? { ...item, address: null } : item));
  amend(w, "1", more);
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls, waitsFor(w, "1")], run.stdout).toEqual([3, {}, "customer.not-orderable"]);
  expect(standing(w)).toMatchObject({ products: 4 });
});

it(
  "with a gap nothing goes while what takes its place is only reported, or has to be approved",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    w.environment["CRM_SYNC__policies__replacement"] = "gap";
    rule(w, "orders.replaced", "apply");
    rule(w, "orders.added", "report");
    amend(w, "1", more);
    for (const _ of [1, 2]) {
      const told = await w.does("run", "everything");
      expect([told.calls, waitsFor(w, "1")], told.stdout).toEqual([{}, "policy.reported"]);
    }
    rule(w, "orders.added", "hold");
    const held = await w.does("run", "everything");
    expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
    expect(standing(w)).toMatchObject({ products: 4 });
    await w.run("approve", openHold(w), "--reason", "asked the customer");
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 2 }]);
    expect(standing(w)).toMatchObject({ products: 4 });
    for (const _ of [2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});
  },
);

it("with a gap a package whose new form cannot be sold again keeps what it holds", { tags: "long" }, async () => {
  const packages = [{ id: "K1", parent: "A1" }];
  const w = await placedOrders({ first: { packages, products: [line("P1", "A1"), line("R1", "K1")] } });
  w.environment["CRM_SYNC__policies__replacement"] = "gap";
  rule(w, "orders.replaced", "apply");
  amend(w, "1", { packages, products: [line("P1", "A1"), line("R1", "K1", { nodes: 9 })] });
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls, waitsFor(w, "1")], run.stdout).toEqual([3, {}, "order.not-sendable"]);
  expect(standing(w)).toMatchObject({ products: 4 });
});

it("with a gap a saved plan holds both steps, and carries both out", { tags: "long" }, async () => {
  const w = await placedOrders();
  w.environment["CRM_SYNC__policies__replacement"] = "gap";
  rule(w, "orders.replaced", "apply");
  amend(w, "1", more);
  const saved = await w.run("plan", "--out", w.path("gap.ndjson"));
  expect(saved.stdout).toContain("delete_product of the licence order");
  expect(saved.stdout).toContain("the old form goes first");
  expect(saved.stdout).toContain("2 operation(s) planned for 1 customer(s)");
  const applied = await w.does("apply", w.path("gap.ndjson"));
  expect([applied.exitCode, applied.calls], applied.stdout).toEqual([0, { E5: 2 }]);
  expect(standing(w)).toMatchObject({ products: 4 });
  expect((await w.does("run", "everything")).calls).toEqual({});
});

it("other terms of an order and a leaver of the same customer in one night: nothing of it is called a change of the platform", async () => {
  const w = await placedOrders();
  amend(w, "1", { products: [line("P1", "A1", { nodes: 9 }), line("Q1", "A1")] });
  for (const person of w.staff) if (person.id === "S1") person.holds = [];
  w.write();
  const run = await w.does("run", "everything");
  expect.soft(run.stdout).not.toContain("customer.stale");
  expect([run.exitCode, run.calls], run.stdout).toEqual([4, { E5: 1, M9: 1 }]);
});
