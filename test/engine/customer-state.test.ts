import { expect, it } from "vitest";
import { CustomerState } from "../../src/engine/customer.ts";
import { formatKey } from "../../src/crm/keys.ts";
import { assetUnit, withNumbers, type FixedNumber } from "../../src/engine/model/references.ts";
import { applyChange, type StateChange } from "../../src/engine/model/state.ts";
import { growth, notQuadratic } from "../support/growth.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { ApplyWorld } from "../support/world/apply-world.ts";
import { customerRecord, key, orderRecord } from "../support/world/records.ts";

const customer = key("C1");
const other = key("C2");

async function stateOf(world: LedgerWorld): Promise<CustomerState> {
  await world.read("customers", [{ customers: customerRecord("C1") }]);
  const clock = { now: () => world.now, monotonic: () => world.now, sleep: () => Promise.resolve() };
  const state = new CustomerState({ ledger: world.ledger, clock }, customer, { keeps: false });
  expect(state.held.known).toBeDefined();
  return state;
}

/** One of many, in an order that is not that of the ledger. */
function shuffled(index: number): string {
  return String((index * 7919) % 100_003).padStart(6, "0");
}

function placed(id: string, owner = customer): StateChange {
  return {
    type: "order-placed",
    order: key(id),
    customer: owner,
    channelOrderId: `CO-${id}`,
    bodyHash: "hash",
    version: 1,
    products: 1,
    operationId: null,
    origin: "placed",
    licenceOrders: [],
  };
}

function granted(assetNumber: string, id: string, owner = customer): StateChange {
  const fields = { staff: key(id), customer: owner, memberGlobalId: `M-${id}`, operationId: null };
  return { type: "asset-granted", assetNumber, origin: "granted", ...fields };
}

function fixed(id: string): FixedNumber {
  return { number: `86${id}`, namespace: "crm", orderId: id, instanceId: "I", unit: 0 };
}

it(
  "what is sent for a customer costs the same however many orders, numbers and assignments it has",
  { tags: "long" },
  async () => {
    const world = await LedgerWorld.open();
    const grown = await growth(1000, async (many) => {
      const state = await stateOf(world);
      for (let index = 0; index < many; index += 1) {
        const id = shuffled(index);
        state.fixed([fixed(id)]);
        expect(state.payloadFacts().numberOf(assetUnit(key(id), "I", 0))).toBe(`86${id}`);
        await state.record([placed(id)]);
        await state.record([granted(`86${id}`, id)]);
      }
      const known = state.held.known;
      const ids = Array.from({ length: many }, (_, index) => shuffled(index)).sort();
      expect([...known.placedOrders.keys()]).toEqual(ids.map((id) => formatKey(key(id))));
      expect(known.numbers.map(({ orderId }) => orderId)).toEqual(ids);
      expect(known.assignments.map(({ assetNumber }) => assetNumber)).toEqual(ids.map((id) => `86${id}`));
    });

    expect(grown).toBeLessThan(notQuadratic);
  },
);

it("what is learned one after the other is known the same whenever it is asked for", async () => {
  const world = await LedgerWorld.open();
  const state = await stateOf(world);
  let known = state.held.known;
  const changes = Array.from({ length: 30 }, (_, index): StateChange => {
    const id = shuffled(index);
    if (index % 5 === 0) return placed(id, index % 2 === 0 ? customer : other);
    if (index % 5 === 1) return { type: "asset-revoked", assetNumber: "A-2", operationId: null };
    if (index % 5 === 2) return granted(`A-${index % 3}`, id, index % 2 === 0 ? customer : other);
    if (index % 5 === 3)
      return { type: "acknowledged", customer, fields: { name: id, branchName: "B", address: null } };
    return granted(`A-${index}`, "S");
  });
  for (const [index, change] of changes.entries()) {
    await state.record([change]);
    known = applyChange(known, change, { customer, at: "" });
    if (index % 4 === 0) {
      state.fixed([fixed(shuffled(index))]);
      known = withNumbers(known, [fixed(shuffled(index))]);
    }
    if (index % 7 === 0) expect(state.held.known).toEqual(known);
  }
  expect(state.held.known).toEqual(known);
  expect([...state.held.known.placedOrders.keys()]).toEqual([...known.placedOrders.keys()]);
});

it("what a plan learns of an order that stands is what the ledger would give it", async () => {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await world.take("orders", orderRecord("O1", "C1"));
  await world.carryOut("place-order");
  await world.take("orders", orderRecord("O1", "C1", { cancelled: true }));
  const { ledger, clock } = world.deps;
  const inMemory = new CustomerState({ ledger, clock }, customer, { keeps: false });
  const name = "crm/O1";
  const standing = inMemory.held.standings?.get(name);
  if (standing === undefined || "lost" in standing) throw new Error("the order stands");
  const [unit] = standing.units;
  if (unit === undefined) throw new Error("it has a unit");
  const { instanceId, unit: index, number = null } = unit;
  const item = { instanceId, unit: index, number, product: null, channelOrderId: null, licenseOrderId: null };
  const removed: StateChange = {
    type: "order-removed",
    order: standing.order,
    customer,
    operationId: null,
    origin: "sent",
    products: unit.products.length,
    items: [item],
  };
  await inMemory.record([removed]);
  const written = new CustomerState({ ledger, clock }, customer);
  await written.record([removed]);
  const unitsOf = ({ held: { standings } }: CustomerState) => {
    const now = standings?.get(name);
    return now === undefined || "lost" in now ? now : now.units.length;
  };
  expect([unitsOf(inMemory), unitsOf(written)]).toEqual([standing.units.length - 1, standing.units.length - 1]);
});

it("what was read back otherwise is known of a customer without orders too", async () => {
  const world = await LedgerWorld.open();
  await world.read("customers", [{ customers: customerRecord("C1") }]);
  expect(world.ledger.state.load(customer).changedAccounts).toBeUndefined();
  const different = { level: "staff", subject: "of crm/S1", class: "different", detail: "name" } as const;
  const seenAt = new Date(world.now).toISOString();
  await world.ledger.state.keepDifferences([{ customer, seenAt, differences: [different] }]);
  expect(world.ledger.state.load(customer).changedAccounts).toBeDefined();
});
