import { join } from "node:path";
import { expect, it } from "vitest";
import {
  appliedMigrations,
  knownMigrations,
  migrate,
  migrations,
  openDatabase,
} from "../../src/ledger/database/database.ts";
import type { Sqlite } from "../../src/ledger/database/database.ts";
import { folder } from "../support/world/start.ts";

it(
  "a new ledger begins as the migrations make it, with the same tables, indexes, triggers and rows",
  { tags: "long" },
  async () => {
    const made = await openDatabase(join(folder(), "ledger.db"), { migrate: true });
    const path = join(folder(), "ledger.db");
    const migrated = await openDatabase(path, { migrate: false });
    await migrate(migrated, path, { getMigrations: async () => migrations });
    const whole = (ledger: Sqlite): unknown => {
      const objects = ledger
        .prepare<[], { type: string; name: string; text: string | null }>(
          "select type, name, sql as text from sqlite_schema order by rowid",
        )
        .all()
        .map(({ text, ...named }) => ({ ...named, text: text?.replaceAll(/\s+/gu, " ") }));
      const tables = objects.filter(({ type }) => type === "table");
      const rows = tables.map(({ name }) => ledger.prepare<[], object>(`select * from "${name}"`).all());
      return { objects, rows: rows.map((of) => of.map((row) => ({ ...row, timestamp: undefined }))) };
    };
    expect(whole(made)).toEqual(whole(migrated));
    expect(appliedMigrations(made)).toEqual(knownMigrations);
    made.close();
    migrated.close();
  },
);
