import { expect, it } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import { ApplyWorld } from "../support/world/apply-world.ts";
import { customerRecord, orderRecord, staffRecord } from "../support/world/records.ts";
import { runWorld } from "../support/world/run.ts";

const reads = ["E3", "E8", "M5", "M6", "M7"];

it("each list of an enterprise that another program made is read once for an attempt, and again only after a call that makes it old", async () => {
  const world = await ApplyWorld.start();
  for (const id of ["C1", "C2"]) {
    await world.take("customers", { ...customerRecord(id), id });
    await world.take("orders", orderRecord(`O-${id}`, id));
  }
  expect(await runWorld(world)).toMatchObject({ exitCode: exitCodes.ok, customers: { finished: 2 } });
  world
    .sqlite()
    .exec("delete from placed_order; delete from licence_order; delete from platform_customer; delete from link");
  for (const id of ["C1", "C2"]) {
    await world.take("staff", { ...staffRecord(`S${id}`, id, { assets: [] }), userName: `user${id}` });
    await world.take("orders", { ...orderRecord(`N-${id}`, id) });
    await world.ledger.records.markPending({ customer: { namespace: "crm", id } });
  }
  const before = reads.map((endpoint) => world.calls(endpoint));
  expect(await runWorld(world)).toMatchObject({ exitCode: exitCodes.ok, customers: { finished: 2 } });
  expect(["E2", "E5", "M1"].map((endpoint) => world.effects(endpoint))).toEqual([2, 4, 2]);
  // Of each customer: E3 once; M6 with E8 for what is there, M6 again after E5; M5 before and after M1; M7 once.
  const counts = reads.map((endpoint, index) => [endpoint, world.calls(endpoint) - (before[index] ?? 0)]);
  expect(Object.fromEntries(counts)).toEqual({ E3: 2, E8: 2, M5: 4, M6: 4, M7: 2 });
});
