import { expect, it } from "vitest";
import { amend, openHold, placedOrders, rule, standing } from "./placed-orders.ts";
import type { World } from "../../support/cli.ts";

/** `orders.assetChanged` rules the old asset; no seat at all may be taken away without a person. */
async function changedAsset(word: string): Promise<World> {
  const w = await placedOrders();
  rule(w, "orders.assetChanged", word);
  w.environment["CRM_SYNC__policies__approvalsToEarn"] = "1";
  w.extra = "limits: { taking: { enterprise: { floor: 0, share: 0 } } }\n";
  // This ledger has earned both kinds.
  w.tamper(`insert into hold (id, scope, customer_namespace, customer_id, count, allowed, total, set_hash, state,
    explanation, created_at) values ('h-old','policy','crm','C9',0,0,0,'x','used','x','2026-01-01T00:00:00.000Z')`);
  for (const kind of ["delete-assets", "amend-order"])
    w.tamper(`insert into approved_operation (kind, hash, hold_id, at, by)
      values ('${kind}','x','h-old','2026-01-01T00:00:00.000Z','me')`);
  amend(w, "1", { assets: [{ id: "A1", limitEnd: "2031-01-01T00:00:00Z" }] });
  return w;
}

it("what a limit holds of an asset that is replaced is released by its approval", { tags: "long" }, async () => {
  const w = await changedAsset("earn");
  await w.does("run", "everything");
  for (const _ of [1, 2]) {
    const held = await w.does("run", "everything");
    expect(held.exitCode, held.stdout).toBe(4);
    expect(held.stdout).toContain("1 of 1 (100.0 %) seats of this enterprise would be taken away; 0 are allowed");
  }
  expect((await w.run("approve", openHold(w), "--reason", "asked the customer")).exitCode).toBe(0);
  for (const _ of [1, 2, 3]) await w.does("run", "everything");
  expect(standing(w)).toMatchObject({ assets: 2 });
});

it("the same asset under `apply` stays under the limits, as under an earned `earn`", async () => {
  const w = await changedAsset("apply");
  for (const _ of [1, 2]) await w.does("run", "everything");
  expect(standing(w)).toMatchObject({ assets: 3 });
});
