import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";

async function synchronised(policies: string): Promise<World> {
  const w = await world();
  w.extra = `limits: { taking: { enterprise: { floor: 50, share: 1 } } }\n${policies}`;
  w.write();
  const first = await w.run("run", "everything");
  expect(first.exitCode, first.stdout + first.stderr).toBe(0);
  return w;
}

const one = `${canary.login}1x1`;

it(
  "who moves to another customer gets an account there, and the old one is deleted where the policy says so",
  { tags: "long" },
  async () => {
    const w = await synchronised("policies: { staff: { moved: apply } }\n");
    Object.assign(personOf(w, "S1-1"), { customer: "C2", holds: [] });
    personOf(w, "S1-2").name = `${canary.person} new`;
    w.write();
    const ran = await w.does("run", "everything");
    expect(outcome(ran), ran.stdout).toEqual([0, { M9: 1, M1: 1, M2: 1, M4: 1 }]);
    expect((await membersOf(w, "C1")).has(one)).toBe(false);
    expect((await membersOf(w, "C2")).has(one)).toBe(true);
    expect(w.rows("select customer_id from staff_link where staff_id = 'S1-1' and to_at is null")).toEqual([
      { customer_id: "C2" },
    ]);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  },
);

it(
  "by default the old account stays, is told of, and is theirs again when they come back",
  { tags: "long" },
  async () => {
    const w = await synchronised("");
    const before = (await membersOf(w, "C1")).get(one)?.globalId;
    Object.assign(personOf(w, "S1-1"), { customer: "C2", holds: [] });
    w.write();
    const ran = await w.does("run", "everything");
    expect(outcome(ran), ran.stdout).toEqual([0, { M9: 1, M1: 1 }]);
    expect((await membersOf(w, "C1")).get(one)?.globalId).toBe(before);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    Object.assign(personOf(w, "S1-1"), { customer: "C1", holds: ["O1-A1"] });
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1 }]);
    expect((await membersOf(w, "C1")).get(one)).toMatchObject({ globalId: before, assetNums: [expect.any(String)] });
  },
);

it("each of several people who moved is named at the customer that has their accounts", async () => {
  const w = await synchronised("");
  for (const id of ["S1-1", "S1-2"]) Object.assign(personOf(w, id), { customer: "C2", holds: [] });
  w.write();
  const ran = await w.does("run", "everything");
  expect(outcome(ran), ran.stdout).toEqual([0, { M9: 2, M1: 1 }]);
  const told = (id: string): string =>
    `crm/${id}: the person belongs to another customer in the CRM now; the account stays; policies.staff.moved is report`;
  for (const words of [["explain", "customer", "C1"], ["status"]]) {
    const { exitCode, stdout } = await w.run(...words);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(told("S1-1"))]);
    expect(stdout).toContain(told("S1-2"));
  }
  expect((await w.run("explain", "customer", "C2")).stdout).not.toContain("policies.staff.moved");
  expect(w.sandbox.state()).toMatchObject({ addedStaff: 6, assignments: 2 });
});
