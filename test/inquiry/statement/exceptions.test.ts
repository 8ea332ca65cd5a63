import { describe, expect, it } from "vitest";
import type { Money } from "../../../src/crm/model.ts";
import { ExceptionTotals } from "../../../src/report/statement/exceptions.ts";
import type { Row } from "../../../src/report/statement/shape.ts";
import { ask, heldChange } from "../../support/world/asked.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { canaries, customerRecord, key, orderRecord } from "../../support/world/records.ts";
import { rowsOf } from "../../support/world/start.ts";
import { cells, october, stated } from "./stated.ts";

const eur = (minor: number): { amount: Money } => ({ amount: { currency: "EUR", minor } });
const usd = (minor: number): { amount: Money } => ({ amount: { currency: "USD", minor } });

/**
 * Two customers of two branches with orders in two currencies: O1 is placed, and its newest form is in quarantine; O2
 * was refused, O3 waits, O4 is parked. C2 waits with one order in euros and one in dollars.
 */
async function troubledWorld(): Promise<{ world: LedgerWorld; rejected: string; parked: string }> {
  const world = await LedgerWorld.open();
  await world.read("customers", [{ customers: customerRecord("C1") }]);
  await world.read("customers", [{ customers: customerRecord("C2", { branchCode: "B2" }) }]);
  await world.link(key("C1"), "E1");
  const orders = [
    orderRecord("O1", "C1", eur(594)),
    orderRecord("O2", "C1", eur(10_000)),
    orderRecord("O3", "C1", usd(20_000)),
    orderRecord("O4", "C1", { amount: undefined }),
    orderRecord("O5", "C2", eur(500)),
    orderRecord("O6", "C2", usd(7)),
    orderRecord("O7", "C2", { ...usd(1), cancelled: true }),
  ];
  await world.read(
    "orders",
    orders.map((one) => ({ orders: one })),
  );
  await world.place(key("C1"), key("O1"));
  await world.reject("orders", key("O1"), { customer: key("C1") });
  const rejected = await world.intend(await world.orderOperation(key("C1"), key("O2")));
  await world.ledger.journal.conclude(rejected, {
    state: "rejected",
    attempt: { outcome: "rejected", httpStatus: 299, code: "40006" },
    code: "40006",
    message: "the enterprise is frozen",
    changes: [],
    audit: { kind: "rejected", body: {} },
  });
  const parked = await world.intend(await world.orderOperation(key("C1"), key("O4")));
  await world.ledger.journal.conclude(parked, {
    state: "parked",
    attempt: { outcome: "unknown", detail: "time-out" },
    message: "the platform does not show the order",
    changes: [],
    audit: { kind: "parked", body: {} },
  });
  await world.ledger.records.setOutcomes(world.run, [
    { stream: "orders", key: key("O3"), outcome: "deferred", code: "assumption.missing", reason: "no answer yet" },
    { stream: "customers", key: key("C2"), outcome: "deferred", code: "customer.incomplete", reason: "no address" },
  ]);
  return { world, rejected, parked };
}

const stakes = ["orders", "at_stake", "at_stake_currency", "at_stake_in"];

function told(rows: readonly Row[] | undefined, kind: string, more: Row = {}): Row {
  const all = (rows ?? []).filter(
    (row) => row["kind"] === kind && Object.entries(more).every(([name, value]) => row[name] === value),
  );
  expect(all, kind).toHaveLength(1);
  return all[0] ?? {};
}

