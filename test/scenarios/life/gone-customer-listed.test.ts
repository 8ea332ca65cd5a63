import { expect, it } from "vitest";
import { document, world } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import { company } from "../../support/world/crm.ts";

const of = (id: string) => (row: { customer: string }) => row.customer !== id;

it("a customer that is gone keeps its enterprise and is listed; its order stands, and the seat of its leaver is taken", async () => {
  const w = await world({ records: company(6, 1) });
  Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const gone = w.customers.findIndex((row) => row.id === "C3");
  w.customers[gone] = { ...w.customers[gone], id: "C3", mergedInto: "C4" };
  w.write();
  expect((await w.does("run", "everything")).calls, "what it was merged into changes nothing").toEqual({});

  w.customers = w.customers.filter((row) => row.id !== "C3");
  w.staff = w.staff.filter(of("C3"));
  w.write();
  const then = await w.does("run", "everything");
  expect(then.exitCode, then.stdout + then.stderr).toBe(0);
  expect(then.calls, "the seat alone").toEqual({ M9: 1 });
  expect(w.sandbox.state()).toMatchObject({ enterprises: 6, licenseOrders: 6, assignments: 5 });
  const facts = document(await w.run("explain", "customer", "C3", "--json"));
  expect(facts.record).toMatchObject({ state: "absent", deferred: { code: "policy.reported" } });
  expect(facts.record.deferred.reason).toMatch(/merged into crm\/C4; its enterprise \d+ stays as it is/u);
  const listed = (await statementRows(w, "exceptions", "exceptions")).filter(({ customer }) => customer === "crm/C3");
  expect(listed).toContainEqual(expect.objectContaining({ kind: "deferred", open: true, code: "policy.reported" }));
  expect((await w.run("status")).stdout).toContain("policy.reported");

  w.orders.push({ id: "O9", customer: "C3", assets: ["O9-A1"] });
  w.write();
  const late = await w.does("run", "everything");
  expect(late.calls, "a new order of a customer that is gone is not placed").toEqual({});
  expect(document(await w.run("explain", "order", "O9", "--json")).record.deferred.code).toBe("customer.gone");
  expect((await w.does("run", "everything")).calls).toEqual({});
});
