import { describe, expect, it } from "vitest";
import { correlationOf } from "../../src/engine/plan/input.ts";
import type { Order } from "../../src/crm/model.ts";
import { ApplyWorld, customer } from "../support/world/apply-world.ts";
import { customerRecord, orderRecord } from "../support/world/records.ts";
import { HeldClock } from "../support/world/start.ts";
import { withMemberCenter, withOrderService } from "./services.ts";

/** An order of cloud assets whose E5 had no answer; `applied` says whether the platform placed it. */
async function inDoubt(
  applied: boolean,
  options: Parameters<typeof ApplyWorld.start>[0] = {},
): Promise<{ world: ApplyWorld; id: string }> {
  const world = await ApplyWorld.start(options);
  await world.makeEnterprise();
  await world.take("orders", orderRecord("O1", "C1"));
  world.sandbox.faults.add({ operation: "E5", fault: applied ? "appliedNoReply" : "resetBefore", times: 1 });
  return { world, id: await world.carryOutUnknown("place-order") };
}

describe("what proves an order in doubt", () => {
  it("are its assets where E8 alone shows them", async () => {
    const { world, id } = await inDoubt(true);
    expect((await withMemberCenter(world, { listAssetNumbers: async () => [] }).settle(id)).kind).toBe("done");
    expect((await world.ledger.state.known(customer)).placedOrders.size).toBe(1);
  });

  it("are not products that another order put into the same assets", async () => {
    const { world, id } = await inDoubt(true);
    const real = world.deps.platform.memberCenter;
    const elsewhere = withMemberCenter(world, {
      listAssetContents: async (asset, call) => {
        const contents = await real.listAssetContents(asset, call);
        const others = (products: typeof contents.productInstanceList) =>
          products.map((product) => ({ ...product, channelOrderId: "another" }));
        const children = contents.children.map((node) => ({
          ...node,
          productInstanceList: others(node.productInstanceList),
        }));
        return { ...contents, children, productInstanceList: others(contents.productInstanceList) };
      },
    });
    expect((await elsewhere.settle(id)).kind).toBe("waiting");
    expect((await world.ledger.state.known(customer)).placedOrders.size).toBe(0);
  });

  it("is every order record, not one of them", async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("orders", orderRecord("O1", "C1", {}, ["cloud_account", "normal_recover_usbkey"]));
    world.sandbox.faults.add({ operation: "E5", fault: "appliedNoReply", times: 1 });
    const id = await world.carryOutUnknown("place-order");
    const real = world.deps.platform.memberCenter;
    const hidden = (await world.ledger.state.known(customer)).numbers
      .filter((item) => item.instanceId === "A1-O1")
      .map((item) => item.number);
    const half = withMemberCenter(world, {
      listAssetNumbers: async (enterprise, call) =>
        (await real.listAssetNumbers(enterprise, call)).filter((asset) => !hidden.includes(asset.assetNum)),
    });
    expect((await half.settle(id)).kind).toBe("waiting");
    world.clock.pass(61_000);
    expect(await half.settle(id)).toMatchObject({ kind: "parked", reason: expect.stringContaining("only a part") });
  });
});

describe("an order in doubt that the CRM no longer wants as it was", () => {
  it.each<[string, Partial<Order>]>([
    ["cancelled", { cancelled: true }],
    [
      "changed",
      {
        instances: orderRecord("O1", "C1").instances.filter(
          (instance) => instance.kind !== "product" || instance.id !== "P1-O1",
        ),
      },
    ],
    ["moved to another customer", { customerId: "C2" }],
  ])("%s: it is not sent again", async (_how, fields) => {
    const { world, id } = await inDoubt(false, { ordersUnseen: "resend" });
    await world.take("orders", { ...orderRecord("O1", "C1"), ...fields });
    expect((await world.settleInTime(id)).kind).toBe("dropped");
    expect(world.calls("E5")).toBe(1);
  });
});

describe("an enterprise", () => {
  it("that E3 showed under other templates says nothing about these: a person is asked (A8)", async () => {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    await world.ledger.state.confirmCorrelation(
      correlationOf({ ...world.settings, crmCustomerIdTemplate: "crm-{id}" }),
    );
    await world.ledger.state.confirmCorrelation(
      correlationOf({ ...world.settings, channelCustomerIdTemplate: "crm-{id}" }),
    );
    await world.ledger.state.confirmCorrelation(correlationOf({ ...world.settings, channelCode: "other" }));
    world.sandbox.faults.add({ operation: "E2", fault: "resetBefore", times: 1 });
    const id = await world.carryOutUnknown("create-enterprise");
    expect(await world.settleInTime(id)).toMatchObject({ kind: "parked", reason: expect.stringContaining("A8") });
  });

  it("is looked for under every channel code", async () => {
    const world = await ApplyWorld.start({ assumptions: { otherChannelCodes: ["other"] } });
    await world.take("customers", customerRecord("C1"));
    world.sandbox.faults.add({ operation: "E2", fault: "appliedNoReply", times: 1 });
    const id = await world.carryOutUnknown("create-enterprise");
    const real = world.deps.platform.orderService;
    const elsewhere = world.with({
      orderService: {
        ...real,
        findCustomers: async (channelCode, channelCustomerId, defaults, call) => {
          if (channelCode !== "other") return [];
          const rows = (await real.findCustomers("crm", channelCustomerId, defaults, call)) ?? [];
          return rows.map((row) => ({ ...row, channelCode }));
        },
      },
    });
    expect((await elsewhere.settle(id)).kind).toBe("done");
  });
});

