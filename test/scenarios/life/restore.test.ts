import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { amend, line, numberOf, openHold, placedOrders, rule, standing } from "./placed-orders.ts";

/** Channel order numbers on the platform, purchases and deletions. */
function numbers(w: World): string[] {
  const { orders, deletions } = w.sandbox.state();
  return [...Object.keys(orders), ...Object.keys(deletions)].toSorted();
}

it(
  "an order that is restored after its assets were deleted is bought under a number of its own, never its first again",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    const before = standing(w);
    const first = numberOf(w, "A1");
    amend(w, "1", { cancelled: true });
    expect((await w.does("run", "everything")).calls).toEqual({});
    await w.run("approve", openHold(w), "--reason", "asked the customer");
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    expect(standing(w)).toMatchObject({ products: 2, assets: 1 });

    amend(w, "1", { cancelled: false });
    const restored = await w.does("run", "everything");
    expect(restored.exitCode, restored.stdout).toBe(0);
    expect(restored.calls).toMatchObject({ E5: 1, M9: 1 });
    expect(standing(w)).toEqual(before);
    expect(numbers(w)).toEqual(["1", "1-1", "1-2", "2"]);
    expect(numberOf(w, "A1"), "a number of the pool is not used again").not.toBe(first);
    for (const _ of [2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});
    const { stdout } = await w.run("explain", "order", "1");
    expect(stdout).toMatch(/: gone, 1 item\(s\), operation op_/u);
    expect(stdout).toMatch(/: bought as 1-2, 2 item\(s\), operation op_/u);
    expect(stdout).toMatch(/asset number \d+ for instance A1 \(from the pool\), ended /u);
  },
);

it(
  "an order that is cancelled and restored before anybody approved it stays as it is, and the hold lapses",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    const before = standing(w);
    amend(w, "1", { cancelled: true });
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    amend(w, "1", { cancelled: false });
    const restored = await w.does("run", "everything");
    expect([restored.exitCode, restored.calls], restored.stdout).toEqual([0, {}]);
    expect(standing(w)).toEqual(before);
    expect(w.rows("select id from hold where state = 'open'")).toEqual([]);
  },
);

it(
  "an amended order that is cancelled loses what each of its purchases brought, and nothing of its neighbour",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    rule(w, "orders.cancelled", "apply");
    amend(w, "1", { cancelled: true });
    const run = await w.does("run", "everything");
    // The CRM still says that a person should have what it cancelled: that person is told of.
    expect(run.exitCode, run.stdout).toBe(3);
    expect(run.stdout).toContain("1 staff member is deferred (asset.ended)");
    expect(standing(w)).toMatchObject({ products: 2, assets: 1, assignments: 1 });
    expect(w.rows("select products from placed_order order by order_id")).toEqual([{ products: 0 }, { products: 2 }]);
    for (const _ of [2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});
  },
);

it("an extension is bought beside the old term, which goes once M7 shows the new one", { tags: "long" }, async () => {
  const ends = (limitEnd: string, years: number) => [
    line("P1", "A1", { limitStart: "2026-01-01T00:00:00Z", limitEnd, years }),
    line("Q1", "A1"),
  ];
  const w = await placedOrders({ first: { products: ends("2027-01-01T00:00:00Z", 1) } });
  rule(w, "orders.replaced", "apply");
  amend(w, "1", { products: ends("2028-01-01T00:00:00Z", 2) });
  for (let run = 0; run < 3; run += 1) await w.does("run", "everything");
  expect(standing(w)).toEqual({ products: 4, assets: 2, assignments: 2 });
  expect(numbers(w)).toEqual(["1", "1-1", "1-2", "2"]);
  const last = await w.does("run", "everything");
  expect([last.exitCode, last.calls], last.stdout).toEqual([0, {}]);
});

it("an order that left the CRM and was taken away is bought again when it comes back as it was", async () => {
  const w = await placedOrders();
  const before = standing(w);
  const all = w.orders;
  rule(w, "orders.gone", "apply");
  w.staff = w.staff.filter((person) => person.customer !== "C1");
  w.orders = all.filter((order) => order.id !== "1");
  w.write();
  for (const _ of [1, 2, 3]) await w.run("run", "everything");
  expect(standing(w).products).toBeLessThan(Number(before["products"]));
  w.orders = all;
  w.write();
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 1 }]);
  expect(standing(w).products).toBe(before["products"]);
});

it(
  "a customer whose cancelled order leaves the CRM after it was taken away goes on to be worked on",
  { tags: "long" },
  async () => {
    const w = await placedOrders();
    amend(w, "1", { cancelled: true });
    await w.run("run", "everything");
    await w.run("approve", openHold(w), "--reason", "asked");
    await w.run("run", "everything");
    w.orders = w.orders.filter((order) => order.id !== "1");
    w.staff = w.staff.filter((person) => person.customer !== "C1");
    w.write();
    for (const _ of [1, 2, 3]) await w.run("run", "everything");
    const entries = w.rows("select count(*) as count from audit where kind = 'learned'");
    w.orders = [...w.orders, { id: "9", customer: "C1", assets: ["9-A1"] }];
    w.write();
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 1 }]);
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(entries).not.toEqual([{ count: 0 }]);
  },
);
