import { expect, it } from "vitest";
import { ran } from "../../support/asking.ts";
import { world, type Parsed, type Stop, type World } from "../../support/cli.ts";
import { telling, told } from "../../support/telling.ts";
import { company } from "../../support/world/crm.ts";

const openCircuits = async (w: World): Promise<Parsed[]> => (await w.ask("status")).openCircuits;

/**
 * A company that has grown by a customer, and by an order of the one that is known. The order service fails for the new
 * customer, which opens its circuit; then the call that the known one makes to the member-center stops.
 */
async function grown(options: { isOnMachineTime?: true } = {}): Promise<{ w: World; stop: Stop }> {
  const { customers, orders, staff } = company(2, 2);
  const known = { customers: customers.slice(0, 1), orders: orders.slice(0, 1), staff: staff.slice(0, 1) };
  const w = await world({ records: known, ...options });
  Object.assign(w.environment, {
    CRM_SYNC__orderService__breakerFailures: "1",
    CRM_SYNC__concurrency__customers: "1",
  });
  expect((await ran(w)).exitCode).toBe(0);
  w.customers = customers;
  w.orders = [...orders.slice(0, 1), { id: "O1b", customer: "C1", assets: ["O1b-A1"] }];
  w.staff = staff.filter(({ customer }) => customer === "C1");
  w.write();
  w.sandbox.faults.add({ operation: "E3", fault: "http502", times: 1 });
  return { w, stop: w.stopsAt("M5") };
}

it("shows the open circuit of a service that fails, and uses it again after a probe in the same run", async () => {
  const { w, stop } = await grown();
  const running = ran(w);
  await stop.reached;
  expect(await openCircuits(w)).toEqual([
    { service: "order-service", since: expect.any(String), reason: "HTTP 502", probeAt: expect.any(String) },
  ]);
  stop.goOn();
  // The customer that met the failure waits for the next run; the one after the probe was served.
  expect((await running).exitCode).toBe(7);
  expect(w.sandbox.state().orders).toMatchObject({ O1b: { calls: 1 } });
  expect(await openCircuits(w)).toEqual([]);
  expect((await ran(w)).exitCode).toBe(0);
});

it("does not show for ever an open circuit of a process that was killed", { tags: "long" }, async () => {
  const { w, stop } = await grown({ isOnMachineTime: true });
  const running = w.start("run", "everything");
  await stop.reached;
  const before = await openCircuits(w);
  expect(before).toMatchObject([{ service: "order-service" }]);
  running.child.kill("SIGKILL");
  await running.ended;
  expect(await openCircuits(w)).toEqual(before);
  stop.goOn();
  expect((await ran(w)).exitCode).toBe(0);
  expect(await openCircuits(w)).toEqual([]);
});

it("shows a circuit from run to run since its first failure, and tells people once", { tags: "long" }, async () => {
  const w = await telling({ records: company(1, 1) });
  w.environment["CRM_SYNC__orderService__breakerFailures"] = "2";
  await w.sandbox.refuseConnections();
  const messages: string[] = [];
  const circuitsAfter = async (exitCode: number): Promise<Parsed[]> => {
    expect((await ran(w)).exitCode).toBe(exitCode);
    messages.push(...told(w).flatMap(({ event, kind }) => (kind === "breaker" ? [event] : [])));
    return await openCircuits(w);
  };
  const [first] = await circuitsAfter(7);
  expect(first).toMatchObject({ service: "order-service", reason: "ECONNREFUSED" });
  w.later(1);
  expect(await circuitsAfter(7)).toMatchObject([{ since: first.since }]);
  await w.sandbox.acceptConnections();
  expect(await circuitsAfter(0)).toEqual([]);
  expect(messages).toEqual(["started", "ended"]);
});
