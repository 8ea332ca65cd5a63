import { describe, expect, it } from "vitest";
import type { Instance, Money, Order } from "../../../src/crm/model.ts";
import type { Row } from "../../../src/report/statement/shape.ts";
import { product } from "../../support/world/instances.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { canaries, customerRecord, key, orderRecord } from "../../support/world/records.ts";
import { rowsOf } from "../../support/world/start.ts";
import { agreedWorld, changed } from "../agreed-world.ts";
import { summaryFrom, summaryOf } from "./added-up.ts";
import { cells, october, stated } from "./stated.ts";

const eur = (minor: number): { amount: Money } => ({ amount: { currency: "EUR", minor } });
const usd = (minor: number): { amount: Money } => ({ amount: { currency: "USD", minor } });
const money = ["crm_amount", "crm_amount_currency", "sent_amount", "sent_amount_currency", "observed_amount"];

/** The order of `agreedWorld` as the CRM has it, changed. */
function order(change: (instance: Instance) => Instance, fields: Partial<Order> = {}): Order {
  const own = orderRecord("O1", "C1");
  return { ...own, ...fields, instances: own.instances.map(change) };
}

function only(rows: readonly Row[] | undefined, fields: Row): Row[] {
  return (rows ?? []).filter((row) => Object.entries(fields).every(([name, value]) => row[name] === value));
}

/** Another customer of another branch, whose order costs dollars and was not sent. */
async function unsentNeighbour(world: LedgerWorld): Promise<void> {
  await world.read("customers", [{ customers: customerRecord("C2", { branchCode: "B2" }) }]);
  const lines = orderRecord("O2", "C2").instances;
  const instances = lines.map((one) => (one.kind === "product" ? { ...one, ...usd(100) } : one));
  await world.read("orders", [{ orders: orderRecord("O2", "C2", { ...usd(777), instances }) }]);
}

