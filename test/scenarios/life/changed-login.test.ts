import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";

it(
  "a login that changes is refused with the reason, and the person's other fields and everybody else go on",
  { tags: "long" },
  async () => {
    const w = await world();
    await w.run("run", "everything");
    const before = await membersOf(w, "C1");
    const old = `${canary.login}1x1`;
    Object.assign(personOf(w, "S1-1"), { login: `${canary.login}new`, name: `${canary.person} married`, holds: [] });
    personOf(w, "S1-2").name = `${canary.person} other`;
    w.write();
    const ran = await w.does("run", "everything");
    expect([ran.exitCode, ran.calls]).toEqual([3, { M2: 2, M9: 1 }]);
    expect(ran.stdout).toContain("the account name changed in the CRM, and no call changes it");
    const after = await membersOf(w, "C1");
    expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
    expect(after.get(old)).toMatchObject({ name: `${canary.person} married`, assetNums: [] });

    // It is still told of in later runs, sends nothing, and goes on with what changes next.
    expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    personOf(w, "S1-1").name = `${canary.person} once more`;
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([3, { M2: 1 }]);
    expect((await membersOf(w, "C1")).get(old)?.name).toBe(`${canary.person} once more`);
    expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("give the old one back");

    personOf(w, "S1-1").login = old;
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  },
);

it("a person whose changed login was erased from the ledger keeps their name, and is told of", async () => {
  const w = await world();
  await w.run("run", "everything");
  Object.assign(personOf(w, "S1-1"), { login: `${canary.login}new` });
  w.write();
  await w.run("run", "everything");
  w.tamper("update private_value set body = null where ref = 'staff/crm/S1-1' and version = 1");
  personOf(w, "S1-1").name = `${canary.person} married`;
  personOf(w, "S1-2").name = `${canary.person} other`;
  w.write();
  const ran = await w.does("run", "everything");
  expect([ran.exitCode, ran.calls]).toEqual([3, { M2: 1 }]);
  expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("account name was erased");
});
