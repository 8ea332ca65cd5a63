import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { productsBy, runsUntilQuiet } from "./moved.ts";
import { amend, line, numberOf, openHold, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";
import { adds, earlier, holders, numbersSent, renewal, rests, runs } from "./renewals.ts";

/** Two customers; the order 3 of C1 renews what S1 holds. */
async function renewed(): Promise<World> {
  const w = await placedOrders();
  for (const name of ["orders.cancelled", "orders.added", "orders.moved", "staff.moved"]) rule(w, name, "apply");
  adds(w, renewal("3"));
  await runs(w, 0, { E5: 1 });
  return w;
}

it(
  "a renewal that moves alone is bought under a number of its own there, and leaves the earlier asset and its seat",
  { tags: "long" },
  async () => {
    const w = await renewed();
    const number = numberOf(w, "A1");
    const held = holders(w);
    amend(w, "3", { customer: "C2" });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C1: ["P1 1", "Q1 1"], C2: ["P2 2", "Q2 2", "R3 3-1"] });
    expect(numbersSent(w, "3-1")).not.toEqual([[[number]]]);
    expect([numberOf(w, "A1"), holders(w)]).toEqual([number, held]);
    await rests(w);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
  },
);

it(
  "a renewal that moves after the earlier order has ended leaves nothing behind, and nobody is given its number meanwhile",
  { tags: "long" },
  async () => {
    const w = await renewed();
    amend(w, "1", { cancelled: true });
    await runsUntilQuiet(w);
    rule(w, "orders.moved", "hold");
    w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: [] } : item));
    w.write();
    await runsUntilQuiet(w);
    w.staff = [...w.staff, { id: "S3", customer: "C1", holds: ["B3"] }];
    amend(w, "3", { customer: "C2" });
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    expect(holders(w), "nobody is given what is to go").toHaveLength(1);
    rule(w, "orders.moved", "apply");
    for (const { id } of w.rows<{ id: string }>("select id from hold where state = 'open'"))
      await w.run("approve", id, "--reason", "asked both customers");
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    expect(await productsBy(w)).toEqual({ C2: ["P2 2", "Q2 2", "R3 3-1"] });
    expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 1 });
  },
);

it(
  "both orders move: the renewal waits for the earlier one there, and goes on under the number that it has there",
  { tags: "long" },
  async () => {
    const w = await renewed();
    const number = numberOf(w, "A1");
    for (const id of ["1", "3"]) amend(w, id, { customer: "C2" });
    w.staff = w.staff.map((person) => ({ ...person, customer: "C2" }));
    w.write();
    await runsUntilQuiet(w, 12);
    expect(await productsBy(w)).toEqual({ C2: ["P1 1-1", "P2 2", "Q1 1-1", "Q2 2", "R3 3-1"] });
    const there = numbersSent(w, "1-1");
    expect([there, numbersSent(w, "3-1")]).not.toEqual([[[[number]]], [[[number]]]]);
    expect(numbersSent(w, "3-1")).toEqual(there);
    expect(standing(w)).toEqual({ products: 5, assets: 2, assignments: 2 });
    await rests(w);
  },
);

it(
  "both orders move after the earlier one has ended: the renewal is bought there all the same",
  { tags: "long" },
  async () => {
    const w = await renewed();
    amend(w, "1", { cancelled: true });
    await runsUntilQuiet(w);
    for (const id of ["1", "3"]) amend(w, id, { customer: "C2" });
    w.staff = w.staff.map((person) => ({ ...person, customer: "C2", holds: [person.id === "S1" ? "B3" : "A2"] }));
    w.write();
    await runsUntilQuiet(w, 12);
    expect(await productsBy(w)).toEqual({ C2: ["P2 2", "Q2 2", "R3 3-1"] });
    expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 2 });
    await rests(w);
  },
);

it(
  "the earlier order moves and the renewal stays: that keeps its number, and so does who holds it",
  { tags: "long" },
  async () => {
    const w = await renewed();
    const held = holders(w);
    amend(w, "1", { customer: "C2" });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C1: ["R3 3"], C2: ["P1 1-1", "P2 2", "Q1 1-1", "Q2 2"] });
    expect(holders(w)).toEqual(held);
    await rests(w);
  },
);

