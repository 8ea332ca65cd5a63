import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { ran } from "../../support/asking.ts";
import { world, type Parsed } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("a read that is cut changes nothing where a look-up table lost most of its lines", async () => {
  const records = company(10, 0);
  const w = await world({ records: { ...records, orders: [], staff: [] } });
  const table = w.path("data/branches.csv");
  const lines = (count: number): string =>
    `code,name\n${Array.from({ length: count }, (_, at) => `B${at},Branch ${at}\n`).join("")}`;
  writeFileSync(table, lines(50));
  w.customers = w.customers.map((row, at) => ({ ...row, branch: `B${at}` }));
  w.write();
  const file = w.path("crm-sync.yaml");
  const { sources, ...others }: Parsed = parse(readFileSync(file, "utf8"));
  sources.crm.tables = { branches: { files: "branches.csv", key: "code", value: "name" } };
  sources.crm.streams.customers.mapping.branchName = {
    lookup: { table: "branches", key: "branch", default: "unknown" },
  };
  writeFileSync(file, stringify({ sources, ...others }));
  expect((await ran(w)).exitCode).toBe(0);
  writeFileSync(table, lines(2));
  appendFileSync(w.path("data/customers.ndjson"), '{"id":');
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls]).toEqual([7, {}]);
});
