import { describe, expect, it } from "vitest";
import { CustomerPlanning } from "../../src/engine/planning.ts";
import { CustomerState } from "../../src/engine/customer.ts";
import type { Instance } from "../../src/crm/model.ts";
import type { Operation } from "../../src/engine/model/operation.ts";
import type { OperationName } from "../../src/engine/model/resource.ts";
import { ApplyWorld, customer } from "../support/world/apply-world.ts";
import { orderRecord } from "../support/world/records.ts";
import { lost, untouched, withMemberCenter } from "./services.ts";

const types = ["cloud_account", "normal_recover_usbkey"] as const;
const bought = orderRecord("O1", "C1", {}, [...types]);

/** A placed order of three assets in two licence types, of which the CRM wants only this now. */
async function wanting(instances: Instance[], cancelled = false): Promise<ApplyWorld> {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await world.take("orders", bought);
  await world.carryOut("place-order");
  await world.take("orders", { ...bought, instances, cancelled });
  return world;
}

const without = (...ids: string[]): Instance[] =>
  bought.instances.filter((item) => !("id" in item) || !ids.includes(item.id));

/** The operation of a kind that a run would plan now. */
async function planned(world: ApplyWorld, kind: OperationName): Promise<Operation> {
  const planning = new CustomerPlanning(
    { ...world.deps, reader: world.reader },
    new CustomerState(world.deps, customer),
    {
      thorough: false,
      signal: undefined,
      removalsBlocked: undefined,
    },
  );
  let made = await planning.plan();
  if (made.kind === "recorded") made = await planning.plan();
  const operations = made.kind === "planned" ? made.plan.operations : [];
  const found = operations.find((operation) => operation.kind === kind);
  if (found === undefined) throw new Error(`no ${kind} in ${JSON.stringify(made)}`);
  return found;
}

async function inDoubt(world: ApplyWorld, kind: OperationName, fault: object): Promise<string> {
  world.sandbox.faults.add({ operation: "E5", ...fault } as never);
  const delivery = await world.deliver(await planned(world, kind));
  if (delivery.kind !== "unknown") throw new Error(`${kind} is ${JSON.stringify(delivery)}`);
  return delivery.id;
}

/** Products that the ledger holds as standing, and asset numbers that ended. */
function known(world: ApplyWorld): { products: unknown; ended: unknown } {
  const one = (sql: string): unknown => world.sqlite().prepare(sql).pluck().get();
  return {
    products: one("select products from placed_order where to_at is null"),
    ended: one("select count(*) from asset_number where ended_at is not null"),
  };
}

describe("products whose deletion had no answer", () => {
  it("are gone at the first reading that shows none of them, whatever M6 leaves out", { tags: "long" }, async () => {
    const world = await wanting(without("P2-O1"));
    const id = await inDoubt(world, "delete-products", lost);
    world.sandbox.faults.add({ operation: "M6", fault: "shortPage", drop: 99 });
    expect((await world.settle(id)).kind).toBe("done");
    expect(known(world)).toEqual({ products: 8, ended: 0 });
    expect(world.sandbox.state()).toMatchObject({ products: 8 });
  });

  it("that are still there are planned anew, and deleted once", async () => {
    const world = await wanting(without("P2-O1"));
    const id = await inDoubt(world, "delete-products", untouched);
    expect((await world.settle(id)).kind).toBe("waiting");
    expect((await world.settleInTime(id)).kind).toBe("dropped");
    expect(known(world)).toEqual({ products: 9, ended: 0 });
    expect((await world.deliver(await planned(world, "delete-products"))).kind).toBe("done");
    expect(known(world)).toEqual({ products: 8, ended: 0 });
    expect(world.sandbox.state()).toMatchObject({ products: 8 });
  });

  it("of an asset that M7 shows bare are neither gone nor there: a person is asked", async () => {
    const world = await wanting(without("P2-O1"));
    const id = await inDoubt(world, "delete-products", lost);
    const bare = withMemberCenter(world, {
      listAssetContents: async () => ({ productInstanceList: [], children: [] }),
    });
    expect((await bare.settleInTime(id)).kind).toBe("parked");
    expect(known(world)).toEqual({ products: 9, ended: 0 });
  });
});

describe("assets whose deletion had no answer", () => {
  it("are gone where M7 says so of each by its id (60024)", async () => {
    const world = await wanting(bought.instances, true);
    const id = await inDoubt(world, "delete-assets", lost);
    expect((await world.settle(id)).kind).toBe("done");
    expect(known(world)).toEqual({ products: 0, ended: 3 });
  });

  it("are not gone because M6 and E8 leave them out", async () => {
    const world = await wanting(bought.instances, true);
    const id = await inDoubt(world, "delete-assets", untouched);
    const real = world.deps.platform.orderService;
    const short = world.with({ orderService: { ...real, listVirtualAssets: async () => [] } });
    world.sandbox.faults.add({ operation: "M6", fault: "shortPage", drop: 99 });
    expect((await short.settle(id)).kind).toBe("waiting");
    expect((await short.settleInTime(id)).kind).toBe("dropped");
    expect(known(world)).toEqual({ products: 9, ended: 0 });
    expect(world.sandbox.state()).toMatchObject({ products: 9, assets: 3 });
  });

  it("of which some are gone end so far, and the others are planned anew", async () => {
    const world = await wanting(bought.instances, true);
    const id = await inDoubt(world, "delete-assets", untouched);
    const [number] = (await world.ledger.state.known(customer)).numbers;
    world.sandbox.hand({ action: "drop-asset", assetNum: number?.number ?? "" });
    expect((await world.settleInTime(id)).kind).toBe("dropped");
    expect(known(world)).toEqual({ products: 6, ended: 1 });
    expect((await world.deliver(await planned(world, "delete-assets"))).kind).toBe("done");
    expect(known(world)).toEqual({ products: 0, ended: 3 });
  });

  it("of which one is gone and another one in part end so far, and each product is counted once", async () => {
    const world = await wanting(bought.instances, true);
    const id = await inDoubt(world, "delete-assets", untouched);
    const [first, second] = (await world.ledger.state.known(customer)).numbers;
    const assetNum = second?.number ?? "";
    const own = bought.instances.filter((item) => item.kind === "product" && item.parentId === second?.instanceId);
    const [crmProductId = ""] = own.flatMap((item) => ("id" in item ? [item.id] : []));
    world.sandbox.hand({ action: "drop-asset", assetNum: first?.number ?? "" });
    world.sandbox.hand({ action: "drop-product", assetNum, crmProductId });
    expect((await world.settleInTime(id)).kind).toBe("dropped");
    expect(known(world)).toEqual({ products: 6, ended: 1 });
  });
});
