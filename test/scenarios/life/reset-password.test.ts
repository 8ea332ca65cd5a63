import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { sha256 } from "../../../src/base/canonical-json.ts";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";
import { folder, rowsOf } from "../../support/world/start.ts";

interface Place {
  w: World;
  /** Whether this is the password that the platform has of a person now. */
  isSet: (login: string, password: string) => boolean;
  hashes: () => string[];
}

/** Two customers with two people each, on a platform whose store can be looked into. */
async function synchronised(): Promise<Place> {
  const store = join(folder(), "sandbox.db");
  const w = await world({ sandbox: { store } });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  // The sandbox keeps its store to itself: a copy of it is looked into.
  const inStore = (sql: string, ...of: string[]): { hash: string }[] => {
    const copy = join(folder(), "copy.db");
    for (const part of ["", "-wal"]) if (existsSync(store + part)) copyFileSync(store + part, copy + part);
    return rowsOf<{ hash: string }>(copy, sql, ...of);
  };
  const hashOf = (login: string): string | undefined =>
    inStore("select password_hash as hash from staff where user_name = ?", login)[0]?.hash;
  return {
    w,
    isSet: (login, password) => hashOf(login) === sha256(password),
    hashes: () => inStore("select password_hash as hash from staff order by id").map((row) => row.hash),
  };
}

const [one, two] = [`${canary.login}1x1`, `${canary.login}1x2`];
const reset = ["staff", "reset-password", "S1-1", "--reason", "lost the letter"];

it(
  "a new password is set for one person by one M3, handed out once, and nobody else's changes",
  { tags: "long" },
  async () => {
    const { w, isSet, hashes } = await synchronised();
    const before = hashes();
    const dry = await w.does(...reset, "--dry-run");
    expect([dry.exitCode, dry.calls]).toEqual([0, {}]);
    expect(dry.stdout).toContain("M3 password:crm/S1-1");
    expect(dry.stdout).toContain("(generated)");
    const asked = await w.does(...reset, "--by", "anna");
    expect([asked.exitCode, asked.calls], asked.stderr).toEqual([0, { M3: 1 }]);
    expect(asked.stdout).toBe("new password of crm/S1-1 is set; crm-sync staff password crm/S1-1 hands it out, once\n");
    expect(hashes().filter((hash, index) => hash !== before[index])).toHaveLength(1);

    const handed = await w.run("staff", "password", "S1-1");
    expect(isSet(one, handed.stdout.trim())).toBe(true);
    expect(handed.stderr).toContain("the new password of crm/S1-1");
    const again = await w.run("staff", "password", "S1-1");
    expect([again.exitCode, again.stdout]).toEqual([64, ""]);
    expect(again.stderr).toContain("the new password of staff member crm/S1-1 was handed out already");
    // The initial password of the other person is still there to be handed out.
    expect(isSet(two, (await w.run("staff", "password", "S1-2")).stdout.trim())).toBe(true);

    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    for (const of of [
      ["customer", "C1"],
      ["staff", "S1-1"],
    ])
      expect((await w.run("explain", ...of)).stdout).toContain("new password of crm/S1-1 is set");
    expect((await w.run("explain", "staff", "S1-2")).stdout).not.toContain("new password");
    expect((await w.run("audit", "verify")).exitCode).toBe(0);
  },
);

it(
  "a password that was never handed out is worth nothing once another was set: only the last one is handed out",
  { tags: "long" },
  async () => {
    const { w, isSet } = await synchronised();
    await w.run(...reset);
    await w.run(...reset);
    expect(w.sandbox.counts().calls["M3"]).toBe(2);
    expect(isSet(one, (await w.run("staff", "password", "S1-1")).stdout.trim())).toBe(true);
    expect((await w.run("staff", "password", "S1-1")).exitCode).toBe(64);
    expect(w.rows("select 1 from private_value where sealed is not null and ref like '%S1-1'")).toEqual([]);
  },
);

