import { expect, it } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import { ApplyWorld } from "../support/world/apply-world.ts";
import { customerRecord, orderRecord, staffRecord } from "../support/world/records.ts";
import { runWorld } from "../support/world/run.ts";

it("what is to be taken away only after a part of a plan was carried out is judged then, and nothing is counted twice", async () => {
  const world = await ApplyWorld.start();
  await world.take("customers", customerRecord("C1"));
  await world.take("orders", orderRecord("O1", "C1"));
  await world.take("staff", staffRecord("S1", "C1", { assets: [{ instanceId: "A-O1" }] }), staffRecord("S2", "C1"));
  expect((await runWorld(world)).exitCode).toBe(exitCodes.ok);

  await world.take("orders", orderRecord("O2", "C1"));
  await world.take("staff", staffRecord("S1", "C1"), staffRecord("S2", "C1", { assets: [{ instanceId: "A-O2" }] }));
  const { memberCenter } = world.deps.platform;
  let readings = 0;
  const late = world.with({
    memberCenter: {
      ...memberCenter,
      // At first M6 shows nobody with an asset that M5 shows with the first person.
      listAssetNumbers: async (...asked) => {
        const rows = await memberCenter.listAssetNumbers(...asked);
        readings += 1;
        return readings > 1 ? rows : rows.map((row) => ({ ...row, cloudAccountGlobalId: null }));
      },
    },
  });
  const { exitCode, balance } = await runWorld(late);
  expect({ exitCode, adds: balance.adds }).toEqual({ exitCode: exitCodes.ok, adds: true });
  expect(world.sandbox.state()).toMatchObject({ assignments: 1 });
});
