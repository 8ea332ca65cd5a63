import { sql } from "kysely";
import type { Kysely } from "kysely";

/** Which head each configured place outside the database got last, and what keeps it from getting newer ones. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table head_place (
    place text primary key, sequence integer, kept_at text, problem text, failing_since text
  ) strict, without rowid`.execute(db);
}
