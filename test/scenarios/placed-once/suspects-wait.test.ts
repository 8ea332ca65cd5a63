import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { quarantined, ran } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { company, type Crm } from "../../support/world/crm.ts";

async function companies(): Promise<World> {
  const w = await world({ records: company(4, 1) });
  w.environment["CRM_SYNC__policies__assignments__revoked"] = "report";
  expect((await ran(w)).exitCode).toBe(0);
  return w;
}

function amend(w: World, id: string, change: Partial<Crm["orders"][number]>): void {
  w.orders = w.orders.map((order) => (order.id === id ? { ...order, ...change } : order));
  w.write();
}

const codes = async (w: World): Promise<string[]> =>
  (await quarantined(w)).map(({ code, key }: Parsed): string => `${key.id} ${code}`).toSorted();

/** Nothing is sent, and these rows wait. */
async function waits(w: World, ...rows: string[]): Promise<void> {
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls, await codes(w)], ended.stdout).toEqual([3, {}, rows]);
}

function allowTypes(w: World, ...types: string[]): void {
  w.environment["CRM_SYNC__assumptions__productTypes"] = JSON.stringify(types);
}

/** An order that could not be used when it came under another id. Its setting is corrected now. */
async function curedOrder(): Promise<World> {
  const w = await world({ records: company(4, 1) });
  w.environment["CRM_SYNC__policies__assignments__revoked"] = "report";
  allowTypes(w, "tool");
  expect((await ran(w)).exitCode).toBe(0);
  allowTypes(w, "other");
  amend(w, "O2", { id: "N2" });
  await w.does("run", "everything");
  expect(await codes(w)).not.toEqual(["N2 looks-like-another"]);
  allowTypes(w, "tool", "other");
  return w;
}

it.each([
  ["a policy", { CRM_SYNC__policies__staff__left: "ignore" }],
  ["an assumption", { CRM_SYNC__assumptions__clearedStaffFields: "empty" }],
])("an order under a new id still waits after %s changed", async (_what, changed) => {
  const w = await companies();
  amend(w, "O2", { id: "N2" });
  for (let run = 0; run < 2; run += 1) await waits(w, "N2 looks-like-another");
  Object.assign(w.environment, changed);
  await waits(w, "N2 looks-like-another");
});

it("an order under a new id is judged when a setting makes it usable", async () => {
  await waits(await curedOrder(), "N2 looks-like-another");
});

it("an order under a new id is judged when a person maps everything again", async () => {
  const w = await curedOrder();
  expect((await w.run("quarantine", "retry", "all")).stdout).toContain("crm/O2 is missing");
  await waits(w, "N2 looks-like-another");
});

it("a retry of all rows leaves out those that may be another record, and says how to accept each", async () => {
  const w = await companies();
  amend(w, "O2", { id: "N2" });
  await waits(w, "N2 looks-like-another");
  const [{ id }] = await quarantined(w);
  const all = await w.run("quarantine", "retry", "all");
  expect([all.exitCode, all.stdout]).toEqual([3, expect.stringContaining(`1 row that may be another record: ${id}`)]);
  expect(all.stdout).toContain("crm-sync quarantine retry ID");
  await waits(w, "N2 looks-like-another");
  expect((await w.run("quarantine", "retry", id)).exitCode).toBe(0);
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E5: 1 } });
});

it("an order that a setting makes usable is judged by its lines too when a person maps it again", async () => {
  const w = await world({ records: company(4, 1) });
  allowTypes(w, "tool", "other");
  const of = (id: string): { id: string; parent: string; name: string } => ({ id, parent: "O2-A1", name: id });
  amend(w, "O2", { products: [of("O2-A1-P"), of("O2-A1-Q")] });
  expect((await ran(w)).exitCode).toBe(0);
  allowTypes(w, "other");
  amend(w, "O2", { products: [of("O2-A1-P")] });
  w.orders = [
    ...w.orders,
    { id: "X", customer: "C2", assets: ["X-A"], products: [{ ...of("O2-A1-Q"), parent: "X-A" }] },
  ];
  amend(w, "X", { placedAt: "never" });
  await w.does("run", "everything");
  allowTypes(w, "tool", "other");
  const o2 = (await quarantined(w)).find(({ key }: Parsed) => key.id === "O2");
  expect((await w.run("quarantine", "retry", o2.id)).stdout).toContain("no longer has the line O2-A1-Q");
});

it("a retry with another mapping is judged as what it makes of the row, which nobody was shown", async () => {
  const w = await companies();
  amend(w, "O2", { id: "N2" });
  await waits(w, "N2 looks-like-another");
  const [{ id }] = await quarantined(w);
  w.environment["CRM_SYNC__sources__crm__streams__orders__mapping__amount"] = JSON.stringify({ value: null });
  const retried = await w.run("quarantine", "retry", id);
  expect(retried.exitCode, retried.stdout + retried.stderr).toBe(3);
  await waits(w, "N2 looks-like-another");
});

it("an order under a new id that is amended while it waits is not bought again", async () => {
  const w = await companies();
  amend(w, "O2", { id: "N2" });
  await waits(w, "N2 looks-like-another");
  amend(w, "N2", { placedAt: "2026-10-07T08:00:00Z" });
  for (let run = 0; run < 2; run += 1) await waits(w, "N2 looks-like-another");
  amend(w, "N2", { id: "O2" });
  expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
  expect(await codes(w)).toEqual([]);
});

it("an order whose lines have other ids buys no line again when it changes while it waits", async () => {
  const w = await companies();
  w.staff = w.staff.map((person) => (person.holds?.[0]?.startsWith("O2") === true ? { ...person, holds: [] } : person));
  for (const nodes of [1, 2]) {
    amend(w, "O2", {
      assets: ["O2-B1"],
      products: [{ id: "O2-B1-P", parent: "O2-B1", name: "Product O2-A1-P", nodes }],
    });
    await waits(w, "O2 lines-renumbered");
  }
});

it("orders that wait already are not counted once more against the limit of new ids", async () => {
  const w = await world({ records: company(12, 1) });
  w.environment["CRM_SYNC__policies__assignments__revoked"] = "report";
  expect((await ran(w)).exitCode).toBe(0);
  for (const id of ["2", "3", "4", "5"]) amend(w, `O${id}`, { id: `N${id}` });
  await waits(w, ...["2", "3", "4", "5"].map((id) => `N${id} looks-like-another`));
  amend(w, "O6", { id: "N6" });
  await waits(w, ...["2", "3", "4", "5", "6"].map((id) => `N${id} looks-like-another`));
});

it("a second order of the same things waits only until a whole read contains the first one too", async () => {
  const w = await companies();
  const second = w.orders.find(({ id }) => id === "O2");
  if (second === undefined) throw new Error("no order");
  const products = [{ id: "N2-A1-P", parent: "N2-A1", name: "Product O2-A1-P" }];
  w.orders = [{ ...second, id: "N2", assets: ["N2-A1"], products }, ...w.orders];
  w.write();
  const file = w.path("data/orders.ndjson");
  const whole = readFileSync(file, "utf8");
  writeFileSync(file, `${whole.split("\n").slice(0, 2).join("\n")}\n{"id":`);
  expect((await w.does("run", "everything")).calls).toEqual({});
  expect(await codes(w)).toEqual(["N2 looks-like-another"]);
  writeFileSync(file, whole);
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E5: 1 } });
});
