import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { world } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import { amend, line, orderOf, rule, standing, waitsFor } from "./placed-orders.ts";

const packages = ["K1", "K2"].map((id) => ({ id, parent: "A1" }));
const inPackages = [line("X1", "K1"), line("X2", "K2")];

/** Two customers; the first has an asset with packages alone, of which E5 repeats the products in the asset (A23). */
async function repeated(): Promise<World> {
  const w = await world({
    records: {
      customers: [{ id: "C1" }, { id: "C2" }],
      orders: [orderOf("1", "C1", { packages, products: inPackages }), orderOf("2", "C2")],
      staff: [{ id: "S2", customer: "C2", holds: ["A2"] }],
    },
  });
  Object.assign(w.environment, {
    CRM_SYNC__assumptions__packageOnly: "repeat",
    CRM_SYNC__assumptions__packageOnlyParent: "asset",
  });
  for (const name of ["orders.cancelled", "orders.ended", "orders.added"]) rule(w, name, "apply");
  const first = await w.does("run", "everything");
  expect(first.exitCode, first.stdout).toBe(0);
  expect(standing(w)).toMatchObject({ products: 6, assets: 2 });
  return w;
}

it(
  "an order whose packages are repeated in the asset is taken away whole once it is cancelled",
  { tags: "long" },
  async () => {
    const w = await repeated();
    amend(w, "1", { cancelled: true });
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 1 }]);
    expect(standing(w)).toMatchObject({ products: 2, assets: 1 });
    expect(w.rows("select sum(json_array_length(items)) as items from order_step where kind = 'removed'")).toEqual([
      { items: 1 },
    ]);
    const next = await w.does("run", "everything");
    expect([next.exitCode, next.calls], next.stdout).toEqual([0, {}]);
  },
);

it(
  "a package that is repeated in the asset ends once a person has approved that, both times that it is shown",
  { tags: "long" },
  async () => {
    const w = await repeated();
    amend(w, "1", { packages: packages.slice(0, 1), products: inPackages.slice(0, 1) });
    const held = await w.does("run", "everything");
    expect([held.exitCode, held.calls], held.stdout).toEqual([4, {}]);
    expect((await w.run("status")).stdout).toContain("1 product");
    const [operation] = w.rows<{ id: string; kind: string }>("select id, kind from operation where state = 'held'");
    expect(operation?.kind).toBe("delete-package-products");
    expect((await w.run("approve", operation?.id ?? "", "--reason", "asked the customer")).exitCode).toBe(0);
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([0, { E5: 1 }]);
    expect(standing(w)).toMatchObject({ products: 4, assets: 2 });
    expect((await w.does("run", "everything")).calls).toEqual({});
  },
);

it(
  "what was bought with packages repeated is left alone where the settings say otherwise by now, and the reason says so",
  { tags: "long" },
  async () => {
    const w = await repeated();
    w.environment["CRM_SYNC__assumptions__packageOnly"] = "block";
    amend(w, "1", { cancelled: true });
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls).toEqual({});
    expect(waitsFor(w, "1")).toBe("order.shown-differently");
    expect((await w.run("explain", "order", "1")).stdout.replaceAll(/\s+/gu, " ")).toContain("(A23) to repeat");
    expect(standing(w)).toMatchObject({ products: 6, assets: 2 });
  },
);

it("a product of a package that somebody put into the asset once more with other nodes is not taken for a repeated one", async () => {
  const w = await repeated();
  const number = w.rows<{ number: string }>(
    "select wire_number as number from asset_number where instance_id = 'A1' and fixed_at is not null",
  )[0]?.number;
  const fields = { limitConcurrent: 9 };
  w.sandbox.hand({ action: "show-product", assetNum: number ?? "", crmProductId: "X1", fields });
  amend(w, "1", { cancelled: true });
  expect((await w.does("run", "everything")).calls).toEqual({});
  expect(waitsFor(w, "1")).toBe("order.shown-differently");
});

it(
  "what is repeated in the asset is not told of when everything is read back, and what is there once more is",
  { tags: "long" },
  async () => {
    const w = await repeated();
    const verified = await w.run("run", "verify");
    expect([verified.exitCode, verified.stdout]).toEqual([0, expect.not.stringContaining("not as placed")]);
    const products = async () => {
      const items = await statementRows(w, "reconciliation", "items");
      return items.filter((row) => row["level"] === "product");
    };
    const whole = await products();
    expect(whole.length).toBeGreaterThan(0);
    expect(whole.filter(({ verdict }) => verdict !== "matched")).toEqual([]);
    expect(JSON.stringify(whole)).not.toContain("an old and a new form");
    w.sandbox.hand({ action: "add-product", assetNum: "8000000001", like: "X1", fields: {} });
    const again = await w.run("run", "verify");
    expect([again.exitCode, again.stdout]).toEqual([3, expect.stringContaining("asset number 3 times")]);
  },
);