it("a renewal that was never bought and names another customer's order waits, also where that order moved away", async () => {
  const w = await placedOrders();
  for (const name of ["orders.cancelled", "orders.added", "orders.moved"]) rule(w, name, "apply");
  amend(w, "1", { customer: "C2" });
  for (const _ of [1, 2, 3]) await w.does("run", "everything");
  adds(w, renewal("3"));
  await runs(w, 3, {});
  expect(waitsFor(w, "3")).toBe("order.earlier-of-another");
});

it.each([true, false])(
  "an order that renews one of its own assets is bought where it moved to (renewed before it moved: %s)",
  { tags: "long" },
  async (before) => {
    const w = await placedOrders();
    const rules = ["orders.cancelled", "orders.added", "orders.ended", "orders.moved", "staff.moved"];
    for (const name of rules) rule(w, name, "apply");
    w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, holds: [] } : item));
    amend(w, "1", { assets: [{ id: "B1", continues: earlier }], products: [line("R1", "B1")] });
    if (before) await runsUntilQuiet(w);
    amend(w, "1", { customer: "C2" });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C2: ["P2 2", "Q2 2", `R1 1-${before ? 3 : 1}`] });
    expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 1 });
    await rests(w);
  },
);

it(
  "with a gap no unit of a renewal that moves goes while another one waits for what it continues",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ staff: [] });
    adds(w, renewal("3", { assets: [{ id: "B3", quantity: 2, continues: earlier }] }));
    await runs(w, 0, { E5: 1 });
    const before = await productsBy(w);
    const rules = { "orders.moved": "apply", "orders.added": "apply", "orders.cancelled": "hold", replacement: "gap" };
    for (const [name, word] of Object.entries(rules)) rule(w, name, word);
    amend(w, "1", { cancelled: true });
    amend(w, "3", { customer: "C2" });
    for (const _ of [1, 2]) await runs(w, 4, {});
    expect(await productsBy(w)).toEqual(before);
    await w.run("approve", openHold(w), "--reason", "asked the customer");
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C2: ["P2 2", "Q2 2", "R3 3-2", "R3 3-2"] });
  },
);

it(
  "with a gap nothing of a renewal that moves goes while a person is asked about what is in packages of it",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ staff: [] });
    const packages = [{ id: "K3", parent: "B3" }];
    adds(w, renewal("3", { packages, products: [line("R3", "B3"), line("T3", "K3")] }));
    await runs(w, 0, { E5: 1 });
    const shown = standing(w);
    const rules = { "orders.moved": "apply", "orders.added": "apply", replacement: "gap" };
    for (const [name, word] of Object.entries(rules)) rule(w, name, word);
    amend(w, "3", { customer: "C2" });
    await w.does("run", "everything");
    for (const _ of [1, 2]) await runs(w, 4, {});
    expect(standing(w)).toEqual(shown);
    const [held] = w.rows<{ id: string }>("select id from operation where state = 'held'");
    const approved = await w.run("approve", held?.id ?? "", "--reason", "asked both customers");
    expect(approved.exitCode, approved.stderr).toBe(0);
    await runsUntilQuiet(w);
    expect(Object.keys(await productsBy(w))).toEqual(["C1", "C2"]);
    expect((await productsBy(w))["C1"]).toEqual(["P1 1", "Q1 1"]);
  },
);

it(
  "what moved away while a refused renewal names it says what ends that, and goes once the CRM drops it",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ staff: [] });
    rule(w, "orders.moved", "apply");
    w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
    adds(w, renewal("3"));
    await runs(w, 3, { E5: 1 });
    w.sandbox.faults.clear();
    amend(w, "1", { customer: "C2" });
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    expect((await productsBy(w))["C1"]).toEqual(["P1 1", "Q1 1"]);
    const told = (await w.run("explain", "customer", "C1")).stdout.replaceAll(/\s+/gu, " ");
    expect(told).toContain(
      "the order crm/1 moved away in the CRM, and order:crm/3 is to take over something of it here",
    );
    expect(told).toContain("correct in the CRM what that one continues or takes over, or cancel it there");
    amend(w, "3", { assets: ["B3"] });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C1: ["R3 3"], C2: ["P1 1-1", "P2 2", "Q1 1-1", "Q2 2"] });
  },
);