describe("the statement of exceptions", () => {
  it("sums classes of ages up from the youngest to the oldest, as many as there may be", () => {
    const ageing = Array.from({ length: 10 }, (_, at) => at + 1);
    const totals = new ExceptionTotals({ knownAt: "2026-10-31T00:00:00.000Z", ageing });
    for (const days of [10, 2, 9, 0, 1, 3]) {
      const since = new Date(Date.UTC(2026, 9, 31 - days)).toISOString();
      const of = { key: key("O1"), customer: key("C1"), code: "assumption.missing", reason: "" };
      const facts = { kind: "deferred", stream: "orders", since, cause: of.code, holds: [], ...of } as const;
      totals.add({ facts, ended: null, open: true, owner: "crm", branch: null, orders: [] });
    }
    expect(totals.rows().map((row) => row["ageing"])).toEqual(["0-1 d", "1-2 d", "2-3 d", "3-4 d", "9-10 d", "older"]);
  });

  it("says who has to act, and what is at stake in which currency", async () => {
    const { world, rejected, parked } = await troubledWorld();
    const { exceptions = [], orders = [] } = await stated(world.path, "exceptions");
    expect(exceptions).toHaveLength(5);
    expect(cells(told(exceptions, "quarantined"), "owner", "customer", "branch", "open", ...stakes)).toEqual([
      "crm",
      "crm/C1",
      "B1",
      true,
      1,
      594,
      "EUR",
      ["EUR"],
    ]);
    expect(cells(told(exceptions, "rejected"), "owner", "operation", ...stakes)).toEqual([
      "platform",
      rejected,
      1,
      10_000,
      "EUR",
      ["EUR"],
    ]);
    expect(cells(told(exceptions, "parked"), "owner", "operation", ...stakes)).toEqual([
      "operator",
      parked,
      1,
      null,
      null,
      [],
    ]);
    const order = told(exceptions, "deferred", { record: "order crm/O3" });
    expect(cells(order, "owner", ...stakes)).toEqual(["configuration", 1, 20_000, "USD", ["USD"]]);
    // Two currencies are never added up, and what is cancelled is not at stake.
    const customer = told(exceptions, "deferred", { record: "customer crm/C2" });
    expect(cells(customer, "owner", "branch", ...stakes)).toEqual(["crm", "B2", 2, null, null, ["EUR", "USD"]]);
    expect(
      orders
        .filter((row) => row["record"] === "customer crm/C2")
        .map((row) => cells(row, "crm_order", "crm_date", "amount", "amount_currency")),
    ).toEqual([
      ["crm/O5", "2026-09-28", 500, "EUR"],
      ["crm/O6", "2026-09-28", 7, "USD"],
    ]);
    for (const row of exceptions)
      expect(cells(row, "signed_off_by", "signed_off_at", "sign_off_reason")).toEqual([null, null, null]);
    expect(JSON.stringify(exceptions)).not.toMatch(canaries);
  });

  it("counts each once by kind, owner and age, and adds up what is at stake as the records have it", async () => {
    const { world } = await troubledWorld();
    const { summary = [], exceptions = [], orders = [] } = await stated(world.path, "exceptions");
    const total = (rows: readonly Row[], name: string): number =>
      rows.reduce((sum, row) => sum + (typeof row[name] === "number" ? row[name] : 0), 0);
    expect(total(summary, "count")).toBe(exceptions.length);
    expect(total(summary, "orders")).toBe(orders.length);
    expect(summary.map((row) => cells(row, "kind", "owner", "ageing", "currency", "count", "at_stake"))).toEqual([
      ["quarantined", "crm", "0-1 d", "EUR", 1, 594],
      ["deferred", "crm", "0-1 d", "EUR", 1, 500],
      ["deferred", "crm", "0-1 d", "USD", 0, 7],
      ["deferred", "configuration", "0-1 d", "USD", 1, 20_000],
      ["rejected", "platform", "0-1 d", "EUR", 1, 10_000],
      ["parked", "operator", "0-1 d", null, 1, null],
    ]);
    const all = rowsOf<{ currency: string; minor: number }>(
      world.path,
      `select body ->> '$.amount.currency' as currency, sum(body ->> '$.amount.minor') as minor from record
         join record_version using (stream, namespace, id, version)
       where stream = 'orders' and body ->> '$.cancelled' = 0 and body ->> '$.amount' is not null group by 1`,
    );
    const fromRecords = all.map(({ currency }) => ({
      currency,
      minor: total(
        summary.filter((row) => row["currency"] === currency),
        "at_stake",
      ),
    }));
    expect(fromRecords).toEqual(all);
  });

  it("ages what is open to the end of the month or what is known by then, and what is over to its end", async () => {
    const { world } = await troubledWorld();
    const { hold } = await ask(world.ledger, "C1");
    world.now += 3 * 86_400_000;
    await world.ledger.decisions.decide(hold, "reject", "not meant", "somebody");
    world.now += 40 * 86_400_000;
    await world.ledger.runs.finish(world.run, { state: "done", exitCode: 0, balance: null, summary: null });
    const { exceptions } = await stated(world.path, "exceptions");
    expect(cells(told(exceptions, "quarantined"), "age_hours", "ageing", "open")).toEqual([
      30 * 24 + 16,
      "30-90 d",
      true,
    ]);
    expect(cells(told(exceptions, "held"), "age_hours", "ageing", "open", "owner")).toEqual([72, "1-7 d", false, null]);
    const asOf = "2026-10-02T08:00:00.000Z";
    const then = (await stated(world.path, "exceptions", { asOf }))["exceptions"];
    expect(cells(told(then, "quarantined"), "age_hours", "ageing")).toEqual([24, "1-7 d"]);
  });

  it("has at stake what a hold holds back, each order once", async () => {
    const { world } = await troubledWorld();
    const of = (name: string, order: string) => heldChange("C1", name, [order]);
    await ask(world.ledger, "C1", { operations: [of("a", "O1"), of("b", "O1"), of("c", "O2")] });
    const { exceptions } = await stated(world.path, "exceptions");
    expect(cells(told(exceptions, "held"), "owner", "count", ...stakes)).toEqual([
      "operator",
      3,
      2,
      10_594,
      "EUR",
      ["EUR"],
    ]);
  });

  it(
    "leaves out what is not asked for: another customer, branch, source, product or period",
    { tags: "long" },
    async () => {
      const { world } = await troubledWorld();
      const about = async (fields: Parameters<typeof stated>[2]): Promise<unknown[]> =>
        ((await stated(world.path, "exceptions", fields))["exceptions"] ?? []).map((row) => row["record"]);
      const all = await about({});
      expect(await about({ filters: { customer: "crm/C2" } })).toEqual(["customer crm/C2"]);
      expect(await about({ filters: { branch: "B2" } })).toEqual(["customer crm/C2"]);
      expect(await about({ filters: { source: "erp" } })).toEqual(all);
      expect(await about({ filters: { source: "other" } })).toEqual([]);
      expect(await about({ filters: { product: "pid-P1-O3" } })).toEqual(["order crm/O3"]);
      const september = { ...october, from: "2026-09-01T00:00:00.000Z", to: october.from };
      expect(await about({ period: september })).toEqual([]);
    },
  );
});
