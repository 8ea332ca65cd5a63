/** @module-tag long */
import { expect, it } from "vitest";
import { openHold, openHolds, operationsOf, waitsFor } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { rule } from "../../support/world/placed-orders.ts";

/** Two customers with two people each, and a policy for the seats that they lose. */
async function under(word: string): Promise<World> {
  const w = await world({ records: company(2, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  rule(w, "assignments.revoked", word);
  return w;
}

it("holds the removal of a seat and what needs it, and does everything else for the customer", async () => {
  const w = await under("ask");
  // The second person gets the asset that the first one loses. Both customers have other work.
  personOf(w, "S1-1").holds = [];
  personOf(w, "S1-2").holds = ["O1-A1", "O1-A2"];
  w.orders.push({ id: "O3", customer: "C1", assets: ["O3-A1"] }, { id: "O4", customer: "C2", assets: ["O4-A1"] });
  personOf(w, "S2-1").holds = ["O2-A1", "O4-A1"];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([4, { E5: 2, M9: 1 }]);
  expect(await openHolds(w)).toMatchObject([{ customer: { id: "C1" }, scope: "policy" }]);
  for (const [person, kind] of [
    ["S1-1", "revoke-assets"],
    ["S1-2", "grant-assets"],
  ] as const)
    expect((await operationsOf(w, "staff", person))[0]).toMatchObject({ kind, state: "held" });
  await w.run("approve", await openHold(w), "--reason", "she moved to another team");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 2 }]);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it("does not ask again about a removal that a person rejected", async () => {
  const w = await under("ask");
  personOf(w, "S1-1").holds = [];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  await w.run("reject", await openHold(w), "--reason", "a mistake in the CRM");
  w.orders.push({ id: "O3", customer: "C1", assets: ["O3-A1"] });
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { E5: 1 }]);
  expect([await openHolds(w), await waitsFor(w, "S1-1", "staff")]).toEqual([[], "revokes.rejected"]);
});

it("only reports a removal, applies it after the policy changed, and ignores one without a report", async () => {
  const w = await under("report");
  personOf(w, "S1-1").holds = [];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(await waitsFor(w, "S1-1", "staff")).toBe("policy.reported");
  rule(w, "assignments.revoked", "apply");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1 }]);
  rule(w, "assignments.revoked", "ignore");
  personOf(w, "S2-1").holds = [];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(await waitsFor(w, "S2-1", "staff")).toBeUndefined();
});