describe("the settle time of an order in doubt", () => {
  it("goes on where the program is started anew", async () => {
    const { world, id } = await inDoubt(false, { ordersUnseen: "resend" });
    const next = await world.restarted();
    for (let reading = 0; reading < 4; reading += 1) expect((await next.settle(id)).kind).toBe("waiting");
    expect(world.calls("E5")).toBe(1);
    world.clock.pass(61_000);
    expect((await next.settle(id)).kind).toBe("waiting");
    expect((await next.settle(id)).kind).toBe("done");
  });

  it(
    "is not decided by the one reading after it, which may be short: the order landed late and is not placed twice",
    { tags: "long" },
    async () => {
      const platformClock = new HeldClock();
      const world = await ApplyWorld.start({ platformClock, ordersUnseen: "resend" });
      await world.makeEnterprise();
      await world.take("orders", orderRecord("O1", "C1"));
      const order = await world.planned("place-order");
      await world.fixNumbers(order);
      world.sandbox.faults.add({ operation: "E5", fault: "appliedLate", delayMs: 1_000, times: 1 });
      const delivery = await world.deliver(order, 300);
      if (delivery.kind !== "unknown") throw new Error(`the order is ${delivery.kind}`);
      await world.until(() => world.sandbox.state().deferred === 1);
      for (let reading = 0; reading < 4; reading += 1) expect((await world.settle(delivery.id)).kind).toBe("waiting");
      platformClock.release();
      await world.until(() => world.effects("E5") === 1);
      world.clock.pass(61_000);
      const shorter = withMemberCenter(world, { listAssetNumbers: async () => [] });
      const short = withOrderService(shorter, { listVirtualAssets: async () => [] });
      expect((await short.settle(delivery.id)).kind).toBe("waiting");
      expect((await world.settle(delivery.id)).kind).toBe("done");
      expect([world.calls("E5"), world.nothingTwice]).toEqual([1, true]);
    },
  );

  it("begins with the call, so that a clock set ahead before the first look ends none of it", async () => {
    const { world, id } = await inDoubt(false, { ordersUnseen: "resend" });
    world.clock.set(86_400_000);
    for (let reading = 0; reading < 4; reading += 1) expect((await world.settle(id)).kind).toBe("waiting");
    expect(world.calls("E5")).toBe(1);
  });

  it("ends in a program whose clock was set ahead after its start", async () => {
    const world = await ApplyWorld.start({ ordersUnseen: "resend" });
    await world.makeEnterprise();
    await world.take("orders", orderRecord("O1", "C1"));
    world.clock.set(86_400_000);
    world.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 1 });
    const id = await world.carryOutUnknown("place-order");
    world.clock.pass(61_000);
    for (let reading = 0; reading < 2; reading += 1) expect((await world.settle(id)).kind).toBe("waiting");
    expect((await world.settle(id)).kind).toBe("done");
  });

  it("is not over where a program that was just started sees its clock set ahead before its first look", async () => {
    const { world, id } = await inDoubt(false, { ordersUnseen: "resend" });
    const next = await world.restarted();
    world.clock.set(86_400_000);
    for (let reading = 0; reading < 4; reading += 1) expect((await next.settle(id)).kind).toBe("waiting");
    expect(world.calls("E5")).toBe(1);
    world.clock.pass(61_000);
    expect((await next.settle(id)).kind).toBe("waiting");
    expect((await next.settle(id)).kind).toBe("done");
  });
});

describe("a wall clock that was set back while no program was running", () => {
  it("lets the settle time go on over several starts of the program", async () => {
    const { world, id } = await inDoubt(false, { ordersUnseen: "resend" });
    world.clock.set(-86_400_000);
    let next = world;
    const restart = async (): Promise<string> => {
      next = await next.restarted();
      return (await next.settle(id)).kind;
    };
    for (let start = 0; start < 3; start += 1) {
      expect(await restart()).toBe("waiting");
      world.clock.pass(21_000);
    }
    expect([await restart(), await restart()]).toEqual(["waiting", "done"]);
    expect(world.nothingTwice).toBe(true);
  });
});
