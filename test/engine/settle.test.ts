import { describe, expect, it } from "vitest";
import { z } from "zod";
import { evidenceWith } from "../../src/engine/evidence.ts";
import { correlationOf } from "../../src/engine/plan/input.ts";
import { ReadFailure } from "../../src/http/call.ts";
import type { Platform } from "../../src/platform/platform.ts";
import type { FaultRule } from "../../src/sandbox/faults.ts";
import { ApplyWorld, customer, permitted, settleMs } from "../support/world/apply-world.ts";
import { customerRecord, key, orderRecord, staffRecord } from "../support/world/records.ts";
import { HeldClock } from "../support/world/start.ts";
import {
  landing,
  lost,
  refusingOrders,
  showingHalf,
  untouched,
  withMemberCenter,
  withOrderService,
} from "./services.ts";

async function withOrder(options: Parameters<typeof ApplyWorld.start>[0] = {}): Promise<ApplyWorld> {
  const world = await ApplyWorld.start(options);
  await world.makeEnterprise();
  await world.take("orders", orderRecord("O1", "C1", {}, ["cloud_account", "normal_recover_usbkey"]));
  return world;
}

function kinds(world: ApplyWorld): string[] {
  return world.sqlite().prepare<[], string>("select kind from audit order by sequence").pluck().all();
}

/** Never answers, after the service was asked or without asking it: what a program that is killed leaves behind. */
function silent(world: ApplyWorld, asks: boolean): Platform["orderService"] {
  const real = world.deps.platform.orderService;
  const never = async (sent: Promise<unknown>): Promise<never> => {
    await sent;
    return await new Promise<never>(() => {});
  };
  return {
    ...real,
    placeOrders: (request, call) => never(asks ? real.placeOrders(request, call) : permitted(call)),
    takeAssetNumbers: (size, call) => never(asks ? real.takeAssetNumbers(size, call) : permitted(call)),
  };
}

