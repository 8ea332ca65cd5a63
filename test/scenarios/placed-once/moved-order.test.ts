import { expect, it } from "vitest";
import { callerOf, createEnterprise } from "../../sandbox/caller.ts";
import { enterpriseOf, numberOf, openHold, openHolds, operationsOf, waitsFor } from "../../support/asking.ts";
import { promptRetries, type Parsed, type World } from "../../support/cli.ts";
import { asKilledNow } from "../../support/killed-copy.ts";
import { statementRows } from "../../support/statement-rows.ts";
import { membersOf, outcome } from "../../support/world/members.ts";
import { places, productsBy, runsUntilQuiet } from "../../support/world/moved-orders.ts";
import { amend, line, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

const because = ["--reason", "asked both customers", "--by", "anna"];

const before = { C1: ["P1 1", "Q1 1"], C2: ["P2 2", "Q2 2"] };
const removed = { C2: before.C2 };
const after = { C2: ["P1 1-2", "P2 2", "Q1 1-2", "Q2 2"] };

/** A world with an order at each of two customers, of which the first moves to the other one. */
async function moved(word = "apply", given: Parameters<typeof placedOrders>[0] = { staff: [] }): Promise<World> {
  const w = await placedOrders(given);
  rule(w, "orders.moved", word);
  amend(w, "1", { customer: "C2" });
  return w;
}

async function runs(w: World, times: number): Promise<void> {
  for (let run = 0; run < times; run += 1) await w.does("run", "everything");
}

/** The order is removed at its old customer and not yet bought at the new one: the run looks at the old one alone. */
async function removesOnly(w: World): Promise<void> {
  expect((await w.does("resync", "--customer", "C1")).calls).toEqual({ E5: 1 });
  expect(await places(w)).toEqual({});
}

/** A person approves what they are asked, as often as something is asked anew. */
async function approvesAll(w: World): Promise<void> {
  for (let holds = await openHolds(w); holds.length > 0; holds = await openHolds(w)) {
    for (const { id } of holds) expect((await w.run("approve", id, ...because)).exitCode).toBe(0);
    await runs(w, 1);
  }
}

/** The order stands at one customer alone, and nobody is asked about it any more. */
async function expectMoved(w: World, to: string): Promise<void> {
  await runsUntilQuiet(w);
  expect(await places(w)).toEqual({ [to]: ["P1", "Q1"] });
  expect(w.sandbox.duplicates().products).toEqual([]);
  expect(await openHolds(w)).toEqual([]);
  const { placed } = await w.ask("explain", "order", "1");
  expect(placed).toMatchObject([{ customer: { id: to } }]);
  expect(placed[0].movedFrom.filter((one: Parsed) => one.endedAt === null)).toEqual([]);
}

async function differences(w: World): Promise<unknown> {
  return (await w.ask("run", "verify")).differences;
}

async function customersOf(w: World): Promise<unknown> {
  return (await w.ask("run", "show", "last")).run.summary.customers;
}

const none = { missing: 0, extra: 0, different: 0, "in-transit": 0, "not-observable": 0 };

it.each(["C2", "C0"])("removes a moved order at the old customer, and buys it at %s in the same run", async (to) => {
  const w = await moved();
  if (to === "C0") w.customers.push({ id: to });
  amend(w, "1", { customer: to });
  const made = to === "C0" ? { E2: 1 } : {};
  const first = await w.does("run", "everything");
  expect(outcome(first)).toEqual([0, { ...made, E5: 2 }]);
  expect(await customersOf(w), "nobody counts twice").toMatchObject({ worked: 2, finished: 2 });
  expect(await runsUntilQuiet(w)).toEqual([{}]);
  expect(await places(w)).toEqual({ [to]: ["P1", "Q1"] });
});

it("removes nothing before anybody has looked for an enterprise of the new customer", async () => {
  const w = await moved();
  w.customers.push({ id: "C0" });
  amend(w, "1", { customer: "C0" });
  w.write();
  expect((await w.does("resync", "--customer", "C1")).calls).toEqual({});
  expect(await productsBy(w)).toEqual(before);
  expect(await waitsFor(w, "C1", "customer")).toBe("order.move-stopped");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E2: 1, E5: 2 }]);
  await expectMoved(w, "C0");
});

