import { expect, it } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import { formatKey } from "../../src/crm/keys.ts";
import type { RecordKey } from "../../src/crm/model.ts";
import { ApplyWorld } from "../support/world/apply-world.ts";
import { customerRecord, orderRecord, staffRecord } from "../support/world/records.ts";
import { runWorld } from "../support/world/run.ts";

it("what is known of a customer is loaded once to look for it ahead and once for its attempt, whatever is sent and learned in it", async () => {
  const world = await ApplyWorld.start();
  for (const id of ["C1", "C2"]) {
    await world.take("customers", { ...customerRecord(id), id });
    await world.take("orders", orderRecord(`O-${id}`, id));
    const assets = [{ instanceId: `A-O-${id}` }];
    await world.take("staff", { ...staffRecord(`S${id}`, id, { assets }), userName: `user${id}` });
  }
  const { state } = world.ledger;
  const asked: string[] = [];
  for (const method of ["begin", "load", "known"] as const) {
    const real: (key: RecordKey) => unknown = state[method].bind(state);
    Object.assign(state, {
      [method]: (key: RecordKey) => {
        asked.push(`${method} ${formatKey(key)}`);
        return real(key);
      },
    });
  }
  expect(await runWorld(world)).toMatchObject({ exitCode: exitCodes.ok, customers: { finished: 2 } });
  expect(["E2", "E5", "M1", "M9"].map((endpoint) => world.effects(endpoint))).toEqual([2, 2, 2, 2]);
  expect(asked.sort()).toEqual(["begin crm/C1", "begin crm/C1", "begin crm/C2", "begin crm/C2"]);
});
