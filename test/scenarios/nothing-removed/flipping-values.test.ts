import { expect, it } from "vitest";
import { numberOf, openHold, openHolds } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { assetRow, company } from "../../support/world/crm.ts";
import { outcome } from "../../support/world/members.ts";
import { rule } from "../../support/world/placed-orders.ts";

/** The CRM has another branch of a customer. */
function branch(w: World, customer: string, name: string): void {
  w.customers = w.customers.map((row) => (row.id === customer ? { ...row, branch: name } : row));
  w.write();
}

it("asks a person when a value changes back and forth for the fifth time", async () => {
  const w = await world({ records: { ...company(2, 0), orders: [] } });
  branch(w, "C1", "North");
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const name of ["South", "North", "South", "North", "South"]) {
    branch(w, "C1", name);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { E4: 1 }]);
  }
  branch(w, "C1", "North");
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  expect(await openHolds(w)).toMatchObject([{ scope: "flips", customer: { id: "C1" } }]);
});

it("sends others' changes meanwhile, and counts anew after an approval", { tags: "long" }, async () => {
  const w = await world({ records: { ...company(2, 0), orders: [] } });
  for (const name of ["North", "South", "North", "South", "North", "South", "North"]) {
    branch(w, "C1", name);
    await w.run("run", "everything");
  }
  branch(w, "C2", "East");
  expect((await w.does("run", "everything")).calls).toEqual({ E4: 1 });
  branch(w, "C1", "South");
  expect(outcome(await w.does("run", "everything")), "the platform has this value").toEqual([0, {}]);
  branch(w, "C1", "North");
  expect((await w.does("run", "everything")).calls).toEqual({});
  expect((await w.run("approve", await openHold(w), "--reason", "the office has moved")).exitCode).toBe(0);
  expect((await w.does("run", "everything")).calls).toEqual({ E4: 1 });
  branch(w, "C1", "South");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E4: 1 }]);
});

it("counts also when the record cannot be used in between", { tags: "long" }, async () => {
  const w = await world({ records: { ...company(1, 0), orders: [] } });
  branch(w, "C1", "North");
  await w.run("run", "everything");
  const exits = [];
  for (const name of ["South", "North", "South", "North", "South", "North"]) {
    branch(w, "C1", name);
    exits.push((await w.run("run", "everything")).exitCode);
    const { customers } = w;
    w.customers = customers.map((row) => ({ ...row, email: "no address" }));
    w.write();
    await w.run("run", "everything");
    w.customers = customers;
    w.write();
    await w.run("run", "everything");
  }
  expect([exits[0], exits.at(-1)]).toEqual([0, 4]);
});

it("asks about a lock that flips, and does what a person asks of it", { tags: "long" }, async () => {
  const { orders, ...records } = company(1, 1);
  const lockable = (locked: boolean): World["orders"] =>
    orders.map((order) => ({
      ...order,
      assets: order.assets.map((asset) => ({ ...assetRow(asset), type: "normal_recover_usbkey" as const, locked })),
    }));
  const w = await world({ records: { ...records, orders: lockable(false) } });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  rule(w, "locks.locked", "apply");
  for (let time = 0; time < 6; time += 1) {
    w.orders = lockable(time % 2 === 0);
    w.write();
    const lock = time % 2 === 0 ? { E6: 1 } : { E7: 1 };
    expect(outcome(await w.does("run", "everything"))).toEqual(time < 5 ? [0, lock] : [4, {}]);
  }
  expect(await openHolds(w)).toMatchObject([{ scope: "flips" }]);
  const asked = ["unlock", "C1", "--asset", numberOf(w, "O1-A1"), "--reason", "found again"];
  w.sandbox.faults.add({ operation: "E7", fault: "oddField", field: "status", value: 3, times: 1 });
  expect(outcome(await w.does(...asked))).toEqual([3, { E7: 1 }]);
  expect((await w.does("run", "everything")).calls, "the person's wish is sent again").toEqual({ E7: 1 });
  expect(w.sandbox.state().lockedAssets).toBe(0);
});
