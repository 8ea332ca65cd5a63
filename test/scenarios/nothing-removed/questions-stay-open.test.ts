import { describe, expect, it } from "vitest";
import { auditEntries, openHold, openHolds, operationsOf } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

const why = ["--reason", "asked the customer", "--by", "anna"];

async function runs(w: World, exitCode: number, calls: Record<string, number> = {}): Promise<void> {
  expect(outcome(await w.does("run", "everything"))).toEqual([exitCode, calls]);
}

async function decide(w: World, ...decision: string[]): Promise<void> {
  expect((await w.run(...decision, ...why)).exitCode).toBe(0);
}

/** The held operations of an order. */
async function heldOf(w: World, order: string): Promise<Parsed[]> {
  return (await operationsOf(w, "order", order)).filter(({ state }) => state === "held");
}

/** A customer with so many placed orders of one asset, all of which the CRM cancels. */
async function cancelled(count: number, more = ""): Promise<World> {
  const ids = Array.from({ length: count }, (_, index) => String(index + 1));
  const w = await world({
    records: { customers: [{ id: "C1" }], orders: ids.map((id) => orderOf(id, "C1")), staff: [] },
  });
  w.extra = more;
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const id of ids) amend(w, id, { cancelled: true });
  await runs(w, 4);
  return w;
}

describe("a question that nobody answered", () => {
  it("stays open when ten others were approved, which is enough for the policy", { tags: "long" }, async () => {
    const w = await cancelled(15);
    for (let n = 1; n <= 10; n += 1) {
      const [operation] = await heldOf(w, String(n));
      await decide(w, "approve", operation.id);
    }
    await runs(w, 4, { E5: 10 });
    for (const _ of [1, 2]) await runs(w, 4);
    expect(await openHolds(w)).toMatchObject([{ operations: 5, state: "open" }]);
    expect(standing(w)).toMatchObject({ products: 10 });
  });

  it("stays open, and its policy is earned for what comes after it", async () => {
    const w = await cancelled(3, "policies: { approvalsNeeded: 2 }\n");
    for (const n of ["1", "2"]) await decide(w, "approve", (await heldOf(w, n))[0].id);
    await runs(w, 4, { E5: 2 });
    w.orders.push(orderOf("9", "C1"));
    w.write();
    await runs(w, 4, { E5: 1 });
    amend(w, "9", { cancelled: true });
    await runs(w, 4, { E5: 1 });
    await runs(w, 4);
    expect((await heldOf(w, "3")).length).toBe(1);
  });

  it("frees no other policy", async () => {
    const w = await cancelled(2, "policies: { approvalsNeeded: 2 }\n");
    await decide(w, "approve", await openHold(w));
    await runs(w, 0, { E5: 2 });
    // An order whose line ends is under another policy, with operations of the same kind.
    w.orders.push(orderOf("9", "C1"));
    w.write();
    await runs(w, 0, { E5: 1 });
    amend(w, "9", { products: orderOf("9", "C1").products?.slice(0, 1) ?? [] });
    await runs(w, 4);
  });

  it.each([
    ["day", 25],
    ["week", 8 * 24],
  ] as const)("stays open after the hours of the limit of a %s", { tags: "long" }, async (span, hours) => {
    const w = await world({ records: company(1, 8) });
    w.extra =
      "limits: { removals: { enterprise: { floor: 50, share: 1 }, run: { floor: 50, share: 1 }, " +
      `day: { floor: ${span === "day" ? 3 : 50}, share: 0 }, week: { floor: ${span === "week" ? 3 : 50}, share: 0 } } }\n`;
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    for (const person of w.staff.slice(0, 5)) person.holds = [];
    w.write();
    await runs(w, 4);
    const asked = await openHold(w);
    w.later(hours);
    for (const _ of [1, 2]) await runs(w, 4);
    expect(await openHold(w)).toBe(asked);
    expect(w.sandbox.state().assignments).toBe(8);
  });
});

