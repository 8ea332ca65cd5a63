import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { amend, line, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";

const packages = [{ id: "K1", parent: "A1" }];
const products = [line("P1", "A1"), line("X1", "K1")];

async function packaged(): Promise<World> {
  const w = await placedOrders({ first: { packages, products } });
  rule(w, "orders.replaced", "apply");
  rule(w, "orders.ended", "apply");
  return w;
}

it(
  "a new unit of an order with a package is bought also while the package of another unit cannot be sold by itself",
  { tags: "long" },
  async () => {
    const w = await packaged();
    const other = [line("P1", "A1"), line("X1", "K1", { nodes: 9 })];
    amend(w, "1", { assets: [{ id: "A1", quantity: 2 }], products: other });
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls, waitsFor(w, "1")], run.stdout).toEqual([3, { E5: 1 }, "order.not-sendable"]);
    expect(standing(w)).toMatchObject({ products: 6, assets: 3 });
    for (const _ of [2, 3]) expect(await w.does("run", "everything")).toMatchObject({ exitCode: 3, calls: {} });
    amend(w, "1", { cancelled: true });
    rule(w, "orders.cancelled", "apply");
    expect((await w.does("run", "everything")).calls, "all of it goes").toEqual({ E5: 1 });
    expect(standing(w)).toMatchObject({ products: 2, assets: 1 });
  },
);

it("what ends waits for all that is bought in its place, also where a part of that is bought already", async () => {
  const w = await packaged();
  const named = [{ id: "K9", parent: "A1" }];
  const other = [line("P1", "A1"), line("X9", "K9")];
  amend(w, "1", { assets: [{ id: "A1", quantity: 2 }], packages: named, products: other });
  for (const calls of [{ E5: 1 }, {}, {}]) {
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls, waitsFor(w, "1")], run.stdout).toEqual([3, calls, "order.not-sendable"]);
    expect(standing(w)).toMatchObject({ products: 6, assets: 3 });
  }
});
