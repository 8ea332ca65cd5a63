import { expect, it } from "vitest";
import { openHold, unsettled } from "../../support/asking.ts";
import type { Parsed, World } from "../../support/cli.ts";
import type { GivenOrder } from "../../support/world/crm.ts";
import { amend, line, placedOrders, removesAll, rule } from "../../support/world/placed-orders.ts";

/** `units` of P1, which cost 7.00 each. */
const units = (count: number): Partial<GivenOrder> => ({
  assets: [{ id: "A1", quantity: count }],
  products: [line("P1", "A1", { price: `${7 * count}.00` })],
});

/** What the lines of the order cost together. */
async function linesAmount(w: World): Promise<unknown> {
  return (await stated(w, "orders"))[0]?.lines_amount;
}

it("units whose removal was rejected cost what they cost", async () => {
  const w = await placedOrders({ first: units(4), staff: [] });
  amend(w, "1", units(2));
  rule(w, "orders.ended", "ask");
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  const hold = await openHold(w);
  expect((await w.run("reject", hold, "--reason", "they use them")).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await linesAmount(w)).toBe("28.00");
  expect((await w.run("reject", hold, "--withdraw", "--reason", "gone by now")).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  expect((await w.run("approve", await openHold(w), "--reason", "they left")).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await linesAmount(w)).toBe("14.00");
});

it.each(["ignore", "ask"])("the amount of what stays is recorded where the removal of the rest is %s", async (word) => {
  const of = (price: string, more: readonly string[]): Partial<GivenOrder> => ({
    products: [line("P1", "A1", { price }), ...more.map((id) => line(id, "A1", { price: "50.00" }))],
  });
  const w = await placedOrders({ first: of("7.00", ["Q1"]), staff: [] });
  rule(w, "orders.ended", word);
  amend(w, "1", of("7.00", []));
  await w.run("run", "everything");
  amend(w, "1", of("9.00", []));
  await w.run("run", "everything");
  expect(await linesAmount(w)).toBe("59.00");
  expect(await linesOf(w)).toEqual([["repriced", 0, 1, "2.00"]]);
});

it("the amount of a whole order is recorded once what ends of it was removed", async () => {
  const both = { price: "20.00", products: [line("P1", "A1"), line("Q1", "A1")] };
  const w = await placedOrders({ first: both, staff: [] });
  rule(w, "orders.ended", "ask");
  amend(w, "1", { price: "12.00", products: [line("P1", "A1")] });
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  expect(await stated(w, "orders")).toMatchObject([{ amount_after: "20.00" }]);
  expect((await w.run("approve", await openHold(w), "--reason", "not used")).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await stated(w, "orders")).toMatchObject([{ amount_after: "12.00" }]);
});

it("an order that moves with another amount is bought at that amount, which never changed", async () => {
  const w = await placedOrders({ first: whole(2), staff: [] });
  rule(w, "orders.moved", "apply");
  amend(w, "1", { customer: "C2", price: "21.00" });
  for (let run = 0; run < 3; run += 1) expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("explain", "order", "1")).stdout).not.toContain("amounts changed");
});

it("an order that was cancelled, removed, restored and bought again was amended", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.cancelled", "apply");
  amend(w, "1", { cancelled: true });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  amend(w, "1", { cancelled: false });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await linesOf(w)).map(([event]) => event)).toEqual(["ended", "ended", "amended", "amended"]);
});

/** The rows of a part of the statement of orders that are of the first order. */
async function stated(w: World, part: "lines" | "orders", period = "2026-10-01..2027-01-31"): Promise<Parsed[]> {
  const { parts } = await w.ask("report", "orders", "--period", period, "--format", "json");
  return parts[part].rows.filter((row: Parsed) => row.crm_order === "crm/1");
}

const whole = (count: number): Partial<GivenOrder> => ({ price: `${7 * count}.00`, ...units(count) });

const linesOf = async (w: World): Promise<unknown[][]> =>
  (await stated(w, "lines"))
    .filter(({ event }) => event !== "placed")
    .map((row) => [row.event, row.units, row.asset_numbers.length, row.amount]);

