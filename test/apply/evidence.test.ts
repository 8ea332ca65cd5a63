import { describe, expect, it } from "vitest";
import { decide } from "../../src/apply/decide.ts";
import { ApplyWorld, orderRecord, settleMs } from "./world.ts";

async function withOrder(options: Parameters<typeof ApplyWorld.start>[0] = {}): Promise<ApplyWorld> {
  const world = await ApplyWorld.start({ ordersUnseen: "resend", ...options });
  await world.makeEnterprise();
  await world.take("orders", orderRecord("O1"));
  return world;
}

/** Services whose E5 is answered by nobody and reaches the service when `land` is called. */
function landing(world: ApplyWorld): { world: ApplyWorld; land: () => Promise<unknown> } {
  const real = world.deps.platform.orderService;
  let late: () => Promise<unknown> = () => Promise.reject(new Error("nothing was sent"));
  const sent = world.with({
    orderService: {
      ...real,
      placeOrders: async (request, call) => {
        late = () => real.placeOrders(request, call);
        return { kind: "unknown", reason: "no answer" };
      },
    },
  });
  return { world: sent, land: () => late() };
}

describe("a call that waited for its turn before it was sent, and whose program was killed then", () => {
  it("has its whole settle time from when it is found: it may have left a moment before", async () => {
    const world = await withOrder();
    const order = await world.planned("place-order");
    await world.fixNumbers(order);
    const real = world.deps.platform.orderService;
    let land: () => Promise<unknown> = () => Promise.reject(new Error("nothing was sent"));
    const killed = world.with({
      orderService: {
        ...real,
        placeOrders: async (request, call) => {
          land = () => real.placeOrders(request, call);
          return await new Promise<never>(() => {});
        },
      },
    });
    void killed.deliver(order);
    await world.until(async () => Object.values(await world.states()).includes("sending"));
    world.clock.pass(settleMs - 1_000);
    const next = await world.restarted();
    const [row] = await next.ledger.openOperations();
    if (row === undefined) throw new Error("nothing is open");
    for (let reading = 0; reading < 4; reading += 1) {
      expect((await next.settle(row.id)).kind).toBe("waiting");
      next.clock.pass(settleMs / 4 - 10);
    }
    await land();
    expect((await next.settleInTime(row.id)).kind).toBe("done");
    expect(world.calls("E5")).toBe(1);
  });
});

describe("a reading that takes long", () => {
  it("counts as of when it began: what landed meanwhile is not called unseen", async () => {
    const world = await withOrder();
    const { world: sent, land } = landing(world);
    const id = await sent.carryOutUnknown("place-order");
    for (let reading = 0; reading < 3; reading += 1) expect((await world.settle(id)).kind).toBe("waiting");
    world.clock.pass(settleMs - 1_000);
    const real = world.deps.platform.orderService;
    const slow = world.with({
      orderService: {
        ...real,
        listVirtualAssets: async (...parameters: Parameters<typeof real.listVirtualAssets>) => {
          const shown = await real.listVirtualAssets(...parameters);
          await land();
          world.clock.pass(2_000);
          return shown;
        },
      },
    });
    expect((await slow.settle(id)).kind).toBe("waiting");
    expect((await world.settle(id)).kind).toBe("done");
    expect(world.calls("E5")).toBe(1);
  });

  it("is no ground for a person either", async () => {
    const world = await withOrder();
    const { world: sent, land } = landing(world);
    const id = await sent.carryOutUnknown("place-order");
    world.clock.pass(settleMs - 1_000);
    const real = world.deps.platform.orderService;
    const slow = world.with({
      orderService: {
        ...real,
        listVirtualAssets: async (...parameters: Parameters<typeof real.listVirtualAssets>) => {
          const shown = await real.listVirtualAssets(...parameters);
          await land();
          world.clock.pass(2_000);
          return shown;
        },
      },
    });
    await expect(decide(slow.deps, slow.observer, id, "not-applied", "x")).rejects.toMatchObject({
      code: "settle.too-early",
    });
  });
});

describe("settings that were changed while operations were in doubt", () => {
  it.each([
    ["lengthened: it counts for them too", 10 * settleMs, 10 * settleMs],
    ["shortened: what was promised then still stands", settleMs / 10, settleMs],
  ])("the settle time was %s", async (_name, timeMs, expected) => {
    const world = await withOrder();
    const { world: sent, land } = landing(world);
    const id = await sent.carryOutUnknown("place-order");
    const next = await world.restarted();
    Object.assign(next.deps.settle, { timeMs });
    for (let reading = 0; reading < 4; reading += 1) expect((await next.settle(id)).kind).toBe("waiting");
    world.clock.pass(expected - 1_000);
    for (let reading = 0; reading < 4; reading += 1) expect((await next.settle(id)).kind).toBe("waiting");
    await land();
    expect((await next.settleInTime(id)).kind).toBe("done");
    expect(world.calls("E5")).toBe(1);
  });
});
