/** @module-tag sized */
import { describe, expect, it } from "vitest";
import type { World } from "../support/cli.ts";
import { killPoints } from "../support/kill-points-names.ts";
import { expectWhole, killedInRun } from "../support/killed-at.ts";
import { sampled } from "../support/sizes.ts";
import { holdings, productsBy } from "../support/world/moved-orders.ts";
import { amend, numberOf, placedOrders, rule, standing } from "../scenarios/life/placed-orders.ts";
import { adds, numbersSent, renewal } from "../support/world/renewals.ts";

/**
 * A renewal that moves to another customer, and one of what an adopted order has, killed at each point of their calls:
 * each call is made once, and the earlier asset keeps its number and who holds it.
 */
const points = killPoints.filter((point) => !point.startsWith("in settling"));
const rules = ["orders.cancelled", "orders.added", "orders.moved"] as const;

/** Two customers; the order 3 of C1, which renews what S1 holds, belongs to C2 now. */
async function moving(): Promise<World> {
  const w = await placedOrders();
  for (const name of rules) rule(w, name, "apply");
  adds(w, renewal("3"));
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
  amend(w, "3", { customer: "C2" });
  return w;
}

/** Two customers whose orders somebody else has placed; the order 3 renews what one of them has. */
async function adopted(): Promise<{ w: World; number: string }> {
  const w = await placedOrders();
  const number = numberOf(w, "A1");
  for (const name of rules) rule(w, name, "apply");
  w.losesItsLedger();
  expect((await w.does("run", "everything")).calls).not.toHaveProperty("E5");
  adds(w, renewal("3"));
  return { w, number };
}

/** Which E5 of the next run it is; `first`: no E5 is made before it. */
const nthOf = (w: World, first: boolean) => (): number =>
  first || w.sandbox.state().orders["3-1"] !== undefined ? 1 : 2;

async function purchases(w: World, runs: number): Promise<number> {
  const before = w.sandbox.counts().effects["E5"] ?? 0;
  for (let run = 0; run < runs; run += 1) await w.does("run", "everything");
  return (w.sandbox.counts().effects["E5"] ?? 0) - before;
}

describe.each([
  ["amend-order", true],
  ["delete-products", false],
] as const)("a renewal that moves, killed in its %s", (kind, first) => {
  it.each(sampled(points, 2))(
    "%s: it is bought once there and goes once where it was, and the seat stays",
    { tags: "long" },
    async (point) => {
      const w = await moving();
      const number = numberOf(w, "A1");
      const held = await holdings(w);
      const had = w.sandbox.counts().effects["E5"] ?? 0;
      await killedInRun(w, point, kind, nthOf(w, first));
      expectWhole(w);
      expect(await holdings(w)).toEqual(held);
      const shown = Object.values(await productsBy(w)).flat();
      expect(
        shown.some((row) => row.startsWith("R3 ")),
        "stands nowhere",
      ).toBe(true);

      await purchases(w, 5);
      expect((w.sandbox.counts().effects["E5"] ?? 0) - had).toBe(2);
      expect(await productsBy(w)).toEqual({ C1: ["P1 1", "Q1 1"], C2: ["P2 2", "Q2 2", "R3 3-1"] });
      expect([numberOf(w, "A1"), await holdings(w)]).toEqual([number, held]);
      expect(numbersSent(w, "3-1")).not.toEqual([[number]]);
      const last = await w.does("run", "everything");
      expect([last.exitCode, last.calls], last.stdout).toEqual([0, {}]);
      expectWhole(w);
    },
  );
});

describe("a renewal of what an adopted order has", () => {
  it.each(sampled(points, 3))(
    "killed %s: it is bought once, under the number that M7 shows that under",
    { tags: "long" },
    async (point) => {
      const { w, number } = await adopted();
      const had = w.sandbox.counts().effects["E5"] ?? 0;
      await killedInRun(w, point, "place-order", nthOf(w, true));
      expectWhole(w);
      await purchases(w, 5);
      expect((w.sandbox.counts().effects["E5"] ?? 0) - had).toBe(1);
      expect(w.sandbox.state().orders["3"]).toMatchObject({ calls: 1, products: 1 });
      expect(numbersSent(w, "3")).toEqual([[number]]);
      expect(standing(w)).toEqual({ products: 5, assets: 2, assignments: 2 });
      expect(await purchases(w, 2)).toBe(0);
      amend(w, "1", { cancelled: true });
      expect(await purchases(w, 3)).toBe(1);
      expect(standing(w)).toEqual({ products: 3, assets: 2, assignments: 2 });
      expectWhole(w);
    },
  );
});
