import { expect, it } from "vitest";
import { world, type World } from "../../support/cli.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";
import { rule } from "../../support/world/placed-orders.ts";

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

it("tells of each account that stays, and gives it back to whoever comes back", { tags: "long" }, async () => {
  const w = await synchronised();
  const moves = (customer: string, ...holds: string[][]): void => {
    for (const [index, id] of ["S1-1", "S1-2"].entries()) edit(w, id, { customer, holds: holds[index] ?? [] });
  };
  const before = (await membersOf(w, "C1")).get(login)?.globalId;
  moves("C2");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 2, M1: 1 }]);
  const { deferred } = (await w.ask("explain", "customer", "C1")).record;
  expect(deferred.code).toBe("policy.reported");
  for (const id of ["crm/S1-1", "crm/S1-2"]) expect(deferred.reason).toContain(id);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  moves("C1", ["O1-A1"], ["O1-A2"]);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 2 }]);
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
