import { expect, it } from "vitest";
import { openHold, openHolds, operationsOf } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { amend, line, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

const why = ["--reason", "asked the customer", "--by", "anna"];

/** The held operation of a record. */
async function heldOf(w: World, kind: "order" | "staff", id: string): Promise<string> {
  return (await operationsOf(w, kind, id)).find(({ state }) => state === "held")?.id ?? "";
}

async function runs(w: World, exitCode: number, calls: Record<string, number> = {}): Promise<void> {
  expect(outcome(await w.does("run", "everything"))).toEqual([exitCode, calls]);
}

/** Somebody of the first customer waits for something else. */
function waits(w: World): void {
  personOf(w, "S1").holds = ["A1", "nowhere"];
  w.write();
}

it("ends a hold when the CRM withdraws the cancellation, also while somebody else of the customer waits", async () => {
  const w = await placedOrders();
  amend(w, "1", { cancelled: true });
  waits(w);
  await runs(w, 4);
  amend(w, "1", { cancelled: false });
  for (const _ of [1, 2]) await w.does("run", "everything");
  await runs(w, 3);
  expect(await openHolds(w)).toEqual([]);
});

it("a saved plan reads no seats for a hold that it has nothing to do with", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "enterprises.update", "ask");
  amend(w, "1", { cancelled: true });
  await runs(w, 4);
  amend(w, "1", { cancelled: false });
  w.customers = w.customers.map((one) => (one.id === "C1" ? { ...one, name: "Renamed" } : one));
  w.write();
  const file = w.path("plan.ndjson");
  expect((await w.run("plan", "--out", file)).exitCode).toBe(4);
  w.sandbox.faults.add({ operation: "M5", fault: "http502", times: 100 });
  w.sandbox.faults.add({ operation: "M6", fault: "http502", times: 100 });
  const applied = await w.does("apply", file);
  expect([applied.exitCode, applied.calls], applied.stdout).toEqual([4, {}]);
  const [held, ...others] = await openHolds(w);
  expect([held?.first[0]?.reason, others]).toEqual(["changed in the CRM: name", []]);
});

it.each<[what: string, more: (w: World) => void]>([
  ["of an order", () => {}],
  ["of an order while somebody waits", waits],
  [
    "of one of two orders",
    (w) => {
      w.orders.push(orderOf("3", "C1"));
      w.write();
    },
  ],
])(
  "does not use an approval of a cancellation (%s) that the CRM withdrew for a later one",
  { tags: "long" },
  async (what, more) => {
    const w = await placedOrders();
    more(w);
    await w.does("run", "everything");
    amend(w, "1", { cancelled: true });
    if (what === "of one of two orders") amend(w, "3", { cancelled: true });
    await runs(w, 4);
    expect((await w.run("approve", await heldOf(w, "order", "1"), ...why)).exitCode).toBe(0);
    amend(w, "1", { cancelled: false });
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
    const before = standing(w);
    amend(w, "1", { cancelled: true });
    for (const _ of [1, 2]) await runs(w, 4);
    expect(standing(w)).toEqual(before);
  },
);

it("does not use an approval of one seat that the CRM gave back for a later revoke", { tags: "long" }, async () => {
  const w = await world({ records: company(1, 3) });
  await w.run("run", "everything");
  rule(w, "assignments.revoked", "ask");
  const holds = (...held: string[]): void => {
    personOf(w, "S1-1").holds = held;
    w.write();
  };
  personOf(w, "S1-2").holds = [];
  holds();
  await runs(w, 4);
  expect((await w.run("approve", await heldOf(w, "staff", "S1-1"), ...why)).exitCode).toBe(0);
  holds("O1-A1");
  for (const _ of [1, 2]) await runs(w, 4);
  holds();
  await runs(w, 4);
});

