import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { document, promptRetries } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import { productsBy, runsUntilQuiet } from "./moved.ts";
import { amend, line, numberOf, openHold, orderOf, placedOrders, rule, standing, waitsFor } from "./placed-orders.ts";

const before = { C1: ["P1 1", "Q1 1"], C2: ["P2 2", "Q2 2"] };
const twice = { C1: ["P1 1", "Q1 1"], C2: ["P1 1-1", "P2 2", "Q1 1-1", "Q2 2"] };
const after = { C2: ["P1 1-1", "P2 2", "Q1 1-1", "Q2 2"] };

/** A world with an order at each of two customers, of which the first moves to the other one. */
async function moved(policies: Record<string, string> = { "orders.moved": "apply" }): Promise<World> {
  const w = await placedOrders({ staff: [{ id: "S2", customer: "C2", holds: ["A2"] }] });
  for (const [name, word] of Object.entries(policies)) rule(w, name, word);
  amend(w, "1", { customer: "C2" });
  return w;
}

it(
  "an order that moves is bought at the other customer first, and goes where it was once that is shown",
  { tags: "long" },
  async () => {
    const w = await moved();
    const old = numberOf(w, "A1");
    const first = await w.does("run", "everything");
    expect(first.calls, first.stdout).toEqual({ E5: 1 });
    expect(await productsBy(w)).toEqual(twice);
    expect(await runsUntilQuiet(w)).toEqual([{ E5: 1 }, {}]);
    expect(await productsBy(w)).toEqual(after);
    expect(numberOf(w, "A1")).not.toBe(old);
    expect(w.rows("select customer_id, placed_for_id from placed_order where order_id = '1'")).toEqual([
      { customer_id: "C2", placed_for_id: "C1" },
    ]);
    expect(w.rows("select 1 from moved_order where ended_at is null")).toEqual([]);
  },
);

it(
  "what a moved order leaves behind is held by default; what is approved goes, and nothing is bought a second time",
  { tags: "long" },
  async () => {
    const w = await moved({});
    await w.does("run", "everything");
    for (const _ of [1, 2]) {
      const held = await w.does("run", "everything");
      expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
      expect(await productsBy(w)).toEqual(twice);
    }
    const status = await w.run("status");
    expect(status.stdout).toMatch(/2 products with \d+ nodes/u);
    await w.run("approve", openHold(w), "--reason", "asked both customers");
    expect(await runsUntilQuiet(w)).toEqual([{ E5: 1 }, {}]);
    expect(await productsBy(w)).toEqual(after);
  },
);

it("what a person refused to take away stays where the order was", { tags: "long" }, async () => {
  const w = await moved({});
  await w.does("run", "everything");
  await w.does("run", "everything");
  await w.run("reject", openHold(w), "--reason", "the first customer keeps it");
  for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
  expect(await productsBy(w)).toEqual(twice);
});

it.each(["report", "ignore"])(
  "a moved order stays where it is and is bought nowhere where the policy is %s",
  { tags: "long" },
  async (word) => {
    const w = await moved({ "orders.moved": word });
    for (const _ of [1, 2]) {
      const run = await w.does("run", "everything");
      expect([run.exitCode, run.calls], run.stdout).toEqual([0, {}]);
    }
    expect(await productsBy(w)).toEqual(before);
    expect(waitsFor(w, "1")).toBe(word === "report" ? "policy.reported" : null);
  },
);

it("with a gap a moved order goes where it was first, and only once it can be bought", async () => {
  const w = await moved({ "orders.moved": "apply", replacement: "gap" });
  const calls = await runsUntilQuiet(w);
  expect(calls.reduce((sum, one) => sum + (one["E5"] ?? 0), 0)).toBe(2);
  expect(await productsBy(w)).toEqual({ C2: ["P1 1-2", "P2 2", "Q1 1-2", "Q2 2"] });
  const steps = w.rows<{ kind: string }>("select kind from order_step order by number");
  expect(steps.map(({ kind }) => kind)).toEqual(["removed", "bought"]);
});

it(
  "an order that moves back before anything went is bought nowhere again, and goes where it was for a while",
  { tags: "long" },
  async () => {
    const w = await moved({});
    await w.does("run", "everything");
    await w.does("run", "everything");
    expect(openHold(w)).not.toBe("");
    rule(w, "orders.moved", "apply");
    amend(w, "1", { customer: "C1" });
    expect((await runsUntilQuiet(w)).filter((calls) => "E5" in calls)).toEqual([{ E5: 1 }]);
    expect(await productsBy(w)).toEqual(before);
    expect(w.rows("select id from hold where state = 'open'")).toEqual([]);
  },
);

