import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("nothing is bought or made for what the last full read lacks, before a read has it again", async () => {
  const w = await world({ records: company(2, 1) });
  const [first] = w.customers;
  if (first === undefined) throw new Error("the world has two customers");
  Object.assign(first, { address: null });
  w.write();
  const waiting = await w.does("run", "everything");
  expect([waiting.exitCode, waiting.calls["E5"]], "the order of the first waits for its address").toEqual([3, 1]);

  const { orders } = w;
  w.orders = orders.slice(1);
  Object.assign(first, { address: "Road 7" });
  w.write();
  const lacking = await w.does("run", "everything");
  expect([lacking.exitCode, lacking.calls["E5"]]).toEqual([3, undefined]);
  expect(lacking.stdout).toContain("record.missing");
  w.orders = orders;
  w.write();
  const back = await w.does("run", "everything");
  expect([back.exitCode, back.calls["E5"]]).toEqual([0, 1]);
  expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
});

it("who was planned and left the list gets no account, also if the customer stays", async () => {
  const w = await world({ records: company(1, 2) });
  expect((await w.run("plan")).exitCode).toBe(2);
  w.staff = w.staff.slice(0, 1);
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(3);
  expect(w.sandbox.state()).toMatchObject({ assignments: 1, enterprises: 1 });
  expect(w.sandbox.counts().effects).toMatchObject({ M1: 1 });
});

it("who was planned and left the list before the first run gets no account, and a customer no enterprise", async () => {
  const w = await world({ records: company(3, 1) });
  expect((await w.run("plan")).exitCode).toBe(2);
  const [kept] = w.customers;
  w.customers = w.customers.slice(0, 1);
  w.orders = w.orders.slice(0, 1);
  w.staff = w.staff.slice(0, 1);
  w.write();
  expect(kept?.id).toBe("C1");
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls]).toEqual([3, { E2: 1, E5: 1, E9: 1, M1: 1, M9: 1 }]);
});
