import { expect, it } from "vitest";
import { CustomerSnapshot } from "../../src/engine/observe.ts";
import { CustomerState } from "../../src/engine/customer.ts";
import type { Instance } from "../../src/crm/model.ts";
import { ApplyWorld, customer, settleMs } from "../support/world/apply-world.ts";
import { orderRecord } from "../support/world/records.ts";

const bought = orderRecord("O1", "C1");
const [first = ""] = bought.instances.flatMap((item: Instance) => (item.kind === "product" ? [item.id] : []));
const without = bought.instances.filter((item) => item.kind !== "product" || item.id !== first);

/** A placed order that wants its first product gone, which M7 leaves out. */
async function leftOut(): Promise<ApplyWorld> {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await world.take("orders", bought);
  await world.carryOut("place-order");
  await world.take("orders", { ...bought, instances: without });
  show(world, { crmProductId: "X9", productUri: "PID-X9", channelOrderId: "another" });
  return world;
}

function show(world: ApplyWorld, fields: Record<string, string>): void {
  const assetNum = world.sqlite().prepare("select wire_number from asset_number where fixed_at is not null").pluck();
  world.sandbox.hand({ action: "show-product", assetNum: String(assetNum.get()), crmProductId: first, fields });
}

/** How many products count as gone by one more reading, and whether it asks for another one. */
async function read(world: ApplyWorld, keeps = true): Promise<[gone: number, again: boolean]> {
  const snapshot = new CustomerSnapshot(world.deps, world.reader.of(customer), { thorough: false, whole: false });
  await snapshot.read(new CustomerState(world.deps, customer, { keeps }));
  const gone = [...(snapshot.observed.gone?.values() ?? [])].reduce((sum, names) => sum + names.size, 0);
  return [gone, snapshot.absenceAgain !== undefined];
}

it("what M7 leaves out counts as gone after three readings over the settle time, of which early ones are one", async () => {
  const world = await leftOut();
  for (const _ of [1, 2, 3, 4]) expect(await read(world)).toEqual([0, true]);
  world.clock.pass(settleMs + 1);
  expect(await read(world)).toEqual([0, true]);
  const restarted = await world.restarted();
  expect(await read(restarted)).toEqual([1, false]);
});

it("it is counted anew once M7 showed it again, and once the CRM says something else of the order", async () => {
  const world = await leftOut();
  await read(world);
  world.clock.pass(settleMs + 1);
  expect(await read(world)).toEqual([0, true]);
  show(world, {});
  expect(await read(world)).toEqual([0, false]);
  show(world, { crmProductId: "X9", productUri: "PID-X9", channelOrderId: "another" });
  expect(await read(world)).toEqual([0, true]);
  world.clock.pass(settleMs + 1);
  expect(await read(world)).toEqual([0, true]);
  await world.take("orders", { ...bought, instances: without, channelOrderId: "other" });
  expect(await read(world)).toEqual([0, true]);
});

it("a plan counts its own reading and keeps nothing of it", async () => {
  const world = await leftOut();
  expect(await read(world, false)).toEqual([0, true]);
  const kept = world.sqlite().prepare("select count(*) from observation where kind = 'absent'").pluck().get();
  expect(kept).toBe(0);
});
