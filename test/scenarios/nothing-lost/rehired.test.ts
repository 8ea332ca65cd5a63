import { expect, it } from "vitest";
import { world, type World } from "../../support/cli.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";

const login = `${canary.login}1x1`;
const newMobile = "+4917700700799";

/** S1-1 is gone from the CRM and holds nothing any more; the account stays. */
async function left(): Promise<World> {
  const w = await world({ records: company21() });
  Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.staff = w.staff.filter(({ id }) => id !== "S1-1");
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1 }]);
  return w;
}

function company21(): { customers: World["customers"]; orders: World["orders"]; staff: World["staff"] } {
  return {
    customers: [{ id: "C1" }],
    orders: [{ id: "O1", customer: "C1", assets: ["O1-A1", "O1-A2"] }],
    staff: [
      { id: "S1-1", customer: "C1", login, holds: ["O1-A1"] },
      { id: "S1-2", customer: "C1", holds: ["O1-A2"] },
    ],
  };
}

it("a person who comes back under another id gets the mobile number of now", async () => {
  const w = await left();
  w.staff.push({ id: "R1", customer: "C1", login, name: `${canary.person} S1-1`, mobile: newMobile });
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
  expect((await membersOf(w, "C1")).get(login)?.passwordMobile).toBe(newMobile);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it("a person under another id, with the same account, keeps what they hold without a call", async () => {
  const w = await world({ records: company21() });
  Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  Object.assign(personOf(w, "S1-1"), { id: "s1-1", name: `${canary.person} S1-1` });
  w.write();
  for (const _ of [1, 2]) expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  personOf(w, "s1-1").holds = [];
  w.write();
  expect(outcome(await w.does("run", "everything")), "it is known whose it is").toEqual([0, { M9: 1 }]);
});

it("what M5 masks of an adopted account is not known, and is sent once", async () => {
  const w = await left();
  w.staff.push({ id: "R1", customer: "C1", login, name: `${canary.person} S1-1`, mobile: newMobile });
  w.write();
  w.sandbox.faults.add({ operation: "M5", fault: "oddField", field: "passwordMobile", value: "139****0000" });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  w.sandbox.faults.clear();
  expect((await membersOf(w, "C1")).get(login)?.passwordMobile).toBe(newMobile);
});

it("an account that is as the CRM has it is adopted without a call", async () => {
  const w = await left();
  w.staff.push({ id: "R1", customer: "C1", login, name: `${canary.person} S1-1` });
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it("an account that somebody made on the platform gets what the CRM has of the person", async () => {
  const w = await left();
  const member = [...(await membersOf(w, "C1")).values()].find(({ userName }) => userName.startsWith(login));
  w.sandbox.hand({ action: "rename-person", memberGlobalId: member?.globalId ?? "", remark: "old note" });
  w.staff.push({ id: "R1", customer: "C1", login, name: `${canary.person} new`, note: `${canary.person} note` });
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M2: 1 }]);
  expect((await membersOf(w, "C1")).get(login)).toMatchObject({
    name: `${canary.person} new`,
    remark: `${canary.person} note`,
  });
  expect(personOf(w, "R1").mobile).toBeUndefined();
});
