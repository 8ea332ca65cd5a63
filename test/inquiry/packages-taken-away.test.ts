import { expect, it } from "vitest";
import type { JsonObject } from "../../src/base/canonical-json.ts";
import { amendedSides } from "../../src/inquiry/order-cases.ts";
import type { StepRow } from "../../src/inquiry/placed-orders.ts";
import { stored } from "../../src/ledger/database/damage.ts";
import type { DesiredOrder } from "../../src/engine/model/desired.ts";
import { amend, line, placedOrders, rule } from "../support/world/placed-orders.ts";
import type { World } from "../support/cli.ts";
import { statementRows } from "../support/statement-rows.ts";
import { asset, bundle, product } from "../support/world/instances.ts";
import { key, orderRecord } from "../support/world/records.ts";

const upper = { id: "K1", parent: "A1" };
const own = line("P1", "A1");
const first = { packages: [upper], products: [own, line("X1", "K1")] };

/** Two units of an asset with a product, and a package with a product and a lower package of two. */
const instances = [
  asset("A1", { quantity: 2 }),
  product("P1", "A1"),
  bundle("K1", "A1"),
  product("X1", "K1"),
  bundle("K2", "K1"),
  product("Y1", "K2"),
  product("Z1", "K2"),
];
const numbers = ["8000000001", "8000000002"];
const sentProducts = (...ids: string[]): JsonObject[] => ids.map((id) => ({ crmProductId: id }));
const lower = { merchandiseNum: "N-K2", licenseOrderProductList: sentProducts("Y1", "Z1"), children: null };
const merchandises = [{ merchandiseNum: "N-K1", licenseOrderProductList: sentProducts("X1"), children: [lower] }];

function payloadFor(assetNos: string[]): string {
  const assets = [{ assetNos, products: sentProducts("P1"), merchandises }];
  return JSON.stringify({ orderList: [{ licenseType: "softkey", assets }] });
}

const step: StepRow = {
  number: 1,
  namespace: "crm",
  order_id: "O1",
  customer_namespace: "crm",
  customer_id: "C1",
  at: "2026-10-01T00:00:00.000Z",
  kind: "removed",
  channel_order_id: null,
  version: null,
  items: "[]",
  licence_orders: "[]",
  operation_id: "op-1",
  forgotten_at: null,
  origin: "sent",
  payload: null,
  form_version: null,
  body: null,
  date_zones: null,
};

/** A step by which products of a unit, or all of it, went. */
function gone(unit: number, ...ids: (string | null)[]): StepRow {
  const item = { instanceId: "A1", unit, number: numbers[unit], channelOrderId: null };
  return { ...step, items: JSON.stringify(ids.map((id) => ({ ...item, product: id }))) };
}

/** A step by which a unit got everything of the form. */
function bought(unit: number, channelOrderId: string, of: Partial<StepRow>): StepRow {
  const item = { instanceId: "A1", unit, number: numbers[unit], products: ["P1"], packages: ["K1"] };
  const body = JSON.stringify(orderRecord("O1", "C1", { instances }));
  const form = { version: 2, body, payload: payloadFor([numbers[unit] ?? ""]) };
  return { ...step, ...form, kind: "bought", channel_order_id: channelOrderId, items: JSON.stringify([item]), ...of };
}

/** What was sent of an order, and what of it stands, by what happened since: each under the end of its number. */
function sidesAfter(rows: StepRow[], { of = instances, payload = payloadFor(numbers) } = {}) {
  const form = stored<DesiredOrder>(JSON.stringify(orderRecord("O1", "C1", { instances: of })));
  const placed = { key: key("O1"), customer: key("C1"), channelOrderId: "1", payload };
  const fixed = numbers.map((number, unit) => ({ number, unit, namespace: "crm", orderId: "O1", instanceId: "A1" }));
  const sides = amendedSides(
    { ...placed, form },
    rows,
    { numbers: fixed, licenceOrders: [] },
    { products: [], packages: [] },
  );
  const named = (items: readonly { id: string; assetNumber: string | null }[]): string[] =>
    items.map(({ id, assetNumber }) => `${id} ${assetNumber?.at(-1)}`).toSorted();
  const { products, packages } = sides;
  expect(named(products.placed), "what stands counts as sent").toEqual(named(products.sent));
  return { products: named(products.sent), packages: named(packages.sent), standing: named(packages.placed) };
}

const second = { products: ["P1 2", "X1 2", "Y1 2", "Z1 2"], packages: ["N-K1 2", "N-K2 2"] };

