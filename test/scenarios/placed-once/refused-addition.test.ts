import { expect, it } from "vitest";
import { unsettled } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import { productsBy } from "../../support/world/moved-orders.ts";
import { amend, line, placedOrders, removesAll, rule } from "../../support/world/placed-orders.ts";

const because = ["--reason", "asked the service desk", "--by", "anna"];
const two = [line("P1", "A1"), line("Q1", "A1")];
const three = [...two, line("R1", "A1")];

/** An addition to order 1 was refused, and yet the order service carried it out (A16): C1 has and pays R1. */
async function refusedYetThere(): Promise<World> {
  const w = await placedOrders({ staff: [] });
  for (const name of ["orders.ended", "orders.cancelled", "orders.moved", "orders.replaced"]) rule(w, name, "apply");
  removesAll(w);
  amend(w, "1", { products: three });
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", applied: true, times: 1 });
  expect((await w.does("run", "everything")).exitCode).toBe(3);
  expect((await productsBy(w))["C1"]).toEqual(["P1 1", "Q1 1", "R1 1-1"]);
  return w;
}

it.each([
  ["reverted", { products: two }, ["P1 1", "Q1 1"]],
  ["cancelled", { cancelled: true }, undefined],
  ["reduced at once by another product", { products: [line("P1", "A1")] }, ["P1 1"]],
  ["moved and cancelled", { customer: "C2", cancelled: true }, undefined],
])("a refused addition that is there waits for a person when the order was %s", async (_what, change, left) => {
  const w = await refusedYetThere();
  amend(w, "1", change);
  for (let run = 0; run < 3; run += 1) await w.does("run", "everything");
  const asked = await unsettled(w);
  expect(asked, "and nothing is removed before it is known what is there").toHaveLength(1);
  expect((await productsBy(w))["C1"]).toEqual(["P1 1", "Q1 1", "R1 1-1"]);
  expect((await w.does("settle", asked[0]?.id, "--applied", ...because)).exitCode).toBe(0);
  for (let run = 0; run < 2; run += 1) await w.does("run", "everything");
  expect([(await w.does("run", "everything")).exitCode, (await productsBy(w))["C1"]]).toEqual([0, left]);
});

it("a refused addition that is not there is not asked about when the CRM drops it", async () => {
  const w = await placedOrders({ staff: [] });
  amend(w, "1", { products: three });
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", times: 1 });
  expect((await w.does("run", "everything")).exitCode).toBe(3);
  amend(w, "1", { products: two });
  for (let run = 0; run < 2; run += 1) await w.does("run", "everything");
  expect([(await w.does("run", "everything")).exitCode, await unsettled(w)]).toEqual([0, []]);
});

// Counted twice, the wanted and paid R1 would be deleted as an old form and bought once more.
it("an addition that was resolved by hand is not asked about, counted and bought a second time", async () => {
  const w = await refusedYetThere();
  expect((await w.does("resolve", "order:1", "--done", ...because)).exitCode).toBe(0);
  expect((await w.does("run", "everything")).exitCode).toBe(0);
  amend(w, "1", { products: [...three, line("S1", "A1")] });
  const { calls, exitCode } = await w.does("run", "everything");
  expect({ calls, exitCode, open: await unsettled(w) }).toEqual({ calls: { E5: 1 }, exitCode: 0, open: [] });
  expect((await productsBy(w))["C1"]).toEqual(["P1 1", "Q1 1", "R1 1-1", "S1 1-2"]);
});

it("a removal that was sent meanwhile does not explain a refused addition, which may appear later", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.ended", "apply");
  removesAll(w);
  amend(w, "1", { products: three });
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", times: 1 });
  expect((await w.does("run", "everything")).exitCode).toBe(3);
  amend(w, "1", { products: [line("P1", "A1")] });
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E5: 1 } });
  const [asset] = w.rows<{ number: string }>("select wire_number as number from asset_number where instance_id = 'A1'");
  const assetNum = asset?.number ?? "";
  const fields = { crmProductId: "R1", gmsPid: "PID-R1" };
  w.sandbox.hand({ action: "add-product", assetNum, like: "P1", fields, channelOrderId: "1-1" });
  amend(w, "1", { products: [line("P1", "A1"), line("R1", "A1")] });
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 5, calls: {} });
  expect(await unsettled(w)).toMatchObject([{ kind: "amend-order", state: "parked" }]);
});
