import { writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { fileSource, mappingOf } from "../support/world/crm-files.ts";
import { company, customerRow } from "../support/world/crm.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

const columns = ["id", "name", "branch", "address", "contact", "account", "email", "mobile"] as const;

interface Erp {
  w: World;
  change: (sql: string) => void;
}

/** A company whose customers are in a database, which says when each was changed in a column of this type. */
async function openErp(type: string, changedAt: string, zone?: string): Promise<Erp> {
  const w = await world({ records: company(3, 1) });
  const change = (sql: string): void => {
    const database = new Database(w.path("erp.db"));
    database.exec(sql);
    database.close();
  };
  change("pragma journal_mode = wal");
  change(`create table customer (${columns.join(", ")}, changed_at ${type})`);
  for (const row of w.customers.map(customerRow))
    change(`insert into customer values (${columns.map((name) => `'${row[name]}'`).join(", ")}, ${changedAt})`);
  const customers = {
    query: "select * from customer",
    key: "id",
    since: { column: "changed_at", overlap: "0s" },
    mapping: mappingOf("customers", "csv"),
  };
  const sources = {
    crm: {
      kind: "sql",
      ...(zone === undefined ? {} : { zone }),
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
  return { w, change };
}

it(
  "resync --since by a time loses no change to a database that says when in local times",
  { tags: "long" },
  async () => {
    const { w, change } = await openErp("timestamp", "'2026-11-20 16:00:00'", "Asia/Shanghai");
    change("update customer set branch = 'Moved 2', changed_at = '2026-11-20 17:00:00' where id = 'C2'");
    change("update customer set branch = 'Moved 3', changed_at = '2026-11-20 21:00:00' where id = 'C3'");
    const resync = await w.does("resync", "--source", "crm", "--since", "2026-11-20T12:00:00Z");
    const next = await w.does("run", "everything");
    expect([resync.exitCode, next.exitCode], resync.stderr + next.stderr).toEqual([0, 0]);
    expect(resync.calls["E4"], "both customers that were changed since the last reading").toBe(2);
    expect(next.sent).toBe(0);
  },
);

it.each([
  { what: "local times of a zone", type: "timestamp", at: (day: string) => `'${day} 21:00:00'`, zone: "Asia/Shanghai" },
  { what: "local times of no zone", type: "timestamp", at: (day: string) => `'${day} 21:00:00'`, zone: undefined },
  { what: "dates of a zone", type: "date", at: (day: string) => `'${day}'`, zone: "Asia/Shanghai" },
  { what: "dates of no zone", type: "date", at: (day: string) => `'${day}'`, zone: undefined },
])(
  "resync --since reaches back to a change that came late, in a database that says when in $what",
  { tags: "long" },
  async (given) => {
    const { w, change } = await openErp(given.type, given.at("2026-11-20"), given.zone);
    // Committed now, and it bears a time long before the end of the last reading.
    change(`update customer set branch = 'Moved 2', changed_at = ${given.at("2026-11-10")} where id = 'C2'`);
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], "what a run cannot see").toEqual([0, {}]);
    const late = await w.does("resync", "--source", "crm", "--since", "2026-11-15T00:00:00Z");
    expect([late.exitCode, late.calls["E4"]], "not back to there").toEqual([0, undefined]);
    // Nine in the evening there is one in the afternoon in UTC.
    const resync = await w.does("resync", "--source", "crm", "--since", "2026-11-10T13:00:00Z");
    expect([resync.exitCode, resync.calls["E4"]], resync.stderr).toEqual([0, 1]);
  },
);

it("resync --since is refused where a database tells changes by a number, and nothing is read", async () => {
  const { w, change } = await openErp("integer", "7");
  change("update customer set branch = 'Moved 2', changed_at = 8 where id = 'C2'");
  const reads = (): unknown[] => w.rows("select count(*) as count from source_read");
  const before = reads();
  const refused = await w.does("resync", "--source", "crm", "--since", "2026-11-20T12:00:00Z");
  expect([refused.exitCode, refused.calls]).toEqual([64, {}]);
  expect(refused.stderr).toMatch(
    /--since 2026-11-20.* crm \(customers\) tells what changed by a number, which is 7 by now/u,
  );
  expect(refused.stderr).toMatch(/leave --since out: `crm-sync resync --source crm` reads all of it/u);
  expect(reads()).toEqual(before);
  const whole = await w.does("resync", "--source", "crm");
  expect([whole.exitCode, whole.calls["E4"]], whole.stderr).toEqual([0, 1]);
});
