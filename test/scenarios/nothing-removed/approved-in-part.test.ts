import { describe, expect, it } from "vitest";
import { numberOf, openHold, openHolds, operationsOf } from "../../support/asking.ts";
import { documents, world, type Parsed, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, line, placedOrders, rule } from "../../support/world/placed-orders.ts";

const because = ["--reason", "asked the customer"];

/** Some people of each customer lose their seats, and a limit or a policy holds that. */
async function held(customers: number, people: number, losing = people, more = ""): Promise<World> {
  const w = await world({ records: company(customers, people) });
  w.environment["CRM_SYNC__limits__massChange__floor"] = "1000";
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.extra = more;
  for (const [index, person] of w.staff.entries()) if (index % people < losing) person.holds = [];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  return w;
}

async function approve(w: World, ...what: string[]): Promise<void> {
  expect((await w.run("approve", ...what, ...because)).exitCode).toBe(0);
}

/** The operation of a person that is held. */
async function heldOf(w: World, staff: string): Promise<string> {
  const operations = await operationsOf(w, "staff", staff);
  return operations.find(({ state }) => state === "held")?.id ?? "";
}

/** The open hold of a customer. */
async function holdOf(w: World, customer: string): Promise<string> {
  const holds = await openHolds(w);
  return holds.find((hold) => hold.customer.id === customer)?.id ?? "";
}

/** The hashes of the operations of a plan that is saved as `plan.ndjson`. */
async function saved(w: World): Promise<string[]> {
  const lines = documents(await w.run("--json", "plan", "--out", w.path("plan.ndjson")));
  return lines.flatMap(({ operations = [] }) => (Array.isArray(operations) ? operations : [])).map(({ hash }) => hash);
}

it("removes the one seat that a person approved, and the rest only when the hold is approved", async () => {
  const w = await held(1, 6);
  await approve(w, await heldOf(w, "S1-1"));
  expect(outcome(await w.does("run", "everything"))).toEqual([4, { M9: 1 }]);
  await approve(w, await openHold(w));
  w.orders.push({ id: "O2", customer: "C1", assets: ["O2-A1"] });
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1, M9: 5 }]);
  expect(w.sandbox.state().assignments).toBe(0);
});

describe("what is held", { tags: "long" }, () => {
  it("is removed for one customer alone if a person approved only that hold of a run", async () => {
    const w = await held(5, 5);
    await approve(w, await holdOf(w, "C1"));
    expect(outcome(await w.does("run", "everything"))).toEqual([4, { M9: 5 }]);
  });

  it.each(["", "policies: { assignments: { revoked: ask } }\n"])(
    "stays approved after one operation of it was applied from a saved plan (%s)",
    async (policies) => {
      const w = await held(1, 8, 8, policies);
      await approve(w, await openHold(w));
      const [first = ""] = await saved(w);
      const one = await w.does("apply", w.path("plan.ndjson"), "--only", first.slice(0, 8));
      expect(outcome(one), one.stdout).toEqual([3, { M9: 1 }]);
      expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 7 }]);
    },
  );

  it("is in no plan after a person rejected it, and a plan of the rest can be applied", async () => {
    const w = await held(1, 8, 6);
    expect((await w.run("reject", await openHold(w), ...because)).exitCode).toBe(0);
    w.orders.push({ id: "O2", customer: "C1", assets: ["O2-A1"] });
    w.staff.at(-1)?.holds?.push("O2-A1");
    w.write();
    expect(await saved(w)).toHaveLength(2);
    expect((await w.does("apply", w.path("plan.ndjson"))).calls).toEqual({ E5: 1, M9: 1 });
  });

  it("stays held after the hold was approved, if its operation needs an approval of its own", async () => {
    const first = {
      assets: [{ id: "A1", type: "normal_recover_usbkey" as const }],
      products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")],
    };
    const w = await placedOrders({ first, staff: [] });
    rule(w, "orders.ended", "ask");
    // During the rebuild M7 shows no licence order for any product, and afterwards for one.
    const shows = (crmProductId: string, fields: Record<string, string>): void =>
      void w.sandbox.hand({ action: "show-product", assetNum: numberOf(w, "A1"), crmProductId, fields });
    for (const id of ["P1", "Q1", "R1"]) shows(id, { licenseOrderId: "" });
    w.losesItsLedger();
    expect((await w.run("rebuild")).exitCode).toBe(0);
    shows("R1", {});
    amend(w, "1", { products: [line("P1", "A1")] });
    expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
    const [, together] = await openHolds(w);
    expect(await openHolds(w)).toMatchObject([{ operations: 1 }, { operations: 1 }]);
    await approve(w, together.id);
    expect(outcome(await w.does("run", "everything"))).toEqual([4, { E5: 1 }]);
    const operations = await operationsOf(w, "order", "1");
    expect(operations.filter(({ state }) => state === "held")).toMatchObject([{ kind: "delete-everywhere" }]);
  });

  it("waits for nobody after each operation was approved, and a service that is down is reported as that", async () => {
    const w = await held(2, 6);
    const [first, second] = [await holdOf(w, "C1"), await holdOf(w, "C2")];
    const states = async (): Promise<unknown> => {
      const { holds } = await w.ask("status");
      return Object.fromEntries(holds.map(({ id, state }: Parsed) => [id, state]));
    };
    for (let person = 1; person <= 6; person += 1) {
      expect(await states()).toEqual({ [first]: "open", [second]: "open" });
      await approve(w, await heldOf(w, `S1-${person}`));
    }
    expect(await states()).toEqual({ [first]: "approved", [second]: "open" });
    expect((await w.run("reject", second, ...because)).exitCode).toBe(0);
    await w.sandbox.refuseConnections();
    const [down] = documents(await w.run("--json", "run", "everything"));
    expect([down.exit, down.summary.held]).toEqual([7, []]);
    await w.sandbox.acceptConnections();
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 6 }]);
  });
});

