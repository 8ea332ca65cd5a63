import { appendFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openHold, openHolds, waitsFor } from "../../support/asking.ts";
import { documents, type World } from "../../support/cli.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { amend, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

const all = { products: 4, assets: 2, assignments: 2 };

function holds(w: World, ...assets: string[]): void {
  personOf(w, "S1").holds = assets;
  w.write();
}

it("keeps a cancelled order and its seats until a person approves the hold, then removes all of it", async () => {
  const w = await placedOrders();
  amend(w, "1", { cancelled: true });
  for (const _ of [1, 2]) expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  expect(standing(w)).toEqual(all);
  expect(await openHolds(w)).toMatchObject([{ customer: { id: "C1" }, scope: "policy", count: 1, operations: 1 }]);
  await w.run("approve", await openHold(w), "--reason", "asked the customer");
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
  expect(standing(w)).toEqual({ products: 2, assets: 1, assignments: 1 });
});

describe("a cancelled order", { tags: "long" }, () => {
  it("is planned with exit 4 before and while it is held, 2 once it is approved, and 0 after it was rejected", async () => {
    const w = await placedOrders();
    amend(w, "1", { cancelled: true });
    const planned = async (): Promise<unknown> => {
      const { exit, held } = documents(await w.run("--json", "plan")).at(-1);
      return [exit, held.map(({ hold }: { hold: string }) => hold)];
    };
    expect(await planned()).toEqual([4, []]);
    await w.run("run", "everything");
    const hold = await openHold(w);
    expect(await planned()).toEqual([4, [hold]]);
    await w.run("approve", hold, "--reason", "asked the customer");
    expect(await planned()).toEqual([2, []]);
    await w.run("reject", hold, "--reason", "they called again");
    expect(await planned()).toEqual([0, []]);
    expect(standing(w)).toEqual(all);
  });

  it("loses nothing while the last read of a source is incomplete", async () => {
    const w = await placedOrders();
    rule(w, "orders.cancelled", "apply");
    amend(w, "1", { cancelled: true });
    appendFileSync(w.path("data/staff.ndjson"), '{"id": "S9", "custo');
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect([await waitsFor(w, "1"), standing(w)]).toEqual(["revokes.blocked", all]);
  });

  it("is reported for a person who still claims it, who loses what else the CRM removes", async () => {
    const w = await placedOrders();
    w.orders = [...w.orders, orderOf("3", "C1")];
    holds(w, "A1", "A3");
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    rule(w, "orders.cancelled", "apply");
    amend(w, "1", { cancelled: true });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    expect(standing(w)).toEqual(all);
    // The order is restored and refused: who claims it keeps everything until it is bought.
    w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
    amend(w, "1", { cancelled: false });
    await w.run("run", "everything");
    holds(w, "A1");
    expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    expect([await waitsFor(w, "S1", "staff"), standing(w)]).toEqual(["asset.not-ordered", all]);
    amend(w, "1", { cancelled: true });
    expect(outcome(await w.does("run", "everything"))).toEqual([3, { M9: 1 }]);
    expect([await waitsFor(w, "S1", "staff"), standing(w)]).toEqual(["asset.ended", { ...all, assignments: 1 }]);
  });

  it("is reported as ended for who claims it, also if its number went to another order", async () => {
    const assets = (id: string) => [{ id, numbers: ["8000009999"] }];
    const w = await placedOrders({ first: { assets: assets("A1") } });
    rule(w, "orders.cancelled", "apply");
    amend(w, "1", { cancelled: true });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    w.orders = [...w.orders, orderOf("3", "C1", { assets: assets("A3") })];
    w.write();
    for (const _ of [1, 2]) {
      expect((await w.run("run", "everything")).exitCode).toBe(3);
      expect(await waitsFor(w, "S1", "staff")).toBe("asset.ended");
    }
    holds(w, "A3");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1 }]);
  });
});
