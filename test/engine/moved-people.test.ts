import { expect, it } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import { ApplyWorld, permitted } from "../support/world/apply-world.ts";
import { customerRecord, orderRecord, staffRecord } from "../support/world/records.ts";
import { runWorld } from "../support/world/run.ts";

async function open(world: ApplyWorld): Promise<unknown[]> {
  const groups = await world.ledger.records.open();
  return groups.map(({ standing, stream, code, examples }) => [
    `${standing} ${stream} ${code}`,
    ...examples.map(({ record }) => record),
  ]);
}

it(
  "what somebody who moved still holds at the old customer, and was not sent, waits there and is told of, until it is taken away",
  { tags: "long" },
  async () => {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"), customerRecord("C2", { name: "Customer Two" }));
    await world.take("orders", orderRecord("O1", "C1"));
    await world.take("staff", staffRecord("S1", "C1", { assets: [{ instanceId: "A-O1" }] }), staffRecord("S2", "C1"));
    expect((await runWorld(world)).exitCode).toBe(exitCodes.ok);
    expect(world.sandbox.state()).toMatchObject({ addedStaff: 2, assignments: 1 });

    const { memberCenter } = world.deps.platform;
    const unreachable = world.with({
      memberCenter: {
        ...memberCenter,
        configureAssets: () => Promise.resolve({ kind: "not-sent", reason: "ECONNREFUSED" }),
      },
    });
    await world.take("staff", staffRecord("S1", "C1", { customerId: "C2" }));
    for (let time = 0; time < 2; time += 1) {
      expect((await runWorld(unreachable)).exitCode).toBe(exitCodes.sourceDown);
      expect(await open(world)).toEqual([["deferred customers service.not-sent", "crm/C1"]]);
    }
    expect(world.sandbox.state()).toMatchObject({ addedStaff: 3, assignments: 1 });

    expect((await runWorld(world)).exitCode).toBe(exitCodes.ok);
    // The account there stays, which is only told.
    expect(await open(world)).toEqual([["deferred customers policy.reported", "crm/C1"]]);
    expect(world.sandbox.state()).toMatchObject({ addedStaff: 3, assignments: 0 });
  },
);

it("what was refused of somebody who moved is tried again for a changed setting, at the customer where they hold it", async () => {
  const world = await ApplyWorld.start();
  await world.take("customers", customerRecord("C1"), customerRecord("C2", { name: "Customer Two" }));
  await world.take("orders", orderRecord("O1", "C1"));
  await world.take("staff", staffRecord("S1", "C1", { assets: [{ instanceId: "A-O1" }] }));
  expect((await runWorld(world)).exitCode).toBe(exitCodes.ok);

  const { memberCenter } = world.deps.platform;
  const refusing = world.with({
    memberCenter: {
      ...memberCenter,
      configureAssets: (_member, _request, call) =>
        permitted(call).then(() => ({ kind: "rejected", code: "60023", status: 200, raw: {} })),
    },
  });
  await world.take("staff", staffRecord("S1", "C1", { customerId: "C2" }));
  await runWorld(refusing);
  expect(await open(world)).toEqual([["rejected customers rejected.60023", "crm/C1"]]);
  await runWorld(world);
  expect(world.sandbox.state()).toMatchObject({ assignments: 1 });

  world.deps.settings = { ...world.deps.settings, poolBatch: world.deps.settings.poolBatch + 1 };
  expect((await runWorld(world)).exitCode).toBe(exitCodes.ok);
  expect(world.sandbox.state()).toMatchObject({ assignments: 0 });
});