it("of an order that moved nothing had an amount before it was bought again", async () => {
  const w = await placedOrders({ first: whole(2), staff: [] });
  rule(w, "orders.moved", "apply");
  removesAll(w);
  amend(w, "1", { customer: "C2" });
  expect((await w.does("resync", "--customer", "C1")).calls).toEqual({ E5: 1 });
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  expect((await w.run("run", "everything")).exitCode).toBe(5);
  w.sandbox.faults.clear();
  const customers = (await stated(w, "orders")).map((row) => [row.customer, row.events]);
  expect(customers, "nothing happened where it was not bought").toEqual([["crm/C1", 2]]);
  const { stdout } = await w.run("explain", "order", "1");
  expect(stdout).not.toContain("amounts changed");
  w.later(24);
  const nextDay = `${new Date(w.clock.now()).toISOString().slice(0, 10)}..2027-01-31`;
  const [purchase] = await unsettled(w);
  await w.run("settle", purchase.id, "--not-applied", "--reason", "it is not there");
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  amend(w, "1", { customer: "C1", price: "21.00" });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const rows = (await stated(w, "orders", nextDay)).map((row) => [row.customer, row.amount_before, row.amount_after]);
  expect(rows).toEqual([
    ["crm/C1", null, "21.00"],
    ["crm/C2", null, null],
  ]);
});

it("what a quantity brings and takes costs what it costs, and nothing else is repriced", async () => {
  const w = await placedOrders({ first: whole(4), staff: [] });
  rule(w, "orders.ended", "apply");
  amend(w, "1", whole(6));
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  amend(w, "1", whole(3));
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await linesOf(w)).toEqual([
    ["amended", 2, 2, "14.00"],
    ["ended", -1, 1, "-7.00"],
    ["ended", -2, 2, "-14.00"],
  ]);
  const [order] = await stated(w, "orders");
  expect(order).toMatchObject({ events: 3, amount_after: "21.00", lines_amount: "21.00", verdict: "agrees" });
});

it("a line of which fewer units cost the same, or more each, says so", async () => {
  const w = await placedOrders({ first: whole(4), staff: [] });
  rule(w, "orders.ended", "apply");
  const priced = (count: number, price: string) => ({
    price,
    ...units(count),
    products: [line("P1", "A1", { price })],
  });
  amend(w, "1", priced(3, "28.00"));
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  amend(w, "1", priced(2, "20.00"));
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const lines = await linesOf(w);
  expect(lines[0]).toEqual(["ended", -1, 1, "0.00"]);
  expect(lines.slice(1)).toEqual([
    ["ended", -1, 1, "-9.34"],
    ["repriced", 0, 2, "1.34"],
  ]);
});

it("where only the order's own amount changes, no line is told of", async () => {
  const w = await placedOrders({ first: whole(2), staff: [] });
  amend(w, "1", { price: "15.00" });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await linesOf(w)).toEqual([]);
  const [order] = await stated(w, "orders");
  expect(order).toMatchObject({ events: 1, amount_after: "15.00", lines_amount: "14.00", verdict: "differs" });
});

it("an order that was restored before anything of it was removed needed nothing, whatever is bought later", async () => {
  const w = await placedOrders({ staff: [] });
  rule(w, "orders.cancelled", "ask");
  amend(w, "1", { cancelled: true });
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  amend(w, "1", { cancelled: false });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await linesOf(w)).toEqual([]);
  amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await linesOf(w)).map(([event]) => event)).toEqual(["amended"]);
});

it("an order that was cancelled, removed and restored with another amount is bought at it, which never changed", async () => {
  const w = await placedOrders({ first: whole(2), staff: [] });
  rule(w, "orders.cancelled", "apply");
  amend(w, "1", { cancelled: true });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  amend(w, "1", { cancelled: false, price: "21.00" });
  for (let run = 0; run < 2; run += 1) expect((await w.run("run", "everything")).exitCode).toBe(0);
  const [order] = await stated(w, "orders");
  expect(order).toMatchObject({ events: 3, amount_after: "21.00" });
  expect((await w.run("explain", "order", "1")).stdout).not.toContain("amounts changed");
});

it("the amount of a whole order is recorded once what it is for was bought", async () => {
  const w = await placedOrders({ first: whole(2), staff: [] });
  rule(w, "orders.added", "ask");
  amend(w, "1", whole(4));
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  const now = async (): Promise<unknown> => {
    const [order] = await stated(w, "orders");
    return [order?.amount_after, order?.lines_amount];
  };
  expect(await now()).toEqual(["14.00", "14.00"]);
  const hold = await openHold(w);
  expect((await w.run("reject", hold, "--reason", "not paid for")).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await now()).toEqual(["14.00", "14.00"]);
  expect((await w.run("reject", hold, "--withdraw", "--reason", "paid by now")).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  expect((await w.run("approve", await openHold(w), "--reason", "paid")).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await now()).toEqual(["28.00", "28.00"]);
});
