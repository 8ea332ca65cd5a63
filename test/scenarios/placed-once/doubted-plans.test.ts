import { expect, it } from "vitest";
import { quarantined, ran } from "../../support/asking.ts";
import { world, type Parsed } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("a plan says what a run would not believe, and takes nothing in either", async () => {
  const w = await world({ records: company(8, 1) });
  expect((await ran(w)).exitCode).toBe(0);
  w.orders = w.orders.map((order) => ({ ...order, id: `N${order.id}` }));
  w.write();
  const planned = await w.does("plan");
  expect([planned.exitCode, planned.calls]).toEqual([7, {}]);
  expect(`${planned.stdout}${planned.stderr}`).toContain("--accept-new-ids crm/orders=8");
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls]).toEqual([7, {}]);
  expect(ended.stdout).toContain("--accept-new-ids crm/orders=8");
});

it("a twin of one who waits is not missed in a plan, and both go on when the CRM is right again", async () => {
  const w = await world({ records: company(3, 1) });
  w.environment["CRM_SYNC__limits__absenceTime"] = "0s";
  expect((await ran(w)).exitCode).toBe(0);
  const before = w.customers;
  w.customers = before.map((row) => (row.id === "C1" ? { ...row, id: "c1" } : row));
  w.write();
  for (let run = 0; run < 3; run += 1) {
    expect((await w.does("plan")).calls).toEqual({});
    expect((await w.does("run", "everything")).calls).toEqual({});
  }
  expect((await quarantined(w)).map(({ code }: Parsed): string => code)).toEqual(["looks-like-another"]);
  w.customers = before;
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls, await quarantined(w)], ended.stdout).toEqual([0, {}, []]);
});

it("a list whose ids come in another case and go back leaves nothing behind", async () => {
  const w = await world({ records: company(8, 1) });
  w.environment["CRM_SYNC__limits__absenceTime"] = "0s";
  expect((await ran(w)).exitCode).toBe(0);
  const before = w.customers;
  w.customers = before.map((row) => ({ ...row, id: row.id.toLowerCase() }));
  w.write();
  for (let run = 0; run < 4; run += 1) {
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls], ended.stdout).toEqual([7, {}]);
  }
  w.customers = before;
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls, await quarantined(w)], ended.stdout).toEqual([0, {}, []]);
});
