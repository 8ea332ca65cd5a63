import { describe, expect, it } from "vitest";
import { decide, type Decision, type PersonsVerdict } from "../../src/engine/settle-by-person.ts";
import { ApplyWorld, customer, permitted, settleMs } from "../support/world/apply-world.ts";
import { customerRecord, orderRecord, staffRecord } from "../support/world/records.ts";

const lost = { fault: "appliedNoReply", times: 1 } as const;
const untouched = { fault: "resetBefore", times: 1 } as const;

async function decided(
  world: ApplyWorld,
  id: string,
  verdict: PersonsVerdict,
  reason = "the platform's people say so",
): Promise<Decision> {
  return await decide({ ...world.deps, reader: world.reader }, id, { verdict, reason, by: "tester" });
}

async function unknownOrder(
  fault: typeof lost | typeof untouched,
  parked = true,
): Promise<{ world: ApplyWorld; id: string }> {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await world.take("orders", orderRecord("O1", "C1"));
  world.sandbox.faults.add({ operation: "E5", ...fault });
  const id = await world.carryOutUnknown("place-order");
  if (parked && fault === untouched) expect((await world.settleInTime(id)).kind).toBe("parked");
  return { world, id };
}

async function unknownStaff(fault: typeof lost | typeof untouched): Promise<{ world: ApplyWorld; id: string }> {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await world.take("staff", staffRecord("S1", "C1"), staffRecord("S2", "C1"));
  world.sandbox.faults.add({ operation: "M1", ...fault });
  return { world, id: await world.carryOutUnknown("add-staff") };
}

async function unknownGrant(fault: typeof lost | typeof untouched): Promise<{ world: ApplyWorld; id: string }> {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await world.take("orders", orderRecord("O1", "C1"));
  await world.carryOut("place-order");
  await world.take("staff", staffRecord("S1", "C1", { assets: [{ instanceId: "A-O1" }] }));
  await world.carryOut("add-staff");
  world.sandbox.faults.add({ operation: "M9", ...fault });
  return { world, id: await world.carryOutUnknown("grant-assets") };
}

function lastAudit(world: ApplyWorld): { kind: string; body: Record<string, unknown> } {
  const row = world
    .sqlite()
    .prepare<[], { kind: string; body: string }>("select kind, body from audit order by sequence desc limit 1")
    .get();
  if (row === undefined) throw new Error("the chain is empty");
  return { kind: row.kind, body: JSON.parse(row.body) as Record<string, unknown> };
}

describe("an order that a person calls applied", () => {
  it("takes its licence orders from M7 where the platform shows it", async () => {
    const { world, id } = await unknownOrder(lost);
    const decision = await decided(world, id, "applied");
    expect(decision).toMatchObject({ state: "done", endpoint: "E5", subject: "order:crm/O1", customer });
    expect(
      world.sqlite().prepare("select count(*) from licence_order where license_order_id <> ''").pluck().get(),
    ).toBe(1);
    expect(world.calls("E5")).toBe(1);
  });

  it("counts as placed without them where it is not shown, and is not placed again", async () => {
    const { world, id } = await unknownOrder(untouched);
    expect(await decided(world, id, "applied")).toMatchObject({ state: "done" });
    expect((await world.ledger.state.known(customer)).placedOrders.size).toBe(1);
    expect(world.sqlite().prepare("select count(*) from licence_order").pluck().get()).toBe(0);
    expect((await world.plan()).filter((operation) => operation.kind === "place-order")).toEqual([]);
  });

  it("stands in the chain with the reason in the person's words and what the platform showed", async () => {
    const { world, id } = await unknownOrder(untouched);
    await decided(world, id, "applied", "Ms Lee at the desk read it out: L-77");
    expect(lastAudit(world)).toMatchObject({
      kind: "place-order",
      body: {
        operation: id,
        decision: "applied",
        reason: "Ms Lee at the desk read it out: L-77",
        showed: { seen: [] },
        state: "done",
      },
    });
    expect(await world.row(id)).toMatchObject({ verdict: "a person decided: applied" });
    expect(world.ledger.audit.verify()).toMatchObject({ good: true });
  });
});

