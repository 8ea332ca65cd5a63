/** @module-tag sized */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { World } from "../support/cli.ts";
import { killPoints } from "../support/kill-points-names.ts";
import type { KillPoint } from "../support/kill-points-names.ts";
import { earlierKill, expectWhole, silentAt } from "../support/killed-at.ts";
import { startCrmSync } from "../support/process.ts";
import { sampled } from "../support/sizes.ts";
import { amend, numberOf, placedOrders, rule, standing } from "../scenarios/life/placed-orders.ts";
import { holdings } from "../support/world/moved-orders.ts";
import { adds, earlier, numbersSent, renewal } from "../support/world/renewals.ts";

/**
 * A renewal with one unit more whose earlier order ends in the same run, killed at each point of the life of its
 * purchase and of the deletion that follows: it is placed once, under the number of the earlier asset and one of its
 * own, and who holds the earlier one keeps it.
 */
const preload = join(import.meta.dirname, "../support/kill-points.ts");

/** Two customers; the order 3 of C1 renews what S1 holds, and the order that it renews was cancelled. */
async function renewing(): Promise<World> {
  const w = await placedOrders();
  for (const name of ["orders.cancelled", "orders.added"]) rule(w, name, "apply");
  adds(w, renewal("3", { assets: [{ id: "B3", quantity: 2, continues: earlier }] }));
  amend(w, "1", { cancelled: true });
  return w;
}

async function killed(w: World, point: KillPoint, kind: string): Promise<void> {
  // The deletion is the second E5 where the purchase was not made before.
  const nth = kind === "place-order" || w.sandbox.state().orders["3"] !== undefined ? 1 : 2;
  const lift = silentAt(point, w.sandbox, { operation: "E5", nth });
  const [last] = w.rows<{ id: string }>(
    "select id from operation where kind = ? and state in ('sending', 'unknown') order by id desc limit 1",
    kind,
  );
  const environment = {
    ...w.place.environment,
    KILL_POINT: point,
    KILL_KIND: kind,
    KILL_OPERATION: last?.id ?? "",
  };
  const { signal, stderr } = await startCrmSync({ ...w.place, environment, preload }, "run", "everything").ended;
  await lift(signal === "SIGKILL");
  expect(signal, `${point} was not reached: ${stderr.slice(-1500)}`).toBe("SIGKILL");
}

const points = killPoints.filter((point) => point !== "in settling, after a resend");
const cells = [
  ...sampled([...killPoints], 3).map((point) => ["place-order", point] as const),
  ...sampled(points, 2).map((point) => ["delete-products", point] as const),
];

describe("a renewal that ends the earlier order", () => {
  it.each(cells)(
    "killed in its %s %s: all of it is done once, and the seat stays",
    { tags: "long" },
    async (kind, point) => {
      const w = await renewing();
      const number = numberOf(w, "A1");
      const held = await holdings(w);
      const earlier = earlierKill[point];
      if (earlier !== undefined) await killed(w, earlier, kind);
      await killed(w, point, kind);
      expectWhole(w);
      expect(await holdings(w)).toEqual(held);
      expect(standing(w), "neither customer is ever without the asset").toMatchObject({ assignments: 2 });

      for (let run = 0; run < 4; run += 1) {
        const { exitCode, stdout, stderr } = await w.run("run", "everything");
        expect([0, 3, 5], stdout + stderr).toContain(exitCode);
        expect([standing(w)["assignments"], await holdings(w)]).toEqual([2, held]);
      }
      const last = await w.does("run", "everything");
      expect([last.exitCode, last.calls], last.stdout).toEqual([0, {}]);
      expect(w.sandbox.state().orders["3"]).toMatchObject({ calls: 1, products: 2 });
      expect(numbersSent(w, "3")).toEqual([[number, numberOf(w, "B3", 1)]]);
      expect([standing(w), await holdings(w)]).toEqual([{ products: 4, assets: 3, assignments: 2 }, held]);
      expect((await w.run("run", "verify")).exitCode).toBe(0);
      expectWhole(w);
    },
  );
});
