import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { company } from "../support/world/crm.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

/** Rewrites each row of staff as the CRM exports it. */
function rewrite(w: World, change: (row: Record<string, unknown>) => Record<string, unknown>): void {
  w.write();
  const file = w.path("data/staff.ndjson");
  const rows = readFileSync(file, "utf8").trimEnd().split("\n");
  writeFileSync(file, `${rows.map((row) => JSON.stringify(change(JSON.parse(row)))).join("\n")}\n`);
}

async function companyOfTwelve(): Promise<World> {
  const w = await world({ records: company(6, 2) });
  expect(w.staff.length).toBeGreaterThanOrEqual(12);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

it(
  "a field that is suddenly empty everywhere takes nothing away, and the printed command believes it once",
  { tags: "long" },
  async () => {
    const w = await companyOfTwelve();
    rewrite(w, ({ numbers: _numbers, ...row }) => ({ ...row, holdings: [] }));
    let printed = "";
    for (let run = 0; run < 3; run += 1) {
      const ended = await w.does("run", "everything");
      expect(ended.exitCode, ended.stdout + ended.stderr).toBe(7);
      expect(ended.calls).toEqual({});
      expect(ended.stdout).toMatch(/numbers was filled in 12 of 12 rows and is in none of 12/u);
      [, printed = ""] = /`crm-sync (run \S+ --accept-drift hr)`/u.exec(ended.stdout) ?? [];
    }
    expect((await w.run("status")).stdout).toMatch(/hr/u);
    const believed = await w.run(...printed.split(" "));
    expect(believed.stdout).not.toContain("source.drifted");
    expect([0, 4]).toContain(believed.exitCode);
    const activity = await w.run("report", "activity", "--period", new Date().toISOString().slice(0, 7));
    expect(activity.stdout.match(/,overrode a limit,drift-accepted,/gu)).toHaveLength(1);
    expect((await w.run("run", "everything")).stdout).not.toContain("is in none of");
  },
);

it("a field that changes its type is told of before its rows are quarantined", { tags: "long" }, async () => {
  const w = await companyOfTwelve();
  rewrite(w, (row) => ({ ...row, login: { name: row["login"] } }));
  const ended = await w.run("run", "everything");
  expect(ended.exitCode).toBe(7);
  expect(ended.stdout).toMatch(/login was text and is object/u);
  expect(w.rows("select 1 from quarantine")).toEqual([]);
});

it("a field that the mapping does not read may come and go", { tags: "long" }, async () => {
  const w = await companyOfTwelve();
  rewrite(w, (row) => ({ ...row, remarkOfTheCrm: "x" }));
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  rewrite(w, (row) => row);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
});

it("another source is read while one has drifted", { tags: "long" }, async () => {
  const w = await companyOfTwelve();
  const [first] = w.customers;
  if (first === undefined) throw new Error("there is no customer");
  first.name = "Zqcanary Renamed";
  rewrite(w, ({ numbers: _numbers, ...row }) => row);
  const ended = await w.does("run", "everything");
  expect(ended.exitCode).toBe(7);
  expect(ended.calls).toEqual({ E4: 1 });
});

/** Orders of which the last two are quotes, by `field`; the stream skips quotes by `stage`. */
function writeQuotes(w: World, field: string): void {
  w.write();
  const file = w.path("data/orders.ndjson");
  const rows = readFileSync(file, "utf8").trimEnd().split("\n");
  const staged = rows.map((row, at) => JSON.stringify({ ...JSON.parse(row), [field]: at >= 10 ? "quote" : "won" }));
  writeFileSync(file, `${staged.join("\n")}\n`);
  const configuration = parse(readFileSync(w.path("crm-sync.yaml"), "utf8"));
  configuration.sources.crm.streams.orders.skip = { path: "stage", equals: "quote" };
  writeFileSync(w.path("crm-sync.yaml"), stringify(configuration));
}

it(
  "quotes that are skipped are not placed because the CRM renamed the field that says so",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(12, 1) });
    writeQuotes(w, "stage");
    expect((await w.does("run", "everything")).calls["E5"]).toBe(10);
    writeQuotes(w, "deal_stage");
    const renamed = await w.does("run", "everything");
    expect([renamed.exitCode, renamed.calls], renamed.stdout).toEqual([7, {}]);
    expect(renamed.stdout).toMatch(/stage was filled in 12 of 12 rows and is in none of 12/u);
  },
);

it("check and map say of skipped rows that they are skipped, and not that they would be quarantined", async () => {
  const w = await world({ records: company(12, 0) });
  writeQuotes(w, "stage");
  const ids = w.orders.map(({ id }) => JSON.stringify({ id, stage: "quote" }));
  writeFileSync(w.path("data/orders.ndjson"), `${ids.join("\n")}\n`);
  expect(await w.run("map", "crm", "orders")).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/is skipped/u),
  });
  expect((await w.run("check")).stdout).toMatch(
    /orders: all 12 rows were read, 12 rows of them skipped, and all can be/u,
  );
});

it(
  "a mapping that is corrected is no drift of the source, neither in what it would change nor in a run",
  { tags: "long" },
  async () => {
    const w = await companyOfTwelve();
    const configuration = parse(readFileSync(w.path("crm-sync.yaml"), "utf8"));
    configuration.sources.hr.streams.staff.mapping.name = "id";
    writeFileSync(w.path("crm-sync.yaml"), stringify(configuration));
    const planned = await w.run("plan", "--stored");
    expect(planned.stdout + planned.stderr).not.toMatch(/looks otherwise/u);
    expect(planned.exitCode).toBe(2);
    expect(await w.run("run", "everything")).toMatchObject({ exitCode: 0 });
  },
);
