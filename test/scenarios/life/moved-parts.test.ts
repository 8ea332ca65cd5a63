import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { places, productsBy, runsUntilQuiet } from "./moved.ts";
import { amend, line, numberOf, openHold, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";
import { adds, renewal, runs } from "./renewals.ts";

/**
 * Two customers, and an order of the first that goes by two calls: a package in an asset that stays, of which a person
 * is asked by itself, and an asset of its own. It moves, with a gap.
 */
async function inTwoCalls(): Promise<World> {
  const w = await placedOrders({ staff: [] });
  const packages = [{ id: "K3", parent: "B3" }];
  const [B3] = renewal("3").assets;
  const products = [line("R3", "B3"), line("T3", "K3"), line("U3", "D3")];
  adds(w, renewal("3", { assets: [B3 ?? "B3", "D3"], packages, products }));
  await runs(w, 0, { E5: 1 });
  for (const [name, word] of Object.entries({ "orders.moved": "apply", replacement: "gap" })) rule(w, name, word);
  amend(w, "3", { customer: "C2" });
  return w;
}

/** The held operation of a kind. */
function heldOf(w: World, kind: string): string {
  const [row] = w.rows<{ id: string }>("select id from operation where state = 'held' and kind = ?", kind);
  return row?.id ?? "";
}

it(
  "with a gap nothing of a moved order goes while one of the calls that take it away waits for a person",
  { tags: "long" },
  async () => {
    const w = await inTwoCalls();
    const shown = standing(w);
    await w.does("run", "everything");
    for (const _ of [1, 2]) await runs(w, 4, {});
    expect(standing(w)).toEqual(shown);
    const id = heldOf(w, "delete-package-products");
    const approved = await w.run("approve", id, "--reason", "asked both customers");
    expect(approved.exitCode, approved.stderr).toBe(0);
    await runsUntilQuiet(w);
    expect((await productsBy(w))["C1"]).toEqual(["P1 1", "Q1 1"]);
    expect((await productsBy(w))["C2"]).toEqual(["P2 2", "Q2 2", "R3 3-3", "U3 3-3"]);
  },
);

it("with a gap nothing of a moved order goes where a person rejected one of the calls that take it away", async () => {
  const w = await inTwoCalls();
  const shown = standing(w);
  for (const _ of [1, 2]) await w.does("run", "everything");
  const rejected = await w.run("reject", openHold(w), "--reason", "the first customer keeps it");
  expect(rejected.exitCode, rejected.stderr).toBe(0);
  for (const _ of [1, 2]) await runs(w, 3, {});
  expect(standing(w)).toEqual(shown);
  expect(await places(w)).toEqual({ C1: ["P1", "Q1"] });
  expect((await w.run("explain", "customer", "C1")).stdout).toMatch(/a person rejected/u);
});

it(
  "with a gap nothing of a moved order goes while a limit holds one of the calls that take it away",
  { tags: "long" },
  async () => {
    const w = await inTwoCalls();
    const shown = standing(w);
    w.environment["CRM_SYNC__limits__taking__run__floor"] = "0";
    w.environment["CRM_SYNC__limits__taking__run__share"] = "0";
    for (const _ of [1, 2]) await w.does("run", "everything");
    const id = heldOf(w, "delete-package-products");
    expect((await w.run("approve", id, "--reason", "asked both customers")).exitCode).toBe(0);
    for (const _ of [1, 2]) await runs(w, 4, {});
    expect(standing(w)).toEqual(shown);
    await w.run("approve", openHold(w), "--reason", "asked both customers");
    await runsUntilQuiet(w);
    expect((await productsBy(w))["C1"]).toEqual(["P1 1", "Q1 1"]);
  },
);

it.each(["that it had where it was", "of an asset of another customer"])(
  "with a gap nothing goes of an order to which the CRM gives a number %s, which it cannot have",
  { tags: "long" },
  async (which) => {
    const w = await placedOrders({ staff: [] });
    const number = numberOf(w, which === "that it had where it was" ? "A1" : "A2");
    for (const [name, word] of Object.entries({ "orders.moved": "hold", replacement: "gap" })) rule(w, name, word);
    amend(w, "1", { customer: "C2" });
    for (const _ of [1, 2]) await w.does("run", "everything");
    expect((await w.run("approve", openHold(w), "--reason", "asked both customers")).exitCode).toBe(0);
    amend(w, "1", { assets: [{ id: "A1", numbers: [number] }] });
    rule(w, "orders.moved", "apply");
    for (const _ of [1, 2, 3]) await runs(w, 3, {});
    expect(await places(w)).toEqual({ C1: ["P1", "Q1"] });
    expect(waitsFor(w, "1")).toBe("asset.number-taken");
    expect((await w.run("plan")).stdout).not.toContain("delete_asset");
    amend(w, "1", { assets: ["A1"] });
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
  },
);

it(
  "with a gap nothing goes of an order that moves back before all that it lacks there is released",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ staff: [] });
    for (const [name, word] of Object.entries({ "orders.moved": "hold", "orders.replaced": "apply" }))
      rule(w, name, word);
    amend(w, "1", { customer: "C2" });
    for (const _ of [1, 2]) await w.does("run", "everything");
    const more = [line("P1", "A1", { nodes: 9 }), line("Q1", "A1")];
    amend(w, "1", { products: more });
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    const twice = { C1: ["P1 1", "Q1 1"], C2: ["P1 1-2", "P2 2", "Q1 1-1", "Q2 2"] };
    expect(await productsBy(w)).toEqual(twice);
    const rules = { "orders.moved": "apply", "orders.replaced": "hold", replacement: "gap" };
    for (const [name, word] of Object.entries(rules)) rule(w, name, word);
    amend(w, "1", { customer: "C1", products: [...more, line("R1", "A1")] });
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    expect((await productsBy(w))["C2"], "C1 has the old form of it alone").toEqual(twice.C2);
    await w.run("approve", openHold(w), "--reason", "asked both customers");
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({ C1: ["P1", "Q1", "R1"] });
  },
);
