import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { quarantined, ran } from "../../support/asking.ts";
import type { Parsed, World } from "../../support/cli.ts";
import { health, telling, told } from "../../support/telling.ts";
import { lines } from "../../support/world/crm-files.ts";
import { company, staffRow } from "../../support/world/crm.ts";

/** The configuration with a second source of people before or after `hr`, and without it again. */
function withAgency(w: World, place: "before" | "after"): { there: () => void; gone: () => void } {
  const settings = readFileSync(w.path("crm-sync.yaml"), "utf8");
  const [, hr = ""] = /^ {2}hr:\n([^]*?)^jobs:/mu.exec(settings) ?? [];
  const agency = `  agency:\n${hr.replace("staff.ndjson", "agency.ndjson")}`;
  const more = settings.replace(place === "before" ? /^ {2}hr:/mu : /^jobs:/mu, (text) => `${agency}${text}`);
  return {
    there: () => writeFileSync(w.path("crm-sync.yaml"), more),
    gone: () => writeFileSync(w.path("crm-sync.yaml"), settings),
  };
}

/** Nothing waits for anybody: neither `status` nor `/healthz` names anything. */
async function expectNothingWrong(w: World): Promise<void> {
  const { open, notices } = await w.ask("status");
  expect([open, notices]).toEqual([[], []]);
  expect(await health(w)).toMatchObject({ healthy: true, wrong: [] });
}

const kinds = (w: World): string[] => told(w).map(({ event, kind }) => `${event} ${kind}`);

describe("a source that is removed from the configuration", () => {
  it.for(["before", "after"] as const)(
    "no longer claims a record of another one, which goes on (read %s it)",
    { tags: "long" },
    async (place) => {
      const w = await telling({ records: company(2, 1) });
      const agency = withAgency(w, place);
      writeFileSync(w.path("data/agency.ndjson"), lines(w.staff.slice(0, 1).map(staffRow)));
      agency.there();
      expect((await ran(w)).exitCode).toBe(3);
      expect((await quarantined(w)).map(({ code }: Parsed) => code)).toContain("claimed-twice");
      expect(kinds(w)).toEqual(["started quarantine"]);
      agency.gone();
      const { exitCode, calls } = await ran(w);
      expect([exitCode, calls]).toEqual([0, { M1: 1, M9: 1 }]);
      expect(kinds(w)).toEqual(["ended quarantine"]);
      await expectNothingWrong(w);
    },
  );

  it("has no rows in quarantine until it is there again", { tags: "long" }, async () => {
    const w = await telling({ records: company(2, 1) });
    const agency = withAgency(w, "after");
    writeFileSync(w.path("data/agency.ndjson"), '{"customer":"C1","login":"nobody"}\n');
    agency.there();
    expect((await ran(w)).exitCode).toBe(3);
    agency.gone();
    expect((await ran(w)).exitCode).toBe(0);
    await expectNothingWrong(w);
    agency.there();
    expect((await ran(w)).exitCode).toBe(3);
  });
});

it("keeps the age of a record in quarantine while its bad form changes", { tags: "long" }, async () => {
  const w = await telling({ records: company(2, 1) });
  const people = w.staff.map(staffRow).map((row, at) => (at === 0 ? { ...row, name: undefined } : row));
  const since: string[] = [];
  for (const remark of ["one", "another"]) {
    writeFileSync(w.path("data/staff.ndjson"), lines(people.map((row) => ({ ...row, remark }))));
    expect((await ran(w)).exitCode).toBe(3);
    const { open } = await w.ask("status");
    since.push(...open.map((group: Parsed) => group.since));
    w.later(24);
  }
  expect(since).toEqual([since[0], since[0]]);
});
