/** @module-tag long */
import { expect, it } from "vitest";
import { heldBy, openHold, openHolds, operationsOf } from "../../support/asking.ts";
import { promptRetries, world, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { amend, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

const why = ["--reason", "asked the customer", "--by", "anna"];
const ids = ["1", "2", "3"];

async function runs(w: World, exitCode: number, calls: Record<string, number> = {}): Promise<void> {
  expect(outcome(await w.does("run", "everything"))).toEqual([exitCode, calls]);
}

async function decide(w: World, ...decision: string[]): Promise<void> {
  const decided = await w.run(...decision, ...why);
  expect(decided.exitCode, decided.stderr).toBe(0);
}

/** A customer with three placed orders, all of which the CRM cancels: more than a limit allows, or earned by none. */
async function cancelled(more: (w: World) => void): Promise<World> {
  const w = await world({
    records: { customers: [{ id: "C1" }], orders: ids.map((id) => orderOf(id, "C1")), staff: [] },
  });
  more(w);
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const id of ids) amend(w, id, { cancelled: true });
  await runs(w, 4);
  return w;
}

const limited = (w: World): void => rule(w, "orders.cancelled", "apply");

/** The customer moves to another branch, which is part of what the calls for its orders say. */
function branch(w: World): void {
  w.customers = [{ id: "C1", branch: "East" }];
  w.write();
}

it("a question that a policy asked waits when the call for it changes, though its policy is earned by now", async () => {
  const w = await cancelled((made) => (made.extra = "policies: { approvalsNeeded: 2 }\n"));
  for (const id of ["1", "2"]) {
    const held = (await operationsOf(w, "order", id)).find(({ state }) => state === "held");
    await decide(w, "approve", held?.id ?? "");
  }
  await runs(w, 4, { E5: 2 });
  branch(w);
  for (const calls of [{ E4: 1 }, {}]) await runs(w, 4, calls);
  expect(standing(w)).toMatchObject({ products: 2 });
});

it.each(["leave it open", "reject"])(
  "a removal that a limit held waits when the call for it changes and the rest is wanted again: %s",
  async (answer) => {
    const w = await cancelled(limited);
    if (answer === "reject") await decide(w, "reject", await openHold(w));
    for (const id of ["2", "3"]) amend(w, id, { cancelled: false });
    await w.does("run", "everything");
    branch(w);
    for (const calls of [{ E4: 1 }, {}]) await runs(w, 4, calls);
    expect(standing(w)).toMatchObject({ products: 6 });
  },
);

it("a seat that a person said may not go waits when its holder is to lose another one too", async () => {
  const records = company(1, 9);
  records.staff.pop();
  for (const person of records.staff.slice(0, 1)) person.holds = ["O1-A1", "O1-A9"];
  const w = await world({ records });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const person of w.staff.slice(1, 6)) person.holds = [];
  personOf(w, "S1-1").holds = ["O1-A9"];
  w.write();
  await runs(w, 4);
  await decide(w, "reject", await openHold(w));
  await w.does("run", "everything");
  const held = await heldBy(w, "S1-1");
  personOf(w, "S1-1").holds = [];
  w.write();
  await runs(w, 4);
  expect(await heldBy(w, "S1-1")).toEqual(held);
});