it(
  "an order that moves there and back is bought anew each time, under a number of its own",
  { tags: "long" },
  async () => {
    const w = await moved();
    await runsUntilQuiet(w);
    amend(w, "1", { customer: "C1" });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C1: ["P1 1-3", "Q1 1-3"], C2: ["P2 2", "Q2 2"] });
    amend(w, "1", { customer: "C2" });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C2: ["P1 1-5", "P2 2", "Q1 1-5", "Q2 2"] });
  },
);

it(
  "an order that moves and changes at once is bought in its new form, and all of the old one goes",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ staff: [] });
    rule(w, "orders.moved", "apply");
    amend(w, "1", { customer: "C2", products: [line("P1", "A1", { nodes: 7 }), line("R1", "A1")] });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C2: ["P1 1-1", "P2 2", "Q2 2", "R1 1-1"] });
    amend(w, "1", { products: [line("P1", "A1", { nodes: 7 })] });
    rule(w, "orders.ended", "apply");
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C2: ["P1 1-1", "P2 2", "Q2 2"] });
  },
);

it(
  "of two orders of a customer the one that moves is taken away, and the other one stays",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ staff: [] });
    rule(w, "orders.moved", "apply");
    w.orders = [...w.orders, orderOf("3", "C1")];
    w.write();
    await w.does("run", "everything");
    amend(w, "1", { customer: "C2" });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ ...after, C1: ["P3 3", "Q3 3"] });
  },
);

it("nothing goes while the other customer cannot have the order", { tags: "long" }, async () => {
  for (const replacement of ["overlap", "gap"]) {
    const w = await moved({ "orders.moved": "apply", replacement });
    w.customers = w.customers.map((row) => (row.id === "C2" ? { ...row, address: "" } : row));
    w.write();
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
    expect(await productsBy(w)).toEqual(before);
    expect(waitsFor(w, "1")).toBe("customer.not-orderable");
  }
});

it("nothing goes while the purchase is refused at the other customer", { tags: "long" }, async () => {
  const w = await moved();
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
  for (const calls of [{ E5: 1 }, {}, {}]) expect((await w.does("run", "everything")).calls).toEqual(calls);
  expect(await productsBy(w)).toEqual(before);
  w.sandbox.faults.clear();
  // Until the settle time is over, what was refused a moment ago is not sent again.
  const resync = async (): Promise<unknown> => (await w.does("resync", "--order", "1")).calls;
  await expect.poll(resync, { timeout: 20_000, interval: 200 }).toEqual({ E5: 1 });
  await runsUntilQuiet(w);
  expect(await productsBy(w)).toEqual(after);
});

it.each(["appliedNoReply", "resetBefore"] as const)(
  "a purchase whose answer is lost (%s) is made once, and nothing goes before",
  { tags: "long" },
  async (fault) => {
    const w = await moved();
    w.sandbox.faults.add({ operation: "E5", fault, nth: 1 });
    await w.does("run", "everything");
    expect((await productsBy(w))["C1"]).toEqual(before.C1);
    await runsUntilQuiet(w);
    const shown = await productsBy(w);
    expect(shown["C1"]).toBeUndefined();
    expect(shown["C2"]).toHaveLength(4);
    expect(w.sandbox.duplicates().products).toEqual([]);
  },
);

it(
  "an order in doubt that moves waits until it is known what became of it, and is not bought twice",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ staff: [] });
    rule(w, "orders.moved", "apply");
    Object.assign(w.environment, { CRM_SYNC__settle__maxWaitMs: "0", ...promptRetries });
    w.sandbox.faults.add({ operation: "E5", fault: "appliedNoReply", nth: 1 });
    w.sandbox.faults.add({ operation: "M6", fault: "http502" });
    w.orders = [...w.orders, orderOf("3", "C1")];
    w.write();
    await w.does("run", "everything");
    amend(w, "3", { customer: "C2" });
    const waiting = await w.does("run", "everything");
    expect(waiting.calls, waiting.stdout).toEqual({});
    expect(waitsFor(w, "3")).toBe("order.in-doubt");
    w.sandbox.faults.clear();
    await runsUntilQuiet(w);
    const shown = await productsBy(w);
    expect(shown["C1"]).toEqual(["P1 1", "Q1 1"]);
    expect(shown["C2"]).toEqual(["P2 2", "P3 3-1", "Q2 2", "Q3 3-1"]);
  },
);

it(
  "an order that moves before it is placed is placed once, for the customer that it moved to",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ staff: [] });
    w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
    w.orders = [...w.orders, orderOf("3", "C1")];
    w.write();
    await w.does("run", "everything");
    amend(w, "3", { customer: "C2" });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C1: ["P1 1", "Q1 1"], C2: ["P2 2", "P3 3", "Q2 2", "Q3 3"] });
  },
);

