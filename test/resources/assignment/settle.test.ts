import { describe, expect, it } from "vitest";
import { lost, untouched, withMemberCenter } from "../../engine/services.ts";
import { ApplyWorld, customer } from "../../support/world/apply-world.ts";
import { orderRecord, staffRecord } from "../../support/world/records.ts";

async function withStaff(): Promise<ApplyWorld> {
  const world = await ApplyWorld.start();
  await world.makeEnterprise();
  await world.take("orders", orderRecord("O1", "C1", {}, ["cloud_account", "normal_recover_usbkey"]));
  await world.carryOut("place-order");
  await world.take("staff", staffRecord("S1", "C1", { assets: [{ instanceId: "A-O1" }, { instanceId: "A1-O1" }] }));
  await world.carryOut("add-staff");
  return world;
}

describe("an M9 whose outcome is unknown", () => {
  it("are done when M6 shows the member as holder", async () => {
    const world = await withStaff();
    world.sandbox.faults.add({ operation: "M9", ...lost });
    const id = await world.carryOutUnknown("grant-assets");
    expect((await world.settle(id)).kind).toBe("done");
    expect((await world.ledger.state.known(customer)).assignments).toHaveLength(world.sandbox.state().assignments);
  });

  it("are refused where the service says that the number is given already, and M6 does not show it (60028)", async () => {
    const world = await withStaff();
    world.sandbox.faults.add({ operation: "M9", fault: "status299", code: "60028", times: 1 });
    const id = await world.carryOutUnknown("grant-assets");
    const rejected = { kind: "rejected", code: "rejected.60028", reason: expect.stringContaining("60028") };
    expect(await world.settle(id), "one reading tells").toMatchObject(rejected);
    expect(await world.row(id)).toMatchObject({ state: "rejected", outcomeCode: "60028", verdict: "not applied" });
    expect((await world.ledger.state.known(customer)).assignments).toEqual([]);
    expect((await world.plan()).map(({ kind }) => kind)).not.toContain("grant-assets");
    const kinds = world.sqlite().prepare<[], string>("select kind from audit order by sequence").pluck().all();
    expect(kinds.at(-1)).toBe("rejected");
  });

  it("are done where the service says that the number is given already, and M6 shows it (60028)", async () => {
    const world = await withStaff();
    world.sandbox.faults.add({ operation: "M9", fault: "status299", code: "60028", applied: true, times: 1 });
    const id = await world.carryOutUnknown("grant-assets");
    expect((await world.settle(id)).kind).toBe("done");
    expect((await world.ledger.state.known(customer)).assignments.length).toBeGreaterThan(0);
  });

  it("of which M6 shows a part are done so far, also where the service said no to the whole (60028)", async () => {
    const world = await withStaff();
    world.sandbox.faults.add({ operation: "M9", fault: "status299", code: "60028", applied: true, times: 1 });
    const id = await world.carryOutUnknown("grant-assets");
    const real = world.deps.platform.memberCenter;
    const hidden = (await world.ledger.state.known(customer)).numbers[0]?.number;
    const inPart = withMemberCenter(world, {
      listAssetNumbers: async (enterprise, call) =>
        (await real.listAssetNumbers(enterprise, call)).map((asset) =>
          asset.assetNum === hidden ? { ...asset, cloudAccountGlobalId: null } : asset,
        ),
      listStaff: async (...parameters) => {
        const rows = await real.listStaff(...parameters);
        return rows.map((row) => ({ ...row, assetNums: row.assetNums.filter((number) => number !== hidden) }));
      },
    });
    expect((await inPart.settleInTime(id)).kind).toBe("dropped");
    const { assignments } = await world.ledger.state.known(customer);
    expect(assignments).toHaveLength(world.sandbox.state().assignments - 1);
    expect(assignments.map(({ assetNumber }) => assetNumber)).not.toContain(hidden);
  });

  it("that were not set are planned anew after the settle time", async () => {
    const world = await withStaff();
    world.sandbox.faults.add({ operation: "M9", ...untouched });
    const id = await world.carryOutUnknown("grant-assets");
    expect((await world.settleInTime(id)).kind).toBe("dropped");
    expect((await world.ledger.state.known(customer)).assignments).toEqual([]);
    expect(await world.carryOut("grant-assets")).toMatchObject({ kind: "done" });
    expect(world.effects("M9")).toBe(1);
  });

  it("that took something away are done when M6 no longer shows it", async () => {
    const world = await withStaff();
    await world.carryOut("grant-assets");
    await world.take("staff", staffRecord("S1", "C1"));
    world.sandbox.faults.add({ operation: "M9", ...lost });
    const id = await world.carryOutUnknown("revoke-assets");
    expect((await world.settle(id)).kind).toBe("done");
    expect((await world.ledger.state.known(customer)).assignments).toEqual([]);
    expect(world.sandbox.state().assignments).toBe(0);
  });

  it("are not taken for revoked when M6 shows nothing of the asset at all", async () => {
    const world = await withStaff();
    await world.carryOut("grant-assets");
    await world.take("staff", staffRecord("S1", "C1"));
    world.sandbox.faults.add({ operation: "M9", ...untouched });
    const id = await world.carryOutUnknown("revoke-assets");
    const blind = withMemberCenter(world, {
      listAssetNumbers: async () => [],
      listStaff: async () => [],
    });
    expect((await blind.settle(id)).kind).toBe("waiting");
    expect((await world.ledger.state.known(customer)).assignments.length).toBeGreaterThan(0);
  });
});