describe("an order whose answer was lost (E5)", () => {
  it(
    "is done at the first reading that shows it, with the licence orders that M7 names",
    { tags: "long" },
    async () => {
      const world = await withOrder();
      world.sandbox.faults.add({ operation: "E5", ...lost });
      const id = await world.carryOutUnknown("place-order");
      expect((await world.settle(id)).kind).toBe("done");
      expect(await world.row(id)).toMatchObject({ state: "done", verdict: "applied" });
      const licences = world
        .sqlite()
        .prepare<[], string>("select license_order_id from licence_order order by sequence")
        .pluck()
        .all();
      const shown = world.sqlite().prepare("select body from audit where kind = 'place-order'").pluck().get();
      for (const licence of licences) expect(String(shown)).toContain(licence);
      expect(new Set(licences).size).toBe(2);
      const sealed = world
        .sqlite()
        .prepare("select count(*) from private_value where sealed is not null")
        .pluck()
        .get();
      expect(sealed).toBe(0);
    },
  );

  it("is parked for a person only after three unseen readings and the settle time, never before", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    for (let reading = 0; reading < 5; reading += 1) expect((await world.settle(id)).kind).toBe("waiting");
    world.clock.pass(61_000);
    expect((await world.settle(id)).kind, "those before the settle time was over count as one").toBe("waiting");
    expect((await world.settle(id)).kind).toBe("parked");
    expect(await world.row(id)).toMatchObject({ state: "parked" });
    expect(kinds(world).at(-1)).toBe("parked");
    expect(world.calls("E5")).toBe(1);
  });

  it("counts three readings also when the settle time is over long since", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    world.clock.pass(600_000);
    expect([(await world.settle(id)).kind, (await world.settle(id)).kind, (await world.settle(id)).kind]).toEqual([
      "waiting",
      "waiting",
      "parked",
    ]);
  });

  it("takes a reading that failed for nothing", { tags: "long" }, async () => {
    const world = await withOrder({ ordersUnseen: "resend" });
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    world.clock.pass(600_000);
    for (const operation of ["M6", "E8"] as const) {
      world.sandbox.faults.add({ operation, fault: "code500" });
      for (let reading = 0; reading < 4; reading += 1) expect((await world.settle(id)).kind).toBe("unreadable");
      world.sandbox.faults.clear();
    }
    expect(world.calls("E5")).toBe(1);
    expect((await world.row(id)).evidence).toBeNull();
  });

  it("is sent again where the settings say so, with the same bytes and numbers and another nonce", async () => {
    const world = await withOrder({ ordersUnseen: "resend" });
    const bodies: { body: string | undefined; nonce: string }[] = [];
    const real = world.deps.platform.orderService;
    const watched = world.with({
      orderService: {
        ...real,
        placeOrders: (request, call) => {
          bodies.push({ body: call.body, nonce: call.nonce });
          return real.placeOrders(request, call);
        },
      },
    });
    world.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 2 });
    const id = await watched.carryOutUnknown("place-order");
    const numbers = (await world.ledger.state.known(customer)).numbers;
    expect((await watched.settleInTime(id)).kind).toBe("done");
    expect(bodies).toHaveLength(3);
    expect(new Set(bodies.map((item) => item.body)).size).toBe(1);
    expect(new Set(bodies.map((item) => item.nonce)).size).toBe(3);
    expect((await world.ledger.state.known(customer)).numbers).toEqual(numbers);
    expect(await world.ledger.journal.attempts(id)).toHaveLength(3);
    expect(world.effects("E5")).toBe(1);
    expect(world.nothingTwice).toBe(true);
  });

  it("is not sent again while readings show it, whatever the settings say", async () => {
    const world = await withOrder({ ordersUnseen: "resend" });
    world.sandbox.faults.add({ operation: "E5", ...lost });
    const id = await world.carryOutUnknown("place-order");
    world.clock.pass(600_000);
    expect((await world.settle(id)).kind).toBe("done");
    expect(world.calls("E5")).toBe(1);
  });

  it("stays in doubt when it could not be sent again: nothing else is placed for it", async () => {
    const world = await withOrder({ ordersUnseen: "resend" });
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    const { settleAfter } = await world.row(id);
    expect((await refusingOrders(world).settleInTime(id)).kind).toBe("unreadable");
    expect(await world.row(id)).toMatchObject({
      state: "unknown",
      attempts: 2,
      settleAfter,
      outcomeMessage: "sent again, it did not leave: connect ECONNREFUSED",
    });
    expect((await world.settleInTime(id)).kind).toBe("done");
    expect(world.effects("E5")).toBe(1);
  });

  it("waits for a person when it is refused the second time: the first attempt may have been applied", async () => {
    const world = await withOrder({ ordersUnseen: "resend" });
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    world.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", times: 1 });
    const reason = expect.stringContaining("sent again, it was rejected with 13004");
    expect(await world.settleInTime(id)).toMatchObject({ kind: "parked", reason });
    expect(await world.row(id)).toMatchObject({ state: "parked", outcomeCode: "13004" });
    for (let reading = 0; reading < 4; reading += 1) {
      world.clock.pass(10 * settleMs);
      expect(await world.settle(id), "no reading sends it again").toMatchObject({ kind: "parked", reason });
    }
    expect(world.calls("E5")).toBe(2);
    expect((await world.ledger.state.known(customer)).placedOrders.size).toBe(0);
  });

  it("is looked at again when the settle time is over, and between the readings that it still takes", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    const wait = async (): Promise<number> => {
      const settled = await world.settle(id);
      if (settled.kind !== "waiting") throw new Error(settled.kind);
      return Date.parse(settled.until) - world.clock.now();
    };
    const first = await wait();
    expect([first > 0, first <= settleMs]).toEqual([true, true]);
    world.clock.pass(settleMs);
    const second = await wait();
    expect([second > 0, second <= settleMs / 3]).toEqual([true, true]);
  });

  it("stays as it is while the platform cannot be read, also where a person was asked about it", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    const { memberCenter } = world.deps.platform;
    const unread = new ReadFailure({ endpoint: "M6", kind: "transport", reason: "nothing came" });
    const listAssetNumbers = (): Promise<never> => Promise.reject(unread);
    const blind = world.with({ memberCenter: { ...memberCenter, listAssetNumbers } });
    expect(await blind.settle(id)).toEqual({ kind: "unreadable", id, reason: unread.message });
    expect(await world.row(id)).toMatchObject({ state: "unknown", evidence: null });
    const parked = await world.settleInTime(id);
    expect(parked.kind).toBe("parked");
    expect(await blind.settle(id)).toEqual(parked);
  });

  it("that a person was asked about is done by itself once the platform shows it", async () => {
    const world = await withOrder();
    const { world: slow, land } = landing(world);
    const id = await slow.carryOutUnknown("place-order");
    expect((await world.settleInTime(id)).kind).toBe("parked");
    expect((await world.settle(id)).kind).toBe("parked");
    await land();
    expect((await world.settle(id)).kind).toBe("done");
    expect((await world.ledger.state.known(customer)).placedOrders.size).toBe(1);
  });

  it("is parked when only a part is shown, and only when the settle time is over", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", ...lost });
    const id = await world.carryOutUnknown("place-order");
    const half = showingHalf(world);
    expect((await half.settle(id)).kind).toBe("waiting");
    world.clock.pass(61_000);
    expect(await half.settle(id)).toMatchObject({ kind: "parked", reason: expect.stringContaining("only a part") });
  });

  it("is not taken for placed when one of its numbers is not shown", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", ...lost });
    const id = await world.carryOutUnknown("place-order");
    const real = world.deps.platform.memberCenter;
    const numbers = (await world.ledger.state.known(customer)).numbers;
    const hidden = numbers.find((item) => item.instanceId === "A1-O1" && item.unit === 1)?.number;
    const short = withMemberCenter(world, {
      listAssetNumbers: async (enterprise, call) =>
        (await real.listAssetNumbers(enterprise, call)).filter((asset) => asset.assetNum !== hidden),
    });
    world.clock.pass(61_000);
    expect((await short.settle(id)).kind).toBe("parked");
  });

  it("that is shown in two licence orders is never called good by itself", async () => {
    const world = await withOrder();
    const real = world.deps.platform.orderService;
    const twice = world.with({
      orderService: {
        ...real,
        placeOrders: async (request, call) => {
          await real.placeOrders(request, call);
          await real.placeOrders(request, { ...call, nonce: "f".repeat(32), beforeSending: undefined });
          return { kind: "unknown", reason: "no answer" };
        },
      },
    });
    const id = await twice.carryOutUnknown("place-order");
    expect(world.nothingTwice).toBe(false);
    world.clock.pass(61_000);
    expect(await world.settle(id)).toMatchObject({ kind: "parked", reason: expect.stringContaining("placed twice") });
  });
});

