/** @module-tag long */
import { expect, it } from "vitest";
import { numberOf, waitsFor } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import type { GivenOrder } from "../../support/world/crm.ts";

/**
 * Two customers with an order each that is placed; then the CRM amends both, and the policy is to tell of that only.
 */
async function amended(form: (id: string, isAmended: boolean) => GivenOrder): Promise<World> {
  const ids = ["1", "2"];
  const w = await world({
    records: { customers: [{ id: "C1" }, { id: "C2" }], orders: ids.map((id) => form(id, false)), staff: [] },
  });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.extra = "policies: { orders: { added: report, replaced: report, ended: report } }\n";
  w.orders = ids.map((id) => form(id, true));
  w.write();
  expect((await w.does("run", "everything")).calls).toEqual({});
  return w;
}

/** What a person says to have done to the first order is counted, or not. */
async function says(w: World): Promise<[exitCode: number | null, steps: unknown[]]> {
  const resolved = await w.does("resolve", "order:O1", "--done", "--reason", "the service desk did it");
  expect(resolved.calls).toEqual({});
  return [resolved.exitCode, (await w.ask("explain", "order", "O1")).placed[0].steps];
}

async function expectAgreed(w: World): Promise<void> {
  expect((await w.does("run", "everything")).calls).toEqual({});
  expect([await waitsFor(w, "O1"), await waitsFor(w, "O2")]).toEqual([undefined, "policy.reported"]);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
}

it("does not count an extension as made while M7 shows the old end", async () => {
  const w = await amended((id, isAmended) => {
    const limitEnd = isAmended ? "2028-01-01T00:00:00Z" : "2027-01-01T00:00:00Z";
    const term = { limitStart: "2026-01-01T00:00:00Z", limitEnd, years: isAmended ? 2 : 1 };
    const products = [{ id: `P${id}`, parent: `A${id}`, pid: `PID-${id}`, ...term }];
    return { id: `O${id}`, customer: `C${id}`, assets: [`A${id}`], products };
  });
  expect(await says(w)).toEqual([3, []]);
  const fields = { limitEndDate: Date.parse("2028-01-01T00:00:00Z"), timeDurationExpression: "2-0-0" };
  w.sandbox.hand({ action: "change-product", assetNum: numberOf(w, "A1"), crmProductId: "P1", fields });
  expect((await says(w))[0]).toBe(0);
  await expectAgreed(w);
});

it("does not count further units as bought before M7 shows each under a number of its own", async () => {
  const w = await amended((id, isAmended) => ({
    id: `O${id}`,
    customer: `C${id}`,
    assets: [{ id: `A${id}`, quantity: isAmended ? 3 : 1 }],
  }));
  const like = numberOf(w, "A1");
  for (const assetNum of ["8999999991", "8999999992"]) {
    expect(await says(w)).toEqual([3, []]);
    w.sandbox.hand({ action: "add-asset", like, assetNum });
  }
  expect((await says(w))[0]).toBe(0);
  await expectAgreed(w);
});
