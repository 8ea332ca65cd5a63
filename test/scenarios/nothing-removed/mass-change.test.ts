import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { auditEntries, quarantined, ran } from "../../support/asking.ts";
import { world, type Parsed } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it.each([
  [19, 0],
  [20, 7],
  [21, 7],
])("one field that changed in %i of 30 records ends with %i", { timeout: 60_000 }, async (count, exit) => {
  const w = await world({ records: company(30, 0) });
  w.orders = [];
  w.write();
  expect((await ran(w)).exitCode).toBe(0);
  w.customers = w.customers.map((row, at) => (at < count ? { ...row, branch: "South" } : row));
  w.write();
  const ended = await w.does("run", "everything");
  expect([ended.exitCode, ended.calls]).toEqual([exit, exit === 0 ? { E4: count } : {}]);
  if (exit === 0) return;
  expect(ended.stdout).toMatch(
    new RegExp(`the field branch(Code|Name) changed in ${count} of 30 records at once`, "u"),
  );
  const less = `crm/customers=${count - 1}`;
  expect((await w.does("run", "everything", "--accept-changes", less)).calls).toEqual({});
  const believed = await w.does("run", "everything", "--accept-changes", `crm/customers=${count}`);
  expect([believed.exitCode, believed.calls]).toEqual([0, { E4: count }]);
  expect((await auditEntries(w)).filter(({ kind }) => kind === "changes-accepted")).toHaveLength(2);
});

it("nothing is changed where a look-up table lost most of its lines", async () => {
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
  for (let run = 0; run < 2; run += 1) {
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls]).toEqual([7, {}]);
    expect(ended.stdout).toContain("the source lost 48 of 50 entries of the table branches");
    expect(ended.stdout).toContain("--accept-shrink crm/customers=48");
  }
  expect(await quarantined(w)).toEqual([]);
  writeFileSync(table, lines(50));
  expect((await w.does("run", "everything")).calls).toEqual({});
});

it("who tries a mapping by plans may change it as often as it takes; after the first run it is judged", async () => {
  const w = await world({ records: company(30, 0) });
  w.orders = [];
  w.extra = "limits: { massChange: { floor: 10 } }\n";
  w.write();
  const branch = (name: string, count = 30): void => {
    w.customers = w.customers.slice(0, count).map((row) => ({ ...row, branch: name }));
    w.write();
  };
  for (const [name, count] of [
    ["North", 30],
    ["South", 30],
    ["West", 12],
  ] as const) {
    branch(name, count);
    expect((await w.run("plan")).exitCode, name).toBe(2);
  }
  expect((await w.does("run", "everything")).calls).toEqual({ E2: 12 });
  branch("East", 12);
  for (const words of [["plan"], ["run", "everything"]]) expect((await w.run(...words)).exitCode).toBe(7);
});
