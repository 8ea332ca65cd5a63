import type Database from "better-sqlite3";
import { statements, upTo } from "../../../migrations/new_ledger.ts";

/**
 * Makes of a database without a table what the first of these migrations make of it, all in one transaction: a ledger
 * of the migration that `migrations/new_ledger.ts` is of. A database that another program was faster with is left
 * alone.
 */
export function beginLedger(database: Database.Database, migrations: readonly string[]): void {
  const make = database.transaction(() => {
    if (database.prepare("select count(*) from sqlite_schema").pluck().get() !== 0) return;
    for (const statement of statements) database.exec(statement);
    const applied = database.prepare(
      "insert into kysely_migration (name, timestamp) values (?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
    );
    for (const name of migrations.slice(0, migrations.indexOf(upTo) + 1)) applied.run(name);
  });
  make.immediate();
}
