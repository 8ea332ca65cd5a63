import { expect, it } from "vitest";
import { enterpriseOf, numberOf, runsOf, waitsFor } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { atOnce, peaksAt } from "../../support/peaks.ts";
import { company } from "../../support/world/crm.ts";
import { amend, line, placedOrders, rule } from "../../support/world/placed-orders.ts";

/** @module-tag long */

// Shares take the customers of these worlds in the order C1, C3, C6, C5, C4, C2: so many per cent end behind C1, C3,
// C6, C4.
const [behindC1, behindC3, behindC6, behindC4] = ["10", "30", "38", "60"];
const customers = 6;

const newCompany = (): Promise<World> => world({ records: company(customers, 1) });

async function synchronised(): Promise<World> {
  const w = await newCompany();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

const byShares = (w: World, ...shares: string[]): ReturnType<World["does"]> =>
  w.does("run", "everything", "--canary", shares.join(","));

/** What the last run by shares says of each of them: `wrong`, and how much stood otherwise `before`. */
async function tranches(w: World): Promise<Parsed[]> {
  return (await runsOf(w))[0].summary.canary;
}

/** Every customer has another order in the CRM. */
function buyMore(w: World, letter: string): void {
  for (const { id } of w.customers)
    w.orders.push({ id: `${letter}${id}`, customer: id, assets: [`${letter}${id}-A1`] });
  w.write();
}

/** The platform loses the product of an asset. */
const drop = (w: World, asset: string): void =>
  void w.sandbox.hand({ action: "drop-product", assetNum: numberOf(w, asset), crmProductId: `${asset}-P` });

/** M5 of a customer is refused from now on. */
async function cannotBeRead(w: World, customer: string): Promise<void> {
  const about = await enterpriseOf(w, customer);
  w.sandbox.faults.add({ operation: "M5", fault: "status299", code: "60017", about });
}

/** A run by shares, and what happens on the platform before its first purchase. */
async function meanwhile(w: World, share: string, happens: () => void): ReturnType<World["does"]> {
  const gate = w.stopsAt("E5");
  const running = byShares(w, share);
  await gate.reached;
  happens();
  gate.goOn();
  return await running;
}

it("a run goes from share to share while what was done is read back as meant", async () => {
  const w = await newCompany();
  const run = await byShares(w, behindC3, behindC4);
  expect([run.exitCode, run.calls["E2"]], run.stdout).toEqual([0, customers]);
  expect((await tranches(w)).map(({ share, customers: count, wrong }) => [share, count, wrong])).toEqual([
    [30, 2, []],
    [60, 3, []],
    [100, 1, []],
  ]);
  const again = await byShares(w, behindC3, behindC4);
  expect([again.exitCode, again.calls]).toEqual([0, {}]);
});

it.each([
  ["is read back otherwise", { operation: "M7", fault: "oddField", field: "crmProductId", value: "X" }],
  ["is refused", { operation: "M1", fault: "status299", code: "30002" }],
] as const)("a run stops when something of the first share %s, and the next run does the rest", async (_, fault) => {
  const w = await newCompany();
  w.sandbox.faults.add({ ...fault, times: 1 });
  const run = await byShares(w, behindC3, behindC4);
  w.sandbox.faults.clear();
  expect([run.exitCode, run.calls["E2"]], run.stdout).toEqual([3, 2]);
  expect(await waitsFor(w, "O2")).toBe("run.canary");
  expect((await w.ask("alerts")).alerts.map(({ kind }: Parsed) => kind)).toContain("canary");
  expect((await w.does("run", "everything")).calls["E2"]).toBe(customers - 2);
});

it("a run stops when something else of an order is gone after its amendment was bought", async () => {
  const w = await newCompany();
  const products = (order: string, nodes: number) =>
    ["P", "Q"].map((name) => ({ id: `${order}-${name}`, parent: `${order}-A1`, pid: `PID-${name}`, nodes }));
  w.orders = w.orders.map((order) => ({ ...order, products: products(order.id, 3) }));
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.orders = w.orders.map((order) => ({
    ...order,
    products: [...products(order.id, 9).slice(0, 1), ...products(order.id, 3).slice(1)],
  }));
  w.write();
  const run = await meanwhile(w, behindC1, () =>
    w.sandbox.hand({ action: "drop-product", assetNum: numberOf(w, "O1-A1"), crmProductId: "O1-Q" }),
  );
  expect([run.exitCode, run.calls], run.stdout).toEqual([4, { E5: 1 }]);
});

it.each([
  ["other jobs", ["verify", "staff", "customers-and-orders"]],
  ["the job without shares", ["everything"]],
])("a run reads back what an earlier run by shares did not, whatever %s did since", async (_who, jobs) => {
  const w = await newCompany();
  w.sandbox.faults.add({ operation: "M7", fault: "oddField", field: "crmProductId", value: "ELSE", times: 1 });
  expect((await byShares(w, behindC1)).exitCode).toBe(3);
  w.sandbox.faults.clear();
  drop(w, "O1-A1");
  for (const job of jobs) await w.run("run", job);
  const next = await byShares(w, behindC1);
  expect([next.exitCode, next.calls["E2"]], next.stdout).toEqual([3, undefined]);
});

it("what others added does not stop a run", async () => {
  const w = await synchronised();
  buyMore(w, "N");
  const run = await meanwhile(w, behindC1, () => {
    const fields = { crmProductId: "XO1-A1" };
    w.sandbox.hand({ action: "add-product", assetNum: numberOf(w, "O1-A1"), like: "O1-A1-P", fields });
  });
  expect([run.exitCode, run.calls["E5"]], run.stdout).toEqual([0, customers]);
});

it("what was missing before does not stop a run, and what goes missing stops every one after", async () => {
  const w = await synchronised();
  drop(w, "O1-A1");
  buyMore(w, "N");
  const beside = await byShares(w, behindC1);
  expect([beside.exitCode, beside.calls["E5"]], beside.stdout).toEqual([0, customers]);
  expect((await tranches(w))[0]).toMatchObject({ before: 1, wrong: [] });
  buyMore(w, "M");
  const stopped = await meanwhile(w, behindC1, () => drop(w, "NC1-A1"));
  expect([stopped.exitCode, stopped.calls["E5"]], stopped.stdout).toEqual([3, 1]);
  for (const letter of ["K", "L"]) {
    buyMore(w, letter);
    const next = await byShares(w, behindC1);
    expect([next.exitCode, next.calls["E5"]], `${letter}: ${next.stdout}`).toEqual([3, 1]);
  }
});

it("neither a customer that waits for a person since before nor one that cannot be read stops a run", async () => {
  const w = await synchronised();
  w.extra = "orders: { unseen: ask }\n";
  w.orders.push({ id: "D1", customer: "C1", assets: ["D1-A1"] });
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  expect((await w.run("run", "everything")).exitCode).toBe(5);
  w.sandbox.faults.clear();
  w.staff = w.staff.map((person) => (person.customer === "C3" ? { ...person, holds: [] } : person));
  buyMore(w, "N");
  await cannotBeRead(w, "C3");
  const run = await byShares(w, behindC6, behindC4);
  expect([run.exitCode, run.calls["E5"]], run.stdout).toEqual([5, customers - 1]);
  expect((await tranches(w)).every(({ wrong }) => wrong.length === 0)).toBe(true);
});

it("a run stops when nobody of the first share can be read, and goes on once somebody can", async () => {
  const w = await synchronised();
  w.staff = w.staff.map((person) => (["C1", "C3"].includes(person.customer) ? { ...person, holds: [] } : person));
  buyMore(w, "N");
  for (const id of ["C1", "C3"]) await cannotBeRead(w, id);
  const run = await byShares(w, behindC3, behindC4);
  expect([run.exitCode, run.calls], run.stdout).toEqual([7, { E5: 2 }]);
  expect((await tranches(w))[0].wrong).toHaveLength(2);
  expect(await waitsFor(w, "NC2")).toBe("run.canary");
  w.sandbox.faults.clear();
  await cannotBeRead(w, "C1");
  const next = await byShares(w, behindC3, behindC4);
  expect([next.exitCode, next.calls["E5"]], next.stdout).toEqual([7, customers - 2]);
});

it("a run stops when there are no asset numbers for the first share", async () => {
  const w = await newCompany();
  w.environment["CRM_SYNC__assumptions__poolBatch"] = "1";
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  buyMore(w, "N");
  w.sandbox.faults.add({ operation: "E9", fault: "status299", code: "500" });
  const run = await byShares(w, behindC3, behindC4);
  expect([run.exitCode, run.calls["E5"]], run.stdout).toEqual([7, undefined]);
  expect(await waitsFor(w, "NC2")).toBe("run.canary");
});

it("what a policy holds does not stop a run", async () => {
  const w = await newCompany();
  rule(w, "orders.added", "ask");
  const run = await byShares(w, behindC3, behindC4);
  expect([run.exitCode, run.calls["E2"], run.calls["E5"]], run.stdout).toEqual([4, customers, undefined]);
});

it("shares rise, are of a job that synchronises, and come from the command line or the configuration", async () => {
  const w = await newCompany();
  for (const words of ["5,1", "0", "a", "101"]) expect((await byShares(w, words)).exitCode, words).toBe(64);
  expect((await w.run("run", "verify", "--canary", "5")).exitCode).toBe(64);
  const job = (canary: string): string =>
    `jobs: { everything: { kind: sync, streams: [customers, orders, staff], canary: [${canary}] } }\n`;
  w.extra = job("30, 60");
  w.write();
  w.sandbox.faults.add({ operation: "M1", fault: "status299", code: "30002", times: 1 });
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls["E2"]], run.stdout).toEqual([3, 2]);
  w.extra = job("5, 1");
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(78);
});

