import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import type { AssetRow, GivenOrder, ProductRow } from "../../support/world/crm.ts";

const line = (id: string, parent: string, more: Partial<ProductRow> = {}): ProductRow => ({
  id,
  parent,
  pid: `PID-${id}`,
  ...more,
});

/** Two customers with an order each, of one asset with two products that nothing confuses. */
function order(id: string, customer: string, more: Partial<GivenOrder> = {}): GivenOrder {
  const assets = [`A${id}`];
  return { id, customer, assets, products: [line(`P${id}`, `A${id}`), line(`Q${id}`, `A${id}`)], ...more };
}

async function placed(): Promise<World> {
  const w = await world({
    records: {
      customers: [{ id: "C1" }, { id: "C2" }],
      orders: [order("1", "C1"), order("2", "C2")],
      staff: [{ id: "S1", customer: "C1", holds: ["A1"] }],
    },
  });
  const first = await w.does("run", "everything");
  expect(first.exitCode, first.stdout).toBe(0);
  return w;
}

function amend(w: World, more: Partial<GivenOrder>): void {
  w.orders = w.orders.map((item) => (item.id === "1" ? { ...item, ...more } : item));
  w.write();
}

const steps = "select kind, channel_order_id as number, json_array_length(items) as items, origin from order_step";

it(
  "an added product is bought under the number that is there, once, and nothing else moves",
  { tags: "long" },
  async () => {
    const w = await placed();
    const before = w.sandbox.state();
    amend(w, { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1", { nodes: 9 })] });
    const planned = await w.run("plan", "--customer", "C1");
    expect(planned.stdout, planned.stderr).toContain("1 product(s) more");
    const run = await w.does("run", "everything");
    expect(run.exitCode, run.stdout).toBe(0);
    expect(run.calls).toEqual({ E5: 1 });
    const after = w.sandbox.state();
    const { orders, products, licenseOrders } = after;
    expect(after).toEqual({
      ...before,
      orders,
      products: before.products + 1,
      licenseOrders: before.licenseOrders + 1,
    });
    expect(products).toBe(before.products + 1);
    expect(Object.keys(orders).toSorted()).toEqual(["1", "1-1", "2"]);
    expect(licenseOrders).toBe(before.licenseOrders + 1);
    expect(w.rows(steps)).toEqual([{ kind: "bought", number: "1-1", items: 1, origin: "sent" }]);
    expect(w.rows("select products, agreed_version as agreed from placed_order order by order_id")).toEqual([
      { products: 3, agreed: 2 },
      { products: 2, agreed: null },
    ]);
    for (const _ of [2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});
  },
);

it("an added unit gets a number of its own, and a package is bought with what is in it", { tags: "long" }, async () => {
  const w = await placed();
  w.environment["CRM_SYNC__assumptions__packageOnly"] = "repeat";
  w.environment["CRM_SYNC__assumptions__packageOnlyParent"] = "package";
  const assets: AssetRow[] = [{ id: "A1", quantity: 2 }];
  const packages = [{ id: "K1", parent: "A1" }];
  amend(w, { assets, packages, products: [line("P1", "A1"), line("Q1", "A1"), line("X1", "K1")] });
  const run = await w.does("run", "everything");
  expect(run.exitCode, run.stdout).toBe(0);
  expect(run.calls).toEqual({ E5: 1 });
  expect(w.rows("select unit from asset_number where instance_id = 'A1' order by unit")).toEqual([
    { unit: 0 },
    { unit: 1 },
  ]);
  expect(w.rows("select products from placed_order where order_id = '1'")).toEqual([{ products: 6 }]);
  for (const _ of [2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});
});

it(
  "what was added is reconciled as what was placed, with the numbers it was bought under",
  { tags: "long" },
  async () => {
    const w = await placed();
    amend(w, { assets: [{ id: "A1", quantity: 2 }], products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] });
    expect((await w.does("run", "everything")).exitCode).toBe(0);
    const verified = await w.run("run", "verify");
    expect(verified.exitCode, verified.stdout).toBe(0);
    const items = await statementRows(w, "reconciliation", "items");
    const rows = items.filter(({ level }) => level === "product" || level === "order");
    expect(rows.length).toBe(10);
    expect(rows.filter(({ verdict }) => verdict !== "matched")).toEqual([]);
    expect(rows.filter((row) => row["crm_order"] === "crm/1" && row["channel_order_id"] === "1-1")).toHaveLength(4);
  },
);

it("two amendments get two numbers, and each is bought once", { tags: "long" }, async () => {
  const w = await placed();
  const products = [line("P1", "A1"), line("Q1", "A1")];
  for (const id of ["R1", "T1"]) {
    products.push(line(id, "A1"));
    amend(w, { products: [...products] });
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
  }
  expect(w.rows(steps)).toMatchObject([{ number: "1-1" }, { number: "1-2" }]);
  expect((await w.does("run", "everything")).calls).toEqual({});
});

it("a changed price is in the ledger, and no call is made", { tags: "long" }, async () => {
  const w = await placed();
  const priced = (price: string) => [line("P1", "A1", { price }), line("Q1", "A1")];
  for (const price of ["100.00", "120.00"]) {
    amend(w, { products: priced(price) });
    const run = await w.does("run", "everything");
    expect(run.exitCode, run.stdout).toBe(0);
    expect(run.calls).toEqual({});
  }
  const lines = await statementRows(w, "orders", "lines");
  expect(lines.filter(({ event }) => event === "repriced")).toMatchObject([
    { product_id: "P1", units: 0, amount: "100.00", currency: "EUR" },
    { product_id: "P1", units: 0, amount: "20.00", currency: "EUR" },
  ]);
  const corrected = (await statementRows(w, "corrections", "corrections")).filter(({ item }) => item === "P1");
  expect(corrected).toMatchObject([
    { field: "amount", before_amount: null, after_amount: "100.00", became: "repriced" },
    { field: "amount", before_amount: "100.00", after_amount: "120.00", became: "repriced" },
  ]);
  const [, last] = w.rows<{ items: string }>("select items from order_step where kind = 'priced' order by number");
  expect(JSON.parse(last?.items ?? "")).toEqual([
    { product: "P1", from: { currency: "EUR", minor: 10_000 }, to: { currency: "EUR", minor: 12_000 } },
  ]);
});

it("another name is told of, and buys nothing", async () => {
  const w = await placed();
  amend(w, { products: [line("P1", "A1", { name: "Estimation" }), line("Q1", "A1")] });
  const run = await w.does("run", "everything");
  expect(run.exitCode, run.stdout).toBe(0);
  expect(run.calls).toEqual({});
  expect(w.rows("select deferred_code as code from record where stream = 'orders' and id = '1'")).toEqual([
    { code: "policy.reported" },
  ]);
});

it("what ends waits for a person, while what is added beside it is bought", { tags: "long" }, async () => {
  const w = await placed();
  amend(w, { products: [line("P1", "A1"), line("R1", "A1")] });
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls]).toEqual([4, { E5: 1 }]);
  expect((await w.does("run", "everything")).calls).toEqual({});
});

