import { expect, it } from "vitest";
import { waitsFor } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";

const old = `${canary.login}1x1`;

it("refuses a changed login alone, and sends the person's other changes and everybody else's", async () => {
  const w = await world();
  await w.run("run", "everything");
  Object.assign(personOf(w, "S1-1"), { login: `${canary.login}new`, name: `${canary.person} married`, holds: [] });
  personOf(w, "S1-2").name = `${canary.person} other`;
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([3, { M2: 2, M9: 1 }]);
  expect(await waitsFor(w, "S1-1", "staff")).toBe("staff.login-changed");
  expect((await membersOf(w, "C1")).get(old)).toMatchObject({ name: `${canary.person} married`, assetNums: [] });
  personOf(w, "S1-1").name = `${canary.person} once more`;
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([3, { M2: 1 }]);
  personOf(w, "S1-1").login = old;
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it("changes nothing for a person who comes back with another login than the erased one", { tags: "long" }, async () => {
  const w = await world();
  Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
  await w.run("run", "everything");
  const person = personOf(w, "S1-1");
  w.staff = w.staff.filter((row) => row !== person);
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1 }]);
  const erased = await w.run("audit", "erase", "--person", "S1-1", "--reason", "request 17", "--by", "anna");
  expect(erased.exitCode, erased.stderr).toBe(0);
  w.staff.push({ ...person, login: `${canary.login}new`, holds: [] });
  personOf(w, "S1-2").name = `${canary.person} other`;
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([3, { M2: 1 }]);
  expect(await waitsFor(w, "S1-1", "staff")).toBe("staff.erased");
});