describe("the statement of reconciliation", () => {
  it(
    "adds its items up on three sides, each currency by itself, as the rows of the ledger do",
    { tags: "long" },
    async () => {
      const { world } = await agreedWorld();
      await unsentNeighbour(world);
      const { summary = [], items = [] } = await stated(world.path, "reconciliation");
      expect(summaryOf(summary)).toEqual(summaryFrom(items));
      const [matched] = only(summary, { level: "order", verdict: "matched", currency: "EUR" });
      expect(cells(matched ?? {}, "count", "crm_amount", "sent_amount", "observed_amount")).toEqual([
        1, 12_300, 12_300, 12_300,
      ]);
      const [missing] = only(summary, { level: "product", verdict: "missing", currency: "USD" });
      expect(cells(missing ?? {}, "count", "crm_units", "crm_nodes", "crm_amount", "sent_amount")).toEqual([
        3,
        3,
        8,
        300,
        null,
      ]);
      expect(cells(missing ?? {}, "amount_crm_less_sent", "nodes_crm_less_sent", "nodes_sent_less_observed")).toEqual([
        300, 8, 0,
      ]);
      // What the CRM's orders cost, by its own records.
      const inCrm = rowsOf<{ currency: string; minor: number }>(
        world.path,
        `select body ->> '$.amount.currency' as currency, sum(body ->> '$.amount.minor') as minor from record
         join record_version using (stream, namespace, id, version) where stream = 'orders' group by 1`,
      );
      const ofOrders = only(summary, { level: "order" }).map((row) => ({
        currency: row["currency"],
        minor: row["crm_amount"],
      }));
      expect(ofOrders).toEqual(inCrm);
      expect(JSON.stringify(items)).not.toMatch(canaries);
    },
  );

  it("does not match an amount that was corrected after the order was placed, and says both", async () => {
    const { world } = await agreedWorld();
    const { world: other } = await agreedWorld();
    await world.read("orders", [{ orders: order((one) => one, eur(99_999)) }]);
    const { items, summary } = await stated(world.path, "reconciliation");
    const [row] = only(items, { level: "order" });
    expect(cells(row ?? {}, "verdict", "amount_difference", ...money)).toEqual([
      "different",
      87_699,
      99_999,
      "EUR",
      12_300,
      "EUR",
      12_300,
    ]);
    expect(row?.["details"]).toContain("amount: the CRM has another one than it was sent with");
    expect(only(items, { level: "product", verdict: "matched" })).toHaveLength(3);
    expect(summaryOf(summary ?? [])).toEqual(summaryFrom(items ?? []));
    // A ledger that was repriced says so still: what was sent is what was sent.
    const repriced = { product: null, from: eur(12_300).amount, to: eur(99_999).amount };
    await other.read("orders", [{ orders: order((one) => one, eur(99_999)) }]);
    await other.ledger.state.record(key("C1"), [
      { type: "order-priced", order: key("O1"), customer: key("C1"), version: 2, items: [repriced] },
    ]);
    expect(only((await stated(other.path, "reconciliation"))["items"], { level: "order" })[0]).toMatchObject({
      verdict: "different",
      amount_difference: 87_699,
    });
  });

  it("agrees with a smaller order once its line is taken away", async () => {
    const { world, shown } = await agreedWorld();
    const smaller = order((one) => one, eur(8_000));
    const instances = smaller.instances.filter((one) => !("id" in one) || one.id !== "P2-O1");
    await world.read("orders", [{ orders: { ...smaller, instances } }]);
    const ofOrder = async (): Promise<unknown> => {
      const { items } = await stated(world.path, "reconciliation");
      return cells(only(items, { level: "order" })[0] ?? {}, "verdict", "sent_amount", "amount_difference");
    };
    expect(await ofOrder()).toEqual(["different", 12_300, -4_300]);
    const item = { instanceId: "A-O1", unit: 0, number: "8000000001", product: "P2-O1" };
    const going = [{ ...item, channelOrderId: "CO-O1", licenseOrderId: "L-O1" }];
    const of = { order: key("O1"), customer: key("C1"), origin: "sent" as const, operationId: null };
    const audit = { kind: "learned", subject: "customer:crm/C1", body: {} };
    await world.ledger.state.record(key("C1"), [{ ...of, type: "order-removed", products: 1, items: going }], audit);
    await world.observe(
      key("C1"),
      shown.filter(({ subject }) => subject !== "8000000001/P2-O1"),
    );
    expect(await ofOrder()).toEqual(["matched", 8_000, 0]);
  });

  it("tolerates what the tolerance of a currency allows, and shows it", async () => {
    const { world } = await agreedWorld();
    await world.read("orders", [{ orders: order((one) => one, eur(12_305)) }]);
    const verdict = async (minor: number | undefined, currency = "EUR"): Promise<unknown[]> => {
      const tolerances = minor === undefined ? {} : { money: { [currency]: minor } };
      const [row = {}] = only((await stated(world.path, "reconciliation", { tolerances }))["items"], {
        level: "order",
      });
      return cells(row, "verdict", "within_tolerance", "amount_difference");
    };
    expect(await verdict(undefined)).toEqual(["different", false, 5]);
    expect(await verdict(4)).toEqual(["different", false, 5]);
    expect(await verdict(5)).toEqual(["matched", true, 5]);
    expect(await verdict(5, "USD")).toEqual(["different", false, 5]);
    await world.read("orders", [{ orders: order((one) => one, eur(12_300)) }]);
    expect(await verdict(undefined)).toEqual(["matched", true, 0]);
    await world.read("orders", [{ orders: order((one) => one, usd(12_300)) }]);
    const [row = {}] = only((await stated(world.path, "reconciliation"))["items"], { level: "order" });
    expect(cells(row, "verdict", "amount_difference", ...money)).toEqual([
      "different",
      null,
      12_300,
      "USD",
      12_300,
      "EUR",
      12_300,
    ]);
    const { summary } = await stated(world.path, "reconciliation");
    expect(
      only(summary, { level: "order" }).map((one) => cells(one, "currency", "count", "crm_amount", "sent_amount")),
    ).toEqual([
      ["EUR", 0, null, 12_300],
      ["USD", 1, 12_300, null],
    ]);
  });

  it("compares the terms that are shown, and tolerates as many seconds as are allowed", async () => {
    const { world, shown } = await agreedWorld();
    const end = Date.UTC(2027, 9, 1);
    await world.observe(key("C1"), changed(shown, "product", "8000000001/P2-O1", { limitEndTime: end + 60_000 }));
    const row = async (seconds?: number): Promise<unknown[]> => {
      const all = await stated(world.path, "reconciliation", { tolerances: { seconds } });
      const [one = {}] = only(all["items"], { item: "P2-O1" });
      return cells(one, "verdict", "crm_term_end", "sent_term_end", "observed_term_end");
    };
    const ends = ["2027-10-01T00:00:00.000Z", "2027-10-01T00:00:00.000Z", "2027-10-01T00:01:00.000Z"];
    expect(await row()).toEqual(["different", ...ends]);
    expect(await row(59)).toEqual(["different", ...ends]);
    expect(await row(60)).toEqual(["matched", ...ends]);
  });

  it("misses units that the CRM wants more, and finds those extra that it wants no more", async () => {
    const { world } = await agreedWorld();
    const quantity =
      (count: number) =>
      (one: Instance): Instance =>
        one.kind === "asset" ? { ...one, quantity: count } : one;
    await world.read("orders", [{ orders: order(quantity(3)) }]);
    const { items = [], summary = [] } = await stated(world.path, "reconciliation");
    const units = items.filter((row) => row["item"] === "P1-O1");
    const figures = ["verdict", "asset_number", "crm_units", "crm_nodes", "sent_units", "observed_nodes"];
    expect(units.map((row) => cells(row, ...figures))).toEqual([
      ["matched", "8000000001", 1, 5, 1, 5],
      ["missing", null, 2, 10, null, null],
    ]);
    expect(only(items, { level: "order" })[0]).toMatchObject({ verdict: "missing", details: ["3 missing"] });
    expect(summaryOf(summary)).toEqual(summaryFrom(items));
    // The same with a product less: what was sent of it is there, and nobody wants it.
    const one = order((item) => item);
    const less = one.instances.filter((item) => !("id" in item && item.id === "P1-O1"));
    await world.read("orders", [{ orders: { ...one, instances: less } }]);
    const after = await stated(world.path, "reconciliation");
    expect(only(after["items"], { item: "P1-O1" }).map((row) => cells(row, ...figures))).toEqual([
      ["extra", "8000000001", null, null, 1, 5],
    ]);
  });

  it("divides the amount of a product over its units, and finds the units beyond the quantity", async () => {
    const world = await LedgerWorld.open();
    await world.read("customers", [{ customers: customerRecord("C1") }]);
    await world.link(key("C1"), "E1");
    const of = (quantity: number, minor: number): Order =>
      orderRecord("O1", "C1", {
        instances: [
          { kind: "asset", id: "A-O1", licenseType: "cloud_account", assetNumbers: [], quantity, extensions: [] },
          product("P1", "A-O1", { nodes: 2, ...eur(minor) }),
        ],
      });
    await world.read("orders", [{ orders: of(3, 100) }]);
    await world.ledger.state.record(key("C1"), [
      { type: "numbers-taken", numbers: ["81", "82", "83"], operationId: "op_pool" },
    ]);
    await world.ledger.state.write((rows, at) =>
      rows.order.numbers.fixNumbers(
        key("O1"),
        key("C1"),
        [{ instanceId: "A-O1", quantity: 3, given: [], wireNumber: (digits) => digits }],
        at,
      ),
    );
    await world.place(key("C1"), key("O1"));
    const amounts = async (): Promise<unknown[]> =>
      only((await stated(world.path, "reconciliation"))["items"], { level: "product" }).map((row) =>
        cells(row, "verdict", "in_crm", "crm_nodes", "crm_amount", "sent_amount"),
      );
    expect(await amounts()).toEqual([
      ["not-observable", true, 2, 33, 33],
      ["not-observable", true, 2, 33, 33],
      ["not-observable", true, 2, 34, 34],
    ]);
    // One unit less for a third less is what was sent; one less for the same money is not.
    await world.read("orders", [{ orders: of(2, 67) }]);
    expect(await amounts()).toEqual([
      ["not-observable", true, 2, 33, 33],
      ["not-observable", true, 2, 34, 33],
      ["not-observable", false, null, null, 34],
    ]);
    await world.read("orders", [{ orders: of(2, 100) }]);
    expect((await amounts())[0]).toEqual(["different", true, 2, 50, 33]);
  });

  it("does not take for unseen what the CRM has otherwise than it was sent", async () => {
    const world = await LedgerWorld.open();
    await world.read("customers", [{ customers: customerRecord("C1") }]);
    await world.link(key("C1"), "E1");
    await world.read("orders", [{ orders: orderRecord("O1", "C1") }]);
    await world.place(key("C1"), key("O1"));
    const unseen = only((await stated(world.path, "reconciliation"))["items"], { level: "product" });
    expect(unseen.map((row) => row["verdict"])).toEqual(["not-observable", "not-observable", "not-observable"]);
    const nodes = (one: Instance): Instance =>
      one.kind === "product" && one.id === "P1-O1" ? { ...one, nodes: 7 } : one;
    await world.read("orders", [{ orders: order(nodes) }]);
    const { items = [] } = await stated(world.path, "reconciliation");
    const [row = {}] = only(items, { item: "P1-O1" });
    expect(cells(row, "verdict", "crm_nodes", "sent_nodes", "observed_nodes")).toEqual(["different", 7, 5, null]);
    expect(row["details"]).toContain("CRM nodes: sent with 5, now 7");
    expect(only(items, { level: "order" })[0]?.["verdict"]).toBe("different");
  });

  it("says how long something is not as meant, in the buckets of finance", async () => {
    const { world } = await agreedWorld();
    await unsentNeighbour(world);
    const ages = async (days: number): Promise<unknown[]> => {
      world.now = Date.UTC(2026, 9, 1, 8) + days * 86_400_000;
      await world.ledger.runs.finish(world.run, { state: "done", exitCode: 0, balance: null, summary: null });
      const { items } = await stated(world.path, "reconciliation");
      const [row = {}] = only(items, { level: "order", crm_order: "crm/O2" });
      const [matched = {}] = only(items, { level: "order", crm_order: "crm/O1" });
      expect(cells(matched, "open_since", "ageing", "age_hours")).toEqual([null, null, days * 24]);
      return cells(row, "open_hours", "ageing");
    };
    expect(await ages(0)).toEqual([0, "0-1 d"]);
    for (const [days, bucket] of [
      [1, "1-7 d"],
      [7, "7-30 d"],
      [30, "30-90 d"],
      [90, "older"],
    ] as const) {
      await world.startRun();
      expect(await ages(days)).toEqual([days * 24, bucket]);
    }
  });

  it("leaves out what is not asked for: another customer, branch, source, product or period", async () => {
    const { world } = await agreedWorld();
    await unsentNeighbour(world);
    const of = async (fields: Parameters<typeof stated>[2]): Promise<string[]> => {
      const { items = [], summary = [] } = await stated(world.path, "reconciliation", fields);
      expect(summaryOf(summary)).toEqual(summaryFrom(items));
      return items.map((row) => [row["customer"], row["level"], row["item"] ?? row["asset_number"]].join(" "));
    };
    const all = await of({});
    expect(await of({ filters: { customer: "crm/C2" } })).toEqual(all.filter((row) => row.startsWith("crm/C2")));
    expect(await of({ filters: { branch: "B1" } })).toEqual(all.filter((row) => row.startsWith("crm/C1")));
    expect(await of({ filters: { source: "erp" } })).toEqual(all);
    expect(await of({ filters: { source: "other" } })).toEqual([]);
    expect(await of({ filters: { product: "pid-P1-O1" } })).toEqual([
      "crm/C1 order ",
      "crm/C1 product P1-O1",
      "crm/C1 assignment 8000000001",
    ]);
    const november = { ...october, from: october.to, to: "2026-12-01T00:00:00.000Z" };
    expect(new Set((await of({ period: november })).map((row) => row.slice(0, 6)))).toEqual(new Set(["crm/C2"]));
  });

  it("says the same again later, and knows the month of an order by its date in the CRM", async () => {
    const { world } = await agreedWorld();
    await unsentNeighbour(world);
    const september = { ...october, from: "2026-09-01T00:00:00.000Z", to: october.from };
    for (const kind of ["reconciliation", "exceptions"] as const) {
      const first = await stated(world.path, kind);
      world.now += 5000;
      expect(await stated(world.path, kind)).toEqual(first);
    }
    const placed = async (fields: Parameters<typeof stated>[2]): Promise<unknown[]> =>
      only((await stated(world.path, "reconciliation", fields))["items"], { level: "order", sent: true });
    expect(await placed({ period: september })).toEqual([]);
    expect(await placed({ period: september, by: "crm-date" })).toHaveLength(1);
    expect(await placed({ by: "crm-date" })).toEqual([]);
  });

  it("does not count what was sent of an order at the customer that it moved to, as long as nothing was", async () => {
    const { world } = await agreedWorld();
    await world.read("customers", [{ customers: customerRecord("C2") }]);
    await world.read("orders", [{ orders: orderRecord("O1", "C2") }]);
    const orders = async (): Promise<unknown[]> => {
      const { items = [], summary = [] } = await stated(world.path, "reconciliation");
      expect(summaryOf(summary)).toEqual(summaryFrom(items));
      return only(items, { level: "order" }).map((row) =>
        cells(row, "customer", "verdict", "crm_amount", "sent_amount", "observed_amount"),
      );
    };
    const expected = [
      ["crm/C1", "extra", null, 12_300, 12_300],
      ["crm/C2", "missing", 12_300, null, null],
    ];
    expect(await orders()).toEqual(expected);
    await world.ledger.state.record(key("C2"), [
      { type: "order-moved", order: key("O1"), from: key("C1"), customer: key("C2") },
    ]);
    expect(await orders()).toEqual(expected);
  });
});
