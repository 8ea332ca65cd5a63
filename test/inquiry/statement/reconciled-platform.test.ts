import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { isJsonObject } from "../../../src/base/canonical-json.ts";
import type { Row, StatementRequest } from "../../../src/report/statement/shape.ts";
import { world, worldConfiguration, type World } from "../../support/cli.ts";
import { PlatformView, readOrderBodies } from "../../support/platform-view.ts";
import type { GivenOrder, ProductRow } from "../../support/world/crm.ts";
import { fileSource } from "../../support/world/crm-files.ts";
import { canaries } from "../../support/world/records.ts";
import { summaryFrom, summaryOf } from "./added-up.ts";
import { cells, stated } from "./stated.ts";

/** An order as this CRM exports it: with what it costs, as decimals, and in which currency. */
interface PricedOrder extends GivenOrder {
  total: string;
  currency: string;
}

const november: StatementRequest["period"] = {
  label: "now",
  zone: "UTC",
  from: "2026-11-01T00:00:00.000Z",
  to: "2026-12-01T00:00:00.000Z",
};

/** The products of the first order; one costs what is given in all its units together, the other one nothing. */
function lines(price: string): ProductRow[] {
  return [
    { id: "A1-P", parent: "A1", price },
    { id: "B1-P", parent: "B1" },
  ];
}

/** Two customers, whose orders cost euros and dollars, and one whose order is of a type that nothing shows. */
async function pricedWorld(): Promise<World & { orders: PricedOrder[] }> {
  const orders: PricedOrder[] = [
    { id: "1", customer: "C1", assets: ["A1", "B1"], products: lines("10.00"), total: "5.94", currency: "EUR" },
    { id: "2", customer: "C2", assets: ["A2"], total: "250.00", currency: "USD" },
    { id: "3", customer: "C2", assets: [{ id: "A3", type: "softkey" }], total: "-3.00", currency: "USD" },
  ];
  const w = await world({
    records: {
      customers: [{ id: "C1" }, { id: "C2" }],
      orders,
      staff: [
        { id: "S1", customer: "C1", holds: ["A1"] },
        { id: "S2", customer: "C1", holds: ["B1"] },
        { id: "S3", customer: "C2", holds: ["A2"] },
      ],
    },
  });
  const made = Object.assign(w, { orders });
  put(made);
  return made;
}

/** Writes the export and a configuration that maps what orders cost. */
function put(w: World): void {
  w.write();
  const crm = fileSource("data", ["customers", "orders"]);
  const streams = crm["streams"];
  if (!isJsonObject(streams) || !isJsonObject(streams["orders"])) throw new Error("the source has no orders");
  const { mapping } = streams["orders"];
  if (!isJsonObject(mapping)) throw new Error("orders have no mapping");
  mapping["amount"] = { money: "total", currency: { path: "currency" }, decimals: 2 };
  const sources = stringify({ sources: { crm, hr: fileSource("data", ["staff"]) } });
  const settings = worldConfiguration.slice(0, worldConfiguration.indexOf("sources:"));
  const jobs = "jobs:\n  everything: { kind: sync, streams: [customers, orders, staff] }\n";
  writeFileSync(w.path("crm-sync.yaml"), `${settings}${sources}${jobs}`);
}

/** Minor units of an amount of the export, digit by digit. */
const minor = (total: string): number => Number(total.replace(".", ""));

function only(rows: readonly Row[] | undefined, fields: Row): Row[] {
  return (rows ?? []).filter((row) => Object.entries(fields).every(([name, value]) => row[name] === value));
}

/** What the platform itself shows: nodes by asset number and product, and who holds which number. */
async function platformShows(w: World, customer: string): Promise<{ nodes: Map<string, number>; held: string[] }> {
  const view = new PlatformView(w.sandbox.url);
  const [first] = await view.customers("crm", customer);
  const assets = await view.assets(first?.enterpriseGlobalId ?? "");
  const nodes = new Map<string, number>();
  for (const { assetId, assetNum } of assets)
    for (const one of await view.products(assetId)) nodes.set(`${assetNum}/${one.crmProductId}`, one.limitConcurrent);
  return {
    nodes,
    held: assets.filter((one) => one.cloudAccountGlobalId !== null).map(({ assetNum }) => assetNum),
  };
}

/** Nodes that the sandbox was really sent under a channel order number. */
async function nodesSent(w: World, channelOrderId: string): Promise<number> {
  const bodies = await readOrderBodies(w.sandbox.url, channelOrderId);
  const counts = [...JSON.stringify(bodies).matchAll(/"limitConcurrent":(\d+)/gu)].map(([, count]) => Number(count));
  return counts.reduce((sum, count) => sum + count, 0);
}

