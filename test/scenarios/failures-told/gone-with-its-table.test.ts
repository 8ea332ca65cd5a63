import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { quarantined } from "../../support/asking.ts";
import { world, type Parsed } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("a record that is gone, and what it looked up too, asks nobody to correct it, and ends by itself", async () => {
  const w = await world({ records: { ...company(4, 0), orders: [], staff: [] } });
  w.customers = w.customers.map((row) => ({ ...row, branch: `B-${row.id}` }));
  const all = w.customers;
  /** The first so many customers, and the branches of so many. */
  const has = (customers: number, branches: number): void => {
    w.customers = all.slice(0, customers);
    w.write();
    const lines = all.slice(0, branches).map(({ id }) => `B-${id},Branch ${id}\n`);
    writeFileSync(w.path("data/branches.csv"), `code,name\n${lines.join("")}`);
    const { sources, ...others }: Parsed = parse(readFileSync(w.path("crm-sync.yaml"), "utf8"));
    sources.crm.tables = { branches: { files: "branches.csv", key: "code", value: "name" } };
    sources.crm.streams.customers.mapping.branchName = { lookup: { table: "branches", key: "branch" } };
    writeFileSync(w.path("crm-sync.yaml"), stringify({ sources, ...others }));
  };
  has(4, 4);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.later(24);
  has(3, 3);
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls]).toEqual([3, {}]);
  const [row] = await quarantined(w);
  expect(row).toMatchObject({ code: "stored-form", key: { id: "C4" } });
  expect(row.message).toContain("the last complete reads do not contain the record");
  for (const words of [
    ["quarantine", "show", row.id],
    ["explain", "customer", "C4"],
  ]) {
    const { stdout } = await w.run(...words);
    expect(stdout).toContain("nothing, if the record was deleted in the CRM");
    expect(stdout).not.toContain("correct the field that the message names");
  }
  expect((await w.ask("status")).open).toMatchObject([{ code: "stored-form", owner: "program" }]);
  has(4, 3);
  expect((await w.run("run", "everything")).exitCode).toBe(3);
  expect(await quarantined(w), "now there is a row to be corrected").toMatchObject([{ code: "not-in-table" }]);
  has(3, 3);
  for (let day = 0; day < 4; day += 1) {
    w.later(24);
    expect((await w.does("run", "everything")).calls).toEqual({});
  }
  expect(await quarantined(w)).toEqual([]);
});
