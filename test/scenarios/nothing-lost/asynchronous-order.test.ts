import { describe, expect, it } from "vitest";
import { operationsOf, placedOf, unsettled, waitsFor } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, line, orderOf, rule, standing } from "../../support/world/placed-orders.ts";

const all = { products: 4, assets: 2, assignments: 2 };

/** Two customers with an order each, which the service takes now and carries out later. */
async function asynchronous(asyncAnswer: "orders" | "none" = "orders"): Promise<World> {
  const w = await world({
    records: {
      customers: [{ id: "C1" }, { id: "C2" }],
      orders: [orderOf("1", "C1"), orderOf("2", "C2")],
      staff: [
        { id: "S1", customer: "C1", holds: ["A1"] },
        { id: "S2", customer: "C2", holds: ["A2"] },
      ],
    },
    sandbox: { settings: { asyncDelayMs: 700, asyncAnswer } },
  });
  w.environment["CRM_SYNC__assumptions__syncMode"] = "async";
  return w;
}

/** No reading shows what was carried out, until the faults are cleared. */
function showsNothing(w: World): void {
  for (const operation of ["M6", "E8"] as const) w.sandbox.faults.add({ operation, fault: "oddData", value: [] });
}

/** What the calls showed about the assumption A15: the service carries orders out later. */
async function assumption(w: World): Promise<Parsed> {
  const { assumptions } = await w.ask("assumptions");
  return assumptions.find(({ id }: Parsed) => id === "A15");
}

it("waits until the platform shows an asynchronous order, and does not send it again", async () => {
  const w = await asynchronous();
  Object.assign(w.environment, { CRM_SYNC__settle__maxWaitMs: "0", CRM_SYNC__orders__unseen: "resend" });
  showsNothing(w);
  const first = await w.does("run", "everything");
  expect([first.exitCode, first.calls["E5"]]).toEqual([5, 2]);
  expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
  expect(await placedOf(w, "1")).toBeUndefined();
  w.sandbox.faults.clear();
  const shown = await w.does("run", "everything");
  expect([shown.exitCode, shown.calls["E5"]]).toEqual([0, undefined]);
  expect(standing(w)).toEqual(all);
});

describe("an asynchronous order", { tags: "long" }, () => {
  it.each(["orders", "none"] as const)(
    "is done when the platform shows it, whatever the answer was (%s)",
    async (asyncAnswer) => {
      const w = await asynchronous(asyncAnswer);
      const first = await w.does("run", "everything");
      expect([first.exitCode, first.calls["E5"]], first.stdout).toEqual([0, 2]);
      expect(standing(w)).toEqual(all);
      expect((await placedOf(w, "1")).licenceOrders).toHaveLength(1);
      expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    },
  );

  it("waits for a person after its deadline, is never sent again, and stops only other orders", async () => {
    const w = await asynchronous();
    Object.assign(w.environment, { CRM_SYNC__settle__asyncDeadlineMs: "600", CRM_SYNC__orders__unseen: "resend" });
    const [first, second] = w.orders;
    Object.assign(w, { orders: [first], staff: w.staff.slice(0, 1) });
    w.write();
    showsNothing(w);
    const taken = await w.does("run", "everything");
    expect([taken.exitCode, taken.calls["E5"]], taken.stdout).toEqual([5, 1]);
    expect(await unsettled(w)).toMatchObject([{ endpoint: "E5", subject: "order:crm/1" }]);
    expect(await assumption(w)).toMatchObject({ standing: "contradicted" });

    Object.assign(w, { orders: [first, second] });
    w.staff.push({ id: "S2", customer: "C2" });
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({ M1: 1 });
    expect(await waitsFor(w, "2")).toBe("assumption.contradicted");
    w.environment["CRM_SYNC__assumptions__syncMode"] = "sync";
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });

    w.sandbox.faults.clear();
    expect((await w.does("run", "everything")).calls["E5"], "it is shown after a person was asked").toBeUndefined();
    expect(await operationsOf(w, "order", "1")).toMatchObject([{ kind: "place-order", state: "done" }]);
    expect(w.sandbox.duplicates().orders).toEqual([]);
  });

  it("is amended only when M7 shows the added product and no longer the removed one", async () => {
    const w = await asynchronous();
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    rule(w, "orders.ended", "apply");
    w.environment["CRM_SYNC__settle__maxWaitMs"] = "0";
    amend(w, "1", { products: [line("P1", "A1"), line("R1", "A1")] });
    const stop = w.stopsAt("E5");
    const running = w.does("run", "everything");
    await stop.reached;
    w.sandbox.faults.add({ operation: "M7", fault: "oddCode" });
    stop.goOn();
    const open = await running;
    expect([open.exitCode, open.calls["E5"]], open.stdout).toEqual([5, 1]);
    expect((await placedOf(w, "1")).steps).toEqual([]);
    w.sandbox.faults.clear();
    for (const _ of [1, 2]) await w.does("run", "everything");
    expect((await placedOf(w, "1")).steps).toMatchObject([{ kind: "bought" }, { kind: "removed" }]);
    expect(standing(w)).toEqual(all);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    expect(w.sandbox.state().orders["1-1"]).toMatchObject({ calls: 1 });
  });
});