it("makes one more pass, not one after the other, over customers between two moves whose requests fail", async () => {
  const w = await placedOrders({ staff: [] });
  const locked = (id: string, customer: string): Parameters<typeof orderOf> => {
    const asset = { id: `A${id}`, type: "normal_recover_usbkey" as const };
    return [id, customer, { assets: [asset], products: [line(`P${id}`, asset.id)] }];
  };
  w.customers.push({ id: "C3" });
  w.orders.push(orderOf(...locked("3", "C2")), orderOf("4", "C1"), orderOf(...locked("5", "C3")), orderOf("6", "C3"));
  w.write();
  await runs(w, 1);
  w.customers.push({ id: "C0" });
  w.write();
  w.sandbox.faults.add({ operation: "E2", fault: "status299", code: "13004" });
  await runs(w, 1);
  rule(w, "orders.moved", "ask");
  rule(w, "locks.locked", "apply");
  w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 3 });
  for (const [order, customer] of [
    ["1", "C2"],
    ["2", "C0"],
    ["4", "C3"],
    ["6", "C0"],
  ] as const)
    amend(w, order, { customer });
  for (const [customer, asset] of [
    ["C2", "A3"],
    ["C3", "A5"],
  ] as const)
    expect((await w.does("lock", customer, "--asset", numberOf(w, asset), ...because)).calls).toEqual({ E6: 1 });
  const ran = await w.does("run", "everything");
  expect([ran.exitCode, ran.calls], ran.stdout).toEqual([4, { E6: 4 }]);
});

it("asks in the same run about a purchase that is held, also of a customer who was asked something before", async () => {
  const w = await moved("apply");
  w.orders.push(orderOf("3", "C2"));
  amend(w, "1", { customer: "C1" });
  await runs(w, 1);
  for (const policy of ["orders.cancelled", "orders.added"]) rule(w, policy, "ask");
  amend(w, "3", { cancelled: true });
  amend(w, "1", { customer: "C2" });
  expect(outcome(await w.does("run", "everything"))).toEqual([4, { E5: 1 }]);
  expect(await openHolds(w)).toHaveLength(2);
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  await approvesAll(w);
  await expectMoved(w, "C2");
});

it("carries out a saved plan of a move as it is, and buys the order in the next run", async () => {
  const w = await moved();
  w.orders.push(orderOf("3", "C2"));
  w.write();
  await w.run("plan", "--out", w.path("plan.ndjson"));
  const applied = await w.does("apply", w.path("plan.ndjson"));
  expect(outcome(applied), applied.stdout).toEqual([3, { E5: 2 }]);
  expect(applied.stdout).not.toContain("refused");
  expect(await customersOf(w)).toMatchObject({ worked: 2, finished: 2 });
  expect(await runsUntilQuiet(w)).toEqual([{ E5: 1 }, {}]);
});

it("buys a moved order at a customer of the first share once the rest of the run removed it", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.moved", "apply");
  amend(w, "2", { customer: "C1" });
  const run = await w.does("run", "everything", "--canary", "40");
  expect(outcome(run), run.stdout).toEqual([0, { E5: 2 }]);
  expect(await customersOf(w)).toMatchObject({ worked: 2, finished: 2 });
  expect(await productsBy(w)).toEqual({ C1: ["P1 1", "P2 2-2", "Q1 1", "Q2 2-2"] });
});

it("goes on to no further share where a moved order could not be bought at a customer of an earlier one", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.moved", "apply");
  amend(w, "2", { customer: "C1" });
  w.customers.push({ id: "C66" });
  w.orders.push(orderOf("3", "C66"));
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 2 });
  // C1 is of the first share, C2 of the second, C66 of the rest.
  const run = await w.does("run", "everything", "--canary", "40,95");
  expect(outcome(run), run.stdout).toEqual([3, { E5: 2 }]);
  expect(await waitsFor(w, "3")).toBe("run.canary");
});

it("buys a moved order in the next run when the first one looks at its old customer alone", async () => {
  const w = await moved();
  await removesOnly(w);
  expect(await productsBy(w)).toEqual(removed);
  expect(await runsUntilQuiet(w)).toEqual([{ E5: 1 }, {}]);
  expect(await productsBy(w)).toEqual(after);
});

