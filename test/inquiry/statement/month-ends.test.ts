import { expect, it } from "vitest";
import type { Money, Order } from "../../../src/crm/model.ts";
import type { Row } from "../../../src/report/statement/shape.ts";
import { asset, product } from "../../support/world/instances.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord, staffRecord } from "../../support/world/records.ts";
import { cells, eur, month, placeOrder, statementOf, usd } from "./statement-world.ts";
import { trusted } from "../../support/trusted.ts";

/** The first moment of November in Berlin, and the last one of October. */
const november = Date.parse(month("2026-11").from);
const lastOfOctober = november - 1;

function order(id: string, customer: string, amount: Money, placedAt: string): Order {
  const instances = [asset(`A-${id}`), product(`P-${id}`, `A-${id}`, { name: "Draw", gmsPid: "G-DRAW", amount })];
  return { ...orderRecord(id, customer, { instances }), amount, placedAt };
}

async function place(world: LedgerWorld, one: Order): Promise<void> {
  await placeOrder(world, one, [{ assetId: `A-${one.id}`, quantity: 1, licenseType: "cloud_account" }]);
}

async function grant(world: LedgerWorld, customer: string, staff: string, assetNumber: string): Promise<void> {
  await world.read("staff", [{ staff: staffRecord(staff, customer) }]);
  await world.ledger.state.record(key(customer), [
    {
      type: "asset-granted",
      assetNumber,
      staff: key(staff),
      customer: key(customer),
      memberGlobalId: `M-${staff}`,
      origin: "granted",
      operationId: `op_grant_${staff}`,
    },
  ]);
}

/**
 * C1's order O1 (euros) is placed and a seat of it granted in the last millisecond of October. In the first one of
 * November O1 is corrected and its seat revoked, a run begins, somebody signs off something, and two orders of C2
 * (dollars) are placed: O2, which the CRM dates in that moment, and O3, which it dates half an hour before it.
 */
async function atMonthEnd(): Promise<LedgerWorld> {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-05T10:00:00Z");
  await world.read("customers", [{ customers: customerRecord("C1") }, { customers: customerRecord("C2") }]);
  await world.link(key("C1"), "E1");
  await world.link(key("C2"), "E2");
  world.now = lastOfOctober;
  const first = order("O1", "C1", eur(100_00), "2026-10-31T22:59:59.999Z");
  await place(world, first);
  await grant(world, "C1", "S1", "8000000001");

  world.now = november;
  await world.ledger.books.signOff(
    "2026-09",
    [{ id: "hold:h1", facts: "f" }],
    { by: "anna", reason: "known" },
    trusted,
  );
  await world.startRun();
  await world.read("orders", [{ orders: order("O1", "C1", eur(150_00), "2026-10-31T22:59:59.999Z") }]);
  await world.ledger.state.record(key("C1"), [
    { type: "asset-revoked", assetNumber: "8000000001", operationId: "op_revoke" },
    {
      type: "order-priced",
      order: key("O1"),
      customer: key("C1"),
      version: 2,
      items: [{ product: "P-O1", from: eur(100_00), to: eur(150_00) }],
    },
  ]);
  await place(world, order("O2", "C2", usd(20_00), "2026-10-31T23:00:00Z"));
  await grant(world, "C2", "S2", "8000000002");
  await place(world, order("O3", "C2", usd(30_00), "2026-10-31T22:30:00Z"));
  return world;
}

/** The same cells of some part of October and of November. */
async function both(world: LedgerWorld, kind: Parameters<typeof statementOf>[1], part: string, ...columns: string[]) {
  const of = async (label: string): Promise<unknown[][]> =>
    cells((await statementOf(world.path, kind, month(label)))[part], ...columns);
  return { october: await of("2026-10"), november: await of("2026-11") };
}

it("the first millisecond of a month belongs to it, and to no other, in the statement of orders", async () => {
  const world = await atMonthEnd();
  expect(await both(world, "orders", "lines", "crm_order", "event", "amount", "date")).toEqual({
    october: [["crm/O1", "placed", 100_00, "2026-10-31"]],
    november: [
      ["crm/O1", "repriced", 50_00, "2026-11-01"],
      ["crm/O2", "placed", 20_00, "2026-11-01"],
      ["crm/O3", "placed", 30_00, "2026-11-01"],
    ],
  });
  expect(await both(world, "orders", "orders", "crm_order", "amount_before", "events")).toEqual({
    october: [["crm/O1", null, 1]],
    november: [
      ["crm/O1", 100_00, 1],
      ["crm/O2", null, 1],
      ["crm/O3", null, 1],
    ],
  });
  expect(await both(world, "orders", "licences", "staff", "event")).toEqual({
    october: [["crm/S1", "granted"]],
    november: [
      ["crm/S1", "revoked"],
      ["crm/S2", "granted"],
    ],
  });
});

