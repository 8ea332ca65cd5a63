import { expect, it } from "vitest";
import { waitsFor } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("an order that comes before its customer is placed once the customer is there", async () => {
  const w = await world({ records: { ...company(1, 1), staff: [] } });
  const { customers } = w;
  w.customers = [];
  w.write();
  const early = await w.does("run", "everything");
  expect([early.exitCode, early.calls], early.stdout).toEqual([3, {}]);
  expect(await waitsFor(w, "O1")).toBe("customer.blocked");
  w.customers = customers;
  w.write();
  const placed = await w.does("run", "everything");
  expect([placed.exitCode, placed.calls], placed.stdout).toEqual([0, { E2: 1, E5: 1, E9: 1 }]);
});

it("a person whose asset is not ordered yet is added, and gets it when it is", { tags: "long" }, async () => {
  const { orders, ...records } = company(1, 1);
  const w = await world({ records: { ...records, orders: [] } });
  const early = await w.does("run", "everything");
  expect([early.exitCode, early.calls], early.stdout).toEqual([3, { E2: 1, M1: 1 }]);
  w.orders = orders;
  w.write();
  const given = await w.does("run", "everything");
  expect([given.exitCode, given.calls], given.stdout).toEqual([0, { E5: 1, E9: 1, M9: 1 }]);
});
