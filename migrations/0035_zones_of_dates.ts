import { sql } from "kysely";
import type { Kysely } from "kysely";

/**
 * In which zones the CRM gave the local dates of a form of a record, by field (JSON). Of forms that were read before it
 * nobody knows: their dates are those of the zone of a statement, as they were.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table record_version add column date_zones text`.execute(db);
}
