import { expect, it } from "vitest";
import { document, world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import type { ProductRow } from "../../support/world/crm.ts";

const because = ["--reason", "the service desk did it", "--by", "anna"];
const resolve = ["resolve", "order:O1", "--done-by-hand", ...because];

/** Two customers with an order each of two assets, whose products are told apart; nothing of an amendment is sent. */
async function synchronised(): Promise<World> {
  const crm = company(2, 2);
  const products = (order: string): ProductRow[] =>
    ["A1", "A2"].map((asset) => ({ id: `${order}-${asset}-P`, parent: `${order}-${asset}`, pid: `PID-${asset}` }));
  const w = await world({
    records: { ...crm, orders: crm.orders.map((row) => ({ ...row, products: products(row.id) })) },
  });
  const { exitCode, stdout } = await w.run("run", "everything");
  expect(exitCode, stdout).toBe(0);
  const told = ["added", "ended", "cancelled", "replaced"].map((name) => `${name}: report`).join(", ");
  w.extra = `policies: { orders: { ${told} } }\n`;
  return w;
}

const numberOf = (w: World, instance: string): string =>
  w.rows<{ number: string }>("select wire_number as number from asset_number where instance_id = ?", instance)[0]
    ?.number ?? "";

function productsOf(w: World): ProductRow[] {
  const [order] = w.orders;
  return order?.products ?? [];
}

/** The next run sends nothing, has nothing to say of the order, and finds everything as it was bought. */
async function expectAgreed(w: World): Promise<void> {
  const then = await w.does("run", "everything");
  expect([then.exitCode, then.calls], then.stdout).toEqual([0, {}]);
  expect(document(await w.run("explain", "order", "O1", "--json")).record.deferred).toBeNull();
  const verified = await w.run("run", "verify");
  expect(verified.exitCode, verified.stdout).toBe(0);
}

it("an order line that somebody changed on the platform counts once M7 shows it so", { tags: "long" }, async () => {
  const w = await synchronised();
  const [line] = productsOf(w);
  if (line !== undefined) line.nodes = 9;
  w.write();
  expect((await w.does("run", "everything")).calls).toEqual({});
  const early = await w.does(...resolve);
  expect([early.exitCode, early.calls], early.stderr).toEqual([3, {}]);
  expect(early.stdout).toContain("M7 shows the product O1-A1-P otherwise than the CRM has it");
  expect(w.rows("select 1 from order_step")).toEqual([]);

  const assetNum = numberOf(w, "O1-A1");
  w.sandbox.hand({
    action: "change-product",
    assetNum,
    crmProductId: "O1-A1-P",
    fields: { limitConcurrent: 9 },
  });
  const resolved = await w.does(...resolve);
  expect([resolved.exitCode, resolved.calls], resolved.stdout + resolved.stderr).toEqual([0, {}]);
  expect(w.rows("select order_id, kind, origin from order_step order by number")).toEqual([
    { order_id: "O1", kind: "removed", origin: "by-hand" },
    { order_id: "O1", kind: "bought", origin: "by-hand" },
  ]);
  await expectAgreed(w);
  expect((await w.run(...resolve)).stderr).toContain("stands as the CRM has it");
});

it(
  "a line that somebody took away on the platform counts once M7 no longer shows it; its neighbour does not",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    const [order] = w.orders;
    if (order !== undefined) order.products = productsOf(w).filter((line) => line.parent === "O1-A1");
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({});
    const early = await w.run(...resolve);
    expect([early.exitCode, early.stdout]).toEqual([3, expect.stringContaining("M7 still shows the product O1-A2-P")]);
    const neighbour = await w.run("resolve", "order:O2", "--done-by-hand", ...because);
    expect([neighbour.exitCode, neighbour.stderr]).toEqual([64, expect.stringContaining("stands as the CRM has it")]);
    w.sandbox.hand({ action: "drop-product", assetNum: numberOf(w, "O1-A2"), crmProductId: "O1-A2-P" });
    const resolved = await w.run(...resolve);
    expect(resolved.exitCode, resolved.stdout + resolved.stderr).toBe(0);
    const then = await w.does("run", "everything");
    expect([then.exitCode, then.calls], then.stdout).toEqual([0, {}]);
  },
);

it("what M6 does not list any more proves nothing: a cancelled order counts by a person's word, and is marked so", async () => {
  const w = await synchronised();
  const [order] = w.orders;
  if (order !== undefined) order.cancelled = true;
  w.staff = w.staff.filter((row) => row.customer !== "C1");
  w.write();
  await w.run("run", "everything");
  for (const instance of ["O1-A1", "O1-A2"]) w.sandbox.hand({ action: "drop-asset", assetNum: numberOf(w, instance) });
  const resolved = await w.does(...resolve);
  expect([resolved.exitCode, resolved.calls], resolved.stdout + resolved.stderr).toEqual([0, {}]);
  expect(resolved.stdout.replaceAll(/\s+/gu, " ")).toContain("by your word alone: that the product O1-A1-P is gone");
  const { byHand } = document(await w.run("explain", "order", "O1", "--json"));
  expect(byHand).toMatchObject({ by: "anna", unseen: [expect.any(String), expect.any(String)] });
  expect((await w.does("run", "everything")).calls).toEqual({});
});

