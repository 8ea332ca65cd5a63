import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { quarantined } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

/** @module-tag long */

/** Rewrites each row of a list as the CRM exports it. */
function rewrite(w: World, list: "orders" | "staff", change: (row: Parsed, at: number) => Parsed): void {
  w.write();
  const file = w.path(`data/${list}.ndjson`);
  const rows = readFileSync(file, "utf8").trimEnd().split("\n");
  writeFileSync(file, `${rows.map((row, at) => JSON.stringify(change(JSON.parse(row), at))).join("\n")}\n`);
}

function configure(w: World, change: (sources: Parsed) => void): void {
  const file = w.path("crm-sync.yaml");
  const configuration = parse(readFileSync(file, "utf8"));
  change(configuration.sources);
  writeFileSync(file, stringify(configuration));
}

async function companyOfTwelve(): Promise<World> {
  const w = await world({ records: company(6, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

it("a field that is empty everywhere removes nothing until a person believes it, and stops no other source", async () => {
  const w = await companyOfTwelve();
  w.customers = w.customers.map((row) => (row.id === "C1" ? { ...row, name: "Zqcanary Renamed" } : row));
  rewrite(w, "staff", ({ numbers: _numbers, ...row }) => ({ ...row, holdings: [] }));
  for (const calls of [{ E4: 1 }, {}, {}]) {
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls], ended.stdout).toEqual([7, calls]);
  }
  expect((await w.run("run", "everything", "--accept-drift", "hr/staff=1")).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
});

it("a field that changes its type stops the source before its rows are quarantined", async () => {
  const w = await companyOfTwelve();
  rewrite(w, "staff", (row) => ({ ...row, login: { name: row.login } }));
  expect((await w.run("run", "everything")).exitCode).toBe(7);
  expect(await quarantined(w)).toEqual([]);
});

it("neither a field that the mapping does not read nor a corrected mapping is a drift of the source", async () => {
  const w = await companyOfTwelve();
  for (const more of [{ remarkOfTheCrm: "x" }, {}]) {
    rewrite(w, "staff", (row) => ({ ...row, ...more }));
    expect((await w.run("run", "everything")).exitCode).toBe(0);
  }
  configure(w, (sources) => (sources.hr.streams.staff.mapping.name = "id"));
  expect((await w.run("run", "everything")).exitCode).toBe(0);
});

it("orders that are skipped are not placed because the CRM renamed the field that says so", async () => {
  const w = await world({ records: company(12, 1) });
  const writeQuotes = (field: string): void => {
    rewrite(w, "orders", (row, at) => ({ ...row, [field]: at >= 10 ? "quote" : "won" }));
    configure(w, (sources) => (sources.crm.streams.orders.skip = { path: "stage", equals: "quote" }));
  };
  writeQuotes("stage");
  expect((await w.does("run", "everything")).calls["E5"]).toBe(10);
  writeQuotes("deal_stage");
  const renamed = await w.does("run", "everything");
  expect([renamed.exitCode, renamed.calls], renamed.stdout).toEqual([7, {}]);
});

it("check does not call rows that are skipped bad", async () => {
  const w = await world({ records: company(3, 0) });
  rewrite(w, "orders", ({ id }) => ({ id, stage: "quote" }));
  configure(w, (sources) => (sources.crm.streams.orders.skip = { path: "stage", equals: "quote" }));
  expect((await w.run("check")).exitCode).toBe(0);
  expect((await w.run("map", "crm", "orders")).exitCode).toBe(0);
});
