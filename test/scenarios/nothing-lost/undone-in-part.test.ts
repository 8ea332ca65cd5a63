import { expect, it } from "vitest";
import { notDone, ran } from "../../support/asking.ts";
import { removeFreely, runOf, undo } from "../../support/world/undone.ts";
import { orderOf, placedOrders, standing } from "../../support/world/placed-orders.ts";

it("the next run makes again what an undo changed before a reading failed, whatever else waits", async () => {
  const w = await placedOrders();
  removeFreely(w);
  w.orders.push(orderOf("3", "C1"));
  w.staff.push({ id: "S3", customer: "C1", holds: ["A3"] });
  const run = await runOf(w);
  const wanted = standing(w);
  // A plan reads a new person of the customer, whom no run has carried out.
  w.staff.push({ id: "S4", customer: "C1", holds: [] });
  w.write();
  expect((await w.run("plan")).exitCode).toBe(2);
  const { file } = await undo(w, run);
  w.sandbox.faults.add({ operation: "M6", fault: "oddCode", nth: 3 });
  const failed = await w.does("apply", file);
  expect([failed.exitCode, failed.calls]).toEqual([7, { M9: 1 }]);
  w.sandbox.faults.clear();
  expect(await notDone(w)).toContainEqual(
    expect.objectContaining({ record: "staff S3", code: "undo.taken-back", pending: true }),
  );
  const next = await ran(w);
  expect([next.exitCode, next.calls]).toEqual([0, { M1: 1, M9: 1 }]);
  expect(standing(w)).toEqual(wanted);
});