it("asks before it removes a moved order, and buys nothing of it before that is decided", async () => {
  const w = await moved("apply-after-approvals");
  w.orders.push(orderOf("3", "C1"));
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([4, { E5: 1 }]);
  for (const _ of [1, 2]) expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  expect(await waitsFor(w, "1")).toBe("order.moving");
  expect(await differences(w)).toEqual(none);
  const [item] = (await statementRows(w, "reconciliation", "items")).filter((row) => row["item"] === "P1");
  const details = ["the order moved to another customer in the CRM, and is still placed here"];
  expect(item).toMatchObject({ customer: "crm/C1", verdict: "extra", details });
  expect((await w.run("approve", await openHold(w), ...because)).exitCode).toBe(0);
  expect(await runsUntilQuiet(w)).toEqual([{ E5: 2 }, {}]);
  expect(await productsBy(w)).toEqual({ ...after, C1: ["P3 3", "Q3 3"] });
  expect(await differences(w)).toEqual(none);
});

it("keeps the order at the old customer when a person rejects its removal", { tags: "long" }, async () => {
  const w = await moved("ask");
  await runs(w, 2);
  await w.run("reject", await openHold(w), ...because);
  for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
  expect(await productsBy(w)).toEqual(before);
  amend(w, "1", { customer: "C1" });
  await runsUntilQuiet(w);
  expect(await productsBy(w)).toEqual(before);
});

it.each(["ignore", "report"])("leaves the order where it is and buys nothing (%s)", { tags: "long" }, async (word) => {
  const w = await moved(word);
  for (const _ of [1, 2]) expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(await productsBy(w)).toEqual(before);
});

it("tells of a product that is added to an order whose move is ignored, and buys it once the policy says so", async () => {
  const w = await moved("ignore");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(await waitsFor(w, "1")).toBeUndefined();
  const more = orderOf("1", "C2");
  amend(w, "1", { products: [...(more.products ?? []), line("N1", "A1")] });
  for (const _ of [1, 2]) expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  expect(await waitsFor(w, "1")).toBe("order.moved-changed");
  amend(w, "1", { products: more.products ?? [] });
  expect(outcome(await w.does("run", "everything")), "it is as it was").toEqual([0, {}]);
  amend(w, "1", { products: [...(more.products ?? []), line("N1", "A1")] });
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  rule(w, "orders.moved", "apply");
  await runsUntilQuiet(w);
  expect(await places(w)).toEqual({ C2: ["N1", "P1", "Q1"] });
});

it.each<[what: string, change: (w: World) => void, undo: (w: World) => void]>([
  [
    "cannot order",
    (w) => (w.customers = w.customers.map((row) => (row.id === "C2" ? { ...row, address: "" } : row))),
    (w) => (w.customers = [{ id: "C1" }, { id: "C2" }]),
  ],
  ["is not in the CRM", (w) => amend(w, "1", { customer: "C9" }), (w) => amend(w, "1", { customer: "C2" })],
  [
    "already uses the number that the CRM gives",
    (w) => amend(w, "1", { assets: [{ id: "A1", numbers: [numberOf(w, "A2")] }] }),
    (w) => amend(w, "1", { assets: ["A1"] }),
  ],
])("removes nothing while the new customer %s", { tags: "long" }, async (_, change, undo) => {
  const w = await moved();
  change(w);
  w.write();
  for (const __ of [1, 2]) expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
  expect(await productsBy(w)).toEqual(before);
  expect(await waitsFor(w, "C1", "customer")).toBe("order.move-stopped");
  undo(w);
  w.write();
  await runsUntilQuiet(w);
  expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
});

it.each([
  ["before", "E2"],
  ["in this run", "E2"],
  ["before", "E1"],
] as const)("removes nothing while the new customer was refused %s (%s)", async (when, operation) => {
  const w = await placedOrders({ staff: [] });
  w.customers.push({ id: "C0" });
  w.environment["CRM_SYNC__assumptions__enterpriseCreation"] = operation;
  w.write();
  w.sandbox.faults.add({ operation, fault: "status299", code: "13004" });
  if (when === "before") await runs(w, 1);
  rule(w, "orders.moved", "apply");
  amend(w, "1", { customer: "C0" });
  for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
  expect(await productsBy(w)).toEqual(before);
  expect(await waitsFor(w, "C1", "customer")).toBe("order.move-stopped");
  if (operation === "E1") return;
  w.sandbox.faults.clear();
  w.later(1);
  await w.does("resync", "--customer", "C0");
  await expectMoved(w, "C0");
});

