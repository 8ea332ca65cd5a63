import { expect, it } from "vitest";
import { deliver } from "../../src/engine/deliver.ts";
import { ApplyWorld } from "../support/world/apply-world.ts";
import { customerRecord } from "../support/world/records.ts";

it("whatever is to be sent once the run was stopped is not sent, and leaves no trace in the journal", async () => {
  const world = await ApplyWorld.start();
  await world.take("customers", customerRecord("C1"));
  const operation = await world.planned("create-enterprise");
  const signal = AbortSignal.abort();
  expect(await deliver(world.deps, world.pool, operation, { runId: "run", signal })).toEqual({ kind: "stopped" });
  expect(await world.states()).toEqual({});
  expect(world.calls("E2")).toBe(0);
});
