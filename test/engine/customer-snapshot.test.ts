import { expect, it } from "vitest";
import { CustomerSnapshot } from "../../src/engine/observe.ts";
import { CustomerState } from "../../src/engine/customer.ts";
import type { Observed } from "../../src/engine/plan/input.ts";
import { ApplyWorld, customer } from "../support/world/apply-world.ts";
import { orderRecord, staffRecord } from "../support/world/records.ts";
import { withMemberCenter, withOrderService } from "./services.ts";

/** An enterprise with one placed order, and a person who should hold its asset. */
async function ready(): Promise<ApplyWorld> {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await world.take("orders", orderRecord("O1", "C1"));
  await world.carryOut("place-order");
  await world.take("staff", staffRecord("1", "C1", { assets: [{ instanceId: "A-O1" }] }));
  return world;
}

async function read(world: ApplyWorld): Promise<Observed> {
  const snapshot = new CustomerSnapshot(world.deps, world.reader.of(customer), { thorough: false, whole: false });
  await snapshot.read(new CustomerState(world.deps, customer));
  return snapshot.observed;
}

it(
  "E8 is read beside M6 only where M6 leaves out a number that people hold or are given",
  { tags: "long" },
  async () => {
    const world = await ready();
    const [number] = (await world.ledger.state.known(customer)).numbers;
    const whole = await read(world);
    expect([whole.assets?.map((asset) => asset.from), world.calls("E8")]).toEqual([["M6"], 0]);
    const hidden = await read(withMemberCenter(world, { listAssetNumbers: async () => [] }));
    expect(hidden.assets).toMatchObject([{ assetNum: number?.number, from: "E8", holder: null }]);
    expect(world.calls("E8")).toBe(1);
  },
);

it("who holds a virtual asset is seen where E8 alone shows it", async () => {
  const world = await ready();
  await world.carryOut("add-staff");
  await world.carryOut("grant-assets");
  await world.take("staff", staffRecord("1", "C1"));
  const hidden = withMemberCenter(world, { listAssetNumbers: async () => [] });
  expect((await read(hidden)).assets).toMatchObject([{ from: "E8", holder: expect.any(String) }]);
  const none = await read(withOrderService(hidden, { listVirtualAssets: async () => [] }));
  expect(none.assets).toEqual([]);
});

it("M8 is read only where something is shown as lent", async () => {
  const world = await ready();
  expect((await read(world)).loans).toBeUndefined();
  const { memberCenter } = world.deps.platform;
  const lent = withMemberCenter(world, {
    listAssetNumbers: async (enterprise, call) =>
      (await memberCenter.listAssetNumbers(enterprise, call)).map((row) => ({ ...row, borrowedFlag: true })),
  });
  expect((await read(lent)).loans).toEqual([]);
  expect(world.calls("M8")).toBe(1);
});