describe("an order that is sent again and again without an answer", () => {
  it("is sent three times, and then a person decides", async () => {
    const world = await withOrder({ ordersUnseen: "resend" });
    world.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
    const id = await world.carryOutUnknown("place-order");
    expect(await world.settleInTime(id)).toMatchObject({
      kind: "parked",
      reason: expect.stringContaining("it was sent 3 times"),
    });
    expect(world.calls("E5")).toBe(3);
  });
});

describe("an order that was refused, and of which the platform shows something", () => {
  it("waits for a person, however whole it is shown", async () => {
    const world = await withOrder();
    const real = world.deps.platform.orderService;
    const refusing = withOrderService(world, {
      placeOrders: async (request, call) => {
        await real.placeOrders(request, call);
        return { kind: "rejected", code: "13004", status: 299, raw: {} };
      },
    });
    expect((await refusing.carryOut("place-order")).kind).toBe("rejected");
    const [refused] = world.ledger.journal.refusedOrders(key("O1"));
    const id = refused?.id ?? "";
    await world.ledger.journal.reopenRefused(id, "it is shown all the same", { readings: [] });
    const parked = { kind: "parked", id, reason: "it is shown all the same" };
    expect(await world.settle(id)).toEqual(parked);
    expect((await world.ledger.state.known(customer)).placedOrders.size).toBe(0);
  });
});

