import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { ran } from "../../support/asking.ts";
import { world, type Parsed } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

it("believing what one look-up table lost does not believe what another one lost", async () => {
  const records = company(10, 0);
  const w = await world({ records: { ...records, orders: [], staff: [] } });
  const lines = (name: string, count: number): string =>
    `code,name\n${Array.from({ length: count }, (_, at) => `B${at},${name} ${at}\n`).join("")}`;
  const write = (few: number, many: number): void => {
    writeFileSync(w.path("data/areas.csv"), lines("Area", few));
    writeFileSync(w.path("data/branches.csv"), lines("Branch", many));
  };
  write(10, 50);
  w.customers = w.customers.map((row, at) => ({ ...row, branch: `B${at}`, address: `B${at}` }));
  w.write();
  const file = w.path("crm-sync.yaml");
  const { sources, ...others }: Parsed = parse(readFileSync(file, "utf8"));
  sources.crm.tables = {
    areas: { files: "areas.csv", key: "code", value: "name" },
    branches: { files: "branches.csv", key: "code", value: "name" },
  };
  Object.assign(sources.crm.streams.customers.mapping, {
    address: { lookup: { table: "areas", key: "address", default: "unknown" } },
    branchName: { lookup: { table: "branches", key: "branch", default: "unknown" } },
  });
  writeFileSync(file, stringify({ sources, ...others }));
  expect((await ran(w)).exitCode).toBe(0);
  write(6, 2);
  const doubt = await w.does("run", "everything");
  expect([doubt.exitCode, doubt.calls]).toEqual([7, {}]);
  const [, option = "", what = ""] = /`crm-sync run \S+ (--accept-\S+) (\S+)`/u.exec(doubt.stdout) ?? [];
  expect(what).toBe("crm/customers=4");
  const believed = await w.does("run", "everything", option, what);
  expect([believed.exitCode, believed.calls]).toEqual([7, {}]);
});

it("believing that one field changed does not believe that another one did", { timeout: 60_000 }, async () => {
  const w = await world({ records: company(30, 0) });
  w.orders = [];
  w.write();
  expect((await ran(w)).exitCode).toBe(0);
  w.customers = w.customers.map((row, at) => ({
    ...row,
    branch: "South",
    ...(at < 28 ? { address: "Zqcanary Nowhere" } : {}),
  }));
  w.write();
  const doubt = await w.does("run", "everything");
  expect(doubt.exitCode).toBe(7);
  expect(doubt.stdout).toContain("branchName");
  // What else the number covers is said, too.
  expect(doubt.stdout).toContain("address");
});