it.each([
  ["was set", true, "--applied"],
  ["was not set", false, "--not-applied"],
] as const)(
  "a reset whose answer is lost and that %s waits for a person, is never sent again, and keeps no other customer waiting",
  { tags: "long" },
  async (_what, applied, verdict) => {
    const { w, isSet, hashes } = await synchronised();
    const [first] = hashes();
    const initial = (await w.run("staff", "password", "S1-1")).stdout.trim();
    w.sandbox.faults.add({ operation: "M3", fault: applied ? "appliedNoReply" : "resetBefore", times: 1 });
    const asked = await w.does(...reset);
    expect([asked.exitCode, asked.calls]).toEqual([5, { M3: 1 }]);
    for (const words of [
      ["run", "everything"],
      ["resync", "--customer", "C1"],
    ] as const)
      expect(outcome(await w.does(...words))).toEqual([5, {}]);
    const refused = await w.run("staff", "password", "S1-1");
    expect([refused.exitCode, refused.stdout]).toEqual([64, ""]);
    expect(refused.stderr).toContain("whether it was set is not known");

    // Another customer's people go on meanwhile.
    personOf(w, "S2-1").name = `${canary.person} new`;
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({ M2: 1 });

    const [open] = w.rows<{ id: string; verdict: string }>(
      "select id, outcome_message as verdict from operation where kind = 'reset-password'",
    );
    expect(open?.verdict).toContain("never sent a second time");
    const decide = () => w.does("settle", open?.id ?? "", verdict, "--reason", "asked the person");
    let settled = await decide();
    while (settled.stderr.includes("it may still land until")) settled = await decide();
    expect([settled.exitCode, settled.calls], settled.stderr).toEqual([0, {}]);
    const handed = await w.run("staff", "password", "S1-1");
    if (applied) expect(isSet(one, handed.stdout.trim())).toBe(true);
    else {
      expect([handed.exitCode, isSet(one, initial)]).toEqual([64, true]);
      expect(hashes()[0]).toBe(first);
    }
    // What a person called not applied is not asked for any more.
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  },
);

it(
  "a password that the service refuses is not handed out, and the one before it still is",
  { tags: "long" },
  async () => {
    const { w, isSet } = await synchronised();
    w.sandbox.faults.add({ operation: "M3", fault: "status299", code: "50003", times: 1 });
    const asked = await w.does(...reset);
    expect([asked.exitCode, asked.calls]).toEqual([3, { M3: 1 }]);
    expect(isSet(one, (await w.run("staff", "password", "S1-1")).stdout.trim())).toBe(true);
    expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    const withdrawn = await w.run(...reset, "--withdraw");
    expect(withdrawn.exitCode, withdrawn.stderr).toBe(0);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  },
);

it(
  "the password of the CRM is set where a person asks for that, and only one that was not used",
  { tags: "long" },
  async () => {
    const { w, isSet } = await synchronised();
    const from = [...reset, "--from-crm"];
    const none = await w.does(...from);
    expect([none.exitCode, none.calls]).toEqual([64, {}]);
    expect(none.stderr).toContain("the CRM gives no password for crm/S1-1");
    personOf(w, "S1-1").password = `${canary.password}-1`;
    w.write();
    await w.run("run", "everything");
    const asked = await w.does(...from);
    expect([asked.exitCode, asked.calls], asked.stderr).toEqual([0, { M3: 1 }]);
    expect(isSet(one, `${canary.password}-1`)).toBe(true);
    expect((await w.run("staff", "password", "S1-1")).stderr).toContain("the one that the CRM gave");
    const second = await w.does(...from);
    expect([second.exitCode, second.calls]).toEqual([64, {}]);
    expect(second.stderr).toContain("was used and is not kept");
  },
);

it("nothing is asked for of somebody without an account, of one that M5 does not show, or shows under another name", async () => {
  const { w } = await synchronised();
  const of = (id: string) => w.does("staff", "reset-password", id, "--reason", "a test");
  expect(outcome(await of("S9"))).toEqual([64, {}]);
  const shown = (await membersOf(w, "C1")).get(one);
  w.sandbox.hand({ action: "delete-person", memberGlobalId: shown?.globalId ?? "" });
  const gone = await of("S1-1");
  expect([gone.exitCode, gone.calls]).toEqual([64, {}]);
  expect(gone.stderr).toContain("does not show the account of crm/S1-1");
  const other = (await membersOf(w, "C2")).get(`${canary.login}2x1`)?.globalId ?? "";
  w.tamper(`update staff_link set member_global_id = 'x' where member_global_id = '${other}'`);
  w.tamper(`update staff_link set member_global_id = '${other}' where staff_id = 'S2-2'`);
  const strange = await of("S2-2");
  expect([strange.exitCode, strange.calls]).toEqual([64, {}]);
  expect(strange.stderr).toContain("under another account name");
  expect(w.rows("select 1 from manual_request")).toEqual([]);
});
