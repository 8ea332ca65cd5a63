import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";
import { amend, line, numberOf, rule, standing } from "./placed-orders.ts";

it("what a limit holds is told in seats, nodes, people without an asset, people who are online, and locks that are lent", async () => {
  const w = await world({
    records: {
      customers: [{ id: "C1" }, { id: "C2" }],
      orders: [
        { id: "1", customer: "C1", assets: ["A1"], products: [line("P1", "A1", { nodes: 4 }), line("Q1", "A1")] },
        {
          id: "2",
          customer: "C2",
          assets: ["A2", "B2", { id: "L2", type: "normal_recover_usbkey", forLending: true }],
        },
      ],
      staff: [
        { id: "S1", customer: "C1", holds: ["A1"] },
        { id: "S2", customer: "C2", holds: ["A2", "B2"] },
      ],
    },
  });
  w.extra = "limits: { taking: { run: { floor: 0, share: 0 }, enterprise: { floor: 50, share: 1 } } }\n";
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const one = (await membersOf(w, "C1")).get(`${canary.login}s1`)?.globalId ?? "";
  const two = (await membersOf(w, "C2")).get(`${canary.login}s2`)?.globalId ?? "";
  w.sandbox.hand({ action: "set-online", memberGlobalId: one, online: true });
  w.sandbox.hand({ action: "lend", lock: numberOf(w, "L2"), memberGlobalId: two, assetNums: [numberOf(w, "A2")] });
  rule(w, "orders.cancelled", "apply");
  const before = standing(w);
  amend(w, "1", { cancelled: true });
  personOf(w, "S2").holds = ["B2"];
  w.customers = [{ id: "C1" }, { id: "C2", name: "Another name" }];
  w.write();

  for (const calls of [{ E4: 1 }, {}]) {
    const held = await w.does("run", "everything");
    expect(outcome(held), held.stdout).toEqual([4, calls]);
  }
  const status = (await w.run("status")).stdout;
  for (const own of [
    "1 seat, 2 products with 7 nodes; 1 person loses their last asset, 1 person is online now",
    "1 seat; 1 lock is lent",
  ])
    expect(status).toContain(
      `2 of 3 (66.7 %) seats of the whole run would be taken away; 0 are allowed: the larger of 0 and 0 %; held here: ${own}`,
    );
  expect(standing(w)).toEqual(before);

  expect(
    (await w.run("approve", "--run", lastRun(w.rows("select id from run order by started_at")), "--reason", "seen"))
      .exitCode,
  ).toBe(0);
  const done = await w.does("run", "everything");
  expect(done.calls, done.stdout).toEqual({ E5: 1, M9: 1 });
  expect(standing(w)).toEqual({ products: 3, assets: 3, assignments: 1 });
});

const lastRun = (runs: { id: string }[]): string => runs.at(-1)?.id ?? "";
