import { expect, it } from "vitest";
import { quarantined, ran } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { company, type Crm } from "../../support/world/crm.ts";

const mobile = (n: number): string => `+49177007007${String(n).padStart(2, "0")}`;

async function people(count: number): Promise<World> {
  const records = company(1, count);
  records.staff = records.staff.map((person, at) => ({ ...person, mobile: mobile(at + 1) }));
  const w = await world({ records });
  Object.assign(w.environment, {
    CRM_SYNC__policies__assignments__revoked: "apply",
    CRM_SYNC__policies__staff__left: "apply",
  });
  expect((await ran(w)).exitCode).toBe(0);
  return w;
}

/** The list with everything but the ids moved. */
function moved(staff: Crm["staff"], to: (at: number) => number): Crm["staff"] {
  return staff.map((one, at) => ({ ...one, ...staff[to(at)], id: one.id }));
}

const codes = async (w: World): Promise<Record<string, string>> =>
  Object.fromEntries((await quarantined(w)).map(({ code, key }: Parsed): [string, string] => [key.id, code]));

it("two people whose ids are swapped keep their seats until a person decides", async () => {
  const w = await people(4);
  const before = w.staff;
  w.staff = moved(w.staff, (at) => [1, 0, 2, 3][at] ?? at);
  w.write();
  for (let run = 0; run < 4; run += 1) {
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls], ended.stdout).toEqual([3, {}]);
  }
  expect(await codes(w)).toEqual({ "S1-1": "id-names-another", "S1-2": "id-names-another" });
  w.staff = before;
  w.write();
  expect((await ran(w)).exitCode).toBe(0);
  expect(await codes(w)).toEqual({});
});

it("a list whose ids are shifted by one row is not taken in", async () => {
  const w = await people(8);
  w.staff = moved(w.staff, (at) => (at + 1) % 8);
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls]).toEqual([7, {}]);
  expect(ended.stdout).toContain("--accept-new-ids hr/staff=8");
});

it("an id that is given to somebody else waits, and a person takes it as it is", async () => {
  const w = await people(3);
  w.staff = w.staff.map((person) =>
    person.id === "S1-2" ? { ...person, name: "Zqcanary Somebody", mobile: mobile(77) } : person,
  );
  w.write();
  expect((await w.does("run", "everything")).calls).toEqual({});
  const [row] = await quarantined(w);
  expect(row).toMatchObject({ code: "id-names-another", key: { id: "S1-2" } });
  expect(JSON.stringify(row)).not.toMatch(/zqcanary/iu);
  expect((await w.run("quarantine", "retry", row.id)).exitCode).toBe(0);
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls]).toEqual([0, { M2: 1 }]);
});

it.each([
  ["a name alone", { name: "Zqcanary Married" }],
  ["a mobile alone", { mobile: mobile(88) }],
])("%s that changes is a change", async (_what, change) => {
  const w = await people(3);
  w.staff = w.staff.map((person) => (person.id === "S1-2" ? { ...person, ...change } : person));
  w.write();
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: { M2: 1 } });
});
