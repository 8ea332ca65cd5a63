import { describe, expect, it } from "vitest";
import { callerOf, createEnterprise } from "../../sandbox/caller.ts";
import { numberOf, openHolds, ran } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import { removeFreely, runOf, takesBack, undo } from "../../support/world/undone.ts";
import { productsBy, runsUntilQuiet } from "../../support/world/moved-orders.ts";
import { amend, line, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

/** Two customers with a placed order each, in a world where nothing waits for a person. */
async function placed(given: Parameters<typeof placedOrders>[0] = {}): Promise<World> {
  const w = await placedOrders(given);
  removeFreely(w);
  return w;
}

it("taking a run back does nothing twice after a lost answer", async () => {
  const w = await placed();
  w.orders.push(orderOf("3", "C1"), orderOf("4", "C2"));
  const { file } = await undo(w, await runOf(w));
  w.sandbox.faults.add({ operation: "E5", fault: "appliedNoReply", times: 1 });
  for (const calls of [{ E5: 2 }, {}]) {
    expect((await w.does("apply", file)).calls).toEqual(calls);
    expect(w.sandbox.state()).toMatchObject({ assets: 2, products: 4 });
  }
});

describe("taking a run back buys again", () => {
  it("what it deleted, for the customer that is asked for alone", { tags: "long" }, async () => {
    const w = await placed();
    w.orders = w.orders.map((item) => ({ ...item, products: [line(`P${item.id}`, `A${item.id}`)] }));
    w.staff = w.staff.map((item) => ({ ...item, holds: [] }));
    const { steps, calls } = await takesBack(w, await runOf(w), "--customer", "C1");
    expect(steps).toEqual([
      "approximate E5 order:crm/1",
      "approximate E5 order:crm/2",
      "exact M9 staff:crm/S1",
      "exact M9 staff:crm/S2",
    ]);
    expect(calls).toEqual({ E5: 1, M9: 1 });
    expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 1 });
    expect((await ran(w)).calls).toEqual({ E5: 1, M9: 1 });
    expect(standing(w)).toEqual({ products: 2, assets: 2, assignments: 0 });
  });

  it("nothing that was bought again and removed once more", { tags: "long" }, async () => {
    const w = await placed();
    const [both, one] = [[line("P1", "A1"), line("Q1", "A1")], [line("P1", "A1")]];
    const runs: string[] = [];
    for (const products of [one, both, one]) {
      amend(w, "1", { products });
      runs.push(await runOf(w));
    }
    const [first = "", , last = ""] = runs;
    expect((await takesBack(w, first)).calls).toEqual({});
    expect((await takesBack(w, last)).calls).toEqual({ E5: 1 });
    // A second file of the same run buys nothing twice.
    expect((await takesBack(w, last)).calls).toEqual({});
    expect(standing(w)["products"]).toBe(4);
  });

  it("of two files of one run, and of a run and what took it back, each thing once", { tags: "long" }, async () => {
    const w = await placed();
    w.orders.push(orderOf("3", "C1"));
    w.staff.push({ id: "S3", customer: "C1", holds: ["A3"] });
    const run = await runOf(w);
    for (const name of ["one", "two"]) await w.run("undo", run, "--out", w.path(name));
    const applied = await w.does("--json", "apply", w.path("one"));
    expect(applied.calls).toEqual({ E5: 1, M4: 1, M9: 1 });
    const twice = await w.does("apply", w.path("two"));
    expect([twice.exitCode, twice.calls]).toEqual([3, {}]);
    const { steps, calls } = await takesBack(w, JSON.parse(applied.stdout).run);
    expect(steps).toContain("impossible M9 staff:crm/S3");
    expect(calls).toEqual({ E5: 1, M1: 1 });
    expect(standing(w)).toEqual({ products: 6, assets: 3, assignments: 2 });
    expect((await ran(w)).calls).toEqual({ M9: 1 });
    const quiet = await ran(w);
    expect([quiet.exitCode, quiet.calls]).toEqual([0, {}]);
  });

  it("nothing in the enterprise that a customer was linked with since", { tags: "long" }, async () => {
    const w = await placed({ staff: [] });
    w.orders.push(orderOf("3", "C1"));
    amend(w, "1", { products: [line("P1", "A1")] });
    const run = await runOf(w);
    const other = await createEnterprise(callerOf(w.sandbox.url), "C1");
    const because = ["--reason", "the service desk said so"];
    expect((await w.run("unlink", "C1", "--keep-orders", ...because)).exitCode).toBe(0);
    expect((await w.run("link", "C1", other.enterpriseGlobalId, ...because)).exitCode).toBe(0);
    const { steps, calls } = await takesBack(w, run);
    expect([steps, calls]).toEqual([["impossible E5 order:crm/1", "impossible E5 order:crm/3"], {}]);
  });

  it("the old form of a replacement, and what replaced it goes", { tags: "long" }, async () => {
    const w = await placed();
    amend(w, "1", { products: [line("P1", "A1", { nodes: 9 }), line("Q1", "A1")] });
    const run = await runOf(w);
    expect((await takesBack(w, run)).calls).toEqual({ E5: 2 });
    expect(w.sandbox.state()).toMatchObject({ products: 4, assets: 2 });
    expect((await undo(w, run)).left).toBe(0);
    expect((await ran(w)).calls).toEqual({ E5: 2 });
    expect((await ran(w)).calls).toEqual({});
    expect(w.sandbox.state()).toMatchObject({ products: 4, assets: 2 });
  });
});

