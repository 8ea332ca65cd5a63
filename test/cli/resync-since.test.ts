import { writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { fileSource, mappingOf } from "../support/world/crm-files.ts";
import { company, customerRow } from "../support/world/crm.ts";
import { world } from "../support/cli.ts";

it("resync --since by a time loses no change to a database that says when in local times", async () => {
  const w = await world({ records: company(3, 1) });
  const change = (sql: string): void => {
    const database = new Database(w.path("erp.db"));
    database.exec(sql);
    database.close();
  };
  change("pragma journal_mode = wal");
  const columns = ["id", "name", "branch", "address", "contact", "account", "email", "mobile"] as const;
  change(`create table customer (${columns.join(", ")}, changed_at timestamp)`);
  for (const row of w.customers.map(customerRow))
    change(
      `insert into customer values (${columns.map((name) => `'${row[name]}'`).join(", ")}, '2026-11-20 16:00:00')`,
    );
  const customers = {
    query: "select * from customer",
    key: "id",
    since: { column: "changed_at", overlap: "0s" },
    mapping: mappingOf("customers", "csv"),
  };
  const sources = {
    crm: {
      kind: "sql",
      zone: "Asia/Shanghai",
      connection: { kind: "sqlite", file: "erp.db" },
      streams: { customers },
    },
    orders: fileSource("data", ["orders"]),
  };
  const jobs = { everything: { kind: "sync", streams: ["customers", "orders"] } };
  writeFileSync(
    w.path("crm-sync.yaml"),
    stringify({ ledger: { path: "ledger.db", sealKey: "env:SEAL_KEY" }, zone: "UTC", sources, jobs }),
  );
  expect((await w.does("run", "everything")).exitCode).toBe(0);
  change("update customer set branch = 'Moved 2', changed_at = '2026-11-20 17:00:00' where id = 'C2'");
  change("update customer set branch = 'Moved 3', changed_at = '2026-11-20 21:00:00' where id = 'C3'");
  const resync = await w.does("resync", "--source", "crm", "--since", "2026-11-20T12:00:00Z");
  const next = await w.does("run", "everything");
  expect([resync.exitCode, next.exitCode], resync.stderr + next.stderr).toEqual([0, 0]);
  expect(resync.calls["E4"], "both customers that were changed since the last reading").toBe(2);
  expect(next.sent).toBe(0);
});
