import { expect, it } from "vitest";
import { ran } from "../../support/asking.ts";
import { placedOrders } from "../../support/world/placed-orders.ts";

it("a plan during a pause says what a run does", async () => {
  const w = await placedOrders();
  await w.run("pause", "--reason", "repairs", "--by", "anna");
  w.orders.push({ id: "9", customer: "C1", assets: ["A9"] });
  w.write();
  const plan = await w.run("plan");
  const apply = await w.does("apply");
  expect([apply.exitCode, apply.calls]).toEqual([4, {}]);
  expect(plan.exitCode).toBe(4);
  expect(plan.stdout).not.toContain("`crm-sync apply` makes them");
});

it("status does not say that something waits for approval where only a pause keeps it", async () => {
  const w = await placedOrders();
  await w.run("pause", "--reason", "repairs", "--by", "anna");
  w.orders.push({ id: "9", customer: "C1", assets: ["A9"] });
  w.write();
  expect((await ran(w)).exitCode).toBe(4);
  const { stdout } = await w.run("status");
  expect(stdout).toContain("1 order waits (paused)");
  expect(stdout).not.toContain("waits for approval");
});
