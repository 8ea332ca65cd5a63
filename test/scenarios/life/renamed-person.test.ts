import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";

/** Two customers with two people each, all of them on the platform with a note and a department. */
async function synchronised(sandbox: Parameters<typeof world>[0] = {}): Promise<World> {
  const w = await world(sandbox);
  for (const person of w.staff) Object.assign(person, { note: `${canary.person} note`, department: "7" });
  w.write();
  const first = await w.run("run", "everything");
  expect(first.exitCode, first.stdout + first.stderr).toBe(0);
  return w;
}

it(
  "a changed name goes out by one M2 with all that is known of that person, and nobody else is touched",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    const before = await membersOf(w, "C1");
    Object.assign(personOf(w, "S1-1"), { name: `${canary.person} married`, department: "9" });
    w.write();
    const planned = await w.run("plan");
    expect(planned.exitCode).toBe(2);
    expect(planned.stdout).toContain("changed in the CRM: name and department");
    const ran = await w.does("run", "everything");
    expect([ran.exitCode, ran.calls]).toEqual([0, { M2: 1 }]);
    const after = await membersOf(w, "C1");
    expect(after.get(`${canary.login}1x1`)).toMatchObject({
      name: `${canary.person} married`,
      remark: `${canary.person} note`,
      passwordMobile: canary.mobile,
      departmentId: 9,
      globalId: before.get(`${canary.login}1x1`)?.globalId,
      assetNums: before.get(`${canary.login}1x1`)?.assetNums,
    });
    expect(after.get(`${canary.login}1x2`)).toEqual(before.get(`${canary.login}1x2`));
    expect((await w.does("run", "everything")).calls).toEqual({});
    const [row] = w.rows<{ profile: string }>(
      "select profile from staff_link where staff_id = 'S1-1' and to_at is null",
    );
    expect(JSON.parse(row?.profile ?? "{}")).not.toHaveProperty("unread");
  },
);

it(
  "a changed mobile number and a changed note go out by one M2 each, and neither stands in anything that is printed",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    const before = await membersOf(w, "C2");
    const mobile = "+4917700799123";
    personOf(w, "S1-1").mobile = mobile;
    personOf(w, "S1-2").note = `${canary.person} another note`;
    w.write();
    const planned = await w.run("plan");
    expect(planned.stdout).toContain("changed in the CRM: mobile number");
    expect(planned.stdout).toContain("changed in the CRM: note");
    const ran = await w.does("run", "everything");
    expect(outcome(ran), ran.stdout).toEqual([0, { M2: 2 }]);
    const members = await membersOf(w, "C1");
    const kept = { departmentId: 7, name: `${canary.person} 1 1`, remark: `${canary.person} note` };
    expect(members.get(`${canary.login}1x1`)).toMatchObject({ ...kept, passwordMobile: mobile });
    expect(members.get(`${canary.login}1x2`)).toMatchObject({
      passwordMobile: canary.mobile,
      remark: `${canary.person} another note`,
    });
    expect(await membersOf(w, "C2")).toEqual(before);
    const explained = await w.run("explain", "staff", "S1-1");
    expect(planned.stdout + ran.stdout + explained.stdout).not.toContain(mobile);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  },
);

it(
  "a name that the service refuses keeps that person's name and nothing else: the others are edited, and it is not sent again",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    for (const id of ["S1-1", "S1-2", "S2-1"]) personOf(w, id).name = `${canary.person} new ${id}`;
    w.write();
    w.sandbox.faults.add({ operation: "M2", fault: "status299", code: "30002", times: 1 });
    const first = await w.does("run", "everything");
    expect([first.exitCode, first.calls]).toEqual([3, { M2: 3 }]);
    const again = await w.does("run", "everything");
    expect([again.exitCode, again.calls]).toEqual([3, {}]);
    const names = [...(await membersOf(w, "C1")).values(), ...(await membersOf(w, "C2")).values()].map(
      (member) => member.name,
    );
    expect(names.filter((name) => name.startsWith(`${canary.person} new`))).toHaveLength(2);
    const status = await w.run("status");
    expect(status.stdout).toContain("name is too long");
  },
);

it(
  "a note that the CRM drops stays and is told of until a person cleared it on the platform",
  { tags: "long" },
  async () => {
    const w = await synchronised({ sandbox: { settings: { fieldsLeftOutInM2: "kept" } } });
    personOf(w, "S1-1").note = null;
    personOf(w, "S2-1").name = `${canary.person} other`;
    w.write();
    const first = await w.does("run", "everything");
    expect([first.exitCode, first.calls]).toEqual([3, { M2: 1 }]);
    expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("no longer gives the person's note");
    const member = (await membersOf(w, "C1")).get(`${canary.login}1x1`);
    w.sandbox.hand({ action: "rename-person", memberGlobalId: member?.globalId ?? "", remark: null });
    const second = await w.does("run", "everything");
    expect([second.exitCode, second.calls]).toEqual([0, {}]);
  },
);

