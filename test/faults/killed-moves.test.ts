/** @module-tag sized */
import { describe, expect, it } from "vitest";
import { killPoints } from "../support/kill-points-names.ts";
import { expectWhole, killedInRun } from "../support/killed-at.ts";
import { cellsOf, sampled } from "../support/sizes.ts";
import type { World } from "../support/cli.ts";
import { amend, placedOrders, rule } from "../scenarios/life/placed-orders.ts";
import { places, runsUntilQuiet } from "../support/world/moved-orders.ts";

/**
 * An order that moves to another customer is bought there by one call and goes where it was by another one. The process
 * is killed at each point of either call: afterwards there is one purchase and one deletion, and with an overlap the
 * product stood somewhere at every moment.
 */
const points = killPoints.filter((point) => !point.startsWith("in settling"));

interface Half {
  replacement: "overlap" | "gap";
  kind: "amend-order" | "delete-assets";
}

const halves: Record<string, Half> = {
  "the purchase of an overlap": { replacement: "overlap", kind: "amend-order" },
  "the deletion of an overlap": { replacement: "overlap", kind: "delete-assets" },
  "the deletion of a gap": { replacement: "gap", kind: "delete-assets" },
  "the purchase of a gap": { replacement: "gap", kind: "amend-order" },
};

async function moved({ replacement }: Half): Promise<World> {
  const w = await placedOrders({ staff: [{ id: "S2", customer: "C2", holds: ["A2"] }] });
  rule(w, "orders.moved", "apply");
  rule(w, "replacement", replacement);
  amend(w, "1", { customer: "C2" });
  return w;
}

const isFirst = ({ replacement, kind }: Half): boolean => (kind === "amend-order") === (replacement === "overlap");

/** Which E5 of the next run it is. */
const nthOf = (w: World, half: Half) => (): number =>
  isFirst(half) || w.rows("select 1 from operation where kind = 'amend-order' or kind like 'delete-%'").length > 0
    ? 1
    : 2;

describe.each(cellsOf(halves, () => sampled(points, 4)))("%s", (name, half, own) => {
  it.each(own)(
    "killed %s: there is one purchase and one deletion, and nothing is lost",
    { tags: "long" },
    async (point) => {
      const w = await moved(half);
      const had = w.sandbox.counts().effects["E5"] ?? 0;
      await killedInRun(w, point, half.kind, nthOf(w, half));
      expectWhole(w);
      const now = await places(w);
      if (half.replacement === "overlap") expect(Object.keys(now), `${name}: stands nowhere`).not.toEqual([]);
      else expect(Object.keys(now).length, `${name}: stands twice`).toBeLessThan(2);

      await runsUntilQuiet(w);
      expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
      expect((w.sandbox.counts().effects["E5"] ?? 0) - had).toBe(2);
      expectWhole(w);
    },
  );
});

describe.each(Object.entries(halves))("%s", (_name, half) => {
  it.each(["appliedNoReply", "resetBefore"] as const)(
    "whose answer is lost (%s) is made once",
    { tags: "long" },
    async (fault) => {
      const w = await moved(half);
      const had = w.sandbox.counts().effects["E5"] ?? 0;
      w.sandbox.faults.add({ operation: "E5", fault, nth: isFirst(half) ? 1 : 2 });
      await runsUntilQuiet(w);
      expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
      expect((w.sandbox.counts().effects["E5"] ?? 0) - had).toBe(2);
      expectWhole(w);
    },
  );
});
