import { describe, expect, it } from "vitest";
import { type World, world } from "../../support/cli.ts";
import { heldBy, memberOf, openHold, openHolds, waitsFor } from "../../support/asking.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";
import { removesAll, rule } from "../../support/world/placed-orders.ts";

const limits = "limits: { absenceReads: 1, absenceTime: 0s, removals: { enterprise: { floor: 50, share: 1 } } }\n";
const [one, two] = [`${canary.login}1x1`, `${canary.login}1x2`];
const ofOther = `${canary.login}2x1`;

/** Two customers with two people each. A person is deleted with the first read without them. */
async function synchronised(left = "apply"): Promise<World> {
  const w = await world();
  w.extra = limits;
  w.write();
  rule(w, "staff.left", left);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

function leave(w: World, ...ids: string[]): void {
  w.staff = w.staff.filter(({ id }) => !ids.includes(id));
  w.write();
}

async function has(w: World, customer: string, login: string): Promise<boolean> {
  return (await membersOf(w, customer)).has(login);
}

it("deletes the account of a leaver that it created, if the policy says so, and no other", async () => {
  const w = await synchronised();
  leave(w, "S1-1");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1, M4: 1 }]);
  expect([await has(w, "C1", one), await has(w, "C1", two)]).toEqual([false, true]);
  expect(w.sandbox.state()).toMatchObject({ addedStaff: 3, assignments: 3 });
  expect(await memberOf(w, "S1-1")).toBe("");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

