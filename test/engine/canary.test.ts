import { expect, it } from "vitest";
import type { DifferencesOfCustomer } from "../../src/engine/run/canary.ts";
import { policySettingsSchema } from "../../src/engine/model/policy-settings.ts";
import { ApplyWorld, permitted } from "../support/world/apply-world.ts";
import { asset, product } from "../support/world/instances.ts";
import { customerRecord, orderRecord, staffRecord } from "../support/world/records.ts";
import { runWorld } from "../support/world/run.ts";

// oxlint-disable-next-line require-yield
async function* nothingOtherwise(): AsyncIterable<DifferencesOfCustomer> {}

it("a run by shares stops at what was sent in vain of somebody who also waits for what M7 leaves out to count as gone", async () => {
  const world = await ApplyWorld.start();
  world.deps.settle = { ...world.deps.settle, timeMs: 60, readings: 2, maxWaitMs: 20_000 };
  world.deps.policies = policySettingsSchema.parse({ orders: { ended: "apply" } });
  const order = (id: string, customer: string, ...products: string[]) =>
    orderRecord(id, customer, {
      instances: [
        asset(`A-${id}`, { licenseType: "cloud_account" }),
        ...products.map((name) => product(`${name}-${id}`, `A-${id}`)),
      ],
    });
  await world.take("customers", customerRecord("C1"), customerRecord("C2"));
  await world.take("orders", order("O1", "C1", "P", "Q"), order("O2", "C2", "P", "Q"));
  await world.take("staff", staffRecord("S1", "C1"));
  expect((await runWorld(world)).exitCode).toBe(0);

  await world.take("orders", order("O1", "C1", "P"), order("O2", "C2", "P", "Q"), order("N2", "C2", "P"));
  await world.take("staff", staffRecord("S1", "C1", { assets: [{ instanceId: "A-O1" }] }));
  const { memberCenter } = world.deps.platform;
  let sent = 0;
  const odd = world.with({
    memberCenter: {
      ...memberCenter,
      configureAssets: async (_member, _body, call) => {
        await permitted(call);
        sent += 1;
        return { kind: "unknown", reason: "no answer" };
      },
      // What is to be deleted is left out once the seat was sent for the last time, for longer than the run waits.
      listAssetContents: async (...asked) => {
        const contents = await memberCenter.listAssetContents(...asked);
        if (sent < 4) return contents;
        world.deps.settle.timeMs = 600_000;
        const left = contents.productInstanceList.filter(({ crmProductId }) => crmProductId !== "Q-O1");
        return { ...contents, productInstanceList: left };
      },
    },
  });
  // C1 goes before C2.
  const run = await runWorld(odd, { canary: { shares: [50], differences: nothingOtherwise } });
  expect([sent, run.customers.waiting, run.canary.map(({ wrong }) => wrong)]).toEqual([
    4,
    1,
    [[expect.stringContaining("crm/C1: an operation was sent, and its effect was never seen")]],
  ]);
  expect(run.exitCode).toBe(3);
});
