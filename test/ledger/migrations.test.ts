import { join } from "node:path";
import { expect, it } from "vitest";
import { appliedMigrations, migrate, openDatabase } from "../../src/ledger/database.ts";
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
  earlier.close();

  const now = await openDatabase(path, { migrate: true });
  expect(appliedMigrations(now)).toEqual(["0001_ledger", "0002_services_left"]);
  expect(now.prepare("select source, rows, details from source_read").all()).toEqual([
    { source: "crm", rows: 7, details: null },
  ]);
  expect(now.prepare("select count(*) as count from service_left").get()).toEqual({ count: 0 });
  now.close();
});
