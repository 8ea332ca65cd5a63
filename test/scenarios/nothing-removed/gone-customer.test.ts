import { expect, it } from "vitest";
import { waitsFor } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import { company } from "../../support/world/crm.ts";
import { outcome } from "../../support/world/members.ts";

it("keeps the enterprise and the order of a deleted customer, and frees only the seat of its leaver", async () => {
  const { customers, ...records } = company(6, 1);
  const merged = customers.map((row) => (row.id === "C3" ? { ...row, mergedInto: "C4" } : row));
  const w = await world({ records: { ...records, customers: merged } });
  Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.customers = w.customers.filter(({ id }) => id !== "C3");
  w.staff = w.staff.filter(({ customer }) => customer !== "C3");
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1 }]);
  expect(w.sandbox.state()).toMatchObject({ enterprises: 6, licenseOrders: 6, assignments: 5 });
  const { record } = await w.ask("explain", "customer", "C3");
  expect(record).toMatchObject({ state: "absent", deferred: { code: "policy.reported" } });
  expect(record.deferred.reason).toContain("crm/C4");
  const listed = (await statementRows(w, "exceptions", "exceptions")).filter(({ customer }) => customer === "crm/C3");
  expect(listed).toContainEqual(expect.objectContaining({ kind: "deferred", open: true, code: "policy.reported" }));

  w.orders.push({ id: "O9", customer: "C3", assets: ["O9-A1"] });
  w.write();
  expect((await w.does("run", "everything")).calls, "a new order of it is not placed").toEqual({});
  expect(await waitsFor(w, "O9")).toBe("customer.gone");
});
