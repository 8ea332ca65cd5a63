import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ran } from "../../support/asking.ts";
import { document, world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { removeFreely, runOf, takesBack, undo } from "../../support/world/undone.ts";
import { amend, line, orderOf, placedOrders } from "../../support/world/placed-orders.ts";

it("takes back the newest run that carried something out, whatever was read or planned since", async () => {
  const w = await placedOrders();
  w.customers = w.customers.map((item) => ({ ...item, branch: "South" }));
  const renamed = await runOf(w);
  const nothing = document(await w.run("--json", "undo", await runOf(w)));
  expect(nothing.steps).toEqual([]);
  for (const words of [["run", "verify"], ["plan"]]) await w.run(...words);
  const file = w.path("undo.ndjson");
  const last = await w.run("--json", "undo", "last", "--out", file);
  expect([last.exitCode, document(last).undone]).toEqual([2, renamed]);
  expect(document(last).steps).toMatchObject([1, 2].map(() => ({ how: "exact", endpoint: "E4" })));
  expect((await w.does("apply", file)).calls).toEqual({ E4: 2 });
  expect((await undo(w, renamed)).left).toBe(0);
  expect((await w.ask("undo", "last")).undone, "that was a run too").not.toBe(renamed);
});

it("refuses a run that nobody knows, and a ledger of which no run carried anything out", async () => {
  const w = await world({ records: company(1, 1) });
  for (const run of ["last", "run_nobody"]) expect((await w.run("undo", run)).exitCode, run).toBe(64);
});

it("saves a plan that is refused if it was edited, and in part if the CRM changed", { tags: "long" }, async () => {
  const w = await placedOrders();
  removeFreely(w);
  w.orders.push(orderOf("3", "C1"), orderOf("4", "C2"));
  const { file } = await undo(w, await runOf(w));
  const saved = readFileSync(file, "utf8");
  writeFileSync(file, saved.replace(/"undo":"run_\w+"/u, '"undo":"run_other"'));
  expect((await w.does("apply", file)).exitCode).toBe(64);
  writeFileSync(file, saved);
  amend(w, "3", { products: [line("P3", "A3")] });
  await w.run("plan");
  const { exitCode, calls } = await w.does("apply", file);
  expect([exitCode, calls]).toEqual([3, { E5: 1 }]);
  expect(w.sandbox.state()).toMatchObject({ assets: 3, products: 6 });
});

it("leaves the enterprises that a first run made, and removes everything else of it", { tags: "long" }, async () => {
  const w = await placedOrders();
  removeFreely(w);
  const [{ id }] = await w.ask("runs");
  const { steps, calls } = await takesBack(w, id);
  expect(steps.filter((step) => step.startsWith("impossible"))).toEqual([
    "impossible E2 customer:crm/C1",
    "impossible E2 customer:crm/C2",
  ]);
  expect(calls).toEqual({ E5: 2, M4: 2, M9: 2 });
  expect(w.sandbox.state()).toMatchObject({ enterprises: 2, products: 0, assets: 0, assignments: 0 });
  expect((await ran(w)).calls).toEqual({ E5: 2, M1: 2, M9: 2 });
  expect((await ran(w)).calls).toEqual({});
});
