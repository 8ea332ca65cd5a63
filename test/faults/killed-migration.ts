/**
 * Brings the ledger named by the argument to a version whose last migration touches what is there and ends the process
 * with SIGKILL in the middle.
 */
import { sql } from "kysely";
import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { migrate, migrations, openDatabase } from "../../src/ledger/database/database.ts";

const [path = ""] = process.argv.slice(2);

const killed: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table half (value integer)`.execute(db);
    await sql`alter table run add column half text`.execute(db);
    process.kill(process.pid, "SIGKILL");
  },
};

const database = await openDatabase(path, { migrate: false });
await migrate(database, path, { getMigrations: async () => ({ ...migrations, "9999_half": killed }) });
