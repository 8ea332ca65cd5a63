import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { runsOf, waitsFor } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import { asKilledNow } from "../../support/killed-copy.ts";
import { crmSync, type Ended } from "../../support/program.ts";
import { health, telling, told } from "../../support/telling.ts";
import { company } from "../../support/world/crm.ts";

/** @module-tag long */

async function tellingCompany(customers: number): Promise<World> {
  const w = await telling({ records: company(customers, 1) });
  w.extra +=
    "jobs: { everything: { kind: sync, streams: [customers, orders, staff] }, customers-and-orders: { schedule: null }, staff: { schedule: null }, verify: { schedule: null }, monthly-report: { schedule: null } }\n";
  w.write();
  return w;
}

const keysTold = (w: World): string[] => told(w).map(({ event, key }) => `${event} ${key}`);

/** A run that a person stops while the program waits for the answer of M5; `meanwhile` happens before that. */
async function stopped(w: World, job: string, meanwhile: () => void = () => {}): Promise<Ended> {
  const stop = new AbortController();
  w.environment["CRM_SYNC__memberCenter__callsAtOnce"] = "1";
  const gate = w.stopsAt("M5");
  const running = crmSync({ ...w.place, clock: w.clock, signal: stop.signal }, "run", job);
  await gate.reached;
  meanwhile();
  stop.abort();
  gate.goOn();
  return await running;
}

it("what verify found is told by exit code, status, health and alerts until a whole verify no longer finds it", async () => {
  const w = await tellingCompany(3);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(w.sandbox.dropOrders("O2")).toBeGreaterThan(0);
  expect((await w.run("run", "verify")).exitCode).toBe(3);
  expect(keysTold(w)).toEqual(["started not-as-placed:verify"]);
  expect((await w.ask("status")).notices).toMatchObject([{ key: "not-as-placed:verify" }]);
  const unhealthy = { status: 200, healthy: false, wrong: ["run.not-as-placed:verify:2"] };
  expect(await health(w)).toMatchObject(unhealthy);

  expect((await stopped(w, "verify")).exitCode).toBe(3);
  expect((await runsOf(w))[0]).toMatchObject({ job: "verify", state: "stopped" });
  await w.run("run", "everything");
  expect(keysTold(w)).toEqual([]);
  expect(await health(w)).toMatchObject(unhealthy);
});

it("a run whose program was killed is told as failed until the next one of its job", async () => {
  const w = await tellingCompany(3);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  await stopped(w, "verify", () => asKilledNow(w));
  await w.run("run", "everything");
  expect((await runsOf(w)).find(({ job }) => job === "verify").state).toBe("interrupted");
  expect(keysTold(w)).toEqual(["started run-failed:verify"]);
  expect(await health(w)).toMatchObject({ healthy: false, wrong: ["run.run-failed:verify:1"] });
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  expect(keysTold(w)).toEqual(["ended run-failed:verify"]);
});

it("a job that ends by an error is a failed run with its exit code, and is told at once", async () => {
  const w = await tellingCompany(1);
  writeFileSync(w.path("reports"), "a file, and no folder");
  expect((await w.run("run", "monthly-report")).exitCode).toBe(1);
  expect(keysTold(w)).toEqual(["started run-failed:monthly-report"]);
  expect(await runsOf(w)).toMatchObject([{ job: "monthly-report", state: "failed", exitCode: 1 }]);
});

it("an unknown outcome gives a plan the exit code of the run", async () => {
  const w = await tellingCompany(2);
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore", nth: [1] });
  w.environment["CRM_SYNC__orders__unseen"] = "ask";
  expect((await w.run("run", "everything")).exitCode).toBe(5);
  expect((await w.run("plan")).exitCode).toBe(5);
});

it("a run that is stopped changes neither the age of what waits nor the alert about it", async () => {
  const w = await tellingCompany(2);
  w.customers = w.customers.map((row) => (row.id === "C1" ? { ...row, address: null } : row));
  w.write();
  expect((await w.run("run", "customers-and-orders")).exitCode).toBe(3);
  expect(keysTold(w)).toEqual(["started deferred:orders:customer.not-orderable"]);
  const before = (await w.ask("explain", "order", "O1")).record.deferred;
  expect((await stopped(w, "everything")).exitCode).toBe(1);
  expect(keysTold(w)).toEqual([]);
  expect(await waitsFor(w, "O1")).toBe("customer.not-orderable");
  expect((await w.ask("explain", "order", "O1")).record.deferred).toEqual(before);
  expect((await w.ask("status")).open).toContainEqual(
    expect.objectContaining({ code: "customer.not-orderable", count: 1, since: before.since }),
  );
});

it("a head of the audit log that no place gets is told by /healthz", async () => {
  const w = await tellingCompany(1);
  w.extra += "audit: { heads: [{ kind: file, path: elsewhere/crm.heads }] }\n";
  w.write();
  writeFileSync(w.path("elsewhere"), "a file, and no folder");
  await w.run("run", "everything");
  expect(told(w)).toMatchObject([{ kind: "head-not-kept" }]);
  expect((await health(w)).wrong).toEqual(["alert.head-not-kept"]);
});

it("a job that failed, and then was stopped, is told alike by alerts and by /healthz", async () => {
  const w = await tellingCompany(2);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.sandbox.faults.add({ operation: "M5", fault: "http502" });
  expect((await w.run("run", "verify")).exitCode).toBe(7);
  w.sandbox.faults.clear();
  expect((await stopped(w, "verify")).exitCode).toBe(1);
  expect((await w.ask("alerts")).alerts).toMatchObject([{ key: "service-down:verify" }]);
  expect((await health(w)).wrong).toEqual(["alert.service-down:verify"]);
});

it("a contradicted assumption that stops every order is told by /healthz before an order waits for it", async () => {
  const w = await tellingCompany(2);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.sandbox.contradict(["A17"]);
  w.orders.push({ id: "O8", customer: "C1", assets: ["O8-A1"] });
  w.write();
  await w.run("run", "everything");
  w.sandbox.contradict([]);
  await w.run("run", "everything");
  expect((await w.ask("alerts")).alerts).toMatchObject([{ key: "assumption:A17", severity: "critical" }]);
  expect((await w.run("assumptions")).exitCode).toBe(3);
  expect((await health(w)).wrong).toContain("alert.assumption:A17");
});
