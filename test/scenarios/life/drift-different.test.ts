import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";
import type { ShownMember } from "../../support/world/members.ts";
import { openHold, rule } from "./placed-orders.ts";

/** Readings have to be so long apart here before anything is done on them. */
const settleMs = 30;
const first = `${canary.login}1x1`;

/** Two customers with two people each, with a note and a department, read back once; the policy as a test says. */
async function readBack(word?: string): Promise<World> {
  const w = await world();
  for (const person of w.staff) Object.assign(person, { note: `${canary.person} note`, department: "7" });
  w.write();
  w.environment["CRM_SYNC__settle__timeMs"] = String(settleMs);
  if (word !== undefined) rule(w, "drift.different", word);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  return w;
}

async function shown(w: World, login = first, customer = "C1"): Promise<ShownMember> {
  const member = (await membersOf(w, customer)).get(login);
  if (member === undefined) throw new Error(`M5 shows no ${login}`);
  return member;
}

/** All that M5 shows of everybody, but for when it was changed. */
async function everybody(w: World): Promise<unknown[]> {
  const members = [...(await membersOf(w, "C1")).values(), ...(await membersOf(w, "C2")).values()];
  return members.map((member) => ({ ...member, updateTime: 0 }));
}

type Fields = { name?: string; remark?: string | null; mobile?: string; departmentId?: string | null };

/** Somebody edits a person on the platform's own pages. */
const byHand = async (w: World, fields: Fields, login = first, customer = "C1"): Promise<void> =>
  void w.sandbox.hand({
    action: "rename-person",
    memberGlobalId: (await shown(w, login, customer)).globalId,
    ...fields,
  });

/** Reads back twice, a settle time apart; no writing call is made. */
async function twoReadings(w: World): Promise<void> {
  for (const _ of [1, 2]) {
    expect((await w.does("run", "verify")).calls).toEqual({});
    await sleep(settleMs + 10);
  }
}

const differs = (w: World): unknown[] =>
  w.rows("select customer_id, level, subject, detail from difference where ended_at is null and class = 'different'");

it(
  "a name and a department that somebody changed are set again by one M2, after two whole readings",
  { tags: "long" },
  async () => {
    const w = await readBack("apply");
    const before = await everybody(w);
    await byHand(w, { name: "by hand", departmentId: "8" });
    expect((await w.run("run", "verify")).exitCode).toBe(3);
    for (const words of [
      ["run", "everything"],
      ["resync", "--customer", "C1"],
    ])
      expect((await w.does(...words)).calls, "one reading is not enough").toEqual({});
    await sleep(settleMs + 10);
    const told = await w.run("run", "verify");
    expect([told.exitCode, told.stdout]).toEqual([
      3,
      expect.stringContaining("M5 shows another name and department than was sent"),
    ]);
    expect((await w.run("plan")).stdout).toContain("M5 shows another name and department than was sent");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
    expect(await everybody(w)).toEqual(before);
    for (const _ of [1, 2]) expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    expect(differs(w)).toEqual([]);
  },
);

it("by default it is told of, by its field alone, and nothing is done of it", async () => {
  const w = await readBack();
  await byHand(w, { remark: "by hand" });
  await twoReadings(w);
  expect((await w.does("run", "everything")).calls).toEqual({});
  expect((await w.does("resync", "--customer", "C1")).calls).toEqual({});
  expect(differs(w)).toEqual([
    { customer_id: "C1", level: "staff", subject: "of crm/S1-1", detail: "M5 shows another note than was sent" },
  ]);
  expect((await w.run("run", "verify")).exitCode).toBe(3);
  expect(JSON.stringify(w.rows("select * from observation"))).not.toContain("by hand");
});

it(
  "a policy that holds it asks a person, and a value that is right again by then is not sent",
  { tags: "long" },
  async () => {
    const w = await readBack("hold");
    await byHand(w, { mobile: "13900000000" });
    await byHand(w, { name: "by hand" }, `${canary.login}2x1`, "C2");
    await twoReadings(w);
    const held = await w.does("run", "everything");
    expect(outcome(held), held.stdout).toEqual([4, {}]);
    await byHand(w, { name: personOf(w, "S2-1").name ?? canary.person }, `${canary.login}2x1`, "C2");
    for (const { id } of w.rows<{ id: string }>("select id from hold where state = 'open'"))
      expect((await w.run("approve", id, "--reason", "asked the customer")).exitCode).toBe(0);
    const set = await w.does("run", "everything");
    expect(set.calls, set.stdout).toEqual({ M2: 1 });
    expect((await shown(w)).passwordMobile).toBe(canary.mobile);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
  },
);

