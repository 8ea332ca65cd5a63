import { expect, it } from "vitest";
import { approveAll, openHold } from "../../support/asking.ts";
import type { Parsed, World } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import { amend, line, orderOf, placedOrders, rule } from "../../support/world/placed-orders.ts";

/** Why records of a stream wait, and who can end it. */
async function waiting(w: World, stream: string): Promise<unknown> {
  const { open } = await w.ask("status");
  return open.filter((one: Parsed) => one.stream === stream);
}

it("says of an order that moved who ends its waiting: whoever decides on the removal at its old customer", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.moved", "ask");
  amend(w, "1", { customer: "C2" });
  await w.run("run", "everything");
  const hold = await openHold(w);
  const common = { code: "order.moving", owner: "operator", counts: true };
  const decide = `crm-sync approve ${hold} --reason TEXT, or crm-sync reject ${hold} --reason TEXT`;
  expect(await waiting(w, "orders")).toMatchObject([{ ...common, cause: "hold.open" }]);
  expect((await w.run("status")).stdout.split(decide)).toHaveLength(2);
  expect((await w.run("explain", "order", "1")).stdout).toContain(`next\n  ${decide}\n`);

  await w.run("reject", hold, "--reason", "stays", "--by", "anna");
  await w.run("run", "everything");
  expect(await waiting(w, "orders")).toMatchObject([{ ...common, cause: "hold.rejected" }]);
  const withdraw = `crm-sync reject ${hold} --withdraw --reason TEXT`;
  expect((await w.run("explain", "order", "1")).stdout).toMatch(new RegExp(`next\n  .*${withdraw}.*\n$`, "u"));
});

it("says that the CRM can end what keeps a moved order from being removed", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.moved", "apply");
  amend(w, "1", { customer: "C9" });
  await w.run("run", "everything");
  expect(await waiting(w, "customers")).toMatchObject([{ code: "order.move-stopped", owner: "crm", counts: true }]);
});

it("says who ends the waiting of a person whose asset is to be removed, before and after the removal", async () => {
  const w = await placedOrders();
  for (const name of ["orders.cancelled", "orders.ended"]) rule(w, name, "ask");
  amend(w, "1", { cancelled: true });
  await w.run("run", "everything");
  const common = { code: "asset.ending", counts: false, owner: "operator" };
  expect(await waiting(w, "staff")).toMatchObject([{ ...common, cause: "hold.open" }]);
  await approveAll(w);
  await w.run("run", "everything");
  expect(await waiting(w, "staff")).toMatchObject([{ code: "asset.ended", owner: "crm" }]);
});

it("names the hold that a person rejected, in statements as of any time", async () => {
  const w = await placedOrders();
  rule(w, "orders.cancelled", "ask");
  amend(w, "1", { cancelled: true });
  await w.run("run", "everything");
  const hold = await openHold(w);
  await w.run("reject", hold, "--reason", "stays", "--by", "anna");
  await w.run("run", "everything");
  expect(await waiting(w, "staff")).toMatchObject([
    { code: "asset.ending", cause: "hold.rejected", owner: "operator" },
  ]);
  const rejected = (await statementRows(w, "exceptions", "exceptions")).filter(
    ({ code }) => code === "revokes.rejected",
  );
  expect(rejected.map(({ owner }) => owner)).toEqual(["operator"]);
  expect(rejected[0]?.["next"]).toMatch(
    new RegExp(`crm-sync reject ${hold} --withdraw --reason TEXT.*[(]the operator runs crm-sync[)]$`, "u"),
  );
});

it("names no hold of another order to a person whose asset is to be removed", async () => {
  const w = await placedOrders({ first: { assets: ["A1", "A9"], products: [line("P1", "A1"), line("P9", "A9")] } });
  w.orders.push(orderOf("3", "C1"));
  w.write();
  await w.run("run", "everything");
  rule(w, "orders.cancelled", "ask");
  rule(w, "orders.ended", "apply");
  amend(w, "3", { cancelled: true });
  amend(w, "1", { assets: ["A9"], products: [line("P9", "A9")] });
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004" });
  await w.run("run", "everything");
  await openHold(w);
  expect(await waiting(w, "staff")).toMatchObject([{ code: "asset.ending", cause: "asset.ending", owner: "program" }]);
});

it("names to each person the hold of their own that was rejected", async () => {
  const w = await placedOrders({
    first: { assets: ["A1", "A9"], products: [line("P1", "A1"), line("P9", "A9")] },
    staff: ["A1", "A9"].map((id) => ({ id: `S${id}`, customer: "C1", holds: [id] })),
  });
  rule(w, "assignments.revoked", "ask");
  const rejected: string[] = [];
  for (const { id } of w.staff) {
    w.staff = w.staff.map((person) => (person.id === id ? { ...person, holds: [] } : person));
    w.write();
    await w.run("run", "everything");
    const hold = await openHold(w);
    rejected.push(hold);
    await w.run("reject", hold, "--reason", "stays", "--by", "anna");
    await w.run("run", "everything");
  }
  const [group]: Parsed = await waiting(w, "staff");
  expect(group).toMatchObject({ code: "revokes.rejected", count: 2 });
  const named = group.examples.map(({ record, hold }: Parsed) => [record, hold]);
  expect(named.toSorted()).toEqual(["SA1", "SA9"].map((id, index) => [`crm/${id}`, rejected[index]]));
  const stated = (await statementRows(w, "exceptions", "exceptions")).filter(({ code }) => code === "revokes.rejected");
  expect(stated.map(({ record }) => record)).toEqual(["staff crm/SA1", "staff crm/SA9"]);
  for (const [index, { next }] of stated.entries())
    expect(String(next).match(/h-[0-9a-f]{8}/gu)).toEqual([rejected[index]]);
});
