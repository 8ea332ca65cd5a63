import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/canonical-json.ts";
import { decide } from "../../src/engine/settle-by-person.ts";
import { correlationOf } from "../../src/engine/plan/input.ts";
import { ApplyWorld, customer, settleMs } from "../support/world/apply-world.ts";
import { customerRecord, orderRecord, staffRecord } from "../support/world/records.ts";
import {
  landing,
  lost,
  refusingOrders,
  showingHalf,
  showingNoAssets,
  untouched,
  withMemberCenter,
  withOrderService,
} from "./services.ts";

async function withOrder(options: Parameters<typeof ApplyWorld.start>[0] = {}): Promise<ApplyWorld> {
  const world = await ApplyWorld.start({ ordersUnseen: "resend", ...options });
  await world.makeEnterprise();
  await world.take("orders", orderRecord("O1", "C1"));
  return world;
}

describe("a call whose program was killed before its answer", () => {
  it(
    "has its whole settle time from when it is found: how long it was under way is not known",
    { tags: "long" },
    async () => {
      const world = await withOrder();
      const order = await world.planned("place-order");
      await world.fixNumbers(order);
      const { world: killed, land } = landing(world, "never");
      void killed.deliver(order);
      await world.until(async () => Object.values(await world.states()).includes("sending"));
      world.clock.pass(settleMs - 1_000);
      const next = await world.restarted();
      const [row] = await next.ledger.journal.open();
      if (row === undefined) throw new Error("nothing is open");
      for (let reading = 0; reading < 4; reading += 1) {
        expect((await next.settle(row.id)).kind).toBe("waiting");
        next.clock.pass(settleMs / 4 - 10);
      }
      await land();
      expect((await next.settleInTime(row.id)).kind).toBe("done");
      expect(world.calls("E5")).toBe(1);
    },
  );
});

describe("a reading that takes long", () => {
  /** The order lands, and time passes, between the beginning and the end of E8. */
  function slowly(world: ApplyWorld, land: () => Promise<unknown>): ApplyWorld {
    const real = world.deps.platform.orderService;
    return withOrderService(world, {
      listVirtualAssets: async (...parameters: Parameters<typeof real.listVirtualAssets>) => {
        const shown = await real.listVirtualAssets(...parameters);
        await land();
        world.clock.pass(2_000);
        return shown;
      },
    });
  }

  it("counts as of when it began: what landed meanwhile is not called unseen", async () => {
    const world = await withOrder();
    // Those that are made while the call may still land count as one: with the slow one there would be enough.
    Object.assign(world.deps.settle, { readings: 2 });
    const { world: sent, land } = landing(world);
    const id = await sent.carryOutUnknown("place-order");
    for (let reading = 0; reading < 3; reading += 1) expect((await world.settle(id)).kind).toBe("waiting");
    world.clock.pass(settleMs - 1_000);
    const slow = slowly(world, land);
    expect((await slow.settle(id)).kind).toBe("waiting");
    expect((await world.settle(id)).kind).toBe("done");
    expect(world.calls("E5")).toBe(1);
  });

  it("is no ground for a person either", async () => {
    const world = await withOrder();
    const { world: sent, land } = landing(world);
    const id = await sent.carryOutUnknown("place-order");
    world.clock.pass(settleMs - 1_000);
    const slow = slowly(world, land);
    await expect(
      decide({ ...slow.deps, reader: slow.reader }, id, { verdict: "not-applied", reason: "x", by: "tester" }),
    ).rejects.toMatchObject({
      code: "settle.too-early",
    });
  });
});

