/** @module-tag long */
import { describe, expect, it } from "vitest";
import { notDone, operationsOf } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

/** Two customers with two people each, who hold an asset each; of each order a third asset is free. */
async function synchronised(): Promise<World> {
  const w = await world({ records: company(2, 2) });
  for (const order of w.orders) order.assets.push(`${order.id}-A3`);
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

function holds(w: World, id: string, ...assets: string[]): void {
  Object.assign(w.staff.find((row) => row.id === id) ?? {}, { holds: assets });
  w.write();
}

function branch(w: World, id: string, name: string): void {
  Object.assign(w.customers.find((row) => row.id === id) ?? {}, { branch: name });
  w.write();
}

async function run(w: World): Promise<{ exit: number | null; calls: Record<string, number> }> {
  const { exitCode, calls } = await w.does("run", "everything");
  return { exit: exitCode, calls };
}

describe("what would be removed of a customer that a run waits for", () => {
  it("is carried out in the same run once that is settled", async () => {
    const w = await synchronised();
    w.extra = "limits: { removals: { run: { floor: 2, share: 0 } } }\n";
    for (const id of ["C1", "C2"]) branch(w, id, "East");
    for (const id of ["S1-1", "S2-1"]) holds(w, id);
    w.sandbox.faults.add({ operation: "E4", fault: "appliedNoReply", times: 1 });
    expect(await run(w)).toEqual({ exit: 0, calls: { E4: 3, M9: 2 } });
  });

  it.each([
    [2, 0],
    [1, 4],
  ])("is judged together with what others lose, also where it was in doubt before: %i allowed", async (floor, exit) => {
    const w = await synchronised();
    holds(w, "S2-1", "O2-A1", "O2-A3");
    w.sandbox.faults.add({ operation: "M9", fault: "resetBefore", times: 1 });
    w.environment["CRM_SYNC__settle__maxWaitMs"] = "0";
    expect(await run(w)).toEqual({ exit: 5, calls: { M9: 1 } });
    w.environment["CRM_SYNC__settle__maxWaitMs"] = "30000";
    w.extra = `limits: { removals: { run: { floor: ${floor}, share: 0 } } }\n`;
    for (const id of ["S1-1", "S2-1"]) holds(w, id);
    expect(await run(w)).toEqual({ exit, calls: exit === 0 ? { M9: 2 } : {} });
    expect(w.sandbox.state().assignments).toBe(exit === 0 ? 2 : 4);
  });
});

it("an operation that waits for a person blocks everything else of its customer, and of no other", async () => {
  const w = await synchronised();
  w.extra = "orders: { unseen: ask }\n";
  w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 1 });
  expect(await run(w)).toEqual({ exit: 5, calls: { E5: 1 } });
  expect((await operationsOf(w, "order", "O9"))[0].state).toBe("parked");
  for (const id of ["C1", "C2"]) branch(w, id, "East");
  expect(await run(w)).toEqual({ exit: 5, calls: { E4: 1 } });
});

it("a change (E4) that may still land keeps another value waiting for the settle time, and no longer", async () => {
  const w = await synchronised();
  w.environment["CRM_SYNC__settle__timeMs"] = "600000";
  branch(w, "C1", "East");
  w.sandbox.faults.add({ operation: "E4", fault: "appliedNoReply", times: 1 });
  // The same value is sent again at once.
  expect(await run(w)).toEqual({ exit: 0, calls: { E4: 2 } });
  branch(w, "C1", "West");
  expect(await run(w)).toEqual({ exit: 3, calls: {} });
  expect(await notDone(w)).toMatchObject([{ record: "customers C1", code: "settle-time" }]);
  w.later(1);
  expect(await run(w)).toEqual({ exit: 0, calls: { E4: 1 } });
});

it("a customer that cannot be looked at stops no other", async () => {
  const w = await synchronised();
  for (const id of ["S1-1", "S2-1"]) holds(w, id);
  const { links } = await w.ask("explain", "customer", "C1");
  w.sandbox.faults.add({ operation: "M5", fault: "code500", about: links[0].enterpriseGlobalId });
  expect(await run(w)).toEqual({ exit: 7, calls: { M9: 1 } });
  expect(await notDone(w)).toMatchObject([{ record: "staff S1-1", code: "service.unreadable" }]);
});

it("a customer that a run was not asked for is left to the next one, with a reason", async () => {
  const w = await synchronised();
  w.customers.push({ id: "C3" });
  w.write();
  expect((await w.does("resync", "--customer", "C1")).calls).toEqual({});
  expect(await notDone(w)).toMatchObject([{ record: "customers C3", code: "run.scope" }]);
  expect(await run(w)).toEqual({ exit: 0, calls: { E2: 1 } });
});
