import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { placedOrders } from "../../support/world/placed-orders.ts";

it("the exceptions have the records of a source that is configured no longer", async () => {
  const w = await placedOrders();
  const file = w.path("crm-sync.yaml");
  const text = readFileSync(file, "utf8").replace(/^ {2}hr:[^]*?(?=^jobs:)/mu, "");
  writeFileSync(file, text.replace(", staff]", "]"));
  const { exitCode, stdout } = await w.run("run", "everything");
  expect([exitCode, stdout.includes("source.removed by hr")]).toEqual([3, true]);
  const exceptions = await w.run("report", "exceptions", "--part", "exceptions", "--period", "2026-11");
  expect(exceptions.stdout).toContain("source.removed");
  expect(exceptions.stdout).toContain("crm-sync reassign hr --to SOURCE");
});