/** Two customers with an order each; the CRM gives C1 a person with a seat, and the order of C2 another product. */
async function newSeat(): Promise<World> {
  const w = await placedOrders({ staff: [] });
  w.staff = [{ id: "S1", customer: "C1", holds: ["A1"] }];
  const had = w.orders.find(({ id }) => id === "2")?.products ?? [];
  amend(w, "2", { products: [...had, line("R", "A2")] });
  return w;
}

const freeSeat = (w: World): void =>
  void w.sandbox.hand({ action: "move-holder", assetNum: numberOf(w, "A1"), memberGlobalId: null });

it("a run stops when a seat is given in vain", async () => {
  const w = await newSeat();
  // The service says that it gave the seat, and did not.
  w.sandbox.faults.add({ operation: "M9", fault: "oddData", value: null, applied: false });
  const run = await byShares(w, "50");
  w.sandbox.faults.clear();
  expect([run.exitCode, run.calls["E5"]], run.stdout).toEqual([3, undefined]);
  const next = await byShares(w, "50");
  expect([next.exitCode, next.calls], next.stdout).toEqual([0, { E5: 1, M9: 1 }]);
});

it("a run stops when a seat that it gave is free again", async () => {
  const w = await newSeat();
  const gate = w.stopsAt("M9", { when: "after" });
  const running = byShares(w, "95");
  await gate.reached;
  freeSeat(w);
  gate.goOn();
  const run = await running;
  expect([run.exitCode, run.calls], run.stdout).toMatchObject([3, { E5: 1, M9: 1 }]);
});

it("reads the customers of a share back at once", async () => {
  const { gate, peaks } = peaksAt(3, "M8");
  const w = await world({ records: company(customers, 1), sandbox: { gate } });
  w.extra = atOnce(3);
  w.write();
  expect((await byShares(w, behindC4)).exitCode).toBe(0);
  // Nothing but reading back asks for loans.
  expect(peaks["M8"]).toBe(3);
});
