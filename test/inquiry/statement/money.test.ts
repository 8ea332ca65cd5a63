import { describe, expect, it } from "vitest";
import type { Instance, Money, Order } from "../../../src/crm/model.ts";
import type { StateChange } from "../../../src/engine/model/state.ts";
import type { Row, StatementRequest } from "../../../src/report/statement/shape.ts";
import { asset, product } from "../../support/world/instances.ts";
import { LedgerWorld, shownOf } from "../../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord } from "../../support/world/records.ts";
import { cells, eur, month, placeOrder, statementOf, usd } from "./statement-world.ts";

const draw = (quantity: number, amount: Money): Instance[] => [
  asset("A1", { licenseType: "cloud_account", quantity }),
  product("P1", "A1", { name: "Draw", gmsPid: "G-DRAW", amount }),
];
const order = (instances: Instance[], amount: Money | undefined): Order => ({
  ...orderRecord("O1", "C1", { instances }),
  amount,
  placedAt: "2026-10-02T08:00:00Z",
});
const of = { order: key("O1"), customer: key("C1") };

async function linked(): Promise<LedgerWorld> {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-02T10:00:00Z");
  await world.read("customers", [{ customers: customerRecord("C1") }]);
  await world.link(key("C1"), "E1");
  return world;
}

/** So many units of one product, under numbers that the CRM gives. */
async function placed(numbers: readonly string[], amount: Money): Promise<LedgerWorld> {
  const world = await linked();
  await fix(world, order(draw(numbers.length, amount), amount), numbers);
  await placeOrder(world, order(draw(numbers.length, amount), amount), []);
  return world;
}

async function fix(world: LedgerWorld, wanted: Order, given: readonly string[]): Promise<void> {
  await world.read("orders", [{ orders: wanted }]);
  const { length: quantity } = given;
  await world.ledger.state.write((rows, at) =>
    rows.order.numbers.fixNumbers(
      key("O1"),
      key("C1"),
      [{ instanceId: "A1", quantity, given, wireNumber: (digits) => digits }],
      at,
    ),
  );
}

/** One more unit was bought under a number, for what all of them cost now. */
async function boughtOneMore(
  world: LedgerWorld,
  numbers: readonly string[],
  from: Money,
  to: Money,
  origin: "by-hand" | "sent" = "by-hand",
): Promise<void> {
  world.now = Date.parse("2026-10-05T10:00:00Z");
  await fix(world, order(draw(numbers.length, to), to), numbers);
  const unit = numbers.length - 1;
  const number = numbers.at(-1) ?? "";
  const changes: StateChange[] = [
    {
      ...of,
      type: "order-priced",
      version: 2,
      items: [
        { product: "P1", from, to },
        { product: null, from, to },
      ],
    },
    {
      ...of,
      type: "order-bought",
      channelOrderId: "CO-O1-2",
      version: 2,
      items: [{ instanceId: "A1", unit, number, products: ["P1"], packages: [] }],
      licenceOrders: [],
      operationId: null,
      origin,
      products: 1,
    },
  ];
  await world.ledger.state.record(key("C1"), changes);
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, unit) => String(1000 + unit));
const otherAmount = "amount: the CRM has another one than it was sent with";

async function units(
  world: LedgerWorld,
  fields: Partial<StatementRequest> = {},
): Promise<{ rows: Row[]; isDifferent: (number: string) => boolean }> {
  const { items } = await statementOf(world.path, "reconciliation", month("2026-10"), fields);
  const rows = (items ?? []).filter((row) => row["level"] === "product");
  const details = new Map(rows.map((row) => [row["asset_number"], row["details"]]));
  const isDifferent = (number: string): boolean => {
    const told = details.get(number);
    return Array.isArray(told) && told.includes(otherAmount);
  };
  return { rows, isDifferent };
}

