import { expect, it } from "vitest";
import { quarantined, ran } from "../../support/asking.ts";
import { world, type Parsed } from "../../support/cli.ts";
import { company, type Crm } from "../../support/world/crm.ts";

it("orders of which one says what the next one said wait until a person decides", { timeout: 60_000 }, async () => {
  const records: Crm = { ...company(1, 1), staff: [] };
  const products = ["CAD", "PLOT", "STEEL", "PIPE", "WOOD"];
  const shifted = (by: number): Crm["orders"] =>
    [1, 2, 3, 4].map((n, at) => ({
      id: `O${n}`,
      customer: "C1",
      assets: [`O${n}-A1`],
      products: [{ id: products[at + by] ?? "", parent: `O${n}-A1` }],
    }));
  records.orders = shifted(0);
  const w = await world({ records });
  w.environment["CRM_SYNC__policies__orders__ended"] = "apply";
  expect((await ran(w)).exitCode).toBe(0);
  w.orders = shifted(1);
  w.write();
  const calls: unknown[] = [];
  for (let run = 0; run < 5; run += 1) calls.push((await w.does("run", "everything")).calls);
  // The last one says what none said: it is another product of that order.
  expect(calls).toEqual([{ E5: 1 }, {}, {}, {}, {}]);
  const codes = (await quarantined(w)).map(({ code, key }: Parsed): string => `${key.id} ${code}`);
  expect(codes.toSorted()).toEqual([1, 2, 3].map((n) => `O${n} looks-like-another`));
});

it("people without a mobile of whom one is called as the next one was wait until a person decides", async () => {
  const records = company(1, 12);
  const w = await world({ records: { ...records, staff: records.staff.map((one) => ({ ...one, mobile: null })) } });
  Object.assign(w.environment, {
    CRM_SYNC__policies__assignments__revoked: "apply",
    CRM_SYNC__policies__staff__left: "apply",
  });
  expect((await ran(w)).exitCode).toBe(0);
  const before = w.staff;
  w.staff = before.map((one, at) => {
    if (at > 3) return one;
    if (at === 3) return { ...one, name: "Zqcanary New", holds: [] };
    return { ...one, name: before[at + 1]?.name ?? "", holds: before[at + 1]?.holds ?? [] };
  });
  w.write();
  const calls: unknown[] = [];
  for (let run = 0; run < 5; run += 1) calls.push((await w.does("run", "everything")).calls);
  // The last one is called as nobody was.
  expect(calls).toEqual([{ M2: 1 }, {}, {}, {}, {}]);
  const codes = (await quarantined(w)).map(({ code, key }: Parsed): string => `${key.id} ${code}`);
  expect(codes.toSorted()).toEqual([1, 2, 3].map((n) => `S1-${n} looks-like-another`));
});

it("a seat is not taken away where the id of its customer changed", { timeout: 60_000 }, async () => {
  const w = await world({ records: company(12, 1) });
  Object.assign(w.environment, {
    CRM_SYNC__policies__assignments__revoked: "apply",
    CRM_SYNC__limits__absenceTime: "0s",
  });
  expect((await ran(w)).exitCode).toBe(0);
  const other = (id: string): string => (id === "C1" || id === "C2" ? id.toLowerCase() : id);
  w.customers = w.customers.map((row) => ({ ...row, id: other(row.id) }));
  w.orders = w.orders.map((row) => ({ ...row, customer: other(row.customer) }));
  w.staff = w.staff.map((row) => ({ ...row, customer: other(row.customer) }));
  w.write();
  const first = await w.does("run", "everything");
  expect(first.calls, first.stdout).toEqual({});
  for (let run = 0; run < 4; run += 1) expect((await w.does("run", "everything")).calls).toEqual({});
});

it("a list of few orders whose ids are shifted by one row, with another date, is not taken in", async () => {
  const records: Crm = { ...company(1, 1), staff: [] };
  const names = ["CAD", "PLOT", "STEEL", "PIPE", "WOOD", "ROOF", "ROAD", "RAIL", "SHIP"];
  const shifted = (by: number): Crm["orders"] =>
    names.slice(1).map((_name, at) => ({
      id: `O${at + 1}`,
      customer: "C1",
      assets: [`O${at + 1}-A1`],
      placedAt: `2026-10-0${5 + by}T08:00:00Z`,
      products: [{ id: names[at + by] ?? "", parent: `O${at + 1}-A1` }],
    }));
  records.orders = shifted(0);
  const w = await world({ records });
  w.environment["CRM_SYNC__policies__orders__ended"] = "apply";
  expect((await ran(w)).exitCode).toBe(0);
  w.orders = shifted(1);
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls], ended.stdout).toEqual([7, {}]);
});
