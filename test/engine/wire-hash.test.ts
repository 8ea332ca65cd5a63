import { expect, it } from "vitest";
import { ApplyWorld } from "../support/world/apply-world.ts";
import { customerRecord } from "../support/world/records.ts";

/** The hash of what was sent to make an enterprise, as the journal and the audit log keep it. */
async function hashes(): Promise<unknown[]> {
  const world = await ApplyWorld.start();
  await world.take("customers", customerRecord("C1", { adminName: "Ada Example" }));
  expect(await world.carryOut("create-enterprise")).toMatchObject({ kind: "done" });
  const sql = `select o.wire_hash as kept, a.body ->> '$.wire' as audited from operation o join audit a
    on a.body ->> '$.operation' = o.id where o.kind = 'create-enterprise'`;
  return world.sqlite().prepare(sql).all();
}

it("the hash of what was sent says nothing of its private values to whoever tries them, without their salt", async () => {
  const [one] = await hashes();
  const [other] = await hashes();
  expect(one).toMatchObject({ kept: expect.stringMatching(/^[0-9a-f]{64}$/u) });
  // The same was sent in both worlds, and only the salts of the records differ.
  expect(one).not.toEqual(other);
  expect(Object.values(one ?? {})[0]).toBe(Object.values(one ?? {})[1]);
});