describe("the account of a leaver", { tags: "long" }, () => {
  it("stays while it holds an asset that crm-sync did not assign", async () => {
    const w = await synchronised();
    const members = await membersOf(w, "C1");
    const spare = members.get(two)?.assetNums[0] ?? "";
    w.sandbox.hand({ action: "move-holder", assetNum: spare, memberGlobalId: members.get(one)?.globalId ?? "" });
    leave(w, "S1-1", "S2-1");
    expect(outcome(await w.does("run", "everything"))).toEqual([3, { M9: 2, M4: 1 }]);
    expect(await waitsFor(w, "S1-1", "staff")).toBe("staff.still-holds");
    w.sandbox.hand({ action: "move-holder", assetNum: spare, memberGlobalId: null });
    expect((await w.does("run", "everything")).calls).toMatchObject({ M4: 1 });
    expect(await has(w, "C1", one)).toBe(false);
  });

  it("is forgotten if somebody else deleted it, and stays if another person has it now", async () => {
    const w = await synchronised();
    w.sandbox.hand({ action: "delete-person", memberGlobalId: await memberOf(w, "S1-1") });
    const row = [...(await membersOf(w, "C2")).keys()].indexOf(ofOther) + 1;
    w.sandbox.faults.add({ operation: "M5", fault: "oddField", field: "userName", row, value: "anotherE00002" });
    leave(w, "S1-1", "S2-1");
    expect((await w.does("run", "everything")).calls["M4"]).toBeUndefined();
    expect([await memberOf(w, "S1-1"), await waitsFor(w, "S2-1", "staff")]).toEqual(["", "staff.other-account"]);
    w.sandbox.faults.clear();
    expect(await has(w, "C2", ofOther)).toBe(true);
  });

  it("stays beyond the limit of a run until a person approves the deletion", async () => {
    const w = await synchronised();
    w.extra = limits.replace("removals: {", "removals: { run: { floor: 1, share: 0 },");
    for (const person of w.staff.slice(0, 2)) person.holds = [];
    w.write();
    for (const _ of [1, 2]) await w.run("run", "everything");
    for (const { id } of await openHolds(w)) await w.run("approve", id, "--reason", "seen");
    await w.run("run", "everything");
    leave(w, "S1-1", "S1-2");
    expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
    await w.run("approve", await openHold(w), "--reason", "they left");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M4: 2 }]);
  });

  it("is deleted when M5 shows it, whatever M4 answered", async () => {
    const w = await synchronised();
    w.sandbox.faults.add({ operation: "M4", fault: "appliedNoReply", times: 1 });
    leave(w, "S1-1");
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1, M4: 1 }]);
    w.sandbox.faults.add({ operation: "M4", fault: "status299", code: "60002", times: 1 });
    leave(w, "S1-2");
    await w.run("run", "everything");
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(await has(w, "C1", two)).toBe(true);
    const accepted = await w.run("assumptions", "accept", "A36", "--reason", "the services' owner has looked into it");
    expect(accepted.exitCode, accepted.stderr).toBe(0);
    expect((await w.does("run", "everything")).calls).toEqual({ M4: 1 });
    expect([await has(w, "C1", two), w.sandbox.counts().effects["M4"]]).toEqual([false, 2]);
  });

  it("is deleted in the next run if M4 answers unclearly in this one", async () => {
    const w = await synchronised();
    const fault = { operation: "M4", fault: "oddData", value: null, applied: false } as const;
    const id = w.sandbox.faults.add({ ...fault, about: await memberOf(w, "S1-1") });
    leave(w, "S1-1", "S2-1");
    const ran = await w.does("run", "everything");
    expect([ran.exitCode, ran.calls["M4"]], ran.stdout).toEqual([3, 1 + 4]);
    expect(await waitsFor(w, "S1-1", "staff")).toBe("service.unclear");
    w.sandbox.faults.clear(id);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, { M4: 1 }]);
  });

  it("stays while another record uses it, and is never deleted after that one adopted it", async () => {
    const w = await synchronised();
    const before = (await membersOf(w, "C1")).get(one)?.globalId;
    const third = { ...personOf(w, "S1-1"), holds: [], name: `${canary.person} third` };
    w.staff.push({ ...third, id: "T1-1" }, { ...third, id: "T1-2" });
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    leave(w, "S1-1", "S2-1");
    expect(outcome(await w.does("run", "everything"))).toEqual([3, { M9: 2, M4: 1 }]);
    expect([await has(w, "C1", one), await has(w, "C2", ofOther)]).toEqual([true, false]);
    expect(await waitsFor(w, "S1-1", "staff")).toBe("staff.still-used");
    leave(w, "T1-2");
    expect((await w.does("run", "everything")).calls["M4"]).toBeUndefined();
    expect(await memberOf(w, "T1-1")).toBe(before);
    leave(w, "T1-1");
    for (const _ of [1, 2]) expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    expect((await membersOf(w, "C1")).get(one)?.globalId).toBe(before);
  });

  it("passes with its assets to the new record of the same person", async () => {
    const w = await synchronised("report");
    const before = (await membersOf(w, "C1")).get(one);
    personOf(w, "S1-1").id = "N1-1";
    w.write();
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
    expect((await membersOf(w, "C1")).get(one)).toMatchObject({
      globalId: before?.globalId,
      assetNums: before?.assetNums,
    });
    expect([await memberOf(w, "N1-1"), await heldBy(w, "N1-1")]).toEqual([before?.globalId, before?.assetNums]);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  });

  it("is created again with the CRM's password, and waits for a person after five times", async () => {
    const w = await world();
    w.environment["CRM_SYNC__assumptions__passwordSource"] = "crm";
    w.staff = w.staff.map((row) => ({ ...row, password: `${canary.password}-1A` }));
    w.extra = limits;
    w.write();
    rule(w, "staff.left", "apply");
    removesAll(w);
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const person = personOf(w, "S1-1");
    for (let time = 0; time < 5; time += 1) {
      leave(w, "S1-1");
      expect(outcome(await w.does("run", "everything")), `${time}: gone`).toEqual([0, { M9: 1, M4: 1 }]);
      w.staff.push(person);
      w.write();
      // A record that flaps waits for a person, and nobody else does.
      const isCalm = time < 4;
      expect(outcome(await w.does("run", "everything"))).toEqual(isCalm ? [0, { M1: 1, M9: 1 }] : [4, {}]);
    }
    expect(await openHolds(w)).toMatchObject([{ scope: "flips" }]);
    leave(w, "S2-1");
    expect((await w.does("run", "everything")).calls, "the other customer's").toEqual({ M9: 1, M4: 1 });
  });
});