it("licence passwords of an added product are kept until it is bought, and wiped then", async () => {
  const w = await placed();
  amend(w, {
    products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1", { passwords: ["zqcanary-licence-R1"] })],
  });
  const run = await w.does("run", "everything");
  expect(run.exitCode, run.stdout).toBe(0);
  expect(run.calls).toEqual({ E5: 1 });
  expect(w.rows("select count(*) as left from private_value where ref like 'orders/%' and sealed is not null")).toEqual(
    [{ left: 0 }],
  );
});

it(
  "a refused amendment is sent once until the order changes, and its number is used by the next one",
  { tags: "long" },
  async () => {
    const w = await placed();
    const more = [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")];
    amend(w, { products: more });
    w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", times: 1 });
    const refused = await w.does("run", "everything");
    expect(refused.exitCode, refused.stdout).toBe(3);
    expect(refused.calls).toEqual({ E5: 1 });
    for (const _ of [2, 3]) expect((await w.does("run", "everything")).calls).toEqual({});
    expect(w.rows("select channel_order_id as number, used_at from amendment_number")).toEqual([
      { number: "1-1", used_at: null },
    ]);
  },
);

it(
  "a transferred product names the licence order that brought it, and waits where that is not known",
  { tags: "long" },
  async () => {
    const w = await placed();
    const [row] = w.rows<{ licence: string }>(
      "select license_order_id as licence from licence_order where order_id = '1'",
    );
    const moved = (instance: string) => line("T3", "A3", { pid: "PID-P1", from: { order: "1", instance } });
    w.orders = [...w.orders, { id: "3", customer: "C1", assets: ["A3"], products: [moved("nothing")] }];
    w.write();
    const waits = await w.does("run", "everything");
    expect(waits.calls).toEqual({});
    expect(waits.stdout).toContain("which licence order brought that is not known");
    w.orders = w.orders.map((item) => (item.id === "3" ? { ...item, products: [moved("P1")] } : item));
    w.write();
    const run = await w.does("run", "everything");
    expect(run.exitCode, run.stdout).toBe(0);
    expect(run.calls).toEqual({ E5: 1 });
    const [sent] = w.rows<{ payload: string }>("select payload from operation where subject = 'order:crm/3'");
    expect(sent?.payload).toContain(`"srcLicenseOrderId":"${row?.licence}"`);
    expect((await w.does("run", "everything")).calls).toEqual({});
  },
);