describe("an order that is to be sent again and would not be the same", () => {
  it.each([
    [
      "another customer of the enterprise is the default now",
      async (world: ApplyWorld) => {
        const { platformCustomers, link } = await world.ledger.state.known(customer);
        await world.ledger.state.record(customer, [
          {
            type: "platform-customers",
            enterpriseGlobalId: link?.enterpriseGlobalId ?? "",
            customers: platformCustomers.map((item) => ({ ...item, isDefault: !item.isDefault })),
          },
        ]);
      },
      "differs",
    ],
    [
      "a private value was erased",
      async (world: ApplyWorld) => {
        world.sqlite().exec("update private_value set body = null where ref = 'customers/crm/C1'");
      },
      "erased",
    ],
    [
      "a private value was changed",
      async (world: ApplyWorld) => {
        world
          .sqlite()
          .exec(
            "update private_value set body = replace(body, 'CANARY admin', 'CANARY other') where ref = 'customers/crm/C1'",
          );
      },
      "erased",
    ],
  ])("is parked, and nothing is sent: %s", async (_name, change, why) => {
    const world = await withOrder({ ordersUnseen: "resend" });
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    await change(world);
    expect(await world.settleInTime(id)).toMatchObject({ kind: "parked", reason: expect.stringContaining(why) });
    expect((await world.row(id)).state).toBe("parked");
    expect(world.calls("E5")).toBe(1);
  });
});

describe("a program that was killed while an order was on its way", () => {
  it.each([
    ["before the service had it", false],
    ["after the service had it", true],
  ])("%s: the next program finds it, and it is there once", async (_name, asks) => {
    const world = await withOrder({ ordersUnseen: "resend" });
    const order = await world.planned("place-order");
    await world.fixNumbers(order);
    void world.with({ orderService: silent(world, asks) }).deliver(order);
    await world.until(
      async () => Object.values(await world.states()).includes("sending") && (!asks || world.effects("E5") > 0),
    );
    const next = await world.restarted();
    const [row] = await next.ledger.journal.open();
    if (row === undefined) throw new Error("nothing is open");
    expect(row.state).toBe("sending");
    expect((await next.settleInTime(row.id)).kind).toBe("done");
    expect((await next.ledger.journal.attempts(row.id)).map((attempt) => attempt.outcome)).toEqual(
      asks ? ["unknown"] : ["unknown", "done"],
    );
    expect(await next.ledger.journal.open()).toEqual([]);
    expect(next.effects("E5")).toBe(1);
    expect(next.nothingTwice).toBe(true);
    expect(next.ledger.audit.verify()).toMatchObject({ good: true });
  });
});

describe("an asynchronous order whose program was killed", () => {
  it.each([
    ["before the service had it", false],
    ["after the service had it", true],
  ])("%s: it is looked for until its deadline, and never sent again by itself", async (_name, asks) => {
    const world = await withOrder({
      ordersUnseen: "resend",
      assumptions: { syncMode: "async" },
      platformClock: new HeldClock(),
    });
    const order = await world.planned("place-order");
    await world.fixNumbers(order);
    void world.with({ orderService: silent(world, asks) }).deliver(order);
    await world.until(
      async () => Object.values(await world.states()).includes("sending") && (!asks || world.calls("E5") > 0),
    );
    const next = await world.restarted();
    const [row] = await next.ledger.journal.open();
    if (row === undefined) throw new Error("nothing is open");
    for (const ms of [0, settleMs, settleMs, settleMs, settleMs]) {
      next.clock.pass(ms);
      expect(await next.settle(row.id)).toMatchObject({ kind: "waiting" });
    }
    expect(await next.settleInTime(row.id)).toMatchObject({
      kind: "parked",
      reason: expect.stringContaining("syncMode async"),
    });
    expect(next.calls("E5")).toBe(asks ? 1 : 0);
  });
});