describe("what is said of a hold", () => {
  const all = ["O2", "O3", "O4"];
  /** Three orders of a customer are cancelled; S1-1 has a seat in each of them and in no other. */
  async function cancelled(): Promise<World> {
    const w = await world({ records: company(1, 1) });
    for (const id of all) w.orders.push({ id, customer: "C1", assets: [`${id}-A`] });
    for (const person of w.staff) person.holds = all.map((id) => `${id}-A`);
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    for (const id of all) amend(w, id, { cancelled: true });
    expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
    return w;
  }
  /** What each place says of the only hold. */
  async function told(w: World): Promise<string[]> {
    const [status] = await openHolds(w);
    const { customer } = await w.ask("explain", "customer", "C1");
    const { held } = documents(await w.run("--json", "plan")).at(-1);
    const run = await w.ask("run", "everything");
    return [status, customer.holds[0], held[0], run.summary.held[0]].map(({ explanation }: Parsed) => explanation);
  }
  async function heldOrder(w: World, order: string): Promise<string> {
    const operations = await operationsOf(w, "order", order);
    return operations.find(({ state }) => state === "held")?.id ?? "";
  }

  it("is about what of it is open, with its sums of now", async () => {
    const w = await cancelled();
    for (const text of await told(w)) {
      for (const id of all) expect(text).toContain(`crm/${id}`);
      expect(text).toMatch(
        /held here: 3 seats, 3 products with 9 nodes; 1 person loses their last asset; 0 of 10 approved so far/u,
      );
    }
    await approve(w, await heldOrder(w, "O2"));
    expect(outcome(await w.does("run", "everything"))).toEqual([4, { E5: 1 }]);
    for (const text of await told(w)) {
      expect(text).not.toContain("crm/O2");
      expect(text).toMatch(
        /held here: 2 seats, 2 products with 6 nodes; 1 person loses their last asset; 1 of 10 approved so far/u,
      );
    }
    amend(w, "O3", { cancelled: false });
    await w.run("run", "everything");
    for (const text of await told(w)) {
      expect(text).not.toContain("crm/O3");
      expect(text).toMatch(/held here: 1 seat, 1 product with 3 nodes; 1 of 10/u);
    }
    const has = async (...seats: string[]): Promise<void> => {
      for (const person of w.staff) person.holds = seats;
      w.write();
      await w.run("run", "everything");
    };
    await has("O4-A");
    for (const text of await told(w)) expect(text).toMatch(/1 person loses their last asset/u);
    w.orders.push({ id: "O5", customer: "C1", assets: ["O5-A"] });
    await has("O5-A", "O4-A");
    for (const text of await told(w)) expect(text).not.toContain("last asset");
  });

  it("by a limit tells the sum of then as that of then, and the one of now", async () => {
    const w = await held(1, 6);
    const [before] = await openHolds(w);
    expect(before.explanation).toMatch(/^6 of 6 .*would have been removed.*held here: 6 seats/u);
    await approve(w, await heldOf(w, "S1-1"));
    await w.run("run", "everything");
    for (const text of await told(w)) expect(text).toMatch(/held here: 5 seats/u);
  });
});
