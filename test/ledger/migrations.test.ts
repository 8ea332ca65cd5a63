import { join } from "node:path";
import { expect, it } from "vitest";
import { appliedMigrations, knownMigrations, migrate, openDatabase } from "../../src/ledger/database/database.ts";
import * as first from "../../migrations/0001_ledger.ts";
import { folder } from "./opened.ts";

it("a ledger of an earlier version is brought to this one with everything it holds", async () => {
  const path = join(folder(), "ledger.db");
  const earlier = await openDatabase(path, { migrate: false });
  await migrate(earlier, path, { getMigrations: async () => ({ "0001_ledger": first }) });
  earlier
    .prepare(
      "insert into source_read (source, stream, started_at, rows) values ('crm', 'orders', '2026-10-01T00:00:00.000Z', 7)",
    )
    .run();
  earlier
    .prepare(
      `insert into quarantine (id, source, stream, place, field, code, message, raw_ref, raw_hash, first_seen, last_seen, last_read, state)
       values ('q-1', 'hr', 'staff', 'staff.csv:2', 'name', 'missing', 'no name', '', '', '', '', 1, 'open')`,
    )
    .run();
  earlier.close();

  const now = await openDatabase(path, { migrate: true });
  expect(appliedMigrations(now)).toEqual(knownMigrations);
  expect(now.prepare("select source, rows, details from source_read").all()).toEqual([
    { source: "crm", rows: 7, details: null },
  ]);
  expect(now.prepare("select count(*) as count from service_left").get()).toEqual({ count: 0 });
  // Whose the row is was not read then: it is mapped anew.
  expect(now.prepare("select id, state from quarantine").all()).toEqual([{ id: "q-1", state: "retry" }]);
  now.close();
});
