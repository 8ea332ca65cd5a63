import { expect, it } from "vitest";
import { heldBy, memberOf, openHold, openHolds, waitsFor } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";
import { rule } from "../../support/world/placed-orders.ts";

const login = `${canary.login}1x1`;

/** Two customers with two people each; an administrator takes the seat of S1-1 away on the platform. */
async function seatRemoved(word: string): Promise<World> {
  const w = await world();
  rule(w, "drift.missing", word);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  const [assetNum = ""] = await heldBy(w, "S1-1");
  w.sandbox.hand({ action: "move-holder", assetNum, memberGlobalId: null });
  for (const _ of [1, 2]) expect((await w.does("run", "verify")).calls).toEqual({});
  return w;
}

/** The CRM changes something else of the customer. */
function otherName(w: World, id: string, name: string): void {
  personOf(w, id).name = `${canary.person} ${name}`;
  w.write();
}

it.each(["report", "ignore"])("no road gives a removed seat back (drift.missing: %s)", async (word) => {
  const w = await seatRemoved(word);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  otherName(w, "S1-2", "married");
  expect(outcome(await w.does("run", "everything")), "a change of another person").toEqual([0, { M2: 1 }]);
  w.orders.push({ id: "N1", customer: "C1", assets: ["N1-A1"] });
  w.write();
  expect(outcome(await w.does("run", "everything")), "a new order").toEqual([0, { E5: 1 }]);
  expect(outcome(await w.does("resync", "--customer", "C1")), "resync").toEqual([0, {}]);
  otherName(w, "S1-1", "married too");
  expect(outcome(await w.does("run", "everything")), "a change of this person").toEqual([0, { M2: 1 }]);
  expect(await waitsFor(w, "S1-1", "staff")).toBe(word === "report" ? "policy.reported" : undefined);
  rule(w, "drift.missing", "apply");
  for (const _ of [1, 2]) expect((await w.does("run", "verify")).calls).toEqual({});
  expect(outcome(await w.does("run", "everything")), "the policy says so").toEqual([0, { M9: 1 }]);
});

it("tells of a removed seat no more once the platform shows it again", async () => {
  const w = await seatRemoved("report");
  otherName(w, "S1-1", "married");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
  expect(await waitsFor(w, "S1-1", "staff")).toBe("policy.reported");
  const [assetNum = ""] = await heldBy(w, "S1-1");
  w.sandbox.hand({ action: "move-holder", assetNum, memberGlobalId: await memberOf(w, "S1-1") });
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(await waitsFor(w, "S1-1", "staff")).toBeUndefined();
});

it("a person is asked whether a removed seat is given back (drift.missing: ask)", async () => {
  const w = await seatRemoved("ask");
  otherName(w, "S1-2", "married");
  expect(outcome(await w.does("run", "everything"))).toEqual([4, { M2: 1 }]);
  await w.run("approve", await openHold(w), "--reason", "asked the administrator");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1 }]);
});

/** An administrator changes the mobile number of S1-1 on the platform, and the CRM the name. */
async function mobileChanged(word: string): Promise<World> {
  const w = await world({ sandbox: { settings: { fieldsLeftOutInM2: "kept" } } });
  rule(w, "drift.different", word);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.sandbox.hand({ action: "rename-person", memberGlobalId: await memberOf(w, "S1-1"), mobile: "13900000000" });
  for (const _ of [1, 2]) expect((await w.does("run", "verify")).calls).toEqual({});
  otherName(w, "S1-1", "married");
  return w;
}

const mobileOf = async (w: World): Promise<string | undefined> => (await membersOf(w, "C1")).get(login)?.passwordMobile;

it.each(["report", "ignore"])("a change of the CRM sets no other field back (drift.different: %s)", async (word) => {
  const w = await mobileChanged(word);
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  expect(await waitsFor(w, "S1-1", "staff")).toBe("staff.would-set-back");
  w.environment["CRM_SYNC__assumptions__leftOutStaffFields"] = "kept";
  expect(outcome(await w.does("run", "everything")), "M2 keeps what is left out").toEqual([0, { M2: 1 }]);
  expect([await mobileOf(w), (await membersOf(w, "C1")).get(login)?.name]).toEqual([
    "13900000000",
    `${canary.person} married`,
  ]);
});

it("a person is asked whether a change of the CRM sets another field back (drift.different: ask)", async () => {
  const w = await mobileChanged("ask");
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  await w.run("approve", await openHold(w), "--reason", "asked the administrator");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
  expect([await mobileOf(w), await openHolds(w)]).toEqual([canary.mobile, []]);
});

it("a change of the CRM sets another field back where the policy says so", async () => {
  const w = await mobileChanged("apply");
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
  expect(await mobileOf(w)).toBe(canary.mobile);
});
