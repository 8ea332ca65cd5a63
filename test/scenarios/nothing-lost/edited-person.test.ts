import { expect, it } from "vitest";
import { waitsFor } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";
import { rule } from "../life/placed-orders.ts";

/** Two customers with two people each, all of them on the platform with a note and a department. */
async function synchronised(): Promise<World> {
  const w = await world();
  for (const person of w.staff) Object.assign(person, { note: `${canary.person} note`, department: "7" });
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

const login = `${canary.login}1x1`;

function edit(w: World, id: string, more: Partial<World["staff"][number]>): void {
  Object.assign(personOf(w, id), more);
  w.write();
}

it("gives a person who moves an account at the new customer, and deletes the old one by its policy", async () => {
  const w = await synchronised();
  rule(w, "staff.moved", "apply");
  edit(w, "S1-1", { customer: "C2", holds: [] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1, M1: 1, M4: 1 }]);
  expect([(await membersOf(w, "C1")).has(login), (await membersOf(w, "C2")).has(login)]).toEqual([false, true]);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it("gives people who come back the account that stayed", { tags: "long" }, async () => {
  const w = await synchronised();
  const before = (await membersOf(w, "C1")).get(login)?.globalId;
  edit(w, "S1-1", { customer: "C2", holds: [] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1, M1: 1 }]);
  expect(await waitsFor(w, "C1", "customer")).toBe("policy.reported");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  edit(w, "S1-1", { customer: "C1", holds: ["O1-A1"] });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1 }]);
  expect((await membersOf(w, "C1")).get(login)).toMatchObject({ globalId: before, assetNums: [expect.any(String)] });
});

it(
  "keeps only that person's name waiting that the service refuses, and does not send it again",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    for (const id of ["S1-1", "S1-2", "S2-1"]) edit(w, id, { name: `${canary.person} new ${id}` });
    w.sandbox.faults.add({ operation: "M2", fault: "status299", code: "30002", times: 1 });
    expect(outcome(await w.does("run", "everything"))).toEqual([3, { M2: 3 }]);
    expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    const members = [...(await membersOf(w, "C1")).values(), ...(await membersOf(w, "C2")).values()];
    expect(members.filter(({ name }) => name.startsWith(`${canary.person} new`))).toHaveLength(2);
  },
);

it("sends a note that the CRM removes together with another change", { tags: "long" }, async () => {
  const w = await synchronised();
  edit(w, "S1-1", { note: null, name: `${canary.person} new` });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
  expect((await membersOf(w, "C1")).get(login)?.remark).toBeNull();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});