it("a package of which one product went stays, with the other one", () => {
  const sides = sidesAfter([gone(0, "Z1"), gone(1, null)]);
  const packages = ["N-K1 1", "N-K2 1"];
  expect(sides).toEqual({ products: ["P1 1", "X1 1", "Y1 1"], packages, standing: packages });
});

it("a lower package goes with its last product, and an upper one with the last of all that is in it", () => {
  const lowerGone = sidesAfter([gone(0, "Z1", "Y1"), gone(1, null)]);
  expect(lowerGone).toEqual({ products: ["P1 1", "X1 1"], packages: ["N-K1 1"], standing: ["N-K1 1"] });
  const upperLeft = sidesAfter([gone(0, "X1", "Z1"), gone(1, null)]);
  expect(upperLeft.packages).toEqual(["N-K1 1", "N-K2 1"]);
  const allGone = sidesAfter([gone(0, "X1", "Y1", "Z1"), gone(1, null)]);
  expect(allGone).toEqual({ products: ["P1 1"], packages: [], standing: [] });
});

it("of two units the one that lost its package, or went whole, has none, and the other one has", () => {
  const lost = sidesAfter([gone(0, "X1", "Y1", "Z1")]);
  expect(lost).toEqual({ ...second, products: ["P1 1", ...second.products], standing: second.packages });
  expect(sidesAfter([gone(0, null)])).toEqual({ ...second, standing: second.packages });
});

it("a package counts by the purchase of which something in it stands", () => {
  const again = sidesAfter([gone(0, null), bought(0, "1-1", {})]);
  expect(again.packages).toEqual(["N-K1 1", "N-K1 2", "N-K2 1", "N-K2 2"]);
  const both = sidesAfter([bought(0, "1-1", {})]);
  expect(both.packages.filter((name) => name === "N-K1 1")).toHaveLength(2);
});

it("a package without a product stands as long as its unit does", () => {
  const empty = [{ merchandiseNum: "N-K3", licenseOrderProductList: [], children: null }];
  const assets = [{ assetNos: numbers, products: sentProducts("P1"), merchandises: empty }];
  const payload = JSON.stringify({ orderList: [{ licenseType: "softkey", assets }] });
  const of = [asset("A1", { quantity: 2 }), product("P1", "A1"), bundle("K3", "A1")];
  expect(sidesAfter([gone(0, null)], { of, payload }).packages).toEqual(["N-K3 2"]);
});

/** What the statement says of the first order, its products and its packages: in how many units each of them stands. */
async function told(w: World): Promise<Record<string, number>> {
  const verified = await w.run("run", "verify");
  expect([verified.exitCode, verified.stdout]).toEqual([0, expect.not.stringContaining("not as placed")]);
  const rows = (await statementRows(w, "reconciliation", "items")).filter((row) => row["crm_order"] === "crm/1");
  const all = rows
    .filter(({ level }) => level !== "assignment")
    .map((row) => [row["level"], row["product_number"], row["verdict"]].filter((word) => word !== null).join(" "));
  return Object.fromEntries([...Map.groupBy(all, (text) => text)].map(([text, same]) => [text, same.length]));
}

const whole = { "order matched": 1, "product PID-P1 matched": 1, "product PID-X1 matched": 1 };

it(
  "a package that a person let go with its last product is gone, and the order is as meant",
  { tags: "long" },
  async () => {
    const w = await placedOrders({ first });
    expect(await told(w)).toEqual({ ...whole, "package K1 matched": 1 });
    amend(w, "1", { packages: [], products: [own] });
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    const [held] = w.rows<{ id: string }>("select id from operation where state = 'held'");
    expect((await w.run("approve", held?.id ?? "", "--reason", "asked the customer")).exitCode).toBe(0);
    expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
    expect(await told(w)).toEqual({ "order matched": 1, "product PID-P1 matched": 1 });
  },
);

it(
  "a package stays in the unit that stands, and is gone with the unit that went, whoever gave its number",
  { tags: "long" },
  async () => {
    for (const given of [undefined, ["7000000001", "7000000002"]]) {
      const units = { id: "A1", quantity: 2, ...(given && { numbers: given }) };
      const w = await placedOrders({ first: { ...first, assets: [units] }, staff: [] });
      rule(w, "orders.ended", "apply");
      amend(w, "1", { assets: [{ id: "A1", quantity: 1, ...(given && { numbers: given.slice(0, 1) }) }] });
      expect((await w.does("run", "everything")).calls).toEqual({ E5: 1 });
      expect(await told(w)).toEqual({ ...whole, "package K1 matched": 1 });
    }
  },
);
