import { describe, expect, it } from "vitest";
import { enterpriseOf, heldBy, notDone, openHolds } from "../../support/asking.ts";
import { promptRetries, world, type Parsed, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { amend, orderOf, placedOrders, rule } from "../../support/world/placed-orders.ts";

/** Two customers with an order of two assets each, and two people each who hold them; all is done. */
async function synchronised(): Promise<World> {
  const w = await world({ records: company(2, 2) });
  Object.assign(w.environment, promptRetries);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** Each customer gets one more order, one more person, and a branch of another name. */
function grows(w: World): void {
  for (const n of [1, 2]) {
    w.orders.push({ id: `N${n}`, customer: `C${n}`, assets: [`N${n}-A1`] });
    w.staff.push({ id: `T${n}`, customer: `C${n}` });
  }
  w.write();
}

async function run(w: World): Promise<{ exit: number | null; calls: Record<string, number> }> {
  const { exitCode, calls } = await w.does("run", "everything");
  return { exit: exitCode, calls };
}

async function waiting(w: World): Promise<string[]> {
  return (await notDone(w)).map(({ record, code }) => `${record} ${code}`);
}

describe("a list of one enterprise that can never be read", () => {
  it.each(["M5", "M6"] as const)(
    "(%s) keeps its people waiting, and neither its orders nor anybody else",
    async (list) => {
      const w = await synchronised();
      const about = await enterpriseOf(w, "C1");
      w.sandbox.faults.add({ operation: list, fault: "code500", about });
      grows(w);
      expect(await run(w)).toEqual({ exit: 7, calls: { E5: 2, M1: 1 } });
      expect(await waiting(w)).toEqual(["staff T1 service.unreadable"]);
      // It stays told, and nothing is done twice.
      expect(await run(w)).toEqual({ exit: 7, calls: {} });
      expect(await waiting(w)).toEqual(["staff T1 service.unreadable"]);
      w.sandbox.faults.clear();
      expect(await run(w)).toEqual({ exit: 0, calls: { M1: 1 } });
    },
  );

  it("is told by a plan as by a run, with all that goes on", async () => {
    const w = await synchronised();
    w.sandbox.faults.add({ operation: "M5", fault: "code500", about: await enterpriseOf(w, "C1") });
    grows(w);
    const planned = await w.run("--json", "plan");
    expect(planned.exitCode).toBe(7);
    const lines: Parsed[] = planned.stdout
      .split("\n")
      .filter(Boolean)
      .map((text) => JSON.parse(text));
    const own = lines.find(({ customer }) => customer === "crm/C1");
    expect(own.operations.map(({ endpoint }: Parsed) => endpoint)).toEqual(["E5"]);
    expect(own.records).toContainEqual(expect.objectContaining({ id: "crm/T1", code: "service.unreadable" }));
  });

  it("takes nothing away of what rests on it, and keeps what a person was asked", async () => {
    const w = await placedOrders();
    Object.assign(w.environment, promptRetries);
    const about = await enterpriseOf(w, "C1");
    amend(w, "1", { cancelled: true });
    w.staff = w.staff.map((row) => ({ ...row, holds: [] }));
    w.write();
    expect(await run(w)).toMatchObject({ exit: 4 });
    const before = (await openHolds(w)).map(({ id }) => id);
    w.sandbox.faults.add({ operation: "M5", fault: "code500", about });
    w.orders.push(orderOf("3", "C1"));
    w.write();
    expect((await run(w)).calls).toEqual({ E5: 1 });
    expect((await openHolds(w)).map(({ id }) => id)).toEqual(before);
    expect(await waiting(w)).toContain("orders 1 service.unreadable");
    w.sandbox.faults.clear();
    expect(await run(w)).toEqual({ exit: 4, calls: {} });
    expect((await openHolds(w)).map(({ id }) => id)).toEqual(before);
  });

  it("(M7) keeps orders waiting whose change rests on it, and no new one", async () => {
    const w = await placedOrders();
    Object.assign(w.environment, promptRetries);
    w.sandbox.faults.add({ operation: "M7", fault: "code500" });
    const [first] = w.orders;
    amend(w, "1", { products: [...(first?.products ?? []), { id: "PX", parent: "A1", pid: "PID-X" }] });
    w.orders.push(orderOf("3", "C1"));
    w.staff.push({ id: "S3", customer: "C1" });
    w.write();
    expect(await run(w)).toEqual({ exit: 7, calls: { E5: 1, M1: 1 } });
    expect(await waiting(w)).toEqual(["orders 1 service.unreadable"]);
    w.sandbox.faults.clear();
    expect(await run(w)).toEqual({ exit: 0, calls: { E5: 1 } });
  });
});

describe("an enterprise that somebody else made", () => {
  /** The ledger begins anew, and what assets hold cannot be read. */
  async function unread(): Promise<World> {
    const w = await synchronised();
    w.environment["CRM_SYNC__memberCenter__breakerFailures"] = "100";
    w.losesItsLedger();
    w.sandbox.faults.add({ operation: "M7", fault: "code500" });
    w.staff.push({ id: "T1", customer: "C1" });
    w.write();
    return w;
  }

  it("has its people served while its assets cannot be read, and none of its orders is placed", async () => {
    const w = await unread();
    const { exit, calls } = await run(w);
    expect({ exit, calls }).toEqual({ exit: 7, calls: { E4: 2, M1: 1 } });
    const told = await waiting(w);
    for (const record of ["orders O1", "orders O2"]) expect(told).toContain(`${record} service.unreadable`);
    w.sandbox.faults.clear();
    expect((await run(w)).calls).toEqual({});
  });
});

describe("the order service is down", () => {
  /** A new customer met the failure, which opened the circuit for ten minutes. */
  async function down(): Promise<World> {
    const w = await synchronised();
    Object.assign(w.environment, {
      CRM_SYNC__orderService__breakerFailures: "1",
      CRM_SYNC__orderService__breakerOpenMs: "600000",
      CRM_SYNC__concurrency__customers: "1",
    });
    w.customers.push({ id: "C0" });
    w.staff.push({ id: "T0", customer: "C0" });
    w.write();
    w.sandbox.faults.add({ operation: "order", fault: "http502" });
    return w;
  }

  it("and people of customers who have an enterprise are served, run by run", async () => {
    const w = await down();
    grows(w);
    w.staff = w.staff.map((row) => (row.id === "S1-1" ? { ...row, holds: [] } : row));
    Object.assign(w.customers[0] ?? {}, { branch: "East" });
    w.write();
    expect(await run(w)).toEqual({ exit: 7, calls: { M1: 2, M9: 1 } });
    expect(await heldBy(w, "S1-1")).toEqual([]);
    expect(await waiting(w)).toEqual([
      "customers C0 service.unreadable",
      "customers C1 service.not-sent",
      "orders N1 service.not-sent",
      "orders N2 service.not-sent",
      "staff T0 service.unreadable",
    ]);
    w.staff.push({ id: "U1", customer: "C1", holds: ["O1-A1"] });
    w.write();
    expect(await run(w)).toEqual({ exit: 7, calls: { M1: 1, M9: 1 } });
    w.sandbox.faults.clear();
    w.later(24);
    expect(await run(w)).toEqual({ exit: 0, calls: { E2: 1, E4: 1, E5: 2, M1: 1 } });
  });
});

it("a list of the order service that gives nothing keeps waiting who has what M6 leaves out, and nobody else", async () => {
  const w = await synchronised();
  const about = await enterpriseOf(w, "C1");
  w.sandbox.faults.add({ operation: "M6", fault: "shortPage", about });
  w.sandbox.faults.add({ operation: "E8", fault: "code500", about });
  w.staff = w.staff.map((row) => (row.customer === "C1" ? { ...row, holds: [] } : row));
  w.staff.push({ id: "T1", customer: "C1" });
  w.write();
  expect(await run(w)).toEqual({ exit: 7, calls: { M1: 1, M9: 1 } });
  expect(await waiting(w)).toEqual([expect.stringMatching(/^staff S1-[12] service\.unreadable$/u)]);
  w.sandbox.faults.clear();
  expect(await run(w)).toEqual({ exit: 0, calls: { M9: 1 } });
});

describe("a service that lets this application in no more", () => {
  it("gets nothing more, and the other one gets what it can have", async () => {
    const lock = { id: "A1", type: "normal_recover_usbkey" } as const;
    const w = await placedOrders({ first: { assets: [lock] }, staff: [] });
    rule(w, "locks.locked", "apply");
    amend(w, "1", { assets: [{ ...lock, locked: true }] });
    w.staff.push({ id: "S3", customer: "C1" });
    w.write();
    w.sandbox.faults.add({ operation: "M1", fault: "status299", code: "70001" });
    expect(await run(w)).toEqual({ exit: 3, calls: { E6: 1, M1: 1 } });
    expect(await waiting(w)).toEqual(["staff S3 service.refused"]);
  });
});