describe("readings that disagree with one another", () => {
  it.each([
    ["whatever is shown later", 0],
    ["however many readings show nothing of it within the settle time", 30],
  ])("an order that was shown in part once is never sent again, %s", async (_name, blankReadings) => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", ...lost });
    const id = await world.carryOutUnknown("place-order");
    const half = showingHalf(world);
    expect((await half.settle(id)).kind).toBe("waiting");
    expect((await half.settle(id)).kind).toBe("waiting");
    const blank = showingNoAssets(world);
    for (let reading = 0; reading < blankReadings; reading += 1) expect((await blank.settle(id)).kind).toBe("waiting");
    world.clock.pass(settleMs + 1);
    expect((await blank.settleInTime(id)).kind).toBe("parked");
    expect(world.calls("E5")).toBe(1);
  });

  it("an order whose own asset numbers are shown is not unseen, also where their products are not", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", ...lost });
    const id = await world.carryOutUnknown("place-order");
    const bare = withMemberCenter(world, {
      listAssetContents: async () => ({ productInstanceList: [], children: [] }),
    });
    expect((await bare.settleInTime(id)).kind).toBe("parked");
    expect(world.calls("E5")).toBe(1);
  });

  it("M5 still shows what M6 no longer does: nothing is called taken away", async () => {
    const world = await withOrder();
    await world.carryOut("place-order");
    await world.take("staff", staffRecord("S1", "C1", { assets: [{ instanceId: "A-O1" }] }));
    await world.carryOut("add-staff");
    await world.carryOut("grant-assets");
    await world.take("staff", staffRecord("S1", "C1"));
    world.sandbox.faults.add({ operation: "M9", ...untouched });
    const id = await world.carryOutUnknown("revoke-assets");
    const real = world.deps.platform.memberCenter;
    const stale = withMemberCenter(world, {
      listAssetNumbers: async (enterprise, call) =>
        (await real.listAssetNumbers(enterprise, call)).map((asset) => ({ ...asset, cloudAccountGlobalId: null })),
    });
    expect((await stale.settle(id)).kind).toBe("waiting");
    expect((await world.ledger.state.known(customer)).assignments).toHaveLength(1);
    expect((await world.settleInTime(id)).kind).toBe("dropped");
    expect(await world.carryOut("revoke-assets")).toMatchObject({ kind: "done" });
    expect(world.sandbox.state().assignments).toBe(0);
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

  it("more readings are asked for than are kept: it is settled all the same", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    Object.assign(world.deps.settle, { readings: 25 });
    world.clock.pass(settleMs + 1);
    for (let reading = 0; reading < 24; reading += 1) expect((await world.settle(id)).kind).toBe("waiting");
    expect((await world.settle(id)).kind).toBe("done");
  });

  it("another template for channel numbers, confirmed since: it says nothing of an E2 that was sent under the first", async () => {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    world.sandbox.faults.add({ operation: "E2", ...untouched });
    const id = await world.carryOutUnknown("create-enterprise");
    Object.assign(world.settings, { channelCustomerIdTemplate: "X{id}" } satisfies JsonObject);
    await world.ledger.state.confirmCorrelation(correlationOf(world.settings));
    expect((await world.settleInTime(id)).kind).toBe("parked");
    expect(world.calls("E2")).toBe(1);
  });

  it("a number that the CRM gave itself is not confirmed by customers whose number the template makes", async () => {
    const world = await ApplyWorld.start();
    await world.ledger.state.confirmCorrelation(correlationOf(world.settings));
    await world.take("customers", customerRecord("C1", { channelCustomerId: "TYPED-WRONG" }));
    world.sandbox.faults.add({ operation: "E2", ...lost });
    const id = await world.carryOutUnknown("create-enterprise");
    expect((await world.settleInTime(id)).kind).toBe("parked");
    expect(world.sandbox.state().enterprises).toBe(1);
  });

  it("a channel code that is searched no longer: what was made under it is found all the same", async () => {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    world.sandbox.faults.add({ operation: "E2", ...lost });
    const id = await world.carryOutUnknown("create-enterprise");
    await world.ledger.state.confirmCorrelation(correlationOf(world.settings));
    Object.assign(world.settings, { channelCode: "other" } satisfies JsonObject);
    expect((await world.settleInTime(id)).kind).toBe("done");
    expect(world.calls("E2")).toBe(1);
  });
});

describe("licence types that the platform may not show (A43)", () => {
  it("are never called unseen where the settings do not name them", async () => {
    const world = await withOrder({ assumptions: { visibleLicenseTypes: ["normal_recover_usbkey"] } });
    world.sandbox.faults.add({ operation: "E5", ...lost });
    const id = await world.carryOutUnknown("place-order");
    expect(await showingNoAssets(world).settleInTime(id)).toMatchObject({
      kind: "parked",
      reason: expect.stringContaining("cloud_account"),
    });
    expect(world.calls("E5")).toBe(1);
  });

  it("are not called unseen either where the CRM has changed the order since: the new one is not placed beside it", async () => {
    const world = await withOrder({ assumptions: { visibleLicenseTypes: ["normal_recover_usbkey"] } });
    world.sandbox.faults.add({ operation: "E5", ...lost });
    const id = await world.carryOutUnknown("place-order");
    const { instances, ...order } = orderRecord("O1", "C1");
    await world.take("orders", { ...order, instances: instances.slice(0, -1) });
    expect((await showingNoAssets(world).settleInTime(id)).kind).toBe("parked");
  });

  it("are learned from what was shown where the settings say nothing", async () => {
    const world = await withOrder();
    delete world.settings.visibleLicenseTypes;
    world.sandbox.faults.add({ operation: "E5", ...lost });
    const first = await world.carryOutUnknown("place-order");
    expect((await world.settle(first)).kind).toBe("done");
    await world.take("orders", orderRecord("O2", "C1"), orderRecord("O3", "C1", {}, ["normal_recover_usbkey"]));
    for (const [subject, settled] of [
      ["order:crm/O2", "done"],
      ["order:crm/O3", "parked"],
    ]) {
      world.sandbox.faults.add({ operation: "E5", ...untouched });
      const planned = (await world.plan()).find((operation) => operation.subject === subject);
      if (planned === undefined) throw new Error(`no ${subject}`);
      const delivery = await world.deliver(planned);
      if (delivery.kind !== "unknown") throw new Error(delivery.kind);
      expect((await world.settleInTime(delivery.id)).kind, subject).toBe(settled);
    }
  });
});

