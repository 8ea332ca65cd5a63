import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ran } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { lines } from "../../support/world/crm-files.ts";
import { company, staffRow, type GivenStaff } from "../../support/world/crm.ts";

type Rows = readonly (object | string)[];

/** Ways in which somebody who was missing twice is there again for one read. */
const returns: Record<string, (w: World, people: readonly GivenStaff[], write: (rows: Rows) => void) => Promise<void>> =
  {
    "as before": async (w, people, write) => {
      write(people.map(staffRow));
      await w.run("run", "everything");
    },
    changed: async (w, people, write) => {
      write(people.map((one, at) => staffRow(at === 3 ? { ...one, note: "back" } : one)));
      await w.run("run", "everything");
    },
    "in a plan": async (w, people, write) => {
      write(people.map(staffRow));
      await w.run("plan");
    },
    "in a read that is cut off": async (w, people, write) => {
      write([...people.toReversed().map(staffRow), '{"id":']);
      await w.run("run", "everything");
    },
    "in a form that cannot be used": async (w, people, write) => {
      write(people.map((one, at) => (at === 3 ? { ...staffRow(one), name: null } : staffRow(one))));
      await w.run("run", "everything");
    },
    "in a read that is not believed": async (w, people, write) => {
      const others = people.map((one, at) => (at === 3 ? { ...one, note: "back" } : one)).slice(3);
      const renumbered = people.slice(0, 3).map((one) => ({ ...one, id: `N${one.id}` }));
      w.environment["CRM_SYNC__limits__newIds__floor"] = "3";
      write([...renumbered, ...others].map(staffRow));
      const ended = await w.run("run", "everything");
      expect(ended.stdout).toContain("--accept-new-ids hr/staff=3");
    },
  };

it.each(Object.entries(returns))("somebody who is there again (%s) has to be missing anew", async (_how, comesBack) => {
  const records = company(1, 12);
  const w = await world({ records });
  Object.assign(w.environment, {
    CRM_SYNC__policies__assignments__revoked: "apply",
    CRM_SYNC__policies__staff__left: "apply",
    CRM_SYNC__limits__absenceTime: "0s",
  });
  expect((await ran(w)).exitCode).toBe(0);
  const write = (rows: Rows): void =>
    writeFileSync(
      w.path("data/staff.ndjson"),
      rows.map((row) => (typeof row === "string" ? row : lines([row]))).join(""),
    );
  const others = w.staff.filter((_one, at) => at !== 3).map(staffRow);
  const goesMissing = async (): Promise<Record<string, number>> => {
    write(others);
    return (await w.does("run", "everything")).calls;
  };
  expect([await goesMissing(), await goesMissing()]).toEqual([{}, {}]);
  await comesBack(w, w.staff, write);
  delete w.environment["CRM_SYNC__limits__newIds__floor"];
  expect([await goesMissing(), await goesMissing()]).toEqual([{}, {}]);
  expect(await goesMissing()).toEqual({ M9: 1, M4: 1 });
});
