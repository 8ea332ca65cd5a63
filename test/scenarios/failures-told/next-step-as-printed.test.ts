import { mkdirSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { ran, quarantined } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { orderOf, placedOrders } from "../../support/world/placed-orders.ts";

it("the reconciliation without a period has each difference that verify found, also of an earlier month", async () => {
  const w = await placedOrders();
  w.later(40 * 24);
  expect(w.sandbox.dropOrders("1")).toBeGreaterThan(0);
  for (const words of [["run", "verify"], ["run", "everything"], ["status"]])
    expect((await w.run(...words)).stdout, words.join(" ")).toContain("crm-sync report reconciliation");
  const { exitCode, stdout, stderr } = await w.run("report", "reconciliation");
  expect(exitCode, stderr).toBe(0);
  expect(stdout).toContain("order,missing,,1,1,1,0");
});

it("a row that cannot be taken as it is is not said to be", async () => {
  const w = await world();
  w.orders = [...w.orders, { ...orderOf("O9", "C1"), assets: ["A9", "A9"] }];
  w.write();
  expect((await ran(w)).exitCode).toBe(3);
  const [row] = await quarantined(w);
  const { stdout } = await w.run("quarantine", "show", row.id);
  expect(stdout).not.toContain("as it is");
  expect(stdout).toContain("correct the field that the message names");
  expect((await w.run("quarantine", "retry", row.id)).exitCode).toBe(3);
});

it("prints closed periods into a folder that is not there yet", async () => {
  const w = await world();
  expect((await ran(w)).exitCode).toBe(0);
  w.later(40 * 24);
  expect((await ran(w)).exitCode).toBe(0);
  const closed = await w.run("report", "close", "2026-11", "--by", "anna");
  expect(closed.exitCode, closed.stdout + closed.stderr).toBe(0);
  mkdirSync(w.path("here"));
  for (const folder of ["here", "out/print"]) {
    const printed = await w.run("report", "print", "2026-11", "--out", w.path(folder));
    expect(printed.exitCode, printed.stderr).toBe(0);
  }
  expect(readdirSync(w.path("out/print"))).toEqual(readdirSync(w.path("here")));
});