describe("an asset number that the CRM gave and in which M7 shows nothing at all", () => {
  it.each(["ambiguous", "empty"])(
    "proves nothing about its order, or that it is not there, as the settings say: %s",
    async (emptyAssets) => {
      const world = await withOrder({ assumptions: { emptyAssets } });
      const { instances, ...order } = orderRecord("O4", "C1");
      const given = instances.map((item) => (item.kind === "asset" ? { ...item, assetNumbers: ["8999999999"] } : item));
      await world.take("orders", { ...order, instances: given });
      const planned = (await world.plan()).find((operation) => operation.subject === "order:crm/O4");
      if (planned === undefined) throw new Error("no order");
      world.sandbox.faults.add({ operation: "E5", ...untouched });
      const delivery = await world.deliver(planned);
      if (delivery.kind !== "unknown") throw new Error(delivery.kind);
      const bare = withMemberCenter(world, {
        listAssetNumbers: async () => [
          { assetNum: "8999999999", assetId: "65", cloudAccountGlobalId: null, borrowedFlag: false, onlineFlag: false },
        ],
        listAssetContents: async () => ({ productInstanceList: [], children: [] }),
      });
      const settled = await bare.settleInTime(delivery.id);
      expect(settled.kind).toBe(emptyAssets === "ambiguous" ? "parked" : "done");
      expect(world.calls("E5")).toBe(emptyAssets === "ambiguous" ? 1 : 2);
    },
  );
});

describe("an enterprise that E1 bound without an answer", () => {
  it("is known as by its answer: its staff is not protected", async () => {
    const world = await ApplyWorld.start({ assumptions: { enterpriseCreation: "E1" } });
    await world.take("customers", customerRecord("C1"));
    world.sandbox.faults.add({ operation: "E1", ...lost });
    const id = await world.carryOutUnknown("bind-enterprise");
    const [found] = await world.reader.of(customer).enterprises("C1");
    const byHand = { userList: [{ userName: "CANARYuserS1", name: "CANARY person S1", password: "Password-1" }] };
    await world.deps.platform.memberCenter.addStaff(found?.enterpriseGlobalId ?? "", byHand, {
      nonce: "a".repeat(32),
    });
    expect((await world.settle(id)).kind).toBe("done");
    expect((await world.ledger.state.known(customer)).protectedMembers.size).toBe(0);
    await world.take("staff", staffRecord("S1", "C1"));
    await world.plan();
    expect((await world.ledger.state.known(customer)).staffLinks.size).toBe(1);
  });
});

describe("what is kept of the readings", () => {
  it("those on which an order was sent again stay with it", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    expect((await world.settleInTime(id)).kind).toBe("done");
    const evidence = (await world.row(id)).evidence as { readings: unknown[] } | null;
    expect(evidence?.readings.length).toBeGreaterThanOrEqual(3);
  });

  it("those on which it was sent again are not counted when that did not leave: it is read anew", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    expect((await refusingOrders(world).settleInTime(id)).kind).toBe("unreadable");
    for (const kind of ["waiting", "waiting", "done"]) expect((await world.settle(id)).kind).toBe(kind);
  });

  it("a run that was reading does not overwrite what a person decided on", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    world.clock.pass(settleMs + 1);
    await decide({ ...world.deps, reader: world.reader }, id, { verdict: "not-applied", reason: "x", by: "tester" });
    const before = (await world.row(id)).evidence;
    await world.ledger.journal.noteEvidence(id, { readings: [] });
    expect((await world.row(id)).evidence).toEqual(before);
  });
});
