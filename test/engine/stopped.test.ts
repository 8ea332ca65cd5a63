import { expect, it } from "vitest";
import { ApplyWorld, customer } from "../support/world/apply-world.ts";
import { customerRecord } from "../support/world/records.ts";
import { runWorld } from "../support/world/run.ts";

it.each([{ scope: { customer } }, { scope: { source: "crm" } }, {}])(
  "a run that is stopped before its first customer asks for nothing again: %j",
  async (request) => {
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"));
    const database = world.sqlite();
    database
      .prepare(
        `insert into rejection (stream, namespace, record_id, kind, hash, customer_namespace, customer_id, version,
           settings, operation_id, code, reason, at)
         values ('customers', ?, ?, 'create-enterprise', 'h', ?, ?, 1, 's', 'op', 'staff.refused', 'r', 't')`,
      )
      .run(customer.namespace, customer.id, customer.namespace, customer.id);
    const rows = (): unknown[] => database.prepare("select asked, tries from rejection").all();
    const summary = await runWorld(world, { ...request, signal: AbortSignal.abort() });
    expect(summary.state).toBe("stopped");
    expect(rows()).toEqual([{ asked: 0, tries: 1 }]);
  },
);
