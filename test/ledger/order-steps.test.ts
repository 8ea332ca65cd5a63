import { describe, expect, it } from "vitest";
import { operation, type Operation } from "../../src/engine/model/operation.ts";
import { applyChanges, type StateChange } from "../../src/engine/model/state.ts";
import { asset, product } from "../support/world/instances.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord } from "../support/world/records.ts";
import { rowsOf } from "../support/world/start.ts";

const customer = key("C");
const order = key("O-1");
const template = (n: number): string => `O-1-${n}`;

/** A ledger with two customers, each with a placed order, of whom the first one's has grown in the CRM. */
async function placed(): Promise<LedgerWorld> {
  const world = await LedgerWorld.open();
  const lines = [asset("a"), product("p", "a")];
  await world.read("customers", [{ customers: customerRecord("C") }, { customers: customerRecord("D") }]);
  await world.read("orders", [
    { orders: orderRecord("O-1", "C", { instances: lines }) },
    { orders: orderRecord("O-2", "D", { instances: lines }) },
  ]);
  const of = (id: string, whose: string): StateChange => ({
    type: "order-placed",
    order: key(id),
    customer: key(whose),
    channelOrderId: id,
    bodyHash: `hash of ${id}`,
    version: 1,
    products: 1,
    operationId: null,
    origin: "placed",
    licenceOrders: [{ sequence: 1, licenseType: "softkey", platformCustomerId: "P", licenseOrderId: `L-${id}` }],
  });
  await world.ledger.state.record(customer, [of("O-1", "C"), of("O-2", "D")]);
  return world;
}

const bought = (channelOrderId: string): StateChange => ({
  type: "order-bought",
  order,
  customer,
  channelOrderId,
  version: 1,
  items: [{ instanceId: "a", unit: 0, number: "N1", products: ["p"], packages: [] }],
  licenceOrders: [],
  products: 1,
  operationId: null,
  origin: "sent",
});

function amendment(lastStep: number, agreed: string | null): Operation {
  return operation("amend-order", {
    customer,
    subject: "order:crm/O-1",
    records: [{ stream: "orders", ...order }],
    target: {},
    payload: {
      channelCode: "CH",
      syncMode: "sync",
      orderList: [],
      channelOrderId: { $ref: "channelOrderId", of: "crm/O-1" },
    },
    reason: "a test",
    before: null,
    after: { version: 2, bodyHash: "more", assets: [], items: [], lastStep, agreed },
  });
}

