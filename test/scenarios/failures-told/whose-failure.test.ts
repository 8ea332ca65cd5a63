import { describe, expect, it } from "vitest";
import { notDone } from "../../support/asking.ts";
import { promptRetries, world, type Parsed, type World } from "../../support/cli.ts";
import { health } from "../../support/telling.ts";
import { company } from "../../support/world/crm.ts";
import { line } from "../../support/world/placed-orders.ts";

async function newCompany(template: Record<string, string> = {}): Promise<World> {
  const w = await world({ records: company(3, 1) });
  Object.assign(w.environment, promptRetries, template, { CRM_SYNC__concurrency__customers: "1" });
  return w;
}

/** What is told of a run beside its records: that a service is down, or nothing. */
async function serviceDown(w: World): Promise<boolean> {
  const { alerts } = await w.ask("alerts");
  return alerts.some(({ kind }: Parsed) => kind === "service-down");
}

async function told(w: World): Promise<string[]> {
  return (await notDone(w)).map(({ record, code }) => `${record} ${code}`);
}

async function planned(w: World): Promise<{ exit: number | null; unplanned: string[] }> {
  const { exitCode, stdout } = await w.run("--json", "plan");
  const lines: Parsed[] = stdout
    .split("\n")
    .filter(Boolean)
    .map((text) => JSON.parse(text));
  const unplanned = lines.filter(({ type }) => type === "unplanned").map(({ customer, code }) => `${customer} ${code}`);
  return { exit: exitCode, unplanned };
}

describe("a number that the CRM gives twice", () => {
  it("(of customers) is told of the second one, and of no service", async () => {
    const w = await newCompany({ CRM_SYNC__sources__crm__streams__customers__mapping__channelCustomerId: "number" });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    w.customers.push(Object.assign({ id: "C4" }, { number: "C1" }));
    w.orders.push({ id: "O4", customer: "C4", assets: ["O4-A1"] });
    w.staff.push({ id: "S4", customer: "C4" });
    w.write();
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 3, calls: {} });
    const taken = ["customers C4", "orders O4", "staff S4"].map((record) => `${record} enterprise.taken`);
    expect(await told(w)).toEqual(taken);
    expect(await planned(w)).toEqual({ exit: 3, unplanned: ["crm/C4 enterprise.taken"] });
    expect(await serviceDown(w)).toBe(false);
    expect((await health(w)).wrong).not.toContain("service-down:everything");
    // What is down is told beside it.
    w.sandbox.faults.add({ operation: "member", fault: "code500" });
    w.staff.push({ id: "T1", customer: "C1" });
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(7);
    expect(await serviceDown(w)).toBe(true);
  });

  it("(of orders) is told of the second one, and of no service", async () => {
    const w = await newCompany({ CRM_SYNC__sources__crm__streams__orders__mapping__channelOrderId: "placedAt" });
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 3, calls: { E2: 3, E5: 1, M1: 3 } });
    expect(await told(w)).toContain("orders O2 order.same-channel-number");
    expect(await serviceDown(w)).toBe(false);
  });
});

it("a chain of forty renewals is bought in one run", async () => {
  const w = await world({ records: { customers: [{ id: "C1" }], orders: [], staff: [] } });
  const numbers = Array.from({ length: 40 }, (_, index) => index + 1);
  w.orders = numbers.map((n) => ({
    id: `${n}`,
    customer: "C1",
    assets: [{ id: `A${n}`, ...(n === 1 ? {} : { continues: { order: `${n - 1}`, instance: `A${n - 1}` } }) }],
    products: [line(`P${n}`, `A${n}`)],
  }));
  const [first, ...later] = w.orders;
  w.orders = first === undefined ? [] : [first];
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.orders.push(...later);
  w.write();
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { E5: 39 } });
});

describe("a defect of the program", () => {
  it("is told as one, of the customer that it met, and of no service", async () => {
    const w = await newCompany();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    w.staff.push({ id: "T1", customer: "C1" }, { id: "T2", customer: "C2" });
    w.write();
    // A form that no version of the program wrote.
    w.tamper("update record_version set body = '{}' where stream = 'customers' and id = 'C1'");
    const { exitCode, calls, stdout, stderr } = await w.does("run", "everything");
    expect([exitCode, calls]).toEqual([1, { M1: 1 }]);
    expect(stderr).toContain("defect");
    expect(stdout).toMatch(/^crm-sync failed by a defect of its own.*\(exit 1\)/mu);
    expect(await told(w)).toEqual(["staff T1 defect"]);
    const { open } = await w.ask("status");
    expect(open).toMatchObject([{ code: "defect", owner: "program" }]);
    expect((await w.run("status")).stdout).toMatch(/send the makers of crm-sync the output/u);
    expect(await planned(w)).toEqual({ exit: 1, unplanned: ["crm/C1 defect"] });
    expect(await serviceDown(w)).toBe(false);
  });
});