it.each(["leave it open", "reject", "approve"])(
  "nothing of a question ends while a person that it is about is in quarantine: %s",
  async (answer) => {
    const w = await world({ records: company(1, 8) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    for (const person of w.staff.slice(0, 6)) person.holds = [];
    w.write();
    await runs(w, 4);
    const asked = await openHold(w);
    if (answer === "reject") await decide(w, "reject", asked);
    const { login } = personOf(w, "S1-1");
    personOf(w, "S1-1").login = "bad login!";
    w.write();
    await w.does("run", "everything");
    if (answer === "approve") await decide(w, "approve", asked);
    Object.assign(personOf(w, "S1-1"), { login });
    w.write();
    const { calls } = await w.does("run", "everything");
    expect(calls).toEqual(answer === "approve" ? { M9: 6 } : {});
  },
);

it("what was approved and rejected after that does not earn the policy", async () => {
  const w = await placedOrders({ staff: [] });
  w.extra = "policies: { approvalsNeeded: 1 }\n";
  w.write();
  amend(w, "1", { cancelled: true });
  await runs(w, 4);
  const asked = await openHold(w);
  await decide(w, "approve", asked);
  await decide(w, "reject", asked);
  amend(w, "1", { cancelled: false });
  amend(w, "2", { cancelled: true });
  await runs(w, 4);
  expect(standing(w)).toMatchObject({ products: 4 });
});

it("what was rejected waits again once the rejection is taken back, whatever the limits allow by then", async () => {
  const w = await cancelled(limited);
  const asked = await openHold(w);
  await decide(w, "reject", asked);
  for (const id of ["2", "3"]) amend(w, id, { cancelled: false });
  await w.does("run", "everything");
  await decide(w, "reject", asked, "--withdraw");
  for (const _ of [1, 2]) await runs(w, 4);
  expect(await openHold(w)).toBe(asked);
  await decide(w, "approve", asked);
  await runs(w, 0, { E5: 1 });
});

it("what has been sent cannot be rejected, and its person is told so", async () => {
  const lock = { id: "A1", type: "normal_recover_usbkey" } as const;
  const w = await placedOrders({ first: { assets: [lock] }, staff: [] });
  Object.assign(w.environment, promptRetries);
  rule(w, "locks.locked", "ask");
  amend(w, "1", { assets: [{ ...lock, locked: true }] });
  await runs(w, 4);
  const asked = await openHold(w);
  await decide(w, "approve", asked);
  w.sandbox.faults.add({ operation: "E6", fault: "resetBefore" });
  expect((await w.does("run", "everything")).exitCode).toBe(5);
  const refused = await w.run("reject", asked, ...why);
  expect([refused.exitCode, refused.stderr]).toEqual([64, expect.stringContaining("were approved and sent")]);
});

it("a rejection in the middle stops what was not sent, alone, and says how much was", async () => {
  const w = await cancelled((made) => rule(made, "orders.cancelled", "ask"));
  const asked = await openHold(w);
  await decide(w, "approve", asked);
  const gate = w.stopsAt("E5");
  const run = w.does("run", "everything");
  await gate.reached;
  const rejected = await w.run("reject", asked, ...why);
  expect(rejected.stdout).toContain("except 1 operation sent before");
  gate.goOn();
  expect((await run).exitCode).toBe(0);
  expect(standing(w)).toMatchObject({ products: 4 });
});

it("what a person rejected stays when its policy is to tell of it for a while", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.cancelled", "ask");
  amend(w, "1", { cancelled: true });
  await runs(w, 4);
  await decide(w, "reject", await openHold(w));
  for (const word of ["report", "apply"]) {
    rule(w, "orders.cancelled", word);
    await w.does("run", "everything");
  }
  expect(standing(w)).toMatchObject({ products: 4 });
  expect(await openHolds(w)).toEqual([]);
});

it("a seat that a person left with their customer is asked about anew when the person changes where they are now", async () => {
  const w = await world({ records: { ...company(1, 1), customers: [{ id: "C1" }, { id: "C2" }] } });
  rule(w, "assignments.revoked", "ask");
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const { id } = w.staff[0] ?? { id: "" };
  Object.assign(personOf(w, id), { customer: "C2", holds: [] });
  w.write();
  await w.does("run", "everything");
  const asked = await openHold(w);
  personOf(w, id).name = "Zqcanary Person 2";
  w.write();
  await w.does("run", "everything");
  const again = await openHold(w);
  expect(again).not.toBe(asked);
  await decide(w, "approve", again);
  expect((await w.does("run", "everything")).calls).toEqual({ M9: 1 });
  expect(standing(w)).toMatchObject({ assignments: 0 });
});
