import { expect, it } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import { alertsOf } from "../../src/operate/alerts.ts";
import { ApplyWorld } from "../support/world/apply-world.ts";
import { customerRecord, orderRecord } from "../support/world/records.ts";
import { runWorld } from "../support/world/run.ts";

/** An order of C1 whose outcome is not known, and one of C2 that waits for this reason. */
async function inDoubt(code: string): Promise<string[]> {
  const world = await ApplyWorld.start();
  await world.take("customers", customerRecord("C1"), customerRecord("C2"));
  await world.take("orders", orderRecord("O2", "C2"));
  expect((await runWorld(world)).exitCode).toBe(exitCodes.ok);
  Object.assign(world.deps.settle, { maxWaitMs: 0 });
  world.sandbox.faults.add({ operation: "E5", fault: "appliedNoReply", times: 1 });
  world.sandbox.faults.add({ operation: "M6", fault: "http502" });
  await world.take("orders", orderRecord("O1", "C1"));
  expect((await runWorld(world)).exitCode).toBe(exitCodes.unknown);
  const file = world.sqlite();
  file.exec("insert into open_circuit (service, since, reason, probe_at) values ('member-center', '', 'down', '')");
  file
    .prepare("update record set deferred_code = ?, deferred_reason = 'a reason', deferred_since = ? where id = 'O2'")
    .run(code, "2026-10-01T00:00:00.000Z");
  return (await alertsOf(world.ledger, undefined)).map(({ key }) => key.replace(/^unknown:.*/u, "unknown"));
}

it.each(["operation.waits", "service.refused", "service.unclear"])(
  "what one customer waits for (%s) is told, although another one's operation is open and a service is down",
  async (code) => {
    const keys = await inDoubt(code);
    expect(keys).toEqual(expect.arrayContaining(["unknown", "breaker:member-center", `deferred:orders:${code}`]));
  },
);

it.each(["operation.open", "service.unreadable"])("what waits for these is told by them alone (%s)", async (code) => {
  expect((await inDoubt(code)).toSorted()).toEqual(["breaker:member-center", "unknown"]);
});
