import { writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { fileSource, mappingOf } from "../support/world/crm-files.ts";
import { company, customerRow } from "../support/world/crm.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

/** A world whose customers come from a database, and whose staff and orders come from files. */
async function withDatabase(
  query = "select * from customer",
  more: Record<string, unknown> = {},
): Promise<{ w: World; change: (sql: string) => void }> {
  const w = await world({ records: company(3, 1) });
  const change = (sql: string): void => {
    const database = new Database(w.path("erp.db"));
    database.exec(sql);
    database.close();
  };
  change("pragma journal_mode = wal");
  const rows = w.customers.map(customerRow);
  const columns = ["id", "name", "branch", "address", "contact", "account", "email", "mobile"] as const;
  change(`create table customer (${columns.join(", ")}, changed_at timestamptz)`);
  for (const row of rows)
    change(
      `insert into customer values (${columns.map((name) => `'${row[name]}'`).join(", ")}, '2026-11-20T08:00:00Z')`,
    );
  const customers = {
    query,
    key: "id",
    since: { column: "changed_at", overlap: "0s" },
    mapping: mappingOf("customers", "csv"),
  };
  const sources = {
    crm: { kind: "sql", connection: { kind: "sqlite", file: "erp.db" }, streams: { customers }, ...more },
    orders: fileSource("data", ["orders"]),
  };
  const jobs = { everything: { kind: "sync", streams: ["customers", "orders"] } };
  const configuration = { ledger: { path: "ledger.db", sealKey: "env:SEAL_KEY" }, zone: "UTC", sources, jobs };
  writeFileSync(w.path("crm-sync.yaml"), stringify(configuration));
  return { w, change };
}

describe("customers that are read from a database", () => {
  it("are made once, and of three runs each asks for what changed since the one before", async () => {
    const { w, change } = await withDatabase();
    const first = await w.does("run", "everything");
    expect([first.exitCode, first.calls], first.stdout + first.stderr).toEqual([0, { E2: 3, E5: 3, E9: 1 }]);
    change("update customer set branch = 'Moved', changed_at = '2026-11-21 08:00:00' where id = 'C2'");
    const second = await w.does("run", "everything");
    expect([second.exitCode, second.calls], second.stdout + second.stderr).toEqual([0, { E4: 1 }]);
    const third = await w.does("run", "everything");
    expect([third.exitCode, third.calls]).toEqual([0, {}]);
    expect(w.rows("select rows, whole, cursor from source_read where stream = 'customers' order by rowid")).toEqual([
      { rows: 3, whole: 1, cursor: "2026-11-20T08:00:00Z" },
      { rows: 3, whole: 0, cursor: "2026-11-21T08:00:00Z" },
      { rows: 1, whole: 0, cursor: "2026-11-21T08:00:00Z" },
    ]);
  });

  it("are left as they are while their database is away, and the other source is read", async () => {
    const { w } = await withDatabase();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    w.environment["CRM_SYNC__sources__crm__connection__file"] = "away.db";
    const away = await w.does("run", "everything");
    expect([away.exitCode, away.calls]).toEqual([7, {}]);
    expect(away.stdout + away.stderr).toContain("The database of the source crm is missing");
    expect((await w.run("check")).stdout).toContain("The database of the source crm is missing");
  });

  it("are not read by a query that writes: its file, line and key are named before anything is", async () => {
    const { w } = await withDatabase("select * from customer\nwhere 1 = 1; delete from customer");
    const refused = await w.run("check");
    expect(refused.exitCode).toBe(78);
    expect(refused.stderr).toMatch(/crm-sync\.yaml:\d+:\d+/u);
    expect(refused.stderr).toContain("`sources.crm.streams.customers.query`");
    expect(refused.stderr).toContain("line 2 holds several statements");
  });

  it("are not read by a query that lacks a column: its line in the configuration is named", async () => {
    const { w } = await withDatabase("select id, name, changed_at from customer");
    const checked = await w.run("check");
    expect(checked.exitCode).toBe(7);
    expect(checked.stdout).toMatch(/crm-sync\.yaml:\d+:\d+\n/u);
    expect(JSON.parse((await w.run("check", "--json")).stdout)).toContainEqual(
      expect.objectContaining({ good: false, place: expect.stringMatching(/crm-sync\.yaml:\d+:\d+$/u) }),
    );
    expect(checked.stdout).toContain(
      "gives no column branch, which `sources.crm.streams.customers.mapping.branchName` reads",
    );
  });
});