describe("a wall clock that somebody sets", () => {
  it.each([
    ["a day ahead", 86_400_000],
    ["a day back", -86_400_000],
  ])("%s: the settle time ends neither early nor late", async (_name, ms) => {
    const world = await withOrder({ ordersUnseen: "resend" });
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    expect((await world.settle(id)).kind).toBe("waiting");
    world.clock.set(ms);
    for (let reading = 0; reading < 5; reading += 1) expect((await world.settle(id)).kind).toBe("waiting");
    expect(world.calls("E5")).toBe(1);
    world.clock.pass(61_000);
    expect((await world.settle(id)).kind).toBe("waiting");
    expect((await world.settle(id)).kind).toBe("done");
    expect(world.nothingTwice).toBe(true);
  });

  it("a day back while no program was running holds nothing open for a day", async () => {
    const world = await withOrder({ ordersUnseen: "resend" });
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    world.clock.set(-86_400_000);
    const next = await world.restarted();
    for (let reading = 0; reading < 4; reading += 1) expect((await next.settle(id)).kind).toBe("waiting");
    world.clock.pass(61_000);
    expect((await next.settle(id)).kind).toBe("waiting");
    expect((await next.settle(id)).kind).toBe("done");
  });
});

describe("numbers whose answer was lost (E9)", () => {
  it("are spent: the gap stands in the chain, and the order gets others", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E9", ...lost });
    expect(await world.carryOut("place-order")).toMatchObject({ kind: "done" });
    const sql = "select body from audit where kind = 'numbers-lost'";
    const entry: unknown = JSON.parse(String(world.sqlite().prepare(sql).pluck().get()));
    const verdict = "the numbers are spent and lost";
    expect(entry).toMatchObject({ state: "dropped", asked: 5, verdict, reason: expect.stringMatching(/./u) });
    expect(world.effects("E9")).toBe(2);
    const numbers = (await world.ledger.state.known(customer)).numbers.map((item) => item.number);
    expect(new Set(numbers).size).toBe(3);
    expect(await world.ledger.journal.open()).toEqual([]);
  });

  it("are asked for three times and no more; then the order waits", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E9", fault: "appliedNoReply" });
    expect(await world.carryOut("place-order")).toMatchObject({ kind: "blocked", code: "pool.empty" });
    expect(world.calls("E9")).toBe(3);
    expect(world.calls("E5")).toBe(0);
    expect(await world.ledger.journal.open()).toEqual([]);
  });

  it("are not waited for when the program was killed: the next one records the gap", async () => {
    const world = await withOrder();
    const order = await world.planned("place-order");
    void world.with({ orderService: silent(world, true) }).deliver(order);
    await world.until(() => world.effects("E9") > 0);
    const next = await world.restarted();
    const [row] = await next.ledger.journal.open();
    if (row === undefined) throw new Error("nothing is open");
    expect(row.operation.subject).toBe("pool");
    expect((await next.settle(row.id)).kind).toBe("dropped");
    expect(kinds(next)).toContain("numbers-lost");
    expect(await next.carryOut("place-order")).toMatchObject({ kind: "done" });
    expect(next.effects("E9")).toBe(2);
  });
});

