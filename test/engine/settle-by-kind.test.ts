import { describe, expect, it } from "vitest";
import { ApplyWorld, customer, settleMs } from "../support/world/apply-world.ts";
import { customerRecord, staffRecord } from "../support/world/records.ts";
import { lost, untouched } from "./services.ts";

/** A member of staff who was added. */
async function withStaff(): Promise<ApplyWorld> {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await world.take("staff", staffRecord("S1", "C1"));
  await world.carryOut("add-staff");
  return world;
}

/** A change of an enterprise whose E4 had no answer. */
async function changed(): Promise<{ world: ApplyWorld; id: string }> {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await world.take("customers", customerRecord("C1", { branchName: "Other branch" }));
  world.sandbox.faults.add({ operation: "E4", ...untouched });
  return { world, id: await world.carryOutUnknown("update-enterprise") };
}

describe("a password that was reset without an answer (M3)", () => {
  it("waits for a person at once, whatever the platform did, and is never set a second time", async () => {
    const world = await withStaff();
    const [link] = (await world.ledger.state.known(customer)).staffLinks.values();
    if (link === undefined) throw new Error("nobody was added");
    const details = { staff: link.key, memberGlobalId: link.memberGlobalId, given: null };
    const request = { of: "password", about: "crm/S1", wanted: "reset", by: "desk", reason: "lost", details } as const;
    await world.ledger.state.record(customer, [{ type: "request-made", customer, request }]);
    world.sandbox.faults.add({ operation: "M3", ...lost });
    const id = await world.carryOutUnknown("reset-password");
    const parked = { kind: "parked", reason: expect.stringContaining("never sent a second time") };
    expect(await world.settle(id)).toMatchObject(parked);
    world.clock.pass(settleMs + 1);
    expect(await world.settle(id), "as often as a run looks at it").toMatchObject(parked);
    expect(world.calls("M3")).toBe(1);
  });
});

describe("an edit whose answers never say what became of it (M2)", () => {
  it("is sent three times, and then a person decides", async () => {
    const world = await withStaff();
    await world.take("staff", staffRecord("S1", "C1", { name: "CANARY married" }));
    world.sandbox.faults.add({ operation: "M2", fault: "oddData", value: { odd: true } });
    const id = await world.carryOutUnknown("edit-staff");
    const kinds = [await world.settle(id), await world.settle(id), await world.settle(id)].map(({ kind }) => kind);
    expect(kinds).toEqual(["waiting", "waiting", "parked"]);
    expect(world.calls("M2")).toBe(3);
    expect((await world.row(id)).outcomeMessage).toContain("was answered 3 times");
  });
});

describe("a change that is sent again (E4)", () => {
  it("is planned anew where it is refused then", async () => {
    const { world, id } = await changed();
    world.sandbox.faults.add({ operation: "E4", fault: "status299", code: "13004", times: 1 });
    expect(await world.settle(id)).toEqual({ kind: "dropped", id });
    expect((await world.row(id)).state).toBe("rejected");
  });

  it("is sent as often as its answer is lost, and looked at within a settle time", async () => {
    const { world, id } = await changed();
    world.sandbox.faults.add({ operation: "E4", fault: "resetBefore", times: 4 });
    for (let sent = 0; sent < 4; sent += 1) {
      const settled = await world.settle(id);
      if (settled.kind !== "waiting") throw new Error(settled.kind);
      const left = Date.parse(settled.until) - world.clock.now();
      expect([left > 0, left <= settleMs]).toEqual([true, true]);
    }
    expect((await world.settle(id)).kind).toBe("done");
    expect(world.effects("E4")).toBe(1);
  });

  it("stays open where nobody listens, and where the run is stopped", async () => {
    const { world, id } = await changed();
    await world.sandbox.refuseConnections();
    expect(await world.settle(id)).toEqual({ kind: "unreadable", id, reason: "ECONNREFUSED" });
    await world.sandbox.acceptConnections();
    const stopped = { runId: "run", signal: AbortSignal.abort() };
    const settled = await world.settling.settle(await world.row(id), stopped);
    expect(settled).toEqual({ kind: "unreadable", id, reason: "the run was stopped" });
    expect((await world.row(id)).state).toBe("unknown");
    expect(world.calls("E4")).toBe(1);
  });
});