describe("an order that a person calls not applied", () => {
  it("is planned anew and placed once, with the numbers it had", async () => {
    const { world, id } = await unknownOrder(untouched);
    const numbers = (await world.ledger.state.known(customer)).numbers;
    await world.ledger.records.setOutcomes("run", [
      { stream: "orders", key: { namespace: "crm", id: "O1" }, outcome: "planned" },
    ]);
    expect(await decided(world, id, "not-applied")).toMatchObject({ state: "dropped" });
    expect(lastAudit(world)).toMatchObject({ kind: "not-applied", body: { decision: "not-applied" } });
    expect(await world.ledger.records.pendingCustomers(undefined, 10)).toEqual([customer]);
    expect(await world.carryOut("place-order")).toMatchObject({ kind: "done" });
    expect((await world.ledger.state.known(customer)).numbers).toEqual(numbers);
    expect(world.effects("E5")).toBe(1);
    expect(world.nothingTwice).toBe(true);
  });

  it("is refused where the platform shows it: it would be placed twice", async () => {
    const { world, id } = await unknownOrder(lost);
    world.clock.pass(settleMs + 1);
    await expect(decided(world, id, "not-applied")).rejects.toMatchObject({ code: "settle.is-there", exitCode: 64 });
    expect((await world.row(id)).state).toBe("unknown");
  });

  it("is refused where the platform shows a part of it", async () => {
    const { world, id } = await unknownOrder(lost);
    world.clock.pass(settleMs + 1);
    const real = world.deps.platform.memberCenter;
    const half = world.with({
      memberCenter: {
        ...real,
        listAssetContents: async (asset, call) => ({ ...(await real.listAssetContents(asset, call)), children: [] }),
      },
    });
    await expect(decided(half, id, "not-applied")).rejects.toMatchObject({ code: "settle.is-there-in-part" });
    expect(await decided(half, id, "applied")).toMatchObject({ state: "done" });
    expect(world.sqlite().prepare("select count(*) from licence_order").pluck().get()).toBe(1);
  });

  it("is refused while it may still land", async () => {
    const { world, id } = await unknownOrder(untouched, false);
    await expect(decided(world, id, "not-applied")).rejects.toMatchObject({ code: "settle.too-early" });
    world.clock.pass(settleMs + 1);
    expect(await decided(world, id, "not-applied")).toMatchObject({ state: "dropped" });
  });

  it("is refused while the platform cannot be read, and so is the other verdict", async () => {
    const { world, id } = await unknownOrder(untouched);
    world.sandbox.faults.add({ operation: "M6", fault: "http502" });
    for (const verdict of ["applied", "not-applied"] as const)
      await expect(decided(world, id, verdict)).rejects.toThrow("the member-center is out of service");
    expect((await world.row(id)).state).toBe("parked");
  });
});

describe("enterprises and staff that a person decides about", () => {
  it("an enterprise is called applied only where E3 shows it: there would be nothing to link to", async () => {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    world.sandbox.faults.add({ operation: "E2", ...untouched });
    const id = await world.carryOutUnknown("create-enterprise");
    await expect(decided(world, id, "applied")).rejects.toMatchObject({ code: "settle.nothing-to-link" });
    world.clock.pass(settleMs + 1);
    expect(await decided(world, id, "not-applied")).toMatchObject({ state: "dropped" });
    await world.makeEnterprise();
    expect(world.sandbox.state().enterprises).toBe(1);
  });

  it("an enterprise that E3 shows is linked with all that E3 and M5 say", async () => {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    world.sandbox.faults.add({ operation: "E2", ...lost });
    const id = await world.carryOutUnknown("create-enterprise");
    await expect(decided(world, id, "not-applied")).rejects.toMatchObject({ code: "settle.is-there" });
    await decided(world, id, "applied");
    const known = await world.ledger.state.known(customer);
    expect([known.link?.origin, known.platformCustomers.length, known.protectedMembers.size]).toEqual([
      "created",
      2,
      2,
    ]);
  });

  it("staff are called applied only where M5 shows them all", async () => {
    const { world, id } = await unknownStaff(untouched);
    await expect(decided(world, id, "applied")).rejects.toMatchObject({ code: "settle.nobody-to-link" });
    world.clock.pass(settleMs + 1);
    expect(await decided(world, id, "not-applied")).toMatchObject({ state: "dropped" });
    expect(await world.carryOut("add-staff")).toMatchObject({ kind: "done" });
    expect(world.sandbox.state().addedStaff).toBe(2);
  });

  it("staff that M5 shows are linked", async () => {
    const { world, id } = await unknownStaff(lost);
    expect(await decided(world, id, "applied")).toMatchObject({ state: "done" });
    expect((await world.ledger.state.known(customer)).staffLinks.size).toBe(2);
  });
});