it("the date of the CRM puts an order into the month of that moment", async () => {
  const world = await atMonthEnd();
  const byDate = async (label: string): Promise<unknown> => {
    const { lines } = await statementOf(world.path, "orders", month(label), { by: "crm-date" });
    return Object.fromEntries(cells(lines, "crm_order", "event"));
  };
  expect(await byDate("2026-10")).toEqual({ "crm/O1": "placed", "crm/O3": "placed" });
  expect(await byDate("2026-11")).toEqual({ "crm/O1": "repriced", "crm/O2": "placed" });
});

it("a month closes with what stood before its end, and the next one opens with that", async () => {
  const world = await atMonthEnd();
  const measured = (measure: string): string[] =>
    ["opening", "granted", "revoked", "adjusted", "closing"].map((figure) => `${measure}_${figure}`);
  const figures = async (measure: string) =>
    await both(world, "entitlements", "by_customer", "customer", ...measured(measure), "verdict");
  expect(await figures("units")).toEqual({
    october: [["crm/C1", 0, 1, 0, 0, 1, "agrees"]],
    november: [
      ["crm/C1", 1, 0, 0, 0, 1, "agrees"],
      ["crm/C2", 0, 2, 0, 0, 2, "agrees"],
    ],
  });
  expect(await figures("seats")).toEqual({
    october: [["crm/C1", 0, 1, 0, 0, 1, "agrees"]],
    november: [
      ["crm/C1", 1, 0, 1, 0, 0, "agrees"],
      ["crm/C2", 0, 1, 0, 0, 1, "agrees"],
    ],
  });
});

it("reconciliation and runs stand in the month of their moment alone", async () => {
  const world = await atMonthEnd();
  const ordersIn = ({ october, november: later }: Awaited<ReturnType<typeof both>>) =>
    [october, later].map((rows) => new Set(rows.flat().filter((one) => one !== null)));
  expect(ordersIn(await both(world, "reconciliation", "items", "crm_order"))).toEqual([
    new Set(["crm/O1"]),
    new Set(["crm/O2", "crm/O3"]),
  ]);
  const runs = await both(world, "run", "run", "run");
  expect(runs.november).toEqual([[world.run]]);
  expect(runs.october).not.toContainEqual([world.run]);
  const reads = await both(world, "run", "read", "at");
  expect(new Set(reads.november.flat())).toEqual(new Set([new Date(november).toISOString()]));
  expect(reads.october.flat()).toContain(new Date(lastOfOctober).toISOString());
  expect(reads.october.flat()).not.toContain(new Date(november).toISOString());
});

it("an order adjusts the closed month that it was placed in, whatever the CRM's date of it, and not the one before", async () => {
  const world = await atMonthEnd();
  const close = async (label: string): Promise<void> => {
    const head = await (await world.inquiry()).auditHead();
    if (head === undefined) throw new Error("nothing was written");
    const of = { program: "0", configuration: "c", files: [], signedOff: [] };
    const asOf = new Date(world.now).toISOString();
    await world.ledger.books.close(
      { period: month(label), asOf, head, ...of },
      { by: "anna", reason: undefined },
      trusted,
    );
  };
  const price = async (id: string, version: number, from: Money, to: Money, placedAt: string): Promise<void> => {
    const customer = id === "O1" ? "C1" : "C2";
    await world.read("orders", [{ orders: order(id, customer, to, placedAt) }]);
    await world.ledger.state.record(key(customer), [
      {
        type: "order-priced",
        order: key(id),
        customer: key(customer),
        version,
        items: [{ product: `P-${id}`, from, to }],
      },
    ]);
  };
  const adjusts = async (label: string): Promise<Record<string, unknown>> => {
    const { lines = [] } = await statementOf(world.path, "orders", month(label));
    const repriced = lines.filter((row: Row) => row["event"] === "repriced" && row["crm_order"] !== "crm/O1");
    return Object.fromEntries(cells(repriced, "crm_order", "adjusts"));
  };
  world.now = Date.parse("2026-11-20T10:00:00Z");
  await close("2026-10");
  // O2 was placed, and is dated, in the first moment after October.
  await price("O2", 2, usd(20_00), usd(25_00), "2026-10-31T23:00:00Z");
  expect(await adjusts("2026-11")).toEqual({ "crm/O2": null });
  world.now = Date.parse("2026-12-20T10:00:00Z");
  await close("2026-11");
  await price("O3", 2, usd(30_00), usd(35_00), "2026-10-31T22:30:00Z");
  // The CRM dates O3 in October; what is adjusted is the month whose books have it.
  expect(await adjusts("2026-12")).toEqual({ "crm/O3": "2026-11" });
});
