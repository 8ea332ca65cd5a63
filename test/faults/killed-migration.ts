/**
 * Brings the ledger named by the first argument to a version that ends the process with SIGKILL in the middle of its
 * last migration: the first one of all (`first`), or one that comes after all others and touches what is there
 * (`next`).
 */
import { sql } from "kysely";
import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { migrate, migrations, openDatabase } from "../../src/ledger/database/database.ts";
import * as first from "../../migrations/0001_ledger.ts";

const [path = "", which = ""] = process.argv.slice(2);
const kill = (): void => void process.kill(process.pid, "SIGKILL");

const firstKilled: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await first.up(db);
    kill();
  },
};
const nextKilled: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table half (value integer)`.execute(db);
    await sql`update operation set reason = 'migrated'`.execute(db);
    await sql`alter table run add column half text`.execute(db);
    kill();
  },
};

const database = await openDatabase(path, { migrate: false });
await migrate(database, path, {
  getMigrations: async () =>
    which === "first" ? { "0001_ledger": firstKilled } : { ...migrations, "9999_half": nextKilled },
});
