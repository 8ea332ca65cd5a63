import { expect, it } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import { runSync } from "../../src/run/run.ts";
import { limitsSettingsSchema } from "../../src/run/run-settings.ts";
import type { RunSummary } from "../../src/run/summary.ts";
import { ApplyWorld, customerRecord, orderRecord, staffRecord } from "../apply/world.ts";

async function run(world: ApplyWorld): Promise<RunSummary> {
  const dependencies = { ...world.deps, sources: [], streams: [], concurrency: 2, progress: () => {} };
  return await runSync(dependencies, {
    job: "everything",
    trigger: "hand",
    streams: ["customers", "orders", "staff"],
    limits: limitsSettingsSchema.parse({}),
    read: false,
    header: {},
  });
}

async function open(world: ApplyWorld): Promise<unknown[]> {
  const groups = await world.ledger.openRecords();
  return groups.map(({ standing, stream, code, examples }) => [
    `${standing} ${stream} ${code}`,
    ...examples.map(({ record }) => record),
  ]);
}

it("what somebody who moved still holds at the old customer, and was not sent, waits there and is told of, until it is taken away", async () => {
  const world = await ApplyWorld.start();
  await world.take("customers", customerRecord(), customerRecord({ id: "C2", name: "Customer Two" }));
  await world.take("orders", orderRecord("O1"));
  await world.take("staff", staffRecord("S1", { assets: [{ instanceId: "A0-O1" }] }), staffRecord("S2"));
  expect((await run(world)).exitCode).toBe(exitCodes.ok);
  expect(world.sandbox.state()).toMatchObject({ addedStaff: 2, assignments: 1 });

  const { memberCenter } = world.deps.platform;
  const unreachable = world.with({
    memberCenter: {
      ...memberCenter,
      configureAssets: () => Promise.resolve({ kind: "not-sent", reason: "ECONNREFUSED" }),
    },
  });
  await world.take("staff", staffRecord("S1", { customerId: "C2" }));
  for (let time = 0; time < 2; time += 1) {
    expect((await run(unreachable)).exitCode).toBe(exitCodes.sourceDown);
    expect(await open(world)).toEqual([["deferred customers service.not-sent", "crm/C1"]]);
  }
  expect(world.sandbox.state()).toMatchObject({ addedStaff: 3, assignments: 1 });

  expect((await run(world)).exitCode).toBe(exitCodes.ok);
  expect(await open(world)).toEqual([]);
  expect(world.sandbox.state()).toMatchObject({ addedStaff: 3, assignments: 0 });
});