describe("a decision", () => {
  /** The CRM restores the order while the list of people cannot be read; later it cancels the order again. */
  async function restoredUnseen(w: World): Promise<void> {
    const { staff } = w;
    w.staff = staff.map((item) => (item.id === "S1" ? { ...item, login: "bad login!" } : item));
    amend(w, "1", { cancelled: false });
    await w.does("run", "everything");
    w.staff = staff;
    w.write();
  }

  it.each(["approve", "reject"])("to %s ends with what it was about", { tags: "long" }, async (decision) => {
    const w = await placedOrders();
    amend(w, "1", { cancelled: true });
    await runs(w, 4);
    await decide(w, decision, await openHold(w));
    await restoredUnseen(w);
    await runs(w, 0);
    w.later(24 * 30);
    amend(w, "1", { cancelled: true });
    await runs(w, 4);
    expect(standing(w)).toMatchObject({ products: 4 });
  });

  it.each(["approve", "reject"])(
    "to %s is asked anew if the order came back and went between two runs",
    async (decision) => {
      const w = await placedOrders();
      rule(w, "orders.cancelled", "ask");
      amend(w, "1", { cancelled: true });
      await runs(w, 4);
      const first = await openHold(w);
      await decide(w, decision, first);
      w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, login: "bad login!" } : item));
      amend(w, "1", { cancelled: false });
      await w.does("run", "everything");
      amend(w, "1", { cancelled: true });
      await w.does("run", "everything");
      w.staff = w.staff.map((item) => (item.id === "S1" ? { ...item, login: "S1" } : item));
      w.write();
      await runs(w, 4);
      expect(await openHold(w)).not.toBe(first);
    },
  );

  it("against an undo says nothing of what the CRM cancels itself", async () => {
    const w = await placedOrders({ staff: [] });
    w.orders.push(orderOf("3", "C1"));
    w.write();
    const { run } = await w.ask("run", "everything");
    expect((await w.run("undo", run, "--out", w.path("undo.ndjson"))).exitCode).toBe(2);
    expect(outcome(await w.does("apply", w.path("undo.ndjson")))).toEqual([4, {}]);
    await decide(w, "reject", await openHold(w));
    amend(w, "3", { cancelled: true });
    await runs(w, 4);
    await decide(w, "approve", await openHold(w));
    await runs(w, 0, { E5: 1 });
  });

  it("covers what was shown: an order that was approved as moved is asked about anew as cancelled", async () => {
    const w = await placedOrders({ staff: [] });
    rule(w, "orders.moved", "ask");
    rule(w, "orders.cancelled", "ask");
    amend(w, "1", { customer: "C2" });
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    const [operation] = await heldOf(w, "1");
    await decide(w, "approve", operation.id);
    amend(w, "1", { cancelled: true });
    await runs(w, 4);
    expect((await heldOf(w, "1")).map(({ id }) => id)).not.toContain(operation.id);
    expect(standing(w)).toMatchObject({ products: 4 });
  });
});

describe("what is held", () => {
  it("keeps its id from run to run, and is approved by it", async () => {
    const w = await cancelled(2);
    const [before] = await heldOf(w, "1");
    for (const _ of [1, 2, 3]) await runs(w, 4);
    expect((await heldOf(w, "1")).map(({ id }) => id)).toEqual([before.id]);
    await decide(w, "approve", before.id);
    await runs(w, 4, { E5: 1 });
    expect(await operationsOf(w, "order", "1")).toContainEqual(
      expect.objectContaining({ id: before.id, state: "done" }),
    );
  });

  it("is in the audit log with the question, the decision and its end", async () => {
    const w = await cancelled(1);
    const asked = await openHold(w);
    await decide(w, "approve", asked);
    await runs(w, 0, { E5: 1 });
    const about = (await auditEntries(w)).filter(({ body }) => JSON.parse(body).hold === asked);
    expect(about.map(({ kind }) => kind)).toEqual(["held", "hold-approved", "hold-used"]);
  });

  it("is carried out once it was approved, though its customer is gone and a service was down meanwhile", async () => {
    const w = await placedOrders({ staff: [] });
    w.extra = "limits: { absenceReads: 1, absenceTime: 0s }\n";
    w.write();
    amend(w, "1", { cancelled: true });
    await runs(w, 4);
    const asked = await openHold(w);
    w.customers = w.customers.filter(({ id }) => id !== "C1");
    w.write();
    await w.run("run", "everything", "--accept-shrink", "crm/customers=1000");
    await decide(w, "approve", asked);
    await w.sandbox.refuseConnections();
    expect((await w.does("run", "everything")).exitCode).toBe(7);
    await w.sandbox.acceptConnections();
    await w.does("run", "everything");
    await w.does("run", "everything");
    expect(standing(w)).toMatchObject({ products: 2 });
  });

  it("is refused an approval once its record has changed", async () => {
    const w = await cancelled(1);
    const asked = await openHold(w);
    amend(w, "1", { cancelled: false });
    await w.run("plan");
    const refused = await w.run("approve", asked, ...why);
    expect([refused.exitCode, refused.stderr]).toEqual([
      64,
      expect.stringContaining("changed after the hold was made"),
    ]);
    await runs(w, 0);
    expect(await openHolds(w)).toEqual([]);
  });
});