describe("staff whose answer was lost (M1)", () => {
  async function started(): Promise<ApplyWorld> {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("staff", staffRecord("S1", "C1"), staffRecord("S2", "C1"), staffRecord("S3", "C1"));
    return world;
  }

  it("are linked by M5: new rows with the names that were sent and one suffix for all", async () => {
    const world = await started();
    world.sandbox.faults.add({ operation: "M1", ...lost });
    const id = await world.carryOutUnknown("add-staff");
    expect((await world.settle(id)).kind).toBe("done");
    const known = await world.ledger.state.known(customer);
    expect(known.staffLinks.size).toBe(3);
    expect(known.enterpriseCode).toBe("E00001");
    const members = await world.reader.of(customer).members(known.link?.enterpriseGlobalId ?? "");
    for (const link of known.staffLinks.values()) {
      expect(members.find((member) => member.globalId === link.memberGlobalId)?.name).toBe(
        `CANARY person ${link.key.id}`,
      );
    }
    expect(world.sandbox.state().addedStaff).toBe(3);
  });

  it("that were not added are planned anew after the settle time, with the passwords that were made for them", async () => {
    const world = await started();
    world.sandbox.faults.add({ operation: "M1", ...untouched });
    const id = await world.carryOutUnknown("add-staff");
    const before = await world.ledger.private.latestSealed("initial-password/crm/S1 at crm/C1");
    expect((await world.settle(id)).kind).toBe("waiting");
    expect((await world.settleInTime(id)).kind).toBe("dropped");
    expect(await world.carryOut("add-staff")).toMatchObject({ kind: "done" });
    expect(await world.ledger.private.latestSealed("initial-password/crm/S1 at crm/C1")).toEqual(before);
    expect(world.sandbox.state().addedStaff).toBe(3);
    expect(world.nothingTwice).toBe(true);
  });

  it("that were added in part, which the answer says (60027), are linked; the others are refused by name", async () => {
    const world = await started();
    world.sandbox.faults.add({ operation: "M1", fault: "partialM1", drop: 1, times: 1 });
    const delivery = await world.carryOut("add-staff");
    expect(delivery).toMatchObject({ kind: "done", refused: [{ key: { namespace: "crm", id: "S3" } }] });
    expect((await world.ledger.state.known(customer)).staffLinks.size).toBe(2);
  });

  /** Services whose M1 does something else than it was asked, and whose answer is lost. */
  function addingInstead(
    world: ApplyWorld,
    instead: (
      sent: readonly { userName: string; name: string; password: string }[],
    ) => { userName: string; name: string; password: string }[],
  ): ApplyWorld {
    const real = world.deps.platform.memberCenter;
    return world.with({
      memberCenter: {
        ...real,
        addStaff: async (enterprise, request, call) => {
          const other = { userList: instead(request.userList) };
          await real.addStaff(enterprise, other, { ...call, body: JSON.stringify(other) });
          return { kind: "unknown", reason: "no answer" };
        },
      },
    });
  }

  async function withKnownCode(): Promise<ApplyWorld> {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("staff", staffRecord("S0", "C1"));
    await world.carryOut("add-staff");
    await world.take("staff", staffRecord("S1", "C1"), staffRecord("S2", "C1"), staffRecord("S3", "C1"));
    return world;
  }

  it("that were added in part without an answer are linked as far as M5 shows them, and the rest is planned anew", async () => {
    const world = await withKnownCode();
    const id = await addingInstead(world, (sent) => sent.slice(0, 2)).carryOutUnknown("add-staff");
    expect((await world.settleInTime(id)).kind).toBe("dropped");
    expect(await world.row(id)).toMatchObject({ state: "done", verdict: expect.stringContaining("in part") });
    expect([...(await world.ledger.state.known(customer)).staffLinks.keys()]).toEqual(["crm/S0", "crm/S1", "crm/S2"]);
    const again = await world.planned("add-staff");
    expect(again.records.map((record) => record.id)).toEqual(["S3"]);
    await world.deliver(again);
    expect(world.sandbox.state().addedStaff).toBe(4);
  });

  it("that are shown in part before the enterprise code is known wait for a person: they may be other people", async () => {
    const world = await started();
    const strangers = addingInstead(world, ([first]) => [
      { userName: "CANARYuserS1old", name: first?.name ?? "", password: "Password-1" },
    ]);
    const id = await strangers.carryOutUnknown("add-staff");
    expect((await world.settle(id)).kind).toBe("waiting");
    expect((await world.settleInTime(id)).kind).toBe("parked");
    const known = await world.ledger.state.known(customer);
    expect([known.staffLinks.size, known.enterpriseCode]).toEqual([0, undefined]);
  });

  it("are not mistaken for members that were there when the call was made", async () => {
    const world = await started();
    const planned = await world.planned("add-staff");
    const { link } = await world.ledger.state.known(customer);
    const byHand = {
      userList: ["S1", "S2", "S3"].map((id) => ({
        userName: `CANARYuser${id}`,
        name: `CANARY person ${id}`,
        password: "Password-1",
      })),
    };
    await world.deps.platform.memberCenter.addStaff(link?.enterpriseGlobalId ?? "", byHand, { nonce: "a".repeat(32) });
    world.sandbox.faults.add({ operation: "M1", ...untouched });
    const delivery = await world.deliver(planned);
    if (delivery.kind !== "unknown") throw new Error(delivery.kind);
    expect((await world.settleInTime(delivery.id)).kind).toBe("dropped");
    expect((await world.ledger.state.known(customer)).staffLinks.size).toBe(0);
    await world.plan();
    expect([...(await world.ledger.state.known(customer)).staffLinks.values()].map((one) => one.origin)).toEqual([
      "adopted",
      "adopted",
      "adopted",
    ]);
  });

  it("are not mistaken for people of the same name under another account, once the code is known", async () => {
    const world = await withKnownCode();
    const strangers = addingInstead(world, (sent) =>
      sent.map((person) => ({ ...person, userName: `${person.userName}old` })),
    );
    const id = await strangers.carryOutUnknown("add-staff");
    expect(await world.settleInTime(id)).toMatchObject({ kind: "parked", reason: expect.stringContaining("A29") });
    expect((await world.ledger.state.known(customer)).staffLinks.size).toBe(1);
  });
});

