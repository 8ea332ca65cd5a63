import { expect, it } from "vitest";
import { parseJson } from "../../../src/base/canonical-json.ts";
import type { Order } from "../../../src/crm/model.ts";
import { ReadOnlyLedger } from "../../../src/inquiry/read-only-ledger.ts";
import { statement } from "../../../src/inquiry/statement/statement.ts";
import { openReadOnly } from "../../../src/ledger/database/database.ts";
import { ageAt, ageBuckets, toleratedMinor, tolerancesOf } from "../../../src/report/statement/tolerances.ts";
import type { Period, Row, Tolerances } from "../../../src/report/statement/shape.ts";
import { reportSettingsSchema } from "../../../src/operate/report-settings.ts";
import { key, orderRecord } from "../../support/world/records.ts";
import { agreedWorld } from "../agreed-world.ts";
import { cells, month, statementOf } from "./statement-world.ts";

const ever: Period = { ...month("2026-10"), from: "2000-01-01T00:00:00.000Z", to: "2100-01-01T00:00:00.000Z" };

const tolerances = (settings: object): Tolerances =>
  tolerancesOf(reportSettingsSchema.parse({ tolerances: settings }).tolerances);

it.each([
  ["EUR", "0.05", 5],
  ["EUR", "12", 1200],
  ["JPY", "12", 12],
  ["KWD", "0.005", 5],
  ["JPY", "0.5", undefined],
  ["EUR", "0.005", undefined],
  ["EUR", "1e3", undefined],
])("a tolerance in %s of %s is %s minor units", (currency, amount, minor) => {
  expect(toleratedMinor(currency, amount)).toBe(minor);
  const isRight = reportSettingsSchema.safeParse({ tolerances: { money: { [currency]: amount } } }).success;
  expect(isRight).toBe(minor !== undefined);
});

it("classes of ages rise, and are told by their ends", () => {
  expect(reportSettingsSchema.safeParse({ tolerances: { ageing: [7, 7] } }).success).toBe(false);
  expect(reportSettingsSchema.safeParse({ tolerances: { ageing: [] } }).success).toBe(false);
  expect(ageBuckets([2, 10])).toEqual(["0-2 d", "2-10 d", "older"]);
  const at = (days: number): string | null =>
    ageAt("2026-10-01T00:00:00.000Z", new Date(Date.UTC(2026, 9, 1 + days)).toISOString(), [2, 10]).bucket;
  expect([at(0), at(1), at(2), at(9), at(10)]).toEqual(["0-2 d", "0-2 d", "2-10 d", "2-10 d", "older"]);
});

const order = (minor: number): Order => orderRecord("O1", "C1", { amount: { currency: "EUR", minor } });
const only = (rows: readonly Row[] | undefined, level: string): Row[] =>
  (rows ?? []).filter((row) => row["level"] === level);

it(
  "an amount within the tolerance of its currency is matched, and the statement says what was tolerated",
  { tags: "long" },
  async () => {
    const { world } = await agreedWorld();
    await world.read("orders", [{ orders: order(12_305) }]);
    const verdict = async (money: Record<string, string>): Promise<unknown> => {
      const { items } = await statementOf(world.path, "reconciliation", ever, { tolerances: tolerances({ money }) });
      return cells(only(items, "order"), "verdict", "within_tolerance")[0];
    };
    expect(await verdict({ EUR: "0.04" })).toEqual(["different", false]);
    expect(await verdict({ EUR: "0.05" })).toEqual(["matched", true]);
    expect(await verdict({ USD: "9" })).toEqual(["different", false]);

    const ledger = new ReadOnlyLedger(world.path, openReadOnly(world.path));
    const request = {
      period: ever,
      by: "happened",
      filters: {},
      tolerances: tolerances({ money: { EUR: "0.05", JPY: "1" }, termSeconds: 60, transitDays: 3, ageing: [5] }),
    } as const;
    for (const kind of ["reconciliation", "exceptions"] as const) {
      let json = "";
      for await (const { chunk } of statement(ledger, kind, request, "json"))
        json += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
      expect(parseJson(json)).toMatchObject({
        header: {
          tolerances: { money: { EUR: "0.05", JPY: "1" }, seconds: 60, transitDays: 3, ageing: [5] },
        },
      });
      let page = "";
      for await (const { chunk } of statement(ledger, kind, request, "html")) page += chunk;
      expect(page).toContain("amounts: 0.05 EUR, 1 JPY; terms: 60 s; in transit: 3 d; ages: 5 d");
    }
    let orders = "";
    for await (const { chunk } of statement(ledger, "orders", request, "json")) orders += chunk;
    expect(orders, "what tolerates nothing says nothing of it").not.toContain("tolerances");
    ledger.close();
  },
);

it("what was sent lately and is not shown is in transit for as many days, and missing after them", async () => {
  const { world, shown } = await agreedWorld();
  const kept = shown.filter(({ kind }) => kind !== "product");
  const placedAt = world.now;
  const verdicts = async (days: number): Promise<unknown> => {
    const { items, summary } = await statementOf(world.path, "reconciliation", ever, {
      tolerances: tolerances({ transitDays: days }),
    });
    const levels = [...only(items, "order"), ...only(items, "product")].map((row) => row["verdict"]);
    const sums = [...only(summary, "product")].map((row) => [row["verdict"], row["count"]]);
    // In transit it is for being sent lately, which stands beside it.
    const told = only(items, "product").map(({ verdict, details }) => [
      verdict,
      Array.isArray(details) && details.includes("sent so lately that it may be on its way"),
    ]);
    expect(told.every(([verdict, isSaid]) => isSaid === (verdict === "in-transit"))).toBe(true);
    return { verdicts: [...new Set(levels)], sums };
  };
  world.now = placedAt + 86_400_000;
  await world.observe(key("C1"), kept);
  const missing = { verdicts: ["missing"], sums: [["missing", 3]] };
  const transit = { verdicts: ["in-transit"], sums: [["in-transit", 3]] };
  expect(await verdicts(0)).toEqual(missing);
  expect(await verdicts(1)).toEqual(missing);
  expect(await verdicts(2)).toEqual(transit);
  world.now = placedAt + 3 * 86_400_000;
  await world.observe(key("C1"), kept);
  expect(await verdicts(2)).toEqual(missing);
});
