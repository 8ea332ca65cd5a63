import { expect, it } from "vitest";
import { approveAll, openHold } from "../../support/asking.ts";
import type { Parsed, World } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import { amend, placedOrders, rule } from "../../support/world/placed-orders.ts";

/** Why records of a stream wait, and who can end it. */
async function waiting(w: World, stream: string): Promise<unknown> {
  const { open } = await w.ask("status");
  return open.filter((one: Parsed) => one.stream === stream);
}

it("says of an order that moved who ends its waiting: whoever decides on the removal at its old customer", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.moved", "hold");
  amend(w, "1", { customer: "C2" });
  await w.run("run", "everything");
  const hold = await openHold(w);
  const common = { code: "order.moving", owner: "operator", counts: true };
  const decide = `crm-sync approve ${hold} --reason TEXT, or crm-sync reject ${hold} --reason TEXT`;
  expect(await waiting(w, "orders")).toMatchObject([{ ...common, cause: "hold.open" }]);
  expect((await w.run("status")).stdout.split(decide)).toHaveLength(2);
  expect((await w.run("explain", "order", "1")).stdout).toContain(`next\n  ${decide}\n\n`);

  await w.run("reject", hold, "--reason", "stays", "--by", "anna");
  await w.run("run", "everything");
  expect(await waiting(w, "orders")).toMatchObject([{ ...common, cause: "hold.rejected" }]);
  const withdraw = `crm-sync reject ${hold} --withdraw --reason TEXT`;
  expect((await w.run("explain", "order", "1")).stdout).toMatch(new RegExp(`next\n  .*${withdraw}.*\n\n`, "u"));
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
  for (const name of ["orders.cancelled", "orders.ended"]) rule(w, name, "hold");
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
  rule(w, "orders.cancelled", "hold");
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