it.each([
  ["approves", 0, { E5: 1 }],
  ["rejects", 0, {}],
] as const)(
  "asks again about a cancellation that was rejected and comes again, and a person %s it",
  { tags: "long" },
  async (how, exitCode, calls) => {
    const w = await placedOrders({ staff: [] });
    amend(w, "1", { cancelled: true });
    await runs(w, 4);
    expect((await w.run("reject", await openHold(w), ...why)).exitCode).toBe(0);
    await runs(w, 0);
    amend(w, "1", { cancelled: false });
    await runs(w, 0);
    amend(w, "1", { cancelled: true });
    await runs(w, 4);
    expect((await w.run(how.slice(0, -1), await openHold(w), ...why)).exitCode).toBe(0);
    await runs(w, exitCode, calls);
  },
);

it("asks again when a person withdraws a rejection", { tags: "long" }, async () => {
  const w = await placedOrders({ staff: [] });
  amend(w, "1", { cancelled: true });
  await runs(w, 4);
  const hold = await openHold(w);
  const withdraw = async () => await w.run("reject", hold, "--withdraw", ...why);
  expect((await withdraw()).exitCode, "there is no rejection yet").toBe(64);
  expect((await w.run("reject", hold, ...why)).exitCode).toBe(0);
  await runs(w, 0);
  expect((await withdraw()).exitCode).toBe(0);
  await runs(w, 4);
  expect((await w.run("approve", await openHold(w), ...why)).exitCode).toBe(0);
  await runs(w, 0, { E5: 1 });
});

it(
  "asks again before it removes what a person rejected, once its order changed, whatever the policy is then",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    amend(w, "1", { cancelled: true });
    await runs(w, 4);
    expect((await w.run("reject", await openHold(w), ...why)).exitCode).toBe(0);
    await w.does("run", "everything");
    rule(w, "orders.cancelled", "apply");
    const { staff } = w;
    w.staff = staff.map((item) => (item.id === "S1" ? { ...item, login: "bad login!" } : item));
    amend(w, "1", { placedAt: "2026-10-06T08:00:00Z" });
    await w.does("run", "everything");
    w.staff = staff;
    w.write();
    expect(outcome(await w.does("resync", "--customer", "C1"))).toEqual([4, {}]);
    expect(standing(w)).toMatchObject({ products: 4 });
  },
);

it(
  "revokes a seat later although a person rejected that once, before the CRM gave it back",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(1, 8) });
    await w.run("run", "everything");
    const { staff } = w;
    w.staff = staff.map((person, index) => (index < 6 ? { ...person, holds: [] } : person));
    w.write();
    await runs(w, 4);
    expect((await w.run("reject", await openHold(w), ...why)).exitCode).toBe(0);
    await runs(w, 0);
    w.staff = staff;
    w.write();
    await runs(w, 0);
    w.staff = staff.map((person, index) => (index < 1 ? { ...person, holds: [] } : person));
    w.write();
    await runs(w, 0, { M9: 1 });
  },
);

it("keeps a held edit held while something else of the customer is done", { tags: "long" }, async () => {
  const w = await placedOrders();
  rule(w, "staff.edited", "ask");
  personOf(w, "S1").note = "moved to another desk";
  w.write();
  await runs(w, 4);
  w.orders = [...w.orders, orderOf("3", "C1")];
  w.write();
  await runs(w, 4, { E5: 1 });
  await runs(w, 4);
  expect((await w.run("approve", await openHold(w), ...why)).exitCode).toBe(0);
  await runs(w, 0, { M2: 1 });
});

it.each(["approves", "leaves open"] as const)(
  "ends what was asked of a product at the customer that its order left, where a person %s it",
  async (what) => {
    const w = await placedOrders();
    amend(w, "1", { products: [line("P1", "A1")] });
    await runs(w, 4);
    if (what === "approves") await w.run("approve", await heldOf(w, "order", "1"), ...why);
    amend(w, "1", { customer: "C2" });
    await w.does("run", "everything");
    for (const { id } of await openHolds(w)) await w.run("approve", id, ...why);
    for (const _ of [1, 2, 3]) await w.does("run", "everything");
    expect((await w.ask("status")).holds ?? []).toEqual([]);
  },
);
