import { expect, it } from "vitest";
import type { Period, Row } from "../../../src/report/statement/shape.ts";
import { numberOf, openHold } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import { orderRow } from "../../support/world/crm.ts";
import { amend, line, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";
import { cells, statementOf } from "./statement-world.ts";

/** What stood at a moment, by the platform and by the rows of the CRM. */
interface Moment {
  at: string;
  products: number;
  assignments: number;
  nodes: number;
  cents: number;
}

function momentOf(w: World): Moment {
  w.clock.at += 1_000;
  const at = new Date(w.clock.now()).toISOString();
  const { products, assignments } = standing(w);
  const lines = w.orders.map(orderRow).flatMap((order) =>
    order.products.map((product) => ({
      product,
      units: order.assets.find(({ id }) => id === product.parent)?.quantity ?? 1,
    })),
  );
  return {
    at,
    products: Number(products),
    assignments: Number(assignments),
    nodes: lines.reduce((sum, { product, units }) => sum + (product.nodes ?? 0) * units, 0),
    cents: lines.reduce((sum, { product }) => sum + Math.round(Number(product.price ?? 0) * 100), 0),
  };
}

const priced = (id: string, price: string) => line(id, `A${id.slice(1)}`, { price });

/** Runs everything, with what is held of it approved by a person. */
async function carriedOut(w: World): Promise<void> {
  const run = await w.run("run", "everything");
  if (run.exitCode === 0) return;
  expect((await w.run("approve", await openHold(w), "--reason", "asked the customer")).exitCode, run.stdout).toBe(0);
  const then = await w.run("run", "everything");
  expect(then.exitCode, then.stdout + then.stderr).toBe(0);
}

async function lostAndBoughtAgain(w: World): Promise<void> {
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  w.sandbox.hand({ action: "drop-product", assetNum: numberOf(w, "A1"), crmProductId: "P1" });
  expect((await w.run("run", "verify")).exitCode).toBe(3);
  const products = w.orders.find(({ id }) => id === "1")?.products ?? [];
  amend(w, "1", { products: products.filter(({ id }) => id !== "P1") });
  await carriedOut(w);
  amend(w, "1", { products });
  await carriedOut(w);
}

const sum = (rows: readonly Row[] | undefined, name: string): number =>
  (rows ?? []).reduce((total, row) => total + Number(row[name] ?? 0), 0);

it(
  "closes with what the platform shows and what the CRM's rows cost, after each of three times",
  { tags: "long" },
  async () => {
    const begun = "2026-11-01T00:00:00.000Z";
    const w = await placedOrders({ first: { products: [priced("P1", "100.01"), priced("Q1", "20.00")] } });
    w.orders = [
      ...w.orders,
      orderOf("3", "C2", { assets: [{ id: "A3", quantity: 2 }], products: [priced("P3", "99.99")] }),
    ];
    w.write();
    await carriedOut(w);
    const placed = momentOf(w);

    rule(w, "orders.ended", "apply");
    amend(w, "1", { products: [priced("P1", "100.01"), priced("Q1", "30.00"), priced("R1", "7.77")] });
    amend(w, "2", { products: [line("P2", "A2")] });
    amend(w, "3", { assets: [{ id: "A3", quantity: 3 }] });
    w.staff = w.staff.map((one) => (one.id === "S2" ? { ...one, holds: [] } : one));
    w.write();
    await carriedOut(w);
    const amended = momentOf(w);

    await lostAndBoughtAgain(w);
    const boughtAgain = momentOf(w);

    let before: Moment = { at: begun, products: 0, assignments: 0, nodes: 0, cents: 0 };
    for (const now of [placed, amended, boughtAgain]) {
      const period: Period = { label: now.at, zone: "Europe/Berlin", from: before.at, to: now.at };
      const path = w.path("ledger.db");
      const { entitlements, check } = await statementOf(path, "entitlements", period);
      expect([sum(entitlements, "units_opening"), sum(entitlements, "units_closing")]).toEqual([
        before.products,
        now.products,
      ]);
      expect([sum(entitlements, "nodes_opening"), sum(entitlements, "nodes_closing")]).toEqual([
        before.nodes,
        now.nodes,
      ]);
      // Each asset has one product that is called so.
      const seats = entitlements?.filter((row) => String(row["product"]).startsWith("Product P"));
      expect([sum(seats, "seats_opening"), sum(seats, "seats_closing")]).toEqual([before.assignments, now.assignments]);
      expect(cells(check, "verdict").flat()).toEqual(Array.from({ length: 6 }, () => "agrees"));

      const { lines, licences, orders } = await statementOf(path, "orders", period);
      expect(sum(lines, "units")).toBe(now.products - before.products);
      expect(sum(lines, "nodes")).toBe(now.nodes - before.nodes);
      expect(sum(lines, "amount")).toBe(now.cents - before.cents);
      const signs: Record<string, number> = { granted: 1, revoked: -1 };
      const held = (licences ?? []).reduce((total, row) => total + (signs[String(row["event"])] ?? Number.NaN), 0);
      expect(held).toBe(now.assignments - before.assignments);
      for (const row of lines ?? []) {
        expect(Object.keys(w.sandbox.state().orders)).toContain(row["channel_order_id"]);
        if (row["origin"] === "sent") expect(row["operation"] !== null && row["audit_sequence"] !== null).toBe(true);
        if (row["units"] !== 0) expect(row["asset_numbers"]).toHaveLength(Math.abs(Number(row["units"])));
      }
      expect(cells(orders, "verdict").flat()).toEqual((orders ?? []).map(() => "not given"));
      before = now;
    }
    const last = { label: "last", zone: "UTC", from: amended.at, to: boughtAgain.at };
    expect(
      cells((await statementOf(w.path("ledger.db"), "orders", last))["lines"], "event", "product_id", "units"),
    ).toEqual([
      ["found-gone", "P1", -1],
      ["amended", "P1", 1],
    ]);
    expect(
      cells(
        (await statementOf(w.path("ledger.db"), "entitlements", last))["by_product"],
        "product",
        "units_granted",
        "units_adjusted",
      ),
    ).toContainEqual(["Product P1", 1, -1]);
  },
);