describe("an enterprise whose answer was lost (E2)", () => {
  async function started(): Promise<ApplyWorld> {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    return world;
  }

  it("is linked when E3 shows it, with its customers and members", async () => {
    const world = await started();
    world.sandbox.faults.add({ operation: "E2", ...lost });
    const id = await world.carryOutUnknown("create-enterprise");
    expect((await world.settle(id)).kind).toBe("done");
    const known = await world.ledger.state.known(customer);
    expect(known.link?.origin).toBe("created");
    expect(known.platformCustomers).toHaveLength(2);
    expect(known.protectedMembers.size).toBe(2);
    expect((await world.plan()).map((operation) => operation.kind)).toEqual([]);
  });

  it("that is not shown waits for a person while no E3 ever showed what an E2 of ours made", async () => {
    const world = await started();
    world.sandbox.faults.add({ operation: "E2", ...untouched });
    const id = await world.carryOutUnknown("create-enterprise");
    expect(await world.settleInTime(id)).toMatchObject({ kind: "parked", reason: expect.stringContaining("A8") });
    expect(world.calls("E2")).toBe(1);
  });

  it("that is not shown is made anew, once, where E3 is known to show such enterprises", async () => {
    const world = await started();
    await world.ledger.state.confirmCorrelation(correlationOf(world.settings));
    world.sandbox.faults.add({ operation: "E2", ...untouched });
    const id = await world.carryOutUnknown("create-enterprise");
    expect((await world.settleInTime(id)).kind).toBe("dropped");
    expect(await world.carryOut("create-enterprise")).toMatchObject({ kind: "done" });
    expect(world.sandbox.state().enterprises).toBe(1);
  });

  it("is left to a person when E3 shows two", async () => {
    const world = await started();
    const real = world.deps.platform.orderService;
    const twice = world.with({
      orderService: {
        ...real,
        createEnterprise: async (request, call) => {
          await real.createEnterprise(request, call);
          await real.createEnterprise(request, { ...call, nonce: "f".repeat(32), beforeSending: undefined });
          return { kind: "unknown", reason: "no answer" };
        },
      },
    });
    const id = await twice.carryOutUnknown("create-enterprise");
    world.clock.pass(61_000);
    expect(await world.settle(id)).toMatchObject({ kind: "parked", reason: expect.stringContaining("made twice") });
    expect((await world.ledger.state.known(customer)).link).toBeUndefined();
  });
});

