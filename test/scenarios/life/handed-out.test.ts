import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { outcome, personOf } from "../../support/world/members.ts";

/** Two customers with two people each, who have accounts. */
async function synchronised(policies = ""): Promise<World> {
  const w = await world({ records: company(2, 2) });
  w.extra = `limits: { absenceReads: 1, absenceTime: 0s, taking: { enterprise: { floor: 50, share: 1 } } }\n${policies}`;
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

function move(w: World, id: string, customer: string, ...holds: string[]): void {
  Object.assign(personOf(w, id), { customer, holds });
  w.write();
}

it("a password is handed out to one of two people who ask at the same time, and to nobody afterwards", async () => {
  const w = await synchronised();
  const ask = async (by: string) => await w.run("staff", "password", "S1-1", "--by", by);
  const both = await Promise.all([ask("anna"), ask("bert")]);
  expect(both.filter(({ exitCode, stdout }) => exitCode === 0 && stdout !== "")).toHaveLength(1);
  expect(both.filter(({ exitCode, stdout }) => exitCode !== 0 && stdout === "")).toHaveLength(1);
  expect((await ask("carla")).exitCode).toBe(64);
  expect((await w.run("staff", "password", "S1-2")).exitCode, "another person's").toBe(0);
  expect(w.rows("select 1 from audit where kind = 'password-handed-out' and subject = 'staff:crm/S1-1'")).toHaveLength(
    1,
  );
});

for (const [from, to, id] of [
  ["C1", "C2", "S1-1"],
  ["C2", "C1", "S2-1"],
] as const)
  it(
    `the new password of who moved from ${from} to ${to} is not lost with the old account`,
    { tags: "long" },
    async () => {
      const w = await synchronised("policies: { staff: { moved: hold } }\n");
      const first = await w.run("staff", "password", id);
      expect(first.exitCode).toBe(0);
      move(w, id, to);
      expect(outcome(await w.does("run", "everything"))).toEqual([4, { M9: 1, M1: 1 }]);
      const [hold] = w.rows<{ id: string }>("select id from hold where state = 'open'");
      expect((await w.run("approve", hold?.id ?? "", "--reason", "moved")).exitCode).toBe(0);
      expect(outcome(await w.does("run", "everything"))).toEqual([0, { M4: 1 }]);
      const second = await w.run("staff", "password", id);
      expect(second.exitCode, second.stderr).toBe(0);
      expect(second.stdout).not.toBe(first.stdout);
    },
  );

it(
  "who moved away and came back has the account of before: its password is not handed out again, and can be set anew",
  { tags: "long" },
  async () => {
    const w = await synchronised();
    expect((await w.run("staff", "password", "S1-1")).exitCode).toBe(0);
    move(w, "S1-1", "C2");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1, M1: 1 }]);
    move(w, "S1-1", "C1", "O1-A1");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1 }]);
    const again = await w.run("staff", "password", "S1-1");
    expect([again.exitCode, again.stdout]).toEqual([64, ""]);
    expect(again.stderr).toContain("was handed out already");

    const reset = await w.does("staff", "reset-password", "S1-1", "--reason", "forgotten", "--by", "anna");
    expect(outcome(reset), reset.stderr).toEqual([0, { M3: 1 }]);
    const member = w.rows<{ id: string }>(
      "select member_global_id as id from staff_link where staff_id = 'S1-1' and customer_id = 'C1' and to_at is null",
    )[0]?.id;
    expect(reset.stdout + (await w.run("explain", "staff", "S1-1")).stdout).toContain(member ?? "nobody");
    expect((await w.run("staff", "password", "S1-1")).stderr).toContain("the new password");
  },
);