it(
  "a line that somebody added on the platform counts once M7 shows it under the asset, with the nodes of the CRM",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    const [order] = w.orders;
    const line = { id: "O1-A1-Q", parent: "O1-A1", pid: "PID-Q", nodes: 4 };
    if (order !== undefined) order.products = [...productsOf(w), line];
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({});
    const early = await w.run(...resolve);
    expect([early.exitCode, early.stdout]).toEqual([
      3,
      expect.stringContaining("M7 does not show the product O1-A1-Q"),
    ]);
    const fields = { crmProductId: "O1-A1-Q", productUri: "PID-Q", gmsPid: "PID-Q", productName: "Product O1-A1-Q" };
    const like = "O1-A1-P";
    const add = (assetNum: string, nodes: number): void =>
      void w.sandbox.hand({ action: "add-product", assetNum, like, fields: { ...fields, limitConcurrent: nodes } });
    add(numberOf(w, "O1-A1"), 5);
    expect((await w.run(...resolve)).stdout).toContain("M7 shows the product O1-A1-Q otherwise than the CRM has it");
    w.sandbox.hand({
      action: "change-product",
      assetNum: numberOf(w, "O1-A1"),
      crmProductId: "O1-A1-Q",
      fields: { limitConcurrent: 4 },
    });
    const resolved = await w.does(...resolve);
    expect([resolved.exitCode, resolved.calls], resolved.stdout + resolved.stderr).toEqual([0, {}]);
    await expectAgreed(w);
  },
);

it(
  "an extension that nobody made does not count as done by hand, where M7 shows the old end",
  { tags: "long" },
  async () => {
    const line = (id: string, limitEnd: string, years: number): ProductRow[] => [
      { id: `P${id}`, parent: `A${id}`, pid: `PID-${id}`, limitStart: "2026-01-01T00:00:00Z", limitEnd, years },
    ];
    const order = (id: string) => ({ id: `O${id}`, customer: `C${id}`, assets: [`A${id}`] });
    const until = (limitEnd: string, years: number) =>
      ["1", "2"].map((id) => ({ ...order(id), products: line(id, limitEnd, years) }));
    const w = await world({
      records: { customers: [{ id: "C1" }, { id: "C2" }], orders: until("2027-01-01T00:00:00Z", 1), staff: [] },
    });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    w.extra = "policies: { orders: { added: report, replaced: report, ended: report } }\n";
    w.orders = until("2028-01-01T00:00:00Z", 2);
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({});
    const early = await w.does(...resolve);
    expect([early.exitCode, early.calls], early.stdout + early.stderr).toEqual([3, {}]);
    expect(early.stdout).toContain("M7 shows the product P1 otherwise than the CRM has it (limitEnd");
    expect(w.rows("select 1 from order_step")).toEqual([]);

    const fields = { limitEndDate: Date.parse("2028-01-01T00:00:00Z"), timeDurationExpression: "2-0-0" };
    w.sandbox.hand({ action: "change-product", assetNum: numberOf(w, "A1"), crmProductId: "P1", fields });
    const resolved = await w.does(...resolve);
    expect([resolved.exitCode, resolved.calls], resolved.stdout + resolved.stderr).toEqual([0, {}]);
    const { byHand } = document(await w.run("explain", "order", "O1", "--json"));
    expect(byHand, "M7 tells the end and the term").toMatchObject({ by: "anna", unseen: ["timeUnitQuantity of P1"] });
    expect(document(await w.run("explain", "order", "O2", "--json")).record.deferred.code).toBe("policy.reported");
  },
);

it(
  "more of an asset counts as done by hand once M7 shows as many of it as the CRM has, each under a number of its own",
  { tags: "long" },
  async () => {
    const order = (id: string, quantity: number) => ({
      id: `O${id}`,
      customer: `C${id}`,
      assets: [{ id: `A${id}`, quantity }],
    });
    const w = await world({
      records: { customers: [{ id: "C1" }, { id: "C2" }], orders: [order("1", 1), order("2", 1)], staff: [] },
    });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    w.extra = "policies: { orders: { added: report } }\n";
    w.orders = [order("1", 3), order("2", 1)];
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({});
    const refused = async (what: string): Promise<void> => {
      const early = await w.does(...resolve);
      expect([early.exitCode, early.calls], `${what}: ${early.stdout}${early.stderr}`).toEqual([3, {}]);
      expect(early.stdout, what).toContain("M7 does not show the product A1-P");
      expect(w.rows("select 1 from order_step"), what).toEqual([]);
    };
    const add = (assetNum: string): void =>
      void w.sandbox.hand({ action: "add-asset", like: numberOf(w, "A1"), assetNum });
    await refused("the asset that stands is no other one");
    add("8999999991");
    await refused("one of two is there");
    add("8999999992");
    const resolved = await w.does(...resolve);
    expect([resolved.exitCode, resolved.calls], resolved.stdout + resolved.stderr).toEqual([0, {}]);
    await expectAgreed(w);
  },
);