describe("what units cost more or fewer of which the CRM wants", () => {
  it.each([
    { what: "the double price of very many units", units: 100, from: 1_00, to: 2_02, isDifferent: true },
    { what: "a cent more for each of many units", units: 100, from: 100_00, to: 102_01, isDifferent: true },
    { what: "half a cent more for each of many units", units: 200, from: 1_00, to: 2_01, isDifferent: true },
    { what: "two cents more on a line", units: 3, from: 10_00, to: 13_35, isDifferent: true },
    { what: "a line that was rounded to the cent", units: 3, from: 10_00, to: 13_33, isDifferent: false },
    { what: "the same price", units: 100, from: 1_00, to: 1_01, isDifferent: false },
    { what: "nothing, and something now", units: 100, from: 0, to: 1_01, isDifferent: true },
  ])("$what: different $isDifferent", async ({ units: count, from, to, isDifferent }) => {
    const numbers = numbered(count + 1);
    const world = await placed(numbers.slice(0, count), eur(from));
    await boughtOneMore(world, numbers, eur(from), eur(to));
    const told = await units(world);
    expect(told.isDifferent("1000")).toBe(isDifferent);
    // What was bought for the new price was sent with it.
    expect(told.isDifferent(numbers.at(-1) ?? "")).toBe(false);
  });

  it.each([
    { what: "a cent that each line was rounded by", units: 2, from: 6_67, to: 10_00, isDifferent: false },
    { what: "the same price", units: 100, from: 1_00, to: 1_01, isDifferent: false },
    { what: "two cents more on a line", units: 3, from: 10_00, to: 13_35, isDifferent: true },
    { what: "half a cent more for each of many units", units: 200, from: 1_00, to: 2_01, isDifferent: true },
  ])(
    "$what, amended: in the way of closing $isDifferent",
    { tags: "long" },
    async ({ units: count, from, to, isDifferent }) => {
      const numbers = numbered(count + 1);
      const world = await placed(numbers.slice(0, count), eur(from));
      await boughtOneMore(world, numbers, eur(from), eur(to), "sent");
      const { rows } = await units(world);
      expect(rows.some((row) => row["crm_amount"] !== row["sent_amount"])).toBe(true);
      expect((await units(world)).isDifferent("1000")).toBe(isDifferent);
      const found = await (await world.inquiry()).blockers(month("2026-10"));
      const money = found.filter(({ kind }) => kind === "money");
      expect(money.map(({ id }) => id)).toEqual(isDifferent ? ["money:crm/O1"] : []);
      // It is named by a unit whose amounts differ.
      for (const { what } of money) expect(what).not.toMatch(/^the CRM has (\S+ EUR) for it, and \1 was sent$/u);
    },
  );

  it("tolerates what a currency allows on the whole line, and not on each of its units", async () => {
    const numbers = numbered(101);
    const world = await placed(numbers.slice(0, 100), eur(1_00));
    await boughtOneMore(world, numbers, eur(1_00), eur(2_02));
    const within = async (minor: number): Promise<unknown> =>
      cells((await units(world, { tolerances: { money: { EUR: minor } } })).rows.slice(0, 1), "within_tolerance");
    expect(await within(100)).toEqual([[false]]);
    expect(await within(101)).toEqual([[true]]);
  });
});