it(
  "compares the export, what was sent and what the platform shows, each cell computed a second way",
  { tags: "long" },
  async () => {
    const w = await pricedWorld();
    w.sandbox.contradict(["A43"]);
    const first = await w.run("run", "everything");
    expect(first.exitCode, first.stdout + first.stderr).toBe(0);
    expect((await w.run("run", "verify")).exitCode).toBe(0);

    // A corrected amount, an order that cannot be used any more, and somebody who changes nodes by hand.
    const [one, two] = w.orders;
    if (one === undefined || two === undefined) throw new Error("there are orders");
    w.orders.splice(0, 1, { ...one, total: "999.99" });
    w.orders.splice(1, 1, { ...two, placedAt: "never" });
    put(w);
    const number = w.rows<{ number: string }>(
      "select wire_number as number from asset_number where instance_id = 'A1'",
    );
    const assetNum = number[0]?.number ?? "";
    w.sandbox.hand({ action: "change-product", assetNum, crmProductId: "A1-P", fields: { limitConcurrent: 8 } });
    expect((await w.run("run", "everything")).exitCode).not.toBe(0);
    await w.run("run", "verify");

    const period = november;
    const { items = [], summary = [] } = await stated(w.path("ledger.db"), "reconciliation", { period });
    expect(JSON.stringify([items, summary])).not.toMatch(canaries);
    expect(summaryOf(summary)).toEqual(summaryFrom(items));

    // The CRM's side and the one that was sent, from the export and from the bodies that the sandbox got.
    for (const { id, total, currency } of w.orders) {
      const [order = {}] = only(items, { level: "order", crm_order: `crm/${id}` });
      const sent = id === "1" ? 594 : minor(total);
      expect(cells(order, "crm_amount", "crm_amount_currency", "sent_amount", "sent_amount_currency")).toEqual([
        minor(total),
        currency,
        sent,
        currency,
      ]);
      expect(order["amount_difference"]).toBe(minor(total) - sent);
      const lines = only(items, { level: "product", crm_order: `crm/${id}` });
      const sumOf = (name: string): number => lines.reduce((sum, row) => sum + Number(row[name]), 0);
      expect(sumOf("sent_nodes")).toBe(await nodesSent(w, String(order["channel_order_id"])));
      expect(sumOf("crm_nodes")).toBe(3 * lines.length);
    }
    const verdicts = only(items, { level: "order" }).map((row) => cells(row, "crm_order", "verdict", "ageing"));
    expect(verdicts).toEqual([
      ["crm/1", "different", "0-1 d"],
      ["crm/2", "matched", null],
      ["crm/3", "not-observable", "0-1 d"],
    ]);

    // The platform's side, from its own reading calls.
    for (const customer of ["C1", "C2"]) {
      const { nodes, held } = await platformShows(w, customer);
      const own = items.filter((row) => row["customer"] === `crm/${customer}`);
      const shown = only(own, { level: "product", shown: true });
      expect(
        new Map(shown.map((row) => [`${String(row["asset_number"])}/${String(row["item"])}`, row["observed_nodes"]])),
      ).toEqual(nodes);
      expect(only(own, { level: "assignment", shown: true }).map((row) => row["asset_number"])).toEqual(held);
    }
    const [drifted = {}] = only(items, { item: "A1-P" });
    expect(cells(drifted, "verdict", "crm_nodes", "sent_nodes", "observed_nodes")).toEqual(["different", 3, 3, 8]);
    const [kept] = w.rows<{ at: string }>("select first_seen as at from difference where level = 'product'");
    expect(drifted["open_since"]).toBe(kept?.at);

    // What is at stake in quarantine is what the last usable form of the order costs.
    const { exceptions = [] } = await stated(w.path("ledger.db"), "exceptions", { period });
    expect(
      only(exceptions, { kind: "quarantined" }).map((row) =>
        cells(row, "record", "owner", "at_stake", "at_stake_currency"),
      ),
    ).toEqual([["order crm/2", "crm", 25_000, "USD"]]);
  },
);

it("takes what was amended as it was amended", async () => {
  const w = await pricedWorld();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const [one] = w.orders;
  if (one === undefined) throw new Error("there is an order");
  const products = lines("30.01");
  const assets = [{ id: "A1", quantity: 3 }, "B1"];
  w.orders.splice(0, 1, { ...one, assets, products, total: "30.01" });
  put(w);
  const amended = await w.run("run", "everything");
  expect(amended.exitCode, amended.stdout).toBe(0);
  expect((await w.run("run", "verify")).exitCode).toBe(0);

  const period = november;
  const { items = [], summary = [] } = await stated(w.path("ledger.db"), "reconciliation", { period });
  expect(summaryOf(summary)).toEqual(summaryFrom(items));
  const [order = {}] = only(items, { level: "order", crm_order: "crm/1" });
  expect(cells(order, "verdict", "crm_amount", "sent_amount", "observed_amount")).toEqual([
    "matched",
    3001,
    3001,
    3001,
  ]);
  // A part of what all three cost falls to each: the one of the placing, and those of the amendment.
  const units = only(items, { item: "A1-P" });
  expect(units.map((row) => cells(row, "verdict", "channel_order_id", "crm_amount", "sent_amount"))).toEqual([
    ["matched", "1", 1000, 1000],
    ["matched", "1-1", 1000, 1000],
    ["matched", "1-1", 1001, 1001],
  ]);
  const { nodes } = await platformShows(w, "C1");
  expect(units.map((row) => nodes.get(`${String(row["asset_number"])}/A1-P`))).toEqual(
    units.map((row) => row["observed_nodes"]),
  );
});

it(
  "counts what an order that moved was sent for at its old customer until it is bought at the new one",
  { tags: "long" },
  async () => {
    const w = await pricedWorld();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const [one] = w.orders;
    if (one === undefined) throw new Error("there is an order");
    w.staff = w.staff.filter(({ customer }) => customer !== "C1");
    w.orders.splice(0, 1, { ...one, customer: "C2" });
    put(w);
    const stand = async (): Promise<unknown[]> => {
      const { items = [], summary = [] } = await stated(w.path("ledger.db"), "reconciliation", { period: november });
      expect(summaryOf(summary)).toEqual(summaryFrom(items));
      return only(items, { level: "order", crm_order: "crm/1" }).map((row) =>
        cells(row, "customer", "in_crm", "crm_amount", "sent_amount"),
      );
    };
    for (const _ of [1, 2]) await w.run("run", "everything");
    expect(await stand()).toEqual([
      ["crm/C1", false, null, 594],
      ["crm/C2", true, 594, null],
    ]);
  },
);
