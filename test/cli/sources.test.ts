import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { lines } from "../support/world/crm-files.ts";
import { company, staffRow } from "../support/world/crm.ts";
import type { World } from "../support/cli.ts";
import { health, telling, told } from "../support/telling.ts";

/** The configuration with a second source of people before or after `hr`, and without it again. */
function withAgency(w: World, place: "before" | "after"): { there: () => void; gone: () => void } {
  const settings = readFileSync(w.path("crm-sync.yaml"), "utf8");
  const [, hr = ""] = /^ {2}hr:\n([^]*?)^jobs:/mu.exec(settings) ?? [];
  const agency = `  agency:\n${hr.replace("staff.ndjson", "agency.ndjson")}`;
  const more =
    place === "before"
      ? settings.replace(/^ {2}hr:/mu, `${agency}  hr:`)
      : settings.replace(/^jobs:/mu, `${agency}jobs:`);
  return {
    there: () => writeFileSync(w.path("crm-sync.yaml"), more),
    gone: () => writeFileSync(w.path("crm-sync.yaml"), settings),
  };
}

describe("a source that is taken out of the configuration", () => {
  it.for(["before", "after"] as const)(
    "no longer claims a record of another one, which goes on (read %s it)",
    async (place) => {
      const w = await telling({ records: company(2, 1) });
      const agency = withAgency(w, place);
      writeFileSync(w.path("data/agency.ndjson"), lines(w.staff.slice(0, 1).map(staffRow)));
      agency.there();
      const claimed = await w.run("run", "everything");
      expect(claimed.last).toContain("1 record is not done: 1 staff member is in quarantine (claimed-twice)");
      expect(told(w)).toHaveLength(1);

      agency.gone();
      const { result, calls } = await w.writes(() => w.run("run", "everything"));
      expect(result.last, result.stdout).toBe("exit 0: all is well");
      expect(calls).toEqual({ M1: 1, M9: 1 });
      expect(told(w).map((message) => `${message.event} ${message.kind}`)).toEqual(["ended quarantine"]);
      expect((await w.run("status")).last).toBe("nothing waits for a person");
      expect((await w.run("run", "everything")).last).toBe("exit 0: all is well");
    },
  );

  it(
    "is not told of any more: its rows in quarantine are resolved, and are there again when it is",
    { tags: "long" },
    async () => {
      const w = await telling({ records: company(2, 1) });
      const agency = withAgency(w, "after");
      writeFileSync(w.path("data/agency.ndjson"), '{"customer":"C1","login":"nobody"}\n');
      agency.there();
      expect((await w.run("run", "everything")).exitCode).toBe(3);
      agency.gone();
      expect((await w.run("run", "everything")).last).toBe("exit 0: all is well");
      expect((await w.run("status")).last).toBe("nothing waits for a person");
      expect(await health(w)).toMatchObject({ healthy: true, wrong: [] });
      agency.there();
      expect((await w.run("run", "everything")).exitCode).toBe(3);
    },
  );
});

it(
  "a record that one source has given up and another one claims changes hands, also where it changes meanwhile",
  { tags: "long" },
  async () => {
    const w = await telling({ records: company(2, 2) });
    const agency = withAgency(w, "after");
    writeFileSync(w.path("data/agency.ndjson"), "");
    agency.there();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const [moved, ...others] = w.staff.map(staffRow);
    writeFileSync(w.path("data/staff.ndjson"), lines(others));
    w.environment["CRM_SYNC__limits__absenceReads"] = "2";
    w.environment["CRM_SYNC__limits__absenceTime"] = "0s";
    const codes: number[] = [];
    for (let day = 0; day < 4; day += 1) {
      writeFileSync(w.path("data/agency.ndjson"), lines([{ ...moved, remark: `day ${day}` }]));
      codes.push((await w.run("run", "everything")).exitCode ?? -1);
    }
    expect(codes.at(-1)).toBe(0);
    expect(w.rows("select source, state from record where id = 'S1-1'")).toEqual([
      { source: "agency", state: "current" },
    ]);
  },
);

it("a record that waits in quarantine keeps its age while its bad form changes", async () => {
  const w = await telling({ records: company(2, 1) });
  const people = w.staff.map(staffRow).map((row, at) => (at === 0 ? { ...row, name: undefined } : row));
  for (const remark of ["one", "another"]) {
    writeFileSync(w.path("data/staff.ndjson"), lines(people.map((row) => ({ ...row, remark }))));
    expect((await w.run("run", "everything")).exitCode).toBe(3);
    if (remark === "one") w.tamper("update quarantine set first_seen = '2026-01-05T00:00:00.000Z'");
  }
  expect(w.rows("select first_seen, state from quarantine where state <> 'resolved'")).toEqual([
    { first_seen: "2026-01-05T00:00:00.000Z", state: "open" },
  ]);
});