it(
  "what the CRM has otherwise by now, or does not give, is no difference of the platform",
  { tags: "long" },
  async () => {
    const w = await readBack("apply");
    rule(w, "staff.edited", "report");
    personOf(w, "S1-1").name = `${canary.person} married`;
    w.write();
    await w.run("run", "everything");
    await byHand(w, { name: "by hand" });
    await twoReadings(w);
    expect((await w.does("run", "everything")).calls, "the CRM's change is not sent with a repair").toEqual({});
    expect(differs(w)).toEqual([]);
  },
);

it("an account that is shown otherwise right after M2 is left to people", { tags: "long" }, async () => {
  const w = await readBack("apply");
  await byHand(w, { name: "by hand" });
  await twoReadings(w);
  w.sandbox.contradict(["A41"]);
  const sent = await w.does("run", "everything");
  expect(outcome(sent), sent.stdout).toEqual([3, { M2: 1 }]);
  for (const _ of [1, 2]) {
    await twoReadings(w);
    expect((await w.does("run", "everything")).calls, "not a second time").toEqual({});
  }
  expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("it is not sent a second time");
});

it(
  "a value that the platform turns back again and again is asked about after five times, and counts anew then",
  { tags: "long" },
  async () => {
    const w = await readBack("apply");
    for (let time = 0; time < 5; time += 1) {
      await byHand(w, { name: "by hand" });
      expect((await w.does("run", "everything")).calls, "looked at anew each time").toEqual({});
      await twoReadings(w);
      expect(outcome(await w.does("run", "everything")), String(time)).toEqual([0, { M2: 1 }]);
    }
    await byHand(w, { name: "by hand" });
    await byHand(w, { name: "by hand" }, `${canary.login}2x1`, "C2");
    await twoReadings(w);
    const held = await w.does("run", "everything");
    expect(outcome(held), "nobody else waits for it").toEqual([4, { M2: 1 }]);
    expect(w.rows("select scope, explanation from hold where state = 'open'")).toMatchObject([
      { scope: "flips", explanation: expect.stringContaining("changed person crm/S1-1 back 5 times") },
    ]);
    expect((await w.run("approve", openHold(w), "--reason", "talked to them")).exitCode).toBe(0);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
    await byHand(w, { name: "by hand" });
    await twoReadings(w);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
  },
);

it("other terms are told of and left as they are", { tags: "long" }, async () => {
  const w = await readBack("apply");
  const [shownAs] = w.rows<{ subject: string }>("select subject from observation where kind = 'product'");
  const [assetNum = "", crmProductId = ""] = shownAs?.subject.split("/") ?? [];
  w.sandbox.hand({ action: "change-product", assetNum, crmProductId, fields: { limitConcurrent: 77 } });
  await twoReadings(w);
  expect((await w.does("run", "everything")).calls).toEqual({});
  expect(differs(w)).toMatchObject([{ level: "product" }]);
});

it(
  "an account that is another person's by now is left alone, and a run that set something again cannot be taken back",
  { tags: "long" },
  async () => {
    const w = await readBack("apply");
    await byHand(w, { name: "by hand" });
    await byHand(w, { name: "by hand" }, `${canary.login}2x1`, "C2");
    await twoReadings(w);
    const one = (await shown(w, `${canary.login}2x1`, "C2")).globalId;
    const two = (await shown(w, `${canary.login}2x2`, "C2")).globalId;
    for (const [staff, member] of [
      ["S2-1", "nobody"],
      ["S2-2", one],
      ["S2-1", two],
    ])
      w.tamper(`update staff_link set member_global_id = '${member}' where staff_id = '${staff}'`);
    const set = await w.does("run", "everything");
    expect([set.calls, (await shown(w)).name], set.stdout).toEqual([{ M2: 1 }, personOf(w, "S1-1").name]);
    const [run] = w.rows<{ id: string }>(
      "select id from run where job = 'everything' order by started_at desc, id desc limit 1",
    );
    const undo = await w.does("undo", run?.id ?? "");
    expect([undo.calls, undo.stdout + undo.stderr]).toEqual([{}, expect.stringContaining("is kept nowhere")]);
  },
);
