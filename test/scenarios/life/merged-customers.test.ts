import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { document, promptRetries } from "../../support/cli.ts";
import { enterpriseOf, membersOf } from "../../support/world/members.ts";
import { places, productsBy, runsUntilQuiet } from "./moved.ts";
import { amend, openHold, orderOf, placedOrders, rule, standing } from "./placed-orders.ts";

/** Two customers with two orders and a person each, of which the first is merged into the second. */
async function merged(policies: Record<string, string>): Promise<World> {
  const w = await placedOrders();
  Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
  w.orders = [...w.orders, orderOf("3", "C1")];
  w.write();
  expect((await w.does("run", "everything")).exitCode).toBe(0);
  for (const [name, word] of Object.entries(policies)) rule(w, name, word);
  w.orders = w.orders.map((order) => ({ ...order, customer: "C2" }));
  w.staff = w.staff.map((person) => ({ ...person, customer: "C2" }));
  w.customers = w.customers.filter(({ id }) => id !== "C1");
  w.write();
  return w;
}

const after = { C2: ["P1 1-1", "P2 2", "P3 3-1", "Q1 1-1", "Q2 2", "Q3 3-1"] };

it(
  "all orders and people of a customer that was merged into another one are there, and nothing of it is left",
  { tags: "long" },
  async () => {
    const w = await merged({ "orders.moved": "apply", "staff.moved": "apply" });
    const first = await w.does("run", "everything");
    expect(first.calls, first.stdout).toEqual({ E5: 4, M1: 1, M4: 1, M9: 2 });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual(after);
    expect((await membersOf(w, "C1")).size, "those that came with the enterprise").toBe(2);
    expect((await membersOf(w, "C2")).size).toBe(4);
    expect(standing(w)).toEqual({ products: 6, assets: 3, assignments: 2 });
    const facts = document(await w.run("explain", "customer", "C1", "--json"));
    expect(facts.record.deferred.code).toBe("policy.reported");
    expect(w.sandbox.state()).toMatchObject({ enterprises: 2 });
  },
);

it("what a merge leaves behind is held by default, and both customers hold it until a person approves", async () => {
  const w = await merged({});
  await w.does("run", "everything");
  const held = await w.does("run", "everything");
  expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
  expect((await productsBy(w))["C1"]).toEqual(["P1 1", "P3 3", "Q1 1", "Q3 3"]);
  for (const { id } of w.rows<{ id: string }>("select id from hold where state = 'open'"))
    expect((await w.run("approve", id, "--reason", "the customers merged")).exitCode).toBe(0);
  await runsUntilQuiet(w);
  expect(await productsBy(w)).toEqual(after);
});

it("a merge that is taken back in the CRM leaves the first customer with what it had", { tags: "long" }, async () => {
  const w = await merged({ "orders.moved": "hold" });
  await w.does("run", "everything");
  const c1 = new Set(["1", "3"]);
  rule(w, "orders.moved", "apply");
  w.customers = [{ id: "C1" }, ...w.customers];
  w.orders = w.orders.map((order) => (c1.has(order.id) ? { ...order, customer: "C1" } : order));
  w.staff = w.staff.map((person) => (person.id === "S1" ? { ...person, customer: "C1" } : person));
  w.write();
  await runsUntilQuiet(w);
  expect(await productsBy(w)).toEqual({ C1: ["P1 1", "P3 3", "Q1 1", "Q3 3"], C2: ["P2 2", "Q2 2"] });
});

it.each([1, 2, 3])(
  "what was approved at a customer who is gone and never arrived is made later, whichever reading fails then (M5, %i)",
  { tags: "long" },
  async (nth) => {
    const w = await placedOrders({ staff: [] });
    Object.assign(w.environment, promptRetries);
    Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
    rule(w, "orders.moved", "hold");
    w.customers = w.customers.filter(({ id }) => id !== "C1");
    amend(w, "1", { customer: "C2" });
    for (const _ of [1, 2]) await w.does("run", "everything");
    expect((await w.run("approve", openHold(w), "--reason", "asked the customer")).exitCode).toBe(0);
    const about = enterpriseOf(w, "C1");
    w.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 1 });
    w.sandbox.faults.add({ operation: "M5", fault: "shortPage", about, nth: [nth, nth + 1, nth + 2] });
    const run = await w.does("run", "everything");
    w.sandbox.faults.clear();
    expect(await places(w), run.stdout).toEqual(run.exitCode === 0 ? { C2: ["P1", "Q1"] } : expect.anything());
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
  },
);
