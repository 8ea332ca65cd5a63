import { expect, it } from "vitest";
import { promptRetries } from "../../support/cli.ts";
import { placedOrders } from "../../support/world/placed-orders.ts";

it("a service that answers 5xx is named by the run, status, check and the record, with one next step", async () => {
  const w = await placedOrders();
  Object.assign(w.environment, promptRetries);
  w.sandbox.faults.add({ operation: "M5", fault: "http503" });
  w.staff.push({ id: "S3", customer: "C1" });
  w.write();
  const run = await w.run("run", "everything");
  expect(run.exitCode).toBe(7);
  const down = "the member-center is out of service (HTTP 503)";
  expect(run.stdout).toMatch(/: ended, the member-center is out of service \(HTTP 503\), no changes made/u);
  expect(run.stdout).toContain("The member-center is out of service (HTTP 503); nothing was removed because of it");
  const status = (await w.run("status")).stdout;
  expect(status).toContain(`the last run of everything did not reach 1 customer`);
  expect(status).toContain(down);
  const next = "→ nothing: the next run tries again. If the problem stays, crm-sync check tests the services";
  expect(status.split(next)).toHaveLength(2);
  expect(status).not.toContain("the answer is kept");
  expect((await w.run("explain", "staff", "S3")).stdout).toContain(down);
});

it("a run that is well says what other jobs have left", async () => {
  const w = await placedOrders();
  w.staff.push({ id: "S3", customer: "C1", name: "" });
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(3);
  const { exitCode, stdout } = await w.run("run", "customers-and-orders");
  expect([exitCode, stdout]).toEqual([
    0,
    expect.stringContaining("Nothing is open for this job; 1 other record is not done: `crm-sync status` (exit 0)."),
  ]);
});