it("a moved order that is cancelled goes wherever something of it stands", { tags: "long" }, async () => {
  const w = await moved({ "orders.moved": "hold", "orders.cancelled": "apply" });
  await w.does("run", "everything");
  amend(w, "1", { customer: "C2", cancelled: true });
  await runsUntilQuiet(w);
  expect(await productsBy(w)).toEqual({ C2: ["P2 2", "Q2 2"] });
});

it(
  "people of the customer that the order left keep their seats until it goes, and nobody else gets one there",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    rule(w, "orders.moved", "hold");
    amend(w, "1", { customer: "C2" });
    w.staff = [...w.staff, { id: "S3", customer: "C1", holds: [] }, { id: "S4", customer: "C2", holds: ["A1"] }];
    w.write();
    await w.does("run", "everything");
    expect(standing(w)).toEqual({ products: 6, assets: 3, assignments: 3 });
    w.staff = w.staff.map((row) =>
      row.id === "S1" ? { ...row, holds: [] } : row.id === "S3" ? { ...row, holds: ["A1"] } : row,
    );
    w.write();
    await w.does("run", "everything");
    expect(standing(w)).toEqual({ products: 6, assets: 3, assignments: 2 });
    w.staff = w.staff.map((row) => (row.id === "S3" ? { ...row, holds: [] } : row));
    w.write();
    await w.does("run", "everything");
    await w.run("approve", openHold(w), "--reason", "asked");
    await runsUntilQuiet(w);
    expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
  },
);

it("nobody is given what is about to leave their customer with its order", { tags: "long" }, async () => {
  const w = await placedOrders({ staff: [{ id: "S1", customer: "C1", holds: [] }] });
  rule(w, "orders.moved", "apply");
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
  amend(w, "1", { customer: "C2" });
  w.staff = [{ id: "S1", customer: "C1", holds: ["A1"] }];
  w.write();
  for (const calls of [{ E5: 1 }, {}]) expect((await w.does("run", "everything")).calls).toEqual(calls);
  expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 0 });
});

it(
  "an asset number that the CRM gives to the order and that it has where it was is bought nowhere beside it",
  { tags: "long" },
  async () => {
    const given = { assets: [{ id: "A1", numbers: ["7700000001"] }] };
    const w = await placedOrders({ first: given, staff: [] });
    rule(w, "orders.moved", "apply");
    amend(w, "1", { customer: "C2" });
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
    expect(waitsFor(w, "1")).toBe("order.number-elsewhere");
    const told = (await w.run("explain", "order", "1")).stdout.replaceAll(/\s+/gu, " ");
    expect(told).toContain(
      "the asset number 7700000001 to the order, and the asset with this number stands for crm/C1",
    );
    expect(told).toContain("set policies.replacement: gap until it has");
    rule(w, "replacement", "gap");
    await runsUntilQuiet(w);
    expect((await productsBy(w))["C1"]).toBeUndefined();
    expect(numberOf(w, "A1")).toBe("7700000001");
  },
);

it(
  "what a moved order left goes also where its record waited in quarantine in the meantime",
  { tags: "long" },
  async () => {
    const w = await moved();
    await w.does("run", "everything");
    amend(w, "1", { products: [line("P1", "A1", { years: -1 })] });
    for (const _ of [1, 2]) {
      const run = await w.does("run", "everything");
      expect([run.exitCode, run.calls], run.stdout).toEqual([3, {}]);
    }
    expect(await productsBy(w)).toEqual(twice);
    const told = document(await w.run("explain", "customer", "C1", "--json"));
    expect(told).toMatchObject({ record: { deferred: { code: "order.moving" } } });
    amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1")] });
    expect(await runsUntilQuiet(w)).toEqual([{ E5: 1 }, {}]);
    expect(await productsBy(w)).toEqual(after);
  },
);