describe("the readings that are kept of an operation", () => {
  it("are the newest, and the last older one that showed something of it", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const row = await world.row(await world.carryOutUnknown("place-order"));
    const kept = (readings: number, shown: readonly number[], atLeast?: number): string[] => {
      row.evidence = null;
      for (let at = 1; at <= readings; at += 1)
        row.evidence = evidenceWith(row, { at: `${at}`, seen: shown.includes(at), detail: {} }, atLeast);
      return z
        .object({ readings: z.array(z.object({ at: z.string() })) })
        .parse(row.evidence)
        .readings.map(({ at }) => at);
    };
    const from = (first: number, last: number): string[] =>
      Array.from({ length: last - first + 1 }, (_, index) => `${first + index}`);
    expect(kept(20, [1])).toEqual(from(1, 20));
    expect(kept(21, [])).toEqual(from(2, 21));
    expect(kept(22, [1])).toEqual(["1", ...from(3, 22)]);
    expect(kept(25, [1, 3])).toEqual(["3", ...from(6, 25)]);
    expect(kept(25, [], 24)).toEqual(from(2, 25));
  });

  it("say when they were made, after how many attempts, and whether it could still land", async () => {
    const world = await withOrder();
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const row = await world.row(await world.carryOutUnknown("place-order"));
    row.evidence = evidenceWith(row, { at: "1", seen: false, early: true, detail: { assets: [] } });
    expect(evidenceWith(row, { at: "2", seen: true, detail: {} })).toEqual({
      readings: [
        { at: "1", seen: false, attempts: 1, early: true, detail: { assets: [] } },
        { at: "2", seen: true, attempts: 1, detail: {} },
      ],
    });
  });
});

describe("what is proven and contradicts the ledger", () => {
  it("waits for a person instead of failing anew in each run", async () => {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    world.sandbox.faults.add({ operation: "E2", ...lost });
    const id = await world.carryOutUnknown("create-enterprise");
    const [found] = await world.reader.of(customer).enterprises("C1");
    const link = { channelCode: "crm", channelCustomerId: "X", origin: "adopted" as const, examined: true };
    await world.ledger.state.record(customer, [
      {
        type: "linked",
        customer: { namespace: "crm", id: "X" },
        link: { ...link, enterpriseGlobalId: found?.enterpriseGlobalId ?? "" },
      },
    ]);
    expect(await world.settle(id)).toMatchObject({ kind: "parked", reason: expect.stringContaining("contradicts") });
    expect((await world.settle(id)).kind).toBe("parked");
  });
});

describe("a change whose answer was lost (E4)", () => {
  it.each<[string, Omit<FaultRule, "operation">]>([
    ["applied", lost],
    ["not applied", untouched],
  ])("is sent again with the same value, at once (%s)", async (_name, fault) => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("customers", customerRecord("C1", { branchName: "Other branch" }));
    world.sandbox.faults.add({ operation: "E4", ...fault });
    const id = await world.carryOutUnknown("update-enterprise");
    expect((await world.settle(id)).kind).toBe("done");
    expect(world.calls("E4")).toBe(2);
    expect(await world.plan()).toEqual([]);
  });
});

describe("what a person decided in the meantime", () => {
  it("stands: a settling that rests on an older look changes nothing and sends nothing", async () => {
    const world = await withOrder({ ordersUnseen: "resend" });
    world.sandbox.faults.add({ operation: "E5", ...untouched });
    const id = await world.carryOutUnknown("place-order");
    world.clock.pass(600_000);
    await world.settle(id);
    await world.settle(id);
    const old = await world.row(id);
    await world.ledger.journal.conclude(id, {
      state: "dropped",
      changes: [],
      audit: { kind: "not-applied", body: {} },
    });
    await expect(world.settling.settle(old, { runId: "run" })).rejects.toMatchObject({ code: "journal.moved-on" });
    expect(world.calls("E5")).toBe(1);
    expect((await world.row(id)).state).toBe("dropped");
  });
});
