import { expect, it } from "vitest";
import { operationsOf, placedOf, unsettled } from "../../support/asking.ts";
import { productsBy } from "../../support/world/moved-orders.ts";
import { amend, line, placedOrders, removesAll, rule } from "../../support/world/placed-orders.ts";

const one = [line("P1", "A1")];
const two = [...one, line("Q1", "A1")];

// A refused deletion may have removed something (A16), and the record of the order does not show it.
it.each([
  ["cancelled and restored", { cancelled: true }, { cancelled: false }, ["P1", "Q1"]],
  ["reduced and restored", { products: one }, { products: two }, ["P1", "Q1"]],
  ["reduced, restored and extended", { products: one }, { products: [...two, line("R1", "A1")] }, ["P1", "Q1", "R1"]],
  ["cancelled, restored and moved", { cancelled: true }, { cancelled: false, customer: "C2" }, undefined],
])("what a refused deletion removed is bought back when the order was %s", async (_what, away, back, here) => {
  const w = await placedOrders({ staff: [] });
  for (const name of ["orders.ended", "orders.cancelled", "orders.moved"]) rule(w, name, "apply");
  removesAll(w);
  amend(w, "1", away);
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", applied: true, times: 1 });
  expect((await w.does("run", "everything")).exitCode).toBe(3);
  amend(w, "1", back);
  for (let run = 0; run < 3; run += 1) await w.does("run", "everything");
  expect([await w.does("run", "everything"), await unsettled(w)]).toMatchObject([{ exitCode: 0, calls: {} }, []]);
  const shown = await productsBy(w);
  expect(shown["C1"]?.map((text) => text.split(" ")[0])).toEqual(here);
  if (here === undefined) expect(shown["C2"]?.map((text) => text.split(" ")[0])).toEqual(["P1", "P2", "Q1", "Q2"]);
  expect((await operationsOf(w, "order", "1")).filter(({ state }) => state === "rejected")).toEqual([]);
});

it("nothing is bought back when the order that a refused deletion left as it was is restored", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.ended", "apply");
  removesAll(w);
  amend(w, "1", { products: one });
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", times: 1 });
  expect((await w.does("run", "everything")).exitCode).toBe(3);
  amend(w, "1", { products: two });
  await w.does("run", "everything");
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
  expect((await productsBy(w))["C1"]).toEqual(["P1 1", "Q1 1"]);
});

it("a removal is counted once when a person resolved the refused deletion and the order is restored after that", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.cancelled", "apply");
  removesAll(w);
  amend(w, "1", { cancelled: true });
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", applied: true, times: 1 });
  expect((await w.does("run", "everything")).exitCode).toBe(3);
  expect((await w.does("resolve", "order:1", "--done", "--reason", "it is gone", "--by", "anna")).exitCode).toBe(0);
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
  amend(w, "1", { cancelled: false });
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E5: 1 } });
  const { steps } = await placedOf(w, "1");
  expect(steps.map(({ kind }: { kind: string }) => kind)).toEqual(["removed", "bought"]);
});
