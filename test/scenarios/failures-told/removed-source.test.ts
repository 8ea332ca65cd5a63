import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { auditEntries, quarantined, ran } from "../../support/asking.ts";
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

describe("records of a source that is configured no longer", () => {
  /** A company of two people at `hr`, one of whom the source that `hr` was renamed to no longer has. */
  async function renamed(): Promise<World> {
    const w = await telling({ records: company(2, 2) });
    expect((await ran(w)).exitCode).toBe(0);
    const settings = readFileSync(w.path("crm-sync.yaml"), "utf8");
    writeFileSync(w.path("crm-sync.yaml"), settings.replace(/^ {2}hr:/mu, "  people:"));
    writeFileSync(w.path("data/staff.ndjson"), lines(w.staff.slice(1).map(staffRow)));
    return w;
  }

  it("are named in the run, in status and in /healthz, and nothing is taken away, until somebody says who reads them", async () => {
    const w = await renamed();
    for (const _ of [1, 2]) {
      const { exitCode, calls, said } = await ran(w);
      expect([exitCode, calls]).toEqual([3, {}]);
      expect(said.summary.open).toMatchObject([{ stream: "staff", code: "source.removed", cause: "hr", count: 1 }]);
    }
    expect(kinds(w)).toEqual(["started deferred"]);
    const { open } = await w.ask("status");
    expect(open).toMatchObject([
      { stream: "staff", code: "source.removed", owner: "configuration", examples: [{ record: "crm/S1-1" }] },
    ]);
    expect((await w.run("status")).stdout).toContain("crm-sync reassign hr --to SOURCE --reason TEXT");
    expect(await health(w)).toMatchObject({ healthy: false, wrong: ["records.deferred:staff:source.removed:1"] });
  });

  it("are missed by the source that they are given to, under the usual rules", async () => {
    const w = await renamed();
    expect((await ran(w)).exitCode).toBe(3);
    const given = await w.ask("reassign", "hr", "--to", "people", "--reason", "renamed", "--by", "anna");
    expect(given).toMatchObject({ from: "hr", to: "people", records: [{ source: "hr", stream: "staff", count: 1 }] });
    const entries = (await auditEntries(w)).filter(({ kind }) => kind === "source-reassigned");
    expect(entries.map(({ subject, body }) => [subject, JSON.parse(body)])).toMatchObject([
      ["source:hr", { stream: "staff", records: 1, to: "people", by: "anna", reason: "renamed" }],
    ]);
    for (const exitCode of [0, 0]) {
      expect(await ran(w)).toMatchObject({ exitCode, calls: {} });
      w.later(13);
    }
    const { calls } = await ran(w);
    expect(calls).not.toEqual({});
  });

  it("stay as they are where a person lets go of them, also after many reads, and a source may give them again", async () => {
    const w = await renamed();
    expect((await ran(w)).exitCode).toBe(3);
    expect((await w.run("reassign", "hr", "--release", "--reason", "left alone", "--by", "anna")).exitCode).toBe(0);
    for (let read = 0; read < 4; read += 1) {
      expect(await ran(w)).toMatchObject({ exitCode: 0, calls: {} });
      w.later(24);
    }
    await expectNothingWrong(w);
    expect((await auditEntries(w)).map(({ kind }) => kind)).toContain("source-let-go");
    writeFileSync(w.path("data/staff.ndjson"), lines(w.staff.map(staffRow)));
    expect(await ran(w)).toMatchObject({ exitCode: 0, calls: {} });
  });

  it("are given to no source that does not give their stream, and none are of a source that is configured", async () => {
    const w = await renamed();
    expect((await ran(w)).exitCode).toBe(3);
    for (const [words, message] of [
      [["hr", "--to", "crm"], "no source crm is configured that gives staff"],
      [["hr", "--to", "nobody"], "no source nobody is configured"],
      [["people", "--release"], "no record is left of a source people"],
      [["hr"], "either --to or --release"],
      [["hr", "--to", "people", "--release"], "either --to or --release"],
    ] as const) {
      const ended = await w.run("reassign", ...words, "--reason", "tried");
      expect([ended.exitCode, ended.stderr.includes(message)], ended.stderr).toEqual([64, true]);
    }
    expect((await w.run("reassign", "hr", "--to", "people")).exitCode).toBe(64);
    expect((await ran(w)).exitCode).toBe(3);
  });

  it("of a stream that no job reads any more are named by every run, and are not any more once their source is there again", async () => {
    const w = await telling({ records: company(3, 1) });
    expect((await ran(w)).exitCode).toBe(0);
    const settings = readFileSync(w.path("crm-sync.yaml"), "utf8");
    writeFileSync(
      w.path("crm-sync.yaml"),
      settings.replace(/^ {2}hr:\n[^]*?^jobs:/mu, "jobs:").replace("[customers, orders, staff]", "[customers, orders]"),
    );
    // No job reads their stream any more: each says so.
    expect((await ran(w)).exitCode).toBe(3);
    expect((await w.ask("status")).open).toMatchObject([{ stream: "staff", cause: "hr", count: 3 }]);
    writeFileSync(w.path("crm-sync.yaml"), settings);
    expect((await ran(w)).exitCode).toBe(0);
    await expectNothingWrong(w);
  });
});