async function intended(world: LedgerWorld, planned: Operation, channelOrderId: string): Promise<string> {
  try {
    await world.ledger.journal.intend({
      operation: planned,
      runId: null,
      wireHash: "w",
      nonce: `nonce ${channelOrderId} ${planned.hash}`,
      context: { channelOrderId },
    });
    return "intended";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}

describe("the number of an amendment", () => {
  it("that came to nothing is taken again by the same amendment, and by no other one", async () => {
    const { state } = (await placed()).ledger;
    expect(await state.write((rows, at) => rows.order.steps.fixNumber(order, "hash one", template, at))).toEqual({
      number: "O-1-1",
    });
    expect(await state.write((rows, at) => rows.order.steps.fixNumber(order, "hash one", template, at))).toEqual({
      number: "O-1-1",
    });
    expect(await state.write((rows, at) => rows.order.steps.fixNumber(order, "hash two", template, at))).toEqual({
      number: "O-1-2",
    });
    await state.record(customer, [bought("O-1-1")]);
    expect(await state.write((rows, at) => rows.order.steps.fixNumber(order, "hash one", template, at))).toEqual({
      number: "O-1-3",
    });
  });

  it("is the next one that is nobody's where another order has the first", async () => {
    const { state } = (await placed()).ledger;
    const next = (n: number): string => `O-${n + 1}`;
    expect(await state.write((rows, at) => rows.order.steps.fixNumber(order, "h", next, at))).toEqual({
      number: "O-3",
    });
    expect(await state.write((rows, at) => rows.order.steps.fixNumber(order, "another", next, at))).toEqual({
      number: "O-4",
    });
  });

  it("is nobody else's: not an order's that is placed, nor that of another order's amendment", async () => {
    const { state } = (await placed()).ledger;
    expect(await state.write((rows, at) => rows.order.steps.fixNumber(order, "h", () => "O-2", at))).toEqual({
      takenBy: key("O-2"),
      number: "O-2",
    });
    await state.write((rows, at) => rows.order.steps.fixNumber(order, "h", template, at));
    expect(await state.write((rows, at) => rows.order.steps.fixNumber(key("O-2"), "h", () => "O-1-1", at))).toEqual({
      takenBy: order,
      number: "O-1-1",
    });
  });
});

describe("an intent to amend an order", () => {
  it("that was planned before a step of its order is refused, and what agrees with what stands is not", async () => {
    const world = await placed();
    const { state } = world.ledger;
    const early = amendment(0, null);
    for (const hash of ["a", "b", "c"])
      await state.write((rows, at) => rows.order.steps.fixNumber(order, hash, template, at));
    await state.record(customer, [bought("O-1-1")]);
    expect(await intended(world, early, "O-1-2")).toBe("order.changed-meanwhile");
    expect(await intended(world, amendment(1, null), "O-1-2")).toBe("order.changed-meanwhile");
    expect(await intended(world, amendment(1, ""), "O-1-1")).toBe("order.changed-meanwhile");
    expect(await intended(world, amendment(1, ""), "nobody fixed it")).toBe("order.changed-meanwhile");
    expect(await intended(world, amendment(1, ""), "O-1-2")).toBe("intended");
  });

  it("that was planned before a person took note that the order agrees is refused", async () => {
    const world = await placed();
    await world.ledger.state.write((rows, at) => rows.order.steps.fixNumber(order, "h", template, at));
    await world.ledger.state.record(customer, [{ type: "order-agreed", order, version: 2, bodyHash: "more" }]);
    expect(await intended(world, amendment(0, null), "O-1-1")).toBe("order.changed-meanwhile");
  });
});

describe("what happens to a placed order", () => {
  it("is kept in its order, with how many products stand, and ends no other order's numbers", async () => {
    const world = await placed();
    const removed: StateChange = {
      type: "order-removed",
      order,
      customer,
      items: [{ instanceId: "a", unit: 0, number: "N1", product: "p", channelOrderId: "O-1", licenseOrderId: "L-O-1" }],
      products: 1,
      operationId: null,
      origin: "found",
    };
    await world.ledger.state.record(customer, [bought("O-1-1"), bought("O-1-2"), removed]);
    expect(
      rowsOf(world.ledger.path, "select order_id as id, products, agreed_hash as agreed from placed_order order by 1"),
    ).toEqual([
      { id: "O-1", products: 2, agreed: "" },
      { id: "O-2", products: 1, agreed: null },
    ]);
    expect(rowsOf(world.ledger.path, "select count from tally where name = 'product'")).toEqual([{ count: 3 }]);
    const { standings } = world.ledger.state.load(customer);
    const standing = standings?.get("crm/O-1");
    if (standing === undefined || "lost" in standing) throw new Error("nothing stands");
    expect(standing.units.map((unit) => unit.products.map((item) => item.channelOrderId))).toEqual([
      ["O-1-1", "O-1-2"],
    ]);
    expect(standing.lastStep).toBe(3);
  });
});

it("a number that is renewed is each unit's that stands, in memory as it is read back", async () => {
  const world = await placed();
  const { state } = world.ledger;
  const wanted = { instanceId: "a", quantity: 1, given: ["N1"], wireNumber: (digits: string) => digits };
  await state.write((rows, at) => rows.order.numbers.fixNumbers(order, customer, [wanted], at));
  const of = { customer, operationId: null, origin: "sent" } as const;
  const first = { namespace: "crm", orderId: "O-1", instanceId: "a", unit: 0 };
  const second = { namespace: "crm", orderId: "O-3", instanceId: "b", unit: 0 };
  const renewal = (id: string, instanceId: string, continues: (typeof first)[]): StateChange => ({
    type: "order-bought",
    ...of,
    order: key(id),
    channelOrderId: id,
    version: 1,
    items: [{ instanceId, unit: 0, number: "N1", products: [], packages: [], continues }],
    licenceOrders: [],
    products: 0,
  });
  const ends = (id: string, instanceId: string): StateChange => {
    const whole = { product: null, channelOrderId: null, licenseOrderId: null };
    return {
      type: "order-removed",
      ...of,
      order: key(id),
      products: 0,
      items: [{ instanceId, unit: 0, number: "N1", ...whole }],
    };
  };
  const steps: [StateChange[], string[]][] = [
    [[renewal("O-3", "b", [first])], ["O-1", "O-3"]],
    [[ends("O-1", "a")], ["O-3"]],
    [[renewal("O-4", "c", [second, first])], ["O-3", "O-4"]],
    [[ends("O-3", "b")], ["O-4"]],
    [[ends("O-4", "c"), { type: "numbers-ended", numbers: ["N1"] }], []],
  ];
  let known = await state.known(customer);
  for (const [changes, orders] of steps) {
    const at = await state.record(customer, changes);
    known = applyChanges(known, changes, { customer, at });
    expect(known.numbers).toEqual((await state.known(customer)).numbers);
    expect(known.numbers.map(({ orderId }) => orderId)).toEqual(orders);
  }
});
