import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { startService } from "../source/http-service.ts";
import { crmSync } from "../support/program.ts";
import type { Ended } from "../support/program.ts";
import { folder as newFolder } from "../support/world/start.ts";

const mapping =
  "{ id: id, name: name, customerType: { value: company }, branchCode: { value: B1 }, branchName: { value: Bonn } }";

/** Two sources, each with a secret, in a configuration that says nothing yet of the services but one secret. */
async function twoSources(services = ""): Promise<(environment: object, ...words: string[]) => Promise<Ended>> {
  const place = newFolder();
  const service = await startService(() => ({ body: [{ id: "1", name: "Ann" }] }));
  const database = new DatabaseSync(join(place, "erp.db"));
  database.exec("create table party (id integer primary key, name text); insert into party values (1, 'Ann')");
  database.close();
  const config = join(place, "crm-sync.yaml");
  const web = (name: string): string => `  ${name}:
    kind: http
    baseUrl: ${service.origin}
    auth: { kind: bearer, token: env:${name.toUpperCase()}_TOKEN }
    streams: { customers: { url: customers, mapping: ${mapping} } }
`;
  writeFileSync(
    config,
    `ledger: { path: ledger.db, sealKey: env:NO_SEAL_KEY }
${services}sources:
${web("first")}${web("second")}  erp:
    kind: sql
    connection: { kind: sqlite, file: erp.db }
    streams: { customers: { query: "select id, name, abs(-9223372036854775807 - id) as n from party", mapping: ${mapping} } }
`,
  );
  return (environment, ...words) => crmSync({ config, environment: { ...environment } }, ...words);
}

it.each([
  ["nothing is said of the services", ""],
  [
    "their secrets are not there",
    "orderService: { appKey: env:NO_KEY }\nmemberCenter: { baseUrl: 'https://x.example' }\n",
  ],
])("map and schema need the secrets of the source that they show, and no other, where %s", async (_what, services) => {
  const run = await twoSources(services);
  for (const words of [
    ["map", "first", "customers"],
    ["schema", "first"],
  ]) {
    const shown = await run({ FIRST_TOKEN: "t-1" }, ...words);
    expect(shown.exitCode, shown.stderr).toBe(0);
    expect(shown.stdout).toContain("id");
    const without = await run({ SECOND_TOKEN: "t-2" }, ...words);
    expect(without.exitCode).toBe(78);
    expect(without.stderr).toContain("FIRST_TOKEN");
    expect(without.stderr).not.toMatch(/SECOND_TOKEN|SEAL_KEY|orderService|memberCenter|NO_KEY/u);
  }
  const unknown = await run({}, "map", "third", "customers");
  expect(unknown.stderr).toMatch(/no source "third"/u);
});

it("map and schema say that a query failed, and never that nothing is there", async () => {
  const run = await twoSources();
  for (const words of [
    ["map", "erp", "customers"],
    ["map", "erp", "customers", "--record", "1"],
    ["schema", "erp"],
  ]) {
    const ended = await run({}, ...words);
    expect(ended.exitCode, ended.stderr).toBe(7);
    expect(ended.stdout).toMatch(/^source erp, customers: could not be read/mu);
    expect(ended.stdout).not.toMatch(/has no record|all 0 rows/u);
    expect(ended.stderr).toMatch(/failed at a row of its result/u);
  }
});