describe("taking back what moved an order to another customer", () => {
  it("never leaves the order nowhere", { tags: "long" }, async () => {
    const w = await placed({ staff: [] });
    amend(w, "1", { customer: "C2" });
    const runs: string[] = [];
    for (let run = 0; run < 5; run += 1) {
      const { calls, said } = await ran(w);
      if (Object.keys(calls).length > 0) runs.push(said.run);
    }
    expect(runs).not.toEqual([]);
    const before = await productsBy(w);
    expect(before["C1"]).toBeUndefined();
    for (const run of runs) {
      const { steps, calls } = await takesBack(w, run);
      expect(steps.filter((step) => !step.startsWith("impossible"))).toEqual([]);
      expect(calls).toEqual({});
    }
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual(before);
  });

  it("leaves it where it waits for a decision, and takes later purchases back", { tags: "long" }, async () => {
    const w = await placed({ staff: [] });
    rule(w, "orders.moved", "ask");
    amend(w, "1", { customer: "C2" });
    expect((await takesBack(w, (await ran(w)).said.run)).calls).toEqual({});
    rule(w, "orders.moved", "apply");
    await w.run("run", "everything");
    for (const { id } of await openHolds(w))
      expect((await w.run("approve", id, "--reason", "asked both customers")).exitCode).toBe(0);
    await runsUntilQuiet(w);
    const moved = { C2: ["P1 1-2", "P2 2", "Q1 1-2", "Q2 2"] };
    expect(await productsBy(w)).toEqual(moved);
    amend(w, "1", { products: ["P1", "Q1", "R1"].map((id) => line(id, "A1")) });
    expect((await takesBack(w, await runOf(w))).calls).toEqual({ E5: 1 });
    expect(await productsBy(w)).toEqual(moved);
  });
});

describe("taking back a run with a renewal", () => {
  const renewal = {
    id: "3",
    customer: "C1",
    assets: [{ id: "B3", continues: { order: "1", instance: "A1" } }],
    products: [line("R3", "B3"), line("T3", "B3")],
  };

  it("buys a product of it again under the same number", { tags: "long" }, async () => {
    const w = await placed();
    w.orders.push(renewal);
    await runOf(w);
    amend(w, "3", { products: [line("R3", "B3")] });
    const run = await runOf(w);
    expect(standing(w)).toMatchObject({ products: 5, assets: 2 });
    expect((await takesBack(w, run)).calls).toEqual({ E5: 1 });
    expect(standing(w)).toEqual({ products: 6, assets: 2, assignments: 2 });
  });

  it("buys the earlier order that the run ended beside it, under another number", { tags: "long" }, async () => {
    const w = await placed();
    const number = numberOf(w, "P1");
    w.orders.push(renewal);
    const renewed = await runOf(w);
    amend(w, "1", { cancelled: true });
    const ended = await runOf(w);
    const after = { products: 4, assets: 2, assignments: 2 };
    expect(standing(w)).toEqual(after);
    const { steps, calls } = await takesBack(w, ended);
    expect([steps, calls]).toEqual([["approximate E5 order:crm/1"], { E5: 1 }]);
    expect(standing(w)).toEqual({ products: 6, assets: 3, assignments: 2 });
    await runsUntilQuiet(w);
    expect(standing(w)).toEqual(after);
    // The renewal is the last that the asset has: without it, its holder loses the asset, which the undo says.
    const { stdout } = await w.run("undo", renewed);
    expect(stdout).toContain(number);
  });
});

it("an order that moved away is not bought back at its old customer: no run would look after it there", async () => {
  const w = await placed({ staff: [] });
  rule(w, "orders.moved", "apply");
  amend(w, "1", { customer: "C2" });
  const { calls, said } = await ran(w);
  // It is removed there, and bought at the new one.
  expect(calls).toEqual({ E5: 2 });
  const { steps } = await undo(w, said.run);
  expect(steps).toEqual(["impossible E5 order:crm/1", "impossible E5 order:crm/1"]);
  await runsUntilQuiet(w);
  expect(standing(w)).toMatchObject({ products: 4 });
});