describe("what an amount is divided into", () => {
  it.each([
    { what: "ascending", numbers: ["1", "2", "3"] },
    { what: "descending", numbers: ["9", "5", "3"] },
    { what: "mixed", numbers: ["5", "9", "3"] },
  ])("is the same for each unit, as it was bought, when numbers are $what", async ({ numbers }) => {
    const world = await placed(numbers, eur(1_01));
    const { rows } = await units(world);
    const shares = new Map(rows.map((row) => [row["asset_number"], [row["crm_amount"], row["sent_amount"]]]));
    expect(numbers.map((number) => shares.get(number))).toEqual([
      [33, 33],
      [34, 34],
      [34, 34],
    ]);
  });

  it("leaves what was sent as it was when one more is bought under the smallest number", async () => {
    const world = await placed(["8", "9"], eur(100_01));
    await boughtOneMore(world, ["8", "9", "7"], eur(100_01), eur(150_00));
    const { rows } = await units(world);
    expect(cells(rows, "asset_number", "sent_amount", "crm_amount")).toEqual([
      ["7", 50_00, 50_00],
      ["8", 50_00, 50_00],
      ["9", 50_01, 50_00],
    ]);
  });

  it("falls last to units that the CRM wants and that have no number yet, whatever numbers the others have", async () => {
    const world = await placed(["9", "5"], eur(1_00));
    world.now = Date.parse("2026-10-05T10:00:00Z");
    await world.read("orders", [{ orders: order(draw(3, eur(1_00)), eur(1_00)) }]);
    const { rows } = await units(world);
    expect(cells(rows, "asset_number", "verdict", "crm_amount")).toEqual([
      ["5", "different", 33],
      ["9", "different", 33],
      [null, "missing", 34],
    ]);
  });

  it("goes with the units that were bought first, where the CRM wants fewer", async () => {
    const world = await placed(["9", "8", "7"], eur(3_00));
    world.now = Date.parse("2026-10-05T10:00:00Z");
    await world.read("orders", [{ orders: order(draw(2, eur(2_00)), eur(2_00)) }]);
    const { rows } = await units(world);
    expect(cells(rows, "asset_number", "in_crm", "crm_amount", "sent_amount")).toEqual([
      ["7", false, null, 1_00],
      ["8", true, 1_00, 1_00],
      ["9", true, 1_00, 1_00],
    ]);
  });
});

/** An order of three lines and freight, of which the platform shows the lines that are asked for. */
async function observed(
  showing: (product: string) => boolean,
  amounts: readonly (Money | undefined)[],
): Promise<unknown[][]> {
  const world = await linked();
  const lines = amounts.map((amount, at) => product(`P${at}`, "A1", { gmsPid: `G-${at}`, amount }));
  const wanted = order([asset("A1", { licenseType: "cloud_account" }), ...lines], eur(100_00));
  await fix(world, wanted, ["1000"]);
  const operation = await world.orderOperation(key("C1"), key("O1"));
  await world.place(key("C1"), key("O1"));
  const shown = shownOf(operation, "1000", "L-O1").filter(
    ({ kind, subject }) => kind !== "product" || showing(subject.slice("1000/".length)),
  );
  await world.observe(key("C1"), shown);
  const period = { ...month("2026-10"), from: "2000", to: "2100" };
  const { items, summary } = await statementOf(world.path, "reconciliation", period);
  const ofOrder = (rows: readonly Row[] | undefined): Row[] =>
    (rows ?? []).filter((row) => row["level"] === "order" && row["currency"] !== null);
  const told = cells(ofOrder(items), "shown", "crm_amount", "sent_amount", "observed_amount");
  expect(cells(ofOrder(summary), "crm_amount", "sent_amount", "observed_amount"), "the summary").toEqual(
    told.map(([, ...money]) => money),
  );
  return told;
}

describe("what is observed of an order's money", () => {
  const three = [eur(10_00), eur(20_00), eur(60_00)];

  it("is all of it where every line is shown, with what no line has", async () => {
    expect(await observed(() => true, three)).toEqual([[true, 100_00, 100_00, 100_00]]);
  });

  it("is all but that of the lines that are not shown", async () => {
    expect(await observed((id) => id === "P0", three)).toEqual([[true, 100_00, 100_00, 20_00]]);
    expect(await observed((id) => id !== "P0", three)).toEqual([[true, 100_00, 100_00, 90_00]]);
  });

  it("is nothing where no line is shown", async () => {
    expect(await observed(() => false, three)).toMatchObject([[false, 100_00, 100_00, null]]);
  });

  it("is not known where a line that is not shown has no amount of its own, or one of another currency", async () => {
    expect(await observed((id) => id === "P0", [eur(10_00), undefined])).toEqual([[true, 100_00, 100_00, null]]);
    expect(await observed((id) => id === "P0", [eur(10_00), usd(20_00)])).toEqual([[true, 100_00, 100_00, null]]);
    expect(await observed((id) => id !== "P0", [eur(10_00), undefined])).toEqual([[true, 100_00, 100_00, 90_00]]);
  });
});