it("removes nothing while nobody knows which enterprise is that of the new customer", async () => {
  const w = await placedOrders({ staff: [] });
  for (const _ of [1, 2]) await createEnterprise(callerOf(w.sandbox.url), "C0");
  w.customers.push({ id: "C0" });
  rule(w, "orders.moved", "apply");
  amend(w, "1", { customer: "C0" });
  for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
  expect(await waitsFor(w, "C0", "customer")).toBe("enterprise.ambiguous");
  expect(await waitsFor(w, "C1", "customer")).toBe("order.move-stopped");
});

it("moves an order to a customer whose last change was refused: it has an enterprise", async () => {
  const w = await placedOrders({ staff: [] });
  w.sandbox.faults.add({ operation: "E4", fault: "status299", code: "13004" });
  w.customers = w.customers.map((row) => (row.id === "C2" ? { ...row, address: "2 New Street" } : row));
  w.write();
  await runs(w, 1);
  expect(await waitsFor(w, "C2", "customer")).toBe("rejected.13004");
  rule(w, "orders.moved", "apply");
  amend(w, "1", { customer: "C2" });
  expect((await w.does("run", "everything")).calls["E5"]).toBe(2);
  expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
});

it("removes nothing while a person has unlinked the new customer", async () => {
  const w = await placedOrders({ staff: [] });
  const enterprise = await enterpriseOf(w, "C2");
  expect((await w.run("unlink", "C2", "--keep-orders", ...because)).exitCode).toBe(0);
  rule(w, "orders.moved", "apply");
  amend(w, "1", { customer: "C2" });
  // Nobody has looked at the new customer yet.
  expect((await w.does("resync", "--customer", "C1")).calls).toEqual({});
  await runs(w, 2);
  expect(await waitsFor(w, "C1", "customer")).toBe("order.move-stopped");
  expect(w.sandbox.state().products).toBe(4);
  expect((await w.run("link", "C2", enterprise, ...because)).exitCode).toBe(0);
  await expectMoved(w, "C2");
});

it("says of the old customer nothing that the order service said of the new one", async () => {
  const w = await placedOrders({ staff: [] });
  w.customers.push({ id: "C0" });
  w.write();
  w.sandbox.faults.add({ operation: "E2", fault: "status299", code: "13004", words: "name Network Access is invalid" });
  rule(w, "orders.moved", "apply");
  amend(w, "1", { customer: "C0" });
  await runs(w, 2);
  expect((await w.run("explain", "customer", "C0")).stdout).toContain("Network Access");
  const { stdout } = await w.run("explain", "customer", "C1");
  expect(stdout).toContain("13004");
  expect(stdout).not.toContain("Network Access");
});

it("moves an order to a customer that was refused once the platform shows its enterprise", async () => {
  const w = await placedOrders({ staff: [] });
  w.customers.push({ id: "C0" });
  w.write();
  w.sandbox.faults.add({ operation: "E2", fault: "status299", code: "13004" });
  await runs(w, 1);
  rule(w, "orders.moved", "apply");
  amend(w, "1", { customer: "C0" });
  await runs(w, 1);
  expect(await productsBy(w)).toEqual(before);
  w.sandbox.faults.clear();
  await createEnterprise(callerOf(w.sandbox.url), "C0");
  await w.does("resync", "--customer", "C0");
  await expectMoved(w, "C0");
});

it("buys the order under the number that the CRM gives once the old asset is gone", { tags: "long" }, async () => {
  const w = await moved("apply", { first: { assets: [{ id: "A1", numbers: ["7700000001"] }] }, staff: [] });
  await expectMoved(w, "C2");
  expect(numberOf(w, "A1")).toBe("7700000001");
});

