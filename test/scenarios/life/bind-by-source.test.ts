import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("a customer whose record says so is bound by E1, its neighbours are made by E2, and a third run does nothing", async () => {
  const records = company(3, 1);
  const w = await world({
    records: {
      ...records,
      customers: records.customers.map((row) => (row.id === "C2" ? { ...row, creation: "bind" } : row)),
    },
  });
  const first = await w.does("run", "everything");
  expect(first.exitCode, first.stdout).toBe(0);
  expect(first.calls).toEqual({ E1: 1, E2: 2, E5: 3, E9: 1, M1: 3, M9: 3 });
  expect(w.sandbox.state()).toMatchObject({ enterprises: 3, assignments: 3 });
  expect(w.rows("select customer_id as customer, origin from link order by customer_id")).toEqual([
    { customer: "C1", origin: "created" },
    { customer: "C2", origin: "bound" },
    { customer: "C3", origin: "created" },
  ]);
  for (const _ of [2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});

  w.customers = w.customers.map((row) => (row.id === "C2" ? { ...row, creation: "create" } : row));
  w.write();
  const changed = await w.does("run", "everything");
  expect(changed.calls, "what is linked is neither made nor bound a second time").toEqual({});
  expect(changed.exitCode, changed.stdout).toBe(0);
});
