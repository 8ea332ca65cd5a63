import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { amend, openHold, orderOf, placedOrders, rule, standing } from "./placed-orders.ts";

it.each([true, false])(
  "an approval (somebody else waits: %s) of a cancellation that the CRM took back releases no later cancellation",
  { tags: "long" },
  async (waits) => {
    const w = await placedOrders();
    amend(w, "1", { cancelled: true });
    // Somebody of the same customer waits for something else.
    for (const person of w.staff) if (waits && person.id === "S1") person.holds = ["A1", "nowhere"];
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    expect((await w.run("approve", openHold(w), "--reason", "asked the customer")).exitCode).toBe(0);
    // Before the next run the CRM takes the cancellation back.
    amend(w, "1", { ...orderOf("1", "C1"), cancelled: false });
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
    // Much later the order is cancelled by mistake.
    const before = standing(w);
    amend(w, "1", { cancelled: true });
    const run = await w.does("run", "everything");
    expect(run.calls).toEqual({});
    expect(standing(w)).toEqual(before);
  },
);

it(
  "of two held cancellations the approval of one, which the CRM took back, releases no later cancellation of it",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    w.orders.push(orderOf("3", "C1"));
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    amend(w, "1", { cancelled: true });
    amend(w, "3", { cancelled: true });
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    const [op] = w.rows<{ id: string }>("select id from operation where state = 'held' and subject = 'order:crm/1'");
    expect((await w.run("approve", op?.id ?? "", "--reason", "asked the customer")).exitCode).toBe(0);
    amend(w, "1", { ...orderOf("1", "C1"), cancelled: false });
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
    amend(w, "1", { cancelled: true });
    expect((await w.does("run", "everything")).calls).toEqual({});
  },
);

it(
  "an operation that was approved by itself and that the CRM took back is asked for again when it comes up later",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(1, 3) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    w.extra = "policies: { seats: { revoked: hold } }\n";
    const [one, other] = w.staff;
    if (one === undefined || other === undefined) throw new Error("nobody");
    const seats = one.holds ?? [];
    one.holds = [];
    other.holds = [];
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    const [op] = w.rows<{ id: string }>(
      "select id from operation where state = 'held' and subject like ?",
      `%${one.id}`,
    );
    expect((await w.run("approve", op?.id ?? "", "--reason", "this one")).exitCode).toBe(0);
    // Before the next run the CRM takes it back; the other one is held on.
    one.holds = seats;
    w.write();
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
    // Much later it comes up again.
    one.holds = [];
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({});
  },
);

it("a hold whose cancellation was taken back lapses, also where something else of the customer waits", async () => {
  const w = await placedOrders();
  amend(w, "1", { cancelled: true });
  for (const person of w.staff) if (person.id === "S1") person.holds = ["A1", "nowhere"];
  w.write();
  expect((await w.does("run", "everything")).exitCode).toBe(4);
  amend(w, "1", { ...orderOf("1", "C1"), cancelled: false });
  for (const _ of [1, 2]) await w.does("run", "everything");
  // What S1 waits for is told (exit 3); nothing waits for an approval (exit 4).
  expect((await w.does("run", "everything")).exitCode).toBe(3);
  expect(w.rows("select id from hold where state = 'open'")).toEqual([]);
});

it(
  "a seat whose revoke was rejected once, given back by the CRM, is taken when the person leaves later",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(1, 8) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const before = w.staff.map((person) => person.holds);
    for (const person of w.staff.slice(0, 6)) person.holds = [];
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    const [hold] = w.rows<{ id: string }>("select id from hold where state = 'open'");
    expect((await w.run("reject", hold?.id ?? "", "--reason", "a mistake in the CRM")).exitCode).toBe(0);
    expect((await w.does("run", "everything")).calls).toEqual({});
    w.staff.forEach((person, i) => (person.holds = before[i] ?? []));
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    // A year later one of them really loses it.
    const [one] = w.staff;
    if (one !== undefined) one.holds = [];
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({ M9: 1 });
  },
);

it(
  "a cancellation that was rejected, restored by the CRM, is asked for again when the order is cancelled later",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    amend(w, "1", { cancelled: true });
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    expect((await w.run("reject", openHold(w), "--reason", "a mistake in the CRM")).exitCode).toBe(0);
    await w.does("run", "everything");
    amend(w, "1", { ...orderOf("1", "C1"), cancelled: false });
    const restored = await w.does("run", "everything");
    expect([restored.exitCode, restored.calls], restored.stdout).toEqual([0, {}]);
    amend(w, "1", { cancelled: true });
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    expect(w.rows("select id from hold where state = 'open'")).toHaveLength(1);
  },
);

it("a rejection that a person takes back is asked for again by the next run", { tags: "long" }, async () => {
  const w = await placedOrders();
  amend(w, "1", { cancelled: true });
  expect((await w.does("run", "everything")).exitCode).toBe(4);
  const hold = openHold(w);
  const early = await w.run("reject", hold, "--withdraw", "--reason", "the wrong one");
  expect([early.exitCode, early.stderr]).toEqual([64, expect.stringContaining("there is no rejection to take back")]);
  expect((await w.run("reject", hold, "--reason", "a mistake in the CRM")).exitCode).toBe(0);
  expect((await w.does("run", "everything")).exitCode).toBe(0);
  const back = await w.run("reject", hold, "--withdraw", "--reason", "the wrong one");
  expect([back.exitCode, back.stdout]).toEqual([0, expect.stringContaining("the next run asks again")]);
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls], run.stdout).toEqual([4, {}]);
  expect((await w.run("approve", openHold(w), "--reason", "it is meant")).exitCode).toBe(0);
  expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
});

it(
  "a held edit of a person stays held while something else of the customer is done, and goes once approved",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    rule(w, "staff.edited", "hold");
    w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, note: "moved to another desk" } : item));
    w.write();
    const held = await w.does("run", "everything");
    expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
    w.orders = [...w.orders, orderOf("3", "C1")];
    w.write();
    const other = await w.does("run", "everything");
    expect([other.exitCode, other.calls], other.stdout).toEqual([4, { E5: 1 }]);
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    expect((await w.run("approve", openHold(w), "--reason", "asked")).exitCode).toBe(0);
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([0, { M2: 1 }]);
  },
);

it("a rejected cancellation stays rejected where somebody is in quarantine for a run", { tags: "long" }, async () => {
  const w = await placedOrders();
  amend(w, "1", { cancelled: true });
  expect((await w.does("run", "everything")).exitCode).toBe(4);
  expect((await w.run("reject", openHold(w), "--reason", "a mistake in the CRM")).exitCode).toBe(0);
  await w.does("run", "everything");
  rule(w, "orders.cancelled", "apply");
  const staff = w.staff;
  w.staff = staff.map((item) => (item.id === "S1" ? { ...item, login: "bad login!" } : item));
  amend(w, "1", { placedAt: "2026-10-06T08:00:00Z" });
  await w.does("run", "everything");
  w.staff = staff;
  w.write();
  expect((await w.does("resync", "--customer", "C1")).calls).toEqual({});
  expect(standing(w)).toMatchObject({ products: 4 });
});