it("buys the order when the service that refused it takes it", { tags: "long" }, async () => {
  const w = await moved();
  await removesOnly(w);
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
  for (const calls of [{ E5: 1 }, {}]) expect(outcome(await w.does("run", "everything"))).toEqual([3, calls]);
  w.later(1);
  expect((await w.does("resync", "--order", "1")).calls).toEqual({ E5: 1 });
  await expectMoved(w, "C2");
});

it("removes nothing while a reading of the orders is incomplete", { tags: "long" }, async () => {
  const w = await moved("apply");
  const orders = w.orders;
  w.orders = [];
  w.write();
  for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
  expect(await productsBy(w)).toEqual(before);
  w.orders = orders;
  w.write();
  await expectMoved(w, "C2");
});

it.each([
  ["removal", 1, "appliedNoReply"],
  ["removal", 1, "resetBefore"],
  ["purchase", 2, "appliedNoReply"],
  ["purchase", 2, "resetBefore"],
] as const)("moves an order once when the reply to its %s (E5 %i) is lost (%s)", { tags: "long" }, async (...of) => {
  const [, nth, fault] = of;
  const w = await moved();
  w.sandbox.faults.add({ operation: "E5", fault, nth });
  await expectMoved(w, "C2");
  expect(await productsBy(w)).toMatchObject({ C2: [expect.any(String), "P2 2", expect.any(String), "Q2 2"] });
});

it.each(["before", "after"] as const)("moves an order once after a kill %s its removal", async (when) => {
  const w = await moved();
  const stop = w.stopsAt("E5", { when });
  const run = w.does("resync", "--customer", "C1");
  await stop.reached;
  asKilledNow(w);
  stop.goOn();
  await run;
  expect(await productsBy(w)).toEqual(removed);
  expect(await runsUntilQuiet(w)).toEqual([{ E5: 1 }, {}]);
  expect(await productsBy(w)).toEqual(after);
});

it("buys an order once that had moved to a customer that the CRM does not have", { tags: "long" }, async () => {
  const w = await moved();
  await removesOnly(w);
  amend(w, "1", { customer: "C9" });
  await runs(w, 2);
  amend(w, "1", { customer: "C2" });
  await runsUntilQuiet(w);
  expect(await productsBy(w)).toEqual(after);
});

it.each(["C1", "C3"])(
  "buys an order once when it moves to %s between its removal and its purchase",
  { tags: "long" },
  async (to) => {
    const w = await moved();
    w.customers = [...w.customers, { id: "C3" }];
    w.write();
    await removesOnly(w);
    amend(w, "1", { customer: to });
    await expectMoved(w, to);
    expect(await productsBy(w)).toMatchObject({ [to]: ["P1 1-2", "Q1 1-2"] });
  },
);

it("buys nothing of an order that is cancelled between its removal and its purchase", { tags: "long" }, async () => {
  const w = await moved();
  await removesOnly(w);
  amend(w, "1", { cancelled: true });
  expect(await runsUntilQuiet(w)).toEqual([{}]);
  amend(w, "1", { cancelled: false });
  await expectMoved(w, "C2");
});

/** The next E5 is applied and its reply is lost; nothing shows its effect until the faults are cleared. */
function losesReply(w: World, reading: "M6" | "M7"): void {
  Object.assign(w.environment, { CRM_SYNC__settle__maxWaitMs: "0", ...promptRetries });
  w.sandbox.faults.add({ operation: "E5", fault: "appliedNoReply", times: 1 });
  w.sandbox.faults.add({ operation: reading, fault: "oddCode" });
}