describe("what sets a state", () => {
  it("a change (E4) called applied counts as sent", async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("customers", customerRecord("C1", { branchName: "Other branch" }));
    world.sandbox.faults.add({ operation: "E4", ...untouched });
    const id = await world.carryOutUnknown("update-enterprise");
    await decided(world, id, "applied");
    expect(await world.plan()).toEqual([]);
  });

  it("a change (E4) called not applied is sent anew", async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("customers", customerRecord("C1", { branchName: "Other branch" }));
    world.sandbox.faults.add({ operation: "E4", ...lost });
    const id = await world.carryOutUnknown("update-enterprise");
    await decided(world, id, "not-applied");
    expect(await world.carryOut("update-enterprise")).toMatchObject({ kind: "done" });
  });

  it("nothing is decided about a change (E4) of which the ledger cannot read what was remembered with it", async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("customers", customerRecord("C1", { branchName: "Other branch" }));
    world.sandbox.faults.add({ operation: "E4", ...lost });
    const id = await world.carryOutUnknown("update-enterprise");
    world.sqlite().prepare("update operation set context = '{}' where id = ?").run(id);
    await expect(decided(world, id, "not-applied")).rejects.toThrow(/context/u);
    expect((await world.row(id)).state).toBe("unknown");
  });

  it("privileges (M9) called applied count as meant; called not applied they are planned anew", async () => {
    const { world, id } = await unknownGrant(untouched);
    world.clock.pass(settleMs + 1);
    await decided(world, id, "not-applied");
    expect((await world.ledger.state.known(customer)).assignments).toEqual([]);
    world.sandbox.faults.add({ operation: "M9", ...untouched });
    const again = await world.carryOutUnknown("grant-assets");
    await decided(world, again, "applied");
    expect((await world.ledger.state.known(customer)).assignments).toHaveLength(1);
  });

  it("privileges (M9) that M6 shows cannot be called not applied", async () => {
    const { world, id } = await unknownGrant(lost);
    world.clock.pass(settleMs + 1);
    await expect(decided(world, id, "not-applied")).rejects.toMatchObject({ code: "settle.is-there" });
  });
});

describe("a decision that cannot be taken", () => {
  it("needs an operation that is there, that is open, and a reason", async () => {
    const { world, id } = await unknownOrder(untouched);
    await expect(decided(world, "op_none", "applied")).rejects.toMatchObject({
      code: "settle.unknown-operation",
      exitCode: 64,
    });
    await expect(decided(world, id, "applied", "  ")).rejects.toMatchObject({ code: "settle.no-reason" });
    await decided(world, id, "applied");
    await expect(decided(world, id, "not-applied")).rejects.toMatchObject({ code: "settle.not-open" });
  });

  it("is not about what is on its way", async () => {
    const world = await ApplyWorld.start();
    await world.makeEnterprise();
    await world.take("orders", orderRecord("O1", "C1"));
    const order = await world.planned("place-order");
    await world.fixNumbers(order);
    const never = world.with({
      orderService: {
        ...world.deps.platform.orderService,
        placeOrders: async (_, call) => {
          await permitted(call);
          return await new Promise<never>(() => {});
        },
      },
    });
    void never.deliver(order);
    await world.until(async () => Object.values(await world.states()).includes("sending"));
    const [row] = await world.ledger.journal.open();
    await expect(decided(world, row?.id ?? "", "not-applied")).rejects.toMatchObject({ code: "settle.on-its-way" });
  });

  it("gives way to a run that sent it again while the person was deciding", async () => {
    const { world, id } = await unknownOrder(untouched, false);
    world.clock.pass(settleMs * 2);
    const { memberCenter } = world.deps.platform;
    const slow = world.with({
      memberCenter: {
        ...memberCenter,
        listAssetNumbers: async (...parameters) => {
          const seen = await memberCenter.listAssetNumbers(...parameters);
          const { operation, wireHash, context } = await world.row(id);
          await world.ledger.journal.intend({
            operation,
            id,
            runId: null,
            wireHash: wireHash ?? "",
            nonce: "n",
            context: context ?? {},
          });
          world.clock.pass(settleMs + 1);
          return seen;
        },
      },
    });
    await expect(
      decide({ ...slow.deps, reader: slow.reader }, id, { verdict: "not-applied", reason: "gone", by: "tester" }),
    ).rejects.toMatchObject({
      code: "journal.moved-on",
    });
    expect((await world.row(id)).state).toBe("sending");
  });
});
