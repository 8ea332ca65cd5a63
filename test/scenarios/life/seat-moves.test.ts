import { join } from "node:path";
import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { expectWhole } from "../../support/killed-at.ts";
import { startCrmSync } from "../../support/process.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";

const preload = join(import.meta.dirname, "../../support/kill-points.ts");

/** How many assets the two people of a customer hold. */
async function seatsOf(w: World, customer: "C1" | "C2"): Promise<(number | undefined)[]> {
  const members = await membersOf(w, customer);
  return [1, 2].map((n) => members.get(`${canary.login}${customer.slice(1)}x${n}`)?.assetNums.length);
}

it(
  "an asset that was taken from one person when the process was killed between the two calls is in transit, and is given to the other by the next run",
  { tags: "long" },
  async () => {
    const w = await world();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    personOf(w, "S1-1").holds = [];
    personOf(w, "S1-2").holds = ["O1-A1", "O1-A2"];
    w.write();
    const environment = { ...w.place.environment, KILL_POINT: "after the intent", KILL_KIND: "grant-assets" };
    const { signal } = await startCrmSync({ ...w.place, environment, preload }, "run", "everything").ended;
    expect(signal).toBe("SIGKILL");
    expect([await seatsOf(w, "C1"), await seatsOf(w, "C2")]).toEqual([
      [0, 1],
      [1, 1],
    ]);

    const read = await w.does("run", "verify");
    expect(outcome(read), read.stdout).toEqual([5, {}]);
    expect(read.stdout).toContain("1 in transit");
    expect(w.rows("select customer_id, class from difference where ended_at is null")).toEqual([
      { customer_id: "C1", class: "in-transit" },
    ]);

    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1 }]);
    expect([await seatsOf(w, "C1"), await seatsOf(w, "C2")]).toEqual([
      [0, 2],
      [1, 1],
    ]);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    expectWhole(w);
  },
);
