import { expect, it } from "vitest";
import { ran, waitsFor } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { rule } from "../../support/world/placed-orders.ts";

async function synchronised(): Promise<World> {
  const w = await world({ records: company(10, 1) });
  for (const policy of ["orders.moved", "staff.moved"]) rule(w, policy, "apply");
  expect((await ran(w)).exitCode).toBe(0);
  return w;
}

function moves(w: World, customer: string): void {
  personOf(w, "S2-1").customer = customer;
  w.write();
}

it("a person keeps the seat while no source gives the new customer, and loses it when one does", async () => {
  const w = await synchronised();
  moves(w, "C99");
  for (let run = 1; run <= 2; run += 1) {
    expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    expect([await waitsFor(w, "C2", "customer"), await waitsFor(w, "S2-1", "staff")]).toEqual([
      "staff.move-stopped",
      "customer.blocked",
    ]);
  }
  const { stdout } = await w.run("explain", "customer", "C2");
  expect(stdout).toContain("the person crm/S2-1 moved to another customer in the CRM, but keeps the licences");
  expect(stdout).toContain("the CRM has no usable record of crm/C99");
  w.customers.push({ id: "C99" });
  w.write();
  expect((await w.does("run", "everything")).calls).toEqual({ E2: 1, M1: 1, M4: 1, M9: 1 });
});

it("a person whose customer is corrected keeps the seat, and nothing waits any more", async () => {
  const w = await synchronised();
  moves(w, "C99");
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  moves(w, "C2");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it("a person keeps the seat while the record of the new customer is in quarantine", async () => {
  const w = await synchronised();
  const customer = w.customers.find(({ id }) => id === "C3");
  Object.assign(customer ?? {}, { name: "" });
  moves(w, "C3");
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  expect(await waitsFor(w, "C2", "customer")).toBe("staff.move-stopped");
});

it("a person without a seat keeps the account while no source gives the new customer", async () => {
  const w = await synchronised();
  personOf(w, "S2-1").holds = [];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1 }]);
  moves(w, "C99");
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  expect(await waitsFor(w, "C2", "customer")).toBe("staff.move-stopped");
});

it("people keep their seats when their customer gets another id, and only the people were read since", async () => {
  const w = await synchronised();
  const other = (id: string): string => (id === "C2" ? "N2" : id);
  w.customers = w.customers.map((row) => ({ ...row, id: other(row.id) }));
  for (const row of [...w.orders, ...w.staff]) row.customer = other(row.customer);
  w.write();
  expect(outcome(await w.does("run", "staff"))).toEqual([3, {}]);
  expect((await w.does("run", "everything")).calls).toEqual({});
});

it("a person who moves with an order to a customer that no source gives keeps the seat, as the order stays", async () => {
  const w = await synchronised();
  const order = w.orders.find(({ id }) => id === "O2");
  Object.assign(order ?? {}, { customer: "C99" });
  moves(w, "C99");
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
});