it(
  "a note that the CRM drops is emptied by M2 where the configuration says so, for everybody but who keeps it",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    personOf(w, "S1-1").note = null;
    w.write();
    w.environment["CRM_SYNC__assumptions__clearedStaffFields"] = "empty";
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
    const members = await membersOf(w, "C1");
    expect(members.get(`${canary.login}1x1`)).toMatchObject({ remark: null, departmentId: 7 });
    expect(members.get(`${canary.login}1x2`)).toMatchObject({ remark: `${canary.person} note`, departmentId: 7 });
  },
);

it(
  "a note that the CRM drops together with another change is as the CRM says where M2 clears what it leaves out",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    Object.assign(personOf(w, "S1-1"), { note: null, name: `${canary.person} new` });
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
    expect((await membersOf(w, "C1")).get(`${canary.login}1x1`)?.remark).toBeNull();
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  },
);

it(
  "what only the platform has of somebody is not cleared by an edit of their name: it waits for a person",
  { tags: "long" },
  async () => {
    const w = await world();
    await w.run("run", "everything");
    const member = (await membersOf(w, "C1")).get(`${canary.login}1x1`);
    w.sandbox.hand({
      action: "rename-person",
      memberGlobalId: member?.globalId ?? "",
      remark: "by hand",
      departmentId: "5",
    });
    for (const id of ["S1-1", "S1-2"]) personOf(w, id).name = `${canary.person} new ${id}`;
    w.write();
    const ran = await w.does("run", "everything");
    expect([ran.exitCode, ran.calls]).toEqual([3, { M2: 1 }]);
    const shown = (await membersOf(w, "C1")).get(`${canary.login}1x1`);
    expect(shown).toMatchObject({ remark: "by hand", departmentId: 5, name: member?.name });
    expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("leftOutStaffFields");
    personOf(w, "S1-1").note = "by hand";
    w.write();
    const second = await w.does("run", "everything");
    expect([second.exitCode, second.calls]).toEqual([0, { M2: 1 }]);
    expect((await membersOf(w, "C1")).get(`${canary.login}1x1`)).toMatchObject({ remark: "by hand", departmentId: 5 });
  },
);

it("an account that is another person's on the platform by now is not edited, and the others are", async () => {
  const w = await synchronised();
  const accounts = new Map(
    w
      .rows<{ staff: string; member: string }>("select staff_id as staff, member_global_id as member from staff_link")
      .map(({ staff, member }) => [staff, member]),
  );
  for (const [staff, member] of [
    ["S1-1", "nobody"],
    ["S1-2", accounts.get("S1-1")],
    ["S1-1", accounts.get("S1-2")],
  ])
    w.tamper(`update staff_link set member_global_id = '${member}' where staff_id = '${staff}'`);
  const before = await membersOf(w, "C1");
  for (const id of ["S1-1", "S1-2", "S2-1"]) personOf(w, id).name = `${canary.person} new ${id}`;
  w.write();
  const ran = await w.does("run", "everything");
  expect([ran.exitCode, ran.calls]).toEqual([3, { M2: 1 }]);
  expect([...(await membersOf(w, "C1")).values()].map(({ name }) => name)).toEqual(
    [...before.values()].map(({ name }) => name),
  );
});

it(
  "an edit that the platform took and shows otherwise is told of, and not sent a second time",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    personOf(w, "S1-1").name = `${canary.person} new`;
    w.write();
    await w.run("run", "everything");
    const member = (await membersOf(w, "C1")).get(`${canary.login}1x1`);
    w.tamper(`update staff_link set profile = json_set(profile, '$.unread', json('["name"]')) where staff_id = 'S1-1'`);
    w.sandbox.hand({ action: "rename-person", memberGlobalId: member?.globalId ?? "", name: "another" });
    const ran = await w.does("resync", "--customer", "C1");
    expect([ran.exitCode, ran.calls]).toEqual([3, {}]);
    expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("M5 shows another name than was sent");
    w.sandbox.hand({ action: "rename-person", memberGlobalId: member?.globalId ?? "", name: `${canary.person} new` });
    expect((await w.does("run", "everything")).exitCode).toBe(0);
  },
);
