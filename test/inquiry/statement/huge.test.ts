import { expect, it } from "vitest";
import type { Money } from "../../../src/crm/model.ts";
import { ReadOnlyLedger } from "../../../src/inquiry/read-only-ledger.ts";
import { statement } from "../../../src/inquiry/statement/statement.ts";
import { openReadOnly } from "../../../src/ledger/database/database.ts";
import { statementFormats } from "../../../src/report/statement/render.ts";
import { compileAmount } from "../../../src/source/mapping/operators/values.ts";
import { asset, product } from "../../support/world/instances.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord } from "../../support/world/records.ts";
import { cells, month, placeOrder, statementOf } from "./statement-world.ts";
import { statementKinds } from "./stated.ts";

const most = Number.MAX_SAFE_INTEGER;
const money = (minor: number, currency = "EUR"): Money => ({ currency, minor });

function order(id: string, customer: string, amount: Money) {
  return {
    ...orderRecord(id, customer, {
      instances: [
        asset(`A-${id}`, { licenseType: "cloud_account" }),
        product(`P-${id}`, `A-${id}`, { gmsPid: "G-1", nodes: 2_147_483_647, amount }),
        product(`Q-${id}`, `A-${id}`, { gmsPid: "G-2", nodes: 2_147_483_647, amount }),
      ],
    }),
    amount,
    placedAt: "2026-10-02T08:00:00Z",
  };
}

/** Three orders of two customers that cost as much as a number holds, of which one cost as much less before. */
async function hugeWorld(): Promise<LedgerWorld> {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-02T10:00:00Z");
  await world.read("customers", [{ customers: customerRecord("C1") }, { customers: customerRecord("C2") }]);
  await world.link(key("C1"), "E1");
  await world.link(key("C2"), "E2");
  for (const [id, customer, minor] of [
    ["O1", "C1", most],
    ["O2", "C1", most],
    ["O3", "C2", -most],
  ] as const)
    await placeOrder(world, order(id, customer, money(minor)), [
      { assetId: `A-${id}`, quantity: 1, licenseType: "cloud_account" },
    ]);
  world.now = Date.parse("2026-10-05T10:00:00Z");
  await world.read("orders", [{ orders: order("O3", "C2", money(most)) }]);
  const repriced = ["P-O3", "Q-O3", null].map((id) => ({ product: id, from: money(-most), to: money(most) }));
  await world.ledger.state.record(key("C2"), [
    { type: "order-priced", order: key("O3"), customer: key("C2"), version: 2, items: repriced },
  ]);
  return world;
}

it("amounts of any size are added up exactly, and every statement of them is written", { tags: "long" }, async () => {
  const world = await hugeWorld();
  const twice = BigInt(most) * 2n;
  const { orders, lines } = await statementOf(world.path, "orders", month("2026-10"));
  expect(cells(orders, "amount_after", "lines_amount", "verdict")).toEqual(
    Array.from({ length: 3 }, () => [most, twice, "differs"]),
  );
  expect(cells(lines, "event", "amount").filter(([event]) => event === "repriced")).toEqual([
    ["repriced", twice],
    ["repriced", twice],
  ]);
  const { summary } = await statementOf(world.path, "reconciliation", month("2026-10"));
  const ofOrders = (summary ?? []).filter((row) => row["level"] === "order");
  expect(cells(ofOrders, "crm_amount").flat()).toContain(BigInt(most) * 2n);

  const ledger = new ReadOnlyLedger(world.path, openReadOnly(world.path));
  for (const kind of statementKinds) {
    for (const format of statementFormats) {
      const request = { period: month("2026-10"), by: "happened", filters: {} } as const;
      for await (const { chunk } of statement(ledger, kind, request, format)) expect(chunk).toBeDefined();
    }
  }
  ledger.close();
});

it.each([
  ["9".repeat(16), "JPY"],
  ["100000000000000", "JPY"],
  ["9".repeat(400), "EUR"],
  ["90071992547409.92", "EUR"],
  ["9007199254740.992", "KWD"],
  ["1e400", "EUR"],
  ["0.1234567890123456789", "EUR"],
  [1e21, "EUR"],
  [Number.NaN, "EUR"],
] as const)("the amount %.20s %s of a CRM goes into quarantine by its name", (value, currency) => {
  const context = {
    nullTexts: new Set<string>(),
    tables: new Map(),
    mistakes: [],
    reads: [],
    fields: [],
    fault: undefined,
    leavesOutFaults: false,
    secrets: new Set<string>(),
    localIn: undefined,
    visited: 0,
    zones: new Map(),
  };
  const read = compileAmount({ decimals: undefined, decimalMark: ".", groupMark: undefined }, context);
  expect(read(value, currency)).toBeUndefined();
  expect(context.fault).toMatchObject({ code: "not-an-amount" });
});
