import { expect, it } from "vitest";
import type { Parsed, World } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import type { StatedRow } from "../../support/statement-rows.ts";
import { personOf } from "../../support/world/members.ts";
import { amend, placedOrders, rule } from "../../support/world/placed-orders.ts";

const now = (w: World): string => new Date(w.clock.now()).toISOString();

async function orderRow(w: World, order: string, customer: string): Promise<StatedRow | undefined> {
  const rows = await statementRows(w, "reconciliation", "items");
  return rows.find((row) => row["level"] === "order" && row["crm_order"] === order && row["customer"] === customer);
}

it("an order that moved is by the purchase that stands, and missing since the customer wants it again", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.moved", "apply");
  w.later(2);
  const moved = now(w);
  amend(w, "1", { customer: "C2" });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  const stands: Parsed = await orderRow(w, "crm/1", "crm/C2");
  expect(stands).toMatchObject({ channel_order_id: "1-2", verdict: "matched" });
  expect(Date.parse(stands.sent_at)).toBeGreaterThan(Date.parse(moved));
  w.later(2);
  const back = now(w);
  amend(w, "1", { customer: "C1" });
  expect((await w.run("resync", "--customer", "C2")).exitCode).toBe(0);
  const missing: Parsed = await orderRow(w, "crm/1", "crm/C1");
  expect(missing).toMatchObject({ verdict: "missing" });
  expect(Date.parse(missing.open_since)).toBeGreaterThan(Date.parse(back));
});

/** What is not as meant, of these levels, of the customer C1: its verdict and whether it is so since a moment. */
async function openedSince(w: World, at: string, ...levels: string[]): Promise<unknown[]> {
  const rows: Parsed[] = await statementRows(w, "reconciliation", "items");
  return rows
    .filter(({ customer, level, verdict }) => customer === "crm/C1" && levels.includes(level) && verdict !== "matched")
    .map(({ level, verdict, open_since: since, sent_at: sent }) => [
      level,
      verdict,
      Date.parse(since) > Date.parse(at),
      sent === null,
    ]);
}

it("a seat that is taken away on the platform is missing since a reading showed that after it was given last", async () => {
  const w = await placedOrders();
  rule(w, "drift.missing", "apply");
  const { numbers } = await w.ask("explain", "order", "1");
  const takenAway = async (): Promise<void> => {
    w.later(24);
    const taken = now(w);
    w.sandbox.hand({ action: "move-holder", assetNum: numbers[0].number, memberGlobalId: null });
    await w.run("run", "verify");
    expect(await openedSince(w, taken, "assignment")).toEqual([["assignment", "missing", true, false]]);
  };
  await takenAway();
  w.later(24);
  await w.run("run", "verify");
  expect(await w.does("run", "everything")).toMatchObject({ calls: { M9: 1 } });
  await takenAway();
});

it("a seat that went with its asset is missing since then", async () => {
  const w = await placedOrders();
  rule(w, "orders.cancelled", "apply");
  w.later(24);
  const cancelled = now(w);
  amend(w, "1", { cancelled: true });
  await w.run("run", "everything");
  await w.run("run", "verify");
  expect(await openedSince(w, cancelled, "assignment")).toEqual([["assignment", "missing", true, true]]);
});

it("what the CRM has no longer is beside it since it is gone there", async () => {
  const w = await placedOrders();
  const limits = { absenceReads: "1", absenceTime: "0s", sourceShrink: "1" };
  for (const [name, value] of Object.entries(limits)) w.environment[`CRM_SYNC__limits__${name}`] = value;
  personOf(w, "S1").holds = [];
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  w.later(24);
  const gone = now(w);
  w.customers = w.customers.filter(({ id }) => id !== "C1");
  w.orders = w.orders.filter(({ customer }) => customer !== "C1");
  w.staff = w.staff.filter(({ customer }) => customer !== "C1");
  w.write();
  await w.run("run", "everything");
  await w.run("run", "verify");
  expect(await openedSince(w, gone, "enterprise", "order", "staff")).toEqual([
    ["enterprise", "extra", true, false],
    ["order", "extra", true, false],
    ["staff", "extra", true, false],
  ]);
});