it.each<[what: string, first: (w: World) => void, order: string, code: string, shown: Record<string, string[]>]>([
  [
    "its purchase",
    (w) => void w.orders.push(orderOf("3", "C1")),
    "3",
    "order.in-doubt",
    { C1: ["P1 1", "Q1 1"], C2: ["P2 2", "P3 3-2", "Q2 2", "Q3 3-2"] },
  ],
  [
    "an amendment of it",
    (w) => amend(w, "1", { assets: ["A1", "A9"], products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A9")] }),
    "1",
    "order.moving",
    { C2: ["P1 1-3", "P2 2", "Q1 1-3", "Q2 2", "R1 1-3"] },
  ],
])(
  "does not buy an order elsewhere while the outcome of %s is unknown",
  { tags: "long" },
  async (_, first, id, code, shown) => {
    const w = await placedOrders({ staff: [] });
    rule(w, "orders.moved", "apply");
    losesReply(w, "M6");
    first(w);
    w.write();
    await runs(w, 1);
    amend(w, id, { customer: "C2" });
    expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
    expect(await waitsFor(w, id)).toBe(code);
    w.sandbox.faults.clear();
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toEqual(shown);
  },
);

it.each([
  ["wanted", {}, ["P3 3-2", "Q3 3-2"], false],
  ["cancelled", { cancelled: true }, [], false],
  ["cancelled, and its old customer missing", { cancelled: true }, [], true],
] as const)(
  "removes a moved order at its old customer when its outcome becomes known late (%s)",
  { tags: "long" },
  async (_, more, wanted, isMissing) => {
    const w = await placedOrders();
    rule(w, "orders.moved", "apply");
    rule(w, "orders.cancelled", "apply");
    losesReply(w, "M7");
    w.customers = [...w.customers, { id: "C3" }];
    w.orders = [...w.orders, orderOf("3", "C3")];
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(5);
    if (isMissing) w.customers = w.customers.filter(({ id }) => id !== "C3");
    amend(w, "3", { customer: "C2", ...more });
    await runs(w, 2);
    w.sandbox.faults.clear();
    await runsUntilQuiet(w);
    const { C2: shown, C3: left } = await productsBy(w);
    expect([shown, left]).toEqual([["P2 2", ...wanted.slice(0, 1), "Q2 2", ...wanted.slice(1)], undefined]);
    amend(w, "3", { cancelled: false });
    await runsUntilQuiet(w);
    expect(await productsBy(w)).toMatchObject({ C2: ["P2 2", "P3 3-2", "Q2 2", "Q3 3-2"] });
    expect(w.sandbox.duplicates().products).toEqual([]);
  },
);

it("places an order once that moves before it is placed", { tags: "long" }, async () => {
  const w = await placedOrders({ staff: [] });
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
  w.orders = [...w.orders, orderOf("3", "C1")];
  w.write();
  await runs(w, 1);
  amend(w, "3", { customer: "C2" });
  await runsUntilQuiet(w);
  expect(await productsBy(w)).toEqual({ C1: ["P1 1", "Q1 1"], C2: ["P2 2", "P3 3", "Q2 2", "Q3 3"] });
});

it.each([
  ["C3", "ask"],
  ["C3", "apply"],
  ["C1", "ask"],
  ["C1", "apply"],
])(
  "has the order at its last customer alone when it moves on to %s before its first move ended (%s)",
  { tags: "long" },
  async (to, word) => {
    const w = await moved(word);
    w.customers = [...w.customers, { id: "C3" }];
    w.write();
    await runs(w, 2);
    rule(w, "orders.moved", "apply");
    amend(w, "1", { customer: to });
    await runs(w, 1);
    await approvesAll(w);
    await expectMoved(w, to);
  },
);

it.each(["with the move", "during the move"])(
  "has the order in its last form at the new customer when it changes %s",
  { tags: "long" },
  async (when) => {
    const w = await moved("ask");
    for (const name of ["orders.ended", "orders.replaced"]) rule(w, name, "apply");
    if (when === "during the move") await runs(w, 2);
    amend(w, "1", { products: [line("P1", "A1", { nodes: 9 }), line("R1", "A1")] });
    await runs(w, 2);
    expect((await places(w))["C1"]).toEqual(["P1", "Q1"]);
    rule(w, "orders.moved", "apply");
    await approvesAll(w);
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({ C2: ["P1", "R1"] });
    expect(w.sandbox.duplicates().products).toEqual([]);
  },
);

it(
  "removes a moved order everywhere once it is cancelled, and buys it once when it is restored",
  { tags: "long" },
  async () => {
    const w = await moved("ask");
    rule(w, "orders.cancelled", "apply");
    await runs(w, 2);
    amend(w, "1", { cancelled: true });
    await runs(w, 1);
    await approvesAll(w);
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({});
    amend(w, "1", { cancelled: false });
    await expectMoved(w, "C2");
  },
);

it("asks before it buys a moved order as before any other", { tags: "long" }, async () => {
  const w = await moved();
  rule(w, "orders.added", "ask");
  await runs(w, 3);
  expect(await places(w)).toEqual({});
  expect((await w.run("approve", await openHold(w), ...because)).exitCode).toBe(0);
  await expectMoved(w, "C2");
});

it("removes a moved order only when its record can be used again", { tags: "long" }, async () => {
  const w = await moved("ask");
  await runs(w, 1);
  rule(w, "orders.moved", "apply");
  amend(w, "1", { products: [line("P1", "A1", { years: -1 })] });
  for (const _ of [1, 2]) expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  expect(await productsBy(w)).toEqual(before);
  expect(await waitsFor(w, "C1", "customer")).toBe("order.move-stopped");
  amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1")] });
  await runs(w, 1);
  await approvesAll(w);
  await expectMoved(w, "C2");
});

it(
  "leaves seats to the people of the old customer until the order is removed, and gives nobody else one",
  { tags: "long" },
  async () => {
    const w = await moved("ask", {});
    w.staff = [...w.staff, { id: "S3", customer: "C1", holds: [] }, { id: "S4", customer: "C2", holds: ["A1"] }];
    w.write();
    await runs(w, 1);
    expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
    const give = (first: string[], third: string[]): void => {
      const held: Record<string, string[]> = { S1: first, S3: third };
      w.staff = w.staff.map((row) => ({ ...row, holds: held[row.id] ?? row.holds ?? [] }));
      w.write();
    };
    give([], ["A1"]);
    await runs(w, 1);
    expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 1 });
    give([], []);
    await runs(w, 1);
    await w.run("approve", await openHold(w), ...because);
    await runsUntilQuiet(w);
    expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
    const held = [...(await membersOf(w, "C2")).values()].flatMap(({ assetNums }) => assetNums);
    expect(held).toContain(numberOf(w, "A1"));
  },
);

