import { expect, it } from "vitest";
import { numberOf } from "../../support/asking.ts";
import type { Parsed, World } from "../../support/cli.ts";
import { statementRows, type StatedRow } from "../../support/statement-rows.ts";
import { personOf } from "../../support/world/members.ts";
import { amend, line, orderOf, placedOrders, removesAll, rule } from "../../support/world/placed-orders.ts";

const now = (w: World): string => new Date(w.clock.now()).toISOString();

async function orderRow(w: World, order: string, customer: string): Promise<StatedRow | undefined> {
  const rows = await statementRows(w, "reconciliation", "items");
  return rows.find((row) => row["level"] === "order" && row["crm_order"] === order && row["customer"] === customer);
}

it("an order that moved is by the purchase that stands, and missing since the customer wants it again", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.moved", "apply");
  removesAll(w);
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

it("what stays of an order that is gone from the CRM is not as wanted since the order is gone", async () => {
  const w = await placedOrders({ staff: [] });
  Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
  rule(w, "orders.deleted", "ignore");
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  w.later(2);
  const gone = now(w);
  w.orders = w.orders.filter(({ id }) => id !== "1");
  w.write();
  await w.run("run", "everything");
  const left: Parsed = await orderRow(w, "crm/1", "crm/C1");
  expect(left).toMatchObject({ verdict: "extra" });
  expect(Date.parse(left.open_since)).toBeGreaterThan(Date.parse(gone));
});

it("what the platform no longer shows is missing since a reading did not show it, whatever the CRM changed", async () => {
  const w = await placedOrders({ staff: [] });
  w.later(2);
  const lost = now(w);
  w.sandbox.hand({ action: "drop-product", assetNum: numberOf(w, "A1"), crmProductId: "P1" });
  await w.run("run", "verify");
  w.later(2);
  const later = now(w);
  amend(w, "1", { price: "9.00" });
  await w.run("run", "everything");
  const rows = (await statementRows(w, "reconciliation", "items")).filter(({ verdict }) => verdict === "missing");
  expect(rows.map(({ level }) => level)).toEqual(["order", "product"]);
  for (const { open_since: since } of rows.slice(1)) {
    expect(Date.parse(String(since))).toBeGreaterThan(Date.parse(lost));
    expect(Date.parse(String(since))).toBeLessThan(Date.parse(later));
  }
});

it("a product that a placed order has since and that nobody approved is missing since the CRM has it", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.added", "ask");
  w.later(2);
  const added = now(w);
  amend(w, "1", { products: ["P1", "Q1", "R1"].map((id) => line(id, "A1")) });
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  const [row] = (await statementRows(w, "reconciliation", "items")).filter(({ item }) => item === "R1");
  expect(row).toMatchObject({ verdict: "missing" });
  expect(Date.parse(String(row?.["open_since"]))).toBeGreaterThan(Date.parse(added));
});

it("what was being sent at a moment was neither held nor planned then, but in doubt", async () => {
  const w = await placedOrders({ staff: [] });
  w.orders.push(orderOf("3", "C1"));
  w.write();
  const stop = w.stopsAt("E5", { when: "after" });
  const run = w.run("run", "everything");
  await stop.reached;
  w.later(1);
  const then = now(w);
  w.later(24);
  stop.goOn();
  expect((await run).exitCode).toBe(0);
  const of = async (period: string, ...words: string[]): Promise<unknown> => {
    const { parts } = await w.ask("report", "exceptions", "--period", period, ...words, "--format", "json");
    return parts.exceptions.rows.map((row: Parsed) => [row.kind, row.code, row.subject ?? row.record]);
  };
  expect(await of("2026-11")).toEqual([]);
  const doubted = [["unknown", null, "order:crm/3"]];
  expect(await of("2026-11-02..2026-11-02")).toEqual(doubted);
  expect(await of("2026-11", "--as-of", then)).toEqual(doubted);
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
  const { holds = [] } = personOf(w, "S1");
  personOf(w, "S1").holds = [];
  w.write();
  expect(await w.does("run", "everything")).toMatchObject({ calls: {} });
  personOf(w, "S1").holds = holds;
  w.write();
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