it(
  "a plan, `explain` and the report of orders tell of an order that moves, and the ledger agrees with the platform",
  { tags: "long" },
  async () => {
    const w = await moved({});
    const plan = await w.run("plan");
    expect(plan.stdout).toMatch(/moved here from crm\/C1 in the CRM/u);
    await w.does("run", "everything");
    const next = await w.run("plan");
    expect(next.stdout).toMatch(/moved to crm\/C2 in the CRM/u);
    await w.does("run", "everything");
    const facts = document(await w.run("explain", "customer", "C1", "--json"));
    expect(facts).toBeDefined();
    await w.run("approve", openHold(w), "--reason", "asked both");
    await runsUntilQuiet(w);
    const rows = w.rows<{ number: string; customer: string }>(
      "select wire_number as number, customer_id as customer from asset_number where order_id = '1'",
    );
    const numberAt = (id: string): unknown[] =>
      rows.filter(({ customer }) => customer === id).map(({ number }) => number);
    const explained = await w.run("explain", "order", "1");
    for (const { number, customer } of rows)
      expect(explained.stdout).toContain(`asset number ${number} of crm/${customer} for instance A1`);
    const told = await statementRows(w, "orders", "lines");
    const enterprises = new Map(
      w
        .rows<{ id: string; at: string }>("select customer_id as id, enterprise_global_id as at from link")
        .map(({ id, at }) => [id, at]),
    );
    const events = told
      .filter((row) => row["crm_order"] === "crm/1")
      .map((row) => [
        row["event"],
        row["product_id"],
        row["customer"],
        row["asset_numbers"],
        row["enterprise_global_id"],
      ]);
    expect(events).toEqual([
      ["placed", "P1", "crm/C1", numberAt("C1"), enterprises.get("C1")],
      ["placed", "Q1", "crm/C1", numberAt("C1"), enterprises.get("C1")],
      ["amended", "P1", "crm/C2", numberAt("C2"), enterprises.get("C2")],
      ["amended", "Q1", "crm/C2", numberAt("C2"), enterprises.get("C2")],
      ["ended", "P1", "crm/C1", numberAt("C1"), enterprises.get("C1")],
      ["ended", "Q1", "crm/C1", numberAt("C1"), enterprises.get("C1")],
    ]);
  },
);

it("nothing goes where the order was while M7 does not show it at the other customer", { tags: "long" }, async () => {
  const w = await moved();
  w.sandbox.faults.add({ operation: "M7", fault: "status299", code: "60024" });
  for (const calls of [{ E5: 1 }, {}, {}]) {
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([3, calls]);
  }
  expect(waitsFor(w, "1")).toBe("order.overlap");
  w.sandbox.faults.clear();
  expect(await productsBy(w)).toEqual(twice);
  await runsUntilQuiet(w);
  expect(await productsBy(w)).toEqual(after);
});

it(
  "an order of which an amendment is in doubt where it was is not bought elsewhere before that is known",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ staff: [] });
    rule(w, "orders.moved", "apply");
    Object.assign(w.environment, { CRM_SYNC__settle__maxWaitMs: "0", ...promptRetries });
    w.sandbox.faults.add({ operation: "E5", fault: "appliedNoReply", nth: 1 });
    w.sandbox.faults.add({ operation: "M6", fault: "http502" });
    amend(w, "1", { assets: ["A1", "A9"], products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A9")] });
    await w.does("run", "everything");
    amend(w, "1", { customer: "C2" });
    const waiting = await w.does("run", "everything");
    expect(waiting.calls["E5"], waiting.stdout).toBeUndefined();
    expect(waitsFor(w, "1")).toBe("order.in-doubt");
    w.sandbox.faults.clear();
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual({ C2: ["P1 1-2", "P2 2", "Q1 1-2", "Q2 2", "R1 1-2"] });
  },
);

it(
  "what is read back of an order that moves is as it was left, while it stands twice and once it moved",
  { tags: "long" },
  async () => {
    const w = await moved({});
    await w.does("run", "everything");
    await w.does("run", "everything");
    for (const phase of ["twice", "moved"]) {
      const verified = await w.run("run", "verify");
      expect(w.rows("select level, subject, class from difference where ended_at is null"), phase).toEqual([]);
      expect(verified.stdout).not.toMatch(/[1-9]\d* (?:missing|extra|different)/u);
      if (phase === "moved") break;
      await w.run("approve", openHold(w), "--reason", "asked both");
      await runsUntilQuiet(w);
    }
  },
);

it(
  "a ledger that is lost once an order moved is built again, and the next run finds nothing to do",
  { tags: "long" },
  async () => {
    const w = await moved();
    await runsUntilQuiet(w);
    w.losesItsLedger();
    const rebuilt = await w.does("rebuild");
    expect([rebuilt.exitCode, rebuilt.calls], rebuilt.stdout + rebuilt.stderr).toEqual([0, {}]);
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([0, {}]);
    expect(await productsBy(w)).toEqual(after);
  },
);

it(
  "a run that moved an order is taken back as far as it can be, and what cannot says why",
  { tags: "long" },
  async () => {
    const w = await moved();
    const bought = await w.does("run", "everything");
    const run = /run_[0-9a-z]+/u.exec(bought.stdout)?.[0] ?? "";
    await runsUntilQuiet(w);
    const undone = await w.run("undo", run);
    expect(undone.stdout).toMatch(/approximate/u);
    const [{ id: later } = { id: "" }] = w.rows<{ id: string }>(
      "select run_id as id from operation where kind like 'delete-%' and state = 'done'",
    );
    expect((await w.run("undo", later)).stdout).toMatch(/impossible/u);
    expect(await productsBy(w)).toEqual(after);
  },
);
