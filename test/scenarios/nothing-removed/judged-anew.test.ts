import { expect, it } from "vitest";
import { quarantined, ran } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

const applied = {
  CRM_SYNC__policies__assignments__revoked: "apply",
  CRM_SYNC__policies__staff__left: "apply",
  CRM_SYNC__policies__orders__ended: "apply",
  CRM_SYNC__policies__orders__deleted: "apply",
  CRM_SYNC__limits__absenceTime: "0s",
};

const codes = async (w: World): Promise<string[]> =>
  (await quarantined(w)).map(({ code, key }: Parsed): string => `${key?.id ?? "?"} ${code}`).toSorted();

async function people(count: number): Promise<World> {
  const records = company(1, count);
  records.staff = records.staff.map((one, at) => ({ ...one, mobile: `+49177007007${10 + at}` }));
  const w = await world({ records });
  Object.assign(w.environment, applied);
  expect((await ran(w)).exitCode).toBe(0);
  return w;
}

it("an id that stands twice, with another person, takes nothing away, and the run adds up", async () => {
  const w = await people(6);
  const before = w.staff;
  const [first = { id: "", customer: "" }] = before;
  const other = { ...first, name: "Zqcanary Other", mobile: "+491770070099", holds: [] };
  for (const rows of [
    [...before, other],
    [other, ...before],
  ]) {
    w.staff = rows;
    w.write();
    for (let run = 0; run < 4; run += 1) {
      const ended = await w.does("run", "everything");
      expect([ended.exitCode, ended.calls], ended.stdout).toEqual([3, {}]);
    }
  }
  w.staff = before;
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls, await codes(w)], ended.stdout).toEqual([0, {}, []]);
});

it("seats that refer to the new ids of lines stay", { timeout: 60_000 }, async () => {
  const w = await world({ records: company(12, 1) });
  Object.assign(w.environment, applied);
  expect((await ran(w)).exitCode).toBe(0);
  const other = (id: string): string => (/^O[12]-/u.test(id) ? id.replace("-A", "-B") : id);
  w.orders = w.orders.map((order) => ({
    ...order,
    assets: order.assets.map((asset) => (typeof asset === "string" ? other(asset) : asset)),
    products: [{ id: `${order.id}-A1-P`, parent: other(`${order.id}-A1`) }],
  }));
  w.staff = w.staff.map((one) => ({ ...one, holds: (one.holds ?? []).map(other) }));
  w.write();
  for (let run = 0; run < 4; run += 1) {
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls], ended.stdout).toEqual([3, {}]);
  }
});

it("the ids of orders, of their customers and of their people change at once", { timeout: 60_000 }, async () => {
  const w = await world({ records: company(30, 1) });
  Object.assign(w.environment, applied);
  expect((await ran(w)).exitCode).toBe(0);
  const few = new Set(["C1", "C2", "C3"]);
  const other = (id: string): string => `N${id}`;
  const isOf = (customer: string): boolean => few.has(customer);
  w.customers = w.customers.map((row) => (isOf(row.id) ? { ...row, id: other(row.id) } : row));
  w.orders = w.orders.map((row) =>
    isOf(row.customer) ? { ...row, id: other(row.id), customer: other(row.customer) } : row,
  );
  w.staff = w.staff.map((row) =>
    isOf(row.customer) ? { ...row, id: other(row.id), customer: other(row.customer) } : row,
  );
  w.write();
  for (let run = 0; run < 5; run += 1) {
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls], ended.stdout).toEqual([3, {}]);
  }
});

it("one who looks like another is taken in where a person says so", async () => {
  const w = await people(6);
  w.staff = w.staff.map((one, at) => (at === 2 ? { ...one, id: "S9", login: "zqcanarynine" } : one));
  w.write();
  expect((await w.does("run", "everything")).calls).toEqual({});
  expect(await codes(w)).toEqual(["S9 looks-like-another"]);
  const [row] = await quarantined(w);
  expect((await w.run("quarantine", "retry", row.id)).exitCode).toBe(0);
  const ended = await w.does("run", "everything");
  expect(ended.calls).toMatchObject({ M1: 1 });
  expect(await codes(w)).toEqual([]);
});

it("two of whom one is swapped with a form that cannot be used keep their seats", async () => {
  const w = await people(6);
  const [one = { id: "", customer: "" }, two = { id: "", customer: "" }, ...others] = w.staff;
  w.staff = [{ ...two, id: one.id, login: one.login ?? "" }, { ...one, id: two.id, name: "" }, ...others];
  w.write();
  for (let run = 0; run < 4; run += 1) {
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls], ended.stdout).toEqual([3, {}]);
  }
});
