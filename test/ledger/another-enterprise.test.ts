import { expect, it } from "vitest";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord, staffRecord } from "../support/world/records.ts";

const [customer, order, staff] = [key("C1"), key("O1"), key("S1")];

it("what is in the enterprise that a customer was linked with before is not planned with, and not forgotten", async () => {
  const world = await LedgerWorld.open();
  await world.read("customers", [{ customers: customerRecord("C1") }]);
  await world.link(customer, "E1");
  await world.read("orders", [{ orders: orderRecord("O1", "C1") }]);
  await world.read("staff", [{ staff: staffRecord("S1", "C1") }]);
  await world.place(customer, order);
  await world.addStaff(customer, staff, "M1");
  await world.grant(customer, staff, "M1", "8000000001");
  const { state } = world.ledger;
  const before = state.load(customer).known;
  expect(before.placedOrders.get("crm/O1")?.elsewhere).toBeUndefined();
  expect([...before.staffLinks.keys(), ...before.assignments.map((one) => one.assetNumber)]).toEqual([
    "crm/S1",
    "8000000001",
  ]);

  await state.record(customer, [
    { type: "unlinked", customer, enterpriseGlobalId: "E1", by: "a person", reason: "it was the wrong one" },
  ]);
  expect(state.load(customer).known.unlinked).toMatchObject({ by: "a person" });
  world.now += 1_000;
  const link = { channelCode: "crm", channelCustomerId: "C1", origin: "adopted", examined: true } as const;
  await state.record(customer, [{ type: "linked", customer, link: { ...link, enterpriseGlobalId: "E2" } }]);

  const { known } = state.load(customer);
  expect(known.placedOrders.get("crm/O1")?.elsewhere).toBe(true);
  expect([known.staffLinks.size, known.assignments.length]).toEqual([0, 0]);
  const all = await state.known(customer);
  expect([all.staffLinks.size, all.assignments.length]).toEqual([1, 1]);
});

it("of the accounts of a customer only those that crm-sync made could be deleted", async () => {
  const world = await LedgerWorld.open();
  const profile = { userName: "u", name: "n", remark: null, mobile: null, departmentId: null };
  const of = { customer, enterpriseGlobalId: "E1", profile };
  await world.ledger.state.record(customer, [
    { type: "staff-linked", ...of, staff, memberGlobalId: "M1", origin: "created" },
    { type: "staff-linked", ...of, staff: key("S2"), memberGlobalId: "M2", origin: "adopted" },
  ]);
  expect((await world.ledger.state.live(customer, ["accounts"])).accounts).toBe(1);
  expect((await world.ledger.state.live(undefined, ["accounts"])).accounts).toBe(1);
});

it("an order that moved to another customer is told of where it stands, until nothing of it stands there", async () => {
  const world = await LedgerWorld.open();
  await world.read("customers", [{ customers: customerRecord("C1") }, { customers: customerRecord("C2") }]);
  await world.link(customer, "E1");
  await world.read("orders", [{ orders: orderRecord("O1", "C1") }]);
  await world.place(customer, order);
  expect(world.ledger.state.load(customer).away).toBeUndefined();
  await world.read("orders", [{ orders: orderRecord("O1", "C2") }]);
  const { away } = world.ledger.state.load(customer);
  expect(away?.map(({ order: one, owner }) => [one.key.id, owner.id])).toEqual([["O1", "C2"]]);
  await world.ledger.state.record(customer, [{ type: "order-left", order, customer }]);
  expect(world.ledger.state.load(customer).away).toBeUndefined();
});