it("gives nobody a seat of an order that leaves their customer", { tags: "long" }, async () => {
  const w = await moved("apply", { staff: [{ id: "S1", customer: "C1", holds: [] }] });
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
  w.staff = [{ id: "S1", customer: "C1", holds: ["A1"] }];
  w.write();
  for (const calls of [{ E5: 1 }, {}]) expect((await w.does("run", "everything")).calls).toEqual(calls);
  expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 0 });
});

it("disables the new lock of a moved order and removes the old one", { tags: "long" }, async () => {
  const asset = { id: "A1", type: "normal_recover_usbkey" as const };
  const w = await placedOrders({ first: { assets: [asset] }, staff: [] });
  for (const name of ["locks.locked", "orders.moved"]) rule(w, name, "apply");
  amend(w, "1", { assets: [{ ...asset, locked: true }] });
  await runsUntilQuiet(w);
  const old = numberOf(w, "A1");
  amend(w, "1", { customer: "C2" });
  await expectMoved(w, "C2");
  expect(numberOf(w, "A1")).not.toBe(old);
  expect(w.sandbox.state().lockedAssets).toBe(1);
});

it("keeps at the old customer what is lent until it is returned", { tags: "long" }, async () => {
  const products = [line("P1", "A1"), line("Q1", "A1"), line("R1", "A8"), line("L9", "L1")];
  const lock = { id: "L1", type: "normal_recover_usbkey" as const, forLending: true };
  const w = await placedOrders({ first: { assets: ["A1", "A8"], products: products.slice(0, 3) } });
  w.orders = [...w.orders, { id: "9", customer: "C1", assets: [lock] }];
  w.write();
  await runs(w, 1);
  const holder = [...(await membersOf(w, "C1")).values()].find(({ assetNums }) => assetNums.length > 0);
  const lent = { lock: numberOf(w, "L1"), assetNums: [numberOf(w, "A1")] };
  w.sandbox.hand({ action: "lend", memberGlobalId: holder?.globalId ?? "", ...lent });
  rule(w, "orders.moved", "apply");
  amend(w, "1", { customer: "C2" });
  w.staff = w.staff.map((row) => (row.id === "S1" ? { ...row, holds: [] } : row));
  w.write();
  await runs(w, 3);
  expect(await places(w)).toEqual({ C1: ["P1", "Q1"] });
  w.sandbox.hand({ action: "return-loan", lock: lent.lock });
  await runsUntilQuiet(w);
  expect(await places(w)).toEqual({ C2: ["P1", "Q1", "R1"] });
});

