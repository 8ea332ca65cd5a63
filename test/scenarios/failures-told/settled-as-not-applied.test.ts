import { expect, it } from "vitest";
import { ran, unsettled } from "../../support/asking.ts";
import { amend, line, placedOrders } from "../../support/world/placed-orders.ts";
import { removeFreely, runOf, undo } from "../../support/world/undone.ts";

const because = ["--reason", "looked at the platform", "--by", "anna"];

it("a password reset that was settled as not applied is not said to be sent again by the next run", async () => {
  const w = await placedOrders();
  w.sandbox.faults.add({ operation: "M3", fault: "resetBefore", times: 1 });
  expect((await w.run("staff", "reset-password", "S1", ...because)).exitCode).toBe(5);
  const [{ id }] = await unsettled(w);
  w.later(2);
  const settled = await w.run("settle", id, "--not-applied", ...because);
  expect(settled.exitCode, settled.stderr).toBe(0);
  expect(await ran(w)).toMatchObject({ exitCode: 0, calls: {} });
  expect(settled.stdout).not.toContain("The next run sends it again");
  expect(settled.stdout).toContain("This ended the request: make a new one if it is still needed.");
  const { stdout } = await w.run("explain", "staff", "S1");
  expect(stdout).toContain("not applied M3: looked at the platform");
});

it("what an undo sent and was settled as not applied is not said to be sent again by the next run", async () => {
  const w = await placedOrders();
  removeFreely(w);
  amend(w, "1", { products: [line("P1", "A1")] });
  const undone = await runOf(w);
  const { file } = await undo(w, undone);
  w.environment["CRM_SYNC__orders__unseen"] = "ask";
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 1 });
  expect((await w.does("apply", file)).exitCode).toBe(5);
  const [{ id }] = await unsettled(w);
  w.later(2);
  const settled = await w.run("settle", id, "--not-applied", ...because);
  expect(settled.exitCode, settled.stderr).toBe(0);
  expect(await ran(w)).toMatchObject({ exitCode: 0, calls: {} });
  const again = await w.does("apply", file);
  expect(again.exitCode).toBe(64);
  expect(again.stderr).toContain(`make a new plan with \`crm-sync undo ${undone} --out FILE\``);
  expect(settled.stdout).toContain(`No run sends it again by itself: \`crm-sync undo ${undone} --out FILE\``);
});