/** The customer gets another enterprise. */
async function linksAnew(w: World, customer: string): Promise<void> {
  const { enterpriseGlobalId } = await createEnterprise(callerOf(w.sandbox.url), customer);
  expect((await w.run("unlink", customer, "--keep-orders", ...because)).exitCode).toBe(0);
  expect((await w.run("link", customer, enterpriseGlobalId, ...because)).exitCode).toBe(0);
}

it.each(["C1", "C2"])(
  "changes nothing in an enterprise that its customer %s no longer has",
  { tags: "long" },
  async (customer) => {
    const w = await moved();
    if (customer === "C1") await linksAnew(w, "C1");
    await runs(w, 3);
    if (customer === "C2") {
      await linksAnew(w, "C2");
      amend(w, "1", { products: ["P1", "Q1", "R1"].map((id) => line(id, "A1")) });
    }
    await runs(w, 2);
    expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 0 });
    const [of, kind] = customer === "C1" ? (["C1", "customer"] as const) : (["1", "order"] as const);
    expect(await waitsFor(w, of, kind)).toBe("order.elsewhere");
  },
);

it(
  "states each purchase and removal of a moved order at the customer where it happened",
  { tags: "long" },
  async () => {
    const w = await moved();
    await runsUntilQuiet(w);
    const lines = (await statementRows(w, "orders", "lines")).filter((row) => row["crm_order"] === "crm/1");
    expect(lines.map((row) => [row["event"], row["customer"]])).toEqual([
      ["placed", "crm/C1"],
      ["placed", "crm/C1"],
      ["ended", "crm/C1"],
      ["ended", "crm/C1"],
      ["amended", "crm/C2"],
      ["amended", "crm/C2"],
    ]);
  },
);

it("says that nothing of a move can be undone", { tags: "long" }, async () => {
  const w = await moved();
  await runsUntilQuiet(w);
  for (const kind of ["amend-order", "delete-assets"]) {
    const made = (await operationsOf(w, "order", "1")).find((one) => one.kind === kind);
    const { steps } = await w.ask("undo", made.runId);
    expect(steps.map(({ how }: Parsed) => how)).toEqual(["impossible", "impossible"]);
  }
});

it.each([1, 2, 3])(
  "buys what was approved at a merged customer when reading %i of M5 fails in that run",
  { tags: "long" },
  async (nth) => {
    const w = await placedOrders({ staff: [] });
    Object.assign(w.environment, promptRetries);
    Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
    rule(w, "orders.moved", "ask");
    const about = await enterpriseOf(w, "C1");
    w.customers = w.customers.filter(({ id }) => id !== "C1");
    amend(w, "1", { customer: "C2" });
    await runs(w, 2);
    expect((await w.run("approve", await openHold(w), ...because)).exitCode).toBe(0);
    w.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 1 });
    w.sandbox.faults.add({ operation: "M5", fault: "shortPage", about, nth: [nth, nth + 1, nth + 2] });
    const run = await w.does("run", "everything");
    w.sandbox.faults.clear();
    expect(await places(w), run.stdout).toEqual(run.exitCode === 0 ? { C2: ["P1", "Q1"] } : expect.anything());
    await runsUntilQuiet(w);
    expect(await places(w)).toEqual({ C2: ["P1", "Q1"] });
  },
);

it("leaves a customer what it had when the CRM withdraws a merge", { tags: "long" }, async () => {
  const w = await placedOrders();
  Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
  const crm = structuredClone({ customers: w.customers, orders: w.orders, staff: w.staff });
  rule(w, "orders.moved", "ask");
  w.orders = w.orders.map((order) => ({ ...order, customer: "C2" }));
  w.staff = w.staff.map((person) => ({ ...person, customer: "C2" }));
  w.customers = w.customers.filter(({ id }) => id !== "C1");
  w.write();
  await runs(w, 1);
  rule(w, "orders.moved", "apply");
  Object.assign(w, crm);
  w.write();
  await runsUntilQuiet(w);
  expect(await productsBy(w)).toEqual(before);
});
